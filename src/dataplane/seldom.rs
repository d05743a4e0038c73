//! Messages of what happens often once it happens at all: one now and then, with the number of those that were left out.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::model::time::Tick;

/// Between two messages. Microseconds.
const BETWEEN: u64 = 10_000_000;

#[derive(Debug, Default)]
pub(super) struct Seldom {
    /// When the next one may be said, in microseconds.
    next: AtomicU64,
    left_out: AtomicU64,
}

// === impl Seldom ===

impl Seldom {
    pub const fn new() -> Seldom {
        Seldom { next: AtomicU64::new(0), left_out: AtomicU64::new(0) }
    }

    /// How many were left out since the last one, where it is time to say one.
    pub fn due(&self, now: Tick) -> Option<u64> {
        let next = self.next.load(Ordering::Relaxed);
        let mine = now.0 >= next
            && self.next.compare_exchange(next, now.0 + BETWEEN, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        if mine {
            return Some(self.left_out.swap(0, Ordering::Relaxed));
        }
        self.left_out.fetch_add(1, Ordering::Relaxed);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_ten_seconds_is_said_with_the_number_of_the_others() {
        let seldom = Seldom::new();
        let at = |seconds: u64| seldom.due(Tick(seconds * 1_000_000));
        assert_eq!(at(0), Some(0));
        assert_eq!((at(1), at(9)), (None, None));
        assert_eq!(at(10), Some(2));
        assert_eq!(at(11), None);
        assert_eq!(at(25), Some(1));
    }
}
