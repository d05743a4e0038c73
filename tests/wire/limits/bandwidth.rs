//! Limits that count bits: of a member, and of a vserver that spills.

use std::sync::atomic::Ordering;

use bascule::model::limit::{Spillover, SpilloverMethod};
use bascule::model::service::Protocol::{Http, Tcp};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{first_byte, is_silent, live, tcp};
use crate::world::{Plan, Server, World, body, connect, eventually, get};

/// Bytes that go there and back: over the 14 s that count, far above the limits here.
const LOAD: usize = 256 * 1024;
/// bit/s
const LIMIT: u64 = 8_000;

/// Sends the load to a server that echoes and waits for all of it.
async fn load(stream: &mut TcpStream) {
    let (mut reader, mut writer) = stream.split();
    let send = async {
        writer.write_all(&vec![b'x'; LOAD]).await.unwrap();
    };
    let receive = async {
        let mut back = vec![0; LOAD];
        reader.read_exact(&mut back).await.unwrap();
    };
    tokio::join!(send, receive);
}

#[tokio::test]
async fn a_member_above_its_bandwidth_gets_no_new_clients_and_keeps_those_it_has() {
    let (a, b) = (tcp("a").await, tcp("b").await);
    let plan = Plan::default().service("b", Tcp, b.at).service("a", Tcp, a.at);
    let plan = plan.with_service(|s| s.settings.max_bandwidth = LIMIT).vserver("db", Tcp, &["a", "b"]);
    let world = World::start(plan).await;
    // By turns, so that one of two is on a.
    let mut clients = [connect(world.vip("db")).await, connect(world.vip("db")).await];
    let names = [first_byte(&mut clients[0]).await, first_byte(&mut clients[1]).await];
    let on_a = names.iter().position(|name| *name == Some('a')).expect("a serves while it is idle");
    load(&mut clients[on_a]).await;
    for _ in 0..6 {
        assert_eq!(first_byte(&mut connect(world.vip("db")).await).await, Some('b'));
    }
    load(&mut clients[on_a]).await;
}

#[tokio::test]
async fn who_finds_every_member_above_its_bandwidth_waits_until_the_limit_is_raised() {
    let a = tcp("a").await;
    let plan = Plan::default().service("a", Tcp, a.at).with_service(|s| s.settings.max_bandwidth = LIMIT);
    let mut world = World::start(plan.vserver("db", Tcp, &["a"])).await;
    let mut first = connect(world.vip("db")).await;
    assert_eq!(first_byte(&mut first).await, Some('a'));
    load(&mut first).await;
    let mut second = connect(world.vip("db")).await;
    let db = live(&world, "db");
    eventually("it waits", || db.surge.depth() == 1).await;
    assert!(is_silent(&mut second).await);
    world.model.services[0].settings.max_bandwidth = 0;
    world.publish().await;
    assert_eq!(first_byte(&mut second).await, Some('a'));
}

#[tokio::test]
async fn requests_go_past_a_member_above_its_bandwidth() {
    let large: &'static str = Box::leak("a".repeat(LOAD).into_boxed_str());
    let (a, b) = (Server::http(large).await, Server::http("b").await);
    let plan = Plan::default().service("b", Http, b.at).service("a", Http, a.at);
    let plan = plan.with_service(|s| s.settings.max_bandwidth = LIMIT).vserver("web", Http, &["a", "b"]);
    let world = World::start(plan).await;
    let mut answers = Vec::new();
    for _ in 0..8 {
        answers.push(body(&get(world.vip("web"), "/", "").await).chars().next());
    }
    assert_eq!(answers.iter().filter(|first| **first == Some('a')).count(), 1, "{answers:?}");
}

#[tokio::test]
async fn clients_spill_while_the_vserver_is_above_its_bandwidth() {
    let (a, b) = (tcp("a").await, tcp("b").await);
    let plan = Plan::default().service("b", Tcp, b.at).service("a", Tcp, a.at);
    let plan = plan.vserver("spare", Tcp, &["b"]).vserver("db", Tcp, &["a"]).backup("spare");
    let spillover = Spillover::new(SpilloverMethod::Bandwidth { threshold: LIMIT });
    let mut world = World::start(plan.with(|v| v.spillover = Some(spillover))).await;
    let mut first = connect(world.vip("db")).await;
    assert_eq!(first_byte(&mut first).await, Some('a'), "it is idle");
    load(&mut first).await;
    for _ in 0..3 {
        assert_eq!(first_byte(&mut connect(world.vip("db")).await).await, Some('b'));
    }
    let db = live(&world, "db");
    let counted = (db.spilled_total.load(Ordering::Relaxed), db.backup_hits_total.load(Ordering::Relaxed));
    assert_eq!(counted, (3, 0), "it was UP");
    world.vserver("db").spillover = None;
    world.publish().await;
    assert_eq!(first_byte(&mut connect(world.vip("db")).await).await, Some('a'));
    world.state("a", bascule::model::state::ServiceState::Down).await;
    assert_eq!(first_byte(&mut connect(world.vip("db")).await).await, Some('b'));
    let counted = (db.spilled_total.load(Ordering::Relaxed), db.backup_hits_total.load(Ordering::Relaxed));
    assert_eq!(counted, (3, 1), "it was DOWN");
}
