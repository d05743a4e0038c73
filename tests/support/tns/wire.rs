//! How a session of Oracle's packs numbers, texts and packets.

use std::io::{Error, ErrorKind, Result};

/// Longest packet that is taken. Bytes.
const PACKET_MAX: usize = 1 << 20;
/// What is longer than this goes in pieces.
const PLAIN_MAX: usize = 252;
const PIECES: u8 = 254;

/// What is left of a message.
pub struct Reader<'a>(pub &'a [u8]);

/// A message being written.
#[derive(Default)]
pub struct Writer(pub Vec<u8>);

/// A packet's header says how long it is: in two bytes before the session is accepted, in four after that.
pub fn length(header: [u8; 8], is_wide: bool) -> Result<usize> {
    let length = match is_wide {
        true => u32::from_be_bytes([header[0], header[1], header[2], header[3]]) as usize,
        false => usize::from(u16::from_be_bytes([header[0], header[1]])),
    };
    if (8..=PACKET_MAX).contains(&length) { Ok(length - 8) } else { Err(broken("a length of a packet")) }
}

pub fn header(kind: u8, length: usize, is_wide: bool) -> Vec<u8> {
    let length = u32::try_from(length + 8).expect("a short packet");
    let mut header = match is_wide {
        true => length.to_be_bytes().to_vec(),
        false => [&u16::try_from(length).expect("a short packet").to_be_bytes()[..], &[0, 0]].concat(),
    };
    header.extend([kind, 0, 0, 0]);
    header
}

pub fn broken(what: &str) -> Error {
    Error::new(ErrorKind::InvalidData, format!("the client sent no such thing: {what}"))
}

/// NUMBER: an exponent of base 100, digits moved by one, complemented where it is negative.
pub fn number(text: &str) -> Vec<u8> {
    let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let whole = whole.trim_start_matches('0');
    let digits = format!("{}{whole}{part}{}", &"0"[..whole.len() % 2], &"0"[..part.len() % 2]);
    let mut pairs: Vec<u8> = digits.as_bytes().chunks(2).map(|pair| (pair[0] - b'0') * 10 + (pair[1] - b'0')).collect();
    let mut exponent = whole.len().div_ceil(2) as u8;
    while pairs.first() == Some(&0) {
        pairs.remove(0);
        exponent = exponent.wrapping_sub(1);
    }
    while pairs.last() == Some(&0) {
        pairs.pop();
    }
    if pairs.is_empty() {
        return vec![0x80];
    }
    let mut bytes = vec![if is_negative { 0x3f_u8.wrapping_sub(exponent) } else { 0xc0_u8.wrapping_add(exponent) }];
    bytes.extend(pairs.iter().map(|pair| if is_negative { 101 - pair } else { pair + 1 }));
    if is_negative && pairs.len() < 20 {
        bytes.push(102);
    }
    bytes
}

// === impl Reader ===

impl<'a> Reader<'a> {
    pub fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or_else(|| broken("a message that ends early"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub fn byte(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    pub fn two(&mut self) -> Result<u16> {
        let bytes = self.take(2)?;
        Ok(u16::from_be_bytes([bytes[0], bytes[1]]))
    }

    /// A number of as many bytes as its first says.
    pub fn number(&mut self) -> Result<u64> {
        let count = usize::from(self.byte()?);
        if count > 8 {
            return Err(broken("a number"));
        }
        Ok(self.take(count)?.iter().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }

    pub fn numbers(&mut self, count: usize) -> Result<()> {
        (0..count).try_for_each(|_| self.number().map(|_| ()))
    }

    pub fn bytes(&mut self) -> Result<Vec<u8>> {
        match self.byte()? {
            0 | 255 => Ok(Vec::new()),
            PIECES => {
                let mut bytes = Vec::new();
                loop {
                    match self.number()? as usize {
                        0 => return Ok(bytes),
                        count => bytes.extend_from_slice(self.take(count)?),
                    }
                }
            }
            count => Ok(self.take(usize::from(count))?.to_vec()),
        }
    }

    pub fn text(&mut self) -> Result<String> {
        String::from_utf8(self.bytes()?).map_err(|_| broken("a text"))
    }

    /// A text with its length before it once more.
    pub fn counted(&mut self) -> Result<String> {
        if self.number()? == 0 { Ok(String::new()) } else { self.text() }
    }

    /// A text up to a zero byte.
    pub fn ended(&mut self) -> Result<()> {
        let end = self.0.iter().position(|&byte| byte == 0).ok_or_else(|| broken("a text without an end"))?;
        self.take(end + 1).map(|_| ())
    }
}

// === impl Writer ===

impl Writer {
    pub fn raw(mut self, bytes: &[u8]) -> Writer {
        self.0.extend_from_slice(bytes);
        self
    }

    pub fn number(self, number: u64) -> Writer {
        let count = (8 - number.leading_zeros() / 8) as usize;
        self.raw(&[count as u8]).raw(&number.to_be_bytes()[8 - count..])
    }

    pub fn zeros(self, count: usize) -> Writer {
        self.raw(&vec![0; count])
    }

    pub fn bytes(self, bytes: &[u8]) -> Writer {
        if bytes.len() <= PLAIN_MAX {
            return self.raw(&[bytes.len() as u8]).raw(bytes);
        }
        bytes.chunks(32_767).fold(self.raw(&[PIECES]), |w, part| w.number(part.len() as u64).raw(part)).raw(&[0])
    }

    pub fn counted(self, bytes: &[u8]) -> Writer {
        let writer = self.number(bytes.len() as u64);
        if bytes.is_empty() { writer } else { writer.bytes(bytes) }
    }
}
