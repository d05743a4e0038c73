//! Which fields may stand behind a body (RFC 9110 §6.5.1).
//!
//! A receiver may put trailers with the fields of the head. So none goes on that would then say something about framing,
//! routing, who asks, what is asked or how the content is to be read: that was decided by the head, here and by everybody
//! behind.

/// By what they say: framing and the connection; routing; how and whether to answer; who asks; how to read the content;
/// what becomes of the answer.
const FORBIDDEN: &[&str] = &[
    "connection",
    "content-length",
    "keep-alive",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
    "host",
    "max-forwards",
    "via",
    "cache-control",
    "expect",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "pragma",
    "range",
    "authorization",
    "cookie",
    "forwarded",
    "proxy-authenticate",
    "proxy-authorization",
    "set-cookie",
    "www-authenticate",
    "x-real-ip",
    "content-encoding",
    "content-range",
    "content-type",
    "age",
    "date",
    "expires",
    "location",
    "retry-after",
    "vary",
];
/// Names that begin so tell a server about its client.
const FORBIDDEN_PREFIX: &str = "x-forwarded-";

/// Whether a field of this name, in any case, goes on as a trailer. An underscore counts as a hyphen, as some servers
/// have it.
pub fn may_trail(name: &[u8]) -> bool {
    let is = |forbidden: &str| {
        name.len() == forbidden.len() && name.iter().zip(forbidden.bytes()).all(|(&sent, byte)| matches(sent, byte))
    };
    let begins = |prefix: &str| {
        name.len() >= prefix.len() && name.iter().zip(prefix.bytes()).all(|(&sent, byte)| matches(sent, byte))
    };
    !FORBIDDEN.iter().any(|forbidden| is(forbidden)) && !begins(FORBIDDEN_PREFIX)
}

fn matches(sent: u8, byte: u8) -> bool {
    sent.eq_ignore_ascii_case(&byte) || (sent == b'_' && byte == b'-')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_head_decided_is_not_said_again_behind_the_body() {
        for name in ["Content-Length", "content_length", "HOST", "te", "X-Forwarded-For", "x_forwarded_proto", "Cookie"]
        {
            assert!(!may_trail(name.as_bytes()), "{name}");
        }
        for name in ["grpc-status", "grpc-message", "Digest", "ETag", "Server-Timing", "X-Checksum", "X-Forwarded", "t"]
        {
            assert!(may_trail(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn every_forbidden_name_is_one_and_stands_in_the_list_once() {
        let mut sorted = FORBIDDEN.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), FORBIDDEN.len());
        assert!(FORBIDDEN.iter().all(|name| name.bytes().all(|b| b.is_ascii_lowercase() || b == b'-')));
    }
}
