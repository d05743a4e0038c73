//! Monitors through the engine: which count, what disables them, what they learn, and what a person hears.

use std::time::Duration;

use bascule::machine::Effect;
use bascule::model::event::{AdminIntent, AdminTarget, Outcome, Record};
use bascule::model::state::{CheckView, ServiceState};

use crate::rig::{Rig, secs};

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

/// A service with the given `monitors`, among three that there are.
fn rig(monitors: &str) -> Rig {
    Rig::new(&toml(monitors, ""))
}

fn toml(monitors: &str, more: &str) -> String {
    format!(
        "[monitor.page]\ntype = \"HTTP\"\n{more}\n[monitor.deep]\ntype = \"TCP\"\nretries = 1\n[monitor.busy]\ntype = \
         \"LOAD\"\nretries = 1\n[service.a]\ntype = \"HTTP\"\naddress = \"127.0.0.1:1\"\nmonitors = \
         {monitors}\n[vserver.web]\ntype = \"HTTP\"\nservices = [\"a\"]\n"
    )
}

fn view<'a>(rig: &'a Rig, check: &str) -> &'a CheckView {
    &rig.engine.view().checks[rig.engine.model().check_id(check).expect("a check").index()]
}

fn target(rig: &Rig, check: &str) -> AdminTarget {
    AdminTarget::Check(rig.engine.model().check_id(check).expect("a check"))
}

fn disable(rig: &mut Rig, check: &str) {
    let target = target(rig, check);
    rig.admin(AdminIntent::Disable { target, delay: None, graceful: false });
}

fn enable(rig: &mut Rig, check: &str) {
    let target = target(rig, check);
    rig.admin(AdminIntent::Enable { target });
}

/// Probes ordered since the last look, by the name of the check.
fn ordered(rig: &mut Rig) -> Vec<String> {
    let model = rig.engine.model().clone();
    let effects = std::mem::take(&mut rig.effects);
    let probes = effects.iter().filter_map(|effect| match effect {
        Effect::Probe { check, .. } => Some(model.check(*check).name.to_string()),
        _ => None,
    });
    probes.collect()
}

fn warnings(rig: &mut Rig) -> Vec<String> {
    let records = rig.records().into_iter();
    records
        .filter_map(|record| if let Record::Warning { text, .. } = record { Some(text.to_string()) } else { None })
        .collect()
}

#[test]
fn a_disabled_monitor_neither_counts_nor_is_probed_until_it_is_enabled() {
    let mut rig = rig(r#"["page", "deep"]"#);
    rig.pass("a:page");
    rig.pass("a:deep");
    rig.fail("a:deep");
    assert_eq!(rig.service("a"), ServiceState::Down);
    ordered(&mut rig);

    disable(&mut rig, "a:deep");
    assert_eq!(rig.service("a"), ServiceState::Up, "the other monitor decides alone");
    assert!(view(&rig, "a:deep").disabled);
    // A sample that was under way changes nothing and orders no other.
    rig.fail("a:deep");
    assert_eq!((rig.service("a"), ordered(&mut rig)), (ServiceState::Up, Vec::new()));

    enable(&mut rig, "a:deep");
    assert_eq!(ordered(&mut rig), ["a:deep"], "it is probed at once");
    assert_eq!(rig.service("a"), ServiceState::Up, "and takes no service out of traffic before its first sample");
    rig.pass("a:deep");
    assert_eq!(rig.service("a"), ServiceState::Up);
    rig.fail("a:deep");
    assert_eq!(rig.service("a"), ServiceState::Down);
    assert_eq!(view(&rig, "a:deep").samples_total, 4, "what was counted stays counted");
}

#[test]
fn a_monitor_that_fails_at_once_after_it_was_enabled_takes_the_service_down() {
    let mut rig = rig(r#"["page", "deep"]"#);
    rig.pass("a:page");
    disable(&mut rig, "a:deep");
    assert_eq!(rig.service("a"), ServiceState::Up);
    enable(&mut rig, "a:deep");
    rig.fail("a:deep");
    assert_eq!(rig.service("a"), ServiceState::Down);
}

#[test]
fn a_disabled_monitor_stays_so_over_a_reload_and_a_kill_and_by_the_configuration() {
    let mut rig = rig(r#"["page", "deep"]"#);
    rig.pass("a:page");
    disable(&mut rig, "a:deep");
    rig.reload(&toml(r#"["page", "deep"]"#, "interval = 6"));
    assert!(view(&rig, "a:deep").disabled);
    let mut rig = rig.kill_and_restart(&toml(r#"["page", "deep"]"#, ""), secs(3));
    assert!(view(&rig, "a:deep").disabled);
    rig.pass("a:page");
    assert_eq!(rig.service("a"), ServiceState::Up);
    enable(&mut rig, "a:deep");
    assert!(!view(&rig, "a:deep").disabled);

    rig.reload(&toml(r#"{ page = 1, deep = { state = "DISABLED" } }"#, ""));
    assert!(view(&rig, "a:deep").disabled);
    assert_eq!(rig.service("a"), ServiceState::Up);
    ordered(&mut rig);
    rig.reload(&toml(r#"["page", "deep"]"#, ""));
    assert!(!view(&rig, "a:deep").disabled);
    assert!(ordered(&mut rig).contains(&"a:deep".to_owned()));
    rig.reload(&toml(r#"["page", "deep"]"#, "state = \"DISABLED\""));
    assert!(view(&rig, "a:page").disabled, "the definition disables every binding of it");
}

#[test]
fn a_passive_monitor_is_shown_and_never_decides() {
    let mut rig = rig(r#"{ page = 1, busy = { passive = true } }"#);
    rig.pass("a:page");
    assert_eq!(rig.service("a"), ServiceState::Up, "nothing waits for its first sample");
    rig.fail("a:busy");
    assert_eq!(rig.service("a"), ServiceState::Up);
    assert!(view(&rig, "a:busy").state.is_false());
    for _ in 0..3 {
        rig.fail("a:page");
    }
    rig.pass("a:busy");
    assert_eq!(rig.service("a"), ServiceState::Down);
}

#[test]
fn an_answer_later_than_the_learned_average_and_the_deviation_is_a_failed_sample() {
    let mut rig = Rig::new(&toml(r#"["page"]"#, "deviation = \"50ms\"\nretries = 2"));
    for _ in 0..8 {
        rig.verdict("a:page", Outcome::Pass, ms(100));
    }
    assert_eq!(view(&rig, "a:page").learned, Some(ms(100)));
    rig.verdict("a:page", Outcome::Pass, ms(150));
    assert_eq!(view(&rig, "a:page").failed_total, 0);
    rig.verdict("a:page", Outcome::Pass, ms(300));
    let last = view(&rig, "a:page").last.clone().unwrap();
    assert_eq!(last.outcome, Outcome::Fail);
    assert!(last.detail.contains("later than the learned average"), "{}", last.detail);
    rig.verdict("a:page", Outcome::Pass, ms(400));
    assert_eq!(rig.service("a"), ServiceState::Down);

    let mut rig = Rig::new(&toml(r#"["page"]"#, "lrtm = true"));
    for latency in [100, 100, 100, 100, 100, 100, 100, 100, 1_900] {
        rig.verdict("a:page", Outcome::Pass, ms(latency));
    }
    assert_eq!(view(&rig, "a:page").learned, Some(ms(325)), "learned and shown");
    assert_eq!(rig.service("a"), ServiceState::Up, "and without a deviation nothing is late");
}

#[test]
fn failures_in_a_row_and_slow_answers_are_warned_of_once() {
    let more = "alert_retries = 2\nretries = 5\nresponse_timeout = \"1s\"\nresponse_timeout_threshold = 50";
    let mut rig = Rig::new(&toml(r#"["page"]"#, more));
    rig.pass("a:page");
    rig.records();
    rig.fail("a:page");
    assert_eq!(warnings(&mut rig), [""; 0]);
    rig.fail("a:page");
    assert_eq!(warnings(&mut rig), ["2 samples in a row have failed: test"]);
    rig.fail("a:page");
    assert_eq!(warnings(&mut rig), [""; 0]);
    for (latency, said) in [(500, 0), (501, 1), (900, 0), (10, 0), (800, 1)] {
        rig.verdict("a:page", Outcome::Pass, ms(latency));
        let warnings = warnings(&mut rig);
        assert_eq!(warnings.len(), said, "{latency}: {warnings:?}");
        assert!(warnings.iter().all(|text| text.contains("more than 50 % of the time-out")), "{warnings:?}");
    }
}

#[test]
fn an_inline_monitor_takes_the_service_down_only_where_its_action_says_so() {
    for (action, state, warned) in
        [("DOWN", ServiceState::Down, 0), ("LOG", ServiceState::Up, 1), ("NONE", ServiceState::Up, 0)]
    {
        let text = toml(r#"["page", "in"]"#, "")
            + &format!("[monitor.in]\ntype = \"HTTP-INLINE\"\nretries = 2\naction = \"{action}\"\n");
        let mut rig = Rig::new(&text);
        rig.pass("a:page");
        rig.pass("a:in");
        rig.records();
        rig.fail("a:in");
        rig.fail("a:in");
        assert_eq!(rig.service("a"), state, "{action}");
        let said = warnings(&mut rig).iter().filter(|text| text.contains("user traffic fails")).count();
        assert_eq!(said, warned, "{action}");
    }
}
