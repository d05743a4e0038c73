//! A chunked body, read strictly and written anew in the place where it stands: what is written is never longer than what
//! was read, and where nothing is to be left out nothing is moved.

use super::field::{has_control, parts, token_length};
use super::trailer::may_trail;
use super::{Refusal, length_of_hex, refuse};

/// Bytes of a line with a chunk size at most, extension included.
const SIZE_LINE_MAX_BYTES: usize = 1024;
/// Bytes of all trailer lines together at most.
const TRAILERS_MAX_BYTES: usize = 8 * 1024;

/// A reader of one body.
#[derive(Debug)]
pub(in crate::dataplane::l7) struct Chunks {
    form: Form,
    at: At,
}

/// What is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::dataplane::l7) enum Form {
    /// Chunks without extensions and trailers.
    Chunks,
    /// Chunks without extensions, and the trailers.
    ChunksAndTrailers,
    /// The data alone.
    Data,
}

/// Where in the body the reader stands.
#[derive(Debug)]
enum At {
    /// In the line with the size of the next chunk.
    Size,
    Data(u64),
    /// After the data: CR LF.
    DataEnd,
    /// After the last chunk. Bytes of trailers so far.
    Trailers(usize),
    End,
}

/// What a walk did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::dataplane::l7) struct Walked {
    /// Bytes read.
    pub taken: usize,
    /// Bytes written, at the beginning of the buffer.
    pub passed: usize,
    /// Bytes of data among them.
    pub data: u64,
    /// The body is at its end; what follows in the buffer is not of it.
    pub done: bool,
}

// === impl Chunks ===

impl Chunks {
    pub fn new(form: Form) -> Chunks {
        Chunks { form, at: At::Size }
    }

    /// Reads as much as is there. What is left unread (behind `taken`) needs more bytes.
    pub fn walk(&mut self, buf: &mut [u8]) -> Result<Walked, Refusal> {
        let mut walked = Walked::default();
        while self.step(buf, &mut walked)? {}
        walked.done = matches!(self.at, At::End);
        Ok(walked)
    }

    /// False where no further step can be taken.
    fn step(&mut self, buf: &mut [u8], walked: &mut Walked) -> Result<bool, Refusal> {
        match &mut self.at {
            At::Size => {
                let rest = &buf[walked.taken..];
                let Some(line) = line(rest, SIZE_LINE_MAX_BYTES, "chunk size line too long")? else {
                    return Ok(false);
                };
                let size = size(&rest[..line])?;
                walked.taken += line + 2;
                if self.form != Form::Data {
                    write_size(buf, &mut walked.passed, size);
                }
                self.at = if size == 0 { At::Trailers(0) } else { At::Data(size) };
            }
            At::Data(left) => {
                let here = (buf.len() - walked.taken).min(usize::try_from(*left).unwrap_or(usize::MAX));
                shift(buf, walked, here);
                walked.data += here as u64;
                *left -= here as u64;
                if *left > 0 {
                    return Ok(false);
                }
                self.at = At::DataEnd;
            }
            At::DataEnd => {
                let rest = &buf[walked.taken..];
                if !b"\r\n".starts_with(&rest[..rest.len().min(2)]) {
                    return refuse(400, "chunk longer than its size");
                }
                if rest.len() < 2 {
                    return Ok(false);
                }
                if self.form == Form::Data {
                    walked.taken += 2;
                } else {
                    shift(buf, walked, 2);
                }
                self.at = At::Size;
            }
            At::Trailers(seen) => {
                let rest = &buf[walked.taken..];
                let Some(line) = line(rest, TRAILERS_MAX_BYTES - *seen, "trailers too large")? else {
                    return Ok(false);
                };
                *seen = (*seen + line + 2).min(TRAILERS_MAX_BYTES);
                let passes = match line {
                    0 => self.form != Form::Data,
                    _ => may_trail(field_name(&rest[..line])?) && self.form == Form::ChunksAndTrailers,
                };
                if line == 0 {
                    self.at = At::End;
                }
                if passes {
                    shift(buf, walked, line + 2);
                } else {
                    walked.taken += line + 2;
                }
            }
            At::End => return Ok(false),
        }
        Ok(true)
    }
}

/// Passes the next `count` bytes on as they are.
fn shift(buf: &mut [u8], walked: &mut Walked, count: usize) {
    if walked.passed != walked.taken {
        buf.copy_within(walked.taken..walked.taken + count, walked.passed);
    }
    walked.passed += count;
    walked.taken += count;
}

/// Writes the line of a chunk's size: not longer than the one that was read.
fn write_size(buf: &mut [u8], passed: &mut usize, size: u64) {
    let digits = (64 - size.leading_zeros()).div_ceil(4).max(1);
    for place in (0..digits).rev() {
        buf[*passed] = b"0123456789abcdef"[(size >> (4 * place) & 15) as usize];
        *passed += 1;
    }
    buf[*passed..*passed + 2].copy_from_slice(b"\r\n");
    *passed += 2;
}

/// The length of a line without its CR LF; `None` where its end has not come yet.
fn line(rest: &[u8], most: usize, too_long: &'static str) -> Result<Option<usize>, Refusal> {
    let Some(end) = memchr::memchr(b'\n', rest) else {
        return if rest.len() > most { refuse(400, too_long) } else { Ok(None) };
    };
    if end > most {
        return refuse(400, too_long);
    }
    let Some(line) = rest[..end].strip_suffix(b"\r") else { return refuse(400, "bare LF in a chunked body") };
    if has_control(line) {
        return refuse(400, "control byte in a chunked body");
    }
    Ok(Some(line.len()))
}

/// 1*HEXDIG, then extensions, which mean nothing here. No sign, no `0x`, no space before the end.
fn size(line: &[u8]) -> Result<u64, Refusal> {
    let (digits, extensions) = line.split_at(memchr::memchr(b';', line).unwrap_or(line.len()));
    match length_of_hex(digits) {
        None => refuse(400, "malformed chunk size"),
        Some(_) if !are_extensions(extensions) => refuse(400, "malformed chunk extension"),
        Some(size) => Ok(size),
    }
}

/// `*( ";" name [ "=" ( token / quoted-string ) ] )`, with white space where RFC 9112 §7.1.1 allows it. A quotation that
/// does not end in its line could be read on into the data by somebody else.
fn are_extensions(mut rest: &[u8]) -> bool {
    while let [b';', name @ ..] = rest {
        let name = name.trim_ascii_start();
        let length = token_length(name);
        if length == 0 {
            return false;
        }
        rest = &name[length..];
        if let [b'=', value @ ..] = rest.trim_ascii_start() {
            let value = value.trim_ascii_start();
            let length = quotation_length(value).unwrap_or_else(|| token_length(value));
            if length == 0 {
                return false;
            }
            rest = &value[length..];
        }
        if rest.trim_ascii_start().starts_with(b";") {
            rest = rest.trim_ascii_start();
        }
    }
    rest.is_empty()
}

/// Of a quoted string at the beginning, its quotation marks included.
fn quotation_length(text: &[u8]) -> Option<usize> {
    let mut at = 1;
    text.first().filter(|&&first| first == b'"')?;
    loop {
        match text.get(at)? {
            b'"' => return Some(at + 1),
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

/// Of a valid line of trailers.
fn field_name(line: &[u8]) -> Result<&[u8], Refusal> {
    parts(line).map(|(name, _)| &line[..name])
}
