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
//! ## Who sees what
//!
//! A is the active site, B the backup. Where the two sites' boxes hear each other ([`peers`](super::peers)), the box at B
//! also reads A's own word (`dc:dc-a.internet@dc-a`) and what A sees of B (`dc:dc-b.wan@dc-a`); the box at A reads B's
//! signals with B's eyes (`dc:dc-a.wan@dc-b`), so that both decide by the same evidence. A `witness` is a box at a third
//! site: A has left only where the witness cannot see it either.
//!
//! | situation | B.internet | A.wan | A.lan | A.internet | traffic was on A | traffic was on B |
//! |---|---|---|---|---|---|---|
//! | all good | T | T | T | T | A | A |
//! | replication link down | T | T | F | T | A | B |
//! | A lost its WAN and says so | T | F | T | F | B | B |
//! | disputed: B cannot see A's WAN, A says it is fine | T | F | T | T | A | B |
//! | A dark to B | T | F | F | U | B | B |
//! | B lost the Internet, sees A | F | T | T | T | A | A |
//! | B lost Internet and LAN, WAN path fine | F | T | F | T | A | A |
//! | B lost Internet and WAN path, LAN fine | F | F | T | T | A | A |
//! | B isolated | F | F | F | U | A | B, nothing else is left |
//! | A dark, witness sees A | T | F | F | U | A | B |
//! | A dark, witness blind too | T | F | F | U | B | B |
//! | A in maintenance | T | T | T | T | B | B |
//! | B in maintenance | T | T | T | T | A | A |
//! | A dark while B in maintenance | T | F | F | U | A, with an alarm | B, with an alarm |
//!
//! A dead replication link never moves traffic, a dispute moves nothing and is told (`disputed` in `/status`, in
//! `/datacenter-pairs`, in the journal), and an isolated site never takes over. `show pairs main` says which row it is.
//!
//! Without a peer link to A its own word is not heard: its view of the Internet is then what the witness sees of its WAN,
//! or its WAN as seen from here. So a WAN that only this box cannot reach moves traffic to the backup, and without a
//! witness a partition makes both sites answer for themselves; a warning says so at load.
//!
//! Maintenance is a switch of each box: set `dc-a.maintenance` on both; `show peers` tells where it is not the same.
//!
//! ## Three sites and more
//!
//! A chain A, B, C is three pairs, the last of which comes `after` the one of the same backup: C takes over from A only
//! while B is out as well, and hands back as soon as one of them is there. C's own eyes take A out of the answers, since
//! B's may be closed.
//!
//! ```toml
//! [datacenter.dc-a]
//! wan = { targets = ["tcp:192.0.2.1:443"] }
//! lan = { targets = ["tcp:10.1.0.1:443"] }
//!
//! [datacenter.dc-b]
//! wan      = { targets = ["tcp:198.51.100.10:443"] }
//! lan      = { targets = ["tcp:10.2.0.1:443"] }
//! internet = { targets = ["ping:198.51.100.1", "ping:198.51.100.2", "ping:198.51.100.3"], quorum = 2 }
//!
//! [datacenter.dc-c]
//! internet = { targets = ["ping:203.0.113.1", "ping:203.0.113.2", "ping:203.0.113.3"], quorum = 2 }
//!
//! [datacenter_pair.main]
//! active = "dc-a"
//! backup = "dc-b"
//!
//! [datacenter_pair.second]
//! active = "dc-b"
//! backup = "dc-c"
//!
//! [datacenter_pair.last]
//! active = "dc-a"
//! backup = "dc-c"
//! after  = ["second"]
//!
//! [zone."example.test"]
//! soa = { mname = "ns1.example.test.", rname = "hostmaster.example.test." }
//! static = "@ NS ns1.example.test."
//!
//! [zone."example.test".rrset."www A"]
//! on_empty = "other_set"
//! records = [
//!   { data = "192.0.2.10", cond = "last/from-active" },
//!   { data = "198.51.100.10", drCond = "main/to-backup", cond = "second/from-active" },
//!   { data = "203.0.113.80", drCond = "last/to-backup", cond = "last/from-backup" },
//! ]
//! ```
