//! Objects that go on under another name, and what people did to them.

use bascule::model::event::{AdminIntent, AdminTarget, Record};
use bascule::model::id::Kind;
use bascule::model::state::{OverrideKey, ServiceState, Slot, VserverState};

use crate::rig::{Rig, secs};

const CONFIG: &str = r#"
[server.host]
address = "127.0.0.1"
[server.other]
address = "127.0.0.2"
[check.look]
type = "TCP"
target = "127.0.0.1:9"
[service.q1]
type = "HTTP"
server = "host"
port = 1
monitors = []
[service.q3]
type = "HTTP"
address = "127.0.0.1:3"
monitors = []
[service_group.pool]
type = "HTTP"
monitors = []
[service_group.pool.member.m1]
server = "other"
port = 4
[service_group.pool.member.m2]
server = "other"
port = 5
[vserver.web]
type = "HTTP"
services = ["q1", "q3"]
[vserver.spare]
type = "HTTP"
groups = ["pool"]
"#;

fn target(rig: &Rig, kind: Kind, name: &str) -> AdminTarget {
    let model = rig.engine.model();
    match kind {
        Kind::Server => model.server_id(name).map(AdminTarget::Server),
        Kind::Service => model.service_id(name).map(AdminTarget::Service),
        Kind::ServiceGroup => model.group_id(name).map(AdminTarget::Group),
        Kind::Vserver => model.vserver_id(name).map(AdminTarget::Vserver),
        _ => model.check_id(name).map(AdminTarget::Check),
    }
    .expect("an object of that name")
}

/// What is overridden, as `KIND NAME`.
fn overridden(rig: &Rig) -> Vec<String> {
    let name = |key: &OverrideKey| format!("{:?} {}", key.object.kind, key.object.name);
    rig.engine.view().overrides.keys().map(name).collect()
}

#[test]
fn what_was_disabled_stays_so_under_another_name_and_over_a_kill() {
    for (kind, from, to) in [
        (Kind::Service, "q1", "q2"),
        (Kind::Server, "host", "home"),
        (Kind::ServiceGroup, "pool", "lake"),
        (Kind::Vserver, "web", "front"),
        (Kind::Vserver, "spare", "rest"),
        (Kind::Check, "look", "glance"),
        (Kind::Service, "pool/m1", "pool/m3"),
    ] {
        let mut rig = Rig::new(CONFIG);
        let target = target(&rig, kind, from);
        rig.admin(AdminIntent::Disable { target, delay: None, graceful: false });
        let before: Vec<_> = rig.engine.view().overrides.values().cloned().collect();
        let last = |name: &str| name.rsplit('/').next().unwrap_or_default().to_owned();
        let renamed = CONFIG
            .replace(&format!("\"{}\"", last(from)), &format!("\"{}\"", last(to)))
            .replace(&format!(".{}]", last(from)), &format!(".{}]", last(to)))
            .replace(&format!(".{}.", last(from)), &format!(".{}.", last(to)));
        rig.reload(&renamed);
        assert_eq!(overridden(&rig), [format!("{kind:?} {to}")]);
        assert!(rig.engine.view().overrides.values().eq(&before), "who did it, why and until when");
        assert!(!rig.records().iter().any(|r| matches!(r, Record::Ended { .. })), "{kind:?}");
        let rig = rig.kill_and_restart(&renamed, secs(1));
        assert_eq!(overridden(&rig), [format!("{kind:?} {to}")], "it was saved");
        match kind {
            Kind::Service => assert_eq!(rig.service(to), ServiceState::OutOfService),
            Kind::Server => assert_eq!(rig.service("q1"), ServiceState::OutOfService),
            Kind::ServiceGroup => assert_eq!(rig.service("lake/m1"), ServiceState::OutOfService),
            Kind::Vserver => {
                let id = rig.engine.model().vserver_id(to).unwrap();
                assert_eq!(rig.engine.view().vservers[id.index()].state, VserverState::OutOfService);
            }
            _ => {}
        }
    }
}

#[test]
fn a_drain_goes_on_to_its_deadline_and_a_member_follows_its_group() {
    let mut rig = Rig::new(CONFIG);
    rig.disable("q1", Some(secs(60)), false);
    rig.disable("pool/m2", Some(secs(60)), false);
    rig.wait(secs(20));
    rig.reload(&CONFIG.replace("q1", "q2").replace("pool", "lake"));
    assert_eq!(rig.service("lake/m1"), ServiceState::Unknown, "nobody has disabled it");
    for service in ["q2", "lake/m2"] {
        assert_eq!(rig.service(service), ServiceState::Trofs, "{service}");
    }
    rig.wait(secs(39));
    assert_eq!(rig.service("q2"), ServiceState::Trofs);
    rig.wait(secs(1));
    for service in ["q2", "lake/m2"] {
        assert_eq!(rig.service(service), ServiceState::OutOfService, "{service}");
    }
}

#[test]
fn a_forced_check_of_a_monitor_follows_its_service() {
    let mut rig = Rig::new(CONFIG);
    let check = rig.engine.model().check_id("q1:tcp-default").unwrap();
    rig.admin(AdminIntent::ForceCheck { check, up: Some(true) });
    rig.reload(&CONFIG.replace("q1", "q2"));
    assert_eq!(overridden(&rig), ["Check q2:tcp-default"]);
    assert!(rig.engine.view().overrides.keys().all(|key| key.slot == Slot::Force));
    assert_eq!(rig.service("q2"), ServiceState::Up);
}

#[test]
fn another_object_under_a_new_name_inherits_nothing() {
    for text in [
        CONFIG.replace("q1", "q2").replace("port = 1\n", "port = 2\n"),
        // Which of the two would it be?
        CONFIG
            .replace("[service.q1]", "[service.q2]\ntype = \"HTTP\"\naddress = \"127.0.0.1:1\"\n[service.q4]")
            .replace("\"q1\"", "\"q4\""),
    ] {
        let mut rig = Rig::new(CONFIG);
        rig.disable("q1", None, false);
        rig.reload(&text);
        assert!(overridden(&rig).is_empty());
        assert!(rig.records().iter().any(|r| matches!(r, Record::Ended { .. })));
    }
}
