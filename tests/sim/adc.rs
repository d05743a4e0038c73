//! Services and vservers through the engine: drains, chains, thresholds, and the traps between them.

use bascule::machine::Input;
use bascule::model::event::{AdminIntent, AdminTarget, Failures, Observation, Outcome, Record};
use bascule::model::state::{NewClients, ServiceState, VserverState, VserverView};

use crate::rig::{Rig, secs};

const CHAIN: &str = r#"
[service.a]
type = "HTTP"
address = "127.0.0.1:1"
monitors = []
[service.b]
type = "HTTP"
address = "127.0.0.1:2"
monitors = []
[service.spare]
type = "HTTP"
address = "127.0.0.1:3"
monitors = []
[vserver.web]
type = "HTTP"
services = ["a", "b"]
backup = "web-spare"
[vserver.web-spare]
type = "HTTP"
services = ["spare"]
"#;

fn all_up(toml: &str) -> Rig {
    let mut rig = Rig::new(toml);
    for service in ["a", "b", "spare"] {
        rig.pass(&format!("{service}:tcp-default"));
    }
    rig
}

fn down(rig: &mut Rig, service: &str) {
    for _ in 0..3 {
        rig.fail(&format!("{service}:tcp-default"));
    }
}

fn web(rig: &Rig) -> &VserverView {
    let id = rig.engine.model().vserver_id("web").expect("a vserver");
    &rig.engine.view().vservers[id.index()]
}

fn spare(rig: &Rig) -> NewClients {
    NewClients::Backup(rig.engine.model().vserver_id("web-spare").expect("a vserver"))
}

#[test]
fn a_delay_drains_for_exactly_that_long_even_when_idle() {
    let mut rig = all_up(CHAIN);
    rig.disable("a", Some(secs(30)), false);
    assert_eq!(rig.service("a"), ServiceState::Trofs);
    rig.wait(std::time::Duration::from_micros(29_999_999));
    assert_eq!(rig.service("a"), ServiceState::Trofs);
    rig.wait(std::time::Duration::from_micros(1));
    assert_eq!(rig.service("a"), ServiceState::OutOfService);
}

#[test]
fn a_draining_service_whose_probe_fails_and_recovers_keeps_its_deadline() {
    let mut rig = all_up(CHAIN);
    rig.disable("a", Some(secs(30)), false);
    rig.wait(secs(10));
    down(&mut rig, "a");
    assert_eq!(rig.service("a"), ServiceState::TrofsDown);
    rig.pass("a:tcp-default");
    assert_eq!(rig.service("a"), ServiceState::Trofs);
    rig.wait(secs(20));
    assert_eq!(rig.service("a"), ServiceState::OutOfService);
}

#[test]
fn a_service_that_is_down_drains_as_trofs_down() {
    let mut rig = all_up(CHAIN);
    down(&mut rig, "a");
    rig.disable("a", Some(secs(5)), false);
    assert_eq!(rig.service("a"), ServiceState::TrofsDown);
    rig.wait(secs(5));
    assert_eq!(rig.service("a"), ServiceState::OutOfService);
    rig.enable("a");
    assert_eq!(rig.service("a"), ServiceState::Down);
}

#[test]
fn a_graceful_drain_ends_with_the_last_transaction_and_at_once_when_idle() {
    let mut rig = all_up(CHAIN);
    rig.active_transactions("a", 2);
    rig.disable("a", None, true);
    assert_eq!(rig.service("a"), ServiceState::Trofs);
    rig.active_transactions("a", 1);
    rig.wait(secs(3600));
    assert_eq!(rig.service("a"), ServiceState::Trofs);
    rig.active_transactions("a", 0);
    assert_eq!(rig.service("a"), ServiceState::OutOfService);
    rig.disable("b", None, true);
    assert_eq!(rig.service("b"), ServiceState::OutOfService);
}

#[test]
fn all_primaries_down_makes_the_effective_state_that_of_the_backup_and_back() {
    let mut rig = all_up(CHAIN);
    assert_eq!(web(&rig).new_clients, NewClients::Own);
    down(&mut rig, "a");
    assert_eq!(web(&rig).new_clients, NewClients::Own);
    down(&mut rig, "b");
    assert_eq!((web(&rig).state, web(&rig).effective), (VserverState::Down, VserverState::Up));
    assert_eq!(web(&rig).new_clients, spare(&rig));
    rig.pass("b:tcp-default");
    assert_eq!(web(&rig).new_clients, NewClients::Own);
}

#[test]
fn while_all_members_drain_the_backup_is_not_used_unless_spillover_by_health_is_set() {
    let mut rig = all_up(CHAIN);
    rig.disable("a", Some(secs(30)), false);
    rig.disable("b", Some(secs(30)), false);
    assert_eq!((web(&rig).state, web(&rig).new_clients), (VserverState::Up, NewClients::Refused));
    let spilling = CHAIN.replace("backup =", "spillover = { method = \"HEALTH\", threshold = 99 }\nbackup =");
    rig.reload(&spilling);
    assert_eq!(web(&rig).new_clients, spare(&rig));
    rig.wait(secs(30));
    assert_eq!((web(&rig).state, web(&rig).new_clients), (VserverState::Down, spare(&rig)));
}

#[test]
fn a_health_threshold_counts_draining_services_as_active_until_one_of_them_fails() {
    let mut rig = all_up(&CHAIN.replace("backup =", "health_threshold = 60\nbackup ="));
    rig.disable("a", Some(secs(30)), false);
    rig.disable("b", Some(secs(30)), false);
    assert_eq!(web(&rig).state, VserverState::Up);
    down(&mut rig, "a");
    assert_eq!(rig.service("a"), ServiceState::TrofsDown);
    assert_eq!(web(&rig).state, VserverState::Down);
    assert_eq!(web(&rig).new_clients, spare(&rig));
}

#[test]
fn disable_primary_on_down_holds_a_failed_primary_out_until_it_is_enabled_and_over_a_kill() {
    let config = CHAIN.replace("backup =", "disable_primary_on_down = true\nbackup =");
    let mut rig = all_up(&config);
    down(&mut rig, "a");
    down(&mut rig, "b");
    assert!(web(&rig).held_down);
    rig.pass("a:tcp-default");
    assert_eq!((web(&rig).state, web(&rig).new_clients), (VserverState::Down, spare(&rig)));
    let mut rig = rig.kill_and_restart(&config, secs(1));
    for service in ["a", "b", "spare"] {
        rig.pass(&format!("{service}:tcp-default"));
    }
    assert_eq!(web(&rig).new_clients, spare(&rig));
    let target = bascule::model::event::AdminTarget::Vserver(rig.engine.model().vserver_id("web").unwrap());
    rig.admin(bascule::model::event::AdminIntent::Enable { target });
    assert_eq!(web(&rig).new_clients, NewClients::Own);
}

#[test]
fn disable_primary_on_down_does_not_mistake_a_reload_or_a_start_for_a_failure() {
    let config = CHAIN.replace("backup =", "disable_primary_on_down = true\nbackup =");
    let mut rig = all_up(&config);
    rig.reload(&config.replace("127.0.0.1:1", "127.0.0.1:11").replace("127.0.0.1:2", "127.0.0.1:12"));
    assert!(!web(&rig).held_down, "members that nobody has heard of yet");
    rig.pass("a:tcp-default");
    rig.reload(&format!("{config}\n[features]\nlb = false\n"));
    assert!(!web(&rig).held_down, "the feature is off");
}

#[test]
fn disabling_a_server_reaches_its_services_and_enabling_a_service_does_not_undo_it() {
    use bascule::model::event::{AdminIntent, AdminTarget};
    let config = CHAIN.replace(
        "[service.a]\ntype = \"HTTP\"\naddress = \"127.0.0.1:1\"",
        "[server.h]\naddress = \"127.0.0.1\"\n[service.a]\ntype = \"HTTP\"\nserver = \"h\"\nport = 1",
    );
    let mut rig = all_up(&config);
    let server = AdminTarget::Server(rig.engine.model().server_id("h").unwrap());
    rig.admin(AdminIntent::Disable { target: server, delay: Some(secs(10)), graceful: false });
    assert_eq!(rig.service("a"), ServiceState::Trofs);
    rig.enable("a");
    assert_eq!(rig.service("a"), ServiceState::Trofs);
    rig.wait(secs(10));
    assert_eq!(rig.service("a"), ServiceState::OutOfService);
    rig.admin(AdminIntent::Enable { target: server });
    assert_eq!(rig.service("a"), ServiceState::Up);
}

#[test]
fn a_later_deadline_does_not_bring_back_what_is_out_of_service_not_even_over_a_kill() {
    let mut rig = all_up(CHAIN);
    rig.disable("a", Some(secs(5)), false);
    rig.wait(secs(5));
    rig.disable("a", Some(secs(60)), false);
    assert_eq!(rig.service("a"), ServiceState::OutOfService);
    let rig = rig.kill_and_restart(CHAIN, secs(1));
    assert_eq!(rig.service("a"), ServiceState::OutOfService);
}

#[test]
fn an_answer_that_asks_for_a_drain_drains_and_its_end_brings_the_service_back() {
    let config = CHAIN.replace(
        "[service.a]\ntype = \"HTTP\"\naddress = \"127.0.0.1:1\"\nmonitors = []",
        "[monitor.m]\ntype = \"HTTP\"\ntrofs_code = 503\n[service.a]\ntype = \"HTTP\"\naddress = \"127.0.0.1:1\"\nmonitors = [\"m\"]",
    );
    let mut rig = Rig::new(&config);
    rig.pass("a:m");
    assert_eq!(rig.service("a"), ServiceState::Up);
    rig.verdict("a:m", Outcome::Trofs, secs(0));
    assert_eq!(rig.service("a"), ServiceState::Trofs);
    rig.pass("a:m");
    assert_eq!(rig.service("a"), ServiceState::Up);
}

#[test]
fn content_switching_is_up_while_one_of_its_targets_can_serve_even_by_its_backup() {
    let toml = format!(
        "{CHAIN}
[vserver.api]
type = \"HTTP\"
services = [\"b\"]
[cs_vserver.front]
type = \"HTTP\"
address = \"127.0.0.1:0\"
default = \"web\"
backup = \"web-spare\"
[criterion.is-api]
path = {{ starts_with = \"/api/\" }}
[rule.to-api]
vserver = \"front\"
priority = 10
when = [[\"is-api\"]]
action = {{ route = {{ vserver = \"api\" }} }}
"
    );
    let mut rig = all_up(&toml);
    let front = |rig: &Rig| {
        let id = rig.engine.model().vserver_id("front").expect("a vserver");
        let view = &rig.engine.view().vservers[id.index()];
        (view.state, view.effective, view.new_clients, view.health_percent)
    };
    let up = VserverState::Up;
    assert_eq!(front(&rig), (up, up, NewClients::Own, 100));
    down(&mut rig, "b");
    assert_eq!(front(&rig), (up, up, NewClients::Own, 50), "`api` is gone, `web` serves");
    down(&mut rig, "a");
    assert_eq!(front(&rig), (up, up, NewClients::Own, 50), "`web` serves through its backup");
    down(&mut rig, "spare");
    assert_eq!(front(&rig), (VserverState::Down, VserverState::Down, NewClients::Refused, 0));
    rig.pass("b:tcp-default");
    assert_eq!(front(&rig).0, up);
    let id = rig.engine.model().vserver_id("front").expect("a vserver");
    let target = AdminTarget::Vserver(id);
    rig.admin(AdminIntent::Disable { target, delay: None, graceful: false });
    assert_eq!(front(&rig).0, VserverState::OutOfService);
}

#[test]
fn an_ejection_is_in_the_journal_and_changes_no_state() {
    let mut rig = all_up(CHAIN);
    rig.records();
    let ejected = |service: &str| {
        Input::Observed(Observation::Ejected {
            service: service.into(),
            cause: Failures::Connects(5),
            lasts: secs(30),
            times: 2,
        })
    };
    rig.step(ejected("a"));
    rig.step(ejected("nobody"));
    let until = rig.now.wall + secs(30);
    assert_eq!(rig.records(), [Record::Ejected { service: "a".into(), cause: Failures::Connects(5), until, times: 2 }]);
    assert_eq!(rig.service("a"), ServiceState::Up);
}

#[test]
fn nothing_is_said_of_a_deadline_for_what_is_out_of_service_already() {
    let mut rig = all_up(CHAIN);
    let said = |rig: &mut Rig, delay, graceful| {
        rig.records();
        rig.disable("a", delay, graceful);
        let acts = rig.records().into_iter().filter_map(|record| match record {
            Record::Act { change, .. } => Some(change.to_string()),
            _ => None,
        });
        acts.collect::<Vec<_>>()
    };
    assert!(said(&mut rig, Some(secs(30)), false)[0].starts_with("disabled, out at 2026-01-05T10:00:30"));
    rig.wait(secs(30));
    assert_eq!(rig.service("a"), ServiceState::OutOfService);
    assert_eq!(said(&mut rig, Some(secs(5)), false), ["disabled"]);
    assert_eq!(said(&mut rig, Some(secs(5)), true), ["disabled"], "nobody is left to wait for");
    rig.enable("a");
    assert_eq!(said(&mut rig, None, false), ["disabled"]);
    assert_eq!(said(&mut rig, Some(secs(5)), false), ["disabled"]);
}
