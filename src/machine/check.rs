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
//! `deviation` turns a passed sample that came later than the learned average allows into a failed one; `reverse` swaps
//! passed and failed after that, before anything else looks at a sample. A TROFS answer is a passed one in both.
//!
//! A check that is disabled is unknown and takes no samples. Enabled again it is `joining` until the first one: those
//! who count monitors leave it out meanwhile, so that enabling a monitor takes no service out of traffic.
//!
//! While a check is forced the chart goes on underneath. Forced down is as if every sample failed until the release,
//! forced up as if every sample passed since the force began.

mod latency;
mod learned;
mod samples;

#[cfg(test)]
mod oracle;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::time::Duration;

use self::learned::Learned;
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
    learned: Learned,
    /// The last sample took more than `timeout_threshold` allows.
    slow: bool,
}

/// What a person should hear of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// So many samples in a row have failed by now (`alert_after`).
    Failing(u32),
    /// The first sample after quicker ones that took more than `timeout_threshold` percent of the time-out.
    Slow,
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
    pub notice: Option<Notice>,
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
            learned: Learned::default(),
            slow: false,
        }
    }

    /// Takes it out: unknown, and no sample of it counts until it is enabled. What was counted stays counted.
    pub fn disable(&mut self, now: Now) {
        if !self.view.disabled {
            let fresh = CheckMachine::new(now);
            let old = std::mem::replace(self, fresh);
            self.view.samples_total = old.view.samples_total;
            self.view.failed_total = old.view.failed_total;
            (self.view.forced, self.forced_until) = (old.view.forced, old.forced_until);
            (self.samples, self.changes) = (old.samples.emptied(), old.changes.emptied());
            (self.view.disabled, self.view.state) = (true, self.state());
        }
    }

    pub fn enable(&mut self) {
        self.view.joining |= std::mem::take(&mut self.view.disabled);
    }

    /// Takes a sample. `Outcome::Void` changes nothing but the last sample shown.
    pub fn observe(&mut self, now: Now, schedule: &Schedule, verdict: &Verdict) -> Observed {
        if self.view.disabled {
            return Observed::default();
        }
        let before = self.shown();
        let late = self.is_late(schedule, verdict);
        let outcome = judge(if late { Outcome::Fail } else { verdict.outcome }, schedule.reverse);
        match outcome {
            Outcome::Pass | Outcome::Trofs => {
                self.asks_drain = outcome == Outcome::Trofs;
                self.passed(now.tick, schedule, verdict.latency);
            }
            Outcome::Fail => self.failed(now.tick, schedule),
            Outcome::Void => {}
        }
        let latency = verdict.latency;
        let detail = if late { too_late(&verdict.detail, latency) } else { verdict.detail.clone() };
        let targets = verdict.targets.clone();
        self.view.last = Some(Sample { at: now, outcome, latency, detail, load: verdict.load, targets });
        self.view.joining &= outcome == Outcome::Void;
        let notice = self.notice(schedule, outcome, latency);
        Observed { notice, ..self.settle(now, before) }
    }

    /// Learns from an answer, and says whether it came too late by what was learned before.
    fn is_late(&mut self, schedule: &Schedule, verdict: &Verdict) -> bool {
        if !schedule.learn || !matches!(verdict.outcome, Outcome::Pass | Outcome::Trofs) {
            return false;
        }
        let late = self.learned.take(verdict.latency, schedule.deviation);
        self.view.learned = self.learned.average();
        late
    }

    fn notice(&mut self, schedule: &Schedule, outcome: Outcome, latency: Duration) -> Option<Notice> {
        if outcome == Outcome::Void {
            return None;
        }
        if outcome == Outcome::Fail && schedule.alert_after > 0 && self.view.fails_in_row == schedule.alert_after {
            return Some(Notice::Failing(schedule.alert_after));
        }
        let limit = schedule.timeout * u32::from(schedule.timeout_threshold) / 100;
        let was_slow = std::mem::replace(&mut self.slow, schedule.timeout_threshold > 0 && latency > limit);
        (self.slow && !was_slow).then_some(Notice::Slow)
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
            notice: None,
        }
    }
}

fn too_late(detail: &str, latency: Duration) -> Arc<str> {
    format!("later than the learned average and the deviation allow, after {} ms: {detail}", latency.as_millis()).into()
}

/// The outcome as it counts: `reverse` swaps passed and failed. A void sample is no evidence either way round.
fn judge(outcome: Outcome, reverse: bool) -> Outcome {
    match (outcome, reverse) {
        (_, false) | (Outcome::Void, true) => outcome,
        (Outcome::Pass | Outcome::Trofs, true) => Outcome::Fail,
        (Outcome::Fail, true) => Outcome::Pass,
    }
}
