//! # States
//!
//! ## Services
//!
//! | state | shown as | enter when |
//! |---|---|---|
//! | UNKNOWN | `UNKNOWN` | no probe result yet, or the server's name has never resolved |
//! | UP | `UP` | all monitors are up (or the weights of those that are reach `mon_threshold`; or `health_monitor` is off) |
//! | DOWN | `DOWN` | they are not |
//! | TROFS | `GOING OUT OF SERVICE` | disabled with a delay or gracefully, or a monitor asks for it; probes do not fail |
//! | TROFS_DOWN | `DOWN WHEN GOING OUT OF SERVICE` | draining and the probes fail |
//! | OFS | `OUT OF SERVICE` | disabled without a delay, or the drain is over |
//!
//! Disabling has four forms, and a second disable replaces the first:
//!
//! | delay | graceful | what happens |
//! |---|---|---|
//! | none | no | out of service at once; connections end where `down_state_flush` is on |
//! | N | no | draining for exactly N, even when idle; then out |
//! | none | yes | draining until the last transaction ends; at once when idle |
//! | N | yes | whichever comes first |
//!
//! The deadline is wall time: it goes on over a restart. A graceful drain without a deadline has no transaction left
//! after a restart, so the service is then out of service. Disabling a server or a group reaches every service in it at
//! a level of its own: enabling the service does not undo what was done to the server.
//!
//! What clients get:
//!
//! | state | new client | client known by persistence | open connections |
//! |---|---|---|---|
//! | UP | yes | the same service | go on |
//! | TROFS | no | the same service, where `trofs_persistence` is on (default) | go on until the drain ends |
//! | TROFS_DOWN, DOWN | no | another service; the entry is rewritten | end where `down_state_flush` is on |
//! | OFS | no | another service | end where `down_state_flush` is on |
//!
//! A session cookie (persistence with time-out 0) never ends by itself: give such a drain a delay.
//!
//! `disable service N 30 -wait` in the shell (`wait` in the REST interface; with a time: at most so long) answers when the
//! service is out. Where it is not by then the answer says who is left: how much is open, of how many clients, the
//! addresses with the most, and which vservers' session cookies never end by themselves. `show ns connectiontable` lists
//! every one, `kill service` ends them.
//!
//! ## Vservers
//!
//! UP while a member is UP or TROFS (and `health_threshold` is met); DOWN otherwise, with nothing bound, or with the
//! feature off; OFS when disabled. The *effective* state is UP as soon as the vserver or any of its backup chain is.
//!
//! **The trap.** While all members of a vserver drain, it is still UP, so its backup is *not* used and new clients are
//! refused. Disabling the last UP member answers with a warning. Spillover by health
//! (`spillover = { method = "HEALTH", threshold = N }`) is the way out: draining members are not UP, so the share of
//! weights falls below the threshold and new clients go to the backup.
//!
//! `health_threshold` and spillover by health are different things: the first takes the vserver DOWN when fewer than
//! that percentage of its services (those out of service left out, draining ones counted as active) are active; the
//! second leaves it UP and sends *new* clients on when fewer than that percentage of weights is UP.
//!
//! A request or connection that can reach none of its own members goes on along the chain, so that only what is in
//! flight on a killed server fails. NetScaler does not do this.
//!
//! What its documentation leaves open stands in [`choices`](super::choices).
