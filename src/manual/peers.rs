//! # Boxes that hear each other
//!
//! One box sees the world from one place. What it cannot see (is the other site gone, or only my way to it?) another box
//! can tell it. Boxes ask each other once an interval over mutual TLS and tell what they see: their own signals of data
//! centres, their modes, their clock, and what their configuration is. They decide each for itself; nobody commands.
//!
//! ```toml
//! [appliance]
//! name = "box-b"
//! site = "dc-b"
//!
//! [peer_link]                                # this box's end
//! listen      = "0.0.0.0:9443"               # where peers ask; without it nobody can
//! cluster     = "production"                 # boxes of another cluster are refused
//! interval    = "1s"
//! timeout     = "900ms"                      # of one attempt, from the connection to the last byte; default 9/10 of the
//!                                            # interval, and less than it: so one answer that is lost costs nothing
//! certificate = "certs/www.pem"              # names `box-b` (subjectAltName), for TLS servers and clients
//! key         = "certs/www.key"
//! ca          = "certs/ca.pem"               # who signs the certificates of peers
//!
//! [peer.box-a]                               # the other one's appliance.name
//! url  = "https://192.0.2.1:9443"
//! site = "dc-a"
//!
//! [peer.box-w]                               # a witness: a box elsewhere that answers for no zone
//! url  = "https://203.0.113.7:9443"
//! site = "dc-w"
//!
//! [datacenter.dc-a]
//! wan      = { targets = ["tcp:192.0.2.1:443"] }
//! lan      = { targets = ["tcp:10.1.0.1:443"] }
//! internet = { targets = ["ping:198.51.100.1", "ping:198.51.100.2", "ping:198.51.100.3"], quorum = 2 }
//!
//! [datacenter.dc-b]
//! wan      = { targets = ["tcp:198.51.100.10:443"] }
//! lan      = { targets = ["tcp:10.2.0.1:443"] }
//! internet = { targets = ["ping:203.0.113.1", "ping:203.0.113.2", "ping:203.0.113.3"], quorum = 2 }
//!
//! [datacenter_pair.main]
//! active  = "dc-a"
//! backup  = "dc-b"
//! witness = "dc-w"
//! ```
//!
//! `site` is NAME where it is not said. A `[peer.NAME]` without `url` may ask and is not asked. `certificate`, `key` and
//! `ca` of a peer stand in for those of `[peer_link]` when that peer is asked; whoever asks is verified by
//! `peer_link.ca`. A reload reads the files again, and every connection begins anew with them.
//!
//! ## Who is who
//!
//! TLS is 1.3, and each side shows a certificate. It must be signed by the authority, not have expired, and name the
//! box as a DNS name; a connection ends when the first certificate of either side does, and the alert `certificate` and
//! `/status` tell beforehand of this box's own. The address in `url` plays no part, so an address that somebody else
//! has taken is no peer. Then the report must say the same name, the site of the configuration, this box's cluster, and
//! no other sites for a pair of the same name: two installations that were copied from each other never mix. Whatever
//! does not fit is refused whole, with an error that says whose fault it is (`show peers`, `/peers`, the log, and once
//! in the journal); what was heard before stays in force until it is three intervals old.
//!
//! ## Unknown, never false
//!
//! | what happens | what this box makes of it |
//! |---|---|
//! | the peer says that a signal is true, false or unknown | that is `dc:NAME.SIGNAL@SITE` here |
//! | nothing is heard, for three intervals | every `@SITE` of that box is unknown; nothing moves by that alone |
//! | this box itself stood still, or was too busy to look | what was heard stays in force for one more attempt (`interval` and `timeout`), then it is unknown |
//! | two boxes of one site say different things | unknown |
//! | the peer stops, is killed, or is restarted | as silence: unknown until it is heard again |
//! | its answer is late, too large (2 MiB), no report, of the wrong box | as silence, with the reason in `error` |
//!
//! After a failure the next attempt waits, twice as long each time and up to ten seconds, with half of the pause drawn by
//! lot.
//!
//! ## What is compared
//!
//! Boxes of a cluster have in common what decides answers: checks, time windows, switches, triggers, queries, scenarios,
//! data centres, pairs and zones. Addresses, services, users and the rest are each box's own. The common tables are
//! compared at every report; where one differs for more than a minute, so that a change is not being rolled out, it is a
//! problem (`peer_config_differs` in `/status`, journal and `/events`; `peer.config-differs` for
//! [`alerts`](super::alerts)), with the names of the tables. A witness has no
//! records, and is not compared. Modes, scenarios and maintenance switches that stand otherwise there are listed in
//! `show peers NAME`: a switch that was set on one box alone is the most common of them.
//!
//! The difference of the clocks is shown, less half of the round trip, and is a problem (`clock_differs`) beyond two
//! seconds: drains, expiries and time windows of the two boxes come apart.
//!
//! ## Looking at it
//!
//! `show peers`, `show peers NAME`, `show pairs NAME`; `GET /api/v1/peers`, `/api/v1/datacenter-pairs`,
//! `/api/v1/status` (`peers`, `peer_listen`, `problems`); `bascule_peer_heard`, `bascule_peer_config_differs`,
//! `bascule_peer_clock_offset_seconds`, `bascule_peer_report_age_seconds`, `bascule_peer_failures_total`,
//! `bascule_peer_refused_total`, `bascule_datacenter_pair_disputed` in `/metrics`; events of the kinds `peer` and
//! `datacenter_pair`.
//!
//! In a rehearsal peers are heard and all is well there; a script says otherwise:
//!
//! ```events
//! at 10s fail dc:dc-a.wan
//! at 10s peer dc-w says dc:dc-a.wan false
//! at 11s peer dc-a silent
//! expect dc:dc-a.internet@dc-a unknown
//! within 2m expect sc:main/from-active active
//! at 10m peer dc-a speaks
//! ```
