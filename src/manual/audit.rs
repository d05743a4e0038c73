//! # Who did what, and why it switched: the journal
//!
//! Everything that a review asks for is in the journal of the state directory ([`operations`](super::operations)): every
//! commit of a scenario with all groups and terms as they stood, gate, guard and triggers; what people did, with reason
//! and expiry; every change of a value that a condition uses; states of services and vservers; configurations, whole,
//! without secrets; starts and stops. Each entry has the hash of the one before.
//!
//! Of a configuration the journal, and so whoever it is shipped to, gets no hashes of passwords and tokens, no values
//! of header fields, no bodies of requests, nothing that probes say and wait for (`send`, `receive`) or that scripts are
//! given (`environment`, `script_args`), no credentials and queries within addresses and requests, and no comment in
//! which a setting seems to stand. What stands in their place loads, so that a replay goes on. Of the running
//! configuration, callers who may not change it see the same without these.
//!
//! The entry of a change of the configuration also tells who made it, by which door, and each difference (`changes`, at
//! most 50, `changes_left_out` counts the rest). Of a difference whose values could hold a secret it tells the object alone.
//!
//! ## Asking
//!
//! `bascule journal` prints entries, `show journal` in the shell does, and `GET /api/v1/journal` answers them as JSON:
//!
//! ```text
//! bascule journal --since 2h --scenario dr
//! bascule journal --since 2027-01-15T03:00:00Z --until 2027-01-15T09:30:00Z --actor admin:ops
//! bascule journal --kind config --newest-first --limit 5
//! ```
//!
//! `bascule timeline --since 03:00… --until …` makes one document of a span, for a review after an incident: Markdown
//! (`--format md`, the default), one page of HTML, or JSON; `--output FILE` writes it. It tells each change of a signal,
//! each decision with its reasons, each delivery, and by when caches had let go. Names, reasons and answers of others are
//! escaped, so that the document may be shown anywhere. REST: `GET /api/v1/timeline?since=…&until=…&format=md`.
//!
//! `bascule explain dns NAME TYPE --at TIME` says what was answered at a moment of the past, and why: configuration,
//! scenarios and checks of that moment are made again from the journal. It reaches back to the first start that the
//! journal holds. Answers of signed zones are shown without signatures, since keys are not in the journal, and what
//! another primary gave for a zone is not there either.
//!
//! ## Shipping
//!
//! A trail that is only on the box that it is about ends with it. So it is shipped while it is written:
//!
//! ```toml
//! [journal.ship.siem]
//! type    = "SYSLOG"                           # RFC 5424
//! address = "tls:log.example:6514"             # or tcp:HOST:PORT
//!
//! [journal.ship.lake]
//! type   = "HTTP"
//! uri    = "https://collect.example/journal"
//! secret = { env = "JOURNAL_SECRET" }          # signs each batch as triggers are signed
//! kinds  = ["transition", "act", "config", "caches"]   # default: all
//! ```
//!
//! - **Never in the way.** Shipping reads the journal beside the writer. A destination that is slow or away delays neither
//!   a decision nor an answer; what waits, waits on disk.
//! - **At least once, in order.** Each destination has a place of its own (`shipped.json` in the state directory), which
//!   moves when entries have arrived. Over HTTP that is an answer 2xx. Syslog has no answers: an entry counts once the
//!   connection has held for 2 s after it was written, and what was written later on a connection that breaks goes again.
//!   So an entry may come twice, also after a crash; its `number` and `hash` tell.
//! - **Bounded.** Nothing is kept for a destination but the journal itself. If that is cut (`keep`, `size`) before a
//!   destination has what was cut, the log says so, and `lost_total` counts it.
//! - **Loud.** A destination that fails is an error in the log at once and every ten minutes, and stands in `show journal
//!   shipping`, `bascule journal --shipping`, `GET /api/v1/journal/shipping` and `bascule_journal_ship_failing`;
//!   `bascule_journal_waiting_entries` says how much it does not have; the alert `journal.unshipped` tells whom you like.
//!
//! Every entry travels as one line of JSON: `appliance`, `number`, `at`, `tick_us`, `kind`, `object`, `actor`, `prev`,
//! `hash`, `body`. The hash is SHA-256 in hex over `prev`, number, time in microseconds since 1970, `tick_us` (each of the
//! three as eight bytes, the highest first), `kind`, `object`, `actor` and the text of `body`, each preceded by its length
//! as eight bytes; so whoever has the lines can check the chain. Syslog carries it after a header with facility 13 (log
//! audit), the kind as MSGID and `[meta sequenceId="…"]`, framed by octet counting (RFC 6587); an entry `config` holds a
//! whole configuration, so a server that bounds its messages wants `kinds` without it. HTTP carries up to 256 lines
//! (`application/x-ndjson`) in a POST with `webhook-id` (`APPLIANCE:journal:FIRST-LAST`). TLS is always verified: against
//! the system's roots, or with `tls = { ca = "NAME" }` against a certificate of the configuration.
