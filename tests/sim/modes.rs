//! What operators set: `on`, `off`, stuck, fresh evidence, guards.

use bascule::model::event::{GuardVerdict, Record};
use bascule::model::scenario::{Direction, Mode};

use crate::rig::{Rig, mins, secs};

const AUTO_IN_MANUAL_OUT: &str = r#"
[check.p]
type = "TCP"
target = "127.0.0.1:1"
rise = 1
fall = 1
[scenario.s.activate]
when = [["p!"]]
[scenario.s.deactivate]
mode = "off"
when = [["p"]]
"#;

const PLAIN: &str = r#"
[check.p]
type = "TCP"
target = "127.0.0.1:1"
rise = 1
fall = 1
[check.q]
type = "TCP"
target = "127.0.0.1:2"
rise = 1
fall = 1
[scenario.s.activate]
when = [["p!"], ["q!"]]
[scenario.s.deactivate]
when = [["p{for:15m}", "q"]]
"#;

const GUARDED: &str = r#"
[switch.a]
[query.safe]
type = "POSTGRESQL"
dsn = "127.0.0.1/x"
sql = "select 1"
expect = "= 1"
[scenario.s.activate]
when = [["sw:a"]]
guard = { run = ["safe"], on_timeout = "block", deadline = "60s", backoff = "5s" }
[scenario.s.deactivate]
when = [["sw:a!"]]
"#;

#[test]
fn auto_in_manual_out_works_twice_in_a_row() {
    let mut rig = Rig::new(AUTO_IN_MANUAL_OUT);
    rig.pass("p");
    for outage in 1..=2 {
        rig.fail("p");
        assert!(rig.is_active("s"), "outage {outage}");
        assert!(!rig.scenario("s").ready_to_return);
        rig.pass("p");
        assert!(rig.is_active("s"), "it stays until an operator brings it back");
        assert!(rig.scenario("s").ready_to_return);
        rig.modes("s", None, Some(Mode::On));
        assert!(!rig.is_active("s"));
        let mode = &rig.scenario("s").modes[Direction::Deactivate.index()];
        assert!(mode.spent && mode.mode == Mode::On, "a spent `on` stays visible");
    }
    rig.fail("p");
    assert_eq!(rig.mode("s", Direction::Deactivate), Mode::Off, "the next activation releases the `on`");
    assert_eq!(rig.scenario("s").seq, 5);
}

#[test]
fn both_directions_on_is_stuck_with_one_warning_and_clearing_one_proceeds() {
    let mut rig = Rig::new(PLAIN);
    rig.pass("p");
    rig.pass("q");
    rig.records();
    rig.modes("s", Some(Mode::On), Some(Mode::On));
    rig.wait(mins(1));
    rig.fail("p");
    assert!(rig.scenario("s").stuck);
    assert!(!rig.is_active("s"));
    let records = rig.records();
    assert_eq!(records.iter().filter(|r| matches!(r, Record::Warning { .. })).count(), 1);
    assert!(!records.iter().any(|r| matches!(r, Record::Transition(_))));
    rig.modes("s", None, Some(Mode::Auto));
    assert!(!rig.scenario("s").stuck);
    assert!(rig.is_active("s"), "the `on` that was not consumed acts now");
}

#[test]
fn a_drill_with_a_healthy_primary_returns_fifteen_minutes_after_it_began() {
    let mut rig = Rig::new(PLAIN);
    rig.pass("p");
    rig.pass("q");
    rig.passing("p", mins(20));
    rig.modes("s", Some(Mode::On), None);
    assert!(rig.is_active("s"));
    rig.passing("p", secs(15 * 60 - 1));
    assert!(rig.is_active("s"));
    rig.wait(secs(1));
    assert!(!rig.is_active("s"));
    assert_eq!(rig.mode("s", Direction::Activate), Mode::Auto, "the opposite commit released the `on`");
}

#[test]
fn after_a_forced_return_the_fault_that_is_known_does_not_act_again_and_another_one_does() {
    let mut rig = Rig::new(PLAIN);
    rig.fail("p");
    rig.pass("q");
    assert!(rig.is_active("s"));
    rig.modes("s", None, Some(Mode::On));
    assert!(!rig.is_active("s"), "forced, although the activation condition is true");
    rig.fail("p");
    rig.wait(mins(5));
    assert!(!rig.is_active("s"), "no fresh evidence: the group of p has not been false since");
    rig.fail("q");
    assert!(rig.is_active("s"), "a second, different fault");
}

#[test]
fn a_group_counts_again_once_it_has_been_false() {
    let mut rig = Rig::new(PLAIN);
    rig.fail("p");
    rig.pass("q");
    rig.modes("s", None, Some(Mode::On));
    rig.pass("p");
    rig.fail("p");
    assert!(rig.is_active("s"));
}

#[test]
fn an_on_with_nothing_to_do_is_spent_and_never_acts_again() {
    let mut rig = Rig::new(PLAIN);
    rig.pass("p");
    rig.pass("q");
    rig.modes("s", None, Some(Mode::On));
    assert!(rig.scenario("s").modes[1].spent);
    rig.fail("p");
    assert!(rig.is_active("s"), "the spent `on` does not undo the next failover");
    assert_eq!(rig.mode("s", Direction::Deactivate), Mode::Auto);
}

#[test]
fn off_pins_the_state_and_never_changes_it() {
    let mut rig = Rig::new(PLAIN);
    rig.pass("q");
    rig.modes("s", Some(Mode::Off), None);
    rig.fail("p");
    assert!(!rig.is_active("s"));
    rig.modes("s", Some(Mode::Auto), None);
    assert!(rig.is_active("s"));
}

#[test]
fn a_guard_that_refuses_twice_and_then_passes_gives_one_commit() {
    let mut rig = Rig::new(GUARDED);
    rig.switch("a", true);
    assert_eq!(rig.scenario("s").word(), "activating");
    assert!(!rig.is_active("s"), "DNS sees no change while the guard runs");
    for _ in 0..2 {
        rig.guard("s", GuardVerdict::Refuse);
        assert_eq!(rig.scenario("s").word(), "inactive");
        rig.wait(secs(5));
        assert_eq!(rig.scenario("s").word(), "activating", "tried again after the backoff");
    }
    rig.guard("s", GuardVerdict::Pass);
    assert!(rig.is_active("s"));
    let transitions = rig.transitions();
    assert_eq!(transitions.len(), 1);
    assert_eq!(&*transitions[0].guard.as_ref().expect("a guard ran").outcome, "pass");
}

#[test]
fn a_condition_that_turns_false_while_the_guard_runs_commits_nothing_and_is_recorded() {
    let mut rig = Rig::new(GUARDED);
    rig.switch("a", true);
    rig.records();
    rig.switch("a", false);
    assert_eq!(rig.scenario("s").word(), "inactive");
    let records = rig.records();
    assert!(records.iter().any(|r| matches!(r, Record::Attempt { outcome, .. } if &**outcome == "abandoned")));
    assert!(!records.iter().any(|r| matches!(r, Record::Transition(_))));
}

#[test]
fn cannot_tell_is_decided_by_on_timeout_at_the_deadline() {
    let mut blocked = Rig::new(GUARDED);
    let mut proceeds = Rig::new(&GUARDED.replace("block", "proceed"));
    for rig in [&mut blocked, &mut proceeds] {
        rig.switch("a", true);
        rig.guard("s", GuardVerdict::CannotTell);
        rig.wait(std::time::Duration::from_millis(59_999));
        assert!(!rig.is_active("s"));
        rig.wait(std::time::Duration::from_millis(1));
    }
    assert!(!blocked.is_active("s"));
    assert!(proceeds.is_active("s"));
    assert_eq!(&*proceeds.transitions()[0].guard.as_ref().unwrap().outcome, "proceeded");
}

#[test]
fn forcing_the_opposite_direction_cancels_a_guard_that_is_pending() {
    let mut rig = Rig::new(GUARDED);
    rig.switch("a", true);
    rig.modes("s", None, Some(Mode::On));
    assert_eq!(rig.scenario("s").word(), "inactive");
    rig.wait(mins(10));
    assert_eq!(rig.scenario("s").word(), "inactive", "it needs fresh evidence to begin again");
    rig.switch("a", false);
    rig.switch("a", true);
    assert_eq!(rig.scenario("s").word(), "activating");
}
