//! What a server must never see.

use std::time::Duration;

use bascule::dataplane::l7::Carrier;
use tokio::io::AsyncWriteExt;

use super::one_world;
use crate::world::{Server, World, connect, exchange, read_all, read_answer};

#[tokio::test]
async fn what_could_be_read_in_two_ways_is_refused_before_a_server_sees_it() {
    let server = Server::http("a").await;
    let world = one_world(&server).await;
    let vip = world.vip("web");
    let long = "a".repeat(70_000);
    let many = "A: b\r\n".repeat(101);
    let cases: Vec<(&str, String)> = vec![
        (
            "400",
            "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".into(),
        ),
        ("400", "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n".into()),
        (
            "400",
            "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n".into(),
        ),
        ("400", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na".into()),
        ("400", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\na".into()),
        ("400", "POST / HTTP/1.1\r\nHost: x\r\nContent_Length: 1\r\nContent-Length: 1\r\n\r\na".into()),
        ("400", "GET / HTTP/1.1\r\n\r\n".into()),
        ("400", "GET / HTTP/1.1\r\nHost: a b/c\r\n\r\n".into()),
        ("400", "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n".into()),
        ("400", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n".into()),
        ("400", "GET /\x01 HTTP/1.1\r\nHost: x\r\n\r\n".into()),
        ("400", "GET /#a HTTP/1.1\r\nHost: x\r\n\r\n".into()),
        ("400", "GET / HTTP/1.1\nHost: x\n\n".into()),
        ("400", "\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n".into()),
        ("400", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n".into()),
        ("400", "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi".into()),
        ("405", "TRACE / HTTP/1.1\r\nHost: x\r\n\r\n".into()),
        ("405", "CONNECT x:80 HTTP/1.1\r\nHost: x:80\r\n\r\n".into()),
        ("431", format!("GET / HTTP/1.1\r\nHost: x\r\nA: {long}\r\n\r\n")),
        ("431", format!("GET / HTTP/1.1\r\nHost: x\r\n{many}\r\n")),
        ("414", format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", &long[..9000])),
        ("505", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".into()),
    ];
    for (status, request) in cases {
        let answer = exchange(vip, &request).await;
        let what = &request[..request.len().min(80)];
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{what:?}: {answer:?}");
        assert!(!answer.to_lowercase().contains("pingora"), "{what:?}: {answer:?}");
        assert!(answer.contains("Connection: close"), "{what:?}: {answer:?}");
    }
    assert_eq!(server.seen(), "");
}

#[tokio::test]
async fn nothing_after_a_refused_head_is_taken_for_a_request() {
    let server = Server::http("a").await;
    let world = one_world(&server).await;
    let smuggled = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n\
                    GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n";
    let answer = exchange(world.vip("web"), smuggled).await;
    assert_eq!(answer.matches("HTTP/1.1").count(), 1, "{answer}");
    assert_eq!(server.seen(), "");
}

/// RFC 9112 §2.2: some clients send one behind a body.
#[tokio::test]
async fn an_empty_line_behind_a_body_begins_no_request_and_the_next_one_is_served() {
    let server = Server::http("a").await;
    for carrier in [Carrier::Relay, Carrier::Pingora] {
        let plan = super::one(&server).with(|v| v.client_timeout = Duration::from_secs(2));
        let world = World::through(plan.model(), carrier).await;
        let post = "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nb\r\n";
        let mut client = connect(world.vip("web")).await;
        client.write_all(post.as_bytes()).await.unwrap();
        assert!(read_answer(&mut client).await.ends_with('a'));
        client.write_all(format!("{post}GET / HTTP/1.1\r\nHost: x\r\n\r\n\r\n").as_bytes()).await.unwrap();
        let both = read_all(&mut client).await;
        assert_eq!(both.matches("HTTP/1.1 200 OK").count(), 2, "{carrier:?}: {both}");
        assert_eq!(both.matches("HTTP/1.1").count(), 2, "idle, and not late with a head: {carrier:?}: {both}");
    }
}

#[tokio::test]
async fn a_malformed_chunk_ends_the_request() {
    let server = Server::http("a").await;
    let world = one_world(&server).await;
    for bad in ["0x1\r\na\r\n", "1\r\nab\r\n", "1;a\nb\r\na\r\n", "1;\r\na\r\n", "1;a=\"b\r\na\r\n"] {
        let request = format!("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n{bad}0\r\n\r\n");
        let answer = exchange(world.vip("web"), &request).await;
        assert!(answer.starts_with("HTTP/1.1 400 "), "{bad:?}: {answer:?}");
    }
}

#[tokio::test]
async fn a_server_sees_one_way_of_writing_a_body_in_chunks() {
    let server = Server::http("a").await;
    let world = one_world(&server).await;
    let request = "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n\
                   5;ext=1\r\nhello\r\n0\r\nX-T: 1\r\n\r\n";
    let answer = exchange(world.vip("web"), request).await;
    assert!(answer.ends_with("\r\n\r\na"), "{answer}");
    // Trailers: only the relay passes them on.
    let seen = server.seen().replace("X-T: 1\r\n", "");
    assert!(seen.ends_with("\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), "{seen}");
    assert!(!seen.contains("ext"), "{seen}");
}

/// Virtual time would stop the sockets too, so the limit itself is not waited for: a trickle must not move it.
#[tokio::test]
async fn an_idle_connection_and_a_slow_head_end() {
    let server = Server::http("a").await;
    let world = World::start(super::one(&server).with(|v| v.client_timeout = Duration::from_secs(2))).await;
    let mut client = connect(world.vip("web")).await;
    client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").await.unwrap();
    assert!(read_answer(&mut client).await.ends_with('a'));
    assert_eq!(read_all(&mut client).await, "", "closed after the vserver's idle time-out");
}

#[tokio::test]
async fn a_head_that_trickles_is_cut_as_a_whole() {
    let server = Server::http("a").await;
    let world = one_world(&server).await;
    let mut client = connect(world.vip("web")).await;
    let (mut reader, mut writer) = client.split();
    let trickle = async {
        for byte in "GET / HTTP/1.1\r\nHost: x\r\nA: ".bytes().chain(std::iter::repeat(b'a')) {
            if writer.write_all(&[byte]).await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    };
    let mut answer = Vec::new();
    tokio::select! {
        () = trickle => {}
        _ = tokio::io::AsyncReadExt::read_to_end(&mut reader, &mut answer) => {}
        () = tokio::time::sleep(Duration::from_secs(25)) => panic!("never cut"),
    }
    let answer = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with("HTTP/1.1 408 "), "{answer}");
    assert_eq!(server.seen(), "");
}
