//! # Servers by name, and members from DNS
//!
//! A server may have a host name instead of an address. A service on it follows the name; a service group with
//! `auto_scale = "DNS"` has a member for *every* address of the name.
//!
//! ```toml
//! [resolver]
//! name_servers = ["192.0.2.53", "192.0.2.54:5353"]   # without it: those of the system
//!
//! [server.db]                        # one address: the service follows it
//! address = "db.example.test"
//!
//! [service.db]
//! type   = "TCP"
//! server = "db"
//! port   = 5432
//!
//! [server.pool]                      # many: each is a member
//! address              = "_http._tcp.app.example.test"
//! query_type           = "SRV"
//! domain_resolve_retry = "10s"
//!
//! [service_group.app]
//! type                  = "HTTP"
//! auto_scale            = "DNS"
//! auto_delayed_trofs    = true
//! auto_disable_delay    = "2m"
//! auto_disable_graceful = true
//! member.pool           = { server = "pool" }
//!
//! [vserver.app]
//! type       = "HTTP"
//! address    = "192.0.2.1:80"
//! groups     = ["app"]
//! slow_start = "30s"
//! ```
//!
//! ## Asking
//!
//! | key | default | |
//! |---|---|---|
//! | `resolver.name_servers` | those of the system | at most 8, asked in this order, over UDP and TCP. Names are absolute then, and `/etc/hosts` and the search list are not looked at; without it both are |
//! | `server.query_type` | A, and AAAA where there is no A | `A`, `AAAA`; `SRV` (RFC 2782) for groups with `auto_scale` |
//! | `server.domain_resolve_retry` | 5s | the wait after a failure, from 1 s |
//!
//! A name is asked again when its TTL is over (the least of all records that led to the addresses), after a second at the
//! earliest and five minutes at the latest. Everything about one question takes six seconds at most; sixteen are asked at
//! once. Monitors of such a service probe the address that traffic uses.
//!
//! **What was answered stays in force until something else is answered.** A name server that is out, SERVFAIL, NXDOMAIN
//! and an answer without addresses take nobody away: the failure is shown, with the age of what is in force (`show
//! server`, `/servers/NAME`, the problems of `/status`), and that is all. The last answers are kept in the state
//! directory, so a restart in the middle of an outage of DNS begins with the members there were. A server whose name has
//! never been answered is UNKNOWN.
//!
//! ## A service on a server by name
//!
//! It keeps its address for as long as the answer holds it, so a rotating answer moves nobody. When the address is gone
//! from the answer, new connections and requests go to the first address of the new one, and the monitors probe there at
//! once; what is under way on the former address finishes there, and connections that idle are not used again for
//! another address.
//!
//! ## Members
//!
//! Each `member` of a group with `auto_scale = "DNS"` is a name that members come from: a server by name, or an `address`
//! that is one. A member is named by its address, `app/192.0.2.7:8080`, and is a service like any other: probed, shown,
//! disabled by people, with the settings of its group.
//!
//! | | A, AAAA | SRV |
//! |---|---|---|
//! | port | `port` of the member | of the record; the targets are looked up as A, and AAAA where there is no A |
//! | weight | `weight` of the member | of the record; in proportion where one is above 100. 0 counts as 1 |
//! | order | `order` of the member | by the record's priority: the least is 1, the next 2, … |
//!
//! - **Joins**: unknown until probed, then as any service that comes up (`slow_start` applies). At most 256 members a
//!   group; what is beyond waits, and is counted in the log.
//! - **Leaves**: disabled by `dns`, drained by `auto_disable_delay` and `auto_disable_graceful` as a person's `disable`
//!   would (TROFS; see [`states`](super::states)), and gone once it is out and nothing is open on it. NetScaler's default
//!   is neither: then the member is out at once, and `down_state_flush` ends what is open on it.
//! - **Comes back** before that: the drain ends. What a *person* disabled stays disabled.
//! - With `auto_delayed_trofs` a member that leaves serves on for the longest response time-out of the group's monitors
//!   before it drains, so that those that join are up before it goes. Where a whole set of addresses is exchanged at
//!   once, this is what keeps a vserver up: without it there is a moment in which all that is left drains and nothing
//!   that joined is probed yet.
//!
//! TLS to a member asks for, and verifies, the name that led to it: the server's, or the target of its SRV record.
//!
//! Members are state and not configuration: `save` does not write them, a reload of an unchanged group keeps them as they
//! are, a restart begins with them. Every change is an entry of the journal (`members`).
//!
//! ## Rehearsing it
//!
//! In an event script DNS says what the script says; until then the group has no members.
//!
//! ```events
//! dns _http._tcp.app.example.test = "10 30 192.0.2.7:8080" "10 10 192.0.2.8:8080"
//! expect svc:app/192.0.2.7:8080 UP
//! at 1m dns _http._tcp.app.example.test = "10 10 192.0.2.8:8080"
//! within 10s expect svc:app/192.0.2.7:8080 TROFS
//! after 1m dns _http._tcp.app.example.test fails
//! for 1h expect vs:app UP
//! ```
