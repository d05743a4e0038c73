//! How late probes begin: from when they were due to when they did. What it counts is this machine's punctuality, never
//! the peers'.

use std::time::Duration;

/// Upper bounds of the buckets, and how they are written. Fixed: what reads them adds up boxes and compares weeks.
pub const BOUNDS: [(Duration, &str); 13] = [
    (Duration::from_micros(500), "0.0005"),
    (Duration::from_millis(1), "0.001"),
    (Duration::from_micros(2_500), "0.0025"),
    (Duration::from_millis(5), "0.005"),
    (Duration::from_millis(10), "0.01"),
    (Duration::from_millis(25), "0.025"),
    (Duration::from_millis(50), "0.05"),
    (Duration::from_millis(100), "0.1"),
    (Duration::from_millis(250), "0.25"),
    (Duration::from_millis(500), "0.5"),
    (Duration::from_secs(1), "1"),
    (Duration::from_millis(2_500), "2.5"),
    (Duration::from_secs(10), "10"),
];

/// Probes by how late they began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// By bucket; the last is beyond the last bound.
    counts: [u64; BOUNDS.len() + 1],
    pub sum: Duration,
}

// === impl Lateness ===

impl Lateness {
    pub fn record(&mut self, late_by: Duration) {
        let bucket = BOUNDS.partition_point(|(bound, _)| *bound < late_by);
        self.counts[bucket] += 1;
        self.sum += late_by;
    }

    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Cumulative, bound by bound; what is beyond the last is in [`Lateness::count`] alone.
    pub fn cumulative(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let mut seen = 0;
        BOUNDS.iter().zip(&self.counts).map(move |((_, le), count)| {
            seen += count;
            (*le, seen)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_probe_is_counted_in_every_bucket_that_it_was_early_enough_for() {
        let mut lateness = Lateness::default();
        for late_by in [0, 500, 501, 49_999, 60_000_000] {
            lateness.record(Duration::from_micros(late_by));
        }
        let at = |bound| lateness.cumulative().find(|(le, _)| *le == bound).map(|(_, count)| count);
        assert_eq!((at("0.0005"), at("0.001"), at("0.05"), at("10")), (Some(2), Some(3), Some(4), Some(4)));
        assert_eq!((lateness.count(), lateness.sum), (5, Duration::from_micros(60_051_000)));
    }
}
