//! # Data-centre pairs
//!
//! Two data centres and how traffic moves between them. The appliance stands in one of them (`appliance.site`) and sees
//! the other through access lists:
//!
//! ```toml
//! [datacenter.dc-a]
//! wan = { targets = ["tcp:192.0.2.1:443", "tcp:192.0.2.2:443"], quorum = 1 }
//! lan = { targets = ["tcp:10.1.0.1:443"], quorum = 1 }
//!
//! [datacenter.dc-b]
//! internet = { targets = ["ping:198.51.100.1", "ping:198.51.100.2", "ping:198.51.100.3"], quorum = 2 }
//!
//! [datacenter_pair.main]
//! active      = "dc-a"
//! backup      = "dc-b"
//! return_hold = "15m"
//! ```
//!
//! Each signal has three values: true while at least `quorum` targets are up, false once that cannot be reached, unknown
//! between. `access` is `wan` or `lan`. Every data centre has a switch `NAME.maintenance`.
//!
//! Four scenarios are generated, named after the pair, and appear beside all others:
//!
//! | scenario | means | used as |
//! |---|---|---|
//! | `main/from-active` | the active site must leave the answers | `cond` on its records |
//! | `main/to-backup` | the backup's records replace the primary set | `drCond` on its records |
//! | `main/to-active` | permission to return | input of `to-backup` |
//! | `main/from-backup` | the backup must leave the answers | `cond` on its records |
//!
//! Any field can be replaced (`[datacenter_pair.main.to-backup.deactivate] mode = "off"` makes the return manual), and a
//! scenario of one's own can stand in (`from_active = "mine"`).
//!
//! `return_hold` (H) is how long the active site must be well before traffic returns. `loss_hold` (D) is how long a loss
//! must last; by default the slowest detection among the signals used and one second more, so that signals that change
//! together are judged together.
//!
//! This build has no peer link: what the other site sees of itself and of us is unknown, and its own view of the
//! Internet is taken to be its WAN as seen from here. So a WAN that cannot be reached from here moves traffic to the
//! backup even where the site itself is well, and without a witness a partition makes both sites answer for themselves.
