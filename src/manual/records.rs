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
//! `gslb_vserver = "gv-web"` of an RRset changes no answer: it is what NetScaler's commands and NITRO call it, and RRsets
//! of one name are the domains of one GSLB vserver ([`import`](super::import)). `[gslb] lines` changes none either: there is
//! what those commands made and no table says ([`nitro`](super::nitro)).
//!
//! How many answers were made of the primary set, of a DR set, and of what `on_empty` chose, is counted for each RRset
//! (`bascule_rrset_answers_total`, and `served` in the REST interface): after a transition it tells who still gets what.
//!
//! # TTLs and caches
//!
//! One TTL for each RRset, `ttl` of its own or the zone's. A flip is answered at once, but resolvers keep what they have
//! until its TTL is over; a short TTL makes flips fast and costs queries on every quiet day. `degraded_ttl`, of the zone or
//! of the RRset, is a second TTL for the times that matter:
//!
//! ```toml
//! [zone."example.test"]
//! ttl          = "60s"
//! degraded_ttl = "5s"
//! soa          = { mname = "ns1", rname = "hostmaster" }
//! ```
//!
//! Answers of an RRset have it
//! - while a scenario that one of its records names is active (`cond = "S!"`: inactive), so that the way back is fast;
//! - while such a scenario may be about to change: its guard runs, a group is true and waits for `min_dwell`, or every term
//!   of a group is true or on its way: a hold counts, the last samples of a check contradict its state (the first of three
//!   failures), a quorum of a data centre would break, or a scenario that it follows is itself about to change. Vservers,
//!   services, windows and switches give no such sign;
//! - while the `check` of one of its records is false.
//!
//! After a transition the box knows by when caches have let go of what it replaced, from the TTLs of the answers that it
//! really gave before: an answer given with 60 s a moment before the short TTL counts with its 60 s. That time is in
//! `last_transition.caches_over_at` of the scenario (with `published_at`, when answers followed), in `/transitions`, in the
//! events of the scenario, in `show scenario`, in `explain dns`, and in the journal as an entry `caches` with the RRsets
//! that changed; `/zones/NAME` has it for each RRset (`caches_over_at`, `since`, and `ttl_because`). Null means that no
//! cache holds a former answer. After a restart every RRset counts as answered a moment before it. Not counted is what
//! breaks the rules of DNS (resolvers that stretch TTLs, programs that ask once), and what secondaries answer that have
//! the zone by transfer. Keep the old address answering until then: drain it (`disable service … -graceFul`), or leave a
//! vserver there that redirects.
//!
//! # Resolvers after a transition
//!
//! For names that a scenario steers the box remembers who asks (at most 32 768 pairs of address and RRset; where room is
//! short, those give way whose answer is over first, and `partial` says so). After a transition that changed answers it tells, in `last_transition` of the
//! scenario, in `/transitions`, and in `show scenario`:
//!
//! - `first_answer_at`: when anybody was first given the new answer;
//! - `resolvers.asked_before`: addresses that may have held a former answer when the new one was published, by the TTL that
//!   each was given;
//! - `resolvers.asked_again`: those of them that have asked since for every name and type that they may have held;
//! - `resolvers.missing`: the others, the one that may hold a former answer longest first (at most 100 are named);
//! - `resolvers.partial`: more had asked than were remembered (from some ten thousand pairs on a few are forgotten, and after a
//!   flood of addresses most; nobody proves the address of a query over UDP), and the figures are of those that were.
//!
//! A resolver is an address that queries come from: several behind one address count as one, and one with several addresses
//! as several. One that is missing after `caches_over_at` holds nothing that it may use: its clients have not asked it for
//! the name. The figures stand still once all have come back, a minute after `caches_over_at` (where nobody asks, ten minutes
//! after the publication), or when the scenario moves again; then they are written into the journal as an entry
//! `resolvers`, with which `/transitions` tells them for ever. What a process before a restart answered, what the rate limit
//! held back of an answer, and who asks secondaries, is not known. Queries for names that no scenario steers are not looked at.
//!
//! A CNAME never stands beside other data in any combination that can be reached: that is
//! checked when the configuration is loaded.
