//! Deliveries of triggers.

use std::time::Duration;

use super::text;
use crate::config::units::format_duration;
use crate::model::Model;
use crate::model::delivery::{Delivery, DeliveryBook, DeliveryStatus, Tried};
use crate::model::time::Wall;

dto! {
    /// A trigger of a commit or an alert on its way to its receiver, or what became of it.
    pub struct DeliveryDto {
        /// For `replay`; never used again.
        pub id: u64,
        /// `appliance:scenario:seq:direction:trigger`, of an alert `appliance:alert:id:raise:trigger`: sent as `webhook-id`,
        /// the same in every attempt.
        pub key: String,
        pub trigger: String,
        /// Null for a test and for an alert.
        pub scenario: Option<String>,
        /// The definition of the alert that it tells of; null for a commit and for a test.
        pub alert: Option<String>,
        /// Of the commit; of an alert: its id; 0 for a test.
        pub seq: u64,
        /// `activate` (an alert: raised) or `deactivate` (resolved); null for a test.
        pub direction: Option<String>,
        /// Asked for by a person, tried once.
        pub test: bool,
        /// `pending`, `delivered` or `dead`.
        pub status: String,
        /// How many have begun and ended, since the commit or the last replay.
        pub attempt_count: u32,
        /// The newest 20 of them, oldest first.
        pub attempts: Vec<DeliveryAttemptDto>,
        /// What the last attempt got instead of the expected answer.
        pub last_error: Option<String>,
        /// When it was committed, or replayed: its age counts from here.
        pub since: String,
        /// When the status was entered, or the last attempt ended.
        pub changed_at: String,
        /// Pending: not before. Earlier ones of the same scenario and trigger, and an open circuit breaker, may hold it
        /// longer.
        pub next_attempt_at: Option<String>,
        /// The same.
        pub next_at: Option<String>,
        /// Since the commit, or the last replay.
        pub age: String,
        /// The earlier delivery of the same scenario and trigger that has to be through first.
        pub blocked_behind: Option<u64>,
        /// Pending: the circuit breaker of its endpoint is open, and lets the next attempt go then.
        pub breaker_until: Option<String>,
        /// Bytes of its payload; 0 once it is delivered.
        pub payload_bytes: u64,
    }

    /// An attempt to deliver that has ended.
    pub struct DeliveryAttemptDto {
        /// When it began.
        pub at: String,
        /// `delivered`, or what came in place of the expected answer.
        pub outcome: String,
        /// Until the answer, or until it was given up.
        pub took: String,
    }
}

// === impl DeliveryDto ===

impl DeliveryDto {
    pub fn of(delivery: &Delivery, model: &Model, book: &DeliveryBook, now: Wall) -> DeliveryDto {
        let next = match delivery.status {
            DeliveryStatus::Pending { next } => Some(next.to_string()),
            DeliveryStatus::Delivered | DeliveryStatus::Dead => None,
        };
        DeliveryDto {
            id: delivery.id,
            key: text(&delivery.key),
            trigger: text(&delivery.trigger),
            scenario: Some(text(&delivery.scenario)).filter(|scenario| !scenario.is_empty()),
            alert: delivery.alert.as_deref().map(text),
            seq: delivery.seq,
            direction: (!delivery.test).then(|| text(delivery.direction.word())),
            test: delivery.test,
            status: text(delivery.status.word()),
            attempt_count: delivery.attempts,
            attempts: delivery.tries.iter().map(DeliveryAttemptDto::of).collect(),
            last_error: delivery.last_error.as_deref().map(text),
            since: delivery.since.to_string(),
            changed_at: delivery.changed.to_string(),
            next_attempt_at: next.clone(),
            next_at: next,
            age: format_duration(Duration::from_secs(now.since(delivery.since).as_secs())),
            blocked_behind: book.ahead_of(delivery),
            breaker_until: held_until(delivery, model, book).map(|until| until.to_string()),
            payload_bytes: delivery.payload.len() as u64,
        }
    }
}

// === impl DeliveryAttemptDto ===

impl DeliveryAttemptDto {
    fn of(tried: &Tried) -> DeliveryAttemptDto {
        DeliveryAttemptDto {
            at: tried.at.to_string(),
            outcome: text(&tried.outcome),
            took: format_duration(Duration::from_millis(tried.took.as_millis() as u64)),
        }
    }
}

/// Until when an open circuit breaker keeps a delivery from being tried.
pub(crate) fn held_until(delivery: &Delivery, model: &Model, book: &DeliveryBook) -> Option<Wall> {
    let trigger = model.trigger_id(&delivery.trigger).filter(|_| delivery.is_pending())?;
    let breaker = book.breakers.get(&model.triggers[trigger.index()].endpoint())?;
    breaker.until.filter(|_| breaker.word == "open")
}
