//! When a drill is refused.

use bascule::model::scenario::Mode;

use super::guards::GUARDED;
use super::{auto, config, replays, why_not};
use crate::rig::{Rig, mins, secs};

#[test]
fn it_is_refused_where_it_would_not_be_a_drill() {
    let refuses = |rig: &Rig, wanted: &str| {
        let why = why_not(rig, "s", &["customers are hurt"]).unwrap_or_else(|| panic!("not refused: {wanted}"));
        assert!(why.contains(wanted), "{why}");
    };
    let mut rig = Rig::new(&auto());
    rig.pass("p");
    assert_eq!(why_not(&rig, "s", &[]), None);
    rig.drill("s", mins(60), &[], &[]);
    refuses(&rig, "one at a time");

    let mut rig = Rig::new(&auto());
    rig.fail("p");
    refuses(&rig, "s is active");

    let mut rig = Rig::new(&config("off", "auto"));
    rig.fail("p");
    refuses(&rig, "this would be no drill");

    let mut rig = Rig::new(&auto());
    rig.pass("p");
    rig.modes("s", Some(Mode::On), Some(Mode::On));
    refuses(&rig, "stuck");

    let mut rig = Rig::new(&auto());
    rig.pass("p");
    rig.modes("follows", Some(Mode::On), None);
    refuses(&rig, "follows is active");

    let mut rig = Rig::new(&auto().replace("[\"sw:freeze\"]]", "[\"sw:hurt\", \"sw:freeze\"]]"));
    rig.pass("p");
    rig.switch("freeze", true);
    refuses(&rig, "blocked now: change freeze");
    rig.switch("freeze", false);
    rig.switch("hurt", true);
    refuses(&rig, "customers are hurt");

    let mut rig = Rig::new(GUARDED);
    rig.fail("p");
    let why = why_not(&rig, "s", &[]).expect("it is on its way");
    assert!(why.contains("activating"), "{why}");
}

#[test]
fn it_is_refused_where_it_would_run_into_a_blocked_window() {
    // The walk begins on a Monday at 10:00.
    let toml = auto().replace("[switch.hurt]", "[time_window.noon]\nhours = \"12:00-13:00\"\n[switch.hurt]");
    let toml = toml.replace("\"change freeze\" = [\"sw:freeze\"]", "\"noon\" = [\"tw:noon\"]");
    let mut rig = Rig::new(&toml);
    rig.pass("p");
    assert_eq!(why_not(&rig, "s", &[]), None, "over at 11:00");
    rig.wait(mins(60));
    assert_eq!(why_not(&rig, "s", &[]), None, "over when the window opens");
    rig.wait(secs(1));
    let why = why_not(&rig, "s", &[]).expect("it would run into it");
    assert!(why.contains("would run into a blocked window: noon from 2026-01-05T12:00:00"), "{why}");
    rig.wait(mins(60));
    let why = why_not(&rig, "s", &[]).expect("in the window");
    assert!(why.contains("blocked now: noon"), "{why}");
    rig.wait(mins(60));
    assert_eq!(why_not(&rig, "s", &[]), None);
}

#[test]
fn the_permission_of_a_pair_to_return_does_not_stand_in_the_way_and_the_pair_follows_the_drill() {
    let toml = r#"
[appliance]
site = "dc-b"
[datacenter.dc-a]
wan = { targets = ["tcp:127.0.0.1:1"], quorum = 1 }
lan = { targets = ["tcp:127.0.0.1:2"], quorum = 1 }
[datacenter.dc-b]
internet = { targets = ["tcp:127.0.0.1:3"], quorum = 1 }
[datacenter_pair.main]
active = "dc-a"
backup = "dc-b"
return_hold = "1m"
"#;
    let mut rig = Rig::new(toml);
    let checks: Vec<String> = rig.engine.model().checks.iter().map(|check| check.name.to_string()).collect();
    let all_good = |rig: &mut Rig, seconds: u64| {
        for _ in 0..seconds / 5 {
            checks.iter().for_each(|check| rig.pass(check));
            rig.wait(secs(5));
        }
    };
    all_good(&mut rig, 120);
    assert!(rig.is_active("main/to-active"), "all is well");
    assert_eq!(why_not(&rig, "main/from-active", &[]), None);
    rig.records();
    rig.drill("main/from-active", mins(10), &[], &[]);
    assert!(rig.is_active("main/to-backup"), "the backup takes over");
    all_good(&mut rig, 660);
    assert!(!rig.is_active("main/from-active") && !rig.is_active("main/to-backup"));
    let transitions = rig.transitions();
    assert_eq!(transitions.len(), 4);
    assert!(transitions.iter().all(|t| t.drill == Some(1)), "{transitions:#?}");
    replays(&rig);
}
