//! Ends: of services, of VIPs, of the process.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use bascule::dataplane::l7::Carrier;
use bascule::model::balancing::Method;
use bascule::model::event::Observation;
use bascule::model::service::Protocol::Http;
use bascule::model::service::Service;
use bascule::model::state::ServiceState;
use parking_lot::Mutex;
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::Semaphore;

use super::{one, one_world};
use crate::world::{PATIENT, Plan, Server, World, body, connect, eventually, get, read_all, read_answer, read_request};

/// Answers a request for each permit.
async fn held() -> (Server, Arc<Semaphore>) {
    let gate = Arc::new(Semaphore::new(0));
    let answers = Arc::clone(&gate);
    let seen: Arc<Mutex<Vec<u8>>> = Arc::default();
    let record = Arc::clone(&seen);
    let mut server = Server::each(move |mut stream| {
        let (answers, record) = (Arc::clone(&answers), Arc::clone(&record));
        async move {
            while let Some(request) = read_request(&mut stream).await {
                record.lock().extend_from_slice(request.as_bytes());
                answers.acquire().await.unwrap().forget();
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na").await;
            }
        }
    })
    .await;
    server.seen = seen;
    (server, gate)
}

async fn asked(world: &World, server: &Server) -> TcpStream {
    let mut client = connect(world.vip("web")).await;
    ask(&mut client, server).await;
    client
}

async fn ask(client: &mut TcpStream, server: &Server) {
    let before = server.seen().len();
    client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    eventually("the request is there", || server.seen().len() > before).await;
}

#[tokio::test]
async fn a_draining_service_finishes_what_it_has_and_says_when_it_is_idle() {
    let (server, gate) = held().await;
    let mut world = one_world(&server).await;
    let mut client = asked(&world, &server).await;
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
    let mut client = asked(&world, &server).await;
    world.state("a", ServiceState::Down).await;
    assert_eq!(read_all(&mut client).await, "");
    eventually("nothing is active", || world.active("a") == 0).await;
    world.state("a", ServiceState::Up).await;
    gate.add_permits(2);
    assert_eq!(body(&get(world.vip("web"), "/", "").await), "a");
}

#[tokio::test]
async fn a_flush_ends_a_request_in_flight_also_where_its_connection_has_carried_others_and_outlived_a_flush() {
    let (server, gate) = held().await;
    let mut world = World::start(one(&server).with(|v| v.down_state_flush = false)).await;
    let mut client = connect(world.vip("web")).await;
    let mut answered = async || {
        ask(&mut client, &server).await;
        gate.add_permits(1);
        assert_eq!(body(&read_answer(&mut client).await), "a");
    };
    answered().await;
    answered().await;
    // While the client is idle: nothing of it is cut.
    world.state("a", ServiceState::Down).await;
    world.state("a", ServiceState::Up).await;
    answered().await;
    answered().await;
    ask(&mut client, &server).await;
    world.state("a", ServiceState::Down).await;
    assert_eq!(read_all(&mut client).await, "");
}

/// A server whose queue of connections is full: the next one is neither taken nor refused.
async fn unanswering() -> ((TcpListener, TcpStream), SocketAddr) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(0).unwrap();
    let at = listener.local_addr().unwrap();
    let waiting = connect(at).await;
    ((listener, waiting), at)
}

#[tokio::test]
async fn a_request_whose_member_goes_down_while_it_is_being_reached_goes_to_another() {
    let ((listener, _waiting), silent) = unanswering().await;
    let b = Server::http("b").await;
    let patience = |s: &mut Service| s.settings.connect_timeout = Duration::from_secs(15);
    let plan = Plan::default().service("a", Http, silent).with_service(patience).service("b", Http, b.at);
    let mut world =
        World::start(plan.vserver("web", Http, &["a", "b"]).with(|v| v.balancing.method = Method::RoundRobin)).await;
    let mut client = connect(world.vip("web")).await;
    client.write_all(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n\r\nhello").await.unwrap();
    eventually("a is being reached", || world.active("a") == 1).await;
    world.state("a", ServiceState::Down).await;
    // Room again: the kernel's next try succeeds, on a member that is down by now.
    let (_first, _) = listener.accept().await.unwrap();
    assert_eq!(body(&read_answer(&mut client).await), "b");
    assert_eq!(world.active("a"), 0);
}

#[tokio::test]
async fn without_down_state_flush_what_is_in_flight_finishes() {
    let (server, gate) = held().await;
    let plan = one(&server).with_service(|s| s.settings.down_state_flush = false).with(|v| v.down_state_flush = false);
    let mut world = World::start(plan).await;
    let mut client = asked(&world, &server).await;
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
    let mut busy = asked(&world, &server).await;
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
async fn a_head_that_is_not_complete_holds_the_end_of_the_process_a_moment_and_one_that_comes_meanwhile_is_answered() {
    for carrier in [Carrier::Relay, Carrier::Pingora] {
        let server = Server::http("a").await;
        let mut world = World::through(one(&server).model(), carrier).await;
        let vip = world.vip("web");
        let (mut half, mut whole) = (connect(vip).await, connect(vip).await);
        for client in [&mut half, &mut whole] {
            // With the first answer it is known that the half of the second head was read.
            client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHo").await.unwrap();
            assert_eq!(body(&read_answer(client).await), "a", "{carrier:?}");
        }
        let drain = tokio::spawn(world.plane.take().unwrap().drain(10 * PATIENT));
        whole.write_all(b"st: x\r\n\r\n").await.unwrap();
        let answer = read_all(&mut whole).await;
        assert!(answer.starts_with("HTTP/1.1 200 ") && body(&answer) == "a", "{carrier:?}: {answer}");
        drop(whole);
        // Closed and not reset, without an answer: nothing was asked.
        assert_eq!(read_all(&mut half).await, "", "{carrier:?}");
        tokio::time::timeout(PATIENT, drain).await.expect("it is held a moment").unwrap();
    }
}

#[tokio::test]
async fn the_limit_of_a_drain_is_kept() {
    let (server, _gate) = held().await;
    let mut world = one_world(&server).await;
    let mut busy = asked(&world, &server).await;
    let plane = world.plane.take().unwrap();
    tokio::time::timeout(PATIENT, plane.drain(Duration::from_millis(100))).await.unwrap();
    assert_eq!(read_all(&mut busy).await, "");
}

#[tokio::test]
async fn a_removed_vip_answers_what_is_in_flight_where_it_is_not_flushed() {
    let (server, gate) = held().await;
    let mut world = World::start(one(&server).with(|v| v.down_state_flush = false)).await;
    let mut client = asked(&world, &server).await;
    world.model.vservers.clear();
    world.publish().await;
    gate.add_permits(1);
    assert_eq!(body(&read_answer(&mut client).await), "a");
    client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    let last = read_all(&mut client).await;
    assert!(last.starts_with("HTTP/1.1 503 "), "{last}");
}
