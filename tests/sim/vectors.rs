//! Conditions, holds and the everyday patterns.

use bascule::model::event::Cause;

use crate::rig::{Rig, mins, secs};

const FAST_IN_SLOW_OUT: &str = r#"
[check.p]
type = "TCP"
target = "127.0.0.1:1"
interval = "1s"
timeout = "500ms"
rise = 3
fall = 3
[scenario.s.activate]
when = [["p!{fails:1}"]]
[scenario.s.deactivate]
when = [["p{for:15m}"]]
"#;

#[test]
fn fast_in_slow_out_activates_on_one_lost_sample_and_returns_fifteen_minutes_after_the_last() {
    let mut rig = Rig::new(FAST_IN_SLOW_OUT);
    rig.pass("p");
    assert!(!rig.is_active("s"));
    rig.wait(secs(1));
    rig.fail("p");
    assert!(rig.is_active("s"), "one failed sample is enough, although `fall` is three");
    // 14 min 59 s of clean samples are not enough …
    rig.passing("p", secs(14 * 60 + 58));
    // … and a blip begins the hold anew.
    rig.wait(secs(1));
    rig.fail("p");
    rig.passing("p", secs(15 * 60 - 1));
    assert!(rig.is_active("s"));
    rig.wait(std::time::Duration::from_micros(999_999));
    assert!(rig.is_active("s"));
    rig.wait(std::time::Duration::from_micros(1));
    assert!(!rig.is_active("s"), "exactly fifteen minutes after the last failed sample");
    let transitions = rig.transitions();
    assert_eq!(transitions.len(), 2);
    assert_eq!(transitions[1].cause, Cause::Condition("p{for:15m}".into()));
}

#[test]
fn careful_in_fast_out_wants_three_failures_in_a_row_and_returns_on_the_first_success() {
    let mut rig = Rig::new(
        r#"
        [check.p]
        type = "TCP"
        target = "127.0.0.1:1"
        fall = 5
        [scenario.s.activate]
        when = [["p!{fails:3}"]]
        [scenario.s.deactivate]
        when = [["p{passes:1}"]]
        "#,
    );
    for ok in [true, false, false, true, false, false] {
        if ok {
            rig.pass("p")
        } else {
            rig.fail("p")
        }
        assert!(!rig.is_active("s"));
    }
    rig.fail("p");
    assert!(rig.is_active("s"));
    rig.pass("p");
    assert!(!rig.is_active("s"));
}

#[test]
fn a_hold_ends_when_the_check_comes_up_where_that_is_later() {
    let mut rig = Rig::new(
        r#"
        [check.p]
        type = "TCP"
        target = "127.0.0.1:1"
        rise = 10
        fall = 1
        [scenario.s.activate]
        when = [["p!"]]
        [scenario.s.deactivate]
        when = [["p{for:3s}"]]
        "#,
    );
    rig.fail("p");
    assert!(rig.is_active("s"));
    rig.passing("p", secs(9));
    assert!(rig.is_active("s"), "the hold is over, and the check is not up yet");
    rig.passing("p", secs(1));
    assert!(!rig.is_active("s"));
}

#[test]
fn a_negated_hold_counts_the_time_down_and_survives_failing_samples() {
    let mut rig = Rig::new(
        r#"
        [check.p]
        type = "TCP"
        target = "127.0.0.1:1"
        rise = 1
        fall = 1
        [scenario.s.activate]
        when = [["p!{for:3m}"]]
        "#,
    );
    rig.pass("p");
    rig.fail("p");
    rig.wait(mins(2));
    rig.fail("p");
    rig.wait(secs(59));
    assert!(!rig.is_active("s"));
    rig.wait(secs(1));
    assert!(rig.is_active("s"));
}

#[test]
fn an_unknown_check_fires_nothing_in_either_direction() {
    let mut rig = Rig::new(FAST_IN_SLOW_OUT);
    rig.wait(mins(60));
    assert!(!rig.is_active("s"));
    assert!(rig.transitions().is_empty());
}

#[test]
fn scenarios_settle_in_topological_order_within_one_input() {
    let mut rig = Rig::new(
        r#"
        [check.p]
        type = "TCP"
        target = "127.0.0.1:1"
        fall = 1
        [scenario.a.activate]
        when = [["sc:b"]]
        [scenario.b.activate]
        when = [["sc:c", "p!"]]
        [scenario.c.activate]
        when = [["p!"]]
        "#,
    );
    rig.fail("p");
    let order: Vec<String> = rig.transitions().iter().map(|t| t.scenario.to_string()).collect();
    assert_eq!(order, ["c", "b", "a"]);
}

#[test]
fn a_gate_that_is_not_true_lets_the_state_change_and_holds_the_triggers_back_for_good() {
    let mut rig = Rig::new(
        r#"
        [check.p]
        type = "TCP"
        target = "127.0.0.1:1"
        fall = 1
        [switch.open]
        [trigger.page]
        type = "HTTP"
        uri = "http://127.0.0.1:1/"
        [scenario.s.activate]
        when = [["p!"]]
        gate = [["sw:open"]]
        triggers = ["page"]
        "#,
    );
    rig.fail("p");
    assert!(rig.is_active("s"));
    let transition = rig.transitions().remove(0);
    assert_eq!(&*transition.triggers[0].status, "suppressed");
    rig.switch("open", true);
    assert!(rig.transitions().is_empty(), "nothing is made up later");
}

#[test]
fn both_conditions_true_means_activation_wins() {
    let mut rig = Rig::new(
        r#"
        [switch.a]
        [switch.d]
        [scenario.s.activate]
        when = [["sw:a"]]
        [scenario.s.deactivate]
        when = [["sw:d"]]
        "#,
    );
    rig.switch("d", true);
    rig.switch("a", true);
    assert!(rig.is_active("s"));
    rig.wait(mins(1));
    assert!(rig.is_active("s"), "deactivation needs the activation condition not true");
    rig.switch("a", false);
    assert!(!rig.is_active("s"));
    assert_eq!(rig.transitions().len(), 2);
}

#[test]
fn a_dwell_is_a_floor_between_automatic_transitions_and_its_end_is_an_evaluation() {
    let mut rig = Rig::new(
        r#"
        [switch.a]
        [scenario.s]
        min_dwell = "1m"
        [scenario.s.activate]
        when = [["sw:a"]]
        [scenario.s.deactivate]
        when = [["sw:a!"]]
        "#,
    );
    rig.switch("a", true);
    rig.switch("a", false);
    rig.wait(secs(59));
    assert!(rig.is_active("s"));
    rig.wait(secs(1));
    assert!(!rig.is_active("s"));
}

#[test]
fn more_than_ten_automatic_commits_in_ten_minutes_hold_the_state_but_never_an_activation() {
    let mut rig = Rig::new(
        r#"
        [switch.a]
        [scenario.s.activate]
        when = [["sw:a"]]
        [scenario.s.deactivate]
        when = [["sw:a!"]]
        "#,
    );
    for _ in 0..5 {
        rig.switch("a", true);
        rig.switch("a", false);
        rig.wait(secs(10));
    }
    assert_eq!(rig.transitions().len(), 10);
    rig.switch("a", true);
    assert!(rig.is_active("s"), "activation is excepted");
    rig.switch("a", false);
    assert!(rig.is_active("s"), "held");
    assert!(rig.scenario("s").oscillating);
    // Over when the window holds fewer.
    rig.wait(mins(10));
    assert!(!rig.is_active("s"));
    assert!(!rig.scenario("s").oscillating);
}

#[test]
fn a_clock_that_is_set_back_does_not_prolong_an_oscillation() {
    let mut rig = Rig::new("[switch.a]\n[scenario.s]\nactivate.when = [[\"sw:a\"]]\ndeactivate.when = [[\"sw:a!\"]]\n");
    for _ in 0..6 {
        rig.switch("a", true);
        rig.switch("a", false);
    }
    assert!(rig.is_active("s") && rig.scenario("s").oscillating);
    rig.now.wall = rig.now.wall - mins(24 * 60);
    rig.wait(mins(10));
    assert!(!rig.is_active("s"), "ten minutes by any clock");
    assert!(!rig.scenario("s").oscillating);
}

#[test]
fn latency_counts_a_failed_sample_as_infinite_and_too_few_samples_as_unknown() {
    let mut rig = Rig::new(
        r#"
        [check.p]
        type = "TCP"
        target = "127.0.0.1:1"
        fall = 3
        [switch.a]
        [scenario.s.activate]
        when = [["sw:a"]]
        [scenario.s.deactivate]
        when = [["p{latency.p95<80ms over 4 samples, leave at 100ms}"]]
        "#,
    );
    rig.switch("a", true);
    rig.switch("a", false);
    for _ in 0..3 {
        rig.pass("p");
    }
    assert!(rig.is_active("s"), "three of four samples are too few");
    rig.fail("p");
    assert!(rig.is_active("s"), "a failed sample is infinite");
    for _ in 0..4 {
        assert!(rig.is_active("s"));
        rig.pass("p");
    }
    assert!(!rig.is_active("s"));
}

#[test]
fn an_operators_drain_does_not_look_like_a_fault() {
    let mut rig = Rig::new(
        r#"
        [service.web1]
        type = "HTTP"
        address = "127.0.0.1:1"
        monitors = []
        [scenario.fault.activate]
        when = [["svc:web1.fault"]]
        [scenario.gone.activate]
        when = [["svc:web1!"]]
        "#,
    );
    rig.pass("web1:tcp-default");
    rig.disable("web1", Some(secs(30)), false);
    assert!(!rig.is_active("fault"));
    assert!(rig.is_active("gone"), "a draining service attracts no new clients");
}
