//! # Choosing a member
//!
//! A new client of a vserver (HTTP: each request; otherwise each connection or session) that no persistence sends
//! somewhere goes through these steps:
//!
//! 1. members that are UP, whose address is known, with a weight above 0;
//! 2. of these the lowest `order` that has somebody. Somebody who is full keeps clients waiting in the surge queue; only
//!    where all of an order are down, ejected or were tried in vain does the next order take over;
//! 3. with a `split`: the group whose turn it is;
//! 4. not those that passive health has ejected;
//! 5. the method; where it finds nothing to go by, `backup_lb_method`; where that finds nothing either, turns.
//!
//! `lb_method` of a vserver:
//!
//! | method | takes the member with | finds nothing to go by where |
//! |---|---|---|
//! | LEASTCONNECTION (default) | the least requests in flight (HTTP) or open connections / weight | – |
//! | ROUNDROBIN | the next turn; a cycle holds exactly the weights, and the turns of a heavy member are spread over it | – |
//! | LEASTRESPONSETIME | the least time to first byte × work / weight | no member has answered yet |
//! | LEASTBANDWIDTH | the least bit/s, both ways, over the last 14 s / weight | – |
//! | LEASTPACKETS | the least reads and writes (UDP: datagrams) per second over the last 14 s / weight | – |
//! | LEASTREQUEST | the least requests in flight over all vservers / weight (HTTP, SSL) | – |
//! | CUSTOMLOAD | the least load that LOAD monitors tell / weight | no monitor has told one |
//! | URLHASH | the key: path and query (HTTP, SSL) | – |
//! | DOMAINHASH | the key: Host without port, in lower case (HTTP, SSL) | there is no Host |
//! | TOKEN | the key: `token` (HTTP, SSL) | the request has no such value |
//! | CALLIDHASH | the key: `token`, by default the header Call-ID (HTTP, SSL) | the request has no such value |
//! | SOURCEIPHASH | the key: the client's network | – |
//! | DESTINATIONIPHASH | the key: the network of the address that the client connected to | – |
//! | SRCIPDESTIPHASH | the key: both | – |
//! | SRCIPSRCPORTHASH | the key: the client's network and port | – |
//! | STATICPROXIMITY | the longest network of `proximity` that holds the client; among several the backup method | the client is in none, or nobody there can serve |
//!
//! Among equals of the LEAST methods and of CUSTOMLOAD turns go round by weight. A member without a figure yet counts as
//! the mean of the others, so that it is neither flooded nor forgotten.
//!
//! ## Hashing
//!
//! Hashing is consistent (weighted rendezvous): a member that goes, comes or changes its weight moves its own keys and no
//! other, and a member that comes back gets exactly the keys it had. A key whose member is down, full or ejected goes to
//! the member that is next in the key's own order. A member's share of keys is its share of weights. What counts is the
//! service's name, or its `hash_id` where it has one (so that keys stay when it is renamed); never its address, or where
//! it stands in a list.
//!
//! `hash_length` (1..=4096, default 80) is how many bytes of a text are hashed; `netmask` (`24` or `255.255.255.0`,
//! default 32) and `v6netmasklen` (default 128) how many bits of an address. Two members of a vserver with one `hash_id`
//! are refused.
//!
//! ## Values taken from requests
//!
//! `token` (or `rule`) is `"path"`, `"url"` (path with query), `"host"`, `"client_ip"`, or a table with exactly one of
//! `header`, `cookie`, `query`, `path_segment` (from 1) and `of` (one of the words before); with `regex` the value is what
//! its first bracket takes: `{ header = "X-Tenant", regex = "^([a-z]+)-" }`.
//!
//! ## Weights, orders, splits
//!
//! ```toml
//! [defaults.service]
//! type    = "HTTP"
//! passive = { connect_failures = 5, server_errors = 20 }
//!
//! [service]
//! web1  = { address = "192.0.2.1:80" }
//! web2  = { address = "192.0.2.2:80", hash_id = 2 }
//! web3  = { address = "192.0.2.3:80" }
//! spare = { address = "192.0.2.4:80" }
//!
//! [service_group]
//! blue  = { member.one = { address = "192.0.2.11:80" }, member.two = { address = "192.0.2.12:80" } }
//! green = { member.one = { address = "192.0.2.21:80" } }
//!
//! [vserver.shop]
//! type     = "HTTP"
//! address  = "192.0.2.80:80"
//! services = { web1 = 3, web2 = 1, web3 = 0, spare = { weight = 1, order = 2 } }
//!
//! [vserver.api]
//! type    = "HTTP"
//! address = "192.0.2.81:80"
//! groups  = ["blue", "green"]
//! split   = { blue = 95, green = 5 }
//! ```
//!
//! A weight is 0..=100, default 1. Weight 0 means no new clients: persistent ones stay, the member's state still counts,
//! and it weighs nothing in the health that spillover goes by. `order` is 1..=8192, default 1; members of groups say
//! theirs beside their weight.
//!
//! A `split` names every bound group, 100 % together, and is exact: of each hundred new clients a group gets its share,
//! whatever the method; a hash method splits keys instead, so that moving a share moves only keys from one group to the
//! other. A group without anybody to serve gives its share to the others in proportion; one with share 0 gets no new
//! clients, except where a rule names it. Persistent clients stay where they are when a share moves.
//!
//! A split moves while the appliance runs, without touching a connection: `PUT /api/v1/vservers/shop/split` with
//! `{"split": {"blue": 90, "green": 10}, "reason": "canary", "expires": "2h"}`, or in the shell
//! `set lb vserver shop -split blue=90,green=10`. `?dry_run=true` and `-dryRun YES` only say what would change. That is
//! state, as a force or a switch is: durable at once, in the journal with who did it, listed among the overrides of
//! `/api/v1/status` and shown beside the configured shares. It outlives restarts and reloads; a reload that brings other
//! shares says that they wait behind it. `none` ends it, as do its expiry and a configuration that binds other groups.
//!
//! ## Slow start
//!
//! `slow_start` of a vserver (0..=24h, default 0: off): a member that came UP is given a tenth of its weight, growing
//! evenly to all of it over this time. It counts from the moment its state became UP, so members that come up together
//! share as they always do. Hash methods have none: a key stays with its member.
//!
//! ## Passive health
//!
//! `passive` of a service or group watches real traffic, beside the monitors: `connect_failures` in a row (connections
//! refused, not answered or reset before an answer; default 5, 0: not watched) or `server_errors` in a row (5xx answers;
//! default 0: not watched) *eject* the member from the choice of new clients for `eject_time` (1s..=1h, default 30s). The
//! n-th ejection in a row lasts n times as long, at most ten times; once the member has served again for as long as it
//! was out, counting begins anew.
//!
//! An ejected member is not DOWN: its state, the vserver's and the scenarios that look at them do not change, and
//! persistent clients still reach it. Of a vserver's members at most `max_ejected` percent (1..=100, default 50) are left
//! out at once, those that failed first; one may always be, and the last never is. Where nobody else is left for a client
//! an ejected member is tried after all. It is shown as `ejected` in REST (`passive`, `ejected_for`), in `show service`
//! and in the metrics `bascule_service_ejected` and `bascule_service_ejections_total`. The journal (kind `ejected`) and the
//! log say when it happened, why and until when, and so does `explain service NAME` in the shell and at
//! `/api/v1/explain/service`, beside everything else that keeps new clients from a service.
