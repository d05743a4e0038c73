//! Every sequence of events up to a useful length against the oracle, then claims one by one: first the owner's edges,
//! then the corner cases.

use super::{Level, ServiceMachine, oracle};
use crate::model::condition::Truth;
use crate::model::state::{Drain, DrainKind, ServiceState};
use crate::model::time::Wall;

use Event::{Active, Disable, Enable, Force, Probe, Resolved, TrofsAnswer, Wait};
use ServiceState::{Down, OutOfService, Trofs, TrofsDown, Unknown, Up};

/// What can happen to a service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    /// Delay in seconds.
    Disable {
        level: Level,
        delay: Option<i64>,
        graceful: bool,
    },
    Enable(Level),
    Active(u32),
    Probe(Truth),
    TrofsAnswer,
    Resolved(bool),
    Force(Option<bool>),
    /// A second passes.
    Wait,
}

const UP: Event = Probe(Truth::True);
const DOWN: Event = Probe(Truth::False);
const BUSY: Event = Active(1);
const IDLE: Event = Active(0);
const ENABLE: Event = Enable(Level::Service);
const OUT: Event = disable(None, false);
const TIMED: Event = disable(Some(2), false);
const GRACEFUL: Event = disable(None, true);
const TIMED_GRACEFUL: Event = disable(Some(2), true);

const fn disable(delay: Option<i64>, graceful: bool) -> Event {
    Disable { level: Level::Service, delay, graceful }
}

const fn disable_server(delay: Option<i64>, graceful: bool) -> Event {
    Disable { level: Level::Server, delay, graceful }
}

pub(super) fn deadline_of(now: Wall, delay: Option<i64>) -> Option<Wall> {
    delay.map(|seconds| Wall(now.0 + seconds * 1_000_000))
}

/// A machine and what it is told, with a clock that only `Wait` moves.
#[derive(Clone, Debug, Default)]
struct Told {
    machine: ServiceMachine,
    now: Wall,
}

impl Told {
    fn tell(&mut self, event: Event) {
        match event {
            Disable { level, delay, graceful } => {
                self.machine.disable(level, self.now, deadline_of(self.now, delay), graceful);
            }
            Enable(level) => self.machine.enable(level),
            Active(active) => self.machine.set_active(active),
            Probe(truth) => self.machine.set_probe(truth, false),
            TrofsAnswer => self.machine.set_probe(Truth::True, true),
            Resolved(resolved) => self.machine.set_resolved(resolved),
            Force(up) => self.machine.force(up),
            Wait => {
                self.now = Wall(self.now.0 + 1_000_000);
                self.machine.advance(self.now);
            }
        }
    }
}

/// The states after each event.
fn story(events: &[Event]) -> Vec<ServiceState> {
    let mut told = Told::default();
    events
        .iter()
        .map(|&event| {
            told.tell(event);
            told.machine.state()
        })
        .collect()
}

fn after(events: &[Event]) -> ServiceMachine {
    let mut told = Told::default();
    events.iter().for_each(|&event| told.tell(event));
    told.machine
}

fn last(events: &[Event]) -> ServiceState {
    after(events).state()
}

// === Every sequence ===

fn walk(alphabet: &[Event], depth: usize, told: &Told, history: &mut Vec<Event>) {
    for &event in alphabet {
        let mut next = told.clone();
        next.tell(event);
        history.push(event);
        compare(&next, history);
        if depth > 1 {
            walk(alphabet, depth - 1, &next, history);
        }
        history.pop();
    }
}

fn compare(told: &Told, history: &[Event]) {
    let Told { machine, now } = told;
    assert_eq!(machine.state(), oracle::state(history, true), "{history:?}");
    assert_eq!(machine.real(), oracle::state(history, false), "real of {history:?}");
    let levels = [Level::Service, Level::Group, Level::Server];
    assert_eq!(machine.enabled(), !levels.iter().any(|&level| oracle::is_disabled(history, level)), "{history:?}");
    // A drain is named exactly while draining, and a deadline that was reached is never waited for.
    assert_eq!(machine.drain().is_some(), machine.state().is_draining(), "drain of {history:?}");
    assert!(machine.deadline().is_none_or(|deadline| deadline > *now), "deadline in the past: {history:?}");
    if let Some(Drain { kind, started_at, deadline }) = machine.drain() {
        let timed = matches!(kind, DrainKind::Timed | DrainKind::TimedGraceful);
        assert_eq!(deadline.is_some(), timed, "{history:?}");
        assert!(started_at <= *now, "{history:?}");
        assert!(deadline.is_none() || deadline == machine.deadline(), "the first deadline is shown: {history:?}");
        if kind != DrainKind::Timed && kind != DrainKind::Monitor {
            assert!(oracle::active(history) > 0, "an idle graceful drain is over: {history:?}");
        }
    }
}

/// From the beginning, and from a service that is up and busy.
fn walk_from_both(alphabet: &[Event], depth: usize) {
    for prefix in [&[][..], &[UP, BUSY][..]] {
        let mut told = Told::default();
        prefix.iter().for_each(|&event| told.tell(event));
        walk(alphabet, depth, &told, &mut prefix.to_vec());
    }
}

#[test]
fn every_sequence_of_six_events_at_one_level_leads_where_the_whole_history_says() {
    walk_from_both(&[TIMED, GRACEFUL, TIMED_GRACEFUL, ENABLE, BUSY, IDLE, DOWN, UP, Wait], 6);
}

#[test]
fn every_sequence_of_four_events_of_all_kinds_leads_where_the_whole_history_says() {
    let alphabet = [
        OUT,
        TIMED,
        GRACEFUL,
        TIMED_GRACEFUL,
        disable_server(None, false),
        disable_server(Some(1), false),
        disable_server(None, true),
        disable_server(Some(3), true),
        Disable { level: Level::Group, delay: Some(1), graceful: true },
        ENABLE,
        Enable(Level::Server),
        Enable(Level::Group),
        BUSY,
        IDLE,
        UP,
        DOWN,
        TrofsAnswer,
        Resolved(false),
        Resolved(true),
        Force(Some(true)),
        Force(Some(false)),
        Force(None),
        Wait,
    ];
    walk_from_both(&alphabet, 4);
}

// === The edges of the field ===

#[test]
fn a_service_without_a_probe_result_is_unknown_and_then_what_the_monitors_say() {
    assert_eq!(ServiceMachine::default().state(), Unknown);
    assert_eq!(story(&[UP, DOWN, UP]), [Up, Down, Up]);
}

#[test]
fn a_disable_without_delay_is_out_of_service_at_once_from_every_state() {
    for before in [&[UP, BUSY][..], &[DOWN][..], &[][..], &[UP, TIMED], &[UP, TIMED, DOWN], &[TrofsAnswer]] {
        assert_eq!(last(&[before, &[OUT]].concat()), OutOfService, "{before:?}");
    }
}

#[test]
fn up_disabled_with_delay_goes_trofs_and_out_at_exactly_the_deadline_even_when_idle() {
    assert_eq!(story(&[UP, IDLE, TIMED, Wait, Wait]), [Up, Up, Trofs, Trofs, OutOfService]);
    assert_eq!(story(&[UP, BUSY, TIMED, Wait, Wait]), [Up, Up, Trofs, Trofs, OutOfService]);
    let mut told = Told::default();
    [UP, TIMED].iter().for_each(|&event| told.tell(event));
    told.machine.advance(Wall(1_999_999));
    assert_eq!(told.machine.state(), Trofs);
    assert_eq!(told.machine.deadline(), Some(Wall(2_000_000)));
    told.machine.advance(Wall(2_000_000));
    assert_eq!((told.machine.state(), told.machine.deadline()), (OutOfService, None));
}

#[test]
fn down_disabled_with_delay_goes_trofs_down_and_out_at_the_deadline() {
    assert_eq!(story(&[DOWN, TIMED, Wait, Wait]), [Down, TrofsDown, TrofsDown, OutOfService]);
}

#[test]
fn a_probe_that_fails_while_going_out_of_service_leads_over_trofs_down_at_the_same_deadline() {
    assert_eq!(story(&[UP, TIMED, Wait, DOWN, Wait]), [Up, Trofs, Trofs, TrofsDown, OutOfService]);
}

#[test]
fn a_graceful_disable_waits_for_the_last_transaction_without_limit() {
    let mut events = vec![UP, BUSY, GRACEFUL];
    events.extend([Wait; 50]);
    assert_eq!(last(&events), Trofs);
    events.push(IDLE);
    assert_eq!(last(&events), OutOfService);
}

#[test]
fn a_graceful_disable_of_an_idle_service_never_shows_trofs() {
    assert_eq!(story(&[UP, IDLE, GRACEFUL]), [Up, Up, OutOfService]);
    assert_eq!(story(&[UP, IDLE, TIMED_GRACEFUL]), [Up, Up, OutOfService]);
}

#[test]
fn graceful_with_delay_ends_with_whichever_comes_first() {
    assert_eq!(story(&[UP, BUSY, TIMED_GRACEFUL, Wait, IDLE])[2..], [Trofs, Trofs, OutOfService]);
    assert_eq!(story(&[UP, BUSY, TIMED_GRACEFUL, Wait, Wait])[2..], [Trofs, Trofs, OutOfService]);
}

#[test]
fn out_of_service_is_left_by_enable_only() {
    for event in [UP, DOWN, BUSY, IDLE, TrofsAnswer, Wait, Force(Some(true)), TIMED, GRACEFUL, TIMED_GRACEFUL] {
        assert_eq!(last(&[UP, OUT, event]), OutOfService, "{event:?}");
    }
    assert_eq!(last(&[UP, OUT, ENABLE]), Up);
    assert_eq!(last(&[UP, OUT, DOWN, ENABLE]), Down);
}

// === Corner cases ===

#[test]
fn enable_in_every_state_leads_where_the_monitors_say() {
    for drain in [OUT, TIMED, GRACEFUL, TIMED_GRACEFUL] {
        assert_eq!(last(&[BUSY, UP, drain, ENABLE]), Up);
        assert_eq!(last(&[BUSY, UP, drain, DOWN, ENABLE]), Down);
        assert_eq!(last(&[BUSY, drain, ENABLE]), Unknown);
        assert_eq!(after(&[BUSY, UP, drain, ENABLE]).deadline(), None, "the timer is gone");
    }
}

#[test]
fn a_second_disable_replaces_the_deadline_of_the_first() {
    let longer = disable(Some(5), false);
    assert_eq!(story(&[UP, TIMED, Wait, longer, Wait, Wait])[1..], [Trofs, Trofs, Trofs, Trofs, Trofs]);
    let shorter = disable(Some(1), false);
    assert_eq!(story(&[UP, longer, shorter, Wait])[1..], [Trofs, Trofs, OutOfService]);
    assert_eq!(last(&[UP, longer, OUT]), OutOfService, "no delay, not graceful: at once");
    assert_eq!(last(&[UP, BUSY, TIMED, GRACEFUL, Wait, Wait, Wait]), Trofs, "the deadline is gone");
}

#[test]
fn a_disable_of_a_service_that_is_out_changes_nothing() {
    assert_eq!(last(&[UP, BUSY, OUT, TIMED]), OutOfService);
    assert_eq!(after(&[UP, BUSY, OUT, TIMED]).deadline(), None);
}

#[test]
fn a_probe_that_recovers_while_going_out_of_service_leads_back_to_trofs() {
    assert_eq!(story(&[UP, TIMED, DOWN, UP, Wait, Wait])[1..], [Trofs, TrofsDown, Trofs, Trofs, OutOfService]);
    assert_eq!(story(&[DOWN, TIMED, UP, Wait, Wait])[1..], [TrofsDown, Trofs, Trofs, OutOfService]);
}

#[test]
fn a_down_service_disabled_gracefully_is_out_as_soon_as_it_is_idle() {
    assert_eq!(last(&[DOWN, IDLE, GRACEFUL]), OutOfService);
    assert_eq!(story(&[DOWN, BUSY, GRACEFUL, IDLE])[2..], [TrofsDown, OutOfService]);
}

#[test]
fn a_completed_drain_stays_complete_although_a_transaction_comes() {
    assert_eq!(last(&[UP, BUSY, GRACEFUL, IDLE, BUSY]), OutOfService);
}

#[test]
fn a_monitor_drains_without_a_timer_and_its_end_is_up_or_down() {
    let mut events = vec![UP, TrofsAnswer];
    events.extend([Wait; 50]);
    assert_eq!(last(&events), Trofs);
    let drain = after(&events).drain().unwrap();
    assert_eq!((drain.kind, drain.deadline), (DrainKind::Monitor, None));
    assert_eq!(last(&[TrofsAnswer, UP]), Up);
    assert_eq!(last(&[TrofsAnswer, DOWN]), Down, "nothing is left that would take it out of service");
    assert!(after(&[TrofsAnswer]).enabled());
}

#[test]
fn an_administrators_timer_wins_over_a_monitors_drain() {
    let both = after(&[UP, TrofsAnswer, TIMED]);
    assert_eq!(both.drain().unwrap().kind, DrainKind::Timed);
    assert_eq!(story(&[TrofsAnswer, TIMED, UP, Wait, Wait]), [Trofs, Trofs, Trofs, Trofs, OutOfService]);
    assert_eq!(last(&[TrofsAnswer, TIMED, DOWN]), TrofsDown);
    assert_eq!(last(&[TrofsAnswer, TIMED, ENABLE]), Trofs, "the monitor still asks");
}

#[test]
fn without_health_monitor_a_drain_is_never_trofs_down() {
    // The probe of such a service is up once and for all.
    assert_eq!(story(&[UP, TIMED, Wait, Wait]), [Up, Trofs, Trofs, OutOfService]);
}

#[test]
fn a_draining_service_without_a_probe_result_shows_trofs() {
    assert_eq!(last(&[TIMED]), Trofs);
}

#[test]
fn a_server_name_that_does_not_resolve_makes_an_enabled_service_unknown() {
    assert_eq!(story(&[UP, Resolved(false), Resolved(true)]), [Up, Unknown, Up]);
    assert_eq!(last(&[DOWN, Resolved(false)]), Unknown);
    assert_eq!(last(&[Force(Some(true)), Resolved(false)]), Unknown, "a force cannot invent an address");
    assert_eq!(last(&[Resolved(false), OUT]), OutOfService);
    assert_eq!(last(&[Resolved(false), TIMED]), Trofs);
    assert_eq!(last(&[Resolved(false), DOWN, TIMED]), TrofsDown);
}

#[test]
fn the_levels_are_kept_apart() {
    // The server is disabled and enabled again while the service has a drain of its own.
    let server = disable_server(None, false);
    assert_eq!(story(&[UP, TIMED, server, Enable(Level::Server)])[1..], [Trofs, OutOfService, Trofs]);
    // Enabling the service does not undo the disable of its server.
    assert_eq!(last(&[UP, OUT, server, ENABLE]), OutOfService);
    assert!(!after(&[UP, OUT, server, ENABLE]).enabled());
    // A deadline runs on behind another level that is out.
    assert_eq!(last(&[UP, TIMED, server, Wait, Wait, Enable(Level::Server)]), OutOfService);
}

#[test]
fn of_several_drains_the_one_that_ends_first_is_shown() {
    let drain = after(&[UP, BUSY, GRACEFUL, Wait, disable_server(Some(3), false)]).drain().unwrap();
    assert_eq!(drain, Drain { kind: DrainKind::Timed, started_at: Wall(1_000_000), deadline: Some(Wall(4_000_000)) });
    let drain = after(&[UP, BUSY, TIMED_GRACEFUL, disable_server(Some(3), false)]).drain().unwrap();
    assert_eq!((drain.kind, drain.deadline), (DrainKind::TimedGraceful, Some(Wall(2_000_000))));
}

#[test]
fn a_deadline_that_passed_while_the_box_was_off_is_over_at_start() {
    let mut machine = ServiceMachine::default();
    machine.disable(Level::Service, Wall(10_000_000), Some(Wall(9_000_000)), true);
    assert_eq!(machine.state(), OutOfService);
}

#[test]
fn a_force_replaces_what_the_monitors_say_and_real_keeps_it() {
    let forced = after(&[DOWN, Force(Some(true))]);
    assert_eq!((forced.state(), forced.real(), forced.probe()), (Up, Down, Truth::True));
    assert_eq!(last(&[TrofsAnswer, Force(Some(true))]), Up, "a monitor's drain is part of what is forced");
    assert_eq!(last(&[UP, TIMED, Force(Some(false))]), TrofsDown);
    assert_eq!(last(&[DOWN, Force(Some(true)), UP, DOWN, Force(None)]), Down);
}
