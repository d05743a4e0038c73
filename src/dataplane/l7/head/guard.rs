//! Lets a connection's bytes through, one valid message at a time.

use bytes::BytesMut;

use super::chunk::Chunks;
use super::{Framing, HEAD_MAX_BYTES, Refusal, TARGET_MAX_BYTES, parse, refuse, request_line};

/// Where in the stream of requests a connection stands.
///
/// | from | event | to |
/// |---|---|---|
/// | Head | a valid head without a body | Done |
/// | Head | a valid head with a body | Length or Chunks |
/// | Length, Chunks | the last byte of the body | Done |
/// | Done | the answer is written ([`Guard::next`]) | Head |
/// | Done | the answer is 101 ([`Guard::tunnel`]) | Tunnel |
///
/// While Done nothing passes: a request that was sent early waits for its turn.
#[derive(Debug)]
pub struct Guard {
    state: State,
}

#[derive(Debug)]
enum State {
    Head { scanned: usize, line_checked: bool },
    Length(u64),
    Chunks(Chunks),
    Done,
    Tunnel,
}

// === impl Guard ===

impl Guard {
    pub fn new() -> Guard {
        Guard { state: State::Head { scanned: 0, line_checked: false } }
    }

    /// Moves what may pass now from `input` to `out`. What stays in `input` needs more bytes or its turn. After a
    /// refusal the connection is of no use.
    pub fn feed(&mut self, input: &mut BytesMut, out: &mut BytesMut) -> Result<(), Refusal> {
        loop {
            match &mut self.state {
                State::Head { scanned, line_checked } => {
                    let Some(end) = scan(input, scanned, line_checked)? else { return Ok(()) };
                    self.pass_head(input.split_to(end), out)?;
                }
                State::Length(left) => {
                    let passes = input.len().min(usize::try_from(*left).unwrap_or(usize::MAX));
                    out.unsplit(input.split_to(passes));
                    *left -= passes as u64;
                    if *left > 0 {
                        return Ok(());
                    }
                    self.state = State::Done;
                }
                State::Chunks(chunks) => {
                    if !chunks.feed(input, out)? {
                        return Ok(());
                    }
                    self.state = State::Done;
                }
                State::Done => return Ok(()),
                State::Tunnel => {
                    out.unsplit(input.split());
                    return Ok(());
                }
            }
        }
    }

    /// The answer is written: the next request may pass.
    pub fn next(&mut self) {
        self.state = State::Head { scanned: 0, line_checked: false };
    }

    /// The connection speaks something else from now on.
    pub fn tunnel(&mut self) {
        self.state = State::Tunnel;
    }

    /// `taken` bytes of a body of known length went past the guard, straight to the engine.
    pub fn took(&mut self, taken: usize) {
        if let State::Length(left) = &mut self.state {
            *left -= taken as u64;
            if *left == 0 {
                self.state = State::Done;
            }
        }
    }

    /// Between two requests, or before the end of a head.
    pub fn at_head(&self) -> bool {
        matches!(self.state, State::Head { .. })
    }

    /// The whole request has passed.
    pub fn is_done(&self) -> bool {
        matches!(self.state, State::Done)
    }

    pub fn is_tunnel(&self) -> bool {
        matches!(self.state, State::Tunnel)
    }

    /// Bytes of a body of known length that are still to come.
    pub fn length_left(&self) -> Option<u64> {
        match self.state {
            State::Length(left) => Some(left),
            _ => None,
        }
    }

    fn pass_head(&mut self, head: BytesMut, out: &mut BytesMut) -> Result<(), Refusal> {
        let parsed = parse(&head)?;
        match parsed.origin_form {
            None => out.unsplit(head),
            Some(target) => {
                let line_end = head.iter().position(|&b| b == b'\n').map_or(head.len(), |at| at + 1);
                let line = &head[..line_end];
                let method_end = line.iter().position(|&b| b == b' ').unwrap_or(0);
                let version_at = line.iter().rposition(|&b| b == b' ').unwrap_or(0);
                out.extend_from_slice(&line[..=method_end]);
                out.extend_from_slice(target.as_bytes());
                out.extend_from_slice(&line[version_at..]);
                out.extend_from_slice(&head[line_end..]);
            }
        }
        self.state = match parsed.framing {
            Framing::None => State::Done,
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::Chunks(Chunks::new()),
        };
        Ok(())
    }
}

impl Default for Guard {
    fn default() -> Guard {
        Guard::new()
    }
}

/// Looks for the end of the head, each byte once. Refuses as early as a byte allows, so that a peer that will never
/// send a proper end is not waited for.
fn scan(input: &BytesMut, scanned: &mut usize, line_checked: &mut bool) -> Result<Option<usize>, Refusal> {
    while let Some(&byte) = input.get(*scanned) {
        let at = *scanned;
        *scanned += 1;
        if at >= HEAD_MAX_BYTES {
            return refuse(431, "head too large");
        }
        let after_cr = at > 0 && input[at - 1] == b'\r';
        match byte {
            b'\n' if !after_cr => return refuse(400, "bare LF"),
            b'\n' if at == 1 => return refuse(400, "empty line before the request"),
            b'\n' => {
                if !*line_checked {
                    request_line(&input[..at - 1])?;
                    *line_checked = true;
                }
                if input[..at].ends_with(b"\r\n\r") {
                    return Ok(Some(at + 1));
                }
            }
            _ if after_cr => return refuse(400, "bare CR"),
            b'\r' => {}
            b'\t' if *line_checked => {}
            0..0x20 | 0x7f => return refuse(400, "control byte"),
            _ => {}
        }
        if !*line_checked && at > TARGET_MAX_BYTES + 64 {
            return refuse(414, "request target too long");
        }
    }
    Ok(None)
}
