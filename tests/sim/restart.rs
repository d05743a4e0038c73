//! What a `kill -9`, a restart and a reload leave standing.

use bascule::model::event::Cause;
use bascule::model::scenario::{Direction, Mode};
use bascule::model::state::ServiceState;

use crate::rig::{Rig, mins, secs};

const CONFIG: &str = r#"
[check.p]
type = "TCP"
target = "127.0.0.1:1"
interval = "1s"
timeout = "500ms"
rise = 1
fall = 1
[scenario.s.activate]
when = [["p!"]]
[scenario.s.deactivate]
when = [["p{for:10s}"]]
[service.web1]
type = "HTTP"
address = "127.0.0.1:1"
monitors = []
"#;

#[test]
fn a_saved_state_stands_at_once_and_nothing_moves_before_the_checks_are_known() {
    let mut rig = Rig::new(CONFIG);
    rig.fail("p");
    assert!(rig.is_active("s"));
    let mut rig = rig.kill_and_restart(CONFIG, secs(60));
    assert!(rig.is_active("s"), "from the first moment on");
    assert_eq!(rig.scenario("s").seq, 1);
    rig.wait(mins(1));
    assert!(rig.is_active("s"), "unknown moves nothing");
    rig.passing("p", secs(10));
    assert!(rig.is_active("s"), "the hold began anew with the first sample");
    rig.passing("p", secs(1));
    assert!(!rig.is_active("s"));
    assert_eq!(rig.scenario("s").seq, 2);
}

#[test]
fn modes_set_by_an_operator_survive_a_restart_with_spent_and_all() {
    let mut rig = Rig::new(CONFIG);
    rig.pass("p");
    rig.modes("s", Some(Mode::On), Some(Mode::Off));
    assert!(rig.is_active("s"));
    let mut rig = rig.kill_and_restart(CONFIG, secs(1));
    assert_eq!(rig.mode("s", Direction::Activate), Mode::On);
    assert!(rig.scenario("s").modes[0].spent);
    assert_eq!(rig.scenario("s").shown(), "pinned");
    rig.passing("p", mins(1));
    assert!(rig.is_active("s"));
    assert_eq!(rig.scenario("s").seq, 1, "a spent `on` does not act again after a restart");
}

#[test]
fn a_timed_drain_goes_on_to_its_wall_clock_deadline_over_a_kill() {
    let mut rig = Rig::new(CONFIG);
    rig.pass("web1:tcp-default");
    rig.disable("web1", Some(secs(60)), false);
    assert_eq!(rig.service("web1"), ServiceState::Trofs);
    rig.wait(secs(20));
    let mut rig = rig.kill_and_restart(CONFIG, secs(10));
    assert_eq!(rig.service("web1"), ServiceState::Trofs, "no probe result yet: TROFS");
    rig.wait(secs(29));
    rig.fail("web1:tcp-default");
    rig.fail("web1:tcp-default");
    rig.fail("web1:tcp-default");
    assert_eq!(rig.service("web1"), ServiceState::TrofsDown);
    rig.wait(secs(1));
    assert_eq!(rig.service("web1"), ServiceState::OutOfService);
}

#[test]
fn a_deadline_that_passed_while_down_is_over_at_start_and_a_graceful_drain_has_nothing_left() {
    let mut rig = Rig::new(CONFIG);
    rig.pass("web1:tcp-default");
    rig.disable("web1", Some(secs(60)), false);
    let rig = rig.kill_and_restart(CONFIG, secs(61));
    assert_eq!(rig.service("web1"), ServiceState::OutOfService);

    let mut rig = Rig::new(CONFIG);
    rig.pass("web1:tcp-default");
    rig.active_transactions("web1", 3);
    rig.disable("web1", None, true);
    assert_eq!(rig.service("web1"), ServiceState::Trofs);
    let rig = rig.kill_and_restart(CONFIG, secs(1));
    assert_eq!(rig.service("web1"), ServiceState::OutOfService);
}

#[test]
fn a_reload_keeps_a_hold_in_flight_and_a_changed_target_begins_anew() {
    let mut rig = Rig::new(CONFIG);
    rig.fail("p");
    rig.passing("p", secs(5));
    rig.reload(&CONFIG.replace("127.0.0.1:1\"\nmonitors", "127.0.0.1:9\"\nmonitors"));
    assert!(rig.is_active("s"));
    rig.passing("p", secs(5));
    assert!(!rig.is_active("s"), "ten seconds after the failed sample, as if nothing had happened");
    rig.fail("p");
    assert!(rig.is_active("s"));
    rig.passing("p", secs(9));
    rig.reload(&CONFIG.replacen("127.0.0.1:1", "127.0.0.1:2", 1));
    rig.passing("p", secs(9));
    assert!(rig.is_active("s"), "the check looks at another target now: its hold began anew");
}

#[test]
fn the_first_evaluation_after_a_reload_may_fire_with_cause_config() {
    let mut rig = Rig::new(CONFIG);
    rig.pass("p");
    rig.transitions();
    rig.reload(&CONFIG.replace("when = [[\"p!\"]]", "when = [[\"p\"]]"));
    let transitions = rig.transitions();
    assert_eq!(transitions.len(), 1);
    assert_eq!(transitions[0].cause, Cause::Config("p".into()));
}

#[test]
fn a_scenario_that_was_removed_starts_at_its_initial_state_and_a_renamed_one_does_not() {
    let with = |name: &str, extra: &str| {
        format!(
            "[check.p]\ntype = \"TCP\"\ntarget = \"127.0.0.1:1\"\nfall = 1\n[scenario.{name}]\n{extra}\n\
             [scenario.{name}.activate]\nwhen = [[\"p!\"]]\n"
        )
    };
    let mut rig = Rig::new(&with("s", ""));
    rig.fail("p");
    rig.reload(&with("t", "renamed_from = \"s\""));
    assert!(rig.is_active("t"));
    assert_eq!(rig.scenario("t").seq, 1);

    // The former name is free again: whoever takes it begins anew, now and after a restart.
    let both = with("t", "renamed_from = \"s\"").replace("renamed_from", "[scenario.s]\n#");
    rig.reload(&both);
    assert!(!rig.is_active("s") && rig.is_active("t"));
    let rig = rig.kill_and_restart(&both, secs(1));
    assert!(!rig.is_active("s") && rig.is_active("t"));

    let mut rig = Rig::new(&with("s", ""));
    rig.fail("p");
    rig.pass("p");
    rig.pass("p");
    rig.pass("p");
    rig.reload(&with("other", ""));
    rig.reload(&with("s", ""));
    assert!(!rig.is_active("s"));
    let rig = rig.kill_and_restart(&with("s", ""), secs(1));
    assert!(!rig.is_active("s"), "also after a restart");
}

#[test]
fn a_scenario_that_was_renamed_while_the_appliance_was_down_keeps_its_state_under_the_new_name() {
    let with =
        |name: &str, extra: &str| format!("[switch.w]\n[scenario.{name}]\n{extra}\nactivate.when = [[\"sw:w\"]]\n");
    let mut rig = Rig::new(&with("s", ""));
    rig.switch("w", true);
    let rig = rig.kill_and_restart(&with("t", "renamed_from = \"s\""), secs(1));
    assert!(rig.is_active("t"));
    // The word is done: without it, and before any other commit, the state is still there.
    let rig = rig.kill_and_restart(&with("t", ""), secs(1));
    assert!(rig.is_active("t"));
    assert_eq!(rig.scenario("t").seq, 1);
}

#[test]
fn the_dwell_counts_on_over_a_restart() {
    let config = "[switch.w]\n[scenario.s]\nmin_dwell = \"60s\"\nactivate.when = [[\"sw:w\"]]\n\
                  deactivate.when = [[\"sw:w!\"]]\n";
    let mut rig = Rig::new(config);
    rig.switch("w", true);
    rig.switch("w", false);
    rig.wait(secs(20));
    let mut rig = rig.kill_and_restart(config, secs(30));
    rig.wait(secs(9));
    assert!(rig.is_active("s"));
    rig.wait(secs(1));
    assert!(!rig.is_active("s"));
}
