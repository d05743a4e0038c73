//! A body on its way from one buffer to a socket: which of the bytes that were read are of it, and may go on.

use super::buffer::Buffer;
use crate::dataplane::l7::head::Refusal;
use crate::dataplane::l7::head::chunk::{Chunks, Form};

/// One body. Bytes become ready to be written at the front of the buffer; what is behind them is unread.
#[derive(Debug)]
pub(super) struct Body {
    rest: Rest,
    /// Bytes at the front of the buffer that may be written.
    ready: usize,
    /// Bytes behind them that are to be left out.
    gap: usize,
}

/// What is still to come.
#[derive(Debug)]
enum Rest {
    Nothing,
    Length(u64),
    Chunks(Chunks),
    /// Everything up to the end of the connection.
    UntilEnd,
}

// === impl Body ===

impl Body {
    pub fn none() -> Body {
        Body { rest: Rest::Nothing, ready: 0, gap: 0 }
    }

    pub fn length(length: u64) -> Body {
        Body { rest: if length == 0 { Rest::Nothing } else { Rest::Length(length) }, ready: 0, gap: 0 }
    }

    pub fn chunks(form: Form) -> Body {
        Body { rest: Rest::Chunks(Chunks::new(form)), ready: 0, gap: 0 }
    }

    pub fn until_end() -> Body {
        Body { rest: Rest::UntilEnd, ready: 0, gap: 0 }
    }

    /// Nothing of it is left, neither to be read nor to be written.
    pub fn is_over(&self) -> bool {
        self.ready == 0 && self.is_read()
    }

    /// Nothing of it is to be read any more.
    pub fn is_read(&self) -> bool {
        matches!(self.rest, Rest::Nothing)
    }

    pub fn has_ready(&self) -> bool {
        self.ready > 0
    }

    /// Bytes at the front of the buffer that were taken of it, and are not written.
    pub fn held(&self) -> usize {
        self.ready + self.gap
    }

    /// What may be written.
    pub fn ready<'a>(&self, buffer: &'a Buffer) -> &'a [u8] {
        &buffer.data()[..self.ready]
    }

    /// `count` of the ready bytes are written.
    pub fn wrote(&mut self, buffer: &mut Buffer, count: usize) {
        self.ready -= count;
        buffer.consume(count);
        if self.ready == 0 {
            buffer.consume(std::mem::take(&mut self.gap));
        }
    }

    /// Makes ready what can be; to be called while nothing is. Gives the bytes of data among it.
    pub fn take(&mut self, buffer: &mut Buffer) -> Result<u64, Refusal> {
        let there = buffer.len();
        match &mut self.rest {
            Rest::Nothing => Ok(0),
            Rest::UntilEnd => {
                self.ready = there;
                Ok(there as u64)
            }
            Rest::Length(left) => {
                self.ready = there.min(usize::try_from(*left).unwrap_or(usize::MAX));
                *left -= self.ready as u64;
                if *left == 0 {
                    self.rest = Rest::Nothing;
                }
                Ok(self.ready as u64)
            }
            Rest::Chunks(chunks) => {
                let walked = chunks.walk(buffer.data_mut())?;
                (self.ready, self.gap) = (walked.passed, walked.taken - walked.passed);
                if self.ready == 0 {
                    buffer.consume(std::mem::take(&mut self.gap));
                }
                if walked.done {
                    self.rest = Rest::Nothing;
                }
                Ok(walked.data)
            }
        }
    }

    /// The connection that it comes from has ended. False where that is not how it ends.
    pub fn end(&mut self) -> bool {
        let ends = matches!(self.rest, Rest::UntilEnd);
        self.rest = Rest::Nothing;
        ends
    }

    /// Whether more is to come than the usual buffer holds, as far as is known.
    pub fn is_bulk(&self) -> bool {
        match self.rest {
            Rest::Nothing => false,
            Rest::Length(left) => left > super::buffer::BUFFER_BYTES as u64,
            Rest::Chunks(_) | Rest::UntilEnd => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written of `input` that comes in pieces of `step` bytes, and what is left of it.
    fn through(mut body: Body, input: &[u8], step: usize) -> (Vec<u8>, Vec<u8>) {
        let (mut buffer, mut out) = (Buffer::new(), Vec::new());
        for piece in input.chunks(step) {
            buffer.put(piece);
            while !body.is_read() {
                body.take(&mut buffer).unwrap();
                if body.ready == 0 {
                    break;
                }
                // Written in two pieces.
                for _ in 0..2 {
                    let some = body.ready.div_ceil(2);
                    out.extend_from_slice(&body.ready(&buffer)[..some]);
                    body.wrote(&mut buffer, some);
                }
                while body.ready > 0 {
                    out.extend_from_slice(&body.ready(&buffer)[..1]);
                    body.wrote(&mut buffer, 1);
                }
            }
        }
        assert!(body.is_over());
        (out, buffer.data().to_vec())
    }

    #[test]
    fn a_body_ends_where_it_says_however_it_is_cut() {
        let chunked = b"5;a=b\r\nhello\r\n0003\r\nabc\r\n0;x\r\nX-T: 1\r\nHost: x\r\nSet-Cookie: a\r\n\r\nnext";
        for step in 1..chunked.len() {
            assert_eq!(through(Body::length(5), b"hellonext", step), (b"hello".to_vec(), b"next".to_vec()));
            let with = |form| through(Body::chunks(form), chunked, step);
            let next = || b"next".to_vec();
            assert_eq!(with(Form::Chunks), (b"5\r\nhello\r\n3\r\nabc\r\n0\r\n\r\n".to_vec(), next()));
            assert_eq!(with(Form::Data), (b"helloabc".to_vec(), next()));
            let trailers = b"5\r\nhello\r\n3\r\nabc\r\n0\r\nX-T: 1\r\n\r\n".to_vec();
            assert_eq!(with(Form::ChunksAndTrailers), (trailers, next()));
        }
        assert_eq!(through(Body::length(0), b"next", 4).0, b"");
    }
}
