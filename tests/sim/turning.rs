//! When a scenario may be about to change: what the shorter TTL of answers waits for.

use crate::rig::{Rig, mins, secs};

/// Some record has a `degraded_ttl`, else nobody looks.
const ZONE: &str = r#"
[zone."example.test"]
ttl = "60s"
soa = { mname = "ns", rname = "hostmaster" }
static = "@ NS ns\nns A 192.0.2.53"
[zone."example.test".rrset."www A"]
degraded_ttl = "5s"
records = [{ data = "192.0.2.1", cond = "s" }, "192.0.2.2"]
"#;

fn rig(scenario: &str) -> Rig {
    let checks: String = ["p", "q"]
        .iter()
        .map(|name| format!("[check.{name}]\ntype = \"TCP\"\ntarget = \"127.0.0.1:1\"\nrise = 3\nfall = 3\n"))
        .collect();
    Rig::new(&format!("{checks}{scenario}{ZONE}"))
}

#[test]
fn a_first_failed_sample_of_three_turns_and_the_next_good_one_ends_it() {
    let mut rig = rig("[scenario.s.activate]\nwhen = [[\"p!\"]]\n[scenario.s.deactivate]\nwhen = [[\"p\"]]\n");
    rig.pass("p");
    assert!(!rig.scenario("s").turning);
    rig.fail("p");
    assert!(rig.scenario("s").turning && !rig.is_active("s"));
    rig.pass("p");
    assert!(!rig.scenario("s").turning);
    for _ in 0..3 {
        rig.fail("p");
    }
    assert!(rig.is_active("s") && !rig.scenario("s").turning);
    // And on the way back.
    rig.pass("p");
    assert!(rig.scenario("s").turning);
}

#[test]
fn a_hold_turns_as_long_as_it_counts() {
    let mut rig = rig("[scenario.s.activate]\nwhen = [[\"p!{for:3m}\"]]\n");
    rig.pass("p");
    for _ in 0..3 {
        rig.fail("p");
    }
    assert!(rig.scenario("s").turning && !rig.is_active("s"));
    rig.wait(mins(2));
    assert!(rig.scenario("s").turning);
    rig.wait(mins(1));
    assert!(rig.is_active("s"));
}

#[test]
fn a_group_that_another_term_keeps_from_completing_does_not_turn() {
    let mut rig = rig("[scenario.s.activate]\nwhen = [[\"p!\", \"q\"]]\n");
    rig.pass("p");
    rig.pass("q");
    for _ in 0..3 {
        rig.fail("q");
    }
    rig.fail("p");
    assert!(!rig.scenario("s").turning, "q is down");
    rig.pass("q");
    assert!(rig.scenario("s").turning, "q may come up");
}

#[test]
fn a_scenario_turns_with_the_one_that_it_follows() {
    let mut rig = rig("[scenario.a.activate]\nwhen = [[\"p!\"]]\n[scenario.s.activate]\nwhen = [[\"sc:a\"]]\n");
    rig.pass("p");
    assert!(!rig.scenario("s").turning);
    rig.fail("p");
    assert!(rig.scenario("a").turning && rig.scenario("s").turning);
    rig.pass("p");
    assert!(!rig.scenario("s").turning);
}

#[test]
fn a_direction_that_is_off_does_not_turn() {
    let mut rig = rig("[scenario.s.activate]\nmode = \"off\"\nwhen = [[\"p!\"]]\n");
    rig.pass("p");
    rig.fail("p");
    assert!(!rig.scenario("s").turning);
}

#[test]
fn what_waits_for_its_dwell_turns() {
    let text = "[scenario.s]\nmin_dwell = \"60s\"\n[scenario.s.activate]\nwhen = [[\"p!\"]]\n\
                [scenario.s.deactivate]\nwhen = [[\"p\"]]\n";
    let mut rig = rig(text);
    rig.pass("p");
    for _ in 0..3 {
        rig.fail("p");
    }
    for _ in 0..3 {
        rig.wait(secs(1));
        rig.pass("p");
    }
    assert!(rig.is_active("s") && rig.scenario("s").turning);
}
