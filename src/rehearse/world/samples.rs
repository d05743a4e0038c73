//! Checks that answer as they are told.

use std::sync::Arc;
use std::time::Duration;

use super::World;
use crate::machine::Input;
use crate::model::Model;
use crate::model::check::{Probe, Schedule};
use crate::model::event::{Outcome, Verdict};
use crate::model::id::{CheckId, Name};
use crate::model::state::CheckView;
use crate::model::time::Tick;
use crate::rehearse::script::{Sample, SampleKind};

/// What a sample takes where the script does not say.
const LATENCY: Duration = Duration::from_millis(10);

/// How a check answers from now on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Manner {
    kind: SampleKind,
    latency: Duration,
    /// That many more samples are of another kind.
    first: Option<(u32, SampleKind)>,
}

// === impl Manner ===

impl Default for Manner {
    fn default() -> Manner {
        Manner { kind: SampleKind::Pass, latency: LATENCY, first: None }
    }
}

impl Manner {
    fn next(&mut self) -> SampleKind {
        match self.first {
            Some((left, kind)) if left > 0 => {
                self.first = Some((left - 1, kind));
                kind
            }
            _ => self.kind,
        }
    }
}

// === impl World ===

impl World {
    /// A sample of `check` now, and how the samples after it are: all alike, or `times` of them and then as before.
    pub fn set_manner(&mut self, check: CheckId, sample: Sample, times: Option<u32>) {
        let name = Name::clone(&self.model().check(check).name);
        let manner = self.manners.entry(name).or_default();
        match times {
            None => (manner.kind, manner.first) = (sample.kind, None),
            Some(times) => manner.first = Some((times, sample.kind)),
        }
        manner.latency = sample.latency.unwrap_or(manner.latency);
        self.sample(check);
    }

    /// Takes a sample; the next one comes as long after it as the check's schedule says.
    pub(super) fn sample(&mut self, check: CheckId) {
        let model = Arc::clone(self.model());
        let definition = model.check(check);
        let manner = self.manners.entry(Name::clone(&definition.name)).or_default();
        let kind = manner.next();
        let (outcome, detail) = match (&definition.probe, kind) {
            (Probe::Unavailable { .. }, _) => (Outcome::Void, "this kind of check cannot be probed"),
            (_, SampleKind::Pass) => (Outcome::Pass, "passes in the script"),
            (_, SampleKind::Fail) => (Outcome::Fail, "fails in the script"),
            (_, SampleKind::Trofs) => (Outcome::Trofs, "asks for a drain in the script"),
        };
        // `reverse` swaps the two: the script speaks of what comes out of it.
        let outcome = match outcome {
            Outcome::Pass if definition.schedule.reverse => Outcome::Fail,
            Outcome::Fail if definition.schedule.reverse => Outcome::Pass,
            other => other,
        };
        let verdict = Verdict::new(outcome, manner.latency, detail);
        self.step(Input::Verdict { check, verdict });
        let pause = pause(&definition.schedule, &self.view().checks[check.index()]);
        self.order_sample(check, self.now.tick + pause);
        self.decide_readiness();
    }

    pub(super) fn order_sample(&mut self, check: CheckId, due: Tick) {
        if self.unknown && !self.manners.contains_key(&self.model().check(check).name) {
            return;
        }
        self.due_of.resize(self.due_of.len().max(check.index() + 1), None);
        if let Some(former) = self.due_of[check.index()].replace(due) {
            self.due.remove(&(former, check));
        }
        self.due.insert((due, check));
    }

    /// Ids are those of a model: under another one the samples that are due belong to other ids, or to none.
    pub(super) fn renumber_samples(&mut self, model: &Model) {
        let due = std::mem::take(&mut self.due);
        let former = std::mem::take(&mut self.due_of);
        if due.is_empty() {
            return;
        }
        let before = Arc::clone(self.model());
        self.due_of = vec![None; model.checks.len()];
        for (index, tick) in former.iter().enumerate() {
            let name = &before.checks[index].name;
            if let (Some(tick), Some(check)) = (*tick, model.check_id(name)) {
                self.due_of[check.index()] = Some(tick);
                self.due.insert((tick, check));
            }
        }
    }

    /// All samples that are due come `later`.
    pub(super) fn postpone_samples(&mut self, later: Duration) {
        for (tick, check) in std::mem::take(&mut self.due) {
            self.due_of[check.index()] = Some(tick + later);
            self.due.insert((tick + later, check));
        }
    }

    pub(super) fn decide_readiness(&mut self) {
        let probed = |view: &CheckView, probe: &Probe| {
            view.last.is_some() || view.disabled || matches!(probe, Probe::Derived { .. } | Probe::Unavailable { .. })
        };
        let round_is_over = || {
            let model = self.model();
            self.view().checks.iter().zip(&model.checks).all(|(view, check)| probed(view, &check.probe))
        };
        if !self.ready && (self.now.tick >= self.started + super::STARTUP_WAIT || round_is_over()) {
            self.ready = true;
            self.published.is_due = true;
        }
    }
}

/// From one sample to the next: `down_time` while the check is down and has not begun to rise.
fn pause(schedule: &Schedule, view: &CheckView) -> Duration {
    match schedule.down_time {
        Some(wait) if view.real.is_false() && view.passes_in_row == 0 => wait,
        _ => schedule.interval,
    }
}
