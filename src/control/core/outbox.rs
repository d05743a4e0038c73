//! Triggers: what a commit promises is written with it, and goes out once that is on disk.

use std::sync::Arc;

use super::acts::{Reply, Waiting};
use super::{Core, Output};
use crate::control::command::{Command, Done, Refusal};
use crate::control::courier::Errand;
use crate::control::payload::{self, ConfigTree};
use crate::machine::outbox::{ALERTS_PENDING_MOST, PENDING_MOST, SETTLED_MOST, Told};
use crate::model::event::{DeliveryRecord, Record, Transition};
use crate::model::id::Name;
use crate::model::time::Now;

// === impl Core ===

impl Core {
    /// Takes the triggers of a commit into the order that makes the commit durable.
    pub(super) fn promise_triggers(&mut self, now: Now, transition: &Transition) {
        for trigger in &transition.triggers {
            if &*trigger.status == "suppressed" {
                self.outbox.suppressed(&trigger.name);
                continue;
            }
            let config = self.config_tree();
            let id = self.outbox.next_id();
            let delivery = payload::of_commit(self.engine.model(), &config, transition, &trigger.name, id);
            self.outbox.add(now, self.next_order, delivery);
        }
        self.note_deliveries();
    }

    /// Sends off what is due, and notes what became of the rest.
    pub(super) fn look_at_outbox(&mut self, now: Now) {
        if self.sends() {
            let model = Arc::clone(self.engine.model());
            for delivery in self.outbox.take_due(now) {
                let Some(trigger) = model.trigger_id(&delivery.trigger) else { continue };
                let trigger = Arc::new(model.triggers[trigger.index()].clone());
                self.outputs.push(Output::Errand(Errand::Deliver { delivery, trigger }));
            }
        }
        self.tell_deliveries(now);
    }

    pub(super) fn tell_deliveries(&mut self, now: Now) {
        for Told { delivery, retried } in self.outbox.take_told() {
            let record = DeliveryRecord {
                id: delivery.id,
                key: delivery.key,
                trigger: delivery.trigger,
                scenario: delivery.scenario,
                alert: delivery.alert,
                seq: delivery.seq,
                direction: delivery.direction,
                status: if retried { "retrying" } else { delivery.status.word() }.into(),
                attempts: delivery.attempts,
                error: delivery.last_error,
            };
            self.record(now, now, Record::Delivery(Arc::new(record)));
        }
        self.note_deliveries();
    }

    pub(super) fn note_deliveries(&mut self) {
        self.batch.deliveries.extend(self.outbox.take_rows());
        // While the disk is swamped only the last of each counts.
        if self.batch.deliveries.len() > 2 * (PENDING_MOST + ALERTS_PENDING_MOST + 2 * SETTLED_MOST) {
            let mut last = std::collections::BTreeMap::new();
            last.extend(self.batch.deliveries.drain(..));
            self.batch.deliveries = last.into_iter().collect();
        }
    }

    /// Replays or discards a dead letter, or tests a trigger. The answer carries the id of the delivery, once it is on disk.
    pub(super) fn outbox_act(&mut self, now: Now, actor: Name, command: &Command, reply: Reply) {
        let result = match command {
            Command::Replay { delivery } => self.replay(now, &actor, *delivery),
            Command::Discard { delivery } => self.discard(now, &actor, *delivery),
            Command::TestTrigger { trigger } => self.test_trigger(now, &actor, trigger),
            _ => Err(Refusal::Invalid("this is not about the outbox".to_owned())),
        };
        match result {
            Err(refusal) => self.answer(reply, Err(refusal), None),
            Ok(delivery) => {
                self.note_deliveries();
                let done = Done { delivery: Some(delivery), ..Done::default() };
                let order = self.next_order;
                self.wait_for(Waiting { reply, done, order, since: now.tick, listeners: false, drain: None });
            }
        }
    }

    fn replay(&mut self, now: Now, actor: &Name, id: u64) -> Result<u64, Refusal> {
        let Some(delivery) = self.outbox.book().deliveries.get(&id).cloned() else {
            return Err(Refusal::Invalid(format!("no delivery {id} is kept")));
        };
        if self.engine.model().trigger_id(&delivery.trigger).is_none() {
            let text = format!("the configuration no longer has trigger {}", delivery.trigger);
            return Err(Refusal::Conflict(text));
        }
        if !self.outbox.replay(now, id) {
            let text = format!("delivery {id} is {}: only a dead one can be replayed", delivery.status.word());
            return Err(Refusal::Conflict(text));
        }
        let body = serde_json::json!({ "do": "replay", "delivery": id, "key": delivery.key });
        let object = object(&delivery.scenario, &delivery.trigger);
        self.draft(now, "outbox", object, Name::clone(actor), body);
        Ok(id)
    }

    fn discard(&mut self, now: Now, actor: &Name, id: u64) -> Result<u64, Refusal> {
        let Some(delivery) = self.outbox.book().deliveries.get(&id).cloned() else {
            return Err(Refusal::Invalid(format!("no delivery {id} is kept")));
        };
        if !self.outbox.discard(id) {
            let text = format!("delivery {id} is {}: only a dead one can be discarded", delivery.status.word());
            return Err(Refusal::Conflict(text));
        }
        let body = serde_json::json!({ "do": "discard", "delivery": id, "key": delivery.key });
        let object = object(&delivery.scenario, &delivery.trigger);
        self.draft(now, "outbox", object, Name::clone(actor), body);
        Ok(id)
    }

    fn test_trigger(&mut self, now: Now, actor: &Name, trigger: &Name) -> Result<u64, Refusal> {
        let Some(known) = self.engine.model().trigger_id(trigger) else {
            return Err(Refusal::Invalid(format!("no trigger of the name {trigger}")));
        };
        let name = Name::clone(&self.engine.model().triggers[known.index()].name);
        let id = self.outbox.next_id();
        let config = self.config_tree();
        let delivery = payload::of_test(self.engine.model(), &config, &name, actor, now.wall, id);
        let body = serde_json::json!({ "do": "test", "delivery": id, "key": delivery.key });
        self.outbox.add(now, self.next_order, delivery);
        self.draft(now, "outbox", object("", &name), Name::clone(actor), body);
        Ok(id)
    }

    fn config_tree(&mut self) -> Arc<ConfigTree> {
        let (model, hash) = (self.engine.model(), &self.config.hash);
        let tree = self.config_tree.get_or_insert_with(|| Arc::new(ConfigTree::new(model, hash)));
        Arc::clone(tree)
    }
}

/// The column `object` of an entry about a delivery.
fn object(scenario: &str, trigger: &str) -> Name {
    if scenario.is_empty() { format!("trigger {trigger}") } else { format!("scenario {scenario}") }.into()
}
