//! Steps of the engine and what they ask for, and taking over a model.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Core, Output, Step};
use crate::config::populate;
use crate::control::store::DRILLS_KEPT;
use crate::machine::Effect;
use crate::model::Model;
use crate::model::check::Check;
use crate::model::drill::Drill;
use crate::model::id::Name;
use crate::model::time::Now;

// === impl Core ===

impl Core {
    /// One step of the engine and everything it asks for.
    pub(super) fn step(&mut self, now: Now, input: Step) {
        let mut effects = std::mem::take(&mut self.effects);
        self.engine.step(now, input, &mut effects);
        let mut at = now;
        for effect in effects.drain(..) {
            match effect {
                Effect::Probe { check, due } => self.order_probe(check, due),
                Effect::Guard { scenario, direction, attempt } => {
                    self.begin_guard(scenario, direction, attempt);
                }
                Effect::CancelGuard { scenario, attempt } => self.end_guard(scenario, attempt),
                Effect::At(time) => at = time,
                Effect::Record(record) => self.record(now, at, record),
                Effect::SaveScenario(scenario) => self.batch.scenarios.push(*scenario),
                Effect::SaveOverride(key, value) => self.batch.overrides.push((key, value)),
                Effect::SaveDrill(drill) => self.keep_drill(drill),
                Effect::Publish => self.dirty = true,
            }
        }
        self.effects = effects;
        self.weigh_begun(now);
    }

    /// The newest phase of a drill; of one turn only the last is written.
    fn keep_drill(&mut self, drill: Arc<Drill>) {
        let book = Arc::make_mut(&mut self.drills);
        book.insert(drill.id, Arc::clone(&drill));
        while book.len() as u64 > DRILLS_KEPT {
            book.pop_first();
        }
        self.batch.drills.retain(|earlier| earlier.id != drill.id);
        self.batch.drills.push(drill);
    }

    /// Takes over a configuration, with the members that DNS names for it.
    pub(super) fn adopt(&mut self, now: Now, intended: Arc<Model>) {
        self.adopt_names(now, &intended);
        let model = populate(&intended, self.members.membership());
        self.intended = Arc::clone(&intended);
        self.take_model(now, model, Step::Adopt);
        self.adopt_peers(now, &intended);
    }

    /// Checks keep their identity where they are equal, ids are new.
    pub(super) fn take_model(&mut self, now: Now, model: Arc<Model>, step: fn(Arc<Model>) -> Step) {
        let before: HashMap<Name, Arc<Check>> = self.checks.drain(..).map(|c| (Name::clone(&c.name), c)).collect();
        let kept = |check: &Check| {
            let old = before.get(&check.name)?;
            (old.probe == check.probe && old.schedule == check.schedule).then(|| Arc::clone(old))
        };
        self.checks = model.checks.iter().map(|c| kept(c).unwrap_or_else(|| Arc::new(c.clone()))).collect();
        self.held_across(&model);
        self.outputs.push(Output::Checks(model.checks.iter().map(|c| Name::clone(&c.name)).collect()));
        self.config_tree = None;
        self.alert_look.reconfigured(&model);
        self.step(now, step(Arc::clone(&model)));
        self.outbox.reconfigured(&model);
        self.drop_guards();
        self.tell_traffic();
        self.tell_all_resolved(now);
        self.dirty = true;
    }
}
