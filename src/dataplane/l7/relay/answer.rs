//! What a server answers, read as strictly as what a client asks: an answer that could be read in two ways, or not at
//! all, is none. Its connection is closed, and the client told that the server failed.
//!
//! | is no answer |
//! |---|
//! | anything but `HTTP/1.0` or `HTTP/1.1`, a status of three digits from 100 on, and a reason |
//! | bare LF or CR, folded lines, space before the colon, control bytes |
//! | Content-Length with Transfer-Encoding, or either twice; a length that is not digits |
//! | Transfer-Encoding other than exactly `chunked`, or on HTTP/1.0; `content_length`, `transfer_encoding` |
//! | Connection that names a field of the framing |
//! | a head over 64 KiB or more than 200 fields; more than 100 interim answers |
//! | 101 to a request that did not ask for it |

use crate::dataplane::l7::head::field::{has_control, names};
use crate::dataplane::l7::head::{Field, HEAD_MAX_BYTES, Kind, Options, Span, length};

/// Fields of an answer at most.
const FIELDS_MAX: usize = 200;
/// Interim answers (1xx) to one request at most: real servers send a few, and nothing else bounds them.
pub(super) const INTERIM_MAX: u32 = 100;

/// Why it is none.
pub(in crate::dataplane::l7) type Why = &'static str;

/// A head that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dataplane::l7) struct Answer {
    pub status: u16,
    pub reason: Span,
    /// 0 or 1: HTTP/1.0 or HTTP/1.1.
    pub minor: u8,
    pub framing: Framing,
    pub connection: Options,
    /// It has framing fields although it has no body: what follows may be one all the same, so the connection is not
    /// used again.
    pub doubtful: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dataplane::l7) enum Framing {
    None,
    Length(u64),
    Chunked,
    /// It ends with the connection.
    UntilEnd,
}

/// Where the head at the beginning of `input` ends; `scanned` is how far it was looked at, 0 at first.
pub(super) fn end(input: &[u8], scanned: &mut usize) -> Result<Option<usize>, Why> {
    let begin = b"HTTP/1.";
    if *scanned < begin.len() && !begin.starts_with(&input[..input.len().min(begin.len())]) {
        return Err("not HTTP/1");
    }
    while let Some(at) = memchr::memchr(b'\n', &input[*scanned..]).map(|at| *scanned + at) {
        *scanned = at + 1;
        if at >= HEAD_MAX_BYTES {
            return Err("head too large");
        }
        match &input[..at] {
            [.., b'\r', b'\n', b'\r'] => return Ok(Some(at + 1)),
            [.., b'\r'] => {}
            _ => return Err("bare LF"),
        }
    }
    *scanned = input.len();
    if input.len() > HEAD_MAX_BYTES { Err("head too large") } else { Ok(None) }
}

/// Parses a whole head, the empty line included. `to_head`: of a request whose answer has no body.
pub(in crate::dataplane::l7) fn parse(head: &[u8], to_head: bool, fields: &mut Vec<Field>) -> Result<Answer, Why> {
    fields.clear();
    let line_end = memchr::memchr(b'\n', head).unwrap_or(head.len());
    let (minor, status, reason) = status_line(&head[..line_end.saturating_sub(1)])?;
    let (mut content_length, mut chunked, mut connection) = (None, false, Options::default());
    let mut at = line_end + 1;
    while let Some(end) = head.get(at..).and_then(|rest| memchr::memchr(b'\n', rest)).map(|length| at + length) {
        let line = &head[at..end.saturating_sub(1).max(at)];
        if line.is_empty() {
            break;
        }
        if fields.len() == FIELDS_MAX {
            return Err("too many fields");
        }
        let field = Field::parse(line, at).map_err(|refusal| refusal.why)?;
        let value = field.value.of(head);
        match field.kind {
            Kind::ContentLength if content_length.is_some() => return Err("Content-Length twice"),
            Kind::ContentLength => content_length = Some(length(value).ok_or("malformed Content-Length")?),
            Kind::TransferEncoding if chunked => return Err("Transfer-Encoding twice"),
            Kind::TransferEncoding if !value.eq_ignore_ascii_case(b"chunked") => {
                return Err("Transfer-Encoding other than chunked");
            }
            Kind::TransferEncoding => chunked = true,
            Kind::LooksLikeFraming => return Err("field that looks like framing"),
            Kind::Connection => {
                let framing = ["content-length", "transfer-encoding"];
                let names_framing = |named: &[u8]| framing.iter().any(|f| named.eq_ignore_ascii_case(f.as_bytes()));
                if names(value).any(names_framing) {
                    return Err("Connection names a field of the framing");
                }
                connection.note(value);
            }
            _ => {}
        }
        fields.push(field);
        at = end + 1;
    }
    if chunked && (content_length.is_some() || minor == 0) {
        return Err("Transfer-Encoding with Content-Length, or on HTTP/1.0");
    }
    let bodiless = status < 200 || matches!(status, 204 | 304);
    let framing = match (content_length, chunked) {
        _ if bodiless || to_head => Framing::None,
        (_, true) => Framing::Chunked,
        (Some(length), false) => Framing::Length(length),
        (None, false) => Framing::UntilEnd,
    };
    let doubtful = bodiless && (chunked || (status != 304 && content_length.is_some_and(|length| length > 0)));
    Ok(Answer { status, reason, minor, framing, connection, doubtful })
}

fn status_line(line: &[u8]) -> Result<(u8, u16, Span), Why> {
    let minor = match line.get(..9) {
        Some(b"HTTP/1.1 ") => 1,
        Some(b"HTTP/1.0 ") => 0,
        _ => return Err("malformed status line"),
    };
    let digits = line.get(9..12).filter(|digits| digits.iter().all(u8::is_ascii_digit)).ok_or("malformed status")?;
    let status = digits.iter().fold(0, |number, &digit| number * 10 + u16::from(digit - b'0'));
    let reason = match &line[12..] {
        // Many servers leave the space out with the reason.
        [] => Span::new(12, 12),
        [b' ', reason @ ..] if !has_control(reason) => Span::new(13, line.len()),
        _ => return Err("malformed reason"),
    };
    if status < 100 {
        return Err("malformed status");
    }
    Ok((minor, status, reason))
}

// === impl Answer ===

impl Answer {
    pub fn is_interim(&self) -> bool {
        self.status < 200
    }

    /// Whether the connection may carry another request once this answer is read.
    pub fn keeps_connection(&self) -> bool {
        self.minor == 1 && !self.connection.close && !self.doubtful && self.framing != Framing::UntilEnd
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(head: &str, to_head: bool) -> Result<Answer, Why> {
        let mut scanned = 0;
        for cut in 0..head.len() {
            if let Some(end) = end(&head.as_bytes()[..cut], &mut scanned)? {
                panic!("an end at {end} of {cut}");
            }
        }
        assert_eq!(end(head.as_bytes(), &mut scanned)?, Some(head.len()));
        parse(head.as_bytes(), to_head, &mut Vec::new())
    }

    #[test]
    fn an_answer_that_could_be_read_in_two_ways_is_none() {
        let with = |fields: &str| format!("HTTP/1.1 200 OK\r\n{fields}\r\n");
        let long = with(&format!("A: {}\r\n", "a".repeat(70_000)));
        for bad in [
            "nonsense\r\n\r\n".to_owned(),
            "SSH-2.0-OpenSSH\r\n".into(),
            "HTTP/2 200 OK\r\n\r\n".into(),
            "HTTP/1.2 200 OK\r\n\r\n".into(),
            "HTTP/1.1 20 OK\r\n\r\n".into(),
            "HTTP/1.1 2000 OK\r\n\r\n".into(),
            "HTTP/1.1 099 OK\r\n\r\n".into(),
            "HTTP/1.1  200 OK\r\n\r\n".into(),
            "HTTP/1.1 200 O\x01K\r\n\r\n".into(),
            "HTTP/1.1 200 OK\n\n".into(),
            "HTTP/1.1 200 OK\r\nA: b\n\r\n".into(),
            "HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n".into(),
            with("Content-Length: 1\r\nTransfer-Encoding: chunked\r\n"),
            with("Transfer-Encoding: chunked\r\nContent-Length: 1\r\n"),
            with("Content-Length: 1\r\nContent-Length: 1\r\n"),
            with("Content-Length: 1, 1\r\n"),
            with("Content-Length: -1\r\n"),
            with("Content-Length: x\r\n"),
            with("Content-Length:\r\n"),
            with("Content_Length: 1\r\n"),
            with("Transfer-Encoding: gzip, chunked\r\n"),
            with("Transfer-Encoding: identity\r\n"),
            with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
            "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".into(),
            with("Connection: content-length\r\nContent-Length: 1\r\n"),
            with("A : b\r\n"),
            with("A: b\r\n c\r\n"),
            with("nope\r\n"),
            with("A: b\0\r\n"),
            with(&"A: b\r\n".repeat(201)),
            long,
        ] {
            assert!(read(&bad, false).is_err(), "{:?}", &bad[..bad.len().min(80)]);
        }
    }

    #[test]
    fn where_a_body_ends_depends_on_the_status_and_on_what_was_asked() {
        let framing = |head: &str, to_head| read(head, to_head).map(|a| (a.framing, a.keeps_connection()));
        let length = "HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n";
        assert_eq!(framing(length, false), Ok((Framing::Length(7), true)));
        assert_eq!(framing(length, true), Ok((Framing::None, true)));
        let chunked = "HTTP/1.1 200\r\ntransfer-encoding: Chunked\r\n\r\n";
        assert_eq!(framing(chunked, false), Ok((Framing::Chunked, true)));
        assert_eq!(framing(chunked, true), Ok((Framing::None, true)));
        assert_eq!(framing("HTTP/1.1 200 OK\r\n\r\n", false), Ok((Framing::UntilEnd, false)));
        assert_eq!(framing("HTTP/1.1 200 OK\r\n\r\n", true), Ok((Framing::None, true)));
        assert_eq!(framing("HTTP/1.0 200 OK\r\nContent-Length: 7\r\n\r\n", false), Ok((Framing::Length(7), false)));
        let closing = "HTTP/1.1 200 OK\r\nConnection: x, Close\r\nContent-Length: 7\r\n\r\n";
        assert_eq!(framing(closing, false), Ok((Framing::Length(7), false)));
        for (status, keeps) in [(100, false), (103, false), (204, false), (304, true)] {
            let head = format!("HTTP/1.1 {status} \r\nContent-Length: 7\r\n\r\n");
            assert_eq!(framing(&head, false), Ok((Framing::None, keeps)), "{status}");
            let plain = format!("HTTP/1.1 {status} \r\n\r\n");
            assert_eq!(framing(&plain, false), Ok((Framing::None, true)), "{status}");
        }
    }

    proptest! {
        #[test]
        fn raw_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200), fields in "[ -~\r\n:]{0,80}") {
            let mut scanned = 0;
            let _ = end(&bytes, &mut scanned);
            let _ = parse(&bytes, false, &mut Vec::new());
            let head = format!("HTTP/1.1 200 OK\r\n{fields}\r\n\r\n");
            let mut scanned = 0;
            if let Ok(Some(end)) = end(head.as_bytes(), &mut scanned) {
                let _ = parse(&head.as_bytes()[..end], false, &mut Vec::new());
            }
        }
    }
}
