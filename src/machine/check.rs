//! The check machine: samples in, an anti-flapped state out.

use crate::model::check::Schedule;
use crate::model::condition::{Measure, Truth};
use crate::model::event::Verdict;
use crate::model::state::CheckView;
use crate::model::time::{Now, Tick};

/// One check at run time.
#[derive(Clone, Debug)]
pub struct CheckMachine {}

/// What a sample changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// `state()` differs from before.
    pub state_changed: bool,
    /// The drain request of a monitor (TROFS answer) began or ended.
    pub trofs_changed: bool,
    /// `clean_since()` moved although the state is up: a failed sample that restarts holds.
    pub hold_restarted: bool,
}

impl CheckMachine {
    pub fn new(now: Now) -> CheckMachine {
        let _ = now;
        todo!()
    }
    /// Takes a sample. `Outcome::Void` changes nothing but the last sample shown.
    pub fn observe(&mut self, now: Now, schedule: &Schedule, verdict: &Verdict) -> Observed {
        let _ = (now, schedule, verdict);
        todo!()
    }
    /// `None` ends the force; the real state, kept meanwhile, shows again. Forced down: every `fails` holds, no
    /// `passes`, latency is infinite. Forced up: the other way round, latency as measured; holds begin at the force.
    pub fn force(&mut self, now: Now, up: Option<bool>) -> Observed {
        let _ = (now, up);
        todo!()
    }
    /// Up, down, unknown; with the force applied.
    pub fn state(&self) -> Truth {
        todo!()
    }
    pub fn trofs(&self) -> bool {
        todo!()
    }
    /// The later of the last failed sample and the first sample after unknown; `None` before any sample.
    pub fn clean_since(&self) -> Option<Tick> {
        todo!()
    }
    /// When the next sample is due after one that was due at `due` and whose result came at `now`: the same phase,
    /// never in the past, and `down_time` later while down.
    pub fn next_due(&self, now: Tick, due: Tick, schedule: &Schedule) -> Tick {
        let _ = (now, due, schedule);
        todo!()
    }
    /// The measure alone (without the predicate). `before` is its last value: latency with `leave_at` stays true until
    /// that is reached.
    pub fn measure(&self, now: Tick, measure: &Measure, before: Truth) -> Truth {
        let _ = (now, measure, before);
        todo!()
    }
    /// When the measure may change by time alone (flaps or samples leaving their window).
    pub fn measure_wake(&self, now: Tick, measure: &Measure) -> Option<Tick> {
        let _ = (now, measure);
        todo!()
    }
    /// How much to remember: the largest windows that any term asks for. Bounded by the ranges in `model::condition`.
    pub fn remember(&mut self, measures: &[Measure]) {
        let _ = measures;
        todo!()
    }
    pub fn view(&self) -> &CheckView {
        todo!()
    }
}
