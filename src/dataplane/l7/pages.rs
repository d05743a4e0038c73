//! Answers of our own: short plain text, no server's name.

use super::head::Refusal;

/// The reason phrase of a status that we send.
pub fn reason(status: u16) -> &'static str {
    http::StatusCode::from_u16(status).ok().and_then(|s| s.canonical_reason()).unwrap_or("Error")
}

/// `503 Service Unavailable` and a line end.
pub fn body(status: u16) -> String {
    format!("{status} {}\n", reason(status))
}

/// A whole answer to a head that was refused. The connection closes after it.
pub(super) fn refusal(refusal: Refusal) -> Vec<u8> {
    let Refusal { status, why } = refusal;
    let body = format!("{status} {}: {why}\n", reason(status));
    let allow = if status == 405 { "Allow: GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS\r\n" } else { "" };
    format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n{allow}\
         Cache-Control: no-store\r\nConnection: close\r\n\r\n{body}",
        reason(status),
        body.len(),
    )
    .into_bytes()
}
