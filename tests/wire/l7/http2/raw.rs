//! HTTP/2 frame by frame, for what a proper client never sends.

use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::world::{PATIENT, connect};

pub const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub const DATA: u8 = 0;
pub const HEADERS: u8 = 1;
pub const PRIORITY: u8 = 2;
pub const RST_STREAM: u8 = 3;
pub const SETTINGS: u8 = 4;
pub const PUSH_PROMISE: u8 = 5;
pub const PING: u8 = 6;
pub const GOAWAY: u8 = 7;
pub const WINDOW_UPDATE: u8 = 8;
pub const CONTINUATION: u8 = 9;

pub const END_STREAM: u8 = 1;
pub const ACK: u8 = 1;
pub const END_HEADERS: u8 = 4;
pub const PADDED: u8 = 8;
pub const WITH_PRIORITY: u8 = 0x20;

pub const GET: &[(&str, &str)] = &[(":method", "GET"), (":scheme", "http"), (":authority", "t.test"), (":path", "/")];
pub const POST: &[(&str, &str)] = &[(":method", "POST"), (":scheme", "http"), (":authority", "t.test"), (":path", "/")];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: u8,
    pub flags: u8,
    pub stream: u32,
    pub payload: Vec<u8>,
}

/// How the other side took what was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// RST_STREAM with this code.
    Reset(u32),
    /// GOAWAY with this code.
    GoAway(u32),
    /// The connection ended without a GOAWAY.
    Closed,
    /// Status of an answer.
    Status(u16),
    /// PING with ACK.
    Pong,
}

pub struct Raw {
    stream: TcpStream,
}

// === impl Raw ===

impl Raw {
    /// Says nothing yet.
    pub async fn silent(to: SocketAddr) -> Raw {
        Raw { stream: connect(to).await }
    }

    /// Preface and empty SETTINGS sent.
    pub async fn connect(to: SocketAddr) -> Raw {
        let mut raw = Raw::silent(to).await;
        raw.send(PREFACE).await;
        raw.frame(SETTINGS, 0, 0, &[]).await;
        raw
    }

    /// The other side may have closed already: what it said tells.
    pub async fn send(&mut self, bytes: &[u8]) {
        let _ = self.stream.write_all(bytes).await;
    }

    pub async fn frame(&mut self, kind: u8, flags: u8, stream: u32, payload: &[u8]) {
        self.send(&frame(kind, flags, stream, payload)).await;
    }

    /// A whole head.
    pub async fn headers(&mut self, stream: u32, ends: bool, fields: &[(&str, &str)]) {
        let flags = END_HEADERS | if ends { END_STREAM } else { 0 };
        self.frame(HEADERS, flags, stream, &block(fields)).await;
    }

    /// The next frame; `None` at the end of the connection.
    pub async fn next(&mut self) -> Option<Frame> {
        let read = async {
            let mut head = [0; 9];
            self.stream.read_exact(&mut head).await.ok()?;
            let length = usize::from(head[0]) << 16 | usize::from(head[1]) << 8 | usize::from(head[2]);
            let mut payload = vec![0; length];
            self.stream.read_exact(&mut payload).await.ok()?;
            let stream = u32::from_be_bytes([head[5] & 0x7f, head[6], head[7], head[8]]);
            Some(Frame { kind: head[3], flags: head[4], stream, payload })
        };
        tokio::time::timeout(PATIENT, read).await.expect("neither a frame nor an end")
    }

    /// What becomes of `stream` (0: of the connection).
    pub async fn outcome(&mut self, stream: u32) -> Seen {
        while let Some(frame) = self.next().await {
            match frame.kind {
                GOAWAY => return Seen::GoAway(code(&frame.payload[4..])),
                RST_STREAM if frame.stream == stream => return Seen::Reset(code(&frame.payload)),
                HEADERS if frame.stream == stream => return Seen::Status(status(&frame.payload)),
                PING if frame.flags & ACK != 0 && stream == 0 => return Seen::Pong,
                _ => {}
            }
        }
        Seen::Closed
    }

    pub async fn status(&mut self, stream: u32) -> u16 {
        match self.outcome(stream).await {
            Seen::Status(status) => status,
            other => panic!("no answer: {other:?}"),
        }
    }
}

pub fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// A header block: literals without indexing, without Huffman (RFC 7541 §6.2.2).
pub fn block(fields: &[(&str, &str)]) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        block.push(0);
        for text in [name, value] {
            number(&mut block, text.len());
            block.extend_from_slice(text.as_bytes());
        }
    }
    block
}

/// An integer with a prefix of seven bits (RFC 7541 §5.1).
fn number(block: &mut Vec<u8>, mut n: usize) {
    if n < 127 {
        return block.push(u8::try_from(n).unwrap());
    }
    block.push(127);
    n -= 127;
    while n >= 128 {
        block.push(u8::try_from(n % 128).unwrap() | 128);
        n /= 128;
    }
    block.push(u8::try_from(n).unwrap());
}

pub fn code(payload: &[u8]) -> u32 {
    u32::from_be_bytes(payload[..4].try_into().unwrap())
}

/// The status in a header block that begins with it, as every answer does.
pub fn status(block: &[u8]) -> u16 {
    match block[0] {
        0x88 => 200,
        0x89 => 204,
        0x8a => 206,
        0x8b => 304,
        0x8c => 400,
        0x8d => 404,
        0x8e => 500,
        // A dynamic table of size 0 would be said first.
        0x20..=0x3f => status(&block[1..]),
        // An index above the static table: said before on this connection, in order of age.
        _ => literal_status(block),
    }
}

/// `:status` by name index 8, value literal, Huffman or not.
fn literal_status(block: &[u8]) -> u16 {
    let value = &block[1..];
    let length = usize::from(value[0] & 0x7f);
    let bytes = &value[1..=length];
    if value[0] & 0x80 == 0 {
        return std::str::from_utf8(bytes).unwrap().parse().unwrap();
    }
    huffman_digits(bytes)
}

/// Digits as HPACK's Huffman code has them: 0, 1, 2 in five bits, the others in six.
fn huffman_digits(bytes: &[u8]) -> u16 {
    let bits: Vec<u8> = bytes.iter().flat_map(|b| (0..8).rev().map(move |n| b >> n & 1)).collect();
    let (mut at, mut number) = (0, 0);
    for _ in 0..3 {
        let take = |n: usize| bits[at..at + n].iter().fold(0u16, |value, bit| value << 1 | u16::from(*bit));
        let five = take(5);
        let (digit, used) = if five < 3 { (five, 5) } else { (take(6) - 0x19 + 3, 6) };
        number = number * 10 + digit;
        at += used;
    }
    number
}
