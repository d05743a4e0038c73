//! It does not matter how bytes are cut into reads.

use std::time::Duration;

use bascule::dataplane::l7::Carrier;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::one;
use crate::world::{PATIENT, Server, World, connect, read_request};

const PAUSE: Duration = Duration::from_millis(2);

const REQUESTS: &str = "GET /1 HTTP/1.1\r\nHost: x\r\nA: b\r\n\r\n\
    POST /2 HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n2;a=b\r\nhe\r\n3\r\nllo\r\n0\r\nT: 1\r\n\r\n\
    PUT /3 HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nConnection: close\r\n\r\nworld";

#[tokio::test(flavor = "multi_thread")]
async fn requests_cut_anywhere_are_the_same_requests() {
    let server = Server::http("a").await;
    let world = World::through(one(&server).model(), Carrier::Relay).await;
    let mut whole = None;
    for cut in 0..REQUESTS.len() {
        server.seen.lock().clear();
        let mut client = connect(world.vip("web")).await;
        client.set_nodelay(true).unwrap();
        client.write_all(&REQUESTS.as_bytes()[..cut]).await.unwrap();
        tokio::time::sleep(PAUSE).await;
        client.write_all(&REQUESTS.as_bytes()[cut..]).await.unwrap();
        let mut answers = Vec::new();
        tokio::time::timeout(PATIENT, client.read_to_end(&mut answers)).await.unwrap().unwrap();
        let seen = (unchunked(&server.seen()), undated(&answers));
        assert_eq!(&seen, whole.get_or_insert_with(|| seen.clone()), "cut at {cut}");
    }
    let (requests, answers) = whole.unwrap();
    assert!(requests.contains("hello") && requests.ends_with("world"), "{requests}");
    assert_eq!(answers.matches("HTTP/1.1 200 OK").count(), 3, "{answers}");
}

/// What the clock says is left out.
fn undated(answers: &[u8]) -> String {
    let lines = std::str::from_utf8(answers).unwrap().split_inclusive("\r\n");
    lines.filter(|line| !line.starts_with("Date: ")).collect()
}

/// A body in chunks goes on as it comes: only where one piece ends differs.
fn unchunked(seen: &str) -> String {
    seen.replace("1\r\nh\r\n1\r\ne\r\n", "he").replace("2\r\nhe\r\n", "he").replace("3\r\nllo\r\n", "llo")
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_cut_anywhere_are_the_same_answers() {
    for answer in [
        "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nX-A: b\r\nContent-Length: 5\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\nX-T: 1\r\n\r\n",
        "HTTP/1.1 200 OK\r\n\r\nhello",
    ] {
        let cuts = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let next = std::sync::Arc::clone(&cuts);
        let server = Server::each(move |mut stream| {
            let next = std::sync::Arc::clone(&next);
            async move {
                stream.set_nodelay(true).unwrap();
                while read_request(&mut stream).await.is_some() {
                    let cut = next.fetch_add(1, std::sync::atomic::Ordering::SeqCst) % answer.len();
                    let _ = stream.write_all(&answer.as_bytes()[..cut]).await;
                    tokio::time::sleep(PAUSE).await;
                    let _ = stream.write_all(&answer.as_bytes()[cut..]).await;
                    if !answer.contains("-Length") && !answer.contains("-Encoding") {
                        return;
                    }
                }
            }
        })
        .await;
        let world = World::through(one(&server).model(), Carrier::Relay).await;
        let mut whole = None;
        for cut in 0..answer.len() {
            let mut client = connect(world.vip("web")).await;
            client.write_all(b"GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").await.unwrap();
            let mut got = Vec::new();
            tokio::time::timeout(PATIENT, client.read_to_end(&mut got)).await.unwrap().unwrap();
            let got = undated(&got);
            assert_eq!(&got, whole.get_or_insert_with(|| got.clone()), "cut at {cut}");
        }
        let whole = whole.unwrap();
        assert!(whole.contains("HTTP/1.1 200 OK\r\n") && whole.contains("llo"), "{whole}");
        assert_eq!(whole.contains("X-T: 1"), answer.contains("X-T: 1"), "{whole}");
    }
}
