//! Answers of our own: short plain text, no server's name.

use super::head::Refusal;
use crate::dataplane::ended::REQUEST_ID;

/// The reason phrase of a status that we send.
pub fn reason(status: u16) -> &'static str {
    http::StatusCode::from_u16(status).ok().and_then(|s| s.canonical_reason()).unwrap_or("Error")
}

/// `503 Service Unavailable` and a line end; then the id that finds the request in the log, where it has one.
pub fn body(status: u16, id: Option<&str>) -> String {
    let id = id.map_or_else(String::new, |id| format!("id: {id}\n"));
    format!("{status} {}\n{id}", reason(status))
}

/// The methods that a server may be asked with.
pub(super) const ALLOW: &str = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS";

/// `400 Bad Request: two Hosts` and a line end; then the id.
pub(super) fn refusal_body(Refusal { status, why }: Refusal, id: &str) -> String {
    format!("{status} {}: {why}\nid: {id}\n", reason(status))
}

/// A whole answer to a head that was refused. The connection closes after it.
pub(super) fn refusal(refusal: Refusal, id: &str) -> Vec<u8> {
    let status = refusal.status;
    let body = refusal_body(refusal, id);
    let allow = if status == 405 { format!("Allow: {ALLOW}\r\n") } else { String::new() };
    format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n{allow}\
         {REQUEST_ID}: {id}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{body}",
        reason(status),
        body.len(),
    )
    .into_bytes()
}
