//! Whose turn it is: what of all that waits goes out now, and what has become too old.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{AGES_PAUSES, AT_ONCE, AT_ONCE_TO_ONE, Flight, Outbox};
use crate::model::delivery::Delivery;
use crate::model::id::Name;
use crate::model::time::{Now, Tick};

// === impl Outbox ===

impl Outbox {
    /// What must go out now; each is to be answered by [`finished`](Outbox::finished).
    pub fn take_due(&mut self, now: Now) -> Vec<Delivery> {
        if self.due.is_empty() || self.quiet_until.is_some_and(|until| now.tick < until) {
            return Vec::new();
        }
        if now.tick >= self.ages_at {
            self.give_up_old(now);
        }
        let endpoints = self.places.endpoints();
        self.quiet.retain(|endpoint, _| endpoints.contains(endpoint));
        let mut ready = Vec::new();
        for endpoint in endpoints {
            if self.quiet.get(&endpoint).is_some_and(|until| now.tick < *until) {
                continue;
            }
            let (ids, quiet) = self.ready(now, &endpoint);
            self.quiet.insert(Name::clone(&endpoint), quiet);
            ready.extend(ids.into_iter().map(|(is_alert, id)| (is_alert, id, Name::clone(&endpoint))));
        }
        // However many alerts wait, what a commit promised goes first.
        ready.sort_unstable();
        let mut sent = Vec::new();
        for (_, id, endpoint) in ready {
            if self.flying.len() >= AT_ONCE {
                // Whoever is in the air wakes us when it lands.
                self.quiet.remove(&endpoint);
                continue;
            }
            if let Some(breaker) = self.breakers.get_mut(&endpoint) {
                breaker.sent();
            }
            self.flying.insert(id, Flight { endpoint, since: now });
            sent.push(self.book.deliveries[&id].clone());
        }
        self.quiet_until = Some(self.quiet.values().copied().fold(self.ages_at, Tick::min));
        if !sent.is_empty() {
            self.show_breakers(now);
        }
        sent
    }

    /// What may go to an endpoint now: whether it is of an alert, and its id. And when the endpoint is to be looked at
    /// again.
    fn ready(&self, now: Now, endpoint: &Name) -> (Vec<(bool, u64)>, Tick) {
        let far = now.tick + AGES_PAUSES[1];
        let breaker = self.breakers.get(endpoint);
        let open_until = breaker.map_or(Tick::ZERO, |b| b.not_before());
        if open_until > now.tick {
            return (Vec::new(), open_until);
        }
        let beside = self.flying.values().filter(|flight| flight.endpoint == *endpoint).count();
        let free = breaker.map_or(AT_ONCE_TO_ONE, |b| b.at_once(AT_ONCE_TO_ONE)).saturating_sub(beside);
        let (mut ready, mut quiet) = (Vec::new(), far);
        // The oldest of each queue; the others stand behind it. Ids are in the order of commits.
        let mut heads = BTreeSet::new();
        for id in self.places.waiting(endpoint) {
            if ready.len() == free {
                // Whoever is in the air wakes us when it lands.
                return (ready, far);
            }
            let delivery = &self.book.deliveries[&id];
            let of_alert = delivery.alert.as_ref().map(|_| delivery.seq);
            let is_head = heads.insert((&*delivery.scenario, of_alert, &*delivery.trigger));
            if !is_head || self.flying.contains_key(&id) || self.orders.contains_key(&id) {
                continue;
            }
            match self.due[&id] {
                at if at > now.tick => quiet = quiet.min(at),
                _ => ready.push((of_alert.is_some(), id)),
            }
        }
        (ready, quiet)
    }

    /// Gives up what is too old, or of a trigger that is gone, and finds out when that is to be done again.
    fn give_up_old(&mut self, now: Now) {
        let mut next = now.tick + AGES_PAUSES[1];
        let pending: Vec<u64> = self.due.keys().copied().filter(|id| !self.flying.contains_key(id)).collect();
        for id in pending {
            let delivery = &self.book.deliveries[&id];
            let Some(age_left) = self.age_left(now, delivery) else {
                self.give_up(now, id, "the configuration no longer has the trigger".into());
                continue;
            };
            if age_left.is_zero() {
                let last = delivery.last_error.as_deref().unwrap_or("it was never tried");
                let why = format!("older than its max_age; {last}").into();
                self.give_up(now, id, why);
            } else {
                next = next.min(now.tick + age_left);
            }
        }
        self.ages_at = next.max(now.tick + AGES_PAUSES[0]);
    }

    /// `None`: the configuration does not have its trigger.
    pub(super) fn age_left(&self, now: Now, delivery: &Delivery) -> Option<Duration> {
        Some(self.places.max_age(&delivery.trigger)?.saturating_sub(now.wall.since(delivery.since)))
    }
}
