//! Requests that are given to another member.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bascule::dataplane::l7::Carrier;
use bascule::model::service::Protocol::Http;
use tokio::io::AsyncWriteExt;
use tokio::sync::Barrier;

use super::one;
use crate::world::{Plan, Server, World, eventually, exchange, get, read_request};

/// Five members that take a request and close, and how many they took.
async fn failing() -> (Vec<Server>, Arc<AtomicUsize>) {
    let taken = Arc::new(AtomicUsize::new(0));
    let mut servers = Vec::new();
    for _ in 0..5 {
        let counted = Arc::clone(&taken);
        let server = Server::each(move |mut stream| {
            let counted = Arc::clone(&counted);
            async move {
                if read_request(&mut stream).await.is_some() {
                    counted.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        servers.push(server.await);
    }
    (servers, taken)
}

fn before(servers: &[Server], max: u32, budget_percent: u8) -> Plan {
    let names = ["a", "b", "c", "d", "e"];
    let services = names.iter().zip(servers).fold(Plan::default(), |plan, (name, s)| plan.service(name, Http, s.at));
    services.vserver("web", Http, &names).with(|v| {
        v.retry.max = max;
        v.retry.budget_percent = budget_percent;
    })
}

#[tokio::test]
async fn a_request_is_tried_on_as_many_more_members_as_the_vserver_says() {
    for max in [0, 1, 3] {
        let (servers, taken) = failing().await;
        let world = World::start(before(&servers, max, 100)).await;
        let answer = get(world.vip("web"), "/", "").await;
        assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
        assert_eq!(taken.load(Ordering::SeqCst), 1 + max as usize);
    }
}

#[tokio::test]
async fn a_back_end_that_fails_altogether_is_not_hit_harder_than_the_budget_allows() {
    let (servers, taken) = failing().await;
    let world = World::start(before(&servers, 2, 10)).await;
    for _ in 0..100 {
        get(world.vip("web"), "/", "").await;
    }
    // 100 requests, a tenth of retries, and three free in each second that they took.
    let taken = taken.load(Ordering::SeqCst);
    let snapshot = world.cell.load_full();
    let live = &snapshot.vservers[0].live;
    let retries = live.retry.granted_total.load(Ordering::Relaxed);
    assert_eq!(taken as u64, 100 + retries);
    assert!((10..60).contains(&retries), "{retries}");
    assert!(live.retry.denied_total.load(Ordering::Relaxed) > 0);
}

/// Answers one request on each connection, `together` of them at once, and closes it at the second, without an answer.
async fn closing_at_the_second(together: usize) -> (Server, Arc<AtomicUsize>) {
    let (answered, first) = (Arc::new(AtomicUsize::new(0)), Arc::new(Barrier::new(together)));
    let counted = Arc::clone(&answered);
    let server = Server::each(move |mut stream| {
        let (counted, first) = (Arc::clone(&counted), Arc::clone(&first));
        async move {
            if read_request(&mut stream).await.is_none() {
                return;
            }
            if counted.load(Ordering::SeqCst) < together {
                first.wait().await;
            }
            counted.fetch_add(1, Ordering::SeqCst);
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
            read_request(&mut stream).await;
        }
    });
    (server.await, answered)
}

#[tokio::test]
async fn many_kept_connections_that_the_server_closes_cost_a_request_one_more_try() {
    for carrier in [Carrier::Relay, Carrier::Pingora] {
        let (server, answered) = closing_at_the_second(12).await;
        let world = World::through(one(&server).model(), carrier).await;
        let vip = world.vip("web");
        let request = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        let mut all = tokio::task::JoinSet::new();
        for _ in 0..12 {
            all.spawn(exchange(vip, request));
        }
        while let Some(answer) = all.join_next().await {
            assert!(answer.unwrap().starts_with("HTTP/1.1 200 "));
        }
        eventually("all are kept", || world.active("a") == 0).await;
        for _ in 0..6 {
            let answer = exchange(vip, request).await;
            assert!(answer.starts_with("HTTP/1.1 200 "), "{carrier:?}: {answer:?}");
        }
        assert_eq!(answered.load(Ordering::SeqCst), 18, "{carrier:?}");
    }
}

#[tokio::test]
async fn a_post_is_not_sent_on_a_kept_connection_that_the_server_has_closed() {
    for carrier in [Carrier::Relay, Carrier::Pingora] {
        let closed = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&closed);
        let server = Server::each(move |mut stream| {
            let counted = Arc::clone(&counted);
            async move {
                if read_request(&mut stream).await.is_some() {
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
                }
                drop(stream);
                counted.fetch_add(1, Ordering::SeqCst);
            }
        })
        .await;
        let world = World::through(one(&server).model(), carrier).await;
        for done in 1..=100 {
            let post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nConnection: close\r\n\r\nx";
            let answer = exchange(world.vip("web"), post).await;
            assert!(answer.starts_with("HTTP/1.1 200 "), "{carrier:?}: {answer:?}");
            // Its end lies in the kernel now, noticed or not.
            eventually("it is closed", || closed.load(Ordering::SeqCst) == done).await;
        }
    }
}
