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
//! 4. **Select** among what is left: `ordered`, `weighted`, `round_robin`, `hash`; then the number of answers.
//!
//! One TTL for each RRset. A CNAME never stands beside other data in any combination that can be reached: that is
//! checked when the configuration is loaded.
