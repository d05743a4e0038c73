//! What a check remembers: its last samples and its last changes of state, no more than some term asks for.

use std::collections::VecDeque;
use std::time::Duration;

use crate::model::condition::{Measure, Window};
use crate::model::time::{Tick, micros};

/// Samples kept even where no term asks, so that a term which a reload adds can speak at once: the default window.
const SAMPLES_MIN: usize = 20;
/// One hour, the longest span, of samples at 20 ms, the shortest interval; rounded up.
const SAMPLES_MAX: usize = 200_000;
/// Changes kept even where no term asks.
const CHANGES_MIN: usize = 16;
/// More changes than this in one window count as this many.
const CHANGES_MAX: usize = 100_000;
/// Latency of a failed sample.
pub(super) const INFINITE: u64 = u64::MAX;

/// The last samples, oldest first.
#[derive(Clone, Debug)]
pub(super) struct Samples {
    /// When the result came, and the latency in microseconds.
    ring: VecDeque<(Tick, u64)>,
    keep_count: usize,
    keep_span: Duration,
}

/// The last changes between up and down, oldest first. Leaving unknown is none of them: a start is not a flap.
#[derive(Clone, Debug)]
pub(super) struct Changes {
    ring: VecDeque<Tick>,
    keep: usize,
}

// === impl Samples ===

impl Default for Samples {
    fn default() -> Samples {
        Samples { ring: VecDeque::new(), keep_count: SAMPLES_MIN, keep_span: Duration::ZERO }
    }
}

impl Samples {
    /// As wide, and with nothing in it.
    pub(super) fn emptied(self) -> Samples {
        Samples { ring: VecDeque::new(), ..self }
    }

    pub(super) fn keep(&mut self, measures: &[Measure]) {
        (self.keep_count, self.keep_span) = (SAMPLES_MIN, Duration::ZERO);
        for measure in measures {
            match *measure {
                Measure::Latency { over: Window::Samples(n), .. } => {
                    self.keep_count = self.keep_count.max(n as usize).min(SAMPLES_MAX);
                }
                Measure::Latency { over: Window::Span(span), .. } => self.keep_span = self.keep_span.max(span),
                Measure::Fails(_) | Measure::Passes(_) | Measure::Flaps { .. } => {}
            }
        }
        if let Some(&(newest, _)) = self.ring.back() {
            self.forget(newest);
        }
    }

    /// `None`: the sample failed.
    pub(super) fn push(&mut self, at: Tick, latency: Option<Duration>) {
        // A latency is finite, however long: `INFINITE` is kept for failures.
        self.ring.push_back((at, latency.map_or(INFINITE, |d| micros(d).min(INFINITE - 1))));
        self.forget(at);
    }

    /// The last `count` latencies, newest first; `None` with fewer.
    pub(super) fn last(&self, count: usize) -> Option<impl Iterator<Item = u64> + '_> {
        (self.ring.len() >= count).then(|| self.ring.iter().rev().take(count).map(|&(_, latency)| latency))
    }

    /// The latencies of the last `span`, newest first. A sample leaves exactly `span` after it was taken.
    pub(super) fn within(&self, now: Tick, span: Duration) -> impl Iterator<Item = u64> + '_ {
        self.ring.iter().rev().take_while(move |&&(at, _)| now < at + span).map(|&(_, latency)| latency)
    }

    /// When the next sample leaves the span.
    pub(super) fn next_leaving(&self, now: Tick, span: Duration) -> Option<Tick> {
        let gone = self.ring.partition_point(|&(at, _)| at + span <= now);
        self.ring.get(gone).map(|&(at, _)| at + span)
    }

    fn forget(&mut self, now: Tick) {
        while let Some(&(oldest, _)) = self.ring.front() {
            let wanted = self.ring.len() <= self.keep_count || now < oldest + self.keep_span;
            if wanted && self.ring.len() <= SAMPLES_MAX {
                break;
            }
            self.ring.pop_front();
        }
    }
}

// === impl Changes ===

impl Default for Changes {
    fn default() -> Changes {
        Changes { ring: VecDeque::new(), keep: CHANGES_MIN }
    }
}

impl Changes {
    /// As wide, and with nothing in it.
    pub(super) fn emptied(self) -> Changes {
        Changes { ring: VecDeque::new(), ..self }
    }

    /// The last `fewer_than` changes are enough to know whether there were fewer.
    pub(super) fn keep(&mut self, measures: &[Measure]) {
        let asked = measures.iter().filter_map(|measure| match *measure {
            Measure::Flaps { fewer_than, .. } => Some(fewer_than as usize),
            Measure::Fails(_) | Measure::Passes(_) | Measure::Latency { .. } => None,
        });
        self.keep = asked.max().unwrap_or(0).clamp(CHANGES_MIN, CHANGES_MAX);
        self.forget();
    }

    pub(super) fn push(&mut self, at: Tick) {
        self.ring.push_back(at);
        self.forget();
    }

    /// Changes within the last `within`; counts to `keep` at most.
    pub(super) fn count(&self, now: Tick, within: Duration) -> usize {
        self.ring.len() - self.gone(now, within)
    }

    /// When time alone will have left fewer than `limit` in the window; `None` where that is so already.
    pub(super) fn fewer_at(&self, now: Tick, limit: usize, within: Duration) -> Option<Tick> {
        let excess = self.count(now, within).checked_sub(limit)?;
        self.ring.get(self.gone(now, within) + excess).map(|&at| at + within)
    }

    fn gone(&self, now: Tick, within: Duration) -> usize {
        self.ring.partition_point(|&at| at + within <= now)
    }

    fn forget(&mut self) {
        while self.ring.len() > self.keep {
            self.ring.pop_front();
        }
    }
}
