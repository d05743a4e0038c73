//! A naive second opinion: everything about a check, recomputed from its whole history with no memory in between.

use std::time::Duration;

use super::tests::Event;
use crate::model::check::Schedule;
use crate::model::condition::{Statistic, Truth, Window};
use crate::model::time::{Tick, micros};

/// Events with their times, oldest first.
pub(super) struct History<'a> {
    pub(super) events: &'a [(Tick, Event)],
    pub(super) schedule: &'a Schedule,
}

// === impl History ===

impl History<'_> {
    /// What the samples say.
    pub(super) fn real(&self) -> Truth {
        let passed: Vec<bool> = self.samples().iter().map(|&(_, sample)| sample.is_some()).collect();
        let run = |upto: usize, value: bool| passed[..upto].iter().rev().take_while(|&&p| p == value).count() as u32;
        let (mut state, mut came_up) = (Truth::Unknown, 0);
        for upto in 1..=passed.len() {
            let window = &passed[came_up.max(upto.saturating_sub(self.schedule.fall as usize))..upto];
            let failures = window.iter().filter(|&&p| !p).count() as u32;
            let falls = match self.schedule.fall_among {
                Some(enough) => failures >= enough,
                None => run(upto, false) >= self.schedule.fall,
            };
            if state != Truth::False && !passed[upto - 1] && falls {
                state = Truth::False;
            } else if state == Truth::Unknown && passed[upto - 1] {
                state = Truth::True;
            } else if state == Truth::False && run(upto, true) >= self.schedule.rise {
                (state, came_up) = (Truth::True, upto);
            }
        }
        state
    }

    pub(super) fn forced(&self) -> Option<bool> {
        self.last_force().and_then(|(_, up)| up)
    }

    pub(super) fn state(&self) -> Truth {
        self.forced().map_or(self.real(), Truth::from)
    }

    pub(super) fn trofs(&self) -> bool {
        let last_pass = self.events.iter().rev().find(|(_, e)| matches!(e, Event::Pass | Event::Trofs));
        self.forced().is_none() && self.real().is_true() && last_pass.is_some_and(|(_, e)| *e == Event::Trofs)
    }

    /// The later of the first sample, the last failed one, and the end of what a force blots out.
    pub(super) fn clean_since(&self) -> Option<Tick> {
        let samples = self.samples();
        let first = samples.first().map(|&(at, _)| at);
        let last_failed = samples.iter().rev().find(|(_, sample)| sample.is_none()).map(|&(at, _)| at);
        // Forced up: since the force began. Forced down: until it ended (or still is).
        let forces: Vec<(Tick, Option<bool>)> = self.effective_forces();
        let blotted = forces
            .iter()
            .enumerate()
            .filter(|&(i, &(_, up))| up.is_some() || (i > 0 && forces[i - 1].1 == Some(false)))
            .map(|(_, &(at, _))| at)
            .next_back();
        match self.forced() {
            Some(true) => blotted,
            Some(false) => blotted.max(last_failed).max(first),
            None => first.map(|first| first.max(last_failed.unwrap_or(first)).max(blotted.unwrap_or(first))),
        }
    }

    pub(super) fn fails(&self, n: u32) -> Truth {
        self.row(n, false)
    }

    pub(super) fn passes(&self, n: u32) -> Truth {
        self.row(n, true)
    }

    pub(super) fn fewer_flaps(&self, now: Tick, fewer_than: usize, within: Duration) -> Truth {
        if self.state() == Truth::Unknown {
            return Truth::Unknown;
        }
        let state = |upto: usize| History { events: &self.events[..upto], schedule: self.schedule }.state();
        let flaps = (1..=self.events.len()).filter(|&i| {
            let known = state(i - 1) != Truth::Unknown && state(i) != Truth::Unknown;
            known && state(i - 1) != state(i) && now.since(self.events[i - 1].0) < within
        });
        (flaps.count() < fewer_than).into()
    }

    pub(super) fn latency(&self, now: Tick, statistic: Statistic, below: Duration, window: Window) -> Truth {
        if self.forced() == Some(false) {
            return Truth::False;
        }
        let all = self.samples();
        let seen: Vec<Option<Duration>> = match window {
            Window::Samples(n) if all.len() < n as usize => return Truth::Unknown,
            Window::Samples(n) => all[all.len() - n as usize..].iter().map(|&(_, s)| s).collect(),
            Window::Span(span) => all.iter().filter(|&&(at, _)| now.since(at) < span).map(|&(_, s)| s).collect(),
        };
        if seen.is_empty() {
            return Truth::Unknown;
        }
        // How many must be below for the percentile to be below: the nearest rank.
        let below_limit = seen.iter().filter(|s| s.is_some_and(|latency| latency < below)).count();
        let rank = |percent: usize| (1..=seen.len()).find(|k| k * 100 >= percent * seen.len()).unwrap();
        match statistic {
            Statistic::Last => seen.last().unwrap().is_some_and(|latency| latency < below).into(),
            Statistic::P50 => (below_limit >= rank(50)).into(),
            Statistic::P95 => (below_limit >= rank(95)).into(),
            Statistic::P99 => (below_limit >= rank(99)).into(),
            Statistic::Average => seen
                .iter()
                .copied()
                .sum::<Option<Duration>>()
                .is_some_and(|sum| micros(sum) < micros(below) * seen.len() as u64)
                .into(),
        }
    }

    fn row(&self, n: u32, value: bool) -> Truth {
        let samples = self.samples();
        match self.forced() {
            Some(up) => (up == value).into(),
            None if samples.is_empty() => Truth::Unknown,
            None => {
                let row = samples.iter().rev().take_while(|(_, sample)| sample.is_some() == value).count();
                (row >= n as usize).into()
            }
        }
    }

    /// Samples that say something: time, and the latency of a passed one.
    fn samples(&self) -> Vec<(Tick, Option<Duration>)> {
        let latency = |at: Tick| Some(super::tests::latency_at(at));
        let sample = |&(at, event): &(Tick, Event)| match event {
            Event::Pass | Event::Trofs => Some((at, latency(at))),
            Event::Fail => Some((at, None)),
            Event::Void | Event::Force(_) => None,
        };
        self.events.iter().filter_map(sample).collect()
    }

    /// Forces that changed the force.
    fn effective_forces(&self) -> Vec<(Tick, Option<bool>)> {
        let mut forces = vec![];
        for &(at, event) in self.events {
            if let Event::Force(up) = event
                && up != forces.last().and_then(|&(_, up): &(Tick, Option<bool>)| up)
            {
                forces.push((at, up));
            }
        }
        forces
    }

    fn last_force(&self) -> Option<(Tick, Option<bool>)> {
        self.effective_forces().last().copied()
    }
}
