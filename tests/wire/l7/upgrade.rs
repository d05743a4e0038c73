//! WebSocket.

use std::time::Duration;

use bascule::model::state::ServiceState;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::{one, one_world};
use crate::world::{PATIENT, Server, World, connect, eventually, exchange, read_all, read_answer, read_request};

const HANDSHAKE: &str = "GET /ws HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";

/// Accepts every handshake, then sends back what it gets.
async fn echo() -> Server {
    Server::each(|mut stream| async move {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let Ok(byte) = stream.read_u8().await else { return };
            head.push(byte);
        }
        let accept = "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
                      Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
        stream.write_all(accept.as_bytes()).await.unwrap();
        let (mut reader, mut writer) = stream.split();
        let _ = tokio::io::copy(&mut reader, &mut writer).await;
    })
    .await
}

async fn open(to: std::net::SocketAddr) -> TcpStream {
    let mut client = connect(to).await;
    client.write_all(HANDSHAKE.as_bytes()).await.unwrap();
    let answer = read_answer(&mut client).await;
    assert!(answer.starts_with("HTTP/1.1 101 "), "{answer}");
    client
}

async fn echoes(client: &mut TcpStream, frame: &[u8]) {
    client.write_all(frame).await.unwrap();
    let mut back = vec![0; frame.len()];
    tokio::time::timeout(PATIENT, client.read_exact(&mut back)).await.unwrap().unwrap();
    assert_eq!(back, frame);
}

#[tokio::test]
async fn a_tunnel_stands_however_quickly_the_server_agrees() {
    let server = echo().await;
    let world = one_world(&server).await;
    for _ in 0..60 {
        let mut client = open(world.vip("web")).await;
        echoes(&mut client, b"\x81\x02hi").await;
        echoes(&mut client, &[0; 5000]).await;
    }
}

#[tokio::test]
async fn a_tunnel_is_work_in_flight_and_is_flushed_like_it() {
    let server = echo().await;
    let mut world = one_world(&server).await;
    let mut client = open(world.vip("web")).await;
    assert_eq!(world.active("a"), 1);
    world.state("a", ServiceState::Trofs).await;
    echoes(&mut client, b"still here").await;
    world.state("a", ServiceState::OutOfService).await;
    assert_eq!(read_all(&mut client).await, "");
    eventually("nothing is active", || world.active("a") == 0).await;
}

#[tokio::test]
async fn a_server_that_declines_is_heard_and_the_connection_stays_of_use() {
    let server = Server::http("a").await;
    let world = one_world(&server).await;
    let mut client = connect(world.vip("web")).await;
    for _ in 0..2 {
        client.write_all(HANDSHAKE.as_bytes()).await.unwrap();
        let answer = read_answer(&mut client).await;
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    }
    client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    assert!(read_answer(&mut client).await.starts_with("HTTP/1.1 200 "));
}

#[tokio::test]
async fn an_end_of_either_side_ends_the_tunnel() {
    let server = echo().await;
    let world = one_world(&server).await;
    let mut client = open(world.vip("web")).await;
    echoes(&mut client, b"x").await;
    drop(client);
    eventually("nothing is active", || world.active("a") == 0).await;
}

/// Answers every request with `answer`, then says nothing more, or closes.
async fn says(answer: &'static [u8], closes: bool) -> Server {
    Server::each(move |mut stream| async move {
        while read_request(&mut stream).await.is_some() {
            stream.write_all(answer).await.unwrap();
            if closes {
                return;
            }
        }
    })
    .await
}

/// Work that nothing ends would hold a graceful drain for ever.
#[tokio::test]
async fn a_server_that_falls_silent_after_declining_or_agreeing_is_given_up() {
    for answer in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\npart"[..],
        b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        b"HTTP/1.1 200 O",
        b"",
    ] {
        let server = says(answer, false).await;
        let world =
            World::start(one(&server).with_service(|s| s.settings.server_timeout = Duration::from_millis(200))).await;
        let mut client = connect(world.vip("web")).await;
        client.write_all(HANDSHAKE.as_bytes()).await.unwrap();
        read_all(&mut client).await;
        eventually("nothing is active", || world.active("a") == 0).await;
    }
}

#[tokio::test]
async fn nothing_of_ours_gets_into_a_tunnel_that_breaks() {
    let server = Server::each(|mut stream| async move {
        read_request(&mut stream).await;
        let accept = b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nframe";
        stream.write_all(accept).await.unwrap();
        tokio::time::sleep(Duration::from_millis(100)).await;
        socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO)).unwrap();
    })
    .await;
    let world = one_world(&server).await;
    let answer = exchange(world.vip("web"), HANDSHAKE).await;
    assert!(answer.ends_with("\r\n\r\nframe"), "{answer}");
}

#[tokio::test]
async fn a_server_that_switches_unasked_has_failed() {
    let server = says(b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", false).await;
    let world = one_world(&server).await;
    for request in [
        "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.0\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AA\r\n\r\n",
    ] {
        let answer = exchange(world.vip("web"), request).await;
        assert!(answer.starts_with("HTTP/1.1 502 "), "{request}: {answer}");
        eventually("nothing is active", || world.active("a") == 0).await;
    }
}
