//! What was sent of a request that goes out as it comes, kept for as long as it may have to be sent again.
//!
//! A request that stands in the client's input as a whole stays there until its answer has begun. Any other is gone from
//! the input as it goes out, and is copied here: its head, and, where its method may be repeated, up to 64 KiB of its
//! body. When the try fails, what is kept goes back to where it came from, in front of what has come since, and the next
//! try finds the request as if nothing had been sent. A body that turns out to be longer is no longer kept.

use super::body::Body;
use super::buffer::Buffer;
use super::client::Client;
use super::request::Request;

/// Bytes of a body that are kept at most, the framing of chunks included.
pub(super) const BODY_MAX_BYTES: usize = 64 * 1024;

#[derive(Debug)]
pub(super) struct Kept {
    /// As it came from the client.
    bytes: Vec<u8>,
    /// More is not kept.
    most: usize,
}

// === impl Kept ===

impl Kept {
    /// Of a request whose head is about to leave the input. Without its body it is good for a connection that takes
    /// nothing at all.
    pub fn new(request: &Request, input: &[u8]) -> Kept {
        let body = if request.fits() && request.idempotent { BODY_MAX_BYTES } else { 0 };
        Kept { bytes: input[..request.length].to_vec(), most: request.length + body }
    }

    /// `input` is about to be looked through for bytes of the body, which may change it.
    pub fn put(&mut self, input: &Buffer) {
        self.bytes.extend_from_slice(input.data());
    }

    /// It was, and the body has taken a part of it. False where that is more than is kept.
    pub fn took(&mut self, body: &Body, input: &Buffer) -> bool {
        let unread = input.len() - body.held();
        self.bytes.truncate(self.bytes.len() - unread);
        self.bytes.len() <= self.most
    }

    /// Makes it the beginning of the input again; `body` is as the failed try leaves it.
    pub fn put_back<S>(self, body: &Body, request: &mut Request, client: &mut Client<S>) {
        client.consume(body.held());
        let mut input = Buffer::new();
        input.put(&self.bytes);
        input.put(client.input());
        client.input = Some(input);
        request.gone = false;
    }
}
