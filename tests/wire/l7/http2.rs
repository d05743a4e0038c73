//! HTTP/2 with clients.

#[path = "http2/client.rs"]
pub mod client;
#[path = "http2/conformance.rs"]
mod conformance;
#[path = "http2/ends.rs"]
mod ends;
#[path = "http2/raw.rs"]
pub mod raw;
#[path = "http2/servers.rs"]
mod servers;

use bascule::model::service::Protocol::Http;
use bytes::Bytes;
use http::Request;
use tokio::io::AsyncWriteExt;

use crate::world::{PATIENT, Plan, Server, World, connect, exchange, get, nobody, read_answer, read_request};
use client::{Answer, Client, answer_of, request};

fn one(server: &Server) -> Plan {
    super::one(server).with(|v| v.http2 = true)
}

#[tokio::test]
async fn streams_of_one_connection_are_balanced_one_by_one_and_servers_see_http_1() {
    let (a, b) = (Server::http("a").await, Server::http("b").await);
    let world = World::start(super::two(&a, &b).with(|v| v.http2 = true)).await;
    let client = Client::connect(world.vip("web")).await;
    let mut bodies = Vec::new();
    for n in 0..4 {
        let answer = client.get(&format!("/{n}?q")).await;
        assert_eq!(answer.status, 200);
        bodies.push(answer.text());
    }
    bodies.sort();
    assert_eq!(bodies, ["a", "a", "b", "b"]);
    let seen = a.seen() + &b.seen();
    for n in 0..4 {
        assert!(seen.contains(&format!("GET /{n}?q HTTP/1.1\r\n")), "{seen}");
    }
    let seen = seen.to_lowercase();
    assert_eq!(seen.matches("host: t.test\r\n").count(), 4, "{seen}");
    assert_eq!(seen.matches("x-forwarded-for: 127.0.0.1\r\n").count(), 4, "{seen}");
}

/// A peek that waits for 24 bytes would hold back a request of 18.
#[tokio::test]
async fn a_short_request_of_http_1_is_not_held_back_by_the_look_for_a_preface() {
    let server = Server::http("a").await;
    let world = World::start(one(&server)).await;
    let mut client = connect(world.vip("web")).await;
    client.write_all(b"GET / HTTP/1.0\r\n\r\n").await.unwrap();
    let answer = tokio::time::timeout(PATIENT, read_answer(&mut client)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(get(world.vip("web"), "/", "").await.ends_with("\r\n\r\na"));
    // The first bytes are those of a preface.
    let answer = exchange(world.vip("web"), "PRI / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await;
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
}

#[tokio::test]
async fn a_preface_that_comes_byte_by_byte_is_one() {
    let server = Server::http("a").await;
    let world = World::start(one(&server)).await;
    let mut raw = raw::Raw::silent(world.vip("web")).await;
    for byte in raw::PREFACE {
        raw.send(&[*byte]).await;
        tokio::task::yield_now().await;
    }
    raw.frame(raw::SETTINGS, 0, 0, &[]).await;
    raw.headers(1, true, raw::GET).await;
    assert_eq!(raw.status(1).await, 200);
}

#[tokio::test]
async fn without_the_setting_a_preface_is_refused() {
    let server = Server::http("a").await;
    let world = super::one_world(&server).await;
    let answer = exchange(world.vip("web"), std::str::from_utf8(raw::PREFACE).unwrap()).await;
    assert!(answer.starts_with("HTTP/1.1 505 "), "{answer}");
}

/// P10.
#[tokio::test]
async fn crumbs_of_a_cookie_reach_a_server_as_one_field() {
    let server = Server::http("a").await;
    let world = World::start(one(&server)).await;
    let client = Client::connect(world.vip("web")).await;
    let crumbs = request("GET", "/").header("cookie", "a=1").header("cookie", "b=2").header("cookie", "c=3");
    assert_eq!(client.send(crumbs.body(()).unwrap(), None).await.status, 200);
    let seen = server.seen().to_lowercase();
    assert!(seen.contains("cookie: a=1; b=2; c=3\r\n"), "{seen}");
    assert_eq!(seen.matches("cookie").count(), 1, "{seen}");
}

/// P2.
#[tokio::test]
async fn a_body_that_ends_with_an_empty_frame_ends_once() {
    let server = Server::http("a").await;
    let world = World::start(one(&server)).await;
    let client = Client::connect(world.vip("web")).await;
    for _ in 0..3 {
        let (answer, mut body) = client.open(request("POST", "/").body(()).unwrap(), false).await;
        body.send_data(Bytes::from_static(b"hello"), false).unwrap();
        body.send_data(Bytes::new(), true).unwrap();
        assert_eq!(answer_of(answer).await.unwrap().text(), "a");
    }
    let seen = server.seen();
    assert_eq!(seen.matches("5\r\nhello\r\n0\r\n\r\n").count(), 3, "{seen}");
    assert_eq!(seen.matches("0\r\n\r\n").count(), 3, "{seen}");
}

#[tokio::test]
async fn a_body_with_a_length_keeps_it_and_one_that_breaks_it_never_ends_well() {
    let server = Server::http("a").await;
    let world = World::start(one(&server)).await;
    let client = Client::connect(world.vip("web")).await;
    let post = || request("POST", "/").header("content-length", "5").body(()).unwrap();
    assert_eq!(client.send(post(), Some("hello")).await.text(), "a");
    assert!(server.seen().to_lowercase().contains("content-length: 5\r\n"));
    assert!(!server.seen().to_lowercase().contains("transfer-encoding"));
    for body in ["hell", "hello!"] {
        let (answer, mut sender) = client.open(post(), false).await;
        sender.send_data(Bytes::from_static(body.as_bytes()), true).unwrap();
        let end = answer_of(answer).await;
        assert!(end.is_err() || end.is_ok_and(|a| a.status == 400), "{body}");
    }
    assert_eq!(client.get("/after").await.text(), "a", "the connection and the pool are in step");
}

/// What [`judge`](bascule::dataplane::l7::head::http2::judge) refuses, as bytes on a connection that stays of use.
#[tokio::test]
async fn a_request_that_could_be_read_in_two_ways_is_refused_and_its_connection_is_not() {
    let server = Server::http("a").await;
    let world = World::start(one(&server)).await;
    let mut raw = raw::Raw::connect(world.vip("web")).await;
    let get = |fields: &[(&'static str, &'static str)]| [raw::GET, fields].concat();
    let path = |path| vec![(":method", "GET"), (":scheme", "http"), (":authority", "t.test"), (":path", path)];
    let mut id = 1;
    for (fields, status) in [
        (get(&[("host", "other.test")]), 400),
        (get(&[("host", "t.test"), ("host", "t.test")]), 400),
        (get(&[("content_length", "1")]), 400),
        (get(&[("expect", "magic")]), 417),
        (path("/%00"), 400),
        // The frame layer has cut the fragment before anybody could refuse it: no server sees one.
        (path("/a#b"), 200),
        (vec![(":method", "TRACE"), (":scheme", "http"), (":authority", "t.test"), (":path", "/")], 405),
        (vec![(":method", "GET"), (":scheme", "ftp"), (":authority", "t.test"), (":path", "/")], 400),
        (vec![(":method", "GET"), (":scheme", "http"), (":path", "/")], 400),
        (raw::GET.to_vec(), 200),
    ] {
        raw.headers(id, true, &fields).await;
        assert_eq!(raw.status(id).await, status, "{fields:?}");
        id += 2;
    }
    let seen = server.seen();
    assert_eq!(seen.matches("HTTP/1.1").count(), 2, "{seen}");
    assert!(seen.contains("GET /a HTTP/1.1\r\n"), "{seen}");
}

#[tokio::test]
async fn too_many_or_too_large_fields_are_said_to_be_too_large() {
    let server = Server::http("a").await;
    let world = World::start(one(&server)).await;
    let client = Client::connect(world.vip("web")).await;
    let mut many = request("GET", "/");
    for n in 0..101 {
        many = many.header(format!("x-{n}"), "1");
    }
    assert_eq!(client.send(many.body(()).unwrap(), None).await.status, 431);
    let large = request("GET", "/").header("x-large", "a".repeat(70_000));
    assert_eq!(client.send(large.body(()).unwrap(), None).await.status, 431);
    assert_eq!(client.get(&format!("/{}", "a".repeat(9000))).await.status, 414);
    assert_eq!(server.seen(), "");
}

#[tokio::test]
async fn our_own_answers_carry_no_server_and_a_client_of_grpc_can_read_them() {
    let world = World::start(Plan::default().vserver("web", Http, &[]).with(|v| v.http2 = true)).await;
    let client = Client::connect(world.vip("web")).await;
    let page: Answer = client.get("/").await;
    assert_eq!(page.status, 503);
    assert!(page.text().starts_with("503 Service Unavailable\nid: "), "{}", page.text());
    assert!(!page.headers.contains_key("server"), "{:?}", page.headers);
    let call = request("POST", "/a.B/C").header("content-type", "application/grpc").header("te", "trailers");
    let answer = client.send(call.body(()).unwrap(), Some("\0\0\0\0\0")).await;
    assert_eq!((answer.status, answer.text().as_str()), (200, ""));
    assert_eq!(answer.headers["grpc-status"], "14");
    assert_eq!(answer.headers["content-type"], "application/grpc");
    assert_eq!(answer.trailers, None);
}

#[tokio::test]
async fn a_member_that_cannot_be_reached_is_passed_over() {
    let server = Server::http("b").await;
    let plan = Plan::default().service("a", Http, nobody().await).service("b", Http, server.at);
    let world = World::start(plan.vserver("web", Http, &["a", "b"]).with(|v| v.http2 = true)).await;
    let client = Client::connect(world.vip("web")).await;
    for _ in 0..4 {
        assert_eq!(client.send(request("POST", "/").body(()).unwrap(), Some("x")).await.text(), "b");
    }
}

#[tokio::test]
async fn an_answer_of_megabytes_arrives_whole_on_many_streams_at_once() {
    let server = Server::each(|mut stream| async move {
        while read_request(&mut stream).await.is_some() {
            let body = vec![b'x'; 1 << 20];
            let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
            if stream.write_all(head.as_bytes()).await.is_err() || stream.write_all(&body).await.is_err() {
                return;
            }
        }
    })
    .await;
    let world = World::start(one(&server)).await;
    let client = Client::connect(world.vip("web")).await;
    let mut streams = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let client = client.clone();
        streams.spawn(async move { client.get("/").await.body.len() });
    }
    let all = async {
        while let Some(length) = streams.join_next().await {
            assert_eq!(length.unwrap(), 1 << 20);
        }
    };
    tokio::time::timeout(PATIENT, all).await.unwrap();
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_a_reset_and_never_an_end() {
    for answer in [
        &b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart"[..],
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n",
    ] {
        let server = Server::each(move |mut stream| async move {
            read_request(&mut stream).await;
            let _ = stream.write_all(answer).await;
        })
        .await;
        let world = World::start(one(&server)).await;
        let client = Client::connect(world.vip("web")).await;
        let (answer, _) = client.open(Request::get("http://t.test/").body(()).unwrap(), true).await;
        assert!(answer_of(answer).await.is_err());
    }
}
