//! Answers of our own: short plain text, no server's name.

use super::date;
use super::head::Refusal;
use crate::dataplane::ended::REQUEST_ID;
use crate::dataplane::member::{Answer, Refused};
use crate::model::id::Name;

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

/// An answer that no server gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Page {
    pub status: u16,
    pub fields: Vec<(Name, Name)>,
    /// `None`: a short text that says the status, and the id of the request.
    pub body: Option<Vec<u8>>,
}

// === impl Page ===

impl Page {
    /// A short text that says the status.
    pub fn error(status: u16) -> Page {
        let fields = [("Content-Type", "text/plain; charset=utf-8"), ("Cache-Control", "no-store")];
        let fields = fields.map(|(name, value)| (Name::from(name), Name::from(value))).to_vec();
        Page { status, fields, body: None }
    }

    pub fn redirect(status: u16, location: String) -> Page {
        Page { status, fields: vec![("Location".into(), location.into())], body: Some(Vec::new()) }
    }

    /// What is told to a request for `target` that gets no member; `None`: a reset.
    pub fn refused(refused: &Refused, target: &str) -> Option<Page> {
        let status = refused.status()?;
        Some(match &refused.answer {
            Answer::Redirect(_) => Page::redirect(status, refused.location(target).unwrap_or_default()),
            Answer::TooManyRequests { retry_after_s } => {
                Page { status, fields: vec![("Retry-After".into(), retry_after_s.to_string().into())], body: None }
            }
            Answer::Unavailable | Answer::Reset => Page::error(status),
        })
    }
}

/// The bytes of a whole answer that belong to its body.
pub(super) fn body_length(answer: &[u8]) -> u64 {
    answer.windows(4).position(|w| w == b"\r\n\r\n").map_or(0, |end| (answer.len() - end - 4) as u64)
}

/// A whole answer to a head that was refused. The connection closes after it.
pub(super) fn refusal(refusal: Refusal, id: &str) -> Vec<u8> {
    let status = refusal.status;
    let body = refusal_body(refusal, id);
    let allow = if status == 405 { format!("Allow: {ALLOW}\r\n") } else { String::new() };
    let date = date::now(str::to_owned);
    format!(
        "HTTP/1.1 {status} {}\r\nDate: {date}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {}\r\n{allow}\
         {REQUEST_ID}: {id}\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n{body}",
        reason(status),
        body.len(),
    )
    .into_bytes()
}
