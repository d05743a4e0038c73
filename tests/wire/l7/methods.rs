//! Methods, splits and passive health, on real connections.

use std::collections::HashMap;

use bascule::model::balancing::Method;
use bascule::model::service::Passive;
use bascule::model::service::Protocol::Http;
use tokio::io::AsyncWriteExt;

use super::two;
use crate::world::{Plan, Server, World, body, connect, get, nobody, read_answer, read_request};

async fn failing() -> Server {
    Server::each(|mut stream| async move {
        while read_request(&mut stream).await.is_some() {
            let answer = b"HTTP/1.1 500 Internal Server Error\r\nContent-Length: 3\r\n\r\nbad";
            if stream.write_all(answer).await.is_err() {
                return;
            }
        }
    })
    .await
}

#[tokio::test]
async fn a_url_stays_with_its_member_whoever_asks_for_it() {
    let (a, b) = (Server::http("a").await, Server::http("b").await);
    let world = World::start(two(&a, &b).with(|v| v.balancing.method = Method::UrlHash)).await;
    let mut of: HashMap<String, String> = HashMap::new();
    for round in 0..3 {
        for n in 0..20 {
            let path = format!("/files/{n}?v=1");
            let by = body(&get(world.vip("web"), &path, "").await).to_owned();
            if round == 0 {
                of.insert(path, by);
            } else {
                assert_eq!(of[&path], by);
            }
        }
    }
    assert!(of.values().any(|by| by == "a") && of.values().any(|by| by == "b"));
}

#[tokio::test]
async fn a_member_that_cannot_be_reached_is_ejected_and_knocked_at_no_more() {
    let b = Server::http("b").await;
    let passive = Passive { connect_failures: 3, ..Passive::default() };
    let plan = Plan::default()
        .service("a", Http, nobody().await)
        .with_service(|s| s.settings.passive = Some(passive))
        .service("b", Http, b.at)
        .vserver("web", Http, &["a", "b"])
        .with(|v| v.balancing.method = Method::RoundRobin);
    let world = World::start(plan).await;
    for _ in 0..30 {
        assert_eq!(body(&get(world.vip("web"), "/", "").await), "b");
    }
    let snapshot = world.cell.load_full();
    let live = &snapshot.services[world.service_id("a").index()].live;
    assert_eq!(live.connect_failures_total.load(std::sync::atomic::Ordering::SeqCst), 3);
    assert_eq!(live.ejector.ejections_total.load(std::sync::atomic::Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_member_that_answers_errors_is_ejected_and_the_other_serves() {
    let (a, b) = (failing().await, Server::http("b").await);
    let plan = Plan::default()
        .service("a", Http, a.at)
        .with_service(|s| {
            s.settings.passive = Some(Passive { connect_failures: 0, server_errors: 4, ..Passive::default() });
        })
        .service("b", Http, b.at)
        .vserver("web", Http, &["a", "b"])
        .with(|v| v.balancing.method = Method::RoundRobin);
    let world = World::start(plan).await;
    let mut client = connect(world.vip("web")).await;
    let mut bad = 0;
    for _ in 0..40 {
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        bad += u32::from(body(&read_answer(&mut client).await) == "bad");
    }
    assert_eq!(bad, 4);
}
