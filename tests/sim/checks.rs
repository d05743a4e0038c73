//! Checks through the engine: what they remember, what they derive from, and failures that come together.

use std::time::Duration;

use bascule::machine::Input;
use bascule::model::condition::Truth;
use bascule::model::event::{Outcome, Record, TargetResult, Verdict};
use bascule::model::state::RECENT_MAX;

use crate::rig::{Rig, secs};

fn state(rig: &Rig, check: &str) -> Truth {
    rig.engine.view().checks[rig.engine.model().check_id(check).expect("a check").index()].state
}

/// `correlated_failure` that is told now: kind and name.
fn told(rig: &Rig) -> Vec<String> {
    let view = rig.engine.view();
    view.correlated.iter().map(|told| format!("{} {}", told.kind.word(), told.name)).collect()
}

fn correlated_records(rig: &mut Rig) -> Vec<String> {
    let shown = |record| match record {
        Record::Warning { object, text } if text.starts_with("correlated_failure") => Some(format!("{object}: {text}")),
        Record::Ended { object, what, .. } if &*what == "correlated_failure" => Some(format!("{object}: over")),
        _ => None,
    };
    rig.records().into_iter().filter_map(shown).collect()
}

// === What is derived ===

const DERIVED: &str = "[check.api]\ntype = \"TCP\"\naddress = \"192.0.2.1:80\"\nrise = 1\nfall = 1\n\
     [scenario.dr.activate]\nwhen = [[\"api!\"]]\n[scenario.dr.deactivate]\nwhen = [[\"api\"]]\n\
     [check.dr-is-on]\ntype = \"SCENARIO\"\nterm = \"sc:dr\"\ninterval = \"1s\"\nrise = 2\nfall = 1\n\
     [scenario.after.activate]\nwhen = [[\"dr-is-on\"]]\n[scenario.after.deactivate]\nwhen = [[\"dr-is-on!\"]]\n";

#[test]
fn a_check_of_a_scenario_takes_its_samples_by_itself_and_is_slow_as_its_rise_says() {
    let mut rig = Rig::new(DERIVED);
    rig.pass("api");
    rig.wait(secs(3));
    assert_eq!(state(&rig, "dr-is-on"), Truth::False);
    rig.fail("api");
    assert!(rig.is_active("dr"));
    rig.wait(Duration::from_millis(1_100));
    assert_eq!((state(&rig, "dr-is-on"), rig.is_active("after")), (Truth::False, false), "one passed sample of two");
    rig.wait(secs(1));
    assert_eq!((state(&rig, "dr-is-on"), rig.is_active("after")), (Truth::True, true));
    rig.pass("api");
    rig.wait(Duration::from_millis(1_100));
    assert_eq!((state(&rig, "dr-is-on"), rig.is_active("after")), (Truth::False, false));
}

#[test]
fn a_derived_check_goes_on_after_a_reload_that_moves_every_id() {
    let mut rig = Rig::new(DERIVED);
    rig.fail("api");
    rig.wait(secs(3));
    assert_eq!(state(&rig, "dr-is-on"), Truth::True);
    let more = "[check.a]\ntype = \"TCP\"\naddress = \"192.0.2.9:80\"\n[scenario.a.activate]\nwhen = [[\"a!\"]]\n";
    rig.reload(&format!("{DERIVED}{more}"));
    assert_eq!(state(&rig, "dr-is-on"), Truth::True, "what has not changed keeps its state");
    rig.pass("api");
    rig.wait(secs(2));
    assert_eq!(state(&rig, "dr-is-on"), Truth::False);
    // Forced like any other.
    let check = rig.engine.model().check_id("dr-is-on").unwrap();
    rig.admin(bascule::model::event::AdminIntent::ForceCheck { check, up: Some(true) });
    assert!(rig.is_active("after"));
}

// === What is remembered ===

#[test]
fn a_check_remembers_its_last_samples_and_not_more_over_a_reload_until_it_changes() {
    const TOML: &str = "[check.api]\ntype = \"TCP\"\naddress = \"192.0.2.1:80\"\n";
    let mut rig = Rig::new(TOML);
    for _ in 0..100 {
        rig.pass("api");
        rig.wait(secs(1));
    }
    rig.fail("api");
    let lately = |rig: &Rig| {
        let history = &rig.engine.view().histories[0];
        (history.recent().len(), history.recent().last().map(|sample| sample.outcome))
    };
    assert_eq!(lately(&rig), (RECENT_MAX, Some(Outcome::Fail)));
    assert_eq!(rig.engine.view().histories[0].percentiles().map(|p| p.answers), Some(100), "a failure has no latency");
    rig.reload(&format!("{TOML}fall = 5\n"));
    assert_eq!(lately(&rig), (RECENT_MAX, Some(Outcome::Fail)), "another schedule is no other check");
    rig.reload(&TOML.replace("192.0.2.1", "192.0.2.2"));
    assert_eq!(lately(&rig), (0, None), "another target is");
}

// === Failures that come together ===

fn farm(path: &str) -> String {
    let service =
        |n| format!("[service.web{n}]\ntype = \"HTTP\"\naddress = \"192.0.2.{n}:80\"\nmonitors = [\"page\"]\n");
    let services: String = (1..=3).map(service).collect();
    format!(
        "[monitor.page]\ntype = \"HTTP\"\nrequest = \"GET {path}\"\nretries = 2\ninterval = \"5s\"\n{services}\
         [vserver.web]\ntype = \"HTTP\"\nservices = [\"web1\", \"web2\", \"web3\"]\n"
    )
}

const INSTANCES: [&str; 3] = ["web1:page", "web2:page", "web3:page"];

#[test]
fn a_monitor_that_was_changed_and_fails_everywhere_is_told_once_and_until_it_passes_somewhere() {
    let mut rig = Rig::new(&farm("/health"));
    INSTANCES.iter().for_each(|check| rig.pass(check));
    rig.reload(&farm("/haelth"));
    rig.records();
    for check in INSTANCES {
        rig.fail(check);
        rig.fail(check);
    }
    assert_eq!(told(&rig), ["monitor page"]);
    let records = correlated_records(&mut rig);
    assert_eq!(records.len(), 1, "{records:?}");
    assert!(records[0].contains("monitor page is new or changed, and fails on all 3 services"), "{records:?}");
    rig.fail("web1:page");
    assert!(correlated_records(&mut rig).is_empty(), "told once");
    rig.reload(&farm("/haelth"));
    assert_eq!(told(&rig), ["monitor page"], "a reload that changes nothing does not tell it again");
    assert!(correlated_records(&mut rig).is_empty());
    rig.reload(&farm("/health"));
    rig.pass("web2:page");
    assert!(told(&rig).is_empty());
    assert_eq!(correlated_records(&mut rig), ["check web1:page: over"]);
}

#[test]
fn a_monitor_that_has_passed_somewhere_is_not_suspected() {
    let mut rig = Rig::new(&farm("/health"));
    rig.pass("web3:page");
    for check in INSTANCES {
        rig.fail(check);
        rig.fail(check);
        rig.wait(secs(30));
    }
    assert!(told(&rig).is_empty());
}

#[test]
fn most_members_of_a_vserver_that_go_down_within_an_interval_are_told_as_one_failure() {
    let mut rig = Rig::new(&farm("/health"));
    INSTANCES.iter().for_each(|check| rig.pass(check));
    let fall = |rig: &mut Rig, check| {
        rig.fail(check);
        rig.fail(check);
    };
    // One after the other is no such thing.
    fall(&mut rig, "web1:page");
    rig.wait(secs(60));
    fall(&mut rig, "web2:page");
    assert!(told(&rig).is_empty());
    INSTANCES.iter().for_each(|check| rig.pass(check));
    fall(&mut rig, "web1:page");
    rig.wait(secs(2));
    fall(&mut rig, "web3:page");
    assert_eq!(told(&rig), ["vserver web"]);
    assert!(correlated_records(&mut rig)[0].contains("2 of 3 members of vserver web went down within one interval"));
    rig.wait(secs(600));
    assert_eq!(told(&rig), ["vserver web"], "it lasts as long as most of them are down");
    rig.pass("web1:page");
    assert!(told(&rig).is_empty());
}

#[test]
fn a_check_with_several_targets_is_suspected_where_it_never_passed_and_all_of_them_fail() {
    let toml = "[check.api]\ntype = \"TCP\"\ntargets = [\"192.0.2.1:80\", \"192.0.2.2:80\"]\nquorum = 2\nfall = 2\n";
    let mut rig = Rig::new(toml);
    let sample = |rig: &mut Rig, outcomes: [Outcome; 2]| {
        let check = rig.engine.model().check_id("api").unwrap();
        let one = |outcome| TargetResult { outcome, latency: Duration::ZERO, detail: "test".into() };
        let verdict = Verdict::new(Outcome::Fail, Duration::ZERO, "test").with_targets(outcomes.map(one).to_vec());
        rig.step(Input::Verdict { check, verdict });
    };
    sample(&mut rig, [Outcome::Fail, Outcome::Pass]);
    sample(&mut rig, [Outcome::Fail, Outcome::Pass]);
    assert_eq!((state(&rig, "api"), told(&rig).len()), (Truth::False, 0), "one target answers: it is not the check");
    sample(&mut rig, [Outcome::Fail, Outcome::Fail]);
    assert_eq!(told(&rig), ["check api"]);
    sample(&mut rig, [Outcome::Fail, Outcome::Pass]);
    assert!(told(&rig).is_empty());
}

#[test]
fn an_access_list_of_which_nothing_ever_answered_is_suspected_before_the_site() {
    let mut rig = Rig::new(
        "[appliance]\nsite = \"b\"\n[datacenter.a]\nwan = { targets = [\"tcp:192.0.2.1:1\", \"tcp:192.0.2.2:1\"], fall = 1 }\n\
         lan = { targets = [\"tcp:10.0.0.1:1\"], fall = 1 }\n[datacenter.b]\n",
    );
    for check in ["dc:a.wan#0", "dc:a.lan#0", "dc:a.wan#1"] {
        rig.fail(check);
    }
    assert_eq!(told(&rig), ["datacenter a.wan"], "one target alone is no crowd");
    rig.pass("dc:a.wan#1");
    assert!(told(&rig).is_empty());
}

// === When samples are due ===

#[test]
fn an_edit_of_something_else_changes_neither_phase_nor_rate_of_a_check() {
    use bascule::machine::Effect;
    const TOML: &str = "[check.api]\ntype = \"TCP\"\naddress = \"192.0.2.1:80\"\ninterval = \"5s\"\n";
    let mut rig = Rig::new(TOML);
    let id = |rig: &Rig| rig.engine.model().check_id("api").unwrap();
    rig.wait(Duration::from_millis(30));
    rig.pass("api");
    let due = rig.engine.due(id(&rig));
    rig.wait(secs(2));
    rig.effects.clear();
    rig.reload(&format!("{TOML}[check.a]\ntype = \"TCP\"\naddress = \"192.0.2.9:80\"\n[switch.s]\n"));
    assert_eq!(rig.engine.due(id(&rig)), due);
    let api = id(&rig);
    assert!(
        !rig.effects.iter().any(|e| matches!(e, Effect::Probe { check, .. } if *check == api)),
        "it is not asked for"
    );
    rig.wait(secs(3));
    rig.pass("api");
    assert_eq!(rig.engine.due(api), due + secs(5), "start to start");
}
