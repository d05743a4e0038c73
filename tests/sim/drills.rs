//! Drills in virtual time: they end at their time whatever the modes are, modes come back, nobody is told but the drill's
//! own list, and a fault that is real is a failover at once. Every journal is replayed.

use std::sync::Arc;
use std::time::Duration;

use bascule::machine::drill::{Standing, refused};
use bascule::model::drill::{Drill, Ending, Phase};
use bascule::model::event::{AdminIntent, Change, Record, Transition};
use bascule::model::scenario::{Direction, Mode};

use crate::rig::{Rig, mins, secs};

#[path = "drills/begin.rs"]
mod begin;
#[path = "drills/guards.rs"]
mod guards;

const MODES: [Option<Mode>; 4] = [None, Some(Mode::Auto), Some(Mode::On), Some(Mode::Off)];

const BOX: &str = r#"
[check.p]
type = "TCP"
target = "127.0.0.1:1"
interval = "10s"
timeout = "1s"
rise = 1
fall = 1
[switch.hurt]
[switch.freeze]
[trigger.page]
type = "HTTP"
uri = "http://127.0.0.1:1/"
[trigger.channel]
type = "HTTP"
uri = "http://127.0.0.1:2/"
[scenario.s.activate]
mode = "ACTIVATE"
triggers = ["page"]
when = [["p!"]]
[scenario.s.deactivate]
mode = "DEACTIVATE"
triggers = ["page"]
when = [["p{for:15m}"]]
[scenario.follows.activate]
triggers = ["page"]
when = [["sc:s"], ["sw:freeze"]]
[scenario.follows.deactivate]
triggers = ["page"]
when = [["sc:s!{for:1m}", "sw:freeze!"]]
[drills]
blocked = { "change freeze" = ["sw:freeze"] }
[drills.stop_on]
"customers are hurt" = ["sw:hurt"]
"#;

fn config(activate: &str, deactivate: &str) -> String {
    BOX.replace("DEACTIVATE", deactivate).replace("ACTIVATE", activate)
}

fn auto() -> String {
    config("auto", "auto")
}

fn begun(config: &str) -> Rig {
    let mut rig = Rig::new(config);
    rig.pass("p");
    rig.drill("s", mins(60), &[], &[]);
    assert!(rig.is_active("s"));
    rig
}

/// A sample each ten seconds, for `d`.
fn passing(rig: &mut Rig, d: Duration) {
    for _ in 0..d.as_secs() / 10 {
        rig.wait(secs(10));
        rig.pass("p");
    }
    rig.wait(secs(d.as_secs() % 10));
}

fn drill(rig: &Rig) -> Arc<Drill> {
    Arc::clone(rig.engine.view().drill.as_ref().expect("there was a drill"))
}

fn why_not(rig: &Rig, scenario: &str, stop_on: &[&str]) -> Option<String> {
    let model = rig.engine.model();
    let standing = Standing { model, view: rig.engine.view(), now: rig.now.wall };
    let stop_on: Vec<_> = stop_on.iter().map(|name| (*name).into()).collect();
    refused(standing, model.scenario_id(scenario).expect("a scenario"), rig.now.wall + mins(60), &stop_on)
}

fn told(transition: &Transition) -> Vec<(&str, &str)> {
    transition.triggers.iter().map(|trigger| (&*trigger.name, &*trigger.status)).collect()
}

fn replays(rig: &Rig) {
    if let Err(difference) = bascule::rehearse::play(&rig.journal) {
        panic!("{difference}");
    }
}

/// Modes of both directions, with whether they have acted.
fn modes(rig: &Rig) -> [(Mode, bool); 2] {
    Direction::BOTH.map(|d| {
        let mode = &rig.scenario("s").modes[d.index()];
        (mode.mode, mode.spent)
    })
}

#[test]
fn an_hour_is_an_hour_whatever_the_modes_are_and_they_come_back_as_they_were() {
    let (mut ran, mut refusals) = (0, 0);
    for base in [("auto", "auto"), ("auto", "off"), ("off", "auto"), ("off", "off")] {
        for activate in MODES {
            for deactivate in MODES {
                let said = format!("base {base:?}, set {activate:?} and {deactivate:?}");
                let mut rig = Rig::new(&config(base.0, base.1));
                rig.pass("p");
                rig.modes("s", activate, deactivate);
                if activate == Some(Mode::On) {
                    // It is active by now, or stuck: nothing that a drill could begin with.
                    assert!(why_not(&rig, "s", &[]).is_some(), "{said}");
                    refusals += 1;
                    continue;
                }
                assert_eq!(why_not(&rig, "s", &[]), None, "{said}");
                let (before, overrides) = (modes(&rig), rig.engine.view().overrides.clone());
                rig.drill("s", mins(60), &[], &[]);
                assert!(rig.is_active("s"), "{said}");
                assert_eq!(rig.scenario("s").shown(), "pinned");
                passing(&mut rig, secs(3_599));
                assert!(rig.is_active("s"), "{said}: to the last second");
                rig.wait(secs(1));
                assert!(!rig.is_active("s"), "{said}: and not longer");
                assert_eq!((modes(&rig), &rig.engine.view().overrides), (before, &overrides), "{said}");
                let report = drill(&rig);
                assert_eq!((report.phase, &report.ending), (Phase::Over, &Some(Ending::Completed)), "{said}");
                assert_eq!(report.returned_at.map(|at| at.since(report.activated_at.unwrap())), Some(mins(60)));
                passing(&mut rig, mins(5));
                assert_eq!(rig.scenario("s").seq, 2, "{said}: and stays");
                // The next fault is met as the modes say.
                rig.fail("p");
                assert_eq!(rig.is_active("s"), before[0].0 == Mode::Auto, "{said}");
                replays(&rig);
                ran += 1;
            }
        }
    }
    assert_eq!((ran, refusals), (48, 16));
}

#[test]
fn a_late_wake_ends_it_at_its_time_all_the_same() {
    let mut rig = begun(&auto());
    rig.late = secs(7);
    rig.wait(mins(61));
    let report = drill(&rig);
    assert_eq!(report.returned_at, Some(report.ends_at));
    replays(&rig);
}

#[test]
fn only_its_own_list_is_told_of_it_and_of_what_follows_it() {
    let mut rig = Rig::new(&auto());
    rig.pass("p");
    rig.records();
    rig.drill("s", mins(60), &["channel"], &[]);
    passing(&mut rig, mins(62));
    let transitions = rig.transitions();
    let seen: Vec<_> = transitions.iter().map(|t| (&*t.scenario, t.direction.word(), t.drill)).collect();
    let both = ["s", "follows"];
    let expected = ["activate", "deactivate"].map(|direction| both.map(|of| (of, direction, Some(1))));
    assert_eq!(seen, expected.concat(), "the follower goes with it, and comes back after its own hold");
    for transition in &transitions {
        assert_eq!(told(transition), [("channel", "pending"), ("page", "suppressed")]);
    }
    assert_eq!(drill(&rig).commits.len(), 4, "the report has them all, also what came after the end");
    assert_eq!(rig.scenario("follows").drill, None);
    // The next one is nobody's drill.
    rig.fail("p");
    let transitions = rig.transitions();
    assert_eq!(transitions.len(), 2);
    for transition in transitions {
        assert_eq!((told(&transition), transition.drill), (vec![("page", "pending")], None));
    }
    replays(&rig);
}

#[test]
fn what_another_fault_moves_meanwhile_is_no_drill() {
    let mut rig = Rig::new(&auto());
    rig.pass("p");
    rig.drill("follows", mins(60), &[], &[]);
    rig.records();
    rig.fail("p");
    let transitions = rig.transitions();
    assert!(transitions.iter().any(|t| &*t.scenario == "s" && t.drill.is_none() && told(t) == [("page", "pending")]));
    assert_eq!(drill(&rig).ending, Some(Ending::Fault("sc:s".into())), "and the one that is drilled is needed now");
    replays(&rig);
}

#[test]
fn a_condition_ends_it_early_and_so_does_a_person() {
    let mut rig = Rig::new(&auto());
    rig.pass("p");
    rig.drill("s", mins(60), &[], &["customers are hurt"]);
    rig.wait(mins(10));
    rig.switch("hurt", true);
    assert!(!rig.is_active("s"), "in the very step");
    let report = drill(&rig);
    assert_eq!(report.ending, Some(Ending::Condition("customers are hurt".into())));
    assert_eq!(report.returned_at.map(|at| at.since(report.started_at)), Some(mins(10)));
    replays(&rig);

    let mut rig = begun(&config("auto", "off"));
    rig.wait(mins(20));
    rig.switch("hurt", true);
    assert!(rig.is_active("s"), "this one was not told to end on it");
    rig.admin(AdminIntent::StopDrill { override_guard: false });
    assert!(!rig.is_active("s"));
    let report = drill(&rig);
    assert_eq!((&report.ending, report.ended_by.is_some()), (&Some(Ending::Stopped), true));
    assert_eq!(modes(&rig), [(Mode::Auto, false), (Mode::Off, false)]);
    replays(&rig);
}

#[test]
fn a_fault_that_is_real_becomes_a_failover_that_nobody_sees_as_a_return() {
    let mut rig = Rig::new(&auto());
    rig.pass("p");
    rig.drill("s", mins(60), &["channel"], &[]);
    rig.wait(mins(30));
    rig.records();
    rig.fail("p");
    assert!(rig.is_active("s") && rig.is_active("follows"));
    let transitions = rig.transitions();
    let seen: Vec<_> = transitions.iter().map(|t| (&*t.scenario, t.seq, t.drill, told(t))).collect();
    let (drilled, real) = (vec![("channel", "pending"), ("page", "suppressed")], vec![("page", "pending")]);
    assert_eq!(
        seen,
        [
            ("s", 2, Some(1), drilled.clone()),
            ("s", 3, None, real.clone()),
            ("follows", 2, Some(1), drilled),
            ("follows", 3, None, real)
        ],
        "who is told of failovers is told, of what follows too"
    );
    let report = drill(&rig);
    assert_eq!((report.phase, &report.ending), (Phase::Over, &Some(Ending::Fault("p!".into()))));
    assert_eq!(rig.scenario("s").shown(), "", "the modes are back");
    // It returns by its own condition, as every failover.
    passing(&mut rig, mins(15));
    rig.wait(secs(10));
    rig.pass("p");
    rig.wait(mins(15));
    assert!(!rig.is_active("s"));
    replays(&rig);
}

#[test]
fn where_the_activation_is_left_to_people_a_fault_does_not_end_it_and_the_return_obeys() {
    let mut rig = begun(&config("off", "auto"));
    rig.wait(mins(30));
    rig.fail("p");
    assert_eq!(drill(&rig).phase, Phase::Running);
    rig.wait(mins(30));
    assert!(!rig.is_active("s"));
    replays(&rig);
}

#[test]
fn it_survives_a_kill_at_any_moment_and_ends_at_its_time() {
    for killed_at in [0, 1, 30, 59] {
        let mut rig = begun(&config("auto", "off"));
        rig.wait(mins(killed_at));
        let mut rig = rig.kill_and_restart(&config("auto", "off"), secs(20));
        assert!(rig.is_active("s"), "after {killed_at} min");
        assert_eq!(drill(&rig).phase, Phase::Running);
        let left = drill(&rig).ends_at.since(rig.now.wall);
        rig.wait(left - secs(1));
        assert!(rig.is_active("s"));
        rig.wait(secs(1));
        assert!(!rig.is_active("s"));
        assert_eq!(modes(&rig), [(Mode::Auto, false), (Mode::Off, false)]);
        replays(&rig);
    }
}

#[test]
fn one_whose_time_passed_while_the_appliance_was_down_is_over_at_the_start() {
    let mut rig = begun(&auto());
    rig.wait(mins(30));
    let mut rig = rig.kill_and_restart(&auto(), mins(31));
    assert!(!rig.is_active("s"), "with the first step");
    let report = drill(&rig);
    assert_eq!((report.phase, &report.ending), (Phase::Over, &Some(Ending::Completed)));
    assert_eq!(modes(&rig), [(Mode::Auto, false), (Mode::Auto, false)]);
    // And it is over after the next start as well.
    rig.wait(mins(1));
    let rig = rig.kill_and_restart(&auto(), secs(1));
    assert_eq!(drill(&rig).phase, Phase::Over);
    assert_eq!(rig.scenario("s").seq, 2);
    replays(&rig);
}

#[test]
fn whoever_sets_a_mode_takes_it_over() {
    // `return scenario s`: as a stop, and the `on` stays shown.
    let mut rig = begun(&config("auto", "off"));
    rig.modes("s", Some(Mode::Auto), Some(Mode::On));
    assert!(!rig.is_active("s"));
    assert_eq!(drill(&rig).ending, Some(Ending::TakenOver));
    assert_eq!(modes(&rig), [(Mode::Auto, false), (Mode::On, true)]);
    assert_eq!(rig.transitions().last().and_then(|t| t.drill), Some(1));
    replays(&rig);

    // Anything else: it stays where it is, and what follows is real.
    let mut rig = begun(&config("auto", "off"));
    rig.modes("s", Some(Mode::On), None);
    assert!(rig.is_active("s"));
    assert_eq!(drill(&rig).ending, Some(Ending::TakenOver));
    assert_eq!(modes(&rig), [(Mode::On, true), (Mode::Off, false)]);
    rig.records();
    rig.modes("s", Some(Mode::Auto), Some(Mode::On));
    let transitions = rig.transitions();
    assert_eq!(transitions.iter().map(|t| (t.drill, told(t))).next(), Some((None, vec![("page", "pending")])));
    replays(&rig);
}

#[test]
fn a_mode_whose_time_is_over_meanwhile_does_not_come_back() {
    let mut rig = Rig::new(&auto());
    rig.pass("p");
    let scenario = rig.engine.model().scenario_id("s").unwrap();
    let act =
        bascule::model::event::Act { actor: "admin:test".into(), reason: None, expires: Some(rig.now.wall + mins(30)) };
    let (activate, deactivate) = (Some(Mode::Off), None);
    let intent = AdminIntent::SetModes { scenario, activate, deactivate, override_guard: false };
    rig.step(bascule::machine::Input::Admin { act, intent });
    rig.drill("s", mins(60), &[], &[]);
    rig.wait(mins(60));
    assert_eq!(modes(&rig), [(Mode::Auto, false), (Mode::Auto, false)]);
    assert!(rig.engine.view().overrides.is_empty());
    replays(&rig);
}

#[test]
fn it_goes_on_over_a_reload_under_another_name_too_and_ends_with_its_scenario() {
    let mut rig = begun(&auto());
    rig.reload(&config("off", "off"));
    assert_eq!((rig.is_active("s"), drill(&rig).phase), (true, Phase::Running), "other base modes");
    let renamed = auto().replace("scenario.s.", "scenario.t.").replace("sc:s", "sc:t");
    let renamed = renamed.replace("[scenario.t.activate]", "[scenario.t]\nrenamed_from = \"s\"\n[scenario.t.activate]");
    rig.reload(&renamed);
    assert_eq!((rig.is_active("t"), &*drill(&rig).scenario), (true, "t"));
    rig.wait(mins(60));
    assert!(!rig.is_active("t"));
    replays(&rig);

    let mut rig = begun(&auto());
    rig.reload("[switch.w]\n");
    assert_eq!(drill(&rig).ending, Some(Ending::Removed));
    assert!(rig.engine.view().overrides.is_empty());
}

#[test]
fn the_journal_says_who_began_it_what_it_did_and_how_it_ended() {
    let mut rig = Rig::new(&auto());
    rig.pass("p");
    rig.records();
    rig.drill("s", mins(60), &["channel"], &["customers are hurt"]);
    rig.wait(mins(60));
    let records = rig.records();
    let begun = records.iter().find_map(|r| match r {
        Record::Act { object, act, change: Change::DrillStarted { id, ends_at, notify, stop_on, .. } } => {
            Some((object.to_string(), act.actor.to_string(), *id, *ends_at, notify.clone(), stop_on.clone()))
        }
        _ => None,
    });
    let (object, actor, id, ends_at, notify, stop_on) = begun.expect("its beginning is an act");
    assert_eq!((&*object, &*actor, id, ends_at), ("scenario s", "admin:test", 1, rig.now.wall));
    assert_eq!((notify, stop_on), (vec!["channel".into()], vec!["customers are hurt".into()]));
    let phases: Vec<_> =
        records.iter().filter_map(|r| if let Record::Drill(d) = r { Some(d.phase) } else { None }).collect();
    assert_eq!(phases, [Phase::Running, Phase::Returning, Phase::Over]);
    let report = drill(&rig);
    assert_eq!(report.act.reason.as_deref(), Some("test"));
    assert_eq!(report.ends_at.since(report.started_at), mins(60), "planned");
    let active = |at: Option<bascule::model::time::Wall>| at.expect("it was active").since(report.started_at);
    assert_eq!((active(report.activated_at), active(report.returned_at)), (secs(0), mins(60)), "actual");
    let commits: Vec<_> = report.commits.iter().map(|c| (&*c.scenario, c.seq, c.direction.word(), c.marked)).collect();
    assert_eq!(commits[..2], [("s", 1, "activate", true), ("follows", 1, "activate", true)]);
    assert_eq!(commits[2], ("s", 2, "deactivate", true));
}
