//! The check machine: samples in, an anti-flapped state out.
//!
//! One lost packet must not take a server out, and one lucky answer must not bring it back; so several samples in a row
//! decide (`fall`, `rise`). A check that nobody has heard of yet is neither up nor down, and there the first passed
//! sample is believed at once: a start must not delay traffic that could flow. The state that samples lead to (`real`)
//! is kept apart from what a person forced, so that the end of a force shows the truth of that moment and not of the
//! moment the force began.
//!
//! # State chart (of `real`)
//!
//! | from | event | condition | to | effect |
//! |---|---|---|---|---|
//! | unknown | passed | | up | |
//! | unknown | failed | `fall` failures in a row, or `fall_among` among the last `fall` | down | |
//! | unknown | failed | otherwise | unknown | |
//! | up | passed | | up | the drain request follows the answer |
//! | up | failed | `fall` failures in a row, or `fall_among` among the last `fall` since it came up | down | drain request ends |
//! | up | failed | otherwise | up | `clean_since` moves: holds restart |
//! | down | passed | `rise` passes in a row | up | the window of `fall_among` starts anew |
//! | down | passed | otherwise | down | the next samples come at `interval` |
//! | down | failed | | down | the next sample comes after `down_time` |
//! | any | void | | same | only the last sample shown |
//!
//! `reverse` swaps passed and failed before anything else looks at a sample; a TROFS answer is a passed one there.
//!
//! While a check is forced the chart goes on underneath. Forced down is as if every sample failed until the release,
//! forced up as if every sample passed since the force began.

mod latency;
mod samples;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

use std::time::Duration;

use self::samples::{Changes, Samples};
use crate::model::check::Schedule;
use crate::model::condition::{Measure, Truth, Window};
use crate::model::event::{Outcome, Verdict};
use crate::model::state::{CheckView, Sample};
use crate::model::time::{Now, Tick, micros};

/// One check at run time.
#[derive(Clone, Debug)]
pub struct CheckMachine {
    view: CheckView,
    /// The last samples since it came up, newest in bit 0; a set bit is a failure. `fall` is at most 127.
    recent_failures: u128,
    /// The last passed sample was a TROFS answer.
    asks_drain: bool,
    /// The later of the last failed sample and the first sample.
    evidence_since: Option<Tick>,
    /// Evidence of the samples before this does not count, because a force came between.
    forced_until: Option<Tick>,
    samples: Samples,
    changes: Changes,
}

/// What a sample changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Observed {
    /// `state()` differs from before.
    pub state_changed: bool,
    /// The drain request of a monitor (TROFS answer) began or ended.
    pub trofs_changed: bool,
    /// `clean_since()` moved although the state is up: a failed sample that restarts holds.
    pub hold_restarted: bool,
}

/// What others can see of a check, to compare before and after.
#[derive(Clone, Copy)]
struct Shown {
    state: Truth,
    trofs: bool,
    clean_since: Option<Tick>,
}

// === impl CheckMachine ===

impl CheckMachine {
    pub fn new(now: Now) -> CheckMachine {
        CheckMachine {
            view: CheckView { since: now, ..CheckView::default() },
            recent_failures: 0,
            asks_drain: false,
            evidence_since: None,
            forced_until: None,
            samples: Samples::default(),
            changes: Changes::default(),
        }
    }

    /// Takes a sample. `Outcome::Void` changes nothing but the last sample shown.
    pub fn observe(&mut self, now: Now, schedule: &Schedule, verdict: &Verdict) -> Observed {
        let before = self.shown();
        let outcome = judge(verdict.outcome, schedule.reverse);
        match outcome {
            Outcome::Pass | Outcome::Trofs => {
                self.asks_drain = outcome == Outcome::Trofs;
                self.passed(now.tick, schedule, verdict.latency);
            }
            Outcome::Fail => self.failed(now.tick, schedule),
            Outcome::Void => {}
        }
        let (latency, detail) = (verdict.latency, verdict.detail.clone());
        self.view.last = Some(Sample { at: now, outcome, latency, detail, load: verdict.load });
        self.settle(now, before)
    }

    /// `None` ends the force; the real state, kept meanwhile, shows again. Forced down: every `fails` holds, no
    /// `passes`, latency is infinite. Forced up: the other way round, latency as measured; holds begin at the force.
    /// The same force again changes nothing.
    pub fn force(&mut self, now: Now, up: Option<bool>) -> Observed {
        if self.view.forced == up {
            return Observed::default();
        }
        let before = self.shown();
        if up.is_some() || self.view.forced == Some(false) {
            self.forced_until = Some(now.tick);
        }
        self.view.forced = up;
        self.settle(now, before)
    }

    /// How much to remember: the largest windows that any term asks for. Bounded by the ranges in `model::condition`.
    pub fn remember(&mut self, measures: &[Measure]) {
        self.samples.keep(measures);
        self.changes.keep(measures);
    }

    /// Up, down, unknown; with the force applied.
    pub fn state(&self) -> Truth {
        match self.view.forced {
            Some(up) => up.into(),
            None => self.view.real,
        }
    }

    /// The check is up and its last passed sample asked for a drain. A force silences it: who says "up" means up.
    pub fn trofs(&self) -> bool {
        self.asks_drain && self.view.forced.is_none() && self.view.real.is_true()
    }

    /// The later of the last failed sample and the first sample after unknown; `None` before any sample.
    pub fn clean_since(&self) -> Option<Tick> {
        match self.view.forced {
            Some(true) => self.forced_until,
            Some(false) => self.evidence_since.max(self.forced_until),
            None => self.evidence_since.map(|at| Some(at).max(self.forced_until)).unwrap_or_default(),
        }
    }

    /// When the next sample is due after one that was due at `due` and whose result came at `now`: the same phase,
    /// never in the past, and `down_time` later while down.
    pub fn next_due(&self, now: Tick, due: Tick, schedule: &Schedule) -> Tick {
        let interval = micros(schedule.interval).max(1);
        let step = match schedule.down_time {
            Some(wait) if self.view.real.is_false() && self.view.passes_in_row == 0 => micros(wait).max(1),
            _ => interval,
        };
        let next = due.0.saturating_add(step);
        if next > now.0 {
            return Tick(next);
        }
        let missed = (now.0 - next) / interval + 1;
        Tick(next.saturating_add(missed.saturating_mul(interval)))
    }

    /// The measure alone (without the predicate). `before` is its last value: latency with `leave_at` stays true until
    /// that is reached.
    pub fn measure(&self, now: Tick, measure: &Measure, before: Truth) -> Truth {
        match *measure {
            Measure::Fails(n) => self.in_a_row(self.view.fails_in_row, n, false),
            Measure::Passes(n) => self.in_a_row(self.view.passes_in_row, n, true),
            Measure::Flaps { fewer_than, within } => match self.state() {
                Truth::Unknown => Truth::Unknown,
                Truth::False | Truth::True => (self.changes.count(now, within) < fewer_than as usize).into(),
            },
            Measure::Latency { .. } if self.view.forced == Some(false) => Truth::False,
            Measure::Latency { statistic, below, over, leave_at } => {
                let limit = match leave_at {
                    Some(leave_at) if before.is_true() => leave_at,
                    _ => below,
                };
                match latency::over(&self.samples, now, statistic, over) {
                    Some(latency) => (latency < micros(limit)).into(),
                    None => Truth::Unknown,
                }
            }
        }
    }

    /// When the measure may change by time alone (flaps or samples leaving their window).
    pub fn measure_wake(&self, now: Tick, measure: &Measure) -> Option<Tick> {
        match *measure {
            Measure::Fails(_) | Measure::Passes(_) => None,
            Measure::Flaps { fewer_than, within } => self.changes.fewer_at(now, fewer_than as usize, within),
            Measure::Latency { over: Window::Samples(_), .. } => None,
            Measure::Latency { over: Window::Span(span), .. } => self.samples.next_leaving(now, span),
        }
    }

    pub fn view(&self) -> &CheckView {
        &self.view
    }

    fn passed(&mut self, at: Tick, schedule: &Schedule, latency: Duration) {
        self.view.samples_total += 1;
        self.view.passes_in_row = self.view.passes_in_row.saturating_add(1);
        self.view.fails_in_row = 0;
        self.recent_failures <<= 1;
        self.evidence_since.get_or_insert(at);
        self.samples.push(at, Some(latency));
        self.view.real = match self.view.real {
            Truth::Unknown | Truth::True => Truth::True,
            Truth::False if self.view.passes_in_row < schedule.rise => Truth::False,
            Truth::False => {
                // What took it down must not count against it again.
                self.recent_failures = 0;
                Truth::True
            }
        };
    }

    fn failed(&mut self, at: Tick, schedule: &Schedule) {
        self.view.samples_total += 1;
        self.view.failed_total += 1;
        self.view.fails_in_row = self.view.fails_in_row.saturating_add(1);
        self.view.passes_in_row = 0;
        self.recent_failures = self.recent_failures << 1 | 1;
        self.evidence_since = Some(at);
        self.samples.push(at, None);
        if self.enough_failures(schedule) {
            self.view.real = Truth::False;
        }
    }

    fn enough_failures(&self, schedule: &Schedule) -> bool {
        match schedule.fall_among {
            None => self.view.fails_in_row >= schedule.fall,
            Some(failures) => {
                let window = 1_u128.checked_shl(schedule.fall).map_or(u128::MAX, |bit| bit - 1);
                (self.recent_failures & window).count_ones() >= failures
            }
        }
    }

    fn in_a_row(&self, row: u32, wanted: u32, passes: bool) -> Truth {
        match self.view.forced {
            Some(up) => (up == passes).into(),
            None if self.view.samples_total == 0 => Truth::Unknown,
            None => (row >= wanted).into(),
        }
    }

    fn shown(&self) -> Shown {
        Shown { state: self.state(), trofs: self.trofs(), clean_since: self.clean_since() }
    }

    /// Brings the view up to date and says what became different.
    fn settle(&mut self, now: Now, before: Shown) -> Observed {
        let after = self.shown();
        self.view.state = after.state;
        self.view.trofs = after.trofs;
        if after.state != before.state {
            self.view.since = now;
            if before.state != Truth::Unknown && after.state != Truth::Unknown {
                self.changes.push(now.tick);
            }
        }
        Observed {
            state_changed: after.state != before.state,
            trofs_changed: after.trofs != before.trofs,
            hold_restarted: before.state.is_true() && after.state.is_true() && after.clean_since != before.clean_since,
        }
    }
}

/// The outcome as it counts: `reverse` swaps passed and failed. A void sample is no evidence either way round.
fn judge(outcome: Outcome, reverse: bool) -> Outcome {
    match (outcome, reverse) {
        (_, false) | (Outcome::Void, true) => outcome,
        (Outcome::Pass | Outcome::Trofs, true) => Outcome::Fail,
        (Outcome::Fail, true) => Outcome::Pass,
    }
}
