//! Moments of a journal, played to an engine, and its commits compared with the recorded ones.
//!
//! Every run of the appliance gets an engine of its own, since its monotonic clock began anew. What stands under one tick
//! was one turn: its rows are taken in first and evaluated together, unless a commit or an act stands between them, or
//! one of them stands there twice.
//!
//! Commits are compared in their order and not by their time: the engine may make one a little later or earlier than
//! recorded, since the two clocks of the appliance are read one after the other.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use super::texts;
use crate::control::journal::history::{Moment, What};
use crate::machine::{Effect, Engine, Input};
use crate::model::event::{Act, AdminIntent, Change, GuardResult, GuardVerdict, Record, Transition};
use crate::model::id::{Name, ObjectRef};
use crate::model::state::Saved;
use crate::model::time::{Now, Tick};

/// How much later or earlier than recorded a commit may come.
const TOLERANCE: Duration = Duration::from_secs(1);

/// A replay without a difference.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Replayed {
    /// Runs of the appliance that were played.
    pub starts: usize,
    /// Commits that came out as recorded.
    pub commits: usize,
    /// Entries before the first start.
    pub skipped: usize,
    pub notes: Vec<String>,
}

/// The first thing that did not come out as recorded.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// A commit is recorded and not made.
    NotMade { entry: u64, recorded: Arc<Transition> },
    /// A commit is made and not recorded.
    NotRecorded { after: u64, made: Arc<Transition> },
    /// Another commit than the recorded one.
    Another { entry: u64, recorded: Arc<Transition>, made: Arc<Transition> },
    /// A start found another state than the run before left.
    State { entry: u64, scenario: Name, left: String, found: String },
    /// A configuration that this program cannot load.
    Config { entry: u64, why: String },
}

/// Plays `moments`, oldest first.
pub fn play(moments: &[Moment]) -> Result<Replayed, Difference> {
    let first = moments.iter().position(|m| matches!(m.what, What::Start { .. })).unwrap_or(moments.len());
    let mut replayed = Replayed { skipped: first, ..Replayed::default() };
    // Scenarios as the runs so far left them, by name.
    let mut left: Option<BTreeMap<Name, (bool, u64)>> = None;
    let runs = moments[first..].chunk_by(|_, next| !matches!(next.what, What::Start { .. }));
    for run in runs {
        if let (Some(start), Some(left)) = (run.first(), &left) {
            compare_state(start, left)?;
        }
        replayed.starts += 1;
        let mut player = Player::new(run[0].number);
        for turn in run.chunk_by(|a, b| a.now.tick == b.now.tick) {
            player.turn(turn)?;
        }
        player.finish()?;
        replayed.commits += player.commits;
        replayed.notes.append(&mut player.notes);
        left = Some(player.left);
    }
    Ok(replayed)
}

fn compare_state(start: &Moment, left: &BTreeMap<Name, (bool, u64)>) -> Result<(), Difference> {
    let What::Start { saved } = &start.what else { return Ok(()) };
    let found = states(saved);
    let shown = |state: Option<&(bool, u64)>| match state {
        None => "nothing saved".to_owned(),
        Some((active, seq)) => format!("{}, seq {seq}", if *active { "active" } else { "inactive" }),
    };
    for (name, state) in left {
        if found.get(name) != Some(state) {
            return Err(Difference::State {
                entry: start.number,
                scenario: Name::clone(name),
                left: shown(Some(state)),
                found: shown(found.get(name)),
            });
        }
    }
    Ok(())
}

/// What has ever committed; the others are where their configuration puts them.
fn states(saved: &Saved) -> BTreeMap<Name, (bool, u64)> {
    let known = saved.scenarios.iter().filter(|s| !s.archived && s.seq > 0);
    known.map(|s| (Name::clone(&s.name), (s.active, s.seq))).collect()
}

struct Player {
    engine: Engine,
    effects: Vec<Effect>,
    /// Commits that wait for their record, each with when it was made.
    made: VecDeque<(Tick, Arc<Transition>)>,
    /// Inputs since the last evaluation.
    pending: bool,
    /// Rows among them.
    rows: HashSet<Name>,
    /// Entry of the last moment.
    at: u64,
    now: Now,
    commits: usize,
    left: BTreeMap<Name, (bool, u64)>,
    notes: Vec<String>,
}

// === impl Player ===

impl Player {
    fn new(at: u64) -> Player {
        Player {
            engine: Engine::for_replay(),
            effects: Vec::new(),
            made: VecDeque::new(),
            pending: false,
            rows: HashSet::new(),
            at,
            now: Now::default(),
            commits: 0,
            left: BTreeMap::new(),
            notes: Vec::new(),
        }
    }

    fn turn(&mut self, turn: &[Moment]) -> Result<(), Difference> {
        // A commit that the tolerance brought forward may have moved the engine beyond this moment already.
        let now = turn[0].now;
        let ahead = self.engine.now().tick.since(now.tick);
        self.now = now.after(ahead);
        self.unrecorded(self.now.tick)?;
        for moment in turn {
            self.at = moment.number;
            self.take(moment)?;
        }
        self.evaluate();
        Ok(())
    }

    fn finish(&mut self) -> Result<(), Difference> {
        self.unrecorded(Tick(u64::MAX))
    }

    /// Commits whose record should have come by now.
    fn unrecorded(&mut self, now: Tick) -> Result<(), Difference> {
        match self.made.front() {
            Some((at, made)) if *at + TOLERANCE < now => {
                Err(Difference::NotRecorded { after: self.at, made: Arc::clone(made) })
            }
            _ => Ok(()),
        }
    }

    fn take(&mut self, moment: &Moment) -> Result<(), Difference> {
        match &moment.what {
            What::Start { saved } => {
                self.left = states(saved);
                self.feed(Input::Restore(saved.clone()));
            }
            What::Config(adopted) => {
                let (model, note) =
                    texts::model(adopted).map_err(|why| Difference::Config { entry: moment.number, why })?;
                self.notes.extend(note);
                // The appliance does not adopt what it has.
                if self.engine.view().generation == 0 || **self.engine.model() != *model {
                    self.evaluate();
                    self.feed(Input::Adopt(model));
                }
            }
            What::Record(Record::Board(row)) => {
                // A step records a row once: the second time it is another step.
                if !self.rows.insert(Name::clone(&row.row)) {
                    self.evaluate();
                    self.rows.insert(Name::clone(&row.row));
                }
                self.feed(Input::Board(row.clone()));
            }
            What::Record(Record::Act { object, act, change }) => {
                // An act is a step of its own. What it does to services and switches, rows say.
                self.evaluate();
                self.acted(object, act, change);
            }
            What::Record(Record::Transition(recorded)) => self.committed(moment.number, recorded)?,
            What::Record(Record::Attempt { scenario, outcome, .. }) if &**outcome == "refused" => {
                self.evaluate();
                self.guard(scenario, GuardVerdict::Refuse);
            }
            // It may have come to this phase without a commit: what comes next must not be seen before.
            What::Record(Record::Drill(_)) => self.evaluate(),
            // Rows say what these did to the scenarios.
            What::Record(_) | What::Other { .. } => {}
        }
        Ok(())
    }

    /// What a person did to a scenario.
    fn acted(&mut self, object: &ObjectRef, act: &Act, change: &Change) {
        let Some(scenario) = self.engine.model().scenario_id(&object.name) else { return };
        let intent = match change {
            Change::Modes { activate, deactivate, override_guard } => AdminIntent::SetModes {
                scenario,
                activate: *activate,
                deactivate: *deactivate,
                override_guard: *override_guard,
            },
            Change::DrillStarted { lasts, ends_at, notify, stop_on, override_guard, .. } => AdminIntent::StartDrill {
                scenario,
                lasts: *lasts,
                ends_at: *ends_at,
                notify: notify.clone(),
                stop_on: stop_on.clone(),
                override_guard: *override_guard,
            },
            Change::DrillStopped { override_guard, .. } => AdminIntent::StopDrill { override_guard: *override_guard },
            _ => return,
        };
        self.feed(Input::Admin { act: act.clone(), intent });
    }

    fn committed(&mut self, entry: u64, recorded: &Arc<Transition>) -> Result<(), Difference> {
        self.evaluate();
        let by_guard = recorded.guard.as_ref().is_some_and(|guard| &*guard.outcome == "pass");
        if self.made.is_empty() && by_guard {
            self.guard(&recorded.scenario, GuardVerdict::Pass);
        }
        while self.made.is_empty() && self.wake_soon() {
            if self.made.is_empty() && by_guard {
                self.guard(&recorded.scenario, GuardVerdict::Pass);
            }
        }
        let Some((_, made)) = self.made.pop_front() else {
            return Err(Difference::NotMade { entry, recorded: Arc::clone(recorded) });
        };
        if !is_same(&made, recorded) {
            return Err(Difference::Another { entry, recorded: Arc::clone(recorded), made });
        }
        self.commits += 1;
        let active = recorded.direction == crate::model::scenario::Direction::Activate;
        self.left.insert(Name::clone(&recorded.scenario), (active, recorded.seq));
        Ok(())
    }

    /// Works off what is due within the tolerance. `false`: nothing is.
    fn wake_soon(&mut self) -> bool {
        let Some(at) = self.engine.wake_at().filter(|at| *at <= self.now.tick + TOLERANCE) else { return false };
        self.now = self.now.after(at.since(self.now.tick));
        self.feed(Input::Wake);
        self.pending = false;
        true
    }

    /// The result of the guard that runs for a scenario, if one does.
    fn guard(&mut self, scenario: &Name, verdict: GuardVerdict) {
        // It may be due to begin at this very moment.
        self.pending = true;
        self.evaluate();
        let Some(id) = self.engine.model().scenario_id(scenario) else { return };
        let Some(attempt) = self.engine.view().scenarios[id.index()].attempt.as_ref().map(|a| a.id) else { return };
        let result = GuardResult { scenario: id, attempt, verdict, detail: "as recorded".into() };
        self.feed(Input::Guard(result));
        self.evaluate();
    }

    fn evaluate(&mut self) {
        self.rows.clear();
        if std::mem::take(&mut self.pending) {
            self.feed(Input::Wake);
            self.pending = false;
        }
    }

    fn feed(&mut self, input: Input) {
        self.pending = true;
        self.engine.step(self.now, input, &mut self.effects);
        for effect in self.effects.drain(..) {
            match effect {
                Effect::Record(Record::Transition(made)) => self.made.push_back((self.now.tick, made)),
                Effect::SaveScenario(saved) if saved.archived => {
                    self.left.remove(&saved.name);
                }
                _ => {}
            }
        }
    }
}

/// In everything that was decided. Times may differ a little, and so may what a term was since when.
fn is_same(made: &Transition, recorded: &Transition) -> bool {
    let of = |t: &Transition| {
        (
            Name::clone(&t.scenario),
            t.seq,
            t.direction,
            t.cause.clone(),
            Name::clone(&t.actor),
            t.gate,
            // What became of them is not the engine's doing.
            t.triggers.iter().map(|t| (Name::clone(&t.name), &*t.status == "suppressed")).collect::<Vec<_>>(),
        )
    };
    of(made) == of(recorded)
}

// === impl Difference ===

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Difference::NotMade { entry, recorded } => {
                write!(f, "entry {entry} records {}; the engine makes no commit there", Shown(recorded))
            }
            Difference::NotRecorded { after, made } => {
                write!(f, "after entry {after} the engine makes {}; the journal records none", Shown(made))
            }
            Difference::Another { entry, recorded, made } => {
                write!(f, "entry {entry} records {}; the engine makes {}", Shown(recorded), Shown(made))
            }
            Difference::State { entry, scenario, left, found } => write!(
                f,
                "entry {entry} begins with scenario {scenario} {found}; the journal before it leaves it {left}"
            ),
            Difference::Config { entry, why } => write!(f, "the configuration of entry {entry}: {why}"),
        }
    }
}

struct Shown<'a>(&'a Transition);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Transition { scenario, seq, direction, cause, .. } = self.0;
        write!(f, "{} of {scenario} (seq {seq}, {}", direction.word(), cause.word())?;
        if let Some(group) = cause.group() {
            write!(f, " \"{group}\"")?;
        }
        write!(f, ", at {})", self.0.committed_at)
    }
}
