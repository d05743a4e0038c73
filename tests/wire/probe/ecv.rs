//! TCP-ECV.

use super::*;

#[tokio::test]
async fn tcp_ecv_finds_its_text_in_pieces() {
    let target = peer(|mut stream| async move {
        for piece in [&b"noise +PO"[..], b"NG and more"] {
            let _ = stream.write_all(piece).await;
            tokio::task::yield_now().await;
        }
        std::future::pending::<()>().await;
    })
    .await;
    assert_verdict(&probe(ecv(target, b"+PONG", None), PATIENT).await, Outcome::Pass, "\"+PONG\"");
}

#[tokio::test]
async fn tcp_ecv_fails_on_other_words_on_silence_and_on_a_flood() {
    let target = peer(|mut stream| async move {
        let _ = stream.read_u8().await;
        let _ = stream.write_all(b"-ERR\n").await;
        let _ = stream.shutdown().await;
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest).await;
    })
    .await;
    let verdict = probe(ecv(target, b"+PONG", None), PATIENT).await;
    assert_verdict(&verdict, Outcome::Fail, "closed the connection without \"+PONG\", it sent \"-ERR\\n\"");
    let verdict = probe(ecv(silent().await, b"+PONG", None), SHORT).await;
    assert_verdict(&verdict, Outcome::Fail, "timed out after 500 ms, waiting for \"+PONG\"");
    let flood = peer(|mut stream| async move { while stream.write_all(&[b'x'; 1024]).await.is_ok() {} }).await;
    assert_verdict(&probe(ecv(flood, b"+PONG", None), PATIENT).await, Outcome::Fail, "the first 24 KiB are without");
}

#[tokio::test]
async fn tcp_ecv_without_a_text_passes_once_the_bytes_are_taken() {
    assert_verdict(&probe(ecv(silent().await, b"", None), PATIENT).await, Outcome::Pass, "took 6 bytes");
}

#[tokio::test]
async fn a_drain_text_wins_over_the_expected_one() {
    let target = peer(|mut stream| async move {
        let _ = stream.write_all(b"+PONG draining").await;
        std::future::pending::<()>().await;
    })
    .await;
    let verdict = probe(ecv(target, b"+PONG", Some(b"draining")), PATIENT).await;
    assert_verdict(&verdict, Outcome::Trofs, "asks to be drained");
}
