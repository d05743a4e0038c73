//! What is no override, and so no alert: a drill, and a switch that is back where the configuration has it.

use super::*;
use crate::control::command::Expiry;

const OVERRIDES: &str = "[alert.o]\non = [\"override\"]\ntriggers = [\"noc\"]\n";

fn overrides(w: &mut World) -> Vec<String> {
    w.bench.read(|w| w.view.overrides.keys().map(|key| key.object.to_string()).collect()).unwrap()
}

fn drill(w: &mut World, scenario: &str, lasts: Duration) {
    let command = Command::StartDrill {
        scenario: scenario.into(),
        lasts,
        notify: Vec::new(),
        stop_on: Vec::new(),
        override_guard: false,
        note: Note { expires: Some(Expiry::After(lasts)), reason: Some("quarterly".into()) },
    };
    drop(w.bench.command(command));
    w.settle();
}

fn phase(w: &mut World) -> crate::model::drill::Phase {
    w.bench.read(|w| w.view.drill.as_ref().unwrap().phase).unwrap()
}

#[test]
fn a_drill_tells_nobody_of_the_modes_that_it_sets() {
    use crate::model::drill::Phase;
    let mut w = World::new(OVERRIDES);
    drill(&mut w, "left-out", MINUTE);
    assert_eq!((phase(&mut w), w.told()), (Phase::Running, Vec::new()));
    w.later(2 * MINUTE);
    w.later(2 * MINUTE);
    assert_eq!((phase(&mut w), w.told()), (Phase::Over, Vec::new()));
}

#[test]
fn what_a_person_had_set_before_a_drill_stands_through_it() {
    let mut w = World::new(OVERRIDES);
    let command = Command::SetModes {
        scenario: "left-out".into(),
        activate: Some(Mode::Off),
        deactivate: None,
        override_guard: false,
        if_seq: None,
        note: Note::default(),
    };
    drop(w.bench.command(command));
    w.settle();
    assert_eq!(w.told(), ["raised override left-out"]);
    drill(&mut w, "left-out", MINUTE);
    w.later(2 * MINUTE);
    w.later(2 * MINUTE);
    assert_eq!(phase(&mut w), crate::model::drill::Phase::Over);
    assert_eq!(w.told(), [] as [&str; 0], "neither resolved nor raised anew");
    assert_eq!(overrides(&mut w), ["scenario left-out"]);
}

#[test]
fn a_switch_set_back_to_where_the_configuration_has_it_is_no_override() {
    let mut w = World::new(OVERRIDES);
    w.switch("go", true);
    assert_eq!((w.told(), overrides(&mut w)), (vec!["raised override go".to_owned()], vec!["switch go".to_owned()]));
    w.switch("go", false);
    assert_eq!((w.told(), overrides(&mut w)), (vec!["resolved override go".to_owned()], Vec::new()));
    w.switch("go", false);
    assert_eq!((w.told(), overrides(&mut w)), (Vec::new(), Vec::new()), "set to what it is");
    let w = w.restart(MINUTE);
    assert!(w.bench.core.engine.view().overrides.is_empty());
}

#[test]
fn a_switch_held_where_it_is_for_a_while_is_an_override_until_then() {
    let mut w = World::new(OVERRIDES);
    let note = Note { expires: Some(Expiry::After(MINUTE)), ..Note::default() };
    drop(w.bench.command(Command::SetSwitch { switch: "go".into(), value: false, note }));
    w.settle();
    assert_eq!((w.told(), overrides(&mut w)), (vec!["raised override go".to_owned()], vec!["switch go".to_owned()]));
    w.later(2 * MINUTE);
    assert_eq!((w.told(), overrides(&mut w)), (vec!["resolved override go".to_owned()], Vec::new()));
}
