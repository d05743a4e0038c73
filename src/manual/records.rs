//! # Steered records
//!
//! Everything about one steered RRset stands in one place:
//!
//! ```toml
//! [zone."example.test".rrset."www A"]
//! records = [
//!   { data = "192.0.2.10", cond = "a-is-out" },     # left out while the scenario is active
//!   { data = "192.0.2.11" },
//!   { data = "198.51.100.10", drCond = "dr" },      # member of the DR set of scenario dr
//! ]
//! on_empty = "serve_all"
//! select   = { method = "weighted", answers = "all" }
//! ```
//!
//! An answer is made in steps, and `bascule explain dns NAME TYPE` names the result of each:
//!
//! 1. **Base set.** Records without `drCond` are the primary set. If the scenario of a DR set is active, that set
//!    replaces the primary one; with several, the first in the order of the list that is active and has a record left
//!    after the filter.
//! 2. **Filter.** A record leaves while its `cond` scenario is active (`cond = "S!"`: while it is not), and while its
//!    `check` is false. Unknown counts as up. `enabled = false` leaves it out always.
//! 3. **Empty?** `on_empty` decides, and never with NXDOMAIN: `serve_all` (the base set, unfiltered; the default),
//!    `other_set` (the next active DR set, else the primary set), `{ static = [...] }`, `last_good`, `nodata`,
//!    `servfail`. Two sets are never mixed.
//! 4. **Select** among what is left. With `topology = true` the records of the client's own data centre answer alone,
//!    where any of them is left: a record stands in the one of its `datacenter`, a client in the one that has the longest
//!    of the `networks` that hold its address (`[datacenter.dc-a] networks = ["10.0.0.0/8"]`). Else,
//!    with `geo = true`, those answer that are for the narrowest region that holds the client (`geo = "country:TR"`,
//!    `"continent:EU"`, `"subdivision:TR-34"`, or a list), and for a client in none of the regions those without `geo`.
//!    Then `ordered`, `weighted`, `round_robin`, or `hash` (rendezvous hash of the client, which keeps its answer); then the number of
//!    answers. The client is the resolver that asks, or the subnet that it tells, where `ecs` is configured
//!    ([`dns`](super::dns)).
//!
//! How many answers were made of the primary set, of a DR set, and of what `on_empty` chose, is counted for each RRset
//! (`bascule_rrset_answers_total`, and `served` in the REST interface): after a transition it tells who still gets what.
//!
//! One TTL for each RRset. A CNAME never stands beside other data in any combination that can be reached: that is
//! checked when the configuration is loaded.
