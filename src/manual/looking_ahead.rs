//! # What is so, what follows, what was
//!
//! ## The first sentence
//!
//! `/api/v1/status` begins with `verdict`: where names go and who has the next move. The first of these that fits
//! is said:
//!
//! | `text` | `severity` |
//! |---|---|
//! | Waiting for the first probe round, 3 of 12 checks known. | info |
//! | www answers nobody. | error |
//! | Both sites are out; answers are given as they are. | error |
//! | erp: no record is left; its answers are given as they are. | error |
//! | web takes no new clients. | error |
//! | dc-b answers for dc-a. The way back is up to you. (… It returns by itself at 03:34:50 if checks hold.) | warning |
//! | A failover is waiting: guard log-shipping refuses. | warning |
//! | dr and mail-dr are held by people. | info |
//! | 3 things are wrong; every name goes where it should. | warning |
//! | Every name goes where it should. | ok |
//!
//! `because` says why, and names every force that hides a failing probe, whatever else is said. `next` says who
//! moves next (`person` or `appliance`) and when at the earliest. Times of day are UTC. The same stands in the
//! metric `bascule_verdict`. A scenario says the same of itself in `next` and `earliest_return`: holds are counted,
//! also through the scenarios that it follows, as if nothing else changed.
//!
//! ## Before an act
//!
//! Every act (disable, enable, modes, switches, forces, splits, decisions about guards, drills, kicks) takes
//! `?dry_run=true`. A copy of the engine takes the act, beside the one writer, and the answer tells over the
//! members of the object:
//!
//! | member | what |
//! |---|---|
//! | `transitions`, `guards`, `triggers` | commits with their cause; guards that would run first; triggers that would be sent or suppressed. What stands behind a guard is told as if it passed (`after_guard`) |
//! | `answers` | steered names whose answer would change: before, after, what is left out and why, sites, TTL |
//! | `load`, `connections` | what each service would carry, by weight, beside its peak of 48 hours; what is open on services that leave |
//! | `confirm`, `confirm_word` | how much care it asks for, 1 to 3, and the name that level 3 wants typed |
//! | `seq` | what it was computed on |
//!
//! | level | acts |
//! |---|---|
//! | 1 | enable; drain while others stay UP; the end of a force |
//! | 2 | modes, switches, splits, forces, disable at once, decisions about guards, kicks |
//! | 3 | the last UP member of a vserver; a return while the reason is still true; past a guard; a force up while the probe says down; the second of two sites |
//!
//! An act with `if_seq` is refused with 409, one with the header `If-Match: "SEQ"` with 412, where `seq` is another
//! by now; nothing is done. A page that people click on sends `confirm` with what was typed: then an act of level 3
//! is refused with 422 unless it is the name of the object. Whoever sends no `confirm` is a program and is not
//! asked. Of what is done to the outbox, and of transfers of zones, there are no dry runs.
//!
//! ## What was
//!
//! `GET /api/v1/history?object=vserver:web` (or `service:web1`) tells `t`, `series` and `marks` between `from` and
//! `to`: `requests`, `errors` (answers 5xx and refused clients; of a service: answers 5xx and failed connects),
//! `bytes_in`, `bytes_out` per second, `connections`, `p50` and `p99` in milliseconds. `metric` picks one;
//! `metric=state` tells the states it entered; `at` the minute that holds a moment. Marks are commits, and acts on
//! the object. In the shell: `stat lb vserver web -at 2h`, `stat service web1 -at 2026-11-29T03:10:00Z`, `-at 14:17`.
//!
//! | of | points | reach back |
//! |---|---|---|
//! | the first 1000 objects with traffic, vservers before services | 10 s, 1 min | 1 h, 48 h |
//! | up to 11 000 more | 10 min | 48 h |
//!
//! It costs 5 MB of memory for 100 busy objects, 100 MB for 10 000, and nothing for those without traffic. It is
//! kept in `history/` of the state directory, at most a minute late (points of 10 s are not), and read again at a
//! start; with `--ephemeral` it is forgotten. Where nothing was measured a point is `null`, never 0.
//!
//! A transition names its `incident`; `GET /api/v1/timeline/INCIDENT` (or `SCENARIO:SEQ`) tells what happened from
//! two minutes before to twenty after it, as JSON, or with `format=md` and `format=html` as a document.
//!
//! `appliance/grafana/bascule.json` is a dashboard for Grafana over the metrics of `/metrics`.
