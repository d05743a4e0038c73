//! Finding the end of a head in bytes that come bit by bit.

use super::field::has_control;
use super::{HEAD_MAX_BYTES, Refusal, TARGET_MAX_BYTES, refuse, request_line};

/// How far a head was looked at. Each byte is looked at once, and refused as early as it allows, so that a peer that will
/// never send a proper end is not waited for.
#[derive(Debug, Default)]
pub(in crate::dataplane::l7) struct Scan {
    /// An empty line stood before the request.
    blank_before: bool,
    scanned: usize,
    line_checked: bool,
}

// === impl Scan ===

impl Scan {
    /// Whether `input` begins with an empty line before the request, which some clients send behind a body. The caller
    /// takes it off before it asks for the [`end`](Self::end). One is allowed (RFC 9112 §2.2).
    pub fn is_blank_before(&mut self, input: &[u8]) -> bool {
        let is_blank = !self.blank_before && !self.line_checked && input.starts_with(b"\r\n");
        if is_blank {
            *self = Scan { blank_before: true, ..Scan::default() };
        }
        is_blank
    }

    /// Where the head at the beginning of `input` ends. `input` is what it was at the last call, and more.
    pub fn end(&mut self, input: &[u8]) -> Result<Option<usize>, Refusal> {
        while self.scanned < input.len() {
            let line_feed = memchr::memchr(b'\n', &input[self.scanned..]).map(|at| self.scanned + at);
            let (limit, over) = if self.line_checked {
                (HEAD_MAX_BYTES, Refusal { status: 431, why: "head too large" })
            } else {
                (TARGET_MAX_BYTES + 64, Refusal { status: 414, why: "request target too long" })
            };
            let to = line_feed.unwrap_or(input.len());
            self.check(input, to.min(limit), line_feed)?;
            if to > limit {
                return Err(over);
            }
            self.scanned = to;
            let Some(at) = line_feed else { return Ok(None) };
            self.scanned += 1;
            match &input[..at] {
                [b'\r'] => return refuse(400, "empty lines before the request"),
                [.., b'\r', b'\n', b'\r'] => return Ok(Some(at + 1)),
                [line @ .., b'\r'] if !self.line_checked => {
                    request_line(line)?;
                    self.line_checked = true;
                }
                [.., b'\r'] => {}
                _ => return refuse(400, "bare LF"),
            }
        }
        Ok(None)
    }

    /// Looks at a piece of a line, up to `to`; `line_feed` is where the line ends.
    fn check(&self, input: &[u8], to: usize, line_feed: Option<usize>) -> Result<(), Refusal> {
        let before = self.scanned.checked_sub(1).map(|at| input[at]);
        if before == Some(b'\r') && line_feed != Some(self.scanned) {
            return refuse(400, "bare CR");
        }
        let piece = input.get(self.scanned..to).unwrap_or_default();
        // A CR at the end is one of the line's end, or what follows will tell.
        let piece = piece.strip_suffix(b"\r").unwrap_or(piece);
        let tab = !self.line_checked && piece.contains(&b'\t');
        match has_control(piece) || tab {
            false => Ok(()),
            true if piece.contains(&b'\r') => refuse(400, "bare CR"),
            true => refuse(400, "control byte"),
        }
    }
}
