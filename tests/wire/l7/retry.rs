//! Requests that are given to another member.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bascule::model::service::Protocol::Http;

use crate::world::{Plan, Server, World, get, read_request};

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
