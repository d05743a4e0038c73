//! Alerts: what is so is looked at after a turn, at most ten times a second, and what follows is written with the
//! deliveries that tell of it, in one order for the disk.
//!
//! Nothing is looked at before the first round of probes is over: what a former process has raised stands until then, and
//! is neither raised again nor resolved on no evidence.

use std::sync::Arc;
use std::time::Duration;

use super::Core;
use crate::control::facts::{CertificateEnds, certificate_ends};
use crate::control::payload;
use crate::control::store::Batch;
use crate::machine::alert::Facts;
use crate::model::Model;
use crate::model::alert::{AlertKind, AlertRecord};
use crate::model::delivery::Delivery;
use crate::model::event::Record;
use crate::model::time::{Now, Tick};

/// Between two looks, and so much more for each thing that is wrong: ten thousand of them are looked at once a second.
const LOOK_EVERY: Duration = Duration::from_millis(100);
const LOOK_LATER: Duration = Duration::from_micros(100);
/// Rows that may wait for a disk that does not answer before they are condensed.
const ROWS_WAITING: usize = 8_192;

/// When to look, and what is costly to find out.
#[derive(Debug, Default)]
pub(super) struct Look {
    not_before: Tick,
    /// Something may have changed since the last one.
    wanted: bool,
    ends: CertificateEnds,
}

/// No alert gets an id up to this one: a delivery that is kept may have it.
pub(super) fn last_id(deliveries: &[Delivery]) -> u64 {
    deliveries.iter().filter(|d| d.alert.is_some()).map(|d| d.seq).max().unwrap_or(0)
}

// === impl Look ===

impl Look {
    pub fn reconfigured(&mut self, model: &Model) {
        let wanted = model.alerts.iter().flat_map(|alert| &alert.on).any(|watch| watch.kind == AlertKind::Certificate);
        self.ends = if wanted { certificate_ends(model) } else { Vec::new() };
        self.wanted = true;
    }
}

// === impl Core ===

impl Core {
    pub(super) fn look_at_alerts(&mut self, now: Now) {
        if !self.is_watching() {
            return;
        }
        if now.tick < self.alert_look.not_before {
            self.alert_look.wanted = true;
            return;
        }
        // What is not published yet is looked at again when it is.
        self.alert_look.wanted = self.dirty;
        let model = Arc::clone(self.engine.model());
        let facts = self.facts(now, &model);
        let wrong = u32::try_from(facts.held.len()).unwrap_or(u32::MAX);
        self.alert_look.not_before = now.tick + LOOK_EVERY + LOOK_LATER.saturating_mul(wrong);
        for record in self.alerts.look(now, &model, &facts) {
            self.alert_changed(now, &model, record);
        }
        self.note_alerts();
    }

    pub(super) fn alerts_wake(&self) -> Option<Tick> {
        if !self.is_watching() {
            return None;
        }
        let look = self.alert_look.wanted.then_some(self.alert_look.not_before);
        look.into_iter().chain(self.alerts.wake_at()).min().map(|at| at.max(self.alert_look.not_before))
    }

    pub(super) fn clock_synced(&mut self, synced: Option<bool>) {
        let before = std::mem::replace(&mut self.status.clock_synced, synced);
        match (before, synced) {
            (Some(true) | None, Some(false)) => tracing::warn!(
                "the kernel says that the clock is not synchronised: look after its time daemon; times of journal, time \
                 windows and signatures drift"
            ),
            (Some(false), Some(true)) => tracing::info!("the clock is synchronised again"),
            _ => {}
        }
    }

    /// Whether anything is looked at now. Nothing is in a process that is about to end: it takes its own services out.
    fn is_watching(&self) -> bool {
        let any = !self.engine.model().alerts.is_empty() || !self.alerts.book().raised.is_empty();
        any && self.settled && self.stopping.is_none() && !self.status.draining
    }

    fn facts(&self, now: Now, model: &Arc<Model>) -> Facts {
        let mut facts = Facts::default();
        let wanted = |kind| self.alerts.watches(model, kind);
        self.world(now, |world| facts = world.facts_with(&wanted, &self.alert_look.ends));
        facts
    }

    /// Tells everybody who is to know; what is told is durable before it goes, except that the disk fails.
    fn alert_changed(&mut self, now: Now, model: &Model, record: AlertRecord) {
        let at_once = record.alert.subject.kind == AlertKind::NotDurable;
        let order = if at_once { 0 } else { self.next_order };
        for trigger in record.alert.triggers.iter().filter(|name| model.trigger_id(name).is_some()) {
            let id = self.outbox.next_id();
            let delivery = payload::of_alert(model, &self.config.hash, &record, trigger, id);
            self.outbox.add(now, order, delivery);
        }
        self.note_deliveries();
        self.record(now, now, Record::Alert(Arc::new(record)));
    }

    fn note_alerts(&mut self) {
        self.batch.alerts.extend(self.alerts.take_rows());
        condense(&mut self.batch);
    }
}

/// While the disk is swamped only the last of each counts.
fn condense(batch: &mut Batch) {
    if batch.alerts.len() > ROWS_WAITING {
        let mut last = std::collections::BTreeMap::new();
        last.extend(batch.alerts.drain(..));
        batch.alerts = last.into_iter().collect();
    }
}
