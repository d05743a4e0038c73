//! TLS that is passed through.

use std::sync::Arc;

use bascule::model::service::Protocol::SslBridge;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::authority;
use super::pki::{BOTH, handshake, shown, tls_server};
use crate::world::{PATIENT, Plan, World, connect};

#[tokio::test]
async fn the_servers_own_certificate_reaches_the_client() {
    let ca = authority();
    let issued = ca.issue("www", &["www.test"]);
    let server = tls_server(issued.server(None)).await;
    let plan = Plan::default().service("a", SslBridge, server.at).vserver("web", SslBridge, &["a"]);
    let world = World::start(plan).await;
    for versions in [BOTH, &[&rustls::version::TLS12][..]] {
        let mut stream = handshake(&Arc::new(ca.client(versions)), world.vip("web"), "www.test").await.unwrap();
        assert!(shown(&stream, &issued));
        assert_eq!(super::get(&mut stream).await, "www.test");
    }
}

#[tokio::test]
async fn what_is_no_tls_never_reaches_a_server() {
    let ca = authority();
    let server = tls_server(ca.issue("www", &["www.test"]).server(None)).await;
    let plan = Plan::default().service("a", SslBridge, server.at).vserver("web", SslBridge, &["a"]);
    let world = World::start(plan).await;
    let mut client = connect(world.vip("web")).await;
    client.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut scrap = [0; 16];
    let read = tokio::time::timeout(PATIENT, client.read(&mut scrap)).await.expect("neither reset nor end");
    assert!(read.is_err() || read.is_ok_and(|read| read == 0));
    assert_eq!(super::failed(&world, "malformed"), 1);
    let snapshot = world.cell.load_full();
    let live = &snapshot.services[world.service_id("a").index()].live;
    assert_eq!(live.requests_total.load(std::sync::atomic::Ordering::Relaxed), 0);
}
