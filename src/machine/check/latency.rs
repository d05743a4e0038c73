//! Statistics over latencies. A failed sample counts as infinitely slow, so that a server that answers quickly or not
//! at all is not called fast: one failure in the window makes the average infinite, six among a hundred the 95th
//! percentile.

use super::samples::{INFINITE, Samples};
use crate::model::condition::{Statistic, Window};
use crate::model::time::Tick;

/// The statistic in microseconds, `INFINITE` where failures decide it; `None` with too few samples. `last` needs one
/// sample only, whatever the window.
pub(super) fn over(samples: &Samples, now: Tick, statistic: Statistic, window: Window) -> Option<u64> {
    match (statistic, window) {
        (Statistic::Last, Window::Samples(_)) => samples.last(1)?.next(),
        (Statistic::Last, Window::Span(span)) => samples.within(now, span).next(),
        (_, Window::Samples(count)) => reduce(statistic, samples.last(count.max(1) as usize)?.collect()),
        (_, Window::Span(span)) => reduce(statistic, samples.within(now, span).collect()),
    }
}

fn reduce(statistic: Statistic, mut latencies: Vec<u64>) -> Option<u64> {
    let count = latencies.len();
    if count == 0 {
        return None;
    }
    let percentile = match statistic {
        Statistic::Last => return latencies.first().copied(),
        Statistic::Average if latencies.contains(&INFINITE) => return Some(INFINITE),
        Statistic::Average => {
            let sum: u128 = latencies.iter().map(|&latency| u128::from(latency)).sum();
            // Rounding down keeps every comparison with a whole limit right: ⌊x⌋ < n exactly where x < n.
            return u64::try_from(sum / count as u128).ok();
        }
        Statistic::P50 => 50,
        Statistic::P95 => 95,
        Statistic::P99 => 99,
    };
    // Nearest rank: the smallest latency that at least so many percent of the samples do not exceed.
    let rank = (count * percentile).div_ceil(100).max(1);
    Some(*latencies.select_nth_unstable(rank - 1).1)
}
