//! Durations counted in log-linear buckets: every octave (a doubling) is cut into [`STEPS`] equal parts, so that the
//! middle of a bucket is at most 1.6 % off everything that it holds, from a microsecond to an hour.
//!
//! Writers only add; readers may see one more or one less than is there while they read. An octave is allocated when
//! the first value falls into it: a histogram at rest is a row of empty places, and a service whose answers take one to
//! fifty milliseconds holds six of them.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Parts of an octave.
const STEPS: usize = 1 << STEP_BITS;
const STEP_BITS: u32 = 5;
/// The first octave begins at 2^9 ns = 512 ns; what is shorter is counted there.
const FIRST_OCTAVE: u32 = 9;
/// The last one ends at 2^42 ns = 73 min; what is longer is counted there, `Counts::max` still tells it.
const OCTAVES: usize = 33;

type Octave = [AtomicU64; STEPS];

/// Counts of durations. Lock-free; adding costs two atomic additions.
#[derive(Debug)]
pub struct Histogram {
    octaves: [OnceLock<Box<Octave>>; OCTAVES],
    sum_ns: AtomicU64,
    max_ns: AtomicU64,
}

/// A histogram as it stood at one moment. Two of them add up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// By bucket, from the first that is not empty on.
    buckets: Vec<u64>,
    pub count: u64,
    pub sum: Duration,
    pub max: Duration,
}

// === impl Histogram ===

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram {
            octaves: [const { OnceLock::new() }; OCTAVES],
            sum_ns: AtomicU64::new(0),
            max_ns: AtomicU64::new(0),
        }
    }
}

impl Histogram {
    pub fn record(&self, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let bucket = bucket_of(ns);
        let octave = self.octaves[bucket / STEPS].get_or_init(Box::default);
        octave[bucket % STEPS].fetch_add(1, Relaxed);
        self.sum_ns.fetch_add(ns, Relaxed);
        // Read first: a new maximum is rare, and reading does not take the line from the other cores.
        if self.max_ns.load(Relaxed) < ns {
            self.max_ns.fetch_max(ns, Relaxed);
        }
    }

    /// Adds what is counted here to `counts`.
    pub fn add_to(&self, counts: &mut Counts) {
        for (place, octave) in self.octaves.iter().enumerate() {
            let Some(octave) = octave.get() else { continue };
            for (step, count) in octave.iter().enumerate() {
                counts.add(place * STEPS + step, count.load(Relaxed));
            }
        }
        counts.sum += Duration::from_nanos(self.sum_ns.load(Relaxed));
        counts.max = counts.max.max(Duration::from_nanos(self.max_ns.load(Relaxed)));
    }

    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.add_to(&mut counts);
        counts
    }
}

// === impl Counts ===

impl Counts {
    fn add(&mut self, bucket: usize, count: u64) {
        if count == 0 {
            return;
        }
        if self.buckets.len() <= bucket {
            self.buckets.resize(bucket + 1, 0);
        }
        self.buckets[bucket] += count;
        self.count += count;
    }

    pub fn merge(&mut self, other: &Counts) {
        for (bucket, &count) in other.buckets.iter().enumerate() {
            self.add(bucket, count);
        }
        self.sum += other.sum;
        self.max = self.max.max(other.max);
    }

    /// What was counted after `before` was read. The maximum is that of all, or the end of the last bucket that grew.
    pub fn since(&self, before: &Counts) -> Counts {
        let mut grown = Counts { max: self.max, sum: self.sum.saturating_sub(before.sum), ..Counts::default() };
        for (bucket, &count) in self.buckets.iter().enumerate() {
            grown.add(bucket, count.saturating_sub(before.buckets.get(bucket).copied().unwrap_or(0)));
        }
        grown
    }

    /// The time within which `share` (0..=1) of all lies: off by 1.6 % at most, and never above the maximum. `None`
    /// where nothing was counted.
    pub fn quantile(&self, share: f64) -> Option<Duration> {
        // The rank of the value asked for, from 1: the smallest that has `share` of all at or below it.
        let rank = ((share * self.count as f64).ceil() as u64).clamp(1, self.count.max(1));
        let mut seen = 0;
        let bucket = self.buckets.iter().position(|&count| {
            seen += count;
            seen >= rank
        })?;
        Some(Duration::from_nanos(middle_ns(bucket)).min(self.max))
    }

    pub fn mean(&self) -> Option<Duration> {
        (self.count > 0).then(|| Duration::from_secs_f64(self.sum.as_secs_f64() / self.count as f64))
    }

    /// How many took at most `limit`; a bucket that `limit` cuts counts where its middle is.
    pub fn at_most(&self, limit: Duration) -> u64 {
        let limit = u64::try_from(limit.as_nanos()).unwrap_or(u64::MAX);
        let below = |&(bucket, _): &(usize, &u64)| middle_ns(bucket) <= limit;
        self.buckets.iter().enumerate().take_while(below).map(|(_, count)| count).sum()
    }
}

fn bucket_of(ns: u64) -> usize {
    let ns = ns.max(1 << FIRST_OCTAVE);
    let octave = ns.ilog2();
    let step = (ns >> (octave - STEP_BITS)) as usize & (STEPS - 1);
    let place = (octave - FIRST_OCTAVE) as usize;
    if place >= OCTAVES { OCTAVES * STEPS - 1 } else { place * STEPS + step }
}

fn middle_ns(bucket: usize) -> u64 {
    let octave = FIRST_OCTAVE + u32::try_from(bucket / STEPS).unwrap_or(0);
    let width = 1_u64 << (octave - STEP_BITS);
    (1 << octave) + (bucket % STEPS) as u64 * width + width / 2
}

#[cfg(test)]
mod tests;
