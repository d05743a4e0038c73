//! Inputs: each only notes what it says and marks what must be looked at.

use std::sync::Arc;
use std::time::Duration;

use super::Engine;
use crate::machine::check::{Notice, Observed};
use crate::machine::{Effect, Input, PeerRows};
use crate::model::Model;
use crate::model::check::{Origin, Probe};
use crate::model::condition::Truth;
use crate::model::dialogue::InlineAction;
use crate::model::event::{BoardRecord, GuardResult, Observation, Outcome, Record, Verdict};
use crate::model::id::{CheckId, DatacenterId, Kind, Name, ObjectRef};
use crate::model::state::{OverrideKey, PastSample, Slot};
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
            Input::Populate(model) => {
                self.adopt(model, effects);
                self.reloaded = false;
            }
            Input::Verdict { check, verdict } => self.verdict(check, &verdict, effects),
            Input::Admin { act, intent } => self.act(act, intent, effects),
            Input::Observed(observation) => self.observed(observation, effects),
            Input::Peer { peer, rows } => self.peer(peer, rows),
            Input::Guard(result) => self.guard(&result, effects),
            Input::Board(record) => self.row_from_journal(&record),
            Input::Wake => {}
        }
    }

    fn verdict(&mut self, id: CheckId, verdict: &Verdict, effects: &mut Vec<Effect>) {
        let now = self.now;
        let model = Arc::clone(self.model());
        let schedule = &model.check(id).schedule;
        let run = &mut self.checks[id.index()];
        if run.machine.view().disabled {
            // Under way when it was disabled.
            return;
        }
        let joined = run.machine.view().joining;
        let observed = run.machine.observe(now, schedule, verdict);
        let joined = joined && !run.machine.view().joining;
        if let Some(last) = &run.machine.view().last {
            let (outcome, latency, detail) = (last.outcome, last.latency, Arc::clone(&last.detail));
            let history = Arc::make_mut(&mut self.view.histories[id.index()]);
            history.push(PastSample { at: now.wall, outcome, latency, detail });
        }
        let due = run.machine.next_due(now.tick, run.due, schedule);
        self.order_sample(id, due, effects);
        self.check_changed(id, observed.state_changed || observed.trofs_changed || joined);
        self.tell(&model, id, &observed, effects);
    }

    /// The next sample of a check is due: somebody takes it, or the engine looks for itself.
    pub(super) fn order_sample(&mut self, id: CheckId, due: Tick, effects: &mut Vec<Effect>) {
        self.checks[id.index()].due = due;
        match self.checks[id.index()].watched {
            Some(_) => self.set_look_timer(id, due),
            None => effects.push(Effect::Probe { check: id, due }),
        }
    }

    /// The sample of a derived check.
    pub(super) fn look(&mut self, id: CheckId, effects: &mut Vec<Effect>) {
        let Some(watched) = self.checks[id.index()].watched else { return };
        let term = Name::clone(&self.model().watched_term(watched).text);
        let (outcome, word) = match self.view.watched[watched.index()] {
            Truth::True => (Outcome::Pass, "true"),
            Truth::False => (Outcome::Fail, "false"),
            Truth::Unknown => (Outcome::Void, "not known"),
        };
        let verdict = Verdict::new(outcome, Duration::ZERO, format!("{term} is {word}"));
        self.verdict(id, &verdict, effects);
    }

    /// What a person should hear of a sample.
    fn tell(&mut self, model: &Model, id: CheckId, observed: &Observed, effects: &mut Vec<Effect>) {
        let check = model.check(id);
        let view = &self.view.checks[id.index()];
        let detail = view.last.as_ref().map_or("", |last| &*last.detail);
        let logs = matches!(&check.probe, Probe::HttpInline { action: InlineAction::Log, .. });
        let text = match observed.notice {
            _ if logs && observed.state_changed && view.state.is_false() => format!("user traffic fails: {detail}"),
            Some(Notice::Failing(count)) => format!("{count} samples in a row have failed: {detail}"),
            Some(Notice::Slow) => {
                let took = view.last.as_ref().map_or(0, |last| last.latency.as_millis());
                let percent = check.schedule.timeout_threshold;
                format!("an answer took {took} ms, more than {percent} % of the time-out")
            }
            None => return,
        };
        let object = ObjectRef::new(Kind::Check, Name::clone(&check.name));
        effects.push(Effect::Record(Record::Warning { object, text: text.into() }));
    }

    /// Whether a check is neither probed nor counted follows from the configuration and from what people did.
    pub(super) fn refresh_disabled(&mut self, model: &Model, id: CheckId, effects: &mut Vec<Effect>) {
        let off = self.is_disabled(model, id);
        let run = &mut self.checks[id.index()];
        if run.machine.view().disabled == off {
            return;
        }
        if off {
            run.machine.disable(self.now);
        } else {
            run.machine.enable();
            self.order_sample(id, self.now.tick, effects);
        }
        self.check_changed(id, true);
    }

    pub(super) fn is_disabled(&self, model: &Model, id: CheckId) -> bool {
        let check = model.check(id);
        let by_configuration = match &check.origin {
            Origin::Monitor { service, .. } => {
                model.service(*service).monitors.iter().any(|binding| binding.check == id && !binding.enabled)
            }
            Origin::User | Origin::Target { .. } => false,
        };
        let object = ObjectRef::new(Kind::Check, Name::clone(&check.name));
        by_configuration || self.view.overrides.contains_key(&OverrideKey { object, slot: Slot::Admin })
    }

    /// Shows a check anew and passes it on to whoever depends on its state.
    pub(super) fn check_changed(&mut self, id: CheckId, state_changed: bool) {
        let heading = self.heading_of(id);
        let run = &self.checks[id.index()];
        self.view.checks[id.index()].clone_from(run.machine.view());
        self.contradiction(id, heading);
        let run = &self.checks[id.index()];
        let (service, signal) = (run.service, run.signal);
        self.count_in_crowd(id);
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

    fn observed(&mut self, observation: Observation, effects: &mut Vec<Effect>) {
        match observation {
            Observation::Ejected { service, cause, lasts, times } => {
                // One that the configuration no longer has is nobody's concern.
                if self.model().service_id(&service).is_some() {
                    let until = self.now.wall + lasts;
                    effects.push(Effect::Record(Record::Ejected { service, cause, until, times }));
                }
            }
            Observation::Active { service, active } => {
                self.services[service.index()].machine.set_active(active);
                self.dirty.services.insert(service);
            }
            Observation::Resolved { service, resolved } => {
                self.services[service.index()].machine.set_resolved(resolved);
                self.dirty.services.insert(service);
            }
            // What zones hold, and what interfaces have, decides nothing here.
            Observation::Zone { .. } | Observation::Address { .. } => {}
        }
    }

    /// What a peer sees, or that it is not heard any more.
    fn peer(&mut self, peer: Name, rows: Option<PeerRows>) {
        let before = match rows {
            Some(rows) => self.heard.insert(peer, std::sync::Arc::clone(&rows)).is_some_and(|before| before == rows),
            None => self.heard.remove(&peer).is_none(),
        };
        if !before {
            for i in 0..self.model().datacenters.len() {
                self.refresh_signals(DatacenterId::from_index(i));
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
