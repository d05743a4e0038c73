//! # Drills
//!
//! A drill activates a scenario for a while, to see that it works, and brings it back. It sets and restores the modes
//! itself, tells nobody but its own list, and ends at its time whatever the modes are:
//!
//! ```text
//! bascule drill start dr --for 60m --reason "CHG1234, quarterly" --notify drill-channel --stop-on "customers are hurt"
//! bascule drill show
//! bascule drill stop --reason "seen enough"
//! bascule drill list
//! ```
//!
//! Setting `activate on` with an expiry does not do that: with the expiry the label goes, and traffic stays. A scenario
//! that is brought back by hand would never return, and one with a hold of 15 minutes after 15 minutes.
//!
//! ## What it does
//!
//! | phase | activate | deactivate | |
//! |---|---|---|---|
//! | starting | `on` | `off` | the guard of the activation is asked; without one the scenario is active at once |
//! | running | `on` | `off` | nothing brings it back but the drill |
//! | returning | as before | `on` | the guard of the return is asked; without one it is inactive at once |
//! | over | as before | as before | the report stands |
//!
//! *As before* is exact: what somebody had set comes back with its author, its reason and its expiry, unless that has
//! passed meanwhile. The time counts from the call, on the wall clock, so it goes on while the appliance is down; one that
//! has passed is over with the first step of the next start. A guard that holds the return back makes the drill longer:
//! the data is worth more than the plan. `drill stop --override` passes it.
//!
//! ## How it ends
//!
//! | outcome | because | the scenario |
//! |---|---|---|
//! | `completed` | its time was over | returned |
//! | `stopped` | somebody stopped it | returned |
//! | `stop_on` | a condition that it was told to end on became true | returned |
//! | `guard_refused` | the guard of the activation refused | was never active |
//! | `not_begun` | its time was over before that guard had passed | was never active |
//! | `real_fault` | the condition of the activation became true: what was rehearsed is needed | stays active |
//! | `taken_over` | somebody set a mode of the scenario | goes by what was set; `return scenario dr` brings it back |
//! | `removed` | the configuration no longer has it | is gone |
//!
//! **A fault that is real.** Where the activation is `auto` and its condition becomes true, the drill is over at once. Its
//! return and the real failover are committed together: no answer changes, the seq grows by two, and the triggers of the
//! scenario go off as for every failover. Neither guard is asked (`standing`), since what it would be asked about has
//! happened. Where the activation is left to people (`off`), the drill goes on, and returns at its time: people decide.
//!
//! **After the return** the activation is armed at once, as after an automatic return, so that a fault that came with
//! the last second still fails over.
//!
//! ## Who is told
//!
//! The triggers named with `--notify`, of every commit of the drill, whatever a gate says; without the option nobody.
//! The triggers of the scenario are shown as `suppressed`, and alerts of the kind `override` see the modes that people
//! had set before and not those of the drill. In the payload `drill` is true and `drill_id` is its number.
//!
//! What *follows* the drill belongs to it: the commits of a scenario that were decided by a group which names a scenario
//! that the drill has moved, and the way back of such a scenario, however long its hold is. So a pair that follows
//! `main/from-active` wakes nobody either. What another fault moves meanwhile is no drill, and tells whom it always
//! tells. Triggers that *act* (promote a database) do not go off either: name them with `--notify` to rehearse them too.
//!
//! ## When none begins
//!
//! | refused (409) | |
//! |---|---|
//! | a drill is not over | one at a time |
//! | the scenario is active, on its way, stuck, or about to activate | a drill begins at rest |
//! | the condition of its activation is true | it would be no drill |
//! | another scenario is away from its place | except a pair's permission to return (`PAIR/to-active`), which is active while all is well |
//! | a condition of `blocked` is true, or one that only looks at time windows will be before the planned end | |
//! | a condition of `--stop-on` is true already | |
//!
//! A reason is needed, and a time that is not longer than `longest`.
//!
//! ```toml
//! [check.api]
//! type     = "TCP"
//! address  = "192.0.2.10:80"
//! interval = "10s"
//! rise     = 1
//! fall     = 2
//!
//! [check.shop-b]                  # what customers see of site B
//! type    = "HTTP"
//! url     = "http://198.51.100.10/"
//! rise    = 1
//! fall    = 1
//!
//! [time_window.month-end]
//! once = [{ from = 2026-01-30T00:00:00Z, to = 2026-02-03T00:00:00Z }]
//!
//! [trigger.page-sre]
//! type = "HTTP"
//! uri  = "http://192.0.2.20/page"
//!
//! [trigger.drill-channel]
//! type = "HTTP"
//! uri  = "http://192.0.2.20/drills"
//!
//! [scenario.dr.activate]
//! when     = [["api!"]]
//! triggers = ["page-sre"]
//! [scenario.dr.deactivate]
//! mode     = "off"                # an operator brings it back
//! triggers = ["page-sre"]
//!
//! [drills]
//! longest = "4h"                  # default 1d
//! blocked = { "month end" = ["tw:month-end"] }
//! [drills.stop_on]                # by these names: --stop-on "customers are hurt"
//! "customers are hurt" = ["shop-b!{fails:3}"]
//!
//! [zone."example.test"]
//! soa    = { mname = "ns1.example.test.", rname = "hostmaster.example.test." }
//! static = "@ NS ns1.example.test.\n"
//! [zone."example.test".rrset."www A"]
//! records = [{ data = "192.0.2.10" }, { data = "198.51.100.10", drCond = "dr" }]
//! ```
//!
//! A plain list is good as well: `stop_on = [["shop-b!"]]` is called `shop-b!`. The same walk as a test of the
//! configuration (`bascule test`):
//!
//! ```events
//! drill start dr for 60m reason "CHG1234, quarterly" notify drill-channel
//! expect sc:dr active
//! expect www A = 198.51.100.10
//! expect trigger page-sre suppressed once
//! at 59m59s expect sc:dr active
//! at 60m1s expect sc:dr inactive deactivate off
//! expect www A = 192.0.2.10
//! expect trigger drill-channel twice
//! expect trigger page-sre never
//!
//! at 2h drill start dr for 60m reason "CHG1235" stop-on "customers are hurt"
//! after 10m fail shop-b
//! within 1m expect sc:dr inactive
//! expect journal drill 2 of scenario dr is returning
//!
//! at 4h drill start dr for 60m reason "CHG1236" notify drill-channel
//! after 20m fail api
//! within 30s expect trigger page-sre once
//! for 2h expect www A = 198.51.100.10
//! expect journal drill 3 of scenario dr is over: the fault became real
//! ```
//!
//! ## The report
//!
//! `bascule drill show 3` prints what was planned and what came of it: who began it and why, the planned and the actual
//! times, how long the guard took, how much later than planned it ended, the modes before it, every commit with its
//! guard, and how each of those who were told took it. `bascule drill list` has a line for each: the audit. 1000 reports
//! are kept; the journal has each phase as an entry `drill`, the last of which is the report, under the chain of hashes.
//!
//! | command | shell | REST |
//! |---|---|---|
//! | `drill start SCENARIO --for … --reason …` `[--notify T]… [--stop-on C]… [--override] [--dry-run]` | `start drill dr -for 60m -reason …` `[-notify a,b] [-stopOn c] [-override] [-dryRun YES]` | POST `/api/v1/drills` `{scenario, for, reason, notify, stop_on, override}`, `?dry_run=true` |
//! | `drill stop [SCENARIO] [--reason …] [--override]` | `stop drill` | POST `/api/v1/drills/3/stop` `{reason, override}` |
//! | `drill list [SCENARIO]` | `show drill` | GET `/api/v1/drills?scenario=&limit=` |
//! | `drill show [3]` | `show drill 3` | GET `/api/v1/drills/3` |
//!
//! While one runs, `/status` names it under `drill`; `/scenarios/dr` and its transitions have its number in `drill`;
//! `explain dns` says that a scenario stands there by a drill; `/events` tells each phase. Metrics:
//! `bascule_drill_running`, `bascule_scenario_by_drill`, `bascule_drill_reports`.
