//! What stands behind a body.

use bascule::dataplane::l7::Carrier;
use bascule::model::service::Protocol::Http;
use bytes::Bytes;
use http::{HeaderMap, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::http2::client::{Client, answer_of, request};
use crate::world::{PATIENT, Plan, Server, World, connect, eventually, read_answer};

const ASKED: &str = "POST / HTTP/1.1\r\nHost: x.test\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n\
                     5\r\nhello\r\n0\r\nX-Sum: 1\r\nHost: other\r\nX_Forwarded_For: 192.0.2.1\r\nAuthorization: a\r\n\
                     X-Real-IP: 192.0.2.1\r\nETag: \"e\"\r\n\r\n";

/// HTTP/1.1, and reads trailers.
async fn server() -> Server {
    let seen: std::sync::Arc<parking_lot::Mutex<Vec<u8>>> = std::sync::Arc::default();
    let record = std::sync::Arc::clone(&seen);
    let mut server = Server::each(move |mut stream| {
        let record = std::sync::Arc::clone(&record);
        async move {
            let mut read = Vec::new();
            while stream.read_buf(&mut read).await.is_ok_and(|read| read > 0) {
                let last = read.windows(5).rposition(|w| w == b"\r\n0\r\n");
                if last.is_some_and(|at| read[at + 3..].ends_with(b"\r\n\r\n")) {
                    record.lock().extend_from_slice(&std::mem::take(&mut read));
                    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na").await;
                }
            }
        }
    })
    .await;
    server.seen = seen;
    server
}

fn plan(server: &Server) -> Plan {
    Plan::default().service("a", Http, server.at).vserver("web", Http, &["a"])
}

/// What the server saw, head and body; twice over one connection, so that it stays in step.
async fn seen(server: &Server, world: World) -> (String, String) {
    let mut client = connect(world.vip("web")).await;
    for _ in 0..2 {
        client.write_all(ASKED.as_bytes()).await.unwrap();
        assert!(read_answer(&mut client).await.starts_with("HTTP/1.1 200 "));
    }
    eventually("nothing is active", || world.active("a") == 0).await;
    let seen = server.seen();
    server.seen.lock().clear();
    let second = &seen[seen.rfind("POST / ").unwrap()..];
    let (head, body) = second.split_once("\r\n\r\n").unwrap();
    (head.to_lowercase(), body.to_owned())
}

#[tokio::test]
async fn trailers_of_a_request_go_on_without_those_that_speak_for_the_head() {
    let server = server().await;
    let (head, body) = seen(&server, World::through(plan(&server).model(), Carrier::Relay).await).await;
    assert!(head.contains("\r\ntrailer: x-sum"), "{head}");
    assert_eq!(body, "5\r\nhello\r\n0\r\nX-Sum: 1\r\nETag: \"e\"\r\n\r\n");
}

/// Nobody looks behind a body for what a rule or a service says of fields.
#[tokio::test]
async fn where_a_service_has_a_field_of_its_own_for_the_client_no_trailer_could_be_taken_for_it() {
    let server = server().await;
    let named = plan(&server).with_service(|s| s.settings.client_ip_header = Some("X-Sum".into()));
    let (head, body) = seen(&server, World::through(named.model(), Carrier::Relay).await).await;
    assert!(!head.contains("trailer") && head.contains("x-sum: 127.0.0.1"), "{head}");
    assert_eq!(body, "5\r\nhello\r\n0\r\n\r\n");
}

/// pingora 0.9.1 hands a body on as bytes alone: the limit that the manual names.
#[tokio::test]
async fn through_pingora_a_body_ends_without_its_trailers() {
    let server = server().await;
    let (head, body) = seen(&server, World::through(plan(&server).model(), Carrier::Pingora).await).await;
    assert!(!head.contains("trailer"), "{head}");
    assert_eq!(body, "5\r\nhello\r\n0\r\n\r\n");
    let world = World::through(plan(&server).with(|v| v.http2 = true).model(), Carrier::Pingora).await;
    let client = Client::connect(world.vip("web")).await;
    let (answer, mut sender) = client.open(request("POST", "/").body(()).unwrap(), false).await;
    sender.send_data(Bytes::from_static(b"hello"), false).unwrap();
    sender
        .send_trailers(HeaderMap::from_iter([(http::HeaderName::from_static("x-sum"), "1".parse().unwrap())]))
        .unwrap();
    assert_eq!(answer_of(answer).await.unwrap().text(), "a");
    assert!(server.seen().ends_with("\r\n\r\n5\r\nhello\r\n0\r\n\r\n"), "{}", server.seen());
}

#[tokio::test]
async fn trailers_of_an_answer_over_http_2_pass_without_those_that_speak_for_the_head() {
    let server = Server::each(|stream| async move {
        let mut connection = h2::server::handshake(stream).await.unwrap();
        while let Some(Ok((_, mut answer))) = connection.accept().await {
            let mut body = answer.send_response(Response::new(()), false).unwrap();
            let mut trailers = HeaderMap::new();
            for name in ["grpc-status", "x-sum", "set-cookie", "x-forwarded-for", "content-type", "location"] {
                trailers.append(name, "0".parse().unwrap());
            }
            body.send_data(Bytes::from_static(b"a"), false).unwrap();
            body.send_trailers(trailers).unwrap();
        }
    })
    .await;
    let plan = plan(&server).with_service(|s| s.settings.http2 = true).with(|v| v.http2 = true);
    let world = World::start(plan).await;
    let asked = Client::connect(world.vip("web")).await;
    let answer = tokio::time::timeout(PATIENT, asked.get("/")).await.unwrap();
    let mut names: Vec<_> = answer.trailers.unwrap().keys().map(|name| name.as_str().to_owned()).collect();
    names.sort();
    assert_eq!((answer.body.as_slice(), names), (&b"a"[..], vec!["grpc-status".to_owned(), "x-sum".to_owned()]));
}
