//! The scenario machine: two directions, each with its own condition, gate, guard, triggers and mode.
//!
//! | from | event | condition | to | effect |
//! |---|---|---|---|---|
//! | inactive | activation true and armed, mode `auto` | dwell over | active | commit (automatic) |
//! | active | deactivation true and armed, mode `auto` | dwell over, activation not true (or `off`), not oscillating | inactive | commit (automatic) |
//! | any | mode of the direction leading out set `on` | opposite mode not `on` | the other | commit (forced); the `on` is spent |
//! | any | mode of the other direction set `on` | nothing is to do | same | the `on` is spent at once |
//! | any | both modes `on` | – | same | stuck: one warning, a running guard is cancelled |
//! | inactive / active | as a commit above, with a guard | – | activating / deactivating | the guard runs; DNS sees no change |
//! | activating / deactivating | guard passes | condition still true | active / inactive | commit |
//! | activating / deactivating | guard refuses | – | inactive / active | recorded; tried again after the backoff while the condition stays true |
//! | activating / deactivating | condition false, mode `off`, opposite forced | – | inactive / active | abandoned, recorded |
//! | activating / deactivating | deadline | could not tell | by `on_timeout` | commit, or as a refusal |
//!
//! After a *forced* commit the groups of the direction leading out are disarmed until there is fresh evidence, group by
//! group: false since the commit, or a hold in it completed that counted from the commit. So a drill with a healthy
//! primary does not undo itself, and a second, different fault still fails over.

mod attempt;
mod commit;
mod drill;
mod groups;
mod saved;
mod timing;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use super::Effect;
use super::board::{Board, Dependent, TermRows};
use super::drill::Mark;
use crate::model::Model;
use crate::model::condition::{Condition, Truth};
use crate::model::event::{Cause, Record, Transition};
use crate::model::id::{Kind, Name, ObjectRef, ScenarioId};
use crate::model::scenario::{Direction, GuardStep, Mode, Scenario};
use crate::model::state::RefusedView;
use crate::model::time::{Now, Tick, Wall};

pub(super) use attempt::Attempt;
use groups::GroupRun;
pub use saved::fingerprint;

/// One scenario at run time.
#[derive(Clone, Debug)]
pub struct ScenarioMachine {
    id: ScenarioId,
    /// Fingerprint of the rules it was registered under.
    definition: u64,
    pub(super) active: bool,
    pub(super) seq: u64,
    entered: Now,
    /// How long it was in this state before the process began.
    dwelt: Duration,
    /// The state was entered by a forced commit.
    forced: bool,
    /// By [`Direction`].
    modes: [ModeRun; 2],
    directions: [DirectionRun; 2],
    attempt: Option<Attempt>,
    /// Not before this is a refused guard tried again.
    retry_at: Option<Tick>,
    refused: Option<RefusedView>,
    attempts: u64,
    /// Times of automatic commits within the oscillation window, oldest first.
    automatic: VecDeque<Wall>,
    stuck: bool,
    /// The drill by which it is where it is.
    pub(super) drill: Option<u64>,
    last_transition: Option<Arc<Transition>>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ModeRun {
    pub mode: Mode,
    /// An `on` that has acted.
    pub spent: bool,
    /// The guard of this `on` is overridden.
    pub override_guard: bool,
    pub actor: Option<Name>,
    pub reason: Option<Name>,
}

#[derive(Clone, Debug, Default)]
struct DirectionRun {
    groups: Vec<GroupRun>,
    gate: Option<Vec<Vec<TermRows>>>,
    /// Rows of the guard's check steps, by step.
    guard: Vec<Option<TermRows>>,
}

/// What a look at a scenario sees.
#[derive(Clone, Copy)]
pub struct Look<'a> {
    pub now: Now,
    pub model: &'a Model,
    pub rules: &'a Scenario,
    pub board: &'a Board,
    pub act_of: Option<&'a Name>,
    pub drill: Option<Mark<'a>>,
}

/// What made it necessary to look at a scenario.
#[derive(Clone, Copy, Debug, Default)]
pub struct Occasion<'a> {
    /// It is the first look after a reload.
    pub reload: bool,
    /// `admin:<user>`: the immediate consequence of an act.
    pub act_of: Option<&'a Name>,
    /// A drill that may have to do with it.
    pub drill: Option<Mark<'a>>,
}

/// What one look at a scenario changed, beside the effects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    pub committed: bool,
    /// Modes whose override changed (released or spent), by direction.
    pub modes_changed: [bool; 2],
    /// When to look again by time alone.
    pub wake: Option<Tick>,
}

// === impl ScenarioMachine ===

impl ScenarioMachine {
    /// A scenario in its initial state, its terms registered on the board.
    pub fn new(id: ScenarioId, model: &Model, board: &mut Board, now: Now) -> ScenarioMachine {
        let rules = model.scenario(id);
        let mut machine = ScenarioMachine {
            id,
            definition: 0,
            active: rules.initially_active,
            seq: 0,
            entered: now,
            dwelt: Duration::ZERO,
            forced: false,
            modes: Direction::BOTH
                .map(|d| ModeRun { mode: rules.directions[d.index()].base_mode, ..ModeRun::default() }),
            directions: Default::default(),
            attempt: None,
            retry_at: None,
            refused: None,
            attempts: 0,
            automatic: VecDeque::new(),
            stuck: false,
            drill: None,
            last_transition: None,
        };
        machine.register(model, board, now);
        machine
    }

    /// The same scenario under a new model: state, seq, modes and a pending guard stay; groups that are unchanged stay
    /// armed or disarmed and their terms keep since when they have their value.
    pub fn adopt(&mut self, id: ScenarioId, model: &Model, board: &mut Board, now: Now, unchanged: bool) {
        let former = std::mem::take(&mut self.directions);
        self.id = id;
        self.register(model, board, now);
        for (run, former) in self.directions.iter_mut().zip(&former) {
            for group in &mut run.groups {
                if let Some(before) = former.groups.iter().find(|g| g.name == group.name) {
                    group.keep(before);
                }
            }
        }
        if !unchanged && let Some(attempt) = &self.attempt {
            // The guard may have changed with the rest: begin again under the new definition.
            self.attempts = self.attempts.max(attempt.id);
            self.attempt = None;
            self.retry_at = None;
            self.refused = None;
        }
    }

    pub fn mode(&self, direction: Direction) -> &ModeRun {
        &self.modes[direction.index()]
    }

    /// Sets a mode by an act of a person, or back to the base mode. The next `settle` acts on it.
    pub fn set_mode(&mut self, direction: Direction, mode: ModeRun) {
        self.modes[direction.index()] = mode;
    }

    /// An operator has set a mode: what looked like oscillation is in hands now.
    pub fn forgive_oscillation(&mut self) {
        self.automatic.clear();
    }

    /// Looks at everything that may have changed and acts; at most one commit.
    pub fn settle(
        &mut self,
        now: Now,
        model: &Model,
        board: &Board,
        occasion: Occasion<'_>,
        effects: &mut Vec<Effect>,
    ) -> Settled {
        let look = self.look(now, model, board, occasion);
        let mut settled = Settled::default();
        self.evaluate(&look);
        self.notice_stuck(look.rules, effects);
        if !self.stuck {
            self.spend_idle(look.rules, effects, &mut settled);
            if let Some(cause) = self.wanted(now, look.rules, occasion.reload) {
                self.pursue(&look, cause, effects, &mut settled);
            } else {
                self.abandon_unless_waiting(now, look.rules, effects);
            }
        }
        settled.wake = self.next_look(now, look.rules);
        settled
    }

    fn register(&mut self, model: &Model, board: &mut Board, now: Now) {
        let rules = model.scenario(self.id);
        self.definition = fingerprint(rules);
        let dependent = Some(Dependent::Scenario(self.id));
        for direction in Direction::BOTH {
            let from = &rules.directions[direction.index()];
            let rows = |board: &mut Board, condition: &Condition, dependent| -> Vec<Vec<TermRows>> {
                let groups = condition.groups.iter();
                groups.map(|g| g.terms.iter().map(|t| board.register(model, t, dependent, now)).collect()).collect()
            };
            let groups = from
                .when
                .groups
                .iter()
                .zip(rows(board, &from.when, dependent))
                .map(|(group, rows)| GroupRun::new(group, rows, now.wall))
                .collect();
            // A gate is read at the commit only, so nobody is told when it changes.
            let gate = from.gate.as_ref().map(|gate| rows(board, gate, None));
            let guard = from.guard.iter().flat_map(|g| &g.run).map(|step| match step {
                GuardStep::Query(_) => None,
                GuardStep::Check(term) => Some(board.register(model, term, dependent, now)),
            });
            self.directions[direction.index()] = DirectionRun { groups, gate, guard: guard.collect() };
        }
    }

    fn evaluate(&mut self, look: &Look<'_>) {
        let out = Direction::out_of(self.active);
        for direction in Direction::BOTH {
            let leads_out = direction == out;
            let floor = leads_out.then_some(self.entered.tick);
            let groups = &mut self.directions[direction.index()].groups;
            for (group, rule) in groups.iter_mut().zip(&look.rules.directions[direction.index()].when.groups) {
                group.evaluate(rule, look.board, floor, look.now);
                if leads_out {
                    group.take_evidence(rule);
                }
            }
        }
    }

    /// The value of a direction's condition, armed or not.
    fn value(&self, direction: Direction) -> Truth {
        self.directions[direction.index()].groups.iter().map(|g| g.value).fold(Truth::False, Truth::or)
    }

    fn notice_stuck(&mut self, rules: &Scenario, effects: &mut Vec<Effect>) {
        let stuck = self.modes.iter().all(|m| m.mode == Mode::On);
        if stuck && !self.stuck {
            self.cancel_attempt(rules, "stuck", "both modes are on", effects);
            effects.push(Effect::Record(Record::Warning {
                object: ObjectRef::new(Kind::Scenario, Name::clone(&rules.name)),
                text: "both modes are `on`: stuck, nothing moves until one is changed".into(),
            }));
        }
        self.stuck = stuck;
    }

    /// An `on` with nothing to do is spent at once. It still says what the operator wants: a guard that is pending in
    /// the other direction is cancelled, and that direction needs fresh evidence, or it would begin again at once.
    fn spend_idle(&mut self, rules: &Scenario, effects: &mut Vec<Effect>, settled: &mut Settled) {
        let out = Direction::out_of(self.active);
        let mode = &mut self.modes[out.opposite().index()];
        if mode.mode != Mode::On || mode.spent {
            return;
        }
        mode.spent = true;
        settled.modes_changed[out.opposite().index()] = true;
        if self.attempt.is_some() {
            self.cancel_attempt(rules, "cancelled", "the opposite direction was forced", effects);
            self.forced = true;
            for group in &mut self.directions[out.index()].groups {
                group.armed = group.value.is_false();
            }
            effects.push(Effect::SaveScenario(Box::new(self.saved(rules))));
        }
    }

    /// The cause for which the direction leading out should commit now, if any.
    fn wanted(&self, now: Now, rules: &Scenario, reload: bool) -> Option<Cause> {
        let out = Direction::out_of(self.active);
        match self.modes[out.index()].mode {
            Mode::On => (!self.modes[out.index()].spent).then_some(Cause::Forced),
            Mode::Off => None,
            Mode::Auto => {
                let group = self.directions[out.index()].groups.iter().find(|g| g.armed && g.value.is_true())?;
                if out == Direction::Deactivate && self.is_activation_in_the_way() {
                    return None;
                }
                if now.tick < self.dwell_ends(rules) {
                    return None;
                }
                if out == Direction::Deactivate && self.is_oscillating(now.wall, rules) {
                    return None;
                }
                let name = Name::clone(&group.name);
                Some(if reload { Cause::Config(name) } else { Cause::Condition(name) })
            }
        }
    }

    /// Both conditions true: activation wins.
    fn is_activation_in_the_way(&self) -> bool {
        self.modes[Direction::Activate.index()].mode != Mode::Off && self.value(Direction::Activate).is_true()
    }
}
