//! Connections to servers that are used again, and servers that answer early; through both engines.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bascule::dataplane::l7::Carrier;
use bascule::model::service::Protocol::Http;
use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::one;
use crate::world::{PATIENT, Plan, Server, World, body, connect, eventually, read_answer, read_request};

const ENGINES: [Carrier; 2] = [Carrier::Relay, Carrier::Pingora];

/// How many each connection carried, and how many have ended.
#[derive(Default)]
struct Carried {
    each: Mutex<Vec<usize>>,
    closed: AtomicUsize,
}

/// Answers `most` requests on each connection and closes it without a word.
async fn closing_after(most: usize) -> (Server, Arc<Carried>) {
    let carried: Arc<Carried> = Arc::default();
    let shared = Arc::clone(&carried);
    let server = Server::each(move |mut stream| {
        let shared = Arc::clone(&shared);
        async move {
            let at = {
                let mut each = shared.each.lock();
                each.push(0);
                each.len() - 1
            };
            for _ in 0..most {
                if read_request(&mut stream).await.is_none() {
                    break;
                }
                shared.each.lock()[at] += 1;
                if stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na").await.is_err() {
                    break;
                }
            }
            drop(stream);
            shared.closed.fetch_add(1, Ordering::SeqCst);
        }
    })
    .await;
    (server, carried)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_closes_what_it_said_to_keep_costs_no_client_an_error() {
    for carrier in ENGINES {
        let (server, carried) = closing_after(2).await;
        let world = World::through(one(&server).model(), carrier).await;
        let mut client = connect(world.vip("web")).await;
        for n in 0..60 {
            // Some on the heels of the close, some after it.
            if n % 3 == 0 {
                tokio::time::sleep(Duration::from_millis(2)).await;
            }
            client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
            let answer = read_answer(&mut client).await;
            assert!(answer.starts_with("HTTP/1.1 200 "), "{carrier:?} {n}: {answer}");
        }
        let each = carried.each.lock();
        assert!(each.contains(&2), "{carrier:?}: connections were used again: {each:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_that_may_not_be_repeated_go_over_a_closed_connection_neither() {
    for carrier in ENGINES {
        let (server, carried) = closing_after(1).await;
        let world = World::through(one(&server).model(), carrier).await;
        let mut client = connect(world.vip("web")).await;
        for n in 1..=20 {
            client.write_all(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi").await.unwrap();
            let answer = read_answer(&mut client).await;
            assert!(answer.starts_with("HTTP/1.1 200 "), "{carrier:?} {n}: {answer}");
            // A close that comes while the request is on its way may not be repeated.
            eventually("it is closed", || carried.closed.load(Ordering::SeqCst) == n).await;
        }
        assert_eq!(carried.each.lock().len(), 20, "{carrier:?}: each exactly once");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_connection_to_a_server_carries_as_many_requests_as_max_req_says() {
    for carrier in ENGINES {
        let (server, carried) = closing_after(usize::MAX).await;
        let plan = Plan::default().service("a", Http, server.at).with_service(|s| s.settings.max_requests = 3);
        let world = World::through(plan.vserver("web", Http, &["a"]).model(), carrier).await;
        let mut client = connect(world.vip("web")).await;
        for _ in 0..10 {
            client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
            assert_eq!(body(&read_answer(&mut client).await), "a");
        }
        assert_eq!(*carried.each.lock(), [3, 3, 3, 1], "{carrier:?}");
    }
}

#[tokio::test]
async fn idle_connections_to_servers_are_counted_and_end_with_a_flush() {
    let (server, _) = closing_after(usize::MAX).await;
    let mut world = World::through(one(&server).model(), Carrier::Relay).await;
    let mut client = connect(world.vip("web")).await;
    client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    read_answer(&mut client).await;
    let pooled =
        |world: &World| world.cell.load_full().services[0].live.pooled.load(std::sync::atomic::Ordering::Relaxed);
    eventually("it is kept", || pooled(&world) == 1).await;
    world.state("a", bascule::model::state::ServiceState::Down).await;
    eventually("it is closed", || pooled(&world) == 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_to_an_unfinished_upload_reaches_the_client_at_once() {
    for carrier in ENGINES {
        let server = Server::each(|mut stream| async move {
            let mut head = Vec::new();
            while !head.windows(4).any(|w| w == b"\r\n\r\n") {
                if stream.read_buf(&mut head).await.unwrap_or(0) == 0 {
                    return;
                }
            }
            let answer = b"HTTP/1.1 413 Content Too Large\r\nContent-Length: 3\r\nConnection: close\r\n\r\ntoo";
            let _ = stream.write_all(answer).await;
            // It takes no more of the body, and leaves when the other side does.
            let _ = stream.shutdown().await;
            let mut rest = [0; 4096];
            while stream.read(&mut rest).await.unwrap_or(0) > 0 {}
        })
        .await;
        let world = World::through(one(&server).model(), carrier).await;
        let mut client = connect(world.vip("web")).await;
        client.write_all(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\nfirst part").await.unwrap();
        let mut answer = vec![0; 12];
        let read = tokio::time::timeout(PATIENT, client.read_exact(&mut answer)).await;
        read.expect("before the upload is over").unwrap();
        assert_eq!(String::from_utf8_lossy(&answer), "HTTP/1.1 413", "{carrier:?}");
        let web = world.cell.load_full();
        let statuses = &web.vservers[0].live.statuses_total;
        drop(client);
        eventually("it is counted", || statuses[4].load(std::sync::atomic::Ordering::Relaxed) == 1).await;
    }
}
