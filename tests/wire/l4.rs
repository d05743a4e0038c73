//! TCP through the data plane.

#[path = "l4/databases.rs"]
mod databases;
#[path = "l4/relay.rs"]
mod relay;

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::time::Duration;

use bascule::model::balancing::Method;
use bascule::model::event::Observation;
use bascule::model::persistence::{Persistence, PersistenceKind};
use bascule::model::service::Protocol::Tcp;
use bascule::model::state::ServiceState;
use bascule::snapshot::live::Listening;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::world::{PATIENT, Plan, Server, World, connect, eventually, nobody, read_all};

/// Says its name, then sends back what it gets, then ends when its client has ended.
async fn echo(name: &'static str) -> Server {
    Server::each(move |mut stream| async move {
        let _ = stream.write_all(name.as_bytes()).await;
        let (mut reader, mut writer) = stream.split();
        let _ = tokio::io::copy(&mut reader, &mut writer).await;
        let _ = writer.shutdown().await;
    })
    .await
}

async fn name_of(stream: &mut TcpStream) -> String {
    let mut name = [0; 1];
    tokio::time::timeout(PATIENT, stream.read_exact(&mut name)).await.unwrap().unwrap();
    String::from_utf8_lossy(&name).into_owned()
}

async fn is_reset(stream: &mut TcpStream) -> bool {
    let mut scrap = [0; 1];
    let read = tokio::time::timeout(PATIENT, stream.read(&mut scrap)).await.expect("neither reset nor end");
    matches!(read, Err(error) if error.kind() == ErrorKind::ConnectionReset)
}

/// Waits until nobody listens there any more.
async fn refused(at: SocketAddr) {
    let closed = async { while TcpStream::connect(at).await.is_ok() {} };
    tokio::time::timeout(PATIENT, closed).await.expect("still listening");
}

fn one(server: &Server) -> Plan {
    Plan::default().service("a", Tcp, server.at).vserver("db", Tcp, &["a"])
}

#[tokio::test]
async fn a_half_close_is_passed_on_and_every_byte_arrives() {
    let server = echo("a").await;
    let world = World::start(one(&server)).await;
    let mut client = connect(world.vip("db")).await;
    let sent: Vec<u8> = (0..300_000u32).map(|n| (n % 251) as u8).collect();
    let (mut reader, mut writer) = client.split();
    let write = async {
        writer.write_all(&sent).await.unwrap();
        writer.shutdown().await.unwrap();
    };
    let mut got = Vec::new();
    let (_, read) = tokio::join!(write, tokio::time::timeout(PATIENT, reader.read_to_end(&mut got)));
    read.unwrap().unwrap();
    assert_eq!(got[0], b'a');
    assert!(got[1..] == sent[..], "{} of {} bytes came back", got.len() - 1, sent.len());
    eventually("the connection is over", || world.active("a") == 0).await;
}

#[tokio::test]
async fn connections_are_spread_by_open_connections() {
    let (a, b) = (echo("a").await, echo("b").await);
    let plan = Plan::default().service("a", Tcp, a.at).service("b", Tcp, b.at).vserver("db", Tcp, &["a", "b"]);
    let world = World::start(plan).await;
    let mut open = Vec::new();
    for _ in 0..10 {
        let mut stream = connect(world.vip("db")).await;
        name_of(&mut stream).await;
        open.push(stream);
    }
    assert_eq!((world.active("a"), world.active("b")), (5, 5));
}

#[tokio::test]
async fn nothing_up_is_a_reset() {
    let server = echo("a").await;
    let mut world = World::start(one(&server)).await;
    world.state("a", ServiceState::Down).await;
    assert!(is_reset(&mut connect(world.vip("db")).await).await);
}

#[tokio::test]
async fn a_member_that_cannot_be_reached_is_passed_over_and_then_the_chain_serves() {
    let (b, spare) = (echo("b").await, echo("s").await);
    let plan = Plan::default()
        .service("a", Tcp, nobody().await)
        .service("b", Tcp, b.at)
        .service("s", Tcp, spare.at)
        .vserver("db", Tcp, &["a", "b"])
        .backup("spare")
        .with(|v| v.balancing.method = Method::RoundRobin)
        .vserver("spare", Tcp, &["s"]);
    let mut world = World::start(plan).await;
    for _ in 0..4 {
        assert_eq!(name_of(&mut connect(world.vip("db")).await).await, "b");
    }
    // Both fail to answer, while their monitors have not noticed yet.
    drop(b);
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(name_of(&mut connect(world.vip("db")).await).await, "s");
    world.state("s", ServiceState::Down).await;
    assert!(is_reset(&mut connect(world.vip("db")).await).await);
}

#[tokio::test]
async fn a_flush_resets_both_sides_and_a_drain_lets_them_be() {
    let server = echo("a").await;
    let mut world = World::start(one(&server)).await;
    let mut client = connect(world.vip("db")).await;
    name_of(&mut client).await;

    world.state("a", ServiceState::Trofs).await;
    client.write_all(b"x").await.unwrap();
    assert_eq!(name_of(&mut client).await, "x", "a draining service goes on serving");
    assert!(is_reset(&mut connect(world.vip("db")).await).await, "and takes no new client");

    world.state("a", ServiceState::OutOfService).await;
    assert!(is_reset(&mut client).await);
    eventually("no connection is left", || world.active("a") == 0).await;
}

#[tokio::test]
async fn without_down_state_flush_a_connection_outlives_its_service() {
    let server = echo("a").await;
    let plan = one(&server).with_service(|s| s.settings.down_state_flush = false).with(|v| v.down_state_flush = false);
    let mut world = World::start(plan).await;
    let mut client = connect(world.vip("db")).await;
    name_of(&mut client).await;
    world.state("a", ServiceState::Down).await;
    client.write_all(b"x").await.unwrap();
    assert_eq!(name_of(&mut client).await, "x");
}

#[tokio::test]
async fn the_end_of_the_last_connection_of_a_drain_is_reported() {
    let server = echo("a").await;
    let mut world = World::start(one(&server)).await;
    let mut client = connect(world.vip("db")).await;
    name_of(&mut client).await;
    world.state("a", ServiceState::Trofs).await;
    client.shutdown().await.unwrap();
    read_all(&mut client).await;
    let observed = tokio::time::timeout(PATIENT, world.observed.recv()).await.unwrap();
    assert_eq!(observed, Some(Observation::Active { service: world.service_id("a"), active: 0 }));
}

#[tokio::test]
async fn a_reset_of_the_server_reaches_the_client() {
    let server = Server::each(|mut stream| async move {
        let _ = stream.write_all(b"a").await;
        let mut scrap = [0; 1];
        let _ = stream.read_exact(&mut scrap).await;
        let _ = socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO));
    })
    .await;
    let world = World::start(one(&server)).await;
    let mut client = connect(world.vip("db")).await;
    name_of(&mut client).await;
    client.write_all(b"x").await.unwrap();
    assert!(is_reset(&mut client).await);
}

#[tokio::test]
async fn a_source_address_keeps_its_member_while_it_is_up_or_draining() {
    let (a, b) = (echo("a").await, echo("b").await);
    let plan =
        Plan::default().service("a", Tcp, a.at).service("b", Tcp, b.at).vserver("db", Tcp, &["a", "b"]).with(|v| {
            v.balancing.method = Method::RoundRobin;
            let kind = PersistenceKind::SourceIp;
            v.persistence = Some(Persistence::new(kind));
        });
    let mut world = World::start(plan).await;
    let first = name_of(&mut connect(world.vip("db")).await).await;
    let other = if first == "a" { "b" } else { "a" };
    for _ in 0..3 {
        assert_eq!(name_of(&mut connect(world.vip("db")).await).await, first);
    }
    world.state(&first, ServiceState::Trofs).await;
    assert_eq!(name_of(&mut connect(world.vip("db")).await).await, first, "trofsPersistence is on");
    world.state(&first, ServiceState::OutOfService).await;
    assert_eq!(name_of(&mut connect(world.vip("db")).await).await, other);
    world.state(&first, ServiceState::Up).await;
    assert_eq!(name_of(&mut connect(world.vip("db")).await).await, other, "the entry was rewritten");
}

#[tokio::test]
async fn a_full_member_takes_nobody_more() {
    let server = echo("a").await;
    let world = World::start(one(&server).with_service(|s| s.settings.max_client = 1).with(|v| v.surge.max = 0)).await;
    let mut first = connect(world.vip("db")).await;
    name_of(&mut first).await;
    assert!(is_reset(&mut connect(world.vip("db")).await).await);
    drop(first);
    eventually("the place is free", || world.active("a") == 0).await;
    assert_eq!(name_of(&mut connect(world.vip("db")).await).await, "a");
}

#[tokio::test]
async fn an_idle_connection_ends() {
    let server = Server::each(|mut stream| async move { _ = stream.read(&mut [0; 1]).await }).await;
    let world = World::start(one(&server).with(|v| v.client_timeout = Duration::from_millis(100))).await;
    assert!(is_reset(&mut connect(world.vip("db")).await).await);
}

#[tokio::test]
async fn vips_come_and_go_without_touching_others() {
    let server = echo("a").await;
    let mut world = World::start(one(&server)).await;
    let old = world.vip("db");
    let mut client = connect(old).await;
    name_of(&mut client).await;

    // A second VIP; the first keeps its socket though its port was any.
    let mut second = world.model.vservers[0].clone();
    second.name = "db2".into();
    world.model.vservers.push(second);
    world.publish().await;
    assert_eq!(world.vip("db"), old);
    assert_eq!(name_of(&mut connect(world.vip("db2")).await).await, "a");

    // The first moves to an address of its own.
    let moved = nobody().await;
    world.vserver("db").address = Some(moved);
    world.publish().await;
    assert_eq!(world.vip("db"), moved);
    assert_eq!(name_of(&mut connect(moved).await).await, "a");
    refused(old).await;

    // And goes. What was open goes on where the flush is off, and is cut where it is on (the default).
    let gone = world.model.vservers.remove(0);
    assert_eq!(&*gone.name, "db");
    world.publish().await;
    refused(moved).await;
    assert!(is_reset(&mut client).await);
    assert_eq!(name_of(&mut connect(world.vip("db2")).await).await, "a");
}

#[tokio::test]
async fn an_address_that_is_taken_is_reported_and_one_that_is_not_here_is_bound() {
    let server = echo("a").await;
    let mut world = World::start(one(&server)).await;
    world.vserver("db").address = Some(server.at);
    world.publish().await;
    assert!(matches!(world.listening("db"), Listening::Failed { .. }), "{:?}", world.listening("db"));
    world.vserver("db").address = Some("192.0.2.77:5433".parse().unwrap());
    world.publish().await;
    assert!(matches!(world.listening("db"), Listening::Bound { local: false, .. }), "{:?}", world.listening("db"));
}

#[tokio::test]
async fn a_drain_waits_for_open_connections_and_then_resets_what_is_left() {
    for limit in [10 * PATIENT, Duration::from_millis(50)] {
        let server = echo("a").await;
        let mut world = World::start(one(&server)).await;
        let vip = world.vip("db");
        let mut open = connect(vip).await;
        name_of(&mut open).await;
        let drain = tokio::spawn(world.plane.take().unwrap().drain(limit));
        refused(vip).await;
        if limit > PATIENT {
            open.write_all(b"x").await.unwrap();
            assert_eq!(name_of(&mut open).await, "x");
            drop(open);
        } else {
            assert!(is_reset(&mut open).await);
        }
        tokio::time::timeout(PATIENT, drain).await.expect("nothing is open any more").unwrap();
    }
}

#[tokio::test]
async fn a_server_time_out_of_nothing_is_none() {
    let server = echo("a").await;
    let world = World::start(one(&server).with_service(|s| s.settings.server_timeout = Duration::ZERO)).await;
    let mut client = connect(world.vip("db")).await;
    name_of(&mut client).await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    client.write_all(b"x").await.unwrap();
    assert_eq!(name_of(&mut client).await, "x");
}
