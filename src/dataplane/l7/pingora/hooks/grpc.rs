//! gRPC where the answer is ours.

use pingora_http::RequestHeader;

/// Whether the client reads gRPC (and not gRPC-Web, whose trailers stand in the body).
pub fn is_asked(request: &RequestHeader) -> bool {
    let kind = request.headers.get("content-type").and_then(|value| value.to_str().ok()).unwrap_or_default();
    kind.strip_prefix("application/grpc").is_some_and(|rest| rest.is_empty() || rest.starts_with(['+', ';']))
}

/// An answer without messages: its trailers stand in its only head.
pub fn trailers_only(status: u16) -> [(&'static str, String); 3] {
    [
        ("Content-Type", "application/grpc".to_owned()),
        ("grpc-status", code(status).to_string()),
        ("grpc-message", format!("{status} {}", crate::dataplane::l7::pages::reason(status))),
    ]
}

/// What a client of gRPC makes of an HTTP status (the mapping of the gRPC protocol).
fn code(status: u16) -> u8 {
    const UNKNOWN: u8 = 2;
    const PERMISSION_DENIED: u8 = 7;
    const UNIMPLEMENTED: u8 = 12;
    const INTERNAL: u8 = 13;
    const UNAVAILABLE: u8 = 14;
    const UNAUTHENTICATED: u8 = 16;
    match status {
        400 => INTERNAL,
        401 => UNAUTHENTICATED,
        403 => PERMISSION_DENIED,
        404 => UNIMPLEMENTED,
        429 | 502 | 503 | 504 => UNAVAILABLE,
        _ => UNKNOWN,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(kind: &str) -> bool {
        let mut request = RequestHeader::build("POST", b"/a", None).unwrap();
        request.insert_header("Content-Type", kind).unwrap();
        is_asked(&request)
    }

    #[test]
    fn grpc_is_known_by_its_content_type_alone() {
        for kind in ["application/grpc", "application/grpc+proto", "application/grpc;charset=utf-8"] {
            assert!(asked(kind), "{kind}");
        }
        for kind in ["application/grpc-web", "application/grpc-web+proto", "application/json", "application/grpcx"] {
            assert!(!asked(kind), "{kind}");
        }
    }

    #[test]
    fn what_may_go_away_by_itself_is_unavailable() {
        assert_eq!(trailers_only(503)[1], ("grpc-status", "14".to_owned()));
        assert_eq!([400, 401, 403, 404, 429, 500, 502, 504].map(code), [13, 16, 7, 12, 14, 2, 14, 14]);
    }
}
