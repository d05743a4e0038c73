//! Lets a connection's bytes through, one valid message at a time.

use bytes::{Buf, BytesMut};

use super::chunk::{Chunks, Form};
use super::scan::Scan;
use super::{Field, Framing, Refusal, parse};

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
    fields: Vec<Field>,
}

#[derive(Debug)]
enum State {
    Head(Scan),
    Length(u64),
    Chunks(Chunks),
    Done,
    Tunnel,
}

// === impl Guard ===

impl Guard {
    pub fn new() -> Guard {
        Guard { state: State::Head(Scan::default()), fields: Vec::new() }
    }

    /// Moves what may pass now from `input` to `out`. What stays in `input` needs more bytes or its turn. After a
    /// refusal the connection is of no use.
    pub fn feed(&mut self, input: &mut BytesMut, out: &mut BytesMut) -> Result<(), Refusal> {
        loop {
            match &mut self.state {
                State::Head(scan) => {
                    if scan.is_blank_before(input) {
                        input.advance(2);
                    }
                    let Some(end) = scan.end(input)? else { return Ok(()) };
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
                    let walked = chunks.walk(input)?;
                    let mut passed = input.split_to(walked.taken);
                    passed.truncate(walked.passed);
                    out.unsplit(passed);
                    if !walked.done {
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
        self.state = State::Head(Scan::default());
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
        matches!(self.state, State::Head(_))
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
        let parsed = parse(&head, &mut self.fields)?;
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
            Framing::Chunked => State::Chunks(Chunks::new(Form::Chunks)),
        };
        Ok(())
    }
}

impl Default for Guard {
    fn default() -> Guard {
        Guard::new()
    }
}
