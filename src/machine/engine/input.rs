//! Inputs: each only notes what it says and marks what must be looked at.

use super::Engine;
use crate::machine::{Effect, Input};
use crate::model::event::{BoardRecord, GuardResult, Observation, Verdict};
use crate::model::id::CheckId;
use crate::model::time::Tick;
use crate::model::time::micros;

// === impl Engine ===

impl Engine {
    pub(super) fn take(&mut self, input: Input, effects: &mut Vec<Effect>) {
        match input {
            Input::Restore(saved) => {
                assert!(self.model.is_none(), "saved state comes before the first model");
                self.saved = Some(saved);
            }
            Input::Adopt(model) => self.adopt(model, effects),
            Input::Verdict { check, verdict } => self.verdict(check, &verdict, effects),
            Input::Admin { act, intent } => self.act(act, intent, effects),
            Input::Observed(observation) => self.observed(observation),
            Input::Guard(result) => self.guard(&result, effects),
            Input::Board(record) => self.row_from_journal(&record),
            Input::Wake => {}
        }
    }

    fn verdict(&mut self, id: CheckId, verdict: &Verdict, effects: &mut Vec<Effect>) {
        let now = self.now;
        let model = std::sync::Arc::clone(self.model());
        let schedule = &model.check(id).schedule;
        let run = &mut self.checks[id.index()];
        let observed = run.machine.observe(now, schedule, verdict);
        run.due = run.machine.next_due(now.tick, run.due, schedule);
        effects.push(Effect::Probe { check: id, due: run.due });
        self.check_changed(id, observed.state_changed || observed.trofs_changed);
    }

    /// Shows a check anew and passes it on to whoever depends on its state.
    pub(super) fn check_changed(&mut self, id: CheckId, state_changed: bool) {
        let run = &self.checks[id.index()];
        self.view.checks[id.index()].clone_from(run.machine.view());
        let (service, signal) = (run.service, run.signal);
        self.refresh_check_rows(id);
        if state_changed {
            if let Some(service) = service {
                self.dirty.services.insert(service);
            }
            if let Some((datacenter, _)) = signal {
                self.refresh_signals(datacenter);
            }
        }
    }

    fn observed(&mut self, observation: Observation) {
        match observation {
            Observation::Active { service, active } => {
                self.services[service.index()].machine.set_active(active);
                self.dirty.services.insert(service);
            }
            Observation::Resolved { service, resolved } => {
                self.services[service.index()].machine.set_resolved(resolved);
                self.dirty.services.insert(service);
            }
        }
    }

    fn guard(&mut self, result: &GuardResult, effects: &mut Vec<Effect>) {
        let model = std::sync::Arc::clone(self.model());
        let run = &mut self.scenarios[result.scenario.index()];
        if run.machine.guard_result(self.now, model.scenario(result.scenario), result, effects) {
            self.touch_scenario(result.scenario);
        }
    }

    /// A row as the journal recorded it. A row that this model does not have is ignored: it belonged to another one.
    fn row_from_journal(&mut self, record: &BoardRecord) {
        if let Some(row) = self.board.find_text(&record.row) {
            let clean = record.clean_for.map(|age| Tick(self.now.tick.0.saturating_sub(micros(age))));
            self.force_row(row, record.value, clean);
        }
    }
}
