//! What users got of a service, for monitors that judge by it.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

use crate::model::check::StatusRange;

/// The answers of a service to users, counted where an HTTP-INLINE monitor wants to know of them.
#[derive(Debug, Default)]
pub struct AnswersLive {
    is_watched: AtomicBool,
    /// A bit for each status from 100 to 999 that is accepted.
    accepts: [AtomicU64; 15],
    accepted: AtomicU64,
    refused: AtomicU64,
    last_refused: AtomicU32,
}

// === impl AnswersLive ===

impl AnswersLive {
    /// A user got an answer with this status.
    pub fn count(&self, status: u16) {
        if !self.is_watched.load(Ordering::Relaxed) {
            return;
        }
        let bit = usize::from(status.saturating_sub(100));
        let word = self.accepts.get(bit / 64).map_or(0, |word| word.load(Ordering::Relaxed));
        if word >> (bit % 64) & 1 == 1 {
            self.accepted.fetch_add(1, Ordering::Relaxed);
        } else {
            self.refused.fetch_add(1, Ordering::Relaxed);
            self.last_refused.store(status.into(), Ordering::Relaxed);
        }
    }

    /// What is accepted; `None`: nobody asks.
    pub fn watch(&self, accepted: Option<&[StatusRange]>) {
        for (i, word) in self.accepts.iter().enumerate() {
            let is_accepted = |bit: &usize| {
                let status = (100 + 64 * i + bit) as u16;
                accepted.is_some_and(|ranges| ranges.iter().any(|range| range.contains(status)))
            };
            let bits = (0..64).filter(is_accepted).fold(0, |bits, bit| bits | 1_u64 << bit);
            word.store(bits, Ordering::Relaxed);
        }
        self.is_watched.store(accepted.is_some(), Ordering::Relaxed);
    }

    /// Answers accepted and refused since this was called last, and the status refused last.
    pub fn take(&self) -> (u64, u64, u16) {
        let last = u16::try_from(self.last_refused.load(Ordering::Relaxed)).unwrap_or(0);
        (self.accepted.swap(0, Ordering::Relaxed), self.refused.swap(0, Ordering::Relaxed), last)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_counted_only_where_somebody_asks_and_by_what_is_accepted() {
        let answers = AnswersLive::default();
        answers.count(500);
        assert_eq!(answers.take(), (0, 0, 0));
        answers.watch(Some(&[StatusRange { from: 200, to: 399 }, StatusRange::one(999)]));
        [100, 199, 200, 301, 399, 400, 999, 65_535, 503].into_iter().for_each(|status| answers.count(status));
        assert_eq!(answers.take(), (4, 5, 503));
        assert_eq!(answers.take(), (0, 0, 503));
        answers.watch(None);
        answers.count(200);
        assert_eq!(answers.take(), (0, 0, 503));
    }
}
