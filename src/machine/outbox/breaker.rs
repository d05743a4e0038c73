//! The circuit breaker of one endpoint.

use std::time::Duration;

use crate::model::delivery::BreakerView;
use crate::model::time::{Now, Tick};

/// Failures in a row that open it.
pub const FAILURES_MOST: u32 = 5;
const FIRST: Duration = Duration::from_secs(10);
const LONGEST: Duration = Duration::from_secs(300);

/// Kept only while the last attempt failed.
#[derive(Clone, Copy, Debug, Default)]
pub struct Breaker {
    failures: u32,
    /// Open until then; afterwards one attempt may go.
    open: Option<(Tick, Duration)>,
    /// That one is out.
    trying: bool,
}

// === impl Breaker ===

impl Breaker {
    pub fn failed(&mut self, now: Tick) {
        self.failures = self.failures.saturating_add(1);
        if self.failures < FAILURES_MOST {
            return;
        }
        self.open = match self.open {
            // It was on its way when the breaker opened.
            Some(open) if !self.trying && now < open.0 => Some(open),
            Some((_, lasted)) => {
                let lasts = (lasted * 2).min(LONGEST);
                Some((now + lasts, lasts))
            }
            None => Some((now + FIRST, FIRST)),
        };
        self.trying = false;
    }

    /// An attempt goes out.
    pub fn sent(&mut self) {
        self.trying |= self.open.is_some();
    }

    pub fn not_before(&self) -> Tick {
        self.open.map_or(Tick::ZERO, |(until, _)| until)
    }

    /// Attempts that may be out at once, where a closed one lets `closed` go.
    pub fn at_once(&self, closed: usize) -> usize {
        if self.open.is_some() { 1 } else { closed }
    }

    pub fn view(&self, now: Now) -> BreakerView {
        let word = match self.open {
            None => "closed",
            Some((until, _)) if now.tick < until && !self.trying => "open",
            Some(_) => "half open",
        };
        let left = self.open.map(|(until, _)| until.since(now.tick));
        BreakerView { word, failures: self.failures, until: left.map(|left| now.wall + left) }
    }
}
