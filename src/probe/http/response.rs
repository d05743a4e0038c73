//! The answer to a probe as it comes in: bytes in, head and decoded body out. No socket here, so that every oddity of a
//! peer can be shown to it as a literal.
//!
//! | state | bytes | becomes |
//! |---|---|---|
//! | Head | an empty line | Length, Chunked, UntilClose or Complete, as the fields say; Head again after a 1xx |
//! | Length, Chunked, UntilClose | the body's end, or as much as is looked at | Complete |
//! | UntilClose | the peer closes | Complete |
//! | Head, Length, Chunked | the peer closes | an error: broken off |

use super::super::quoted;

/// Largest head. Bytes; interim answers (1xx) included.
const HEAD_MAX: usize = 16 * 1024;

/// Most fields of a head.
const FIELDS_MAX: usize = 128;

/// Most bytes that chunk sizes, extensions and trailers may take: a body of single-byte chunks still fits.
const CHUNK_FRAMING_MAX: usize = 512 * 1024;

/// An answer, being read.
#[derive(Debug)]
pub(in crate::probe) struct Response {
    to_head_request: bool,
    /// How much of the body is kept; what follows is not read. Bytes.
    considered: usize,
    state: State,
    /// Raw bytes of the head until it is complete.
    raw_head: Vec<u8>,
    head: Option<Head>,
    body: Vec<u8>,
    /// More body follows than was considered.
    cut: bool,
    framing: usize,
}

#[derive(Debug, PartialEq, Eq)]
pub(in crate::probe) struct Head {
    pub status: u16,
    /// Escaped for print; may be empty.
    pub reason: String,
    /// Values trimmed; bytes as they came.
    pub fields: Vec<(String, Vec<u8>)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Head,
    /// Bytes of the body that are still to come.
    Length(u64),
    Chunked(Chunk),
    UntilClose,
    Complete,
}

/// Where in the chunked coding (RFC 9112 §7.1) the next byte stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chunk {
    Size {
        value: u64,
        digits: u8,
    },
    /// In an extension, up to the end of the line.
    Extension {
        value: u64,
    },
    SizeLf {
        value: u64,
    },
    Data {
        left: u64,
    },
    DataCr,
    DataLf,
    /// In a trailer line of so many bytes.
    Trailer {
        length: usize,
    },
    TrailerLf {
        length: usize,
    },
}

type Step = Result<(), String>;

// === impl Response ===

impl Response {
    pub(in crate::probe) fn new(to_head_request: bool, considered: usize) -> Response {
        Response {
            to_head_request,
            considered,
            state: State::Head,
            raw_head: Vec::new(),
            head: None,
            body: Vec::new(),
            cut: false,
            framing: 0,
        }
    }

    /// One that came by another framing (HTTP/2). `cut`: more body followed than was considered.
    pub(in crate::probe) fn decoded(head: Head, body: Vec<u8>, cut: bool) -> Response {
        let considered = body.len();
        Response { state: State::Complete, head: Some(head), body, cut, ..Response::new(false, considered) }
    }

    /// Takes bytes of the peer. An error ends the sample; it says in words what is wrong.
    pub(in crate::probe) fn push(&mut self, mut bytes: &[u8]) -> Step {
        while !bytes.is_empty() && self.state != State::Complete {
            bytes = match self.state {
                State::Head => self.push_head(bytes)?,
                State::Length(left) => {
                    let taken = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
                    self.state = match left - taken as u64 {
                        0 => State::Complete,
                        left => State::Length(left),
                    };
                    self.keep(&bytes[..taken]);
                    &bytes[taken..]
                }
                State::UntilClose => {
                    self.keep(bytes);
                    &[]
                }
                State::Chunked(chunk) => self.push_chunk(chunk, bytes)?,
                State::Complete => &[],
            };
        }
        Ok(())
    }

    /// The peer closed the connection.
    pub(in crate::probe) fn end(&mut self) -> Step {
        match self.state {
            State::UntilClose | State::Complete => {
                self.state = State::Complete;
                Ok(())
            }
            State::Head if self.raw_head.is_empty() => Err("connection closed without an answer".to_owned()),
            State::Head => {
                Err(format!("connection closed within the head of the answer, after {}", quoted(&self.raw_head)))
            }
            State::Length(left) => Err(format!("body broken off, {left} bytes of the announced length are missing")),
            State::Chunked(_) => Err("body broken off within its chunked coding".to_owned()),
        }
    }

    pub(in crate::probe) fn is_complete(&self) -> bool {
        self.state == State::Complete
    }

    /// The head, once it is complete.
    pub(in crate::probe) fn head(&self) -> Option<&Head> {
        self.head.as_ref()
    }

    /// The body as far as it is considered and has come.
    pub(in crate::probe) fn body(&self) -> &[u8] {
        &self.body
    }

    /// Whether more body followed than is considered.
    pub(in crate::probe) fn is_cut(&self) -> bool {
        self.cut
    }

    /// What is still to come, for the detail of a time-out.
    pub(in crate::probe) fn missing(&self) -> String {
        match self.state {
            State::Head if self.raw_head.is_empty() => "an answer".to_owned(),
            State::Head => "the end of the answer's head".to_owned(),
            State::Length(left) => format!("the last {left} bytes of the body"),
            _ => format!("the end of the body after {} bytes", self.body.len()),
        }
    }

    fn push_head<'a>(&mut self, bytes: &'a [u8]) -> Result<&'a [u8], String> {
        // Only up to the end of the head are bytes taken, so that the body's are counted once.
        let seen = self.raw_head.len();
        let take = bytes.len().min(HEAD_MAX + 1 - seen);
        self.raw_head.extend_from_slice(&bytes[..take]);
        const START: &[u8] = b"HTTP/1.";
        let start = self.raw_head.len().min(START.len());
        if self.raw_head[..start] != START[..start] {
            return Err(format!("not an answer in HTTP/1: {}", quoted(&self.raw_head)));
        }
        let Some(end) = head_end(&self.raw_head, seen) else {
            return match self.raw_head.len() > HEAD_MAX {
                true => Err(format!("the head of the answer is larger than {} KiB", HEAD_MAX / 1024)),
                false => Ok(&bytes[take..]),
            };
        };
        let rest = &bytes[end - seen..];
        let head = parse_head(&self.raw_head[..end])?;
        if (100..200).contains(&head.status) && head.status != 101 {
            // An interim answer; the final one follows. Their sum is bounded by keeping the count in `framing`.
            self.framing += end;
            if self.framing > HEAD_MAX {
                return Err("interim answers without an end".to_owned());
            }
            self.raw_head.clear();
            return Ok(rest);
        }
        self.framing = 0;
        self.raw_head = Vec::new();
        self.state = match body_of(&head, self.to_head_request)? {
            State::Length(0) => State::Complete,
            state => state,
        };
        self.head = Some(head);
        Ok(rest)
    }

    /// Keeps as much of the body as is considered, and ends the reading there.
    fn keep(&mut self, bytes: &[u8]) {
        let room = self.considered - self.body.len();
        self.body.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if bytes.len() > room || (bytes.len() == room && self.state != State::Complete) {
            self.cut = true;
            self.state = State::Complete;
        }
    }

    fn push_chunk<'a>(&mut self, chunk: Chunk, bytes: &'a [u8]) -> Result<&'a [u8], String> {
        if let Chunk::Data { left } = chunk {
            let taken = bytes.len().min(usize::try_from(left).unwrap_or(usize::MAX));
            self.state = State::Chunked(match left - taken as u64 {
                0 => Chunk::DataCr,
                left => Chunk::Data { left },
            });
            self.keep(&bytes[..taken]);
            return Ok(&bytes[taken..]);
        }
        self.framing += 1;
        if self.framing > CHUNK_FRAMING_MAX {
            return Err("chunked coding with more framing than body".to_owned());
        }
        self.state = chunk.step(bytes[0]).ok_or_else(|| {
            format!("broken chunked coding at {}, after {} bytes of body", quoted(&bytes[..1]), self.body.len())
        })?;
        Ok(&bytes[1..])
    }
}

// === impl Chunk ===

impl Chunk {
    const START: Chunk = Chunk::Size { value: 0, digits: 0 };

    /// One byte of framing; `None` where the coding does not allow it. Never called in `Data`.
    fn step(self, byte: u8) -> Option<State> {
        let next = match (self, byte) {
            (Chunk::Size { value, digits }, _) if byte.is_ascii_hexdigit() => {
                let digit = (byte as char).to_digit(16).map(u64::from)?;
                Chunk::Size { value: value.checked_mul(16)?.checked_add(digit)?, digits: digits.checked_add(1)? }
            }
            (Chunk::Size { digits: 0, .. }, _) => return None,
            (Chunk::Size { value, .. }, b'\r') | (Chunk::Extension { value }, b'\r') => Chunk::SizeLf { value },
            (Chunk::Size { value, .. }, b';' | b' ' | b'\t') => Chunk::Extension { value },
            (Chunk::Size { .. }, _) => return None,
            (Chunk::Extension { .. }, b'\n' | 0) => return None,
            (Chunk::Extension { value }, _) => Chunk::Extension { value },
            (Chunk::SizeLf { value: 0 }, b'\n') => Chunk::Trailer { length: 0 },
            (Chunk::SizeLf { value }, b'\n') => Chunk::Data { left: value },
            (Chunk::DataCr, b'\r') => Chunk::DataLf,
            (Chunk::DataLf, b'\n') => Chunk::START,
            (Chunk::Trailer { length }, b'\r') => Chunk::TrailerLf { length },
            (Chunk::Trailer { .. }, b'\n' | 0) => return None,
            (Chunk::Trailer { length }, _) => Chunk::Trailer { length: length + 1 },
            (Chunk::TrailerLf { length: 0 }, b'\n') => return Some(State::Complete),
            (Chunk::TrailerLf { .. }, b'\n') => Chunk::Trailer { length: 0 },
            (
                Chunk::SizeLf { .. } | Chunk::DataCr | Chunk::DataLf | Chunk::TrailerLf { .. } | Chunk::Data { .. },
                _,
            ) => {
                return None;
            }
        };
        Some(State::Chunked(next))
    }
}

/// Where the head ends (behind its empty line); bytes before `seen` were searched before.
fn head_end(raw: &[u8], seen: usize) -> Option<usize> {
    let from = seen.saturating_sub(2);
    (from..raw.len()).filter(|&i| raw[i] == b'\n').find_map(|i| match &raw[i + 1..] {
        [b'\n', ..] => Some(i + 2),
        [b'\r', b'\n', ..] => Some(i + 3),
        _ => None,
    })
}

fn parse_head(raw: &[u8]) -> Result<Head, String> {
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut parsed = httparse::Response::new(&mut fields);
    let config = httparse::ParserConfig::default();
    match config.parse_response(&mut parsed, raw) {
        Ok(httparse::Status::Complete(_)) => {}
        Ok(httparse::Status::Partial) => return Err(format!("malformed head of the answer: {}", quoted(raw))),
        Err(error) => return Err(format!("malformed head of the answer ({error}): {}", quoted(raw))),
    }
    let status = parsed.code.unwrap_or(0);
    if !(100..600).contains(&status) {
        return Err(format!("the answer has the status {status}, which HTTP does not know"));
    }
    let fields = parsed.headers.iter().map(|f| (f.name.to_owned(), f.value.trim_ascii().to_vec())).collect();
    let reason = quoted(parsed.reason.unwrap_or("").as_bytes());
    Ok(Head { status, reason: reason.trim_matches('"').to_owned(), fields })
}

/// How the body is framed (RFC 9112 §6.3).
fn body_of(head: &Head, to_head_request: bool) -> Result<State, String> {
    if to_head_request || matches!(head.status, 101 | 204 | 304) {
        return Ok(State::Complete);
    }
    let codings: Vec<&[u8]> = head.all("transfer-encoding").flat_map(|value| value.split(|&b| b == b',')).collect();
    match codings[..] {
        [] => {}
        [coding] if coding.trim_ascii().eq_ignore_ascii_case(b"chunked") => return Ok(State::Chunked(Chunk::START)),
        _ => return Err(format!("transfer coding {} is not understood", quoted(&codings.join(&b',')))),
    }
    let mut length = None;
    for text in head.all("content-length").flat_map(|value| value.split(|&b| b == b',')) {
        let text = text.trim_ascii();
        let number = std::str::from_utf8(text).ok().filter(|t| t.bytes().all(|b| b.is_ascii_digit()));
        let number: Option<u64> = number.and_then(|t| t.parse().ok());
        match (number, length) {
            (None, _) => return Err(format!("Content-Length {} is not a number", quoted(text))),
            (Some(n), Some(former)) if n != former => return Err(format!("two lengths announced: {former} and {n}")),
            (Some(n), _) => length = Some(n),
        }
    }
    Ok(length.map_or(State::UntilClose, State::Length))
}

// === impl Head ===

impl Head {
    /// The values of all fields of this name.
    pub(in crate::probe) fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a [u8]> {
        self.fields.iter().filter(move |(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| &value[..])
    }

    /// `200 OK`; without a reason `200`.
    pub(in crate::probe) fn line(&self) -> String {
        format!("{} {}", self.status, self.reason).trim_end().to_owned()
    }
}

#[cfg(test)]
mod tests;
