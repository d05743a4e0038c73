//! How streams and connections of HTTP/2 end.

use std::sync::Arc;
use std::time::Duration;

use bascule::model::state::ServiceState;
use tokio::io::AsyncWriteExt;
use tokio::sync::Semaphore;

use super::client::{Client, answer_of, request};
use super::one;
use super::raw::{self, Raw, Seen};
use crate::world::{PATIENT, Plan, Server, World, eventually, read_request};
use bascule::model::service::Protocol::Http;
use bascule::model::vserver::Member;

const ENHANCE_YOUR_CALM: u32 = 11;

/// Waits until something has ended this way.
async fn ended(world: &World, ending: &str) {
    let snapshot = world.cell.load_full();
    let live = &snapshot.vservers[0].live;
    let is_there = || live.endings.counts().iter().any(|(seen, _)| seen.to_string() == ending);
    let all = || live.endings.counts().iter().map(|(seen, n)| format!("{seen} {n}")).collect::<Vec<_>>();
    let waited = tokio::time::timeout(PATIENT, async {
        while !is_there() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    });
    assert!(waited.await.is_ok(), "{ending} in {:?}", all());
}

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

#[tokio::test]
async fn a_flush_resets_the_streams_of_its_member_and_no_others() {
    let ((a, _), (b, gate)) = (held().await, held().await);
    let mut world = World::start(super::super::two(&a, &b).with(|v| v.http2 = true)).await;
    let client = Client::connect(world.vip("web")).await;
    let (first, _) = client.open(request("GET", "/").body(()).unwrap(), true).await;
    eventually("one of them is asked", || world.active("a") + world.active("b") == 1).await;
    let (second, _) = client.open(request("GET", "/").body(()).unwrap(), true).await;
    eventually("both are asked", || world.active("a") == 1 && world.active("b") == 1).await;
    world.state("a", ServiceState::Down).await;
    eventually("the work is ended", || world.active("a") == 0).await;
    gate.add_permits(1);
    let ends = [answer_of(first).await, answer_of(second).await];
    assert_eq!(ends.iter().filter(|end| end.as_ref().is_ok_and(|answer| answer.status == 200)).count(), 1);
    assert_eq!(ends.iter().filter(|end| end.as_ref().is_err_and(h2::Error::is_reset)).count(), 1);
    assert!(client.is_open().await);
    ended(&world, "appliance/wait/flushed").await;
    ended(&world, "server/body/done").await;
}

#[tokio::test]
async fn a_drain_of_the_process_says_goaway_and_finishes_what_is_in_flight() {
    let (server, gate) = held().await;
    let mut world = World::start(one(&server)).await;
    let idle = Client::connect(world.vip("web")).await;
    let client = Client::connect(world.vip("web")).await;
    let (answer, _) = client.open(request("GET", "/").body(()).unwrap(), true).await;
    eventually("it is asked", || world.active("a") == 1).await;
    let plane = world.plane.take().unwrap();
    let drained = tokio::spawn(plane.drain(PATIENT));
    assert_eq!(idle.ended().await, Ok(()));
    gate.add_permits(1);
    assert_eq!(answer_of(answer).await.unwrap().text(), "a");
    assert_eq!(client.ended().await, Ok(()));
    tokio::time::timeout(PATIENT, drained).await.unwrap().unwrap();
}

#[tokio::test]
async fn the_removal_of_the_vserver_says_goaway() {
    let server = Server::http("a").await;
    let mut world = World::start(one(&server)).await;
    let client = Client::connect(world.vip("web")).await;
    assert_eq!(client.get("/").await.text(), "a");
    world.model.vservers.clear();
    world.publish().await;
    assert_eq!(client.ended().await, Ok(()));
}

/// The last answer of a draining member is the last of its connection, so that the client comes again and is balanced.
#[tokio::test]
async fn a_draining_member_sends_its_clients_away() {
    let ((a, gate), b) = (held().await, Server::http("b").await);
    let mut world = World::start(
        Plan::default().service("a", Http, a.at).service("b", Http, b.at).vserver("web", Http, &["a"]).with(|v| {
            v.http2 = true;
        }),
    )
    .await;
    let client = Client::connect(world.vip("web")).await;
    let (answer, _) = client.open(request("GET", "/").body(()).unwrap(), true).await;
    eventually("it is asked", || world.active("a") == 1).await;
    let mut http1 = crate::world::connect(world.vip("web")).await;
    http1.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    eventually("it is asked", || world.active("a") == 2).await;
    let b_id = world.service_id("b");
    world.vserver("web").members.push(Member::new(b_id));
    world.state("a", ServiceState::Trofs).await;
    gate.add_permits(2);
    assert_eq!(answer_of(answer).await.unwrap().text(), "a");
    assert_eq!(client.ended().await, Ok(()));
    let last = crate::world::read_all(&mut http1).await.to_lowercase();
    assert!(last.contains("connection: close\r\n") && last.ends_with("\r\n\r\na"), "{last}");
    assert_eq!(Client::connect(world.vip("web")).await.get("/").await.text(), "b");
}

#[tokio::test]
async fn an_idle_connection_is_told_to_go_and_one_that_never_speaks_is_closed() {
    let server = Server::http("a").await;
    let world = World::start(one(&server).with(|v| v.client_timeout = Duration::from_millis(200))).await;
    let client = Client::connect(world.vip("web")).await;
    assert_eq!(client.get("/").await.text(), "a");
    assert_eq!(client.ended().await, Ok(()));
    let mut raw = Raw::connect(world.vip("web")).await;
    assert_eq!(raw.outcome(0).await, Seen::GoAway(0));
    ended(&world, "client/head/keep_alive_timeout").await;
    let mut silent = Raw::silent(world.vip("web")).await;
    assert_eq!(silent.outcome(0).await, Seen::Closed);
}

#[tokio::test]
async fn a_client_that_owes_a_body_and_sends_nothing_is_reset() {
    let server = Server::http("a").await;
    let world = World::start(one(&server).with(|v| v.client_timeout = Duration::from_millis(200))).await;
    let mut raw = Raw::connect(world.vip("web")).await;
    raw.headers(1, false, raw::POST).await;
    raw.frame(raw::DATA, 0, 1, b"part").await;
    assert!(matches!(raw.outcome(1).await, Seen::Reset(_)));
    eventually("nothing is active", || world.active("a") == 0).await;
    ended(&world, "client/wait/idle_timeout").await;
}

#[tokio::test]
async fn a_stream_that_is_given_up_or_whose_connection_ends_leaves_the_queue_at_once() {
    let (server, gate) = held().await;
    let plan = Plan::default().service("a", Http, server.at).with_service(|s| s.settings.max_client = 1);
    let world = World::start(plan.vserver("web", Http, &["a"]).with(|v| v.http2 = true)).await;
    let surge = |world: &World| world.cell.load_full().vservers[0].live.surge.depth();
    let client = Client::connect(world.vip("web")).await;
    let (first, _) = client.open(request("GET", "/").body(()).unwrap(), true).await;
    eventually("it is asked", || world.active("a") == 1).await;
    let mut raw = Raw::connect(world.vip("web")).await;
    raw.headers(1, true, raw::GET).await;
    raw.headers(3, true, raw::GET).await;
    eventually("both wait", || surge(&world) == 2).await;
    raw.frame(raw::RST_STREAM, 0, 1, &[0, 0, 0, 8]).await;
    eventually("one has left", || surge(&world) == 1).await;
    drop(raw);
    eventually("the other has left", || surge(&world) == 0).await;
    ended(&world, "client/queue/client_gone").await;
    gate.add_permits(2);
    assert_eq!(answer_of(first).await.unwrap().text(), "a");
    assert_eq!(client.get("/").await.text(), "a", "its place is free");
}

#[tokio::test]
async fn a_reset_by_the_client_ends_the_work_of_its_stream() {
    let (server, _gate) = held().await;
    let world = World::start(one(&server)).await;
    let mut raw = Raw::connect(world.vip("web")).await;
    raw.headers(1, true, raw::GET).await;
    eventually("it is asked", || world.active("a") == 1).await;
    raw.frame(raw::RST_STREAM, 0, 1, &[0, 0, 0, 8]).await;
    eventually("nothing is active", || world.active("a") == 0).await;
    raw.frame(raw::PING, 0, 0, &[0; 8]).await;
    assert_eq!(raw.outcome(0).await, Seen::Pong);
    ended(&world, "client/wait/client_gone").await;
    raw.headers(3, true, raw::GET).await;
    eventually("it is asked", || world.active("a") == 1).await;
    drop(raw);
    eventually("nothing is active", || world.active("a") == 0).await;
}

/// "Rapid reset", and its quieter sisters.
#[tokio::test]
async fn floods_are_cut_off() {
    let server = Server::http("a").await;
    let world = World::start(one(&server)).await;
    for kind in [raw::PING, raw::SETTINGS, raw::PRIORITY, raw::RST_STREAM, raw::DATA] {
        let mut raw = Raw::connect(world.vip("web")).await;
        raw.headers(1, false, raw::POST).await;
        let payload: &[u8] = match kind {
            raw::PING => &[0; 8],
            raw::PRIORITY => &[0, 0, 0, 0, 1],
            _ => &[],
        };
        let stream = if matches!(kind, raw::PING | raw::SETTINGS) { 0 } else { 1 };
        let mut flood = raw::frame(kind, 0, stream, payload).repeat(5000);
        if kind == raw::RST_STREAM {
            flood = (1..2000u32)
                .flat_map(|n| {
                    let id = n * 2 + 1;
                    let head = raw::frame(raw::HEADERS, raw::END_HEADERS | raw::END_STREAM, id, &raw::block(raw::GET));
                    [head, raw::frame(raw::RST_STREAM, 0, id, &[0, 0, 0, 8])].concat()
                })
                .collect();
        }
        raw.send(&flood).await;
        let end = raw.outcome(u32::MAX).await;
        // Whether the GOAWAY arrives before the flood runs into the close is a race.
        assert!(matches!(end, Seen::GoAway(ENHANCE_YOUR_CALM) | Seen::Closed), "{kind}: {end:?}");
    }
    ended(&world, "client/head/bad_request").await;
    assert_eq!(Client::connect(world.vip("web")).await.get("/").await.text(), "a");
}
