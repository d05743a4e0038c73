//! Who waits, by endpoint, and what is settled: so that where places run out whoever has most of them gives one up, and
//! nothing has to walk through everything that is kept.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::model::Model;
use crate::model::delivery::{Delivery, DeliveryStatus};
use crate::model::id::Name;

/// What is known of a trigger.
#[derive(Clone, Debug)]
struct Known {
    endpoint: Name,
    max_age: Duration,
}

/// Where every delivery that is kept stands.
#[derive(Clone, Debug, Default)]
pub(super) struct Places {
    triggers: BTreeMap<Name, Known>,
    commits: Waiting,
    alerts: Waiting,
    delivered: BTreeSet<u64>,
    dead: BTreeSet<u64>,
    /// Of the payloads of all.
    bytes: usize,
}

/// Pending deliveries of one kind, by endpoint.
#[derive(Clone, Debug, Default)]
struct Waiting {
    groups: BTreeMap<Name, Group>,
    count: usize,
}

#[derive(Clone, Debug, Default)]
struct Group {
    ids: BTreeSet<u64>,
    bytes: usize,
}

// === impl Places ===

impl Places {
    /// Takes over the triggers of a configuration, and groups what waits by them.
    pub(super) fn learn<'a>(&mut self, model: &Model, kept: impl Iterator<Item = &'a Delivery>) {
        let known = |t: &crate::model::scenario::Trigger| Known { endpoint: t.endpoint(), max_age: t.retry.max_age };
        let triggers = model.triggers.iter().map(|trigger| (Name::clone(&trigger.name), known(trigger))).collect();
        *self = Places { triggers, ..Places::default() };
        kept.for_each(|delivery| self.enter(delivery));
    }

    /// How old a delivery of the trigger may become; `None`: the configuration has no such trigger.
    pub(super) fn max_age(&self, trigger: &str) -> Option<Duration> {
        self.triggers.get(trigger).map(|known| known.max_age)
    }

    /// Where deliveries of the trigger go; of one that is not known: its own name.
    pub(super) fn endpoint(&self, trigger: &Name) -> Name {
        Name::clone(self.triggers.get(trigger).map_or(trigger, |known| &known.endpoint))
    }

    pub(super) fn enter(&mut self, delivery: &Delivery) {
        self.bytes += delivery.payload.len();
        match delivery.status {
            DeliveryStatus::Delivered => _ = self.delivered.insert(delivery.id),
            DeliveryStatus::Dead => _ = self.dead.insert(delivery.id),
            DeliveryStatus::Pending { .. } => {
                let endpoint = self.endpoint(&delivery.trigger);
                let waiting = self.waiting_of(delivery);
                let group = waiting.groups.entry(endpoint).or_default();
                waiting.count += usize::from(group.ids.insert(delivery.id));
                group.bytes += delivery.payload.len();
            }
        }
    }

    pub(super) fn leave(&mut self, delivery: &Delivery) {
        self.bytes -= delivery.payload.len();
        match delivery.status {
            DeliveryStatus::Delivered => _ = self.delivered.remove(&delivery.id),
            DeliveryStatus::Dead => _ = self.dead.remove(&delivery.id),
            DeliveryStatus::Pending { .. } => {
                let endpoint = self.endpoint(&delivery.trigger);
                let waiting = self.waiting_of(delivery);
                let Some(group) = waiting.groups.get_mut(&endpoint) else { return };
                waiting.count -= usize::from(group.ids.remove(&delivery.id));
                group.bytes -= delivery.payload.len();
                if group.ids.is_empty() {
                    waiting.groups.remove(&endpoint);
                }
            }
        }
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// All to which something waits.
    pub(super) fn endpoints(&self) -> BTreeSet<Name> {
        self.commits.groups.keys().chain(self.alerts.groups.keys()).cloned().collect()
    }

    /// What waits for an endpoint: what commits promised, oldest first, then alerts.
    pub(super) fn waiting(&self, endpoint: &Name) -> impl Iterator<Item = u64> {
        let groups = [self.commits.groups.get(endpoint), self.alerts.groups.get(endpoint)];
        groups.into_iter().flatten().flat_map(|group| group.ids.iter().copied())
    }

    /// The oldest settled ones of which there are more than `most` of their kind.
    pub(super) fn settled_over(&self, most: usize) -> Option<u64> {
        let over = [&self.delivered, &self.dead].into_iter().find(|settled| settled.len() > most)?;
        over.first().copied()
    }

    pub(super) fn oldest_dead(&self) -> Option<u64> {
        self.dead.first().copied()
    }

    /// Who gives its place up where more than `commits` or `alerts` wait: the oldest for the endpoint that has most of
    /// them. `is_free`: it is not on its way.
    pub(super) fn waiting_over(&self, commits: usize, alerts: usize, is_free: impl Fn(u64) -> bool) -> Option<u64> {
        let (over, _) =
            [(&self.commits, commits), (&self.alerts, alerts)].into_iter().find(|(w, most)| w.count > *most)?;
        over.first_of_largest(|group| group.ids.len(), is_free).map(|(_, id)| id)
    }

    /// Who gives its place up where payloads are too large: the oldest for the endpoint that has most bytes of them.
    pub(super) fn heaviest(&self, is_free: impl Fn(u64) -> bool) -> Option<u64> {
        let of = |waiting: &Waiting| waiting.first_of_largest(|group| group.bytes, &is_free);
        of(&self.commits).max(of(&self.alerts)).map(|(_, id)| id)
    }

    fn waiting_of(&mut self, delivery: &Delivery) -> &mut Waiting {
        if delivery.alert.is_some() { &mut self.alerts } else { &mut self.commits }
    }
}

// === impl Waiting ===

impl Waiting {
    /// The size of the largest group, and the oldest in it that is free.
    fn first_of_largest(&self, size: impl Fn(&Group) -> usize, is_free: impl Fn(u64) -> bool) -> Option<(usize, u64)> {
        let first = |group: &Group| Some((size(group), group.ids.iter().copied().find(|id| is_free(*id))?));
        // Of equals the one that has waited longest.
        self.groups.values().filter_map(first).max_by_key(|(size, id)| (*size, std::cmp::Reverse(*id)))
    }
}
