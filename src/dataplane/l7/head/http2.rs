//! Request heads of HTTP/2, by the same rules as those of HTTP/1.1.
//!
//! The frame layer has checked what RFC 9113 §8.2 asks of every field (case, connection-specific fields, order and number
//! of pseudo-fields). What is judged here is what becomes ambiguous where the request goes on as HTTP/1.1. A fragment in the
//! path is the one thing that is repaired, not refused: the frame layer cuts it off before anybody can see it.

use super::field::has_control;
use super::{Framing, Refusal, parse, refuse};

/// The preface that a client with prior knowledge begins with (RFC 9113 §3.4).
pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// What a HEADERS frame said.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub method: &'a str,
    pub scheme: Option<&'a str>,
    pub authority: Option<&'a str>,
    pub path: &'a [u8],
    /// END_STREAM came with it: no body follows.
    pub ends: bool,
}

/// Whether a connection that began with `bytes` speaks HTTP/2; `None` where more bytes must tell. Settled by the first
/// byte that differs, so that no HTTP/1 request waits for bytes that it does not have.
pub fn is_preface(bytes: &[u8]) -> Option<bool> {
    let compared = bytes.len().min(PREFACE.len());
    if bytes[..compared] != PREFACE[..compared] {
        return Some(false);
    }
    (compared == PREFACE.len()).then_some(true)
}

/// Judges a request: as the head that it would be in HTTP/1.1. The framing is that of its body there.
pub fn judge<'a>(request: Request<'a>, fields: impl Iterator<Item = (&'a str, &'a [u8])>) -> Result<Framing, Refusal> {
    let Request { method, scheme, authority, path, ends } = request;
    // Without an authority (RFC 9113 §8.3.1: what came from HTTP/1.1 has Host alone) the frame layer keeps no scheme.
    if (scheme.is_some() || authority.is_some()) && !scheme.is_some_and(|scheme| matches!(scheme, "http" | "https")) {
        return refuse(400, "scheme other than http and https");
    }
    if !path.starts_with(b"/") && path != b"*" {
        return refuse(400, "malformed request target");
    }
    let mut head = [method.as_bytes(), b" ", path, b" HTTP/1.1\r\n"].concat();
    if head[..head.len() - 2].iter().any(u8::is_ascii_control) {
        return refuse(400, "control byte in the method or the target");
    }
    let (mut host, mut crumbs) = (None, Vec::new());
    for (name, value) in fields {
        if has_control(value) {
            return refuse(400, "control byte in a field value");
        }
        // RFC 9113 §8.2.1: malformed. HTTP/1.1 has them trimmed off, so that rules would see another value than servers.
        if value.trim_ascii().len() != value.len() {
            return refuse(400, "space around a field value");
        }
        if name == "host" {
            host = Some(value);
        }
        if name == "cookie" {
            // One field in pieces (RFC 9113 §8.2.3), and counted as one.
            crumbs.push(value);
            continue;
        }
        for part in [name.as_bytes(), b": ", value, b"\r\n"] {
            head.extend_from_slice(part);
        }
    }
    if !crumbs.is_empty() {
        head.extend_from_slice(&[b"cookie: ", &*crumbs.join(&b"; "[..]), b"\r\n"].concat());
    }
    match (authority, host) {
        (Some(authority), Some(host)) if !host.eq_ignore_ascii_case(authority.as_bytes()) => {
            return refuse(400, "Host differs from the authority");
        }
        (Some(authority), None) => {
            for part in [b"host: ", authority.as_bytes(), b"\r\n"] {
                head.extend_from_slice(part);
            }
        }
        _ => {}
    }
    head.extend_from_slice(b"\r\n");
    let framing = match parse(&head, &mut Vec::new())?.framing {
        Framing::Chunked => return refuse(400, "Transfer-Encoding in HTTP/2"),
        Framing::Length(_) if ends => return refuse(400, "Content-Length without a body"),
        Framing::Length(length) => Framing::Length(length),
        Framing::None if ends => Framing::None,
        // The end of the stream frames the body; without a length it goes on in chunks.
        Framing::None => Framing::Chunked,
    };
    if framing != Framing::None && matches!(method, "GET" | "HEAD") {
        return refuse(400, "GET or HEAD with a body");
    }
    Ok(framing)
}

#[cfg(test)]
mod tests {
    use super::super::{FIELDS_MAX, TARGET_MAX_BYTES};
    use super::*;

    const GET: Request<'_> =
        Request { method: "GET", scheme: Some("https"), authority: Some("a.test"), path: b"/a?b", ends: true };

    fn status(request: Request<'_>, fields: &[(&str, &str)]) -> u16 {
        let fields = fields.iter().map(|(name, value)| (*name, value.as_bytes()));
        judge(request, fields).map_or_else(|refusal| refusal.status, |_| 200)
    }

    #[test]
    fn a_preface_is_known_by_its_last_byte_and_anything_else_by_the_first_that_differs() {
        for end in 0..PREFACE.len() {
            assert_eq!(is_preface(&PREFACE[..end]), None, "{end}");
            let mut other = PREFACE[..=end].to_vec();
            other[end] ^= 1;
            assert_eq!(is_preface(&other), Some(false), "{end}");
        }
        assert_eq!(is_preface(PREFACE), Some(true));
        assert_eq!(is_preface(&[PREFACE, b"rest"].concat()), Some(true));
        assert_eq!(is_preface(b"GET /"), Some(false));
        assert_eq!(is_preface(b"POST"), Some(false));
    }

    #[test]
    fn a_plain_request_passes_and_its_body_is_framed() {
        assert_eq!(judge(GET, std::iter::empty()), Ok(Framing::None));
        let post = Request { method: "POST", ends: false, ..GET };
        assert_eq!(judge(post, std::iter::empty()), Ok(Framing::Chunked));
        let length = [("content-length", &b"7"[..])];
        assert_eq!(judge(post, length.into_iter()), Ok(Framing::Length(7)));
        assert_eq!(status(Request { method: "OPTIONS", path: b"*", ..GET }, &[]), 200);
        assert_eq!(status(GET, &[("cookie", "a=1"), ("cookie", "b=2"), ("te", "trailers")]), 200);
        assert_eq!(status(GET, &[("cookie", "a=1"); 4 * FIELDS_MAX]), 200, "crumbs are one field");
        let converted = Request { scheme: None, authority: None, ..GET };
        assert_eq!(status(converted, &[("host", "a.test")]), 200, "from HTTP/1.1");
    }

    #[test]
    fn what_http_1_refuses_is_refused() {
        let post = Request { method: "POST", ends: false, ..GET };
        for (request, fields, expected) in [
            (Request { authority: None, ..GET }, &[][..], 400),
            (Request { authority: Some("a b"), ..GET }, &[], 400),
            (Request { authority: Some("user@a.test"), ..GET }, &[], 400),
            (Request { authority: Some(""), ..GET }, &[], 400),
            (GET, &[("host", "b.test")], 400),
            (GET, &[("host", "a.test"), ("host", "a.test")], 400),
            (Request { path: b"a", ..GET }, &[], 400),
            (Request { path: b"", ..GET }, &[], 400),
            (Request { path: b"*", ..GET }, &[], 400),
            (Request { path: b"http://a.test/", ..GET }, &[], 400),
            (Request { path: b"/a b", ..GET }, &[], 400),
            (Request { path: b"/a\r\nb", ..GET }, &[], 400),
            (Request { path: b"/a#b", ..GET }, &[], 400),
            (Request { path: b"/\xff", ..GET }, &[], 400),
            (Request { path: b"/%00", ..GET }, &[], 400),
            (Request { scheme: None, ..GET }, &[], 400),
            (Request { scheme: Some("ftp"), ..GET }, &[], 400),
            (Request { method: "CONNECT", ..GET }, &[], 405),
            (Request { method: "TRACE", ..GET }, &[], 405),
            (Request { ends: false, ..GET }, &[], 400),
            (GET, &[("content-length", "1")], 400),
            (post, &[("content-length", "1"), ("content-length", "1")], 400),
            (post, &[("content-length", "1, 1")], 400),
            (post, &[("content-length", "+1")], 400),
            (post, &[("content_length", "1")], 400),
            (post, &[("transfer_encoding", "chunked")], 400),
            (post, &[("transfer-encoding", "chunked")], 400),
            (post, &[("expect", "something")], 417),
            (GET, &[("a", "b\rc")], 400),
            (GET, &[("a", " b")], 400),
            (GET, &[("a", "b\t")], 400),
            (GET, &[("host", "a.test ")], 400),
            (GET, &[("a", " ")], 400),
            (Request { method: "get", ..GET }, &[], 501),
            (Request { authority: Some("a%2etest"), ..GET }, &[], 400),
        ] {
            assert_eq!(status(request, fields), expected, "{request:?} {fields:?}");
        }
        let many = vec![("a", "b"); FIELDS_MAX + 1];
        assert_eq!(status(GET, &many), 431, "its Host is one more");
        assert_eq!(status(GET, &many[2..]), 200);
        assert_eq!(status(Request { path: &[b'/'; TARGET_MAX_BYTES + 1], ..GET }, &[]), 414);
    }
}
