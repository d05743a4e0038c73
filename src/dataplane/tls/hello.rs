//! The ClientHello of a connection that is passed through: who is asked for, and which session is to be resumed. A strict
//! reader with bounds; what it does not understand is no TLS, and is not passed on.

use sha2::{Digest, Sha256};

use crate::model::id::Name;
use crate::model::tls::TlsVersion;

/// Bytes of a ClientHello at most, headers of its records included. Those of real clients are below 4 KiB, with
/// post-quantum key shares.
const BYTES_MAX: usize = 64 * 1024;
/// Payload of one record at most (RFC 8446 §5.1).
const RECORD_MAX: usize = 1 << 14;

const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
const TLS_1_3: u16 = 0x0304;

const SERVER_NAME: u16 = 0;
const SESSION_TICKET: u16 = 35;
const PRE_SHARED_KEY: u16 = 41;
const SUPPORTED_VERSIONS: u16 = 43;

/// What a client says at first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hello {
    /// SNI, in lower case.
    pub server_name: Option<Name>,
    /// The highest version on offer.
    pub version: TlsVersion,
    /// A session id as it stands, or a digest of the ticket.
    pub session: Option<Vec<u8>>,
}

/// `None`: more bytes are needed. Errors: why this is not a ClientHello.
pub(super) fn parse(read: &[u8]) -> Result<Option<Hello>, &'static str> {
    let Some(message) = message(read)? else { return Ok(None) };
    body(&message).ok_or("malformed ClientHello")?.map(Some)
}

/// The handshake message, taken out of its records.
fn message(mut read: &[u8]) -> Result<Option<Vec<u8>>, &'static str> {
    if read.len() > BYTES_MAX {
        return Err("ClientHello too long");
    }
    let mut message = Vec::new();
    while let Some(&kind) = read.first() {
        if kind != HANDSHAKE {
            return Err("not TLS");
        }
        if read.get(1).is_some_and(|&major| major != 3) {
            return Err("not a version of TLS");
        }
        let Some((header, rest)) = read.split_first_chunk::<5>() else { return Ok(None) };
        let length = usize::from(u16::from_be_bytes([header[3], header[4]]));
        if length == 0 || length > RECORD_MAX {
            return Err("a record of a length that cannot be");
        }
        let Some((payload, rest)) = rest.split_at_checked(length) else { return Ok(None) };
        message.extend_from_slice(payload);
        read = rest;
        if message[0] != CLIENT_HELLO {
            return Err("not a ClientHello");
        }
        if let Some((&[_, a, b, c], body)) = message.split_first_chunk::<4>() {
            let whole = u32::from_be_bytes([0, a, b, c]) as usize;
            if whole > BYTES_MAX {
                return Err("ClientHello too long");
            }
            if body.len() >= whole {
                // A client waits for the answer: nothing follows within the record.
                return if body.len() > whole {
                    Err("bytes after the ClientHello")
                } else {
                    Ok(Some(message.split_off(4)))
                };
            }
        }
    }
    Ok(None)
}

/// The inner error says what is wrong with a field; `None`: it ends before it should, or lasts longer.
fn body(message: &[u8]) -> Option<Result<Hello, &'static str>> {
    let mut rest = Reader(message);
    let legacy_version = rest.u16()?;
    rest.take(32)?;
    let session_id = rest.vector8()?;
    let (suites, compression) = (rest.vector16()?, rest.vector8()?);
    if legacy_version < 0x0301 || session_id.len() > 32 || suites.is_empty() || compression.is_empty() {
        return None;
    }
    let extensions = if rest.0.is_empty() { &[] } else { rest.vector16()? };
    if !rest.0.is_empty() {
        return None;
    }
    let mut seen = Vec::new();
    let (mut server_name, mut ticket, mut psk, mut tls13) = (None, None, None, false);
    let mut extensions = Reader(extensions);
    while !extensions.0.is_empty() {
        let (kind, data) = (extensions.u16()?, extensions.vector16()?);
        if seen.contains(&kind) {
            return Some(Err("an extension twice"));
        }
        seen.push(kind);
        match kind {
            SERVER_NAME => match self::server_name(data)? {
                Ok(name) => server_name = Some(name),
                Err(why) => return Some(Err(why)),
            },
            SESSION_TICKET => ticket = Some(data).filter(|ticket| !ticket.is_empty()),
            PRE_SHARED_KEY => psk = Some(Reader(Reader(data).vector16()?).vector16()?),
            SUPPORTED_VERSIONS => {
                let mut versions = Reader(Reader(data).vector8()?);
                while !versions.0.is_empty() {
                    tls13 |= versions.u16()? == TLS_1_3;
                }
            }
            _ => {}
        }
    }
    let digest = |ticket: &[u8]| Sha256::digest(ticket)[..16].to_vec();
    // The id that a client of TLS 1.3 sends is random, for the sake of middle boxes.
    let session_id = Some(session_id).filter(|id| !id.is_empty() && !tls13).map(<[u8]>::to_vec);
    Some(Ok(Hello {
        server_name,
        version: if tls13 { TlsVersion::V1_3 } else { TlsVersion::V1_2 },
        session: psk.or(ticket).map(digest).or(session_id),
    }))
}

fn server_name(data: &[u8]) -> Option<Result<Name, &'static str>> {
    let mut data = Reader(data);
    let mut names = Reader(data.vector16()?);
    let (kind, name) = (names.u8()?, names.vector16()?);
    if kind != 0 || !names.0.is_empty() || !data.0.is_empty() {
        return Some(Err("a server name of an unknown kind"));
    }
    let valid = (1..=253).contains(&name.len())
        && name.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
        && !name.starts_with(b".");
    let Some(text) = std::str::from_utf8(name).ok().filter(|_| valid) else {
        return Some(Err("a server name that is not one"));
    };
    Some(Ok(text.to_ascii_lowercase().into()))
}

/// Takes a message apart; `None` where it is too short.
struct Reader<'a>(&'a [u8]);

// === impl Reader ===

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn u8(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }

    fn u16(&mut self) -> Option<u16> {
        self.take(2).map(|b| u16::from_be_bytes([b[0], b[1]]))
    }

    fn vector8(&mut self) -> Option<&'a [u8]> {
        let length = self.u8()?;
        self.take(length.into())
    }

    fn vector16(&mut self) -> Option<&'a [u8]> {
        let length = self.u16()?;
        self.take(length.into())
    }
}

#[cfg(test)]
mod tests;
