//! Deliveries of triggers: what a commit or an alert promised, and how it went. What guards ask stands here too, since both leave
//! through the same door.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::event::GuardVerdict;
use super::id::Name;
use super::scenario::{Direction, Retry, Trigger};
use super::time::Wall;

/// One trigger of one commit, or of a change of an alert, on its way to its receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Delivery {
    /// Strictly increasing within a state directory, never used again.
    pub id: u64,
    /// `appliance:scenario:seq:direction:trigger`, of an alert `appliance:alert:id:raise:trigger` (`resolve`, `repeat-1`),
    /// the same in every attempt and after every restart. `%` and two digits
    /// stand for what a field of HTTP cannot hold, and for `:` and `%` within a part.
    pub key: Name,
    pub trigger: Name,
    /// Empty for a test and for an alert.
    pub scenario: Name,
    /// Of the commit; of an alert: its id; 0 for a test.
    pub seq: u64,
    /// An alert that is raised is activated, one that is resolved deactivated.
    pub direction: Direction,
    /// The definition of the alert that it tells of; `None`: it tells of a commit, or is a test.
    pub alert: Option<Name>,
    /// Asked for by a person: tried once, marked in the payload.
    pub test: bool,
    /// Its age counts from here: the commit, or the last replay.
    pub since: Wall,
    /// JSON. Empty once it is delivered.
    pub payload: Arc<str>,
    /// Begun and ended, since the commit or the last replay.
    pub attempts: u32,
    pub last_error: Option<Name>,
    /// The newest [`Tried::MOST`] of them, oldest first.
    pub tries: Arc<[Tried]>,
    pub status: DeliveryStatus,
    /// When `status` was entered, or the last attempt ended.
    pub changed: Wall,
}

/// An attempt that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tried {
    /// When it began.
    pub at: Wall,
    pub took: Duration,
    /// In words, without secrets: `delivered`, or what came in place of the expected answer.
    pub outcome: Name,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeliveryStatus {
    /// Waits: for its turn, for the next attempt (not before `next`), or for the receiver to answer.
    Pending { next: Wall },
    /// The expected answer came.
    Delivered,
    /// Given up; a person may replay it.
    Dead,
}

/// Everything that is kept of deliveries.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeliveryBook {
    /// By id. Bounded; see [`machine::outbox`](crate::machine::outbox).
    pub deliveries: BTreeMap<u64, Delivery>,
    /// By trigger, since the start of the process.
    pub counts: BTreeMap<Name, DeliveryCounts>,
    /// By endpoint; those that have failed last.
    pub breakers: BTreeMap<Name, BreakerView>,
}

/// Since the start of the process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeliveryCounts {
    /// Commits and alerts that sent it off.
    pub fired: u64,
    /// Commits whose gate held it back.
    pub suppressed: u64,
    pub delivered: u64,
    /// Attempts without the expected answer.
    pub failed_attempts: u64,
    pub dead: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BreakerView {
    /// `closed` (attempts go out), `open` (none do until `until`), `half open` (one is out to see).
    pub word: &'static str,
    /// Attempts in a row that found nobody, or somebody who could not answer.
    pub failures: u32,
    pub until: Option<Wall>,
}

/// How an attempt ended without the expected answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// In words, without secrets.
    pub why: Name,
    /// The receiver's wish (RFC 9110 §10.2.3).
    pub retry_after: Option<Duration>,
    /// Nobody answered, or with 429 or 5xx: what the circuit breaker counts.
    pub endpoint: bool,
}

/// The last answers to the queries of guards, by query, since the start of the process.
pub type QueryBook = BTreeMap<Name, QueryCounts>;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueryCounts {
    pub passed: u64,
    pub refused: u64,
    /// Tries that could not tell.
    pub undecided: u64,
    pub last: Option<LastTry>,
}

/// The last try of a query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastTry {
    /// When it ended.
    pub at: Wall,
    pub verdict: GuardVerdict,
    pub said: Name,
    pub took: Duration,
}

// === impl Tried ===

impl Tried {
    /// How many are kept of a delivery.
    pub const MOST: usize = 20;
    /// The outcome of one that got the expected answer.
    pub const DELIVERED: &'static str = "delivered";
}

// === impl Delivery ===

impl Delivery {
    /// Its attempts with one more; the oldest goes where there are too many.
    pub fn tries_and(&self, tried: Tried) -> Arc<[Tried]> {
        let skipped = (self.tries.len() + 1).saturating_sub(Tried::MOST);
        self.tries.iter().skip(skipped).cloned().chain(std::iter::once(tried)).collect()
    }

    pub fn is_pending(&self) -> bool {
        matches!(self.status, DeliveryStatus::Pending { .. })
    }

    /// The retries that hold for it.
    pub fn retry(&self, trigger: &Trigger) -> Retry {
        if self.test { Retry { attempts: 1, ..trigger.retry } } else { trigger.retry }
    }
}

// === impl DeliveryStatus ===

impl DeliveryStatus {
    pub fn word(self) -> &'static str {
        match self {
            DeliveryStatus::Pending { .. } => "pending",
            DeliveryStatus::Delivered => "delivered",
            DeliveryStatus::Dead => "dead",
        }
    }
}

// === impl DeliveryBook ===

impl DeliveryBook {
    /// The delivery of a trigger for a commit, where it is still kept.
    pub fn of_commit(&self, scenario: &str, seq: u64, direction: Direction, trigger: &str) -> Option<&Delivery> {
        let is_it = |d: &&Delivery| {
            d.seq == seq
                && !d.test
                && d.alert.is_none()
                && d.direction == direction
                && *d.scenario == *scenario
                && *d.trigger == *trigger
        };
        self.deliveries.values().rev().find(is_it)
    }

    /// The earlier delivery of the same scenario and trigger that one waits for.
    pub fn ahead_of(&self, delivery: &Delivery) -> Option<u64> {
        let same = |d: &&Delivery| d.is_pending() && d.scenario == delivery.scenario && d.trigger == delivery.trigger;
        let waits = delivery.is_pending() && !delivery.test && !delivery.scenario.is_empty();
        waits.then(|| self.deliveries.range(..delivery.id).map(|(_, d)| d).find(same).map(|d| d.id)).flatten()
    }

    /// The newest delivery of a trigger for an alert, where one is still kept.
    pub fn of_alert(&self, id: u64, trigger: &str) -> Option<&Delivery> {
        self.deliveries.values().rev().find(|d| d.seq == id && d.alert.is_some() && *d.trigger == *trigger)
    }
}

/// The idempotency key of a delivery: parts joined by `:`.
pub fn key(parts: [&str; 5]) -> Name {
    let mut key = String::new();
    for (at, part) in parts.into_iter().enumerate() {
        if at > 0 {
            key.push(':');
        }
        for byte in part.bytes() {
            match byte {
                b'%' | b':' | 0..=0x20 | 0x7f.. => key.push_str(&format!("%{byte:02X}")),
                _ => key.push(char::from(byte)),
            }
        }
    }
    key.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_different_commits_differ_whatever_the_names_hold() {
        assert_eq!(&*key(["box", "a-is-out", "17", "activate", "page"]), "box:a-is-out:17:activate:page");
        assert_ne!(key(["box:a", "b", "1", "activate", "p"]), key(["box", "a:b", "1", "activate", "p"]));
        assert_eq!(&*key(["b x", "é%", "1", "activate", "p"]), "b%20x:%C3%A9%25:1:activate:p");
    }
}
