//! # Under load
//!
//! What happens to a client when there is too much of everybody, or of itself.
//!
//! ```text
//!            client_limits ──▶ 429, reset
//!                 │
//!  persistence ── spillover ── method ── a member below its limits ──▶ served
//!                 │                        └ all at a limit ──▶ surge queue ──▶ served; 503 when full or too late
//!                 └──▶ backup, or backup_action
//! ```
//!
//! ```toml
//! [service.a]
//! type = "HTTP"
//! address = "10.0.0.1"
//! port = 80
//! max_client = 200
//! max_bandwidth = "100Mbit/s"
//!
//! [vserver.sorry]
//! type = "HTTP"
//! services = ["a"]
//!
//! [vserver.web]
//! type = "HTTP"
//! address = "192.0.2.1:80"
//! services = ["a"]
//! backup = "sorry"
//! spillover = { method = "CONNECTION", threshold = 1000, persistence = true, backup_action = "REDIRECT" }
//! redirect_url = "https://sorry.example.test"
//! surge = { max = 500, timeout = "5s" }
//!
//! [vserver.web.client_limits]
//! everybody = { rate = 100, burst = 200, concurrency = 50 }
//! by-key = { key = { header = "X-Api-Key" }, rate = 20 }
//! ```
//!
//! ## Limits of a member, and the surge queue
//!
//! | key | counts | default |
//! |---|---|---|
//! | `max_client` of a service | requests in flight (HTTP) or open connections, over all vservers | 0: no limit |
//! | `max_bandwidth` of a service | bit/s of both directions, over the last 14 s; above it the member gets no new clients | no limit |
//! | `surge.max` of a vserver | clients that wait at once; 0: nobody waits | 1000 |
//! | `surge.timeout` of a vserver | how long one waits | 10 s |
//!
//! A client that finds every member at its limit waits, first come, first served. A place that becomes free is given to
//! the first who could use it, and only that one is woken; nobody who comes later takes it. Where a member comes up or a
//! limit is raised, those who wait are let in one after the other. A queue that is full, and a wait that is too long, are
//! 503 (`queue_full`, `queue_timeout` in log and metrics), without HTTP a reset. Who leaves while it
//! waits is out of the queue at once (`client/queue/client_gone`): a connection that is reset, with HTTP also one
//! that the client has closed on its side, since nobody who still wants the answer does that, and a stream of HTTP/2 that
//! was reset. Of an upgrade and of what else the second engine carries over HTTP/1.1 it shows when its turn comes. Waiting does not spill: only `spillover` sends clients to the backup.
//!
//! ## Spillover
//!
//! The state stays UP; new clients go to the first vserver of the backup chain that is usable and does not spill itself.
//!
//! | method | new clients spill |
//! |---|---|
//! | HEALTH | while less than `threshold` percent of the weights are UP |
//! | CONNECTION | from `threshold` connections (HTTP: requests in flight) of its own members on |
//! | DYNAMICCONNECTION | from the sum of `max_client` of its UP members on; every member needs one |
//! | BANDWIDTH | above `threshold`, a rate such as `"10Mbit/s"`, of both directions over the last 14 s |
//! | CONDITION | while `when`, a condition of checks, scenarios, switches and states, is true |
//!
//! What has spilled stays where it is; new clients return as soon as there is room. With `persistence = true` a client
//! that spilled keeps going to the backup, by its address, until it has not come for `persistence_timeout` (2 min). A
//! client that its vserver knows by persistence does not spill.
//!
//! Where no backup can take what spills, `backup_action` decides: ACCEPT (default), the vserver takes it after all; DROP,
//! the connection is reset; REDIRECT, `redirect_url`.
//!
//! ## redirect_url
//!
//! Answered (302) where neither the vserver nor its chain can serve: all are down, or drain, or by REDIRECT. A URL without
//! a path (`https://sorry.example.test`) is given the path and query that were asked for; one with a path is used as it is.
//!
//! ## Limits of one client
//!
//! Each of `client_limits` counts by the client's address, cut to `prefix_v4` (32) or `prefix_v6` (64), or by `key`, a value of the
//! request as in [`persistence`](super::persistence); requests without the value count together, and with them those that
//! give a header or a parameter twice with different values. A limit by address bounds everybody; one by `key` bounds who
//! keeps to a key.
//!
//! | key | |
//! |---|---|
//! | `rate` | requests (HTTP) or connections per second over time |
//! | `burst` | how many may come at once before the rate counts; default: the rate |
//! | `concurrency` | requests in flight or connections open at once |
//!
//! Over one of them a request is answered 429 with Retry-After in seconds, before any rule is asked; a connection without
//! HTTP is reset. Requests that rules answer count as well. A limit keeps count of 100 000 clients at most; where there are
//! more, the quietest are forgotten.
//!
//! ## Connections of the process
//!
//! As many client connections are open at once as the limit of open files takes (100 000 at most). Where all places are
//! taken and somebody waits, idle connections of HTTP, and those whose PROXY protocol header or handshake is not over, are
//! closed (`too_many_connections`), the oldest first of the client (an address, or a /64 of IPv6) that has most of them,
//! as fast as others come; requests in flight and connections without HTTP are not touched, for which `client_limits` with
//! `concurrency` is there. Handshakes have a bound of their own: [`tls`](super::tls). Sessions of datagrams have no more than a quarter of the places;
//! where they are used up a VIP with many gives up those that were silent longest for one that has none.
