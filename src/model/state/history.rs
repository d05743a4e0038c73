//! What a check gave lately: its last samples one by one, and the latencies of its last thousand answers or so.
//!
//! Bounded whatever happens: [`RECENT_MAX`] samples, and counts in log-linear buckets. Each time [`FORGET_AT`] answers
//! are counted all counts are halved, so that what was long ago fades.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::model::event::Outcome;
use crate::model::time::{Wall, micros};

/// Samples kept one by one.
pub const RECENT_MAX: usize = 32;

/// Answers counted before the older half of their weight is forgotten.
const FORGET_AT: u32 = 2_048;

/// Parts of an octave: a percentile is at most an eighth too high.
const STEPS: u64 = 8;
const STEP_BITS: u32 = 3;
/// The first octave begins at 2^4 µs; what is shorter is counted in its first part.
const FIRST_OCTAVE: u32 = 4;
/// Up to 2^32 µs = 71 minutes; no time-out is longer than that, but NetScaler's longest.
const BUCKETS: usize = (28 * STEPS) as usize;

#[derive(Clone, Debug, Default)]
pub struct History {
    recent: VecDeque<PastSample>,
    /// By bucket; empty before the first answer.
    counts: Vec<u16>,
    counted: u32,
    slowest_us: u64,
    /// Answers since the check began, and what they took in all.
    pub answers_total: u64,
    pub latency_total: Duration,
}

/// A sample as it counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastSample {
    pub at: Wall,
    pub outcome: Outcome,
    pub latency: Duration,
    pub detail: Arc<str>,
}

/// Latencies of answers. A failed sample has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Percentiles {
    /// Answers that they are of.
    pub answers: u32,
    pub p50: Duration,
    pub p95: Duration,
    pub p99: Duration,
}

// === impl History ===

impl History {
    pub fn push(&mut self, sample: PastSample) {
        if matches!(sample.outcome, Outcome::Pass | Outcome::Trofs) {
            self.count(sample.latency);
        }
        let detail = match self.recent.back() {
            // A check says the same most of the time: one text for all.
            Some(last) if last.detail == sample.detail => Arc::clone(&last.detail),
            _ => Arc::clone(&sample.detail),
        };
        if self.recent.len() == RECENT_MAX {
            self.recent.pop_front();
        }
        self.recent.push_back(PastSample { detail, ..sample });
    }

    /// Oldest first.
    pub fn recent(&self) -> impl ExactSizeIterator<Item = &PastSample> + '_ {
        self.recent.iter()
    }

    /// `None` before the first answer.
    pub fn percentiles(&self) -> Option<Percentiles> {
        let at = |percent| self.percentile(percent);
        Some(Percentiles { answers: self.counted, p50: at(50)?, p95: at(95)?, p99: at(99)? })
    }

    fn count(&mut self, latency: Duration) {
        let us = micros(latency);
        self.answers_total += 1;
        self.latency_total += latency;
        if self.counts.is_empty() {
            self.counts = vec![0; BUCKETS];
        }
        if self.counted >= FORGET_AT {
            self.counts.iter_mut().for_each(|count| *count /= 2);
            self.counted = self.counts.iter().map(|count| u32::from(*count)).sum();
        }
        self.counts[bucket_of(us)] += 1;
        self.counted += 1;
        self.slowest_us = self.slowest_us.max(us);
    }

    /// By nearest rank: the end of the bucket that holds it, and never more than the slowest answer took.
    fn percentile(&self, percent: u32) -> Option<Duration> {
        let rank = (self.counted * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let bucket = self.counts.iter().position(|count| {
            seen += u32::from(*count);
            seen >= rank
        })?;
        Some(Duration::from_micros(end_of(bucket).min(self.slowest_us)))
    }
}

fn bucket_of(us: u64) -> usize {
    let us = us.max(1 << FIRST_OCTAVE);
    let octave = us.ilog2();
    let step = (us >> (octave - STEP_BITS)) % STEPS;
    ((u64::from(octave - FIRST_OCTAVE) * STEPS + step) as usize).min(BUCKETS - 1)
}

/// The first microsecond that is beyond the bucket.
fn end_of(bucket: usize) -> u64 {
    let (octave, step) = (bucket as u64 / STEPS, bucket as u64 % STEPS);
    (STEPS + step + 1) << (octave + u64::from(FIRST_OCTAVE - STEP_BITS))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(history: &mut History, us: u64) {
        let (at, detail) = (Wall(0), "200 OK".into());
        history.push(PastSample { at, outcome: Outcome::Pass, latency: Duration::from_micros(us), detail });
    }

    #[test]
    fn every_latency_is_in_a_bucket_that_ends_at_most_an_eighth_above_it() {
        let mut before = 0;
        for us in (0..40_000).chain((1..4_000).map(|n| n * 1_000_003)) {
            let bucket = bucket_of(us);
            assert!(bucket >= before, "{us}: never back");
            before = bucket;
            if (32..1 << 32).contains(&us) {
                let end = end_of(bucket);
                assert!(us < end && end - us <= us / 8 + 1, "{us} in a bucket that ends at {end}");
            }
        }
        assert_eq!(bucket_of(u64::MAX), BUCKETS - 1);
    }

    #[test]
    fn percentiles_are_of_answers_and_never_above_the_slowest() {
        let mut history = History::default();
        assert_eq!(history.percentiles(), None);
        for us in 1..=100 {
            answered(&mut history, us * 1_000);
        }
        history.push(PastSample {
            at: Wall(0),
            outcome: Outcome::Fail,
            latency: Duration::from_secs(9),
            detail: "".into(),
        });
        let percentiles = history.percentiles().unwrap();
        assert_eq!(percentiles.answers, 100);
        for (found, expected_ms) in [(percentiles.p50, 50), (percentiles.p95, 95), (percentiles.p99, 99)] {
            let ms = found.as_micros() as u64 / 1_000;
            assert!((expected_ms..=expected_ms * 9 / 8 + 1).contains(&ms), "{found:?}, expected {expected_ms} ms");
        }
        assert!(percentiles.p99 <= Duration::from_millis(100));
        assert_eq!((history.answers_total, history.latency_total), (100, Duration::from_millis(5_050)));
    }

    #[test]
    fn what_was_long_ago_fades_and_nothing_grows() {
        let mut history = History::default();
        for _ in 0..10_000 {
            answered(&mut history, 900_000);
        }
        for _ in 0..10_000 {
            answered(&mut history, 1_000);
        }
        let percentiles = history.percentiles().unwrap();
        assert!(percentiles.answers <= FORGET_AT && percentiles.p95 < Duration::from_millis(2), "{percentiles:?}");
        assert_eq!((history.recent().len(), history.counts.len()), (RECENT_MAX, BUCKETS));
        let first = history.recent().next().unwrap().detail.clone();
        assert!(history.recent().all(|sample| Arc::ptr_eq(&sample.detail, &first)), "one text for all");
    }
}
