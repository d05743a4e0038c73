//! What the engine for HTTP/2 and upgrades shares and how it writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use bascule::dataplane::l7::Carrier;
use bascule::model::AccessTo;
use bascule::model::service::Protocol::{Http, Ssl};
use bascule::model::state::ServiceState;
use bascule::snapshot::live::Interval;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::http2::client::{Client, request};
use crate::tls::pki::{Authority, tls_server};
use crate::world::{PATIENT, Plan, Server, World, connect, eventually, get, read_request};

/// P8: a proxy for each VIP would make its own connections.
#[tokio::test]
async fn two_vips_share_the_connections_to_a_server() {
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    let server = Server::each(move |mut stream| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move {
            while read_request(&mut stream).await.is_some() {
                let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na").await;
            }
        }
    })
    .await;
    let plan = Plan::default().service("a", Http, server.at);
    let plan = plan.vserver("one", Http, &["a"]).with(|v| v.http2 = true);
    let world = World::start(plan.vserver("two", Http, &["a"]).with(|v| v.http2 = true)).await;
    let (one, two) = (Client::connect(world.vip("one")).await, Client::connect(world.vip("two")).await);
    for client in [&one, &two, &one, &two] {
        assert_eq!(client.get("/").await.text(), "a");
        // The connection is back in the pool once the request is over.
        eventually("nothing is active", || world.active("a") == 0).await;
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

/// Over HTTP/2 the host stands beside the fields, and a request may end before anybody has put it among them.
#[tokio::test]
async fn the_log_says_of_a_request_over_http_2_what_it_asked_for_however_it_ended() {
    let server = Server::http("a").await;
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("access.log");
    let plan = Plan::default().service("a", Http, server.at).vserver("web", Http, &["a"]).with(|v| v.http2 = true);
    let mut model = plan.model();
    model.log.access = AccessTo::File(log.to_str().unwrap().into());
    let mut world = World::of(model).await;
    let client = Client::connect(world.vip("web")).await;
    assert_eq!(client.get("/good?secret=1").await.status, 200);
    let malformed = request("POST", "/malformed").header("host", "other.test").body(()).unwrap();
    assert_eq!(client.send(malformed, None).await.status, 400);
    world.state("a", ServiceState::Down).await;
    assert_eq!(Client::connect(world.vip("web")).await.get("/down").await.status, 503);
    for words in [
        "method=GET host=t.test path=/good status=200",
        "method=POST host=t.test path=/malformed status=400",
        "method=GET host=t.test path=/down status=503",
    ] {
        let read = || std::fs::read_to_string(&log).unwrap_or_default();
        eventually(&format!("{words} in the log"), || read().contains(words)).await;
        assert!(!read().contains("secret"));
    }
}

#[tokio::test]
async fn a_client_of_http_2_that_sends_malformed_requests_again_and_again_is_cut_off() {
    let server = Server::http("a").await;
    let plan = Plan::default().service("a", Http, server.at).vserver("web", Http, &["a"]).with(|v| v.http2 = true);
    let world = World::start(plan).await;
    let client = Client::connect(world.vip("web")).await;
    for _ in 0..31 {
        let malformed = request("POST", "/").header("host", "other.test").body(()).unwrap();
        assert_eq!(client.send(malformed, None).await.status, 400);
    }
    assert_eq!(client.get("/").await.status, 200);
    let (_answer, _sender) =
        client.open(request("POST", "/").header("host", "other.test").body(()).unwrap(), true).await;
    let end = client.ended().await.unwrap_err();
    assert!(end.contains("excessive load"), "{end}");
    assert_eq!(server.seen().matches("POST").count(), 0);
}

/// P9: without a buffer the head would come alone, and be read alone by a client that waits for it.
#[tokio::test]
async fn head_and_body_of_an_answer_leave_together() {
    let server = Server::http("hello").await;
    let plan = Plan::default().service("a", Http, server.at).vserver("web", Http, &["a"]);
    let world = World::through(plan.model(), Carrier::Pingora).await;
    let mut client = connect(world.vip("web")).await;
    let mut read = vec![0; 4096];
    for _ in 0..100 {
        client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
        let length = tokio::time::timeout(PATIENT, client.read(&mut read)).await.unwrap().unwrap();
        assert!(read[..length].ends_with(b"\r\n\r\nhello"), "{}", String::from_utf8_lossy(&read[..length]));
    }
}

#[tokio::test]
async fn the_handshake_with_a_server_is_measured_by_both_engines() {
    let ca = Authority::new("ca");
    let server = tls_server(ca.issue("a", &["t.test"]).server(None)).await;
    for carrier in [Carrier::Relay, Carrier::Pingora] {
        let plan = Plan::default().service("a", Ssl, server.at).vserver("web", Http, &["a"]);
        let world = World::through(plan.model(), carrier).await;
        let began = Instant::now();
        assert!(get(world.vip("web"), "/", "").await.starts_with("HTTP/1.1 200 "));
        let took = began.elapsed();
        let snapshot = world.cell.load_full();
        let measured =
            |interval| snapshot.services[0].live.measured.counts(interval).filter(|counts| counts.count == 1);
        eventually("it is counted", || measured(Interval::ServerTls).is_some()).await;
        let tls = measured(Interval::ServerTls).unwrap().quantile(0.5).unwrap();
        assert!(tls > Duration::ZERO && tls <= took.mul_f64(1.02), "{carrier:?}: {tls:?} of {took:?}");
        // A connection that is kept has none.
        assert!(get(world.vip("web"), "/", "").await.starts_with("HTTP/1.1 200 "));
        eventually("both are over", || world.active("a") == 0).await;
        assert!(measured(Interval::ServerTls).is_some(), "{carrier:?}");
    }
}
