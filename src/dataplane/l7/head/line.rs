//! The first line of a request, its target, and what may stand in Host.

use super::field::is_token;
use super::{Refusal, TARGET_MAX_BYTES, refuse};

/// The first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLine<'a> {
    pub method: &'a str,
    pub target: &'a str,
    /// 0 or 1: HTTP/1.0 or HTTP/1.1.
    pub minor: u8,
}

/// Registered methods (RFC 9110 §9.3, RFC 5789). Their names are case-sensitive, but there are servers that take `delete`
/// for DELETE, and a rule about DELETE would not see it.
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

/// Parses the first line (without its CR LF).
pub fn request_line(line: &[u8]) -> Result<RequestLine<'_>, Refusal> {
    if line.len() > TARGET_MAX_BYTES + 64 {
        return refuse(414, "request target too long");
    }
    let Ok(text) = std::str::from_utf8(line) else { return refuse(400, "byte above 0x7e in the request line") };
    let words = cut(text).and_then(|(method, rest)| cut(rest).map(|(target, version)| (method, target, version)));
    let Some((method, target, version)) = words.filter(|(.., version)| cut(version).is_none()) else {
        return refuse(400, "malformed request line");
    };
    if method.is_empty() || method.len() > 32 || !is_token(method.as_bytes()) {
        return refuse(400, "malformed method");
    }
    let minor = match version {
        "HTTP/1.1" => 1,
        "HTTP/1.0" => 0,
        other if is_version(other) => return refuse(505, "HTTP version not supported"),
        _ => return refuse(400, "malformed HTTP version"),
    };
    if target.len() > TARGET_MAX_BYTES {
        return refuse(414, "request target too long");
    }
    if !METHODS.contains(&method) && METHODS.iter().any(|known| known.eq_ignore_ascii_case(method)) {
        return refuse(501, "a method that is told from a known one by its case");
    }
    if matches!(method, "CONNECT" | "TRACE") {
        return refuse(405, "method not allowed");
    }
    if target.is_empty() || !target.bytes().all(|b| (0x21..=0x7e).contains(&b) && b != b'#') {
        return refuse(400, "malformed request target");
    }
    let path = &target[..memchr::memchr(b'?', target.as_bytes()).unwrap_or(target.len())];
    if memchr::memchr(b'%', path.as_bytes()).is_some() && path.contains("%00") {
        return refuse(400, "NUL in the path");
    }
    Ok(RequestLine { method, target, minor })
}

/// Before the first space, and behind it.
fn cut(text: &str) -> Option<(&str, &str)> {
    let at = memchr::memchr(b' ', text.as_bytes())?;
    Some((&text[..at], &text[at + 1..]))
}

/// `None` where the target is in origin form already.
pub(super) fn origin_form(line: RequestLine<'_>, host: Option<&str>) -> Result<Option<String>, Refusal> {
    if line.target.starts_with('/') || (line.target == "*" && line.method == "OPTIONS") {
        return Ok(None);
    }
    let scheme_end = line.target.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = line.target.split_at(scheme_end);
    if !scheme.eq_ignore_ascii_case("http://") && !scheme.eq_ignore_ascii_case("https://") {
        return refuse(400, "malformed request target");
    }
    let (authority, path) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    if !is_authority(authority.as_bytes()) {
        return refuse(400, "malformed authority");
    }
    let same = |host: &str| without_default_port(host).eq_ignore_ascii_case(without_default_port(authority));
    if !host.is_some_and(same) {
        return refuse(400, "Host differs from the target");
    }
    Ok(Some(if path.starts_with('/') { path.to_owned() } else { format!("/{path}") }))
}

fn without_default_port(authority: &str) -> &str {
    authority.strip_suffix(":80").unwrap_or(authority)
}

/// uri-host [ ":" port ] of RFC 3986, without user information and not empty. A name is written as it is meant: what is
/// percent-encoded, or has empty labels, could be read as a name that rules look for without being seen by them.
pub(in crate::dataplane::l7) fn is_authority(text: &[u8]) -> bool {
    let (host, port) = match text {
        [b'[', rest @ ..] => {
            let Some(end) = rest.iter().position(|&b| b == b']') else { return false };
            let inside = &rest[..end];
            if inside.is_empty() || !inside.iter().all(|b| b.is_ascii_hexdigit() || matches!(b, b':' | b'.')) {
                return false;
            }
            (inside, &rest[end + 1..])
        }
        _ => text.split_at(text.iter().position(|&b| b == b':').unwrap_or(text.len())),
    };
    let name = |b: &u8| b.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:".contains(b);
    let port_is_sane = match port {
        [] => true,
        [b':', digits @ ..] => digits.len() <= 5 && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    let is_bracketed = text.starts_with(b"[");
    let has_empty_label = || host.strip_suffix(b".").unwrap_or(host).split(|&b| b == b'.').any(<[u8]>::is_empty);
    !host.is_empty() && host.iter().all(name) && port_is_sane && (is_bracketed || !has_empty_label())
}

fn is_version(text: &str) -> bool {
    matches!(text.as_bytes(), [b'H', b'T', b'T', b'P', b'/', major, b'.', minor]
        if major.is_ascii_digit() && minor.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_has_one_spelling_but_for_its_case_and_a_last_dot() {
        for host in
            ["a.test", "A.Test.", "a_b.test:80", "[::1]:80", "[::ffff:1.2.3.4]", "192.0.2.1", "localhost", "a~b"]
        {
            assert!(is_authority(host.as_bytes()), "{host}");
        }
        for host in ["", ".", "..", "a%2etest", "a..test", "a.test..", ".a.test", "a.test..:80", "a@b", "[]", "a:b"] {
            assert!(!is_authority(host.as_bytes()), "{host}");
        }
    }

    #[test]
    fn a_method_that_differs_from_a_known_one_by_its_case_is_not_supported() {
        let status = |method: &str| {
            let line = format!("{method} / HTTP/1.1");
            request_line(line.as_bytes()).map_or_else(|refusal| refusal.status, |_| 200)
        };
        for known in METHODS {
            let expected = if matches!(known, "CONNECT" | "TRACE") { 405 } else { 200 };
            assert_eq!(status(known), expected, "{known}");
            for other in [known.to_ascii_lowercase(), format!("{}{}", &known[..1], known[1..].to_ascii_lowercase())] {
                assert_eq!(status(&other), 501, "{other}");
            }
        }
        assert_eq!((status("PROPFIND"), status("propfind"), status("gets")), (200, 200, 200));
    }
}
