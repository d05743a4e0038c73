//! Every sequence of samples and forces up to a useful length against the oracle, then claims one by one.

use std::time::Duration;

use super::oracle::History;
use super::{CheckMachine, Observed};
use crate::model::check::Schedule;
use crate::model::condition::{Measure, Statistic, Truth, Window};
use crate::model::event::{Outcome, Verdict};
use crate::model::time::{Now, Tick, Wall};

/// What can happen to a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Event {
    Pass,
    Trofs,
    Fail,
    Void,
    Force(Option<bool>),
}

use Event::{Fail, Force, Pass, Trofs, Void};

const SECOND: Duration = Duration::from_secs(1);

fn now(seconds: u64) -> Now {
    Now::new(Tick::ZERO, Wall(1_800_000_000_000_000)).after(SECOND * u32::try_from(seconds).unwrap())
}

fn schedule(rise: u32, fall: u32) -> Schedule {
    Schedule { interval: Duration::from_secs(5), timeout: Duration::from_secs(2), rise, fall, ..Schedule::default() }
}

/// Spreads latencies over 10, 20, … 50 ms, out of order.
pub(super) fn latency_at(at: Tick) -> Duration {
    Duration::from_millis(10 + at.0 / 1_000_000 * 7 % 5 * 10)
}

fn apply(check: &mut CheckMachine, schedule: &Schedule, at: Now, event: Event) -> Observed {
    let outcome = match event {
        Force(up) => return check.force(at, up),
        Pass => Outcome::Pass,
        Trofs => Outcome::Trofs,
        Fail => Outcome::Fail,
        Void => Outcome::Void,
    };
    check.observe(at, schedule, &Verdict::new(outcome, latency_at(at.tick), "detail"))
}

/// A check with these events, one a second from second 1 on.
fn after(schedule: &Schedule, events: &[Event]) -> CheckMachine {
    let mut check = CheckMachine::new(now(0));
    for (i, &event) in events.iter().enumerate() {
        apply(&mut check, schedule, now(i as u64 + 1), event);
    }
    check
}

// === Every sequence ===

/// Walks every sequence of `alphabet` up to `depth` and compares after each event.
fn walk(alphabet: &[Event], depth: usize, schedule: &Schedule, measures: &[Measure]) {
    let mut check = CheckMachine::new(now(0));
    check.remember(measures);
    descend(alphabet, depth, schedule, measures, &check, &mut vec![]);
}

fn descend(
    alphabet: &[Event],
    depth: usize,
    schedule: &Schedule,
    measures: &[Measure],
    check: &CheckMachine,
    history: &mut Vec<(Tick, Event)>,
) {
    if depth == 0 {
        return;
    }
    for &event in alphabet {
        let at = now(history.len() as u64 + 1);
        let mut next = check.clone();
        let seen = apply(&mut next, schedule, at, event);
        history.push((at.tick, event));
        compare(schedule, measures, check, &next, seen, at, history);
        descend(alphabet, depth - 1, schedule, measures, &next, history);
        history.pop();
    }
}

fn compare(
    schedule: &Schedule,
    measures: &[Measure],
    before: &CheckMachine,
    check: &CheckMachine,
    seen: Observed,
    at: Now,
    history: &[(Tick, Event)],
) {
    let oracle = History { events: history, schedule };
    let story = || format!("{schedule:?} after {history:?}");
    assert_eq!(check.view().real, oracle.real(), "real of {}", story());
    assert_eq!(check.state(), oracle.state(), "state of {}", story());
    assert_eq!(check.trofs(), oracle.trofs(), "trofs of {}", story());
    assert_eq!(check.clean_since(), oracle.clean_since(), "clean_since of {}", story());
    assert_eq!((check.view().state, check.view().trofs), (check.state(), check.trofs()), "view of {}", story());
    let expected = Observed {
        notice: None,
        state_changed: before.state() != check.state(),
        trofs_changed: before.trofs() != check.trofs(),
        hold_restarted: before.state().is_true()
            && check.state().is_true()
            && before.clean_since() != check.clean_since(),
    };
    assert_eq!(seen, expected, "what changed in {}", story());
    for measure in measures {
        // The measure is right now, and stays as it is until the moment it names.
        let wake = check.measure_wake(at.tick, measure);
        assert!(wake.is_none_or(|wake| wake > at.tick), "wake in the past, {measure:?} of {}", story());
        for later in 0..=4 {
            let moment = at.after(SECOND * later).tick;
            let value = check.measure(moment, measure, Truth::Unknown);
            assert_eq!(value, expect(&oracle, moment, measure), "{measure:?} {later} s later, {}", story());
            if wake.is_none_or(|wake| moment < wake) {
                let first = check.measure(at.tick, measure, Truth::Unknown);
                assert_eq!(value, first, "{measure:?} changed before its wake, {}", story());
            }
        }
    }
}

fn expect(oracle: &History<'_>, now: Tick, measure: &Measure) -> Truth {
    match *measure {
        Measure::Fails(n) => oracle.fails(n),
        Measure::Passes(n) => oracle.passes(n),
        Measure::Flaps { fewer_than, within } => oracle.fewer_flaps(now, fewer_than as usize, within),
        Measure::Latency { statistic, below, over, leave_at: _ } => oracle.latency(now, statistic, below, over),
    }
}

fn latency(statistic: Statistic, below_ms: u64, over: Window) -> Measure {
    Measure::Latency { statistic, below: Duration::from_millis(below_ms), over, leave_at: None }
}

#[test]
fn every_sequence_of_ten_samples_leads_where_the_whole_history_says() {
    for (rise, fall, fall_among) in
        [(1, 1, None), (1, 3, None), (3, 1, None), (3, 3, None), (2, 4, Some(2)), (1, 3, Some(1)), (2, 5, Some(3))]
    {
        let schedule = Schedule { fall_among, ..schedule(rise, fall) };
        walk(&[Pass, Fail, Trofs], 10, &schedule, &[]);
    }
}

#[test]
fn every_mixture_of_samples_and_forces_leads_where_the_whole_history_says() {
    let alphabet = [Pass, Fail, Void, Force(Some(true)), Force(Some(false)), Force(None)];
    for (rise, fall) in [(1, 2), (2, 1)] {
        walk(&alphabet, 6, &schedule(rise, fall), &[Measure::Fails(2), Measure::Passes(2)]);
    }
}

#[test]
fn every_measure_follows_the_whole_history_and_changes_at_no_other_moment_than_it_says() {
    let measures = [
        Measure::Fails(2),
        Measure::Passes(3),
        Measure::Flaps { fewer_than: 1, within: SECOND * 3 },
        Measure::Flaps { fewer_than: 2, within: SECOND * 4 },
        latency(Statistic::Last, 30, Window::Samples(1)),
        latency(Statistic::Average, 31, Window::Samples(3)),
        latency(Statistic::P50, 30, Window::Samples(3)),
        latency(Statistic::P95, 50, Window::Samples(2)),
        latency(Statistic::P99, 40, Window::Span(SECOND * 3)),
        latency(Statistic::P50, 30, Window::Span(SECOND * 2)),
        latency(Statistic::Average, 31, Window::Span(SECOND * 3)),
    ];
    walk(&[Pass, Fail, Void], 7, &schedule(1, 1), &measures);
    walk(&[Pass, Fail, Force(Some(false)), Force(None)], 5, &schedule(2, 2), &measures);
}

// === Claims ===

#[test]
fn the_first_passed_sample_is_believed_and_the_first_failed_one_is_not() {
    assert_eq!(after(&schedule(3, 3), &[Pass]).state(), Truth::True);
    assert_eq!(after(&schedule(3, 3), &[Fail, Fail]).state(), Truth::Unknown);
    assert_eq!(after(&schedule(3, 3), &[Fail, Fail, Fail]).state(), Truth::False);
    assert_eq!(after(&schedule(3, 3), &[Fail, Fail, Pass]).state(), Truth::True);
}

#[test]
fn failures_must_come_in_a_row_unless_failure_retries_says_how_many_among_the_last() {
    assert_eq!(after(&schedule(1, 3), &[Pass, Fail, Fail, Pass, Fail]).state(), Truth::True);
    let among = Schedule { fall_among: Some(2), ..schedule(1, 3) };
    assert_eq!(after(&among, &[Pass, Fail, Pass, Fail]).state(), Truth::False);
    assert_eq!(after(&among, &[Pass, Fail, Pass, Pass, Fail]).state(), Truth::True);
    // What took it down is forgotten once it is up: else the next sample would take it down again.
    assert_eq!(after(&among, &[Fail, Fail, Pass, Fail]).state(), Truth::True);
}

#[test]
fn reverse_swaps_passed_and_failed_and_a_trofs_answer_is_a_passed_one() {
    let reversed = Schedule { reverse: true, ..schedule(1, 1) };
    assert_eq!(after(&reversed, &[Fail]).state(), Truth::True);
    assert_eq!(after(&reversed, &[Pass]).state(), Truth::False);
    let trofs = after(&reversed, &[Trofs]);
    assert_eq!((trofs.state(), trofs.trofs()), (Truth::False, false));
    assert_eq!(after(&reversed, &[Void]).state(), Truth::Unknown);
}

#[test]
fn a_trofs_answer_counts_as_up_and_its_request_lasts_over_a_lost_probe() {
    let check = after(&schedule(1, 2), &[Trofs]);
    assert_eq!((check.state(), check.trofs()), (Truth::True, true));
    assert!(after(&schedule(1, 2), &[Trofs, Fail]).trofs());
    assert!(!after(&schedule(1, 2), &[Trofs, Fail, Fail]).trofs());
    assert!(!after(&schedule(1, 2), &[Trofs, Pass]).trofs());
}

#[test]
fn a_void_sample_shows_its_reason_and_is_no_evidence() {
    let mut check = after(&schedule(1, 2), &[Pass, Fail]);
    let seen = apply(&mut check, &schedule(1, 2), now(3), Void);
    assert_eq!(seen, Observed::default());
    assert_eq!(check.view().fails_in_row, 1);
    assert_eq!(check.view().samples_total, 2);
    assert_eq!(check.view().last.as_ref().unwrap().outcome, Outcome::Void);
    let silent = after(&schedule(1, 1), &[Void, Void]);
    assert_eq!((silent.state(), silent.clean_since()), (Truth::Unknown, None));
}

#[test]
fn a_failed_sample_that_leaves_the_check_up_restarts_its_holds() {
    let mut check = after(&schedule(1, 3), &[Pass, Pass]);
    assert_eq!(check.clean_since(), Some(now(1).tick));
    let seen = apply(&mut check, &schedule(1, 3), now(3), Fail);
    assert_eq!(seen, Observed { hold_restarted: true, ..Observed::default() });
    assert_eq!(check.clean_since(), Some(now(3).tick));
}

#[test]
fn the_end_of_a_force_shows_what_the_samples_said_meanwhile() {
    let mut check = after(&schedule(1, 2), &[Pass, Force(Some(true)), Fail, Fail]);
    assert_eq!((check.state(), check.view().real), (Truth::True, Truth::False));
    let seen = check.force(now(5), None);
    assert!(seen.state_changed);
    assert_eq!((check.state(), check.view().since), (Truth::False, now(5)));
}

#[test]
fn a_hold_begins_at_the_force_up_and_at_the_end_of_a_force_down() {
    let up = after(&schedule(1, 2), &[Pass, Pass, Force(Some(true)), Fail]);
    assert_eq!(up.clean_since(), Some(now(3).tick));
    let mut down = after(&schedule(1, 2), &[Pass, Force(Some(false)), Pass, Pass]);
    down.force(now(5), None);
    assert_eq!((down.state(), down.clean_since()), (Truth::True, Some(now(5).tick)));
}

#[test]
fn forced_down_every_fails_holds_and_latency_is_infinite_forced_up_every_passes_holds() {
    let fast = latency(Statistic::Last, 1_000, Window::Samples(1));
    let down = after(&schedule(1, 1), &[Pass, Force(Some(false))]);
    let up = after(&schedule(1, 1), &[Pass, Force(Some(true))]);
    for (check, fails, passes, latency) in
        [(down, Truth::True, Truth::False, Truth::False), (up, Truth::False, Truth::True, Truth::True)]
    {
        assert_eq!(check.measure(now(9).tick, &Measure::Fails(1_000), Truth::Unknown), fails);
        assert_eq!(check.measure(now(9).tick, &Measure::Passes(1_000), Truth::Unknown), passes);
        assert_eq!(check.measure(now(9).tick, &fast, Truth::Unknown), latency);
    }
}

#[test]
fn latency_once_below_stays_true_until_it_reaches_the_leave_mark() {
    let measure = Measure::Latency {
        statistic: Statistic::Last,
        below: Duration::from_millis(80),
        over: Window::Samples(1),
        leave_at: Some(Duration::from_millis(100)),
    };
    let mut check = CheckMachine::new(now(0));
    let mut value = Truth::Unknown;
    let mut walk = vec![];
    for (i, ms) in [90, 79, 99, 100, 99, 80, 79, 80].into_iter().enumerate() {
        let at = now(i as u64 + 1);
        check.observe(at, &schedule(1, 1), &Verdict::new(Outcome::Pass, Duration::from_millis(ms), ""));
        value = check.measure(at.tick, &measure, value);
        walk.push(value.is_true());
    }
    assert_eq!(walk, [false, true, true, false, false, false, true, true]);
}

#[test]
fn one_failure_among_twenty_decides_the_99th_percentile_and_not_the_95th() {
    let mut events = [Pass; 20];
    events[7] = Fail;
    let check = after(&schedule(1, 3), &events);
    let value = |statistic| check.measure(now(20).tick, &latency(statistic, 60, Window::Samples(20)), Truth::Unknown);
    assert_eq!(value(Statistic::P95), Truth::True);
    assert_eq!(value(Statistic::P99), Truth::False);
    assert_eq!(value(Statistic::Average), Truth::False);
    let few = after(&schedule(1, 3), &[Pass; 19]);
    let over = latency(Statistic::P95, 60, Window::Samples(20));
    assert_eq!(few.measure(now(19).tick, &over, Truth::Unknown), Truth::Unknown);
}

#[test]
fn leaving_unknown_is_not_a_flap() {
    let calm = Measure::Flaps { fewer_than: 1, within: SECOND * 60 };
    let check = after(&schedule(1, 1), &[Pass, Pass]);
    assert_eq!(check.measure(now(3).tick, &calm, Truth::Unknown), Truth::True);
    let check = after(&schedule(1, 1), &[Pass, Fail]);
    assert_eq!(check.measure(now(3).tick, &calm, Truth::Unknown), Truth::False);
    assert_eq!(check.measure_wake(now(3).tick, &calm), Some(now(62).tick));
}

#[test]
fn memory_is_bounded_by_what_the_terms_ask_for() {
    let mut check = CheckMachine::new(now(0));
    check.remember(&[latency(Statistic::P95, 60, Window::Samples(100))]);
    for i in 0..1_000 {
        apply(&mut check, &schedule(1, 1), now(i + 1), if i % 2 == 0 { Pass } else { Fail });
    }
    assert_eq!(check.samples.last(100).unwrap().count(), 100);
    assert!(check.samples.last(101).is_none());
    // A reload that asks for less forgets the rest; one that asks for a span keeps what the span holds.
    check.remember(&[latency(Statistic::P95, 60, Window::Span(SECOND * 50))]);
    assert_eq!(check.samples.last(50).unwrap().count(), 50);
    assert!(check.samples.last(51).is_none());
}

// === When the next sample is due ===

#[test]
fn the_next_sample_keeps_the_phase_and_is_never_in_the_past() {
    let every_5_s = schedule(1, 3);
    let check = after(&every_5_s, &[Pass]);
    for (due, now_ms, expected) in [
        (10_000, 10_000, 15_000),
        (10_000, 11_900, 15_000),
        (10_000, 14_999, 15_000),
        (10_000, 15_000, 20_000),
        (10_000, 15_001, 20_000),
        // The box was suspended for a minute: the missed samples are not made up.
        (10_000, 71_000, 75_000),
    ] {
        let next = check.next_due(Tick::from_millis(now_ms), Tick::from_millis(due), &every_5_s);
        assert_eq!(next, Tick::from_millis(expected), "due {due}, result at {now_ms}");
    }
}

#[test]
fn a_check_that_is_down_waits_for_its_down_time_except_during_a_rise() {
    let monitor = Schedule { down_time: Some(Duration::from_secs(30)), ..schedule(2, 2) };
    let due = |events: &[Event]| {
        let at = Tick::from_millis(100_000);
        after(&monitor, events).next_due(at, at, &monitor).since(at).as_secs()
    };
    assert_eq!(due(&[Fail]), 5, "not down yet");
    assert_eq!(due(&[Fail, Fail]), 30, "down");
    assert_eq!(due(&[Fail, Fail, Fail]), 30, "still down");
    assert_eq!(due(&[Fail, Fail, Pass]), 5, "rising");
    assert_eq!(due(&[Fail, Fail, Pass, Fail]), 30, "a failure in the rise");
    assert_eq!(due(&[Fail, Fail, Pass, Pass]), 5, "up");
    assert_eq!(due(&[Fail, Fail, Void]), 30, "a void sample does not hurry it");
}
