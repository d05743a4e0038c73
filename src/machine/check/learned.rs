//! The time that a server usually takes to answer (NetScaler's LRTM), and what is too late by it (`deviation`).
//!
//! An exponential average over passed samples: each counts an eighth. Late answers are learned from as well, so that a
//! server that has become slower for good is believed after a while, and does not stay down for ever.

use std::time::Duration;

/// Answers that must have come before anything is judged by the average.
const FIRST: u32 = 8;

/// The weight of one answer: one in so many.
const SHARE: i64 = 8;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Learned {
    /// Microseconds.
    average: i64,
    answers: u32,
}

// === impl Learned ===

impl Learned {
    /// The average, once enough has been heard.
    pub(super) fn average(&self) -> Option<Duration> {
        (self.answers >= FIRST).then(|| Duration::from_micros(self.average.unsigned_abs()))
    }

    /// Whether an answer that took `latency` came too late by what was learned before it; then learns from it.
    pub(super) fn take(&mut self, latency: Duration, deviation: Option<Duration>) -> bool {
        let late = self.average().zip(deviation).is_some_and(|(average, deviation)| latency > average + deviation);
        let micros = i64::try_from(latency.as_micros()).unwrap_or(i64::MAX / 2);
        // The first answers count alike: a first slow one must not stand for all.
        let share = i64::from(self.answers.min(SHARE as u32 - 1)) + 1;
        self.average += (micros - self.average) / share;
        self.answers = self.answers.saturating_add(1);
        late
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DEVIATION: Option<Duration> = Some(Duration::from_millis(5));

    fn ms(n: u64) -> Duration {
        Duration::from_millis(n)
    }

    #[test]
    fn an_answer_is_late_by_the_average_and_the_deviation() {
        let mut learned = Learned::default();
        for _ in 0..FIRST {
            assert_eq!(learned.average(), None);
            assert!(!learned.take(ms(10), DEVIATION), "nothing is judged before enough was heard");
        }
        assert_eq!(learned.average(), Some(ms(10)));
        assert!(!learned.take(ms(15), DEVIATION));
        assert!(learned.take(ms(17), DEVIATION));
        assert!(!learned.take(ms(500), None), "without a deviation nothing is late");
    }

    #[test]
    fn a_server_that_stays_slower_is_believed_in_the_end() {
        let mut learned = Learned::default();
        (0..50).for_each(|_| assert!(!learned.take(ms(10), DEVIATION)));
        let late = (0..50).filter(|_| learned.take(ms(40), DEVIATION)).count();
        assert!((5..30).contains(&late), "{late}");
        assert!(!learned.take(ms(40), DEVIATION));
    }
}
