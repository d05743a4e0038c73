//! HTTP/2 and gRPC health, with servers of the crate `h2`.

use ::h2::server;
use ::http::{HeaderMap, Response};
use bascule::model::dialogue::Dialogue;
use bytes::Bytes;

use super::*;

/// What a health service answers: message bytes, and the status in the trailers.
type Health = (Option<&'static [u8]>, &'static str);

/// A server that answers every request alike; `None`: it never does.
async fn health(answer: Option<Health>) -> Target {
    peer(move |stream| async move {
        let mut connection = server::handshake(stream).await.unwrap();
        while let Some(Ok((request, mut respond))) = connection.accept().await {
            assert_eq!(request.uri().path(), "/grpc.health.v1.Health/Check");
            assert_eq!(request.headers()["content-type"], "application/grpc");
            let Some((message, status)) = answer else {
                std::future::pending::<()>().await;
                return;
            };
            let head = Response::builder().status(200).header("content-type", "application/grpc");
            let mut trailers = HeaderMap::new();
            trailers.insert("grpc-status", status.parse().unwrap());
            match message {
                Some(message) => {
                    let mut stream = respond.send_response(head.body(()).unwrap(), false).unwrap();
                    stream.send_data(Bytes::from_static(message), false).unwrap();
                    stream.send_trailers(trailers).unwrap();
                }
                None => {
                    let head = head.header("grpc-status", status).header("grpc-message", "because");
                    respond.send_response(head.body(()).unwrap(), true).unwrap();
                }
            }
        }
    })
    .await
}

async fn grpc(target: Target, timeout: Duration) -> Verdict {
    let dialogue = Dialogue::Grpc { service: "shop.Cart".into() };
    probe(Probe::Dialogue { target, tls: None, dialogue }, timeout).await
}

#[tokio::test]
async fn a_health_service_decides_by_its_answer_and_its_status() {
    for (answer, outcome, part) in [
        ((Some(&[0, 0, 0, 0, 2, 8, 1][..]), "0"), Outcome::Pass, "SERVING"),
        ((Some(&[0, 0, 0, 0, 2, 8, 2]), "0"), Outcome::Fail, "NOT_SERVING"),
        ((Some(&[0, 0, 0, 0, 2, 8, 3]), "0"), Outcome::Fail, "SERVICE_UNKNOWN"),
        ((Some(&[0, 0, 0, 0, 9]), "0"), Outcome::Fail, "no answer of a health service"),
        ((Some(&[0, 0, 0, 0, 2, 8, 1]), "14"), Outcome::Fail, "gRPC status 14"),
        ((None, "5"), Outcome::Fail, "is not known there"),
        ((None, "12"), Outcome::Fail, "there is no health service"),
        ((None, "13"), Outcome::Fail, "gRPC status 13: \"because\""),
    ] {
        assert_verdict(&grpc(health(Some(answer)).await, PATIENT).await, outcome, part);
    }
    let verdict = grpc(health(None).await, SHORT).await;
    assert_verdict(&verdict, Outcome::Fail, "timed out after 500 ms, waiting for an answer over HTTP/2");
}

#[tokio::test]
async fn a_body_without_end_is_judged_by_its_beginning_and_not_read_on() {
    let target = peer(|stream| async move {
        let mut connection = server::handshake(stream).await.unwrap();
        while let Some(Ok((_, mut respond))) = connection.accept().await {
            let mut stream = respond.send_response(Response::new(()), false).unwrap();
            tokio::spawn(async move {
                stream.reserve_capacity(1 << 20);
                loop {
                    let Some(Ok(room)) = std::future::poll_fn(|cx| stream.poll_capacity(cx)).await else { return };
                    if stream.send_data(Bytes::from(vec![b'x'; room]), false).is_err() {
                        return;
                    }
                    stream.reserve_capacity(1 << 20);
                }
            });
        }
    })
    .await;
    let request =
        HttpRequest { method: "GET".into(), path: "/".into(), host: None, headers: Vec::new(), body: Vec::new() };
    let expect = HttpExpect { body: Some(BodyMatch::Contains(b"xxx".to_vec())), ..expect_200() };
    let verdict = probe(Probe::Http2 { target, tls: None, request, expect }, PATIENT).await;
    assert_verdict(&verdict, Outcome::Pass, "200");
}
