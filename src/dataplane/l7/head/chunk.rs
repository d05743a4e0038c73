//! A chunked body, read strictly and written anew.

use std::fmt::Write as _;

use bytes::{Buf, BytesMut};

use super::{Refusal, field_line, refuse};

/// Bytes of a line with a chunk size at most, extension included.
const SIZE_LINE_MAX_BYTES: usize = 1024;
/// Bytes of all trailer lines together at most.
const TRAILERS_MAX_BYTES: usize = 8 * 1024;

/// Where in the body the reader stands.
#[derive(Debug)]
pub(super) enum Chunks {
    /// In the line with the size of the next chunk.
    Size,
    Data(u64),
    /// After the data: CR LF.
    DataEnd,
    /// After the last chunk. Bytes of trailers so far.
    Trailers(usize),
}

// === impl Chunks ===

impl Chunks {
    pub fn new() -> Chunks {
        Chunks::Size
    }

    /// Moves what may pass. True at the end of the body.
    pub fn feed(&mut self, input: &mut BytesMut, out: &mut BytesMut) -> Result<bool, Refusal> {
        loop {
            match self {
                Chunks::Size => {
                    let Some(line) = take_line(input, SIZE_LINE_MAX_BYTES, "chunk size line too long")? else {
                        return Ok(false);
                    };
                    let size = size(&line)?;
                    *self = if size == 0 { Chunks::Trailers(0) } else { Chunks::Data(size) };
                    if size > 0 {
                        write!(out, "{size:x}\r\n").expect("writing to memory");
                    }
                }
                Chunks::Data(left) => {
                    let passes = input.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    out.extend_from_slice(&input[..passes]);
                    input.advance(passes);
                    *left -= passes as u64;
                    if *left > 0 {
                        return Ok(false);
                    }
                    *self = Chunks::DataEnd;
                }
                Chunks::DataEnd => {
                    let expected = &b"\r\n"[..input.len().min(2)];
                    if !input.starts_with(expected) {
                        return refuse(400, "chunk longer than its size");
                    }
                    if expected.len() < 2 {
                        return Ok(false);
                    }
                    input.advance(2);
                    out.extend_from_slice(b"\r\n");
                    *self = Chunks::Size;
                }
                Chunks::Trailers(seen) => {
                    let Some(line) = take_line(input, TRAILERS_MAX_BYTES - *seen, "trailers too large")? else {
                        return Ok(false);
                    };
                    if line.is_empty() {
                        out.extend_from_slice(b"0\r\n\r\n");
                        return Ok(true);
                    }
                    *seen = (*seen + line.len() + 2).min(TRAILERS_MAX_BYTES);
                    // Valid ones are dropped, as the engine behind does not pass them on.
                    field_line(&line)?;
                }
            }
        }
    }
}

/// One line without its CR LF; `None` where its end has not come yet.
fn take_line(input: &mut BytesMut, most: usize, too_long: &'static str) -> Result<Option<BytesMut>, Refusal> {
    let Some(end) = input.iter().position(|&b| b == b'\n') else {
        return if input.len() > most { refuse(400, too_long) } else { Ok(None) };
    };
    if end > most {
        return refuse(400, too_long);
    }
    let mut line = input.split_to(end + 1);
    if !line.ends_with(b"\r\n") {
        return refuse(400, "bare LF in a chunked body");
    }
    line.truncate(end - 1);
    if line.iter().any(|&b| (b < 0x20 && b != b'\t') || b == 0x7f) {
        return refuse(400, "control byte in a chunked body");
    }
    Ok(Some(line))
}

/// 1*HEXDIG, then optionally `;` and an extension. No sign, no `0x`, no space before the end.
fn size(line: &[u8]) -> Result<u64, Refusal> {
    let digits = line.split(|&b| b == b';').next().unwrap_or_default();
    let sane = (1..=15).contains(&digits.len()) && digits.iter().all(u8::is_ascii_hexdigit);
    match std::str::from_utf8(digits).ok().filter(|_| sane).and_then(|text| u64::from_str_radix(text, 16).ok()) {
        Some(size) => Ok(size),
        None => refuse(400, "malformed chunk size"),
    }
}
