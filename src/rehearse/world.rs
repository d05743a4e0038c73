//! A world in which scripts happen: an engine, checks that answer as they are told, and what traffic would see.
//!
//! It stands where the control layer and the network stand in a running appliance, and differs from them in three ways:
//! a sample takes no time (its latency is what the script says), the disk answers at once, and queries and approvals of
//! guards say what the script lets them say. Everything else is the appliance: schedules of probes, the engine, the
//! snapshot, the answers.

mod acts;
mod answers;
mod names;
mod peers;
mod samples;

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use crate::machine::members::Members;
use crate::machine::names::Names;
use crate::machine::{Effect, Engine, Input, invariant};
use crate::model::Model;
use crate::model::event::{GuardResult, GuardVerdict, Observation, Record};
use crate::model::id::{CheckId, Name, ScenarioId, ServiceId};
use crate::model::state::{Saved, StateView};
use crate::model::time::{Now, Tick, Wall};

use answers::Published;
use samples::Manner;

/// On a first start DNS waits at most this long for the first round of probes, as in the running appliance.
const STARTUP_WAIT: Duration = Duration::from_secs(5);

/// Results of guards that one step may bring about.
const GUARD_STEPS_MOST: usize = 1_000;

/// Something that happened, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// Since the start of the walk.
    pub at: Duration,
    pub what: Happening,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Happening {
    /// A step of the script.
    Step(Name),
    Record(Record),
    /// A steered RRset is answered differently from before.
    Answer {
        name: String,
        records: Vec<String>,
    },
    /// Something that the reader should know about the rehearsal itself.
    Note(String),
}

#[derive(Debug)]
pub struct World {
    engine: Engine,
    /// As configured, without the members from DNS.
    intended: Arc<Model>,
    names: Names,
    members: Members,
    now: Now,
    origin: Tick,
    effects: Vec<Effect>,
    /// What a store would hold.
    saved: Saved,
    /// By the name of the check; others pass.
    manners: HashMap<Name, Manner>,
    /// No check is probed before a step says so.
    unknown: bool,
    /// The next samples.
    due: BTreeSet<(Tick, CheckId)>,
    due_of: Vec<Option<Tick>>,
    /// By the name of the scenario; others pass.
    guards: HashMap<Name, GuardVerdict>,
    told_of_guards: BTreeSet<Name>,
    /// By site; others say that all is well.
    speakers: HashMap<Name, peers::Speaker>,
    /// Open transactions by the name of the service; others have none.
    active: HashMap<Name, u32>,
    /// When this process started.
    started: Tick,
    /// The first probe round is over, or a former process has served.
    ready: bool,
    published: Published,
    history: Vec<Moment>,
    /// Answers are part of the history.
    watch_answers: bool,
}

// === impl World ===

impl World {
    /// A first start at `start`, with the first round of probes over, unless `unknown`.
    pub fn start(model: &Arc<Model>, start: Wall, unknown: bool) -> World {
        let now = Now::new(Tick(1_000_000), start);
        let mut world = World {
            engine: Engine::new(),
            intended: Arc::clone(model),
            names: Names::default(),
            members: Members::default(),
            now,
            origin: now.tick,
            effects: Vec::new(),
            saved: Saved::default(),
            manners: HashMap::new(),
            unknown,
            due: BTreeSet::new(),
            due_of: Vec::new(),
            guards: HashMap::new(),
            told_of_guards: BTreeSet::new(),
            speakers: HashMap::new(),
            active: HashMap::new(),
            started: now.tick,
            ready: false,
            published: Published::new(model),
            history: Vec::new(),
            watch_answers: false,
        };
        world.boot(model);
        world.catch_up();
        world
    }

    /// From now on a change of what is answered for a steered RRset is part of the history; the answers of this moment
    /// are its beginning.
    pub fn watch_answers(&mut self) {
        self.watch_answers = true;
        self.tell_answers();
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    pub fn model(&self) -> &Arc<Model> {
        self.engine.model()
    }

    pub fn view(&self) -> &StateView {
        self.engine.view()
    }

    /// Time since the start of the walk.
    pub fn elapsed(&self) -> Duration {
        self.now.tick.since(self.origin)
    }

    pub fn history(&self) -> &[Moment] {
        &self.history
    }

    pub fn tell(&mut self, what: Happening) {
        self.history.push(Moment { at: self.elapsed(), what });
    }

    /// Lets time pass until `at` since the start. What is due before that moment has happened then; what is due at it
    /// has not, so that a step of the script comes first. Time that is over already changes nothing.
    pub fn advance(&mut self, at: Duration) {
        let end = self.origin + at;
        while let Some(next) = self.next_event().filter(|next| *next < end) {
            self.move_to(next);
            self.happen();
        }
        self.move_to(end);
    }

    /// What is due at this moment happens.
    pub fn catch_up(&mut self) {
        while self.next_event().is_some_and(|next| next <= self.now.tick) {
            self.happen();
        }
    }

    /// When something happens by itself, since the start.
    pub fn next_at(&self) -> Option<Duration> {
        self.next_event().map(|tick| tick.since(self.origin))
    }

    /// Killed, and `down` later started from what was saved. Checks are unknown until their next samples, which come a
    /// moment later; connections are gone.
    pub fn restart(&mut self, down: Duration) {
        let model = Arc::clone(&self.intended);
        self.now = self.now.after(down);
        self.engine = Engine::new();
        // The last answers are saved; what drained has gone with the process.
        self.members = Members::default();
        self.active.clear();
        self.started = self.now.tick;
        self.published = self.published.anew(&model);
        self.boot(&model);
        // The first results are in a moment after the start, not with it.
        self.postpone_samples(Duration::from_millis(1));
    }

    /// Another configuration under the running state.
    pub fn reload(&mut self, model: &Arc<Model>) {
        self.adopt(model);
    }

    /// What a query or an approval in the guard of `scenario` says from now on; a guard that waits hears it at once.
    pub fn set_guard(&mut self, scenario: &Name, verdict: GuardVerdict) {
        self.guards.insert(Name::clone(scenario), verdict);
        let Some(id) = self.model().scenario_id(scenario) else { return };
        if let Some(attempt) = self.view().scenarios[id.index()].attempt.as_ref().map(|a| a.id) {
            let result = self.guard_result(id, attempt);
            self.step(Input::Guard(result));
        }
    }

    /// Open transactions of a service.
    pub fn set_active(&mut self, service: ServiceId, active: u32) {
        self.active.insert(Name::clone(&self.model().service(service).name), active);
        self.step(Input::Observed(Observation::Active { service, active }));
    }

    fn boot(&mut self, model: &Arc<Model>) {
        self.due.clear();
        self.due_of.clear();
        self.step(Input::Restore(self.saved.clone()));
        self.adopt(model);
    }

    fn next_event(&self) -> Option<Tick> {
        let sample = self.due.first().map(|(tick, _)| *tick);
        let startup = (!self.ready).then_some(self.started + STARTUP_WAIT);
        [sample, self.engine.wake_at(), self.members.wake_at(), startup].into_iter().flatten().min()
    }

    fn move_to(&mut self, tick: Tick) {
        self.now = self.now.after(tick.since(self.now.tick));
    }

    /// One thing of those that are due.
    fn happen(&mut self) {
        match self.due.first().copied().filter(|(tick, _)| *tick <= self.now.tick) {
            Some((_, check)) => self.sample(check),
            None => self.step(Input::Wake),
        }
        self.look_at_members();
    }

    /// One step of the engine and everything that it asks for.
    fn step(&mut self, input: Input) {
        let mut results = VecDeque::new();
        self.one_step(input, &mut results);
        for _ in 0..GUARD_STEPS_MOST {
            let Some(result) = results.pop_front() else { break };
            self.one_step(Input::Guard(result), &mut results);
        }
        self.publish();
    }

    fn one_step(&mut self, input: Input, results: &mut VecDeque<GuardResult>) {
        let mut effects = std::mem::take(&mut self.effects);
        self.engine.step(self.now, input, &mut effects);
        self.check_invariants(&effects);
        let mut at = self.elapsed();
        for effect in effects.drain(..) {
            match effect {
                Effect::Probe { check, due } => self.order_sample(check, due),
                Effect::Guard { scenario, attempt, .. } => results.push_back(self.guard_result(scenario, attempt)),
                Effect::CancelGuard { .. } => {}
                Effect::At(time) => at = time.tick.since(self.origin),
                Effect::Record(record) => self.history.push(Moment { at, what: Happening::Record(record) }),
                Effect::SaveScenario(saved) => {
                    self.saved.scenarios.retain(|s| s.name != saved.name);
                    self.saved.scenarios.push(*saved);
                }
                Effect::SaveOverride(key, Some(value)) => {
                    self.saved.overrides.insert(key, value);
                }
                Effect::SaveOverride(key, None) => {
                    self.saved.overrides.remove(&key);
                }
                Effect::SaveDrill(drill) => self.saved.drill = Some(drill),
                Effect::Publish => self.published.is_due = true,
            }
        }
        self.effects = effects;
    }

    /// In debug builds, after every step that changed something.
    fn check_invariants(&self, effects: &[Effect]) {
        let is_change = |effect: &Effect| !matches!(effect, Effect::Probe { .. });
        if cfg!(debug_assertions) && self.view().generation > 0 && effects.iter().any(is_change) {
            let broken = invariant::check(&self.engine);
            assert!(broken.is_empty(), "the engine breaks its own rules:\n{}", broken.join("\n"));
        }
    }

    fn guard_result(&mut self, scenario: ScenarioId, attempt: u64) -> GuardResult {
        let name = Name::clone(&self.model().scenario(scenario).name);
        let verdict = self.guards.get(&name).copied();
        if verdict.is_none() && self.told_of_guards.insert(Name::clone(&name)) {
            let note = format!(
                "the queries and approvals of the guard of {name} are taken to pass; `guard {name} refuse` or \
                 `cannot-tell` says otherwise"
            );
            self.tell(Happening::Note(note));
        }
        let verdict = verdict.unwrap_or(GuardVerdict::Pass);
        GuardResult { scenario, attempt, verdict, detail: "as the script says".into() }
    }
}
