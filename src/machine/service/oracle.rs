//! A naive second opinion: the state of a service, recomputed from everything that ever happened to it. It asks of a
//! level not "what is it" but "was there ever a moment, since it was last enabled, at which a disable in force was
//! complete".

use super::Level;
use super::tests::{Event, deadline_of};
use crate::model::condition::Truth;
use crate::model::state::ServiceState;
use crate::model::time::Wall;

/// What the last matching event says, else the default.
fn last<T: Copy>(history: &[Event], default: T, pick: impl Fn(Event) -> Option<T>) -> T {
    history.iter().rev().find_map(|&event| pick(event)).unwrap_or(default)
}

fn clock(history: &[Event]) -> Wall {
    Wall(history.iter().filter(|&&event| event == Event::Wait).count() as i64 * 1_000_000)
}

pub(super) fn active(history: &[Event]) -> u32 {
    last(history, 0, |event| if let Event::Active(n) = event { Some(n) } else { None })
}

fn monitors(history: &[Event]) -> (Truth, bool) {
    last(history, (Truth::Unknown, false), |event| match event {
        Event::Probe(truth) => Some((truth, false)),
        Event::TrofsAnswer => Some((Truth::True, true)),
        _ => None,
    })
}

fn resolved(history: &[Event]) -> bool {
    last(history, true, |event| if let Event::Resolved(yes) = event { Some(yes) } else { None })
}

fn forced(history: &[Event]) -> Option<bool> {
    last(history, None, |event| if let Event::Force(up) = event { Some(up) } else { None })
}

/// Positions of the disables of a level since it was last enabled.
fn disables(history: &[Event], level: Level) -> Vec<usize> {
    let enabled = history.iter().rposition(|&event| event == Event::Enable(level)).map_or(0, |i| i + 1);
    let of_level = |&i: &usize| matches!(history[i], Event::Disable { level: l, .. } if l == level);
    (enabled..history.len()).filter(of_level).collect()
}

pub(super) fn is_disabled(history: &[Event], level: Level) -> bool {
    !disables(history, level).is_empty()
}

pub(super) fn is_out(history: &[Event], level: Level) -> bool {
    let disables = disables(history, level);
    disables.iter().enumerate().any(|(n, &begun)| {
        let replaced = disables.get(n + 1).copied().unwrap_or(history.len());
        let Event::Disable { delay, graceful, .. } = history[begun] else { unreachable!("a disable") };
        let deadline = deadline_of(clock(&history[..=begun]), delay);
        // Every moment while this disable was in force.
        (begun..replaced).any(|moment| {
            let seen = &history[..=moment];
            (!graceful && deadline.is_none())
                || (graceful && active(seen) == 0)
                || deadline.is_some_and(|deadline| clock(seen) >= deadline)
        })
    })
}

pub(super) fn state(history: &[Event], with_force: bool) -> ServiceState {
    let force = forced(history).filter(|_| with_force);
    let (probe, trofs) = match force {
        Some(up) => (Truth::from(up), false),
        None => monitors(history),
    };
    let levels = [Level::Service, Level::Group, Level::Server];
    let disabled = levels.iter().any(|&level| is_disabled(history, level));
    let out = levels.iter().any(|&level| is_out(history, level));
    match (out, disabled, probe) {
        (true, _, _) => ServiceState::OutOfService,
        (false, true, Truth::False) => ServiceState::TrofsDown,
        (false, true, Truth::Unknown | Truth::True) => ServiceState::Trofs,
        (false, false, _) if !resolved(history) => ServiceState::Unknown,
        (false, false, Truth::Unknown) => ServiceState::Unknown,
        (false, false, Truth::False) => ServiceState::Down,
        (false, false, Truth::True) => {
            if trofs {
                ServiceState::Trofs
            } else {
                ServiceState::Up
            }
        }
    }
}
