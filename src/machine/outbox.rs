//! The outbox: when each delivery of a trigger is tried, and when it is given up. Pure: told the time, answers what to
//! send and what to save.
//!
//! ```text
//!  commit ──▶ PENDING ── its turn, durable, time, breaker closed ──▶ sent ──┬─ expected ──▶ DELIVERED
//!               ▲                                                           │
//!               ├── attempts and age left: after a pause ◀── anything else ─┤
//!               │                                                           └─ none left ──▶ DEAD
//!               └────────────────────── replayed by a person ◀───────────────────────────────┘
//! ```
//!
//! - **In order**: of one scenario (or one alert) and one trigger only the oldest pending delivery is tried; the next
//!   follows when it is delivered or dead. Different scenarios, alerts and triggers do not wait for each other.
//! - **Durable first**: a delivery whose commit is not on disk yet is not sent, or a crash could give its seq, and with
//!   it its key, to another commit.
//! - **Pauses** double from `first` to `most`; of each pause the second half is drawn by lot (from the key, so that a
//!   replay draws the same), and a receiver's `Retry-After` lengthens it, up to a day.
//! - **Circuit breaker**, one per endpoint: five attempts in a row that nobody answered, or with 429 or 5xx, open it for
//!   10 s; then one attempt goes out, and closes it or opens it for twice as long, up to 5 minutes. Waiting for it is no
//!   attempt; age goes on counting.
//! - **Bounds**: so many of commits wait, and so many of alerts beside them; where one more comes, the oldest for the
//!   endpoint to which most of its kind wait is given up. A receiver that hangs so never costs another one a message.

mod breaker;
mod places;
mod turns;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use crate::model::Model;
use crate::model::delivery::{Delivery, DeliveryBook, DeliveryStatus, Failure, Tried};
use crate::model::id::Name;
use crate::model::scenario::Retry;
use crate::model::time::{Now, Tick, Wall};
use breaker::Breaker;
use places::Places;

/// Deliveries of commits that may be pending; beyond it the oldest for the endpoint to which most wait is given up.
pub const PENDING_MOST: usize = 4_096;
/// As [`PENDING_MOST`], of alerts: these places are theirs alone, and all that they have.
pub const ALERTS_PENDING_MOST: usize = 1_024;
/// Bytes of payloads of pending and dead deliveries; beyond it the oldest dead one is forgotten, then the oldest pending
/// one is given up, for the endpoint that has most of them.
pub const PAYLOADS_MOST: usize = 64 << 20;
/// Dead ones kept, and delivered ones kept.
pub const SETTLED_MOST: usize = 1_024;
/// Attempts at once, and at once to one endpoint.
pub const AT_ONCE: usize = 64;
pub const AT_ONCE_TO_ONE: usize = 8;
/// The longest wait that a receiver may ask for.
const RETRY_AFTER_MOST: Duration = Duration::from_secs(86_400);
const TOO_MANY: &str = "too many deliveries wait for its receiver";
/// Ages are looked at no more often, and no more seldom.
const AGES_PAUSES: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(3_600)];

/// What happened to a delivery, for the journal and the log.
#[derive(Clone, Debug, PartialEq)]
pub struct Told {
    pub delivery: Delivery,
    /// An attempt failed, and another follows.
    pub retried: bool,
}

#[derive(Clone, Debug, Default)]
pub struct Outbox {
    book: Arc<DeliveryBook>,
    /// Orders that make pending deliveries durable; absent: durable.
    orders: BTreeMap<u64, u64>,
    durable_through: u64,
    flying: BTreeMap<u64, Flight>,
    /// When pending ones may go, by id.
    due: BTreeMap<u64, Tick>,
    breakers: BTreeMap<Name, Breaker>,
    /// Rows to write, and rows to delete.
    changed: BTreeSet<u64>,
    told: Vec<Told>,
    next_id: u64,
    /// Nothing can go before; `None`: look.
    quiet_until: Option<Tick>,
    /// The same for one endpoint; absent: look.
    quiet: BTreeMap<Name, Tick>,
    /// Nothing is too old before.
    ages_at: Tick,
    places: Places,
}

#[derive(Clone, Debug)]
struct Flight {
    endpoint: Name,
    since: Now,
}

/// A row as the store keeps it: the delivery, or that it is gone.
pub type Row = (u64, Option<Delivery>);

// === impl Outbox ===

impl Outbox {
    /// What a former process left. Pauses are kept, but never longer than the trigger's longest: the wall clock may have
    /// been set meanwhile.
    pub fn restore(now: Now, deliveries: Vec<Delivery>, model: &Model) -> Outbox {
        let mut outbox = Outbox { next_id: 1, ..Outbox::default() };
        for delivery in deliveries {
            outbox.next_id = outbox.next_id.max(delivery.id + 1);
            if let DeliveryStatus::Pending { next } = delivery.status {
                let pause = next.since(now.wall).min(RETRY_AFTER_MOST);
                outbox.due.insert(delivery.id, now.tick + pause);
            }
            outbox.book_mut().deliveries.insert(delivery.id, delivery);
        }
        outbox.reconfigured(model);
        outbox
    }

    pub fn book(&self) -> &Arc<DeliveryBook> {
        &self.book
    }

    /// The id that the next delivery gets.
    pub fn next_id(&self) -> u64 {
        self.next_id
    }

    /// Takes a delivery in; it goes once `order` is durable. Its id is [`next_id`](Outbox::next_id).
    pub fn add(&mut self, now: Now, order: u64, delivery: Delivery) {
        let id = delivery.id;
        self.next_id = id + 1;
        if order > self.durable_through {
            self.orders.insert(id, order);
        }
        self.due.insert(id, now.tick);
        if !delivery.test {
            self.book_mut().counts.entry(Name::clone(&delivery.trigger)).or_default().fired += 1;
        }
        self.put(now, delivery);
        self.keep_bounds(now);
    }

    /// A gate held a trigger back.
    pub fn suppressed(&mut self, trigger: &Name) {
        self.book_mut().counts.entry(Name::clone(trigger)).or_default().suppressed += 1;
    }

    /// Orders up to this one are on disk.
    pub fn durable(&mut self, through: u64) {
        if through > self.durable_through {
            self.durable_through = through;
            let before = self.orders.len();
            self.orders.retain(|_, order| *order > through);
            if self.orders.len() != before {
                self.look_everywhere();
            }
        }
    }

    /// The triggers may be others: look again.
    pub fn reconfigured(&mut self, model: &Model) {
        self.places.learn(model, self.book.deliveries.values());
        self.ages_at = Tick::ZERO;
        self.look_everywhere();
    }

    /// Attempts that have not ended.
    pub fn under_way(&self) -> usize {
        self.flying.len()
    }

    /// When there may be something to send.
    pub fn wake_at(&self) -> Option<Tick> {
        (!self.due.is_empty()).then_some(self.quiet_until).flatten()
    }

    /// An attempt has ended.
    pub fn finished(&mut self, now: Now, id: u64, result: Result<(), Failure>, model: &Model) {
        let Some(flight) = self.flying.remove(&id) else { return };
        self.quiet_until = None;
        self.quiet.remove(&flight.endpoint);
        let failed_endpoint = result.as_ref().is_err_and(|failure| failure.endpoint);
        if failed_endpoint {
            self.breakers.entry(Name::clone(&flight.endpoint)).or_default().failed(now.tick);
        } else {
            self.breakers.remove(&flight.endpoint);
        }
        self.show_breakers(now);
        let Some(delivery) = self.book.deliveries.get(&id).filter(|d| d.is_pending()).cloned() else { return };
        let attempts = delivery.attempts + 1;
        let outcome = result.as_ref().map_or_else(|failure| Name::clone(&failure.why), |()| Tried::DELIVERED.into());
        let took = now.tick.since(flight.since.tick);
        let tries = delivery.tries_and(Tried { at: flight.since.wall, took, outcome });
        let delivery = Delivery { tries, ..delivery };
        match result {
            Ok(()) => self.delivered(now, Delivery { attempts, last_error: None, ..delivery }),
            Err(failure) => {
                let counts = self.book_mut().counts.entry(Name::clone(&delivery.trigger)).or_default();
                counts.failed_attempts += 1;
                let delivery =
                    Delivery { attempts, last_error: Some(Name::clone(&failure.why)), changed: now.wall, ..delivery };
                let retry = model.trigger_id(&delivery.trigger).map(|id| delivery.retry(&model.triggers[id.index()]));
                match retry.filter(|retry| attempts < retry.attempts) {
                    Some(retry) => self.try_again(now, delivery, retry, failure.retry_after),
                    None => {
                        self.put(now, delivery);
                        self.give_up(now, id, failure.why);
                    }
                }
            }
        }
    }

    /// Sends a dead one off again, with the same key. `false`: there is none of this id, or it is not dead.
    pub fn replay(&mut self, now: Now, id: u64) -> bool {
        let Some(dead) = self.book.deliveries.get(&id).filter(|d| d.status == DeliveryStatus::Dead) else {
            return false;
        };
        let status = DeliveryStatus::Pending { next: now.wall };
        let again =
            Delivery { attempts: 0, tries: Arc::default(), since: now.wall, changed: now.wall, status, ..dead.clone() };
        self.due.insert(id, now.tick);
        self.put(now, again);
        self.keep_bounds(now);
        true
    }

    /// Forgets a dead one. `false`: there is none of this id, or it is not dead.
    pub fn discard(&mut self, id: u64) -> bool {
        let is_dead = self.book.deliveries.get(&id).is_some_and(|d| d.status == DeliveryStatus::Dead);
        if is_dead {
            self.forget(id);
        }
        is_dead
    }

    /// Rows that changed since the last call.
    pub fn take_rows(&mut self) -> Vec<Row> {
        let changed = std::mem::take(&mut self.changed);
        changed.into_iter().map(|id| (id, self.book.deliveries.get(&id).cloned())).collect()
    }

    /// What happened since the last call.
    pub fn take_told(&mut self) -> Vec<Told> {
        std::mem::take(&mut self.told)
    }

    fn delivered(&mut self, now: Now, delivery: Delivery) {
        let id = delivery.id;
        self.due.remove(&id);
        let done =
            Delivery { status: DeliveryStatus::Delivered, changed: now.wall, payload: Arc::from(""), ..delivery };
        self.book_mut().counts.entry(Name::clone(&done.trigger)).or_default().delivered += 1;
        self.told.push(Told { delivery: done.clone(), retried: false });
        self.put(now, done);
        self.keep_bounds(now);
    }

    fn try_again(&mut self, now: Now, delivery: Delivery, retry: Retry, asked: Option<Duration>) {
        let pause = pause(&delivery.key, delivery.attempts, retry).max(asked.unwrap_or_default().min(RETRY_AFTER_MOST));
        self.due.insert(delivery.id, now.tick + pause);
        let delivery = Delivery { status: DeliveryStatus::Pending { next: now.wall + pause }, ..delivery };
        self.told.push(Told { delivery: delivery.clone(), retried: true });
        self.put(now, delivery);
    }

    fn give_up(&mut self, now: Now, id: u64, why: Name) {
        self.due.remove(&id);
        let Some(delivery) = self.book.deliveries.get(&id).cloned() else { return };
        let dead = Delivery { status: DeliveryStatus::Dead, last_error: Some(why), changed: now.wall, ..delivery };
        self.book_mut().counts.entry(Name::clone(&dead.trigger)).or_default().dead += 1;
        self.told.push(Told { delivery: dead.clone(), retried: false });
        self.put(now, dead);
        self.keep_bounds(now);
    }

    fn put(&mut self, now: Now, delivery: Delivery) {
        if let Some(age_left) = self.age_left(now, &delivery).filter(|_| delivery.is_pending()) {
            self.ages_at = self.ages_at.min(now.tick + age_left);
        }
        // The next one of its queue may have its turn.
        self.quiet.remove(&self.places.endpoint(&delivery.trigger));
        self.quiet_until = None;
        self.changed.insert(delivery.id);
        if let Some(before) = self.book.deliveries.get(&delivery.id) {
            self.places.leave(before);
        }
        self.places.enter(&delivery);
        self.book_mut().deliveries.insert(delivery.id, delivery);
    }

    fn look_everywhere(&mut self) {
        self.quiet.clear();
        self.quiet_until = None;
    }

    fn book_mut(&mut self) -> &mut DeliveryBook {
        Arc::make_mut(&mut self.book)
    }

    fn keep_bounds(&mut self, now: Now) {
        while let Some(id) = self.places.settled_over(SETTLED_MOST) {
            self.forget(id);
        }
        while self.places.bytes() > PAYLOADS_MOST {
            match self.places.oldest_dead() {
                Some(id) => self.forget(id),
                None => {
                    let Some(id) = self.places.heaviest(|id| !self.flying.contains_key(&id)) else { return };
                    self.give_up(now, id, TOO_MANY.into());
                }
            }
        }
        let is_free = |id| !self.flying.contains_key(&id);
        if let Some(id) = self.places.waiting_over(PENDING_MOST, ALERTS_PENDING_MOST, is_free) {
            self.give_up(now, id, TOO_MANY.into());
        }
    }

    fn forget(&mut self, id: u64) {
        if let Some(gone) = self.book_mut().deliveries.remove(&id) {
            self.places.leave(&gone);
            self.orders.remove(&id);
            self.changed.insert(id);
        }
    }

    fn show_breakers(&mut self, now: Now) {
        let shown = self.breakers.iter().map(|(name, b)| (Name::clone(name), b.view(now))).collect();
        if self.book.breakers != shown {
            self.book_mut().breakers = shown;
        }
    }
}

/// The pause after the `attempts`-th attempt: half of it certain, half by lot.
fn pause(key: &str, attempts: u32, retry: Retry) -> Duration {
    let doubled = 2u32.saturating_pow(attempts.saturating_sub(1).min(30));
    let whole = retry.first.saturating_mul(doubled).min(retry.most);
    let seed = key.bytes().chain(attempts.to_le_bytes());
    let lot = seed.fold(0xcbf2_9ce4_8422_2325u64, |h, byte| (h ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    // The upper bits of FNV are the well mixed ones.
    whole / 2 + (whole / 2).mul_f64((lot >> 40) as f64 / f64::from(1u32 << 24))
}

/// When a wall-clock time of a pending delivery is, for people.
pub fn next_attempt(delivery: &Delivery) -> Option<Wall> {
    match delivery.status {
        DeliveryStatus::Pending { next } => Some(next),
        DeliveryStatus::Delivered | DeliveryStatus::Dead => None,
    }
}

#[cfg(test)]
mod tests;
