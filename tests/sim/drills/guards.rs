//! Guards of drilled scenarios.

use bascule::model::drill::{Ending, Phase};
use bascule::model::event::{AdminIntent, GuardVerdict};
use bascule::model::scenario::Mode;

use super::{drill, modes, replays};
use crate::rig::{Rig, mins, secs};

pub const GUARDED: &str = r#"
[check.p]
type = "TCP"
target = "127.0.0.1:1"
rise = 1
fall = 1
[query.safe]
type = "HTTP"
uri = "http://127.0.0.1:1/"
[scenario.s.activate]
when = [["p!"]]
guard = { run = ["safe"], on_timeout = "block", deadline = "2h", backoff = "5s" }
[scenario.s.deactivate]
mode = "off"
guard = { run = ["safe"], on_timeout = "block", deadline = "2h", backoff = "5s" }
"#;

#[test]
fn the_guard_is_asked_both_ways_and_holds_the_return_without_the_modes_getting_lost() {
    let mut rig = Rig::new(GUARDED);
    rig.pass("p");
    rig.drill("s", mins(60), &[], &[]);
    assert_eq!((rig.scenario("s").word(), drill(&rig).phase), ("activating", Phase::Starting));
    let mut rig = rig.kill_and_restart(GUARDED, secs(5));
    rig.wait(secs(55));
    rig.pass("p");
    rig.guard("s", GuardVerdict::Pass);
    assert_eq!(drill(&rig).phase, Phase::Running);
    rig.wait(mins(59));
    assert_eq!((rig.scenario("s").word(), drill(&rig).phase), ("deactivating", Phase::Returning));
    rig.guard("s", GuardVerdict::Refuse);
    rig.wait(secs(5));
    let mut rig = rig.kill_and_restart(GUARDED, secs(5));
    rig.pass("p");
    assert_eq!(rig.scenario("s").word(), "deactivating", "asked again, also after a kill");
    rig.guard("s", GuardVerdict::Pass);
    let report = drill(&rig);
    assert_eq!((report.phase, &report.ending), (Phase::Over, &Some(Ending::Completed)));
    assert_eq!(report.returned_at.map(|at| at.since(report.ends_at)), Some(secs(10)), "later than planned");
    assert_eq!(modes(&rig), [(Mode::Auto, false), (Mode::Off, false)]);
    replays(&rig);
}

#[test]
fn a_guard_that_refuses_ends_it_and_one_that_does_not_answer_ends_it_at_its_time() {
    let mut rig = Rig::new(GUARDED);
    rig.pass("p");
    rig.drill("s", mins(60), &[], &[]);
    rig.guard("s", GuardVerdict::Refuse);
    assert_eq!(drill(&rig).ending, Some(Ending::Guard("test".into())));
    assert_eq!((rig.scenario("s").word(), modes(&rig)), ("inactive", [(Mode::Auto, false), (Mode::Off, false)]));
    rig.wait(mins(10));
    assert_eq!(rig.scenario("s").word(), "inactive", "and it does not ask again");

    rig.drill("s", mins(60), &[], &[]);
    rig.wait(mins(60));
    let report = drill(&rig);
    assert_eq!((report.id, &report.ending), (2, &Some(Ending::NotBegun)));
    assert_eq!((rig.scenario("s").word(), rig.scenario("s").seq), ("inactive", 0));
    replays(&rig);
}

#[test]
fn a_real_fault_in_a_guarded_drill_does_not_send_anybody_back_while_the_guard_is_asked() {
    let mut rig = Rig::new(GUARDED);
    rig.pass("p");
    rig.drill("s", mins(60), &[], &[]);
    rig.guard("s", GuardVerdict::Pass);
    rig.wait(mins(60));
    assert_eq!(rig.scenario("s").word(), "deactivating");
    rig.fail("p");
    assert_eq!((rig.scenario("s").word(), rig.scenario("s").seq), ("active", 3));
    let last = rig.scenario("s").last_transition.clone().expect("a commit");
    assert_eq!(last.guard.as_ref().map(|guard| &*guard.outcome), Some("standing"));
    replays(&rig);
}

#[test]
fn the_guard_of_the_return_can_be_passed_by_a_person() {
    let mut rig = Rig::new(GUARDED);
    rig.pass("p");
    rig.drill("s", mins(60), &[], &[]);
    rig.guard("s", GuardVerdict::Pass);
    rig.admin(AdminIntent::StopDrill { override_guard: false });
    assert_eq!(rig.scenario("s").word(), "deactivating");
    rig.admin(AdminIntent::StopDrill { override_guard: true });
    assert_eq!((rig.scenario("s").word(), drill(&rig).phase), ("inactive", Phase::Over));
    replays(&rig);
}
