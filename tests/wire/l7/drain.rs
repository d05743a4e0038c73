//! Ends: of services, of VIPs, of the process.

use std::sync::Arc;
use std::time::Duration;

use bascule::model::event::Observation;
use bascule::model::state::ServiceState;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;

use super::{one, one_world};
use crate::world::{PATIENT, Server, World, body, connect, eventually, get, read_all, read_answer, read_request};

/// Answers a request for each permit.
async fn held() -> (Server, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let answers = Arc::clone(&gate);
    let server = Server::each(move |mut stream| {
        let answers = Arc::clone(&answers);
        async move {
            while read_request(&mut stream).await.is_some() {
                answers.acquire().await.unwrap().forget();
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na").await;
            }
        }
    })
    .await;
    (server, gate)
}

async fn asked(world: &World) -> TcpStream {
    let mut client = connect(world.vip("web")).await;
    client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    eventually("the request is there", || world.active("a") == 1).await;
    client
}

#[tokio::test]
async fn a_draining_service_finishes_what_it_has_and_says_when_it_is_idle() {
    let (server, gate) = held().await;
    let mut world = one_world(&server).await;
    let mut client = asked(&world).await;
    world.state("a", ServiceState::Trofs).await;
    gate.add_permits(1);
    assert_eq!(body(&read_answer(&mut client).await), "a");
    let observed = tokio::time::timeout(PATIENT, world.observed.recv()).await.unwrap();
    assert_eq!(observed, Some(Observation::Active { service: world.service_id("a"), active: 0 }));
}

#[tokio::test]
async fn a_flush_ends_requests_in_flight_and_pooled_connections() {
    let (server, gate) = held().await;
    let mut world = one_world(&server).await;
    let mut client = asked(&world).await;
    world.state("a", ServiceState::Down).await;
    assert_eq!(read_all(&mut client).await, "");
    eventually("nothing is active", || world.active("a") == 0).await;
    world.state("a", ServiceState::Up).await;
    gate.add_permits(2);
    assert_eq!(body(&get(world.vip("web"), "/", "").await), "a");
}

#[tokio::test]
async fn without_down_state_flush_what_is_in_flight_finishes() {
    let (server, gate) = held().await;
    let plan = one(&server).with_service(|s| s.settings.down_state_flush = false).with(|v| v.down_state_flush = false);
    let mut world = World::start(plan).await;
    let mut client = asked(&world).await;
    world.state("a", ServiceState::Down).await;
    gate.add_permits(1);
    assert_eq!(body(&read_answer(&mut client).await), "a");
}

#[tokio::test]
async fn the_flush_of_the_vserver_ends_idle_clients_and_that_of_the_service_does_not() {
    for (of_service, of_vserver) in [(true, false), (false, true)] {
        let server = Server::http("a").await;
        let plan = one(&server)
            .with_service(|s| s.settings.down_state_flush = of_service)
            .with(|v| v.down_state_flush = of_vserver);
        let mut world = World::start(plan).await;
        let mut client = connect(world.vip("web")).await;
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        assert_eq!(body(&read_answer(&mut client).await), "a");
        world.state("a", ServiceState::Down).await;
        if of_vserver {
            assert_eq!(read_all(&mut client).await, "");
        } else {
            client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
            assert!(read_answer(&mut client).await.starts_with("HTTP/1.1 503 "));
        }
    }
}

#[tokio::test]
async fn the_drain_of_the_process_closes_idle_connections_at_once_and_answers_the_rest() {
    let (server, gate) = held().await;
    let mut world = one_world(&server).await;
    let vip = world.vip("web");
    gate.add_permits(1);
    let mut idle = connect(vip).await;
    idle.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    assert_eq!(body(&read_answer(&mut idle).await), "a");
    let mut fresh = connect(vip).await;
    let mut busy = asked(&world).await;
    let drain = tokio::spawn(world.plane.take().unwrap().drain(Duration::from_secs(60)));
    assert_eq!(read_all(&mut idle).await, "");
    assert_eq!(read_all(&mut fresh).await, "");
    assert!(!drain.is_finished());
    gate.add_permits(1);
    let last = read_all(&mut busy).await;
    assert!(last.to_lowercase().contains("connection: close") && body(&last) == "a", "{last}");
    tokio::time::timeout(PATIENT, drain).await.unwrap().unwrap();
}

#[tokio::test]
async fn the_limit_of_a_drain_is_kept() {
    let (server, _gate) = held().await;
    let mut world = one_world(&server).await;
    let mut busy = asked(&world).await;
    let plane = world.plane.take().unwrap();
    tokio::time::timeout(PATIENT, plane.drain(Duration::from_millis(100))).await.unwrap();
    assert_eq!(read_all(&mut busy).await, "");
}

#[tokio::test]
async fn a_removed_vip_answers_what_is_in_flight_where_it_is_not_flushed() {
    let (server, gate) = held().await;
    let mut world = World::start(one(&server).with(|v| v.down_state_flush = false)).await;
    let mut client = asked(&world).await;
    world.model.vservers.clear();
    world.publish().await;
    gate.add_permits(1);
    assert_eq!(body(&read_answer(&mut client).await), "a");
    client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let last = read_all(&mut client).await;
    assert!(last.starts_with("HTTP/1.1 503 "), "{last}");
}
