//! What a client sends, before anything else believes it: the strict reader of request heads and bodies.
//!
//! Request smuggling lives on two parsers that read one message differently. So a message is read here first, by a
//! grammar without alternatives: one way to end a line, one way to give a length, one Host. Whatever could be read in
//! two ways is refused and never repaired; the engine behind sees only what passed, one message at a time. A body in
//! chunks is written anew (no extensions, no trailers), so that a disagreement about chunk syntax cannot arise either.
//!
//! | refused | status |
//! |---|---|
//! | Content-Length with Transfer-Encoding, or either twice; a length that is not digits; `1, 1` | 400 |
//! | Transfer-Encoding other than exactly `chunked`, or on HTTP/1.0; `content_length`, `transfer_encoding` | 400 |
//! | HTTP/1.1 without Host, two Hosts, an empty or malformed one, one that differs from an absolute target | 400 |
//! | bare LF or CR, empty lines before the request, folded lines, space before the colon, control bytes | 400 |
//! | space, control byte, fragment or a byte above 0x7e in the target; `%00` in the path | 400 |
//! | Connection that names Host or a field of the framing | 400 |
//! | GET and HEAD with a body (allowed by RFC 9110 §9.3.1 to be refused for this reason) | 400 |
//! | CONNECT, TRACE | 405 |
//! | Expect other than `100-continue` | 417 |
//! | a target over 8 KiB · a head over 64 KiB or more than 100 fields | 414 · 431 |
//! | HTTP versions other than 1.0 and 1.1 | 505 |

mod chunk;
mod guard;

pub use guard::Guard;

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

/// A head that passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub framing: Framing,
    /// The target in origin form (or `*`); differs from what was sent where that was absolute.
    pub origin_form: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    None,
    Length(u64),
    Chunked,
}

/// The first line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestLine<'a> {
    pub method: &'a str,
    pub target: &'a str,
    /// 0 or 1: HTTP/1.0 or HTTP/1.1.
    pub minor: u8,
}

const fn refuse<T>(status: u16, why: &'static str) -> Result<T, Refusal> {
    Err(Refusal { status, why })
}

/// Parses a whole head: from the request line to the empty line, both included.
pub fn parse(head: &[u8]) -> Result<Head, Refusal> {
    let mut lines = head.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    let line = request_line(lines.next().unwrap_or_default())?;
    let mut fields = Fields::default();
    let mut count = 0;
    for field in lines.take_while(|line| !line.is_empty()) {
        count += 1;
        if count > FIELDS_MAX {
            return refuse(431, "too many fields");
        }
        let (name, value) = field_line(field)?;
        fields.note(name, value)?;
    }
    fields.judge(line)
}

/// Parses the first line (without its CR LF).
pub fn request_line(line: &[u8]) -> Result<RequestLine<'_>, Refusal> {
    if line.len() > TARGET_MAX_BYTES + 64 {
        return refuse(414, "request target too long");
    }
    let Ok(text) = std::str::from_utf8(line) else { return refuse(400, "byte above 0x7e in the request line") };
    let mut parts = text.split(' ');
    let (Some(method), Some(target), Some(version), None) = (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return refuse(400, "malformed request line");
    };
    if method.is_empty() || method.len() > 32 || !method.bytes().all(is_token) {
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
    if matches!(method, "CONNECT" | "TRACE") {
        return refuse(405, "method not allowed");
    }
    if target.is_empty() || !target.bytes().all(|b| (0x21..=0x7e).contains(&b) && b != b'#') {
        return refuse(400, "malformed request target");
    }
    if target.split('?').next().is_some_and(|path| path.contains("%00")) {
        return refuse(400, "NUL in the path");
    }
    Ok(RequestLine { method, target, minor })
}

/// Name and value of one field line (without its CR LF). The value is trimmed.
fn field_line(line: &[u8]) -> Result<(&str, &[u8]), Refusal> {
    if line.first().is_some_and(|b| matches!(b, b' ' | b'\t')) {
        return refuse(400, "folded field line");
    }
    let Some(colon) = line.iter().position(|&b| b == b':') else { return refuse(400, "field line without a colon") };
    let (name, value) = (&line[..colon], line[colon + 1..].trim_ascii());
    if name.is_empty() || !name.iter().copied().all(is_token) {
        return refuse(400, "malformed field name");
    }
    if value.iter().any(|&b| (b < 0x20 && b != b'\t') || b == 0x7f) {
        return refuse(400, "control byte in a field value");
    }
    Ok((std::str::from_utf8(name).expect("tokens are ASCII"), value))
}

/// What the fields say about framing and routing.
#[derive(Default)]
struct Fields<'a> {
    length: Option<u64>,
    chunked: bool,
    host: Option<&'a str>,
}

impl<'a> Fields<'a> {
    fn note(&mut self, name: &str, value: &'a [u8]) -> Result<(), Refusal> {
        let is = |wanted: &str| name.eq_ignore_ascii_case(wanted);
        if is("content-length") {
            if self.length.is_some() {
                return refuse(400, "Content-Length twice");
            }
            self.length = Some(length(value)?);
        } else if is("transfer-encoding") {
            if self.chunked {
                return refuse(400, "Transfer-Encoding twice");
            }
            if !value.eq_ignore_ascii_case(b"chunked") {
                return refuse(400, "Transfer-Encoding other than chunked");
            }
            self.chunked = true;
        } else if is("host") {
            if self.host.is_some() {
                return refuse(400, "Host twice");
            }
            self.host = Some(host(value)?);
        } else if is("expect") {
            if !value.eq_ignore_ascii_case(b"100-continue") {
                return refuse(417, "expectation not supported");
            }
        } else if is("connection") {
            let protected = ["host", "content-length", "transfer-encoding", "expect", "content_length"];
            let names = value.split(|&b| b == b',').map(<[u8]>::trim_ascii);
            for named in names {
                if protected.iter().any(|p| named.eq_ignore_ascii_case(p.as_bytes())) {
                    return refuse(400, "Connection names a field of the framing");
                }
            }
        } else if is("content_length") || is("transfer_encoding") {
            return refuse(400, "field that looks like framing");
        }
        Ok(())
    }

    fn judge(self, line: RequestLine<'_>) -> Result<Head, Refusal> {
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
        Ok(Head { framing, origin_form: origin_form(line, self.host)? })
    }
}

/// `None` where the target is in origin form already.
fn origin_form(line: RequestLine<'_>, host: Option<&str>) -> Result<Option<String>, Refusal> {
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

fn length(value: &[u8]) -> Result<u64, Refusal> {
    let digits = !value.is_empty() && value.len() <= 18 && value.iter().all(u8::is_ascii_digit);
    match std::str::from_utf8(value).ok().filter(|_| digits).and_then(|text| text.parse().ok()) {
        Some(length) => Ok(length),
        None => refuse(400, "malformed Content-Length"),
    }
}

fn host(value: &[u8]) -> Result<&str, Refusal> {
    match std::str::from_utf8(value) {
        Ok(text) if is_authority(value) => Ok(text),
        _ => refuse(400, "malformed Host"),
    }
}

/// uri-host [ ":" port ] of RFC 3986, without user information and not empty.
fn is_authority(text: &[u8]) -> bool {
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
    let name = |b: &u8| b.is_ascii_alphanumeric() || b"-._~%!$&'()*+,;=:".contains(b);
    let port_is_sane = match port {
        [] => true,
        [b':', digits @ ..] => digits.len() <= 5 && digits.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    !host.is_empty() && host.iter().all(name) && port_is_sane
}

fn is_version(text: &str) -> bool {
    matches!(text.as_bytes(), [b'H', b'T', b'T', b'P', b'/', major, b'.', minor]
        if major.is_ascii_digit() && minor.is_ascii_digit())
}

fn is_token(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b)
}

#[cfg(test)]
mod tests;
