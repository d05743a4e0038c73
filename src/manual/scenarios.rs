//! # Scenarios
//!
//! A scenario is a named state machine with two directions that need not mirror each other: going over to a backup is
//! a defensive act under pressure, coming back is a deliberate one. DNS records, other scenarios, traffic rules and
//! data-centre pairs refer to it by name. DNS sees two states, *inactive* and *active*; while a guard runs it is shown
//! as *activating* (still inactive) or *deactivating* (still active).
//!
//! ```toml
//! [scenario.a-is-out]
//! about = "Site A does not serve; runbook RB-17"
//!
//! [scenario.a-is-out.activate]
//! when = [["api-a!{fails:1}", "dc:dc-b.internet"]]
//!
//! [scenario.a-is-out.deactivate]
//! when = [["api-a{for:15m}"]]
//! ```
//!
//! ## Conditions
//!
//! `when` is a list of groups, or a table of named groups; the name is the reason that journal and payload show. Inside
//! a group all terms must be true, and one true group is enough. `!` after an id negates it. Logic has three values:
//! *unknown* (a check without a result, too few samples, a peer that cannot be heard) neither fires nor counts as
//! false.
//!
//! | id | true when |
//! |---|---|
//! | `NAME` | the check is up |
//! | `vs:NAME` | a new client would be served, by own services or by the chain where it would be used |
//! | `vs:NAME.primary` `.admin` `.fault` `.health>=N` | served by own services; out or draining by an administrator; down by fault; share of weights UP |
//! | `svc:NAME` `svc:NAME.serving` `svc:NAME.fault` | UP; UP or TROFS; DOWN or TROFS_DOWN. A member of a group is `svc:GROUP/MEMBER` |
//! | `sc:NAME` | another scenario is active |
//! | `dc:NAME.wan` `.lan` `.access` `.internet` `.maintenance` | signals of a data centre; `@SITE`: as a box there tells it ([`peers`](super::peers)), unknown while it is not heard |
//! | `tw:NAME`, `sw:NAME` | inside a time window; a switch is set |
//!
//! Qualifiers stand in braces, at most one measure and then at most one `for`:
//!
//! | qualifier | means |
//! |---|---|
//! | `p{for:15m}` | p is up and every sample of the last 15 minutes passed; one failed sample begins the hold anew, even where `fall` keeps the check up |
//! | `p!{for:3m}` | p has been down for 3 minutes |
//! | `p!{fails:3}`, `p{passes:2}` | that many failed, or passed, samples in a row, whatever `rise` and `fall` say |
//! | `p{flaps<3 in 30m}` | p is up and changed its state fewer than 3 times in 30 minutes |
//! | `p{latency.p95<80ms over 20 samples, leave at 100ms}` | the 95th percentile is below 80 ms, and once it is, until it reaches 100 ms; also `avg`, `last`, `p50`, `p99`, and `over 5m`. A failed sample counts as infinitely slow |
//!
//! No hold of the direction that leads *out of* a state begins before the commit that entered it. So a healthy site that
//! was forced out returns fifteen minutes after that, not at once because it has been healthy for days. To have it out
//! for a time of your own, use a [drill](super::drills).
//! Scenarios are evaluated when something they refer to changes, and when a hold ends; nothing is polled.
//!
//! ## Modes
//!
//! | activate | deactivate | while inactive | while active | shown |
//! |---|---|---|---|---|
//! | auto | auto | fires on its condition | returns on its condition | |
//! | auto | off | fires on its condition | stays; `ready_to_return` once the condition is true | manual out |
//! | auto | on | fires on its condition, which releases the `on` | returns now | forced return |
//! | on | auto | fires now | returns on fresh evidence | forced |
//! | on | off | fires now | pinned | pinned |
//! | off | auto | stays | returns on its condition | failover disabled |
//! | off | on | pinned | returns now, then pinned | pinned |
//! | off | off | frozen | frozen | maintenance |
//! | on | on | stuck | stuck | stuck, with one warning |
//!
//! `on` acts once and stays visible (*spent*) until the opposite direction commits, somebody changes it, or its
//! `expires` passes. `off` stops automatic firing and a guard that runs; it never changes the state. A mode set to what
//! the configuration says is no override any more, nor is a switch set to its `initial` without an expiry.
//!
//! After a *forced* commit each group of the direction leading out is disarmed until there is fresh evidence: it has
//! been false since, or a hold in it has completed that counted from the commit. A group that is false at the commit is
//! armed at once, so a second, different fault still fails over.
//!
//! When both conditions are true, activation wins. More than `oscillation.commits` automatic commits within
//! `oscillation.within` hold the scenario in its state, activation excepted, until the window is calmer or somebody sets
//! a mode.
//!
//! ## Gate and guard
//!
//! A **gate** is read at the commit: if it is not true the state changes all the same and the triggers stay silent, for
//! good. A **guard** runs before the commit: it passes, refuses, or cannot tell, and then `on_timeout` decides at its
//! `deadline`. After a refusal it is tried again after `backoff` while the condition stays true. If the condition turns
//! false meanwhile, the attempt is abandoned and recorded. Forcing the opposite direction while a guard is pending
//! cancels it, and the cancelled direction then needs fresh evidence, as after a forced commit.
//!
//! How triggers are delivered, what a guard may ask, and how a person approves: [`triggers`](super::triggers);
//! those that go to a database: [`sql`](super::sql).
//!
//! ## After a restart
//!
//! State, number, modes and what was armed are on disk before anybody sees them, so the first DNS answer after a restart
//! is right. Every check is unknown until its first result and holds begin anew; nothing moves before the terms it needs
//! are known.
