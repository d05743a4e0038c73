//! Timers: when time alone changes something.

use super::Engine;
use crate::machine::{Effect, window};
use crate::model::id::{CheckId, ScenarioId, ServiceId, TimeWindowId, WatchedId};
use crate::model::state::OverrideKey;
use crate::model::time::{Now, Tick, Wall};

/// On the monotonic clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// A sample leaves the window of a measure.
    Measure(CheckId),
    /// A hold, dwell, deadline, backoff or oscillation window ends.
    Scenario(ScenarioId),
    /// A hold of a watched term ends.
    Watched(WatchedId),
    /// A derived check takes its sample.
    Look(CheckId),
}

/// On the wall clock.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum WallTimer {
    /// A drain's deadline.
    Service(ServiceId),
    /// A time window opens or closes.
    Window(TimeWindowId),
    /// An override expires.
    Override(OverrideKey),
    /// A drill's planned end.
    Drill,
}

// === impl Engine ===

impl Engine {
    /// Works off everything that is due up to `due`, in order of time and each at its own time, so that a late wake
    /// decides as a punctual one would have. The step itself is at `now`.
    pub(super) fn work_off_timers(&mut self, due: Now, now: Now, effects: &mut Vec<Effect>) {
        let before = effects.len();
        while let Some(at) = self.next_due(due) {
            self.now = at;
            let from = effects.len();
            while let Some(&(tick, timer)) = self.timers.first()
                && tick <= at.tick
            {
                self.timers.pop_first();
                self.fire(timer, effects);
            }
            while let Some((wall, _)) = self.wall_timers.first()
                && *wall <= at.wall
            {
                let (_, timer) = self.wall_timers.pop_first().expect("just seen");
                self.fire_wall(timer, effects);
            }
            self.settle(effects);
            if at != now && effects.len() > from {
                effects.insert(from, Effect::At(at));
            }
        }
        if matches!(effects.get(before), Some(Effect::At(_))) {
            effects.push(Effect::At(now));
        }
    }

    /// The time of the earliest timer that is due at `now`, on both clocks.
    fn next_due(&self, now: Now) -> Option<Now> {
        let tick = self.timers.first().map(|(tick, _)| *tick).filter(|tick| *tick <= now.tick);
        let wall = self.wall_timers.first().map(|(wall, _)| *wall).filter(|wall| *wall <= now.wall);
        let wall = wall.map(|wall| Tick(now.tick.0.saturating_sub(crate::model::time::micros(now.wall.since(wall)))));
        let tick = tick.into_iter().chain(wall).min()?.max(self.now.tick);
        Some(Now::new(tick, now.wall - now.tick.since(tick)))
    }

    fn fire(&mut self, timer: Timer, effects: &mut Vec<Effect>) {
        match timer {
            Timer::Measure(id) => {
                self.checks[id.index()].timer = None;
                self.refresh_check_rows(id);
            }
            Timer::Scenario(id) => {
                self.scenarios[id.index()].timer = None;
                self.touch_scenario(id);
            }
            Timer::Watched(id) => {
                self.watched[id.index()].timer = None;
                self.dirty.watched.insert(id);
            }
            Timer::Look(id) => {
                self.checks[id.index()].look = None;
                self.look(id, effects);
            }
        }
    }

    fn fire_wall(&mut self, timer: WallTimer, effects: &mut Vec<Effect>) {
        match timer {
            WallTimer::Service(id) => {
                self.services[id.index()].timer = None;
                self.dirty.services.insert(id);
            }
            WallTimer::Window(id) => self.refresh_window(id),
            WallTimer::Override(key) => self.expire(&key, effects),
            WallTimer::Drill => {
                let model = std::sync::Arc::clone(self.model());
                self.touch_drilled(&model);
            }
        }
    }

    /// Evaluates a time window and arms the timer for its next change.
    pub(super) fn refresh_window(&mut self, id: TimeWindowId) {
        let model = std::sync::Arc::clone(self.model());
        let definition = &model.time_windows[id.index()];
        let open = window::is_open(definition, self.now.wall).into();
        self.view.time_windows[id.index()] = open;
        if let Some(row) = self.window_rows[id.index()] {
            self.set_row(row, open, None);
        }
        if let Some(next) = window::next_change(definition, self.now.wall) {
            self.wall_timers.insert((next, WallTimer::Window(id)));
        }
    }

    pub(super) fn set_scenario_timer(&mut self, id: ScenarioId, at: Option<Tick>) {
        let run = &mut self.scenarios[id.index()];
        replace(&mut self.timers, &mut run.timer, at, Timer::Scenario(id));
    }

    pub(super) fn set_watched_timer(&mut self, id: WatchedId, at: Option<Tick>) {
        let run = &mut self.watched[id.index()];
        replace(&mut self.timers, &mut run.timer, at, Timer::Watched(id));
    }

    pub(super) fn set_measure_timer(&mut self, id: CheckId, at: Option<Tick>) {
        let run = &mut self.checks[id.index()];
        replace(&mut self.timers, &mut run.timer, at, Timer::Measure(id));
    }

    /// Where a replay takes the rows of checks from the journal, derived ones are not looked at.
    pub(super) fn set_look_timer(&mut self, id: CheckId, at: Tick) {
        let at = (!self.replaying).then_some(at.max(Tick(self.now.tick.0 + 1)));
        let run = &mut self.checks[id.index()];
        replace(&mut self.timers, &mut run.look, at, Timer::Look(id));
    }

    pub(super) fn set_service_timer(&mut self, id: ServiceId, at: Option<Wall>) {
        let run = &mut self.services[id.index()];
        if run.timer != at {
            if let Some(former) = run.timer {
                self.wall_timers.remove(&(former, WallTimer::Service(id)));
            }
            if let Some(at) = at {
                self.wall_timers.insert((at, WallTimer::Service(id)));
            }
            run.timer = at;
        }
    }
}

fn replace(
    timers: &mut std::collections::BTreeSet<(Tick, Timer)>,
    slot: &mut Option<Tick>,
    at: Option<Tick>,
    timer: Timer,
) {
    if *slot != at {
        if let Some(former) = *slot {
            timers.remove(&(former, timer));
        }
        if let Some(at) = at {
            timers.insert((at, timer));
        }
        *slot = at;
    }
}
