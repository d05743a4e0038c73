//! Bascule: an ADC and a GTM in one box.
//!
//! Two ideas, joined. **Decisions live in a pure, synchronous, single-writer engine**: it is handed inputs and the time,
//! and returns effects. **Traffic reads one immutable snapshot**, swapped atomically, without locks. Everything below
//! serves one of the two.
//!
//! ```text
//!       network                      machine: pure, one step at a time
//!  ┌────────────────┐   ┌──────────────────────────────────────────────────────────────┐
//!  │ probe: attempt │──▶│ check ──▶ BOARD ──┬──▶ service ──▶ vserver ───┐              │
//!  └───────▲────────┘   │ anti-flap  a row  │                           ├─▶ StateView  │
//!          │    Verdict │         per check └──▶ scenario ─▶ answer set ┘   + Effects  │
//!          │            └──────▲─────────────────────────────────────────────┬─────────┘
//!          │                   │ Now + Input                                 │
//!          │            ┌──────┴─────────────────────────────────────────────▼─────────┐
//!          └────────────│ control::reactor: THE ONE WRITER ──▶ store, journal, events  │
//!                       └──▲──────────▲────────────────────────────────────┬───────────┘
//!          Command, Adopt  │          │ Observation                        │ publish
//!    admin, cli, config ───┘          │ (bounded queue)                    ▼
//!                                     │                  snapshot: immutable, one cell
//!                                     │                                    │ load, lock-free
//!                                     └──── dataplane: l4, l7, dns ◀───────┘
//! ```
//!
//! # Layout
//!
//! | layer | module | what it is | may name |
//! |---|---|---|---|
//! | L0 nouns | [`model`] | the validated, resolved intention; time, ids, states, events | nothing |
//! | L1 verbs | [`machine`] | check, board, service, vserver, scenario, engine: pure state machines | model |
//! | | [`balance`] | choosing a member, persistence, choosing records | model |
//! | | [`config`] | text ⇄ model: load with every problem at once, render, diff | model |
//! | | [`netscaler`] | NetScaler's words ⇄ the TOML: tables, statements on a configuration | model, config |
//! | L2 seam | [`snapshot`] | what traffic reads: build, one cell, live counters, zones | model, balance |
//! | L3 edges | [`dataplane`] | listeners, TCP, HTTP by two engines, DNS | model, balance, snapshot |
//! | | [`network`] | addresses of the machine: VIPs and source addresses on its interfaces | model, snapshot |
//! | | [`probe`] | one sample of a check against a real socket; the runner | model |
//! | | [`files`] | texts on disk: configurations, zone files, event scripts | model, config |
//! | L4 writer | [`control`] | the one writer: commands, reactor, store, journal | model, machine, config, files, snapshot, probe |
//! | L5 front ends | [`admin`] | REST, metrics, authentication | model, config, netscaler, snapshot, rehearse, control's handle |
//! | | [`rehearse`] | test, simulate, replay, explain: the engine in virtual time | model, machine, balance, config, files, snapshot, pure parts of dataplane, the journal |
//! | | [`cli`] | the shell and one-shot commands | as admin, its data types, files |
//! | | [`peer`] | the link to other boxes: asks and answers | model, snapshot, control's handle |
//! | L6 wiring | [`app`] | constructs everything in order, readiness, graceful stop | all |
//! | words | [`manual`] | the manual, as modules, so that its links and examples are checked | – |
//!
//! `tests/tidy.rs` reads the sources and fails on a name that a layer may not use, so that this table cannot drift.
//!
//! # Where to begin
//!
//! To understand what it does: [`manual`]. To change how a scenario decides: [`machine::scenario`], whose state chart
//! stands above the code; how a service drains: [`machine::service`]; what a configuration may say: [`config`]; what an
//! answer holds: [`balance::records`]; what the writer promises about durability: [`control`].

pub mod admin;
pub mod app;
pub mod balance;
pub mod cli;
pub mod config;
pub mod control;
pub mod dataplane;
pub mod files;
pub mod machine;
pub mod manual;
pub mod model;
pub mod netscaler;
pub mod network;
pub mod peer;
pub mod probe;
pub mod rehearse;
pub mod snapshot;
