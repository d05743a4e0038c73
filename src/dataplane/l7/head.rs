//! What a client sends, before anything else believes it: the strict reader of request heads and bodies.
//!
//! Request smuggling lives on two parsers that read one message differently. So a message is read here first, by a
//! grammar without alternatives: one way to end a line, one way to give a length, one Host. Whatever could be read in
//! two ways is refused and never repaired; the engine behind sees only what passed, one message at a time. A body in
//! chunks is written anew (no extensions, and no trailers that say again what the head has said), so that a disagreement
//! about chunk syntax cannot arise either.
//!
//! | refused | status |
//! |---|---|
//! | Content-Length with Transfer-Encoding, or either twice; a length that is not digits; `1, 1` | 400 |
//! | Transfer-Encoding other than exactly `chunked`, or on HTTP/1.0; `content_length`, `transfer_encoding` | 400 |
//! | HTTP/1.1 without Host, two Hosts, an empty or malformed one, one that differs from an absolute target | 400 |
//! | bare LF or CR, more than one empty line before the request, folded lines, space before the colon, control bytes | 400 |
//! | space, control byte, fragment or a byte above 0x7e in the target; `%00` in the path | 400 |
//! | Connection that names Host, a field of the framing, Forwarded or X-Forwarded-…, or over 10 options | 400 |
//! | GET and HEAD with a body (allowed by RFC 9110 §9.3.1 to be refused for this reason) | 400 |
//! | CONNECT, TRACE | 405 |
//! | Expect other than `100-continue` | 417 |
//! | a target over 8 KiB · a head over 64 KiB or more than 100 fields | 414 · 431 |
//! | HTTP versions other than 1.0 and 1.1 | 505 |

pub(super) mod chunk;
pub mod field;
pub mod frames;
mod guard;
pub mod http2;
mod line;
pub(super) mod scan;
pub mod trailer;

pub use field::{Field, Kind, Options, Span};
pub use guard::Guard;
pub use line::{RequestLine, request_line};

use crate::model::ending::Reason;
pub(in crate::dataplane::l7) use line::is_authority;
use line::origin_form;

/// Bytes of a request target at most.
pub const TARGET_MAX_BYTES: usize = 8 * 1024;
/// Bytes of a head at most, request line included.
pub const HEAD_MAX_BYTES: usize = 64 * 1024;
/// Fields of a head at most.
pub const FIELDS_MAX: usize = 100;

/// Why a request goes no further, and the status that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Refusal {
    pub status: u16,
    pub why: &'static str,
}

impl Refusal {
    /// For log and metrics.
    pub fn reason(self) -> Reason {
        match self.status {
            408 => Reason::HeadTimeout,
            414 | 431 => Reason::TooLarge,
            405 | 417 | 501 | 505 => Reason::NotSupported,
            _ => Reason::BadRequest,
        }
    }
}

/// A head that passed. Its fields are given apart, in a list that can be used again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub method: Span,
    /// As sent.
    pub target: Span,
    /// The target in origin form (or `*`) where what was sent is absolute.
    pub origin_form: Option<String>,
    /// 0 or 1: HTTP/1.0 or HTTP/1.1.
    pub minor: u8,
    pub framing: Framing,
    pub host: Option<Span>,
    pub connection: Options,
    /// `Expect: 100-continue`.
    pub expects: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    None,
    Length(u64),
    Chunked,
}

const fn refuse<T>(status: u16, why: &'static str) -> Result<T, Refusal> {
    Err(Refusal { status, why })
}

/// Parses a whole head: from the request line to the empty line, both included. `fields` is emptied first.
pub fn parse(head: &[u8], fields: &mut Vec<Field>) -> Result<Head, Refusal> {
    fields.clear();
    let line_end = memchr::memchr(b'\n', head).unwrap_or(head.len());
    let line = request_line(without_cr(&head[..line_end]))?;
    let mut seen = Seen::default();
    let mut at = line_end + 1;
    while let Some(length) = head.get(at..).and_then(|rest| memchr::memchr(b'\n', rest)) {
        let text = without_cr(&head[at..at + length]);
        if text.is_empty() {
            break;
        }
        if fields.len() == FIELDS_MAX {
            return refuse(431, "too many fields");
        }
        let field = Field::parse(text, at)?;
        seen.note(field, field.value.of(head))?;
        fields.push(field);
        at += length + 1;
    }
    seen.judge(head, line)
}

fn without_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}

/// Connection options at most.
const NAMED_MAX: usize = 10;
/// What Connection may not have taken off on the way: framing, and who asks for what.
const PROTECTED: [&str; 10] = [
    "host",
    "content-length",
    "transfer-encoding",
    "expect",
    "content_length",
    "forwarded",
    "x-forwarded-for",
    "x-forwarded-host",
    "x-forwarded-proto",
    "x-forwarded-port",
];

/// What the fields say about framing and routing.
#[derive(Default)]
struct Seen {
    length: Option<u64>,
    chunked: bool,
    host: Option<Span>,
    connection: Options,
    /// Options that the Connection fields name.
    named: usize,
    expects: bool,
}

impl Seen {
    fn note(&mut self, field: Field, value: &[u8]) -> Result<(), Refusal> {
        match field.kind {
            Kind::ContentLength if self.length.is_some() => return refuse(400, "Content-Length twice"),
            Kind::ContentLength => match length(value) {
                None => return refuse(400, "malformed Content-Length"),
                length => self.length = length,
            },
            Kind::TransferEncoding if self.chunked => return refuse(400, "Transfer-Encoding twice"),
            Kind::TransferEncoding if !value.eq_ignore_ascii_case(b"chunked") => {
                return refuse(400, "Transfer-Encoding other than chunked");
            }
            Kind::TransferEncoding => self.chunked = true,
            Kind::Host if self.host.is_some() => return refuse(400, "Host twice"),
            Kind::Host if !is_authority(value) => return refuse(400, "malformed Host"),
            Kind::Host => self.host = Some(field.value),
            Kind::Expect if !value.eq_ignore_ascii_case(b"100-continue") => {
                return refuse(417, "expectation not supported");
            }
            Kind::Expect => self.expects = true,
            Kind::Connection => {
                let is_protected = |named: &[u8]| PROTECTED.iter().any(|p| named.eq_ignore_ascii_case(p.as_bytes()));
                for named in field::names(value).filter(|named| !named.is_empty()) {
                    self.named += 1;
                    if is_protected(named) {
                        return refuse(400, "Connection names a field that must not be taken off");
                    }
                    if !field::is_token(named) || self.named > NAMED_MAX {
                        return refuse(400, "malformed Connection");
                    }
                }
                self.connection.note(value);
            }
            Kind::LooksLikeFraming => return refuse(400, "field that looks like framing"),
            _ => {}
        }
        Ok(())
    }

    fn judge(self, head: &[u8], line: RequestLine<'_>) -> Result<Head, Refusal> {
        let framing = match (self.length, self.chunked) {
            (Some(_), true) => return refuse(400, "Content-Length with Transfer-Encoding"),
            (None, true) if line.minor == 0 => return refuse(400, "Transfer-Encoding on HTTP/1.0"),
            (None, true) => Framing::Chunked,
            (Some(0) | None, false) => Framing::None,
            (Some(length), false) => Framing::Length(length),
        };
        if framing != Framing::None && matches!(line.method, "GET" | "HEAD") {
            return refuse(400, "GET or HEAD with a body");
        }
        if self.host.is_none() && line.minor == 1 {
            return refuse(400, "HTTP/1.1 without Host");
        }
        let method = line.method.len();
        Ok(Head {
            method: Span::new(0, method),
            target: Span::new(method + 1, method + 1 + line.target.len()),
            origin_form: origin_form(line, self.host.map(|host| host.text(head)))?,
            minor: line.minor,
            framing,
            host: self.host,
            connection: self.connection,
            expects: self.expects,
        })
    }
}

/// Digits, and not too many.
pub(super) fn length(value: &[u8]) -> Option<u64> {
    let digits = (1..=18).contains(&value.len()) && value.iter().all(u8::is_ascii_digit);
    digits.then(|| value.iter().fold(0, |number, &digit| number * 10 + u64::from(digit - b'0')))
}

/// Hex digits, and not too many.
fn length_of_hex(digits: &[u8]) -> Option<u64> {
    let sane = (1..=15).contains(&digits.len()) && digits.iter().all(u8::is_ascii_hexdigit);
    let digits = std::str::from_utf8(digits).ok().filter(|_| sane)?;
    u64::from_str_radix(digits, 16).ok()
}

// === impl Head ===

impl Head {
    /// The target in origin form (or `*`).
    pub fn target<'a>(&'a self, head: &'a [u8]) -> &'a str {
        self.origin_form.as_deref().unwrap_or_else(|| self.target.text(head))
    }
}

#[cfg(test)]
mod tests;
