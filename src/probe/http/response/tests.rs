//! What servers send, and what is made of it.

use proptest::prelude::*;

use super::*;

/// Everything at once, then the peer closes: the body, or what is wrong.
fn read(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut response = Response::new(false, 64);
    response.push(bytes)?;
    if !response.is_complete() {
        response.end()?;
    }
    Ok(response.body().to_vec())
}

#[test]
fn a_body_is_read_by_length_by_chunks_or_until_the_close() {
    assert_eq!(read(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokay").unwrap(), b"ok");
    assert_eq!(read(b"HTTP/1.0 200 OK\r\n\r\nokay").unwrap(), b"okay");
    assert_eq!(read(b"HTTP/1.1 200\nContent-Length: 2\n\nok").unwrap(), b"ok");
    let chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;x=y\r\nok\r\n03\r\nay!\r\n0\r\nA: b\r\n\r\n";
    assert_eq!(read(chunked).unwrap(), b"okay!");
    assert_eq!(read(b"HTTP/1.1 204 No Content\r\n\r\n").unwrap(), b"");
    assert_eq!(read(b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").unwrap(), b"");
}

#[test]
fn every_lie_of_a_peer_is_named() {
    let endless = [b"HTTP/1.1 200 OK\r\n".to_vec(), b"X: y\r\n".repeat(4_000)].concat();
    let continues = b"HTTP/1.1 100 Continue\r\n\r\n".repeat(1_000);
    for (bytes, what) in [
        (&b""[..], "without an answer"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "not an answer in HTTP/1: \"SSH-2.0"),
        (b"HTTP/2 200\r\n\r\n", "not an answer in HTTP/1"),
        (b"HTTP/1.1 200 OK\r\nConte", "within the head"),
        (b"HTTP/1.1 2x0 OK\r\n\r\n", "malformed head"),
        (b"HTTP/1.1 999 Odd\r\n\r\n", "status 999"),
        (b"HTTP/1.1 200 OK\r\nA: b\0c\r\n\r\n", "malformed head"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nok", "8 bytes of the announced length are missing"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nok", "\"-1\" is not a number"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n", "is not a number"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1, 2\r\n\r\nok", "two lengths announced: 1 and 2"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "not understood"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok", "within its chunked coding"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "broken chunked coding"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n", "broken chunked coding"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n", "broken chunked coding"),
        (&endless, "larger than 16 KiB"),
        (&continues, "interim answers"),
    ] {
        let said = read(bytes).unwrap_err();
        assert!(said.contains(what), "{said}: expected {what}");
    }
}

#[test]
fn reading_ends_where_nothing_more_is_considered() {
    let mut response = Response::new(false, 4);
    response.push(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n0123").unwrap();
    assert!(response.is_complete() && response.is_cut());
    assert_eq!(response.body(), b"0123");

    let mut response = Response::new(false, 4);
    response.push(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n0123").unwrap();
    assert!(response.is_complete() && !response.is_cut());
}

#[test]
fn the_answer_to_head_has_no_body() {
    let mut response = Response::new(true, 4);
    response.push(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n").unwrap();
    assert!(response.is_complete());
}

/// Bytes that often get past the first line.
fn answers() -> impl Strategy<Value = Vec<u8>> {
    let start = prop_oneof![
        Just(&b"HTTP/1.1 200 OK\r\n"[..]),
        Just(&b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"[..]),
        Just(&b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"[..]),
        Just(&b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 404\r\n\r\n"[..]),
        Just(&b""[..]),
    ];
    let pieces = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..6),
        Just(b"\r\n".to_vec()),
        Just(b"3\r\nabc\r\n".to_vec()),
        Just(b"0\r\n\r\n".to_vec()),
    ];
    (start, proptest::collection::vec(pieces, 0..20)).prop_map(|(start, pieces)| [start, &pieces.concat()].concat())
}

proptest! {
    #[test]
    fn no_bytes_panic_and_the_cut_into_reads_does_not_matter(bytes in answers(), cuts in proptest::collection::vec(1usize..9, 1..9)) {
        let whole = read(&bytes);
        let mut response = Response::new(false, 64);
        let mut rest = &bytes[..];
        let mut outcome = Ok(());
        for &cut in cuts.iter().cycle() {
            if rest.is_empty() || outcome.is_err() {
                break;
            }
            let (piece, next) = rest.split_at(cut.min(rest.len()));
            outcome = response.push(piece);
            rest = next;
        }
        if outcome.is_ok() && !response.is_complete() {
            outcome = response.end();
        }
        prop_assert_eq!(whole.is_ok(), outcome.is_ok());
        if let Ok(body) = whole {
            prop_assert_eq!(body, response.body());
        }
        prop_assert!(response.body().len() <= 64);
    }
}
