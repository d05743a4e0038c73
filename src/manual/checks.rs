//! # Checks of the GTM
//!
//! `[check.NAME]` asks whether something works, for scenarios, records and rules, and never decides more than that: up,
//! down, or not known yet. What each type asks and which keys it has stands under [`monitors`](super::monitors); how
//! terms use a check (`api{for:15m}`, `api!{fails:3}`, `api{latency.p95<80ms}`) under [`scenarios`](super::scenarios).
//!
//! ```toml
//! [defaults.check]
//! interval = "2s"
//! timeout  = "1s"
//!
//! [check.api]
//! type    = "HTTPS"
//! targets = ["https://192.0.2.11/health", "https://192.0.2.12/health", "https://192.0.2.13/health"]
//! quorum  = 2
//! host    = "api.example"
//! source  = "192.0.2.1"
//! expect  = { status = ["200-204"], body_json = { pointer = "/status", equals = "ok" } }
//! rise    = 3
//! fall    = 2
//!
//! [check.lag]
//! type       = "POSTGRESQL"
//! address    = "192.0.2.20"
//! user_name  = "probe"
//! password   = { file = "probe.secret" }
//! sql_query  = "select extract(epoch from now() - last) from replication"
//! sql_expect = "<= 60"
//!
//! [check.dr-is-on]
//! type = "SCENARIO"
//! term = "sc:dr"
//!
//! [scenario.dr.activate]
//! when = [["api!", "lag"]]
//! [scenario.dr.deactivate]
//! when = [["api{for:15m}"]]
//!
//! [scenario.tell.activate]
//! when = [["dr-is-on{for:5m}"]]
//! [scenario.tell.deactivate]
//! when = [["dr-is-on!"]]
//! ```
//!
//! ## Types
//!
//! | asked | types |
//! |---|---|
//! | whether a port is open, a host is there, a datagram is answered | TCP, PING, UDP (TCP-ECV and UDP-ECV send and look for bytes) |
//! | HTTP: status, header fields, the body by text, regular expression or JSON | HTTP, HTTPS, HTTP2, GRPC |
//! | names | DNS, DNS-TCP |
//! | files, mail, directories, … | FTP, FTPS, FTP-EXTENDED, SMTP, POP3, NNTP, LDAP, LDAPS, RADIUS, RADIUS_ACCOUNTING, REDIS, MQTT |
//! | databases | ORACLE, POSTGRESQL, MYSQL, MYSQL-ECV |
//! | a script of one's own | USER |
//! | what this box knows already | SCENARIO, DATACENTER, VSERVER, SERVICE |
//!
//! A type with TLS verifies the certificate against the system's roots, for the host of its target or for `tls = {
//! server_name = "…" }`; `tls = { verify = false }` takes any. A certificate that is refused fails the sample and says
//! whose it is to mend: signed by nobody whom this machine trusts, made for another name (and which), over (since
//! when).
//!
//! `body_json` looks at one place of a body of JSON (`pointer`, RFC 6901): `equals` is the value that must stand there,
//! `is = "<= 60"` a comparison as below; `expect_body.json` of triggers and queries has the same.
//!
//! `sql_expect` is a comparison (`=`, `!=`, `<>`, `<`, `<=`, `>`, `>=`, with a number or a text in single quotes, as in
//! [`sql`](super::sql)), or else the very text that the first value of the first row must be. NULL and no row at all
//! are never as expected.
//!
//! ## What is known already
//!
//! `term` names a scenario (`sc:dr`), a signal of a data centre (`dc:dc-a.wan`), a vserver (`vs:web`,
//! `vs:web.health>=50`) or a service (`svc:web1`) as conditions do, without qualifiers; `reverse = true` is its
//! opposite. Nothing is sent: each `interval` the value of the term is a sample, which passes while it is true. So what
//! is known at once gets a `rise`, a `fall` and samples of its own: it can be held by `for`, counted by `fails`, and
//! forced. While the term is unknown the sample is void and the check stays as it was; use the term itself where
//! *unknown* must be told apart. A scenario that depends on itself through such a check is refused at load.
//!
//! ## Several targets
//!
//! `targets` instead of `address` or `url`, at most 16: the same is asked of each, at once. One sample of the check
//! passes where at least `quorum` of them (default: more than half) pass. Where too few pass, and targets that this
//! machine could not ask might have decided it, the sample is void. Its latency is the moment at which it was decided;
//! each target with what it gave last stands under `targets` of /api/v1/checks/NAME and in `show check NAME`.
//!
//! Access lists of data centres (`wan`, `lan`, `internet`) are the same for a site, with a check for each target
//! ([`pairs`](super::pairs)).
//!
//! ## The source
//!
//! `source` is an address of this machine, also in access lists and `[defaults.check]`: probes leave from there, and so
//! by the way that policy routing has for it. A name is then reached by its addresses of the same family. Without the
//! address on this machine samples are void and say so. ORACLE does not have it; a script (USER) finds it in
//! BASCULE_SOURCE.
//!
//! ## When samples are taken
//!
//! Every check is asked once per `interval` (default 5 s, from 20 ms), start to start, however many use it. New checks
//! begin sixteen at a time, 1.6 ms apart, and keep that phase: ten thousand of them are spread over a second, and an
//! edit of something else changes neither phase nor rate. What is not used any more is not asked after the reload.
//!
//! A probe that begins too late, and a time-out that is noticed far too late, say nothing about the peer: such a sample
//! is void. How late probes begin is in the histogram `bascule_probe_lateness_seconds`; what was void by it in
//! `bascule_probe_late_samples_total`.
//!
//! ## What it gave lately
//!
//! | where | what |
//! |---|---|
//! | /api/v1/checks/NAME | state, last sample, `percentiles` of the latency |
//! | /api/v1/checks/NAME/history, `stat check NAME` | the last 32 samples with their time, result, latency and answer |
//! | `stat check` | samples, failures and percentiles of all checks |
//! | `bascule_check_time_seconds` | the percentiles as a summary, with sum and count of all answers |
//!
//! Percentiles (50, 95, 99) are of answers alone: a failed sample has no latency there. They are of the last thousand
//! or two, older ones count ever less, and are an eighth too high at most. All of it is bounded, about 1.5 KiB a check,
//! and is kept over a reload as long as the check asks the same.
//!
//! ## Forced states
//!
//! `set check NAME -force UP|DOWN|NONE [-reason …] [-expires …]`, or PUT /api/v1/checks/NAME/force: the state is what
//! was said until the force ends. It outlives restarts; samples go on underneath, and `real` shows what they say.
//!
//! ## When something fails everywhere at once
//!
//! What is new or changed and fails everywhere is more likely wrong itself than all that it asks. That is told as
//! `correlated_failure`: a warning in log, journal and /api/v1/events, a problem of /api/v1/status, and
//! `bascule_correlated_failure` in /metrics; and again when it is over. Nothing is decided by it. An alert of this name tells it to triggers ([`alerts`](super::alerts)).
//!
//! | what | is told when | is over when |
//! |---|---|---|
//! | a monitor at work on two services or more | it is down on all of them, and has passed on none since it is as it is | it passes on one |
//! | an access list of two targets or more | all are down, and none has passed | one passes |
//! | a check with several targets | it is down, has never passed, and every target fails | a target passes |
//! | a vserver of two members or more | more than half of them went DOWN within one interval, new monitors or old | half of them are not DOWN |
