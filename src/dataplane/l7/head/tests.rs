use bytes::BytesMut;
use proptest::prelude::*;

use super::*;

/// What passes, and what is left, when `input` comes in pieces of `step` bytes.
fn through(input: &[u8], step: usize) -> Result<(Vec<u8>, Vec<u8>), Refusal> {
    let (mut guard, mut waiting, mut out) = (Guard::new(), BytesMut::new(), BytesMut::new());
    for piece in input.chunks(step.max(1)) {
        waiting.extend_from_slice(piece);
        guard.feed(&mut waiting, &mut out)?;
    }
    Ok((out.to_vec(), waiting.to_vec()))
}

fn status(head: &str) -> u16 {
    through(head.as_bytes(), head.len()).err().map_or(200, |r| r.status)
}

const GOOD: &str = "GET /a?b=c HTTP/1.1\r\nHost: x.test\r\n\r\n";

#[test]
fn an_ordinary_request_passes_unchanged() {
    assert_eq!(through(GOOD.as_bytes(), 1000), Ok((GOOD.into(), vec![])));
}

#[test]
fn what_could_be_read_in_two_ways_is_refused() {
    let post = |fields: &str| format!("POST / HTTP/1.1\r\nHost: x\r\n{fields}\r\n");
    let cases: &[(&str, String, u16)] = &[
        ("CL and TE", post("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n"), 400),
        ("TE and CL", post("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n"), 400),
        ("TE gzip, chunked", post("Transfer-Encoding: gzip, chunked\r\n"), 400),
        ("TE identity", post("Transfer-Encoding: identity\r\n"), 400),
        ("TE twice", post("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"), 400),
        ("TE on 1.0", "POST / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".into(), 400),
        ("equal CLs", post("Content-Length: 1\r\nContent-Length: 1\r\n"), 400),
        ("CL list", post("Content-Length: 1, 1\r\n"), 400),
        ("CL +1", post("Content-Length: +1\r\n"), 400),
        ("CL hex", post("Content-Length: 0x1\r\n"), 400),
        ("CL empty", post("Content-Length:\r\n"), 400),
        ("CL huge", post("Content-Length: 99999999999999999999\r\n"), 400),
        ("content_length", post("Content_Length: 3\r\n"), 400),
        ("Connection names CL", post("Content-Length: 0\r\nConnection: close, content-length\r\n"), 400),
        ("Connection names who asks", post("Content-Length: 0\r\nConnection: x-Forwarded-for\r\n"), 400),
        ("Connection names a quoted name", post("Content-Length: 0\r\nConnection: \"x-a\"\r\n"), 400),
        ("Connection names many", post(&format!("Content-Length: 0\r\nConnection: {}\r\n", "a,".repeat(11))), 400),
        (
            "Connection twice, many",
            post(&format!("Content-Length: 0\r\n{}", "Connection: a,b,c,d,e,f\r\n".repeat(2))),
            400,
        ),
        ("a known method in other case", "delete / HTTP/1.1\r\nHost: x\r\n\r\n".into(), 501),
        ("Host with an encoded dot", "GET / HTTP/1.1\r\nHost: a%2eb\r\n\r\n".into(), 400),
        ("Host with two last dots", "GET / HTTP/1.1\r\nHost: a.b..\r\n\r\n".into(), 400),
        ("no Host", "GET / HTTP/1.1\r\n\r\n".into(), 400),
        ("two Hosts", "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n".into(), 400),
        ("empty Host", "GET / HTTP/1.1\r\nHost:\r\n\r\n".into(), 400),
        ("Host with space", "GET / HTTP/1.1\r\nHost: a b/c\r\n\r\n".into(), 400),
        ("Host with path", "GET / HTTP/1.1\r\nHost: a/c\r\n\r\n".into(), 400),
        ("Host with user", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n".into(), 400),
        ("Host differs", "GET http://a/ HTTP/1.1\r\nHost: b\r\n\r\n".into(), 400),
        ("bare LF", "GET / HTTP/1.1\nHost: x\n\n".into(), 400),
        ("bare LF later", "GET / HTTP/1.1\r\nHost: x\n\r\n".into(), 400),
        ("bare CR", "GET / HTTP/1.1\r\nHost: x\r\nA: b\rc\r\n\r\n".into(), 400),
        ("NUL", "GET / HTTP/1.1\r\nHost: x\r\nA: b\0\r\n\r\n".into(), 400),
        ("control byte", "GET / HTTP/1.1\r\nHost: x\r\nA: b\x01\r\n\r\n".into(), 400),
        ("leading CRLFs", format!("\r\n\r\n{GOOD}"), 400),
        ("folded line", "GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n".into(), 400),
        ("folded first", "GET / HTTP/1.1\r\n Host: x\r\n\r\n".into(), 400),
        ("space before colon", "GET / HTTP/1.1\r\nHost : x\r\n\r\n".into(), 400),
        ("no colon", "GET / HTTP/1.1\r\nHost: x\r\nnope\r\n\r\n".into(), 400),
        ("no name", "GET / HTTP/1.1\r\nHost: x\r\n: a\r\n\r\n".into(), 400),
        ("space in target", "GET /a b HTTP/1.1\r\nHost: x\r\n\r\n".into(), 400),
        ("two spaces", "GET  / HTTP/1.1\r\nHost: x\r\n\r\n".into(), 400),
        ("control in target", "GET /\x01 HTTP/1.1\r\nHost: x\r\n\r\n".into(), 400),
        ("tab in line", "GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n".into(), 400),
        ("fragment", "GET /a#b HTTP/1.1\r\nHost: x\r\n\r\n".into(), 400),
        ("raw UTF-8", "GET /ä HTTP/1.1\r\nHost: x\r\n\r\n".into(), 400),
        ("encoded NUL", "GET /a%00b HTTP/1.1\r\nHost: x\r\n\r\n".into(), 400),
        ("no slash", "GET a HTTP/1.1\r\nHost: x\r\n\r\n".into(), 400),
        ("star", "GET * HTTP/1.1\r\nHost: x\r\n\r\n".into(), 400),
        ("other scheme", "GET ftp://x/ HTTP/1.1\r\nHost: x\r\n\r\n".into(), 400),
        ("HTTP/0.9", "GET /\r\n".into(), 400),
        ("lower-case version", "GET / http/1.1\r\nHost: x\r\n\r\n".into(), 400),
        ("HTTP/1.2", "GET / HTTP/1.2\r\nHost: x\r\n\r\n".into(), 505),
        ("h2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".into(), 505),
        ("CONNECT", "CONNECT x:1 HTTP/1.1\r\nHost: x:1\r\n\r\n".into(), 405),
        ("TRACE", "TRACE / HTTP/1.1\r\nHost: x\r\n\r\n".into(), 405),
        ("GET with body", "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nhi".into(), 400),
        ("HEAD in chunks", "HEAD / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".into(), 400),
        ("expectation", "GET / HTTP/1.1\r\nHost: x\r\nExpect: cake\r\n\r\n".into(), 417),
        ("TLS", "\x16\x03\x01\x02".into(), 400),
        ("long target", format!("GET /{} HTTP/1.1\r\nHost: x\r\n\r\n", "a".repeat(9000)), 414),
        ("endless target", format!("GET /{}", "a".repeat(9000)), 414),
        ("long head", format!("GET / HTTP/1.1\r\nHost: x\r\nA: {}\r\n\r\n", "a".repeat(70_000)), 431),
        ("many fields", format!("GET / HTTP/1.1\r\nHost: x\r\n{}\r\n", "A: b\r\n".repeat(101)), 431),
    ];
    for (what, head, expected) in cases {
        assert_eq!(status(head), *expected, "{what}");
    }
}

#[test]
fn what_is_unusual_but_clear_passes() {
    for head in [
        "GET / HTTP/1.0\r\n\r\n",
        "GET / HTTP/1.1\r\nhOsT: [2001:db8::1]:8080\r\n\r\n",
        "OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nA:\tb\t\r\nB: \u{e4}\r\nC:\r\n\r\n",
        "GET /{a}|b\"?c[]=^ HTTP/1.1\r\nHost: x\r\n\r\n",
        "DELETE /a HTTP/1.1\r\nHost: x:80\r\nConnection: close, x-mine\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x.\r\nConnection: a,b,,c,d,e\r\nConnection: ,f,g,h,i,j\r\n\r\n",
    ] {
        assert_eq!(through(head.as_bytes(), 7), Ok((head.into(), vec![])), "{head}");
    }
}

#[test]
fn an_absolute_target_becomes_origin_form() {
    let (out, _) = through(b"GET http://X.test:80/a?b HTTP/1.1\r\nHost: x.test\r\nA: b\r\n\r\n", 5).unwrap();
    assert_eq!(out, b"GET /a?b HTTP/1.1\r\nHost: x.test\r\nA: b\r\n\r\n");
    let (out, _) = through(b"GET http://x?b HTTP/1.1\r\nHost: x\r\n\r\n", 5).unwrap();
    assert_eq!(out, b"GET /?b HTTP/1.1\r\nHost: x\r\n\r\n");
}

#[test]
fn a_second_request_waits_for_its_turn() {
    let both = [GOOD, GOOD].concat();
    let (mut guard, mut waiting, mut out) = (Guard::new(), BytesMut::from(both.as_bytes()), BytesMut::new());
    guard.feed(&mut waiting, &mut out).unwrap();
    assert_eq!((&out[..], &waiting[..]), (GOOD.as_bytes(), GOOD.as_bytes()));
    guard.next();
    guard.feed(&mut waiting, &mut out).unwrap();
    assert_eq!(out, both.as_bytes());
}

#[test]
fn a_chunked_body_is_written_anew_without_extensions_and_trailers() {
    let head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    let sent = format!("{head}5;a=\"b\"\r\nhello\r\n00A\r\n0123456789\r\n0\r\nX-Trailer: 1\r\n\r\nGET /next");
    for step in [1, 3, 1000] {
        let (out, left) = through(sent.as_bytes(), step).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), format!("{head}5\r\nhello\r\na\r\n0123456789\r\n0\r\n\r\n"));
        assert_eq!(left, b"GET /next");
    }
}

#[test]
fn every_well_formed_chunk_extension_is_read_over() {
    let head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    for extension in [";a", ";a=b", ";a;b=c;d=\"e\"", "; a = b ; c", ";a=\"x; y=\\\"z\\\\\"", ";a=\"\""] {
        let sent = format!("{head}1{extension}\r\nx\r\n0{extension}\r\n\r\n");
        let (out, left) = through(sent.as_bytes(), 5).expect(extension);
        assert_eq!(String::from_utf8(out).unwrap(), format!("{head}1\r\nx\r\n0\r\n\r\n"));
        assert!(left.is_empty());
    }
}

#[test]
fn one_empty_line_before_a_request_is_read_over_and_no_second_one() {
    for step in [1, 2, 3, 1000] {
        assert_eq!(through(format!("\r\n{GOOD}").as_bytes(), step), Ok((GOOD.into(), vec![])), "{step}");
        for bad in ["\r\n\r\n", "\n", "\r", " \r\n", "\r\r\n", "\r\n\n"] {
            let refused = through(format!("{bad}{GOOD}").as_bytes(), step).unwrap_err();
            assert_eq!(refused.status, 400, "{step} {bad:?}");
        }
    }
}

#[test]
fn a_malformed_chunk_is_refused() {
    let head = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n";
    for bad in [
        "0x1\r\na\r\n",
        "+1\r\na\r\n",
        "1 \r\na\r\n",
        "\r\n",
        "g\r\n",
        "1;a\nb\r\na\r\n",
        "1;\r\na\r\n",
        "1;;a\r\na\r\n",
        "1;a \r\na\r\n",
        "1;a=\r\na\r\n",
        "1;=b\r\na\r\n",
        "1;a b\r\na\r\n",
        "1;a=b c\r\na\r\n",
        "1;a=\"b\r\na\r\n",
        "1;a=\"b\\\"\r\na\r\n",
        "1;a=\"b\"c\r\na\r\n",
        "1\na\r\n",
        "1\r\nab\r\n",
        "fffffffffffffffff\r\n",
        "0\r\nbad trailer\r\n\r\n",
        "0\r\n a: b\r\n\r\n",
        "1\r\na\n",
        "0\n\n",
    ] {
        assert_eq!(status(&format!("{head}{bad}")), 400, "{bad:?}");
    }
}

proptest! {
    #[test]
    fn raw_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300), step in 1usize..50) {
        let _ = through(&bytes, step);
        let mut after_head = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n".to_vec();
        after_head.extend_from_slice(&bytes);
        let _ = through(&after_head, step);
    }

    #[test]
    fn it_does_not_matter_how_the_bytes_are_cut(
        body in "[a-z]{0,40}", step in 1usize..40, second: bool,
    ) {
        let mut sent = format!("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: {}\r\n\r\n{body}", body.len());
        if second { sent.push_str(GOOD); }
        prop_assert_eq!(through(sent.as_bytes(), step), through(sent.as_bytes(), sent.len()));
    }
}
