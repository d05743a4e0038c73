//! Deliveries of triggers.

use super::text;
use crate::model::delivery::{Delivery, DeliveryStatus};

dto! {
    /// A trigger of a commit on its way to its receiver, or what became of it.
    pub struct DeliveryDto {
        /// For `replay`; never used again.
        pub id: u64,
        /// `appliance:scenario:seq:direction:trigger`: sent as `webhook-id`, the same in every attempt.
        pub key: String,
        pub trigger: String,
        /// Null for a test.
        pub scenario: Option<String>,
        /// Of the commit; 0 for a test.
        pub seq: u64,
        /// `activate` or `deactivate`; null for a test.
        pub direction: Option<String>,
        /// Asked for by a person, tried once.
        pub test: bool,
        /// `pending`, `delivered` or `dead`.
        pub status: String,
        /// Begun and ended, since the commit or the last replay.
        pub attempts: u32,
        /// What the last attempt got instead of the expected answer.
        pub last_error: Option<String>,
        /// When it was committed, or replayed: its age counts from here.
        pub since: String,
        /// When the status was entered, or the last attempt ended.
        pub changed_at: String,
        /// Pending: not before. Earlier ones of the same scenario and trigger, and an open circuit breaker, may hold it
        /// longer.
        pub next_attempt_at: Option<String>,
        /// Bytes of its payload; 0 once it is delivered.
        pub payload_bytes: u64,
    }
}

// === impl DeliveryDto ===

impl DeliveryDto {
    pub fn of(delivery: &Delivery) -> DeliveryDto {
        let next = match delivery.status {
            DeliveryStatus::Pending { next } => Some(next.to_string()),
            DeliveryStatus::Delivered | DeliveryStatus::Dead => None,
        };
        let of_commit = |value: &str| (!delivery.test).then(|| text(value));
        DeliveryDto {
            id: delivery.id,
            key: text(&delivery.key),
            trigger: text(&delivery.trigger),
            scenario: of_commit(&delivery.scenario),
            seq: delivery.seq,
            direction: of_commit(delivery.direction.word()),
            test: delivery.test,
            status: text(delivery.status.word()),
            attempts: delivery.attempts,
            last_error: delivery.last_error.as_deref().map(text),
            since: delivery.since.to_string(),
            changed_at: delivery.changed.to_string(),
            next_attempt_at: next,
            payload_bytes: delivery.payload.len() as u64,
        }
    }
}
