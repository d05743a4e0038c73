//! The PROXY protocol, in and out.

use std::net::SocketAddr;
use std::sync::Arc;

use bascule::model::service::Protocol::{Http, Ssl, Tcp};
use bascule::model::service::ProxyProtocol;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use super::pki::BOTH;
use super::{authority, with_certificates};
use crate::world::{PATIENT, Plan, Server, World, body, connect, exchange, read_all};

const V1: &str = "PROXY TCP4 192.0.2.7 198.51.100.1 4711 443\r\n";
const REQUEST: &str = "GET / HTTP/1.1\r\nHost: t.test\r\nConnection: close\r\n\r\n";

fn v2() -> Vec<u8> {
    let mut header = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0f".to_vec();
    header.extend_from_slice(&[192, 0, 2, 8, 198, 51, 100, 1, 0x12, 0x67, 0x01, 0xbb, 4, 0, 0]);
    header
}

async fn http_world(server: &Server) -> World {
    let plan = Plan::default().service("a", Http, server.at).vserver("web", Http, &["a"]);
    World::start(plan.with(|vserver| vserver.proxy_protocol = true)).await
}

#[tokio::test]
async fn the_header_says_who_the_client_is_however_its_bytes_come() {
    let server = Server::http("a").await;
    let world = http_world(&server).await;
    for (header, client) in [(V1.as_bytes().to_vec(), "192.0.2.7"), (v2(), "192.0.2.8")] {
        for piece in [1, 7, 1000] {
            server.seen.lock().clear();
            let mut stream = connect(world.vip("web")).await;
            for bytes in [&header[..], REQUEST.as_bytes()].concat().chunks(piece) {
                stream.write_all(bytes).await.unwrap();
            }
            assert_eq!(body(&read_all(&mut stream).await), "a");
            assert!(server.seen().contains(&format!("X-Forwarded-For: {client}\r\n")), "{}", server.seen());
        }
    }
    for no_client in ["PROXY UNKNOWN\r\n", "\r\n\r\n\0\r\nQUIT\n\x20\x00\x00\x00"] {
        server.seen.lock().clear();
        assert_eq!(body(&exchange(world.vip("web"), &format!("{no_client}{REQUEST}")).await), "a");
        assert!(server.seen().contains("X-Forwarded-For: 127.0.0.1\r\n"), "{no_client:?}: the proxy's own");
    }
}

#[tokio::test]
async fn a_header_that_is_missing_or_wrong_ends_the_connection() {
    let server = Server::http("a").await;
    let world = http_world(&server).await;
    let long = format!("PROXY TCP4 {}", "1".repeat(200));
    let bad = [REQUEST, "PROXY TCP4 1.2.3.4 1.2.3.4 1 70000\r\n", "PROXY TCP4 1.2.3.4 1.2.3.4 1 2\nGET", &long];
    for text in bad {
        let mut stream = connect(world.vip("web")).await;
        stream.write_all(text.as_bytes()).await.unwrap();
        let mut scrap = [0; 16];
        let read = tokio::time::timeout(PATIENT, stream.read(&mut scrap)).await.expect("neither reset nor end");
        assert!(read.is_err() || read.is_ok_and(|read| read == 0), "{text:?}");
    }
    assert_eq!(server.seen(), "");
    let snapshot = world.cell.load_full();
    let live = &snapshot.vservers[0].live.bad_proxy_headers_total;
    assert_eq!(live.load(std::sync::atomic::Ordering::Relaxed), bad.len() as u64);
}

#[tokio::test]
async fn a_vserver_that_does_not_ask_for_a_header_takes_it_for_a_request() {
    let server = Server::http("a").await;
    let world = World::start(Plan::default().service("a", Http, server.at).vserver("web", Http, &["a"])).await;
    assert!(exchange(world.vip("web"), &format!("{V1}{REQUEST}")).await.starts_with("HTTP/1.1 400"));
    assert_eq!(server.seen(), "");
}

#[tokio::test]
async fn tls_begins_behind_the_header() {
    let (ca, server) = (authority(), Server::http("a").await);
    let plan = Plan::default().service("a", Http, server.at).vserver("web", Ssl, &["a"]);
    let plan = plan.with(|vserver| vserver.proxy_protocol = true);
    let world = World::of(with_certificates(plan.model(), &[&ca.issue("www", &["www.test"])])).await;
    for header in [V1.as_bytes().to_vec(), v2()] {
        let mut stream: TcpStream = connect(world.vip("web")).await;
        stream.write_all(&header).await.unwrap();
        let connector = TlsConnector::from(Arc::new(ca.client(BOTH)));
        let mut stream = connector.connect("www.test".try_into().unwrap(), stream).await.unwrap();
        assert_eq!(super::get(&mut stream).await, "a");
    }
    assert!(server.seen().contains("X-Forwarded-For: 192.0.2.7\r\n") && server.seen().contains("192.0.2.8\r\n"));
}

/// HTTP behind a PROXY protocol header (version 1), kept alive: answers each request with the header's source port.
async fn behind_headers() -> Server {
    Server::each(|mut stream| async move {
        let mut line = Vec::new();
        while !line.ends_with(b"\r\n") {
            let Ok(byte) = stream.read_u8().await else { return };
            line.push(byte);
        }
        let line = String::from_utf8(line).unwrap();
        let port = line.split(' ').nth(4).unwrap_or("none").to_owned();
        while crate::world::read_request(&mut stream).await.is_some() {
            let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{port}", port.len());
            if stream.write_all(answer.as_bytes()).await.is_err() {
                return;
            }
        }
    })
    .await
}

#[tokio::test]
async fn a_connection_that_names_a_client_carries_no_other_clients_requests() {
    let server = behind_headers().await;
    let plan = Plan::default()
        .service("a", Http, server.at)
        .with_service(|service| service.settings.proxy_protocol = Some(ProxyProtocol::V1))
        .vserver("web", Http, &["a"]);
    let world = World::start(plan).await;
    for _ in 0..3 {
        let mut client = connect(world.vip("web")).await;
        let port = client.local_addr().unwrap().port().to_string();
        for _ in 0..2 {
            client.write_all(b"GET / HTTP/1.1\r\nHost: t.test\r\n\r\n").await.unwrap();
            assert_eq!(body(&crate::world::read_answer(&mut client).await), port);
        }
    }
}

#[tokio::test]
async fn a_server_that_asks_for_it_is_told_who_the_client_is() {
    let server = Server::each(|mut stream| async move {
        let mut read = [0; 256];
        let length = stream.read(&mut read).await.unwrap_or(0);
        let _ = stream.write_all(&read[..length]).await;
    })
    .await;
    for version in [ProxyProtocol::V1, ProxyProtocol::V2] {
        let plan = Plan::default()
            .service("a", Tcp, server.at)
            .with_service(|service| service.settings.proxy_protocol = Some(version))
            .vserver("db", Tcp, &["a"]);
        let world = World::start(plan).await;
        let mut stream = connect(world.vip("db")).await;
        let (client, vip): (SocketAddr, SocketAddr) = (stream.local_addr().unwrap(), world.vip("db"));
        let mut told = Vec::new();
        tokio::time::timeout(PATIENT, stream.read_to_end(&mut told)).await.unwrap().unwrap();
        match version {
            ProxyProtocol::V1 => {
                let line = format!("PROXY TCP4 127.0.0.1 127.0.0.1 {} {}\r\n", client.port(), vip.port());
                assert_eq!(String::from_utf8_lossy(&told), line);
            }
            ProxyProtocol::V2 => {
                let mut block = b"\r\n\r\n\0\r\nQUIT\n\x21\x11\x00\x0c\x7f\0\0\x01\x7f\0\0\x01".to_vec();
                block.extend_from_slice(&client.port().to_be_bytes());
                block.extend_from_slice(&vip.port().to_be_bytes());
                assert_eq!(told, block);
            }
        }
    }
}
