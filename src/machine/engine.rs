//! The engine: all machines of one appliance, advanced one step at a time.
//!
//! A step does what the picture in `lib.rs` shows, in this order: timers that are due, each at its own time; the input;
//! then whatever depends on what changed: board rows, services, vservers, scenarios in topological order, watched
//! terms. What depends on what is found through indexes built at `Adopt`, so a step costs what lies downstream of its
//! input and never grows with the number of unrelated objects.

mod admin;
mod adopt;
mod drill;
mod input;
mod rows;
mod settle;
mod timers;
mod together;
mod turning;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use super::board::{Board, RowId, TermRows};
use super::check::CheckMachine;
use super::scenario::ScenarioMachine;
use super::service::ServiceMachine;
use super::{Effect, Input, PeerRows};
use crate::model::Model;
use crate::model::condition::Signal;
use crate::model::id::{CheckId, DatacenterId, Name, ScenarioId, ServiceId, VserverId, WatchedId};
use crate::model::state::{Saved, SavedScenario, StateView};
use crate::model::time::{Now, Tick, Wall};
use timers::{Timer, WallTimer};
use together::{Count, Crowd};

#[derive(Clone, Debug, Default)]
pub struct Engine {
    now: Now,
    model: Option<Arc<Model>>,
    view: StateView,
    board: Board,
    checks: Vec<CheckRun>,
    services: Vec<ServiceRun>,
    vservers: Vec<VserverRun>,
    scenarios: Vec<ScenarioRun>,
    watched: Vec<WatchedRun>,
    /// What peers see, by the name of the peer; those that are not heard are not there.
    heard: BTreeMap<Name, PeerRows>,
    /// Scenarios that stand where the last drill has put them.
    moved: BTreeSet<ScenarioId>,
    /// Rows by data centre.
    signal_rows: Vec<Vec<RowId>>,
    window_rows: Vec<Option<RowId>>,
    switch_rows: Vec<Option<RowId>>,
    timers: BTreeSet<(Tick, Timer)>,
    wall_timers: BTreeSet<(Wall, WallTimer)>,
    dirty: Dirty,
    /// Checks that fail as one.
    crowds: HashMap<Crowd, Count>,
    /// Rows that changed since the journal was last told.
    changed_rows: Vec<RowId>,
    /// What a start found on disk, until the first `Adopt`.
    saved: Option<Saved>,
    /// Rows come from a journal; only `Wake` evaluates.
    replaying: bool,
    /// The next evaluation is the first after a reload: its commits have cause `config`.
    reloaded: bool,
    /// `admin:<user>` while the consequences of what a person did are worked out.
    act_of: Option<Name>,
    /// Some record has a `degraded_ttl`.
    looks_at_turning: bool,
    /// Something visible changed in this step.
    changed: bool,
}

#[derive(Clone, Debug)]
struct CheckRun {
    machine: CheckMachine,
    /// When the current sample was, or is, due.
    due: Tick,
    rows: Vec<RowId>,
    timer: Option<Tick>,
    service: Option<ServiceId>,
    signal: Option<(DatacenterId, Signal)>,
    /// What a derived check looks at, and when it looks next.
    watched: Option<WatchedId>,
    look: Option<Tick>,
    /// How it counts in its crowd: as one of it, and as one that fails.
    counts: (bool, bool),
}

#[derive(Clone, Debug)]
struct ServiceRun {
    machine: ServiceMachine,
    rows: Vec<RowId>,
    vservers: Vec<VserverId>,
    timer: Option<Wall>,
    /// When it last went from UP to DOWN.
    fell_at: Option<Tick>,
}

#[derive(Clone, Debug, Default)]
struct VserverRun {
    rows: Vec<RowId>,
    /// Vservers whose chain comes through here.
    upstream: Vec<VserverId>,
    /// Content-switching vservers that hand to it.
    switched_by: Vec<VserverId>,
    disabled: bool,
    held_down: bool,
    /// It has been UP since it was last enabled: only what was UP can go DOWN under `disable_primary_on_down`.
    was_up: bool,
}

#[derive(Clone, Debug)]
struct ScenarioRun {
    machine: ScenarioMachine,
    /// Position in the topological order.
    rank: u32,
    row: Option<RowId>,
    timer: Option<Tick>,
}

#[derive(Clone, Debug)]
struct WatchedRun {
    rows: TermRows,
    timer: Option<Tick>,
}

/// What must be looked at before the step ends.
#[derive(Clone, Debug, Default)]
struct Dirty {
    services: BTreeSet<ServiceId>,
    vservers: BTreeSet<VserverId>,
    /// By rank, so that each stands after those that it refers to.
    scenarios: BTreeSet<(u32, ScenarioId)>,
    watched: BTreeSet<WatchedId>,
    crowds: BTreeSet<Crowd>,
    /// By rank too.
    turning: BTreeSet<(u32, ScenarioId)>,
}

// === impl Engine ===

impl Engine {
    pub fn new() -> Engine {
        Engine::default()
    }

    /// An engine whose board is fed from a journal: acts and rows are taken in, and `Wake` evaluates.
    pub fn for_replay() -> Engine {
        Engine { replaying: true, ..Engine::default() }
    }

    /// Applies `input` at `now`; `now.tick` never decreases (asserted). Effects are appended.
    pub fn step(&mut self, now: Now, input: Input, effects: &mut Vec<Effect>) {
        assert!(now.tick >= self.now.tick, "time never runs back");
        let evaluates = !self.replaying || matches!(input, Input::Wake);
        // In a journal what a timer did at this very moment stands before what the input did: its row is an input here,
        // and is not overtaken by another timer of the moment.
        let due = if evaluates { now } else { now.before(Duration::from_micros(1)) };
        self.work_off_timers(due, now, effects);
        self.now = now;
        self.take(input, effects);
        if evaluates {
            self.settle(effects);
        }
        self.act_of = None;
        if std::mem::take(&mut self.changed) {
            self.view.generation += 1;
            effects.push(Effect::Publish);
        }
    }

    /// Earliest tick at which `Input::Wake` has work, if any; later than the last step. Wall-clock deadlines are
    /// converted with the two clocks of the last step: whoever can see the wall clock being set wakes the engine then.
    pub fn wake_at(&self) -> Option<Tick> {
        let tick = self.timers.first().map(|(tick, _)| *tick);
        let wall = self.wall_timers.first().map(|(wall, _)| self.now.tick + wall.since(self.now.wall));
        tick.into_iter().chain(wall).min()
    }

    pub fn view(&self) -> &StateView {
        &self.view
    }

    pub fn board(&self) -> &Board {
        &self.board
    }

    /// The time of the last step.
    pub fn now(&self) -> Now {
        self.now
    }

    /// The adopted model. Panics before the first `Adopt`.
    pub fn model(&self) -> &Arc<Model> {
        self.model.as_ref().expect("a model is adopted before anything else")
    }

    /// A scenario as it would be saved now.
    pub fn saved(&self, scenario: ScenarioId) -> SavedScenario {
        self.scenarios[scenario.index()].machine.saved(self.model().scenario(scenario))
    }

    /// When the next sample of a check is due.
    pub fn due(&self, check: CheckId) -> Tick {
        self.checks[check.index()].due
    }
}
