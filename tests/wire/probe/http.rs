//! HTTP and HTTP-ECV.

use super::*;

#[tokio::test]
async fn http_is_up_with_the_expected_status() {
    let target = answering(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n").await;
    assert_verdict(&probe(http(target, expect_200()), PATIENT).await, Outcome::Pass, "200 OK");
}

#[tokio::test]
async fn an_http_probe_is_one_complete_request_of_its_own() {
    let (heads, mut received) = tokio::sync::mpsc::channel(4);
    let target = peer(move |mut stream| {
        let heads = heads.clone();
        async move {
            heads.send(read_head(&mut stream).await).await.unwrap();
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
            // The probe must not wait for our close.
            std::future::pending::<()>().await;
        }
    })
    .await;
    for _ in 0..2 {
        let verdict = probe(http(target.clone(), expect_200()), PATIENT).await;
        assert_eq!(verdict.outcome, Outcome::Pass);
    }
    for _ in 0..2 {
        let head = received.recv().await.unwrap();
        assert!(head.starts_with(&format!("GET /health HTTP/1.1\r\nHost: {target}\r\n")), "{head}");
        assert!(head.contains("\r\nConnection: close\r\n"), "{head}");
    }
}

#[tokio::test]
async fn http_fails_with_its_reason_for_whatever_a_server_does_wrong() {
    let contains_ok = HttpExpect { body: Some(BodyMatch::Contains(b"ok".to_vec())), ..expect_200() };
    let rows: [(&'static [u8], &HttpExpect, &str); 12] = [
        (b"HTTP/1.1 500 Internal Server Error\r\n\r\n", &expect_200(), "500 Internal Server Error, expected 200"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nsick", &contains_ok, "no \"ok\" in the body of 4 bytes"),
        (b"", &expect_200(), "connection closed without an answer"),
        (b"\0\x01\x02garbage\xff", &expect_200(), "not an answer in HTTP/1: \"\\x00\\x01\\x02garbage\\xff\""),
        (b"+OK POP3 ready\r\n", &expect_200(), "not an answer in HTTP/1"),
        (b"HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", &expect_200(), "malformed head"),
        (b"HTTP/1.1 200 OK\r\nContent-Le", &expect_200(), "closed within the head"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nok", &contains_ok, "98 bytes of the announced length"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\nok", &contains_ok, "\"many\" is not a number"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nok", &contains_ok, "within its chunked coding"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\nok", &contains_ok, "broken chunked coding"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nok", &contains_ok, "\"gzip\" is not understood"),
    ];
    for (answer, expect, why) in rows {
        let target = answering(answer).await;
        let verdict = probe(http(target.clone(), expect.clone()), PATIENT).await;
        assert_verdict(&verdict, Outcome::Fail, why);
        assert!(verdict.detail.contains(&target.to_string()), "{}", verdict.detail);
        assert!(!verdict.detail.contains("secret"), "{}", verdict.detail);
    }
}

#[tokio::test]
async fn a_body_may_come_in_chunks_and_in_pieces() {
    let target = peer(|mut stream| async move {
        read_head(&mut stream).await;
        for byte in b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nall\r\n3\r\n ok\r\n0\r\n\r\n" {
            stream.write_all(&[*byte]).await.unwrap();
        }
        std::future::pending::<()>().await;
    })
    .await;
    let expect = HttpExpect { body: Some(BodyMatch::Regex("^all ok$".into())), ..expect_200() };
    assert_verdict(&probe(http(target, expect), PATIENT).await, Outcome::Pass, "200 OK");
}

#[tokio::test]
async fn a_server_that_sends_without_end_is_judged_by_the_beginning_or_the_bound() {
    async fn flood(mut stream: TcpStream, head: &'static [u8], more: &'static [u8]) {
        read_head(&mut stream).await;
        let _ = stream.write_all(head).await;
        while stream.write_all(more).await.is_ok() {}
    }
    let body = peer(|stream| flood(stream, b"HTTP/1.1 200 OK\r\n\r\nok", &[b'x'; 4096])).await;
    let contains = |text: &[u8]| HttpExpect { body: Some(BodyMatch::Contains(text.to_vec())), ..expect_200() };
    assert_verdict(&probe(http(body.clone(), contains(b"ok")), PATIENT).await, Outcome::Pass, "200 OK");
    let verdict = probe(http(body, contains(b"y")), PATIENT).await;
    assert_verdict(&verdict, Outcome::Fail, "no \"y\" in the first 65536 bytes of the body");
    let head = peer(|stream| flood(stream, b"HTTP/1.1 200 OK\r\n", b"X-Fill: abcdefgh\r\n")).await;
    assert_verdict(&probe(http(head, expect_200()), PATIENT).await, Outcome::Fail, "larger than 16 KiB");
}

#[tokio::test]
async fn the_time_out_covers_everything_up_to_the_last_byte() {
    let verdict = probe(http(silent().await, expect_200()), SHORT).await;
    assert_verdict(&verdict, Outcome::Fail, "timed out after 500 ms, waiting for an answer from 127.0.0.1:");
    let dripping = peer(|mut stream| async move {
        read_head(&mut stream).await;
        let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nok").await;
        std::future::pending::<()>().await;
    })
    .await;
    let verdict = probe(http(dripping, expect_200()), SHORT).await;
    assert_verdict(&verdict, Outcome::Fail, "waiting for the last 7 bytes of the body from");
}

#[tokio::test]
async fn a_reset_is_a_failed_sample() {
    let target = peer(|mut stream| async move {
        read_head(&mut stream).await;
        let _ = socket2::SockRef::from(&stream).set_linger(Some(Duration::ZERO));
    })
    .await;
    assert_verdict(&probe(http(target, expect_200()), PATIENT).await, Outcome::Fail, "connection reset");
    let target = dead();
    assert_verdict(&probe(http(target, expect_200()), PATIENT).await, Outcome::Fail, "connection refused");
}

#[tokio::test]
async fn a_drain_code_asks_to_be_drained() {
    let target = answering(b"HTTP/1.1 503 Leaving\r\nContent-Length: 0\r\n\r\n").await;
    let expect = HttpExpect { trofs_code: Some(503), ..expect_200() };
    assert_verdict(&probe(http(target, expect), PATIENT).await, Outcome::Trofs, "503 Leaving");
}
