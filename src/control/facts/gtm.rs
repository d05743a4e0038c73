//! Scenarios, pairs of data centres, and what DNS answers.

use super::Found;
use crate::control::World;
use crate::model::alert::{AlertKind, AlertSeverity, AlertSubject};
use crate::model::condition::{Signal, Truth};
use crate::model::id::WatchedId;
use crate::model::scenario::{Direction, Mode, Pair, Scenario};
use crate::model::state::{PairView, ScenarioView};

pub(super) fn scenarios(world: &World<'_>, found: &mut Found<'_>) {
    for (scenario, view) in world.model.scenarios.iter().zip(&world.view.scenarios) {
        let subject = |kind| AlertSubject::new(kind, "scenario", &scenario.name);
        match &view.refused {
            Some(refused) if found.wants(AlertKind::GuardRefused) => {
                let to = refused.direction.word();
                let text = format!("its guard keeps it from going to {to}: {}", refused.detail);
                found.is_so(subject(AlertKind::GuardRefused), AlertSeverity::Warning, text, Some(refused.since));
            }
            None if found.wants(AlertKind::GuardRefused) && may_be_refused(scenario, view) => {
                found.unknown(subject(AlertKind::GuardRefused));
            }
            _ => {}
        }
        let states = [
            (AlertKind::ScenarioStuck, view.stuck, AlertSeverity::Warning, "both directions are on: nothing moves"),
            (
                AlertKind::ScenarioReadyToReturn,
                view.ready_to_return,
                AlertSeverity::Info,
                "ready to return; a person brings it back",
            ),
            (
                AlertKind::Oscillation,
                view.oscillating,
                AlertSeverity::Warning,
                "too many automatic commits in a short time: held in its state",
            ),
        ];
        for (kind, is_so, severity, text) in states {
            if is_so && found.wants(kind) {
                found.is_so(subject(kind), severity, text.to_owned(), None);
            }
        }
        let undecided = |direction: Direction| {
            let groups = view.groups[direction.index()].iter().map(|group| group.value);
            groups.fold(Truth::False, Truth::or) == Truth::Unknown
        };
        let waits = view.active && view.modes[Direction::Deactivate.index()].mode == Mode::Off;
        if waits && undecided(Direction::Deactivate) && found.wants(AlertKind::ScenarioReadyToReturn) {
            found.unknown(subject(AlertKind::ScenarioReadyToReturn));
        }
    }
}

/// A guard that runs, or will as soon as more is known: whether it refuses is not known yet. After a restart this is what
/// keeps an alert standing until the first attempt has ended.
fn may_be_refused(scenario: &Scenario, view: &ScenarioView) -> bool {
    let out = Direction::out_of(view.active);
    let value = view.groups[out.index()].iter().map(|group| group.value).fold(Truth::False, Truth::or);
    let mode = &view.modes[out.index()];
    let wanted = match mode.mode {
        Mode::Auto => value != Truth::False,
        Mode::On => !mode.spent,
        Mode::Off => false,
    };
    scenario.directions[out.index()].guard.is_some() && (view.attempt.is_some() || wanted)
}

/// What is seen of the active site contradicts itself: its access fails from here although this site is well, and yet
/// somebody hears it. Either its users are cut off, or only the path from here is: nobody can tell from here which.
pub(super) fn pairs(world: &World<'_>, found: &mut Found<'_>) {
    if !found.wants(AlertKind::Disputed) {
        return;
    }
    for (pair, view) in world.model.pairs.iter().zip(&world.view.pairs) {
        let subject = AlertSubject::new(AlertKind::Disputed, "datacenter_pair", &pair.name);
        if !pair.disputed.is_empty() {
            contradicted(world, pair, *view, subject, found);
            continue;
        }
        match disputed(world, pair) {
            (Truth::True, text) => found.is_so(subject, AlertSeverity::Warning, text, None),
            (Truth::Unknown, _) => found.unknown(subject),
            (Truth::False, _) => {}
        }
    }
}

/// Where the active site is heard, its own word is what contradicts; the engine has judged both together.
fn contradicted(world: &World<'_>, pair: &Pair, view: PairView, subject: AlertSubject, found: &mut Found<'_>) {
    let value = |id: &WatchedId| world.view.watched.get(id.index()).copied().unwrap_or_default();
    if view.disputed {
        let name = &world.model.datacenters[pair.active.index()].name;
        let text = format!("disputed: {name} cannot be reached from here and says that it is well; nothing moves");
        found.is_so(subject, AlertSeverity::Warning, text, Some(view.since.wall));
    } else if pair.disputed.iter().map(value).fold(Truth::True, Truth::and) == Truth::Unknown {
        found.unknown(subject);
    }
}

fn disputed(world: &World<'_>, pair: &Pair) -> (Truth, String) {
    let signal = |datacenter: crate::model::id::DatacenterId, signal: Signal| {
        world.view.signals.get(datacenter.index()).map_or(Truth::Unknown, |signals| signals[signal as usize])
    };
    let site = &world.model.datacenters[pair.active.index()];
    let fails = !signal(pair.active, pair.access);
    let well = signal(pair.backup, Signal::Internet);
    let at_work = !signal(pair.active, Signal::Maintenance);
    let other = if pair.access == Signal::Lan { Signal::Wan } else { Signal::Lan };
    // Without an access list of its own its Internet is what is seen of its WAN, which says nothing more.
    let (heard, how) = match &site.internet {
        Some(_) => (signal(pair.active, Signal::Internet), "its Internet is well".to_owned()),
        None => (signal(pair.active, other), format!("its {} answers", other.word())),
    };
    let (access, name) = (pair.access.word(), &site.name);
    let text = format!(
        "{access} of {name} fails from here, and yet {how}: its users may be cut off, or only the path from here is"
    );
    (fails.and(well).and(at_work).and(heard), text)
}

pub(super) fn rrsets(world: &World<'_>, found: &mut Found<'_>) {
    // Between a new configuration and its first snapshot the two speak of different records.
    if !found.wants(AlertKind::ServeAll) || !std::sync::Arc::ptr_eq(&world.snapshot.model, world.model) {
        return;
    }
    let mut chosen = Vec::new();
    for (zone_at, zone) in world.model.zones.iter().enumerate() {
        for (at, rrset) in zone.rrsets.iter().enumerate() {
            let decision = world.snapshot.decide(zone_at, at, &mut chosen);
            let subject = || {
                let name = format!("{} of {}", rrset.key, zone.name).into();
                AlertSubject::new(AlertKind::ServeAll, "rrset", &name)
            };
            if let Some(fallback) = decision.fallback {
                let set = world.snapshot.set_name(decision.base);
                let text = format!("every record of {set} is left out: on_empty = {} answers", fallback.word());
                found.is_so(subject(), AlertSeverity::Error, text, None);
                continue;
            }
            let value = |id: crate::model::id::WatchedId| world.view.watched.get(id.index()).copied();
            let checks = rrset.records.iter().filter_map(|record| record.check);
            if checks.into_iter().any(|check| value(check).unwrap_or_default() == Truth::Unknown) {
                found.unknown(subject());
            }
        }
    }
}
