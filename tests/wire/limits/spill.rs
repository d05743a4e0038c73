//! Spillover, what becomes of whom nobody can serve, and `down_state_flush`.

use std::sync::atomic::Ordering;
use std::time::Duration;

use bascule::model::limit::{BackupAction, Spillover, SpilloverMethod};
use bascule::model::service::Protocol::{Http, Tcp};
use bascule::model::state::ServiceState;

use super::{first_byte, is_silent, live, tcp};
use crate::world::{Plan, Server, World, connect, eventually, get};

/// `db` of `a`, with the backup `spare` of `b`.
fn with_spare(a: &Server, b: &Server) -> Plan {
    let plan = Plan::default().service("b", Tcp, b.at).service("a", Tcp, a.at);
    plan.vserver("spare", Tcp, &["b"]).vserver("db", Tcp, &["a"]).backup("spare")
}

fn by_connection(threshold: u32) -> Spillover {
    Spillover::new(SpilloverMethod::Connection { threshold })
}

#[tokio::test]
async fn connections_over_the_threshold_spill_and_new_ones_return() {
    let (a, b) = (tcp("a").await, tcp("b").await);
    let world = World::start(with_spare(&a, &b).with(|v| v.spillover = Some(by_connection(1)))).await;
    let mut first = connect(world.vip("db")).await;
    assert_eq!(first_byte(&mut first).await, Some('a'));
    let mut spilled = connect(world.vip("db")).await;
    assert_eq!(first_byte(&mut spilled).await, Some('b'));
    assert_eq!(live(&world, "db").spilled_total.load(Ordering::Relaxed), 1);
    drop(first);
    eventually("the place is free", || world.active("a") == 0).await;
    assert_eq!(first_byte(&mut connect(world.vip("db")).await).await, Some('a'));
    assert!(is_silent(&mut spilled).await, "what has spilled stays where it is");
}

#[tokio::test]
async fn the_sum_of_places_is_a_threshold_and_a_client_that_spilled_keeps_going_there() {
    let (a, b) = (tcp("a").await, tcp("b").await);
    let spillover = Spillover { persistence: Some(Duration::from_secs(120)), ..by_connection(1) };
    let spillover = Spillover { method: SpilloverMethod::DynamicConnection, ..spillover };
    let plan = with_spare(&a, &b).with_service(|s| s.settings.max_client = 1);
    let world = World::start(plan.with(|v| v.spillover = Some(spillover))).await;
    let mut first = connect(world.vip("db")).await;
    assert_eq!(first_byte(&mut first).await, Some('a'));
    assert_eq!(first_byte(&mut connect(world.vip("db")).await).await, Some('b'));
    drop(first);
    eventually("the place is free", || world.active("a") == 0).await;
    assert_eq!(first_byte(&mut connect(world.vip("db")).await).await, Some('b'));
}

#[tokio::test]
async fn what_spills_and_finds_no_backup_is_accepted_or_dropped() {
    for (action, expected) in [(BackupAction::Accept, Some('a')), (BackupAction::Drop, None)] {
        let (a, b) = (tcp("a").await, tcp("b").await);
        let spillover = Spillover { backup_action: action, ..by_connection(1) };
        let mut world = World::start(with_spare(&a, &b).with(|v| v.spillover = Some(spillover))).await;
        world.state("b", ServiceState::Down).await;
        let mut first = connect(world.vip("db")).await;
        assert_eq!(first_byte(&mut first).await, Some('a'));
        assert_eq!(first_byte(&mut connect(world.vip("db")).await).await, expected, "{action:?}");
    }
}

#[tokio::test]
async fn where_nobody_can_serve_clients_are_sent_to_the_redirect_url() {
    let a = Server::http("a").await;
    let plan = Plan::default().service("a", Http, a.at).vserver("web", Http, &["a"]);
    let mut world = World::start(plan.with(|v| v.redirect_url = Some("http://sorry.test".into()))).await;
    assert!(get(world.vip("web"), "/x?y=1", "").await.starts_with("HTTP/1.1 200 "));
    world.state("a", ServiceState::Down).await;
    let answer = get(world.vip("web"), "/x?y=1", "").await;
    assert!(answer.starts_with("HTTP/1.1 302 "), "{answer}");
    assert!(answer.contains("ocation: http://sorry.test/x?y=1\r\n"), "{answer}");
    world.vserver("web").redirect_url = Some("http://sorry.test/page".into());
    world.publish().await;
    assert!(get(world.vip("web"), "/x", "").await.contains("ocation: http://sorry.test/page\r\n"));
    world.vserver("web").redirect_url = None;
    world.publish().await;
    assert!(get(world.vip("web"), "/x", "").await.starts_with("HTTP/1.1 503 "));
}

#[tokio::test]
async fn a_tcp_connection_outlives_a_failure_only_where_neither_flushes() {
    for (of_vserver, of_service) in [(true, true), (true, false), (false, true), (false, false)] {
        let a = tcp("a").await;
        let plan = Plan::default().service("a", Tcp, a.at).with_service(|s| s.settings.down_state_flush = of_service);
        let plan = plan.vserver("db", Tcp, &["a"]).with(|v| v.down_state_flush = of_vserver);
        let mut world = World::start(plan).await;
        let mut client = connect(world.vip("db")).await;
        assert_eq!(first_byte(&mut client).await, Some('a'));
        world.state("a", ServiceState::Down).await;
        if of_vserver || of_service {
            assert_eq!(first_byte(&mut client).await, None, "{of_vserver} {of_service}");
        } else {
            assert!(is_silent(&mut client).await);
        }
    }
}
