//! Transaction signatures (RFC 8945) with HMAC-SHA256: reading the TSIG record of a message, verifying it, and signing
//! what answers it. MACs are compared in constant time and never cut short.

#[cfg(test)]
mod tests;

use base64::Engine;
use ring::hmac;

use super::wire::{HEADER, LowerName, Malformed};
use crate::model::transfer::{TsigKey, TsigSecret};
use crate::model::zone::DnsName;

/// Seconds that two clocks may differ by.
const FUDGE: u16 = 300;
const TYPE_TSIG: u16 = 250;
const CLASS_ANY: u16 = 255;
const ALGORITHM: &[u8] = b"\x0bhmac-sha256\x00";
/// Bytes of a TSIG record with the longest names.
pub const TSIG_MAX: usize = 255 + 10 + ALGORITHM.len() + 16 + 32 + 6;

/// Errors of the TSIG record (RFC 8945 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u16)]
pub enum TsigError {
    BadSig = 16,
    BadKey = 17,
    BadTime = 18,
}

/// The TSIG record at the end of a message.
#[derive(Clone, Debug)]
pub struct Tsig {
    pub name: LowerName,
    algorithm: LowerName,
    time: u64,
    fudge: u16,
    pub mac: Vec<u8>,
    original_id: u16,
    error: u16,
    other: Vec<u8>,
    /// Where the record starts.
    start: usize,
}

/// A secret that signs.
#[derive(Clone)]
pub struct Key {
    owner: DnsName,
    key: hmac::Key,
}

/// Signs the messages of an answer one after the other, each MAC going into the next.
#[derive(Clone)]
pub struct Signer {
    key: Key,
    prior: Vec<u8>,
    is_first: bool,
}

// === impl Key ===

impl Key {
    /// `None`: the secret is not there or no Base64.
    pub fn load(key: &TsigKey) -> Option<Key> {
        let text = match &key.secret {
            TsigSecret::Env(name) => std::env::var(&**name).ok()?,
            TsigSecret::File(file) => file.text.to_string(),
        };
        let secret = base64::engine::general_purpose::STANDARD.decode(text.trim()).ok().filter(|s| !s.is_empty())?;
        Some(Key { owner: key.owner.clone(), key: hmac::Key::new(hmac::HMAC_SHA256, &secret) })
    }
}

// === impl Tsig ===

impl Tsig {
    /// The TSIG record of a message, which must be its last; `Err`: the message is malformed.
    pub fn find(message: &[u8]) -> Result<Option<Tsig>, Malformed> {
        let mut walk = Walk { message, at: HEADER };
        let counts: Vec<usize> = (0..4).map(|i| usize::from(u16_at(message, 4 + 2 * i).unwrap_or(0))).collect();
        for _ in 0..counts[0] {
            walk.name().ok_or(Malformed::FormErr)?;
            walk.at += 4;
        }
        let records = counts[1] + counts[2] + counts[3];
        for left in (1..=records).rev() {
            let start = walk.at;
            let name = walk.name().ok_or(Malformed::FormErr)?;
            let (rtype, class) = (walk.u16().ok_or(Malformed::FormErr)?, walk.u16().ok_or(Malformed::FormErr)?);
            walk.at += 4;
            let length = usize::from(walk.u16().ok_or(Malformed::FormErr)?);
            let end = walk.at + length;
            if end > message.len() {
                return Err(Malformed::FormErr);
            }
            if rtype != TYPE_TSIG {
                walk.at = end;
                continue;
            }
            if left != 1 || counts[3] == 0 || class != CLASS_ANY || end != message.len() {
                return Err(Malformed::FormErr);
            }
            return walk.tsig(name, start).map(Some).ok_or(Malformed::FormErr);
        }
        Ok(None)
    }

    /// What is wrong with the message that is answered; 0: nothing. Said by who sent it.
    pub fn error(&self) -> u16 {
        self.error
    }

    /// Verifies the record over its message. `prior`: the MAC of the request, or of the message before. `first`: the
    /// whole record is part of what is signed and not only its time. `unsigned`: messages since the prior MAC.
    pub fn verify(
        &self,
        message: &[u8],
        key: &Key,
        now: u64,
        prior: &[u8],
        first: bool,
        unsigned: &[u8],
    ) -> Result<(), TsigError> {
        if self.name.as_bytes() != &*key.owner.0 || self.algorithm.as_bytes() != ALGORITHM {
            return Err(TsigError::BadKey);
        }
        let mut data = prior_mac(prior);
        data.extend_from_slice(unsigned);
        let from = data.len();
        data.extend_from_slice(&message[..self.start]);
        data[from..from + 2].copy_from_slice(&self.original_id.to_be_bytes());
        let additional = u16_at(message, 10).unwrap_or(1).wrapping_sub(1);
        data[from + 10..from + 12].copy_from_slice(&additional.to_be_bytes());
        if first {
            data.extend(variables(&key.owner, self.time, self.fudge, self.error, &self.other));
        } else {
            data.extend(timers(self.time, self.fudge));
        }
        // Whole MACs only: a short one is easier to guess.
        hmac::verify(&key.key, &data, &self.mac).map_err(|_| TsigError::BadSig)?;
        // Whatever its signer allows for: what was recorded is not to be good for hours.
        if now.abs_diff(self.time) > u64::from(self.fudge.min(FUDGE)) {
            return Err(TsigError::BadTime);
        }
        Ok(())
    }

    /// Appends the record that says why `self` is refused to an answer; only one for a wrong time is signed.
    pub fn refuse(&self, answer: &mut Vec<u8>, error: TsigError, key: Option<&Key>, now: u64) {
        let other = if error == TsigError::BadTime { now.to_be_bytes()[2..].to_vec() } else { Vec::new() };
        let mac = match key.filter(|_| error == TsigError::BadTime) {
            Some(key) => {
                let mut data = prior_mac(&self.mac);
                data.extend_from_slice(answer);
                data.extend(variables(&key.owner, self.time, FUDGE, error as u16, &other));
                hmac::sign(&key.key, &data).as_ref().to_vec()
            }
            None => Vec::new(),
        };
        append(answer, self.name.as_bytes(), self.algorithm.as_bytes(), self.time, &mac, error as u16, &other);
    }
}

// === impl Signer ===

impl Signer {
    /// `prior`: the MAC of the request that is answered; empty for a request.
    pub fn new(key: Key, prior: &[u8]) -> Signer {
        Signer { key, prior: prior.to_vec(), is_first: true }
    }

    /// Signs a message in place.
    pub fn sign(&mut self, message: &mut Vec<u8>, now: u64) {
        let mut data = prior_mac(&self.prior);
        data.extend_from_slice(message);
        if self.is_first {
            data.extend(variables(&self.key.owner, now, FUDGE, 0, &[]));
        } else {
            data.extend(timers(now, FUDGE));
        }
        let mac = hmac::sign(&self.key.key, &data);
        append(message, &self.key.owner.0, ALGORITHM, now, mac.as_ref(), 0, &[]);
        self.prior = mac.as_ref().to_vec();
        self.is_first = false;
    }

    /// The MAC of what was signed last.
    pub fn mac(&self) -> &[u8] {
        &self.prior
    }
}

/// A MAC as it goes into the next one.
fn prior_mac(mac: &[u8]) -> Vec<u8> {
    if mac.is_empty() {
        return Vec::new();
    }
    [&(mac.len() as u16).to_be_bytes()[..], mac].concat()
}

fn variables(name: &DnsName, time: u64, fudge: u16, error: u16, other: &[u8]) -> Vec<u8> {
    let mut out = name.0.to_vec();
    out.extend_from_slice(&CLASS_ANY.to_be_bytes());
    out.extend_from_slice(&[0; 4]);
    out.extend_from_slice(ALGORITHM);
    out.extend(timers(time, fudge));
    out.extend_from_slice(&error.to_be_bytes());
    out.extend_from_slice(&(other.len() as u16).to_be_bytes());
    out.extend_from_slice(other);
    out
}

fn timers(time: u64, fudge: u16) -> [u8; 8] {
    let mut out = [0; 8];
    out[..6].copy_from_slice(&time.to_be_bytes()[2..]);
    out[6..].copy_from_slice(&fudge.to_be_bytes());
    out
}

fn append(message: &mut Vec<u8>, name: &[u8], algorithm: &[u8], time: u64, mac: &[u8], error: u16, other: &[u8]) {
    let original_id = [message[0], message[1]];
    message.extend_from_slice(name);
    message.extend_from_slice(&TYPE_TSIG.to_be_bytes());
    message.extend_from_slice(&CLASS_ANY.to_be_bytes());
    message.extend_from_slice(&[0; 4]);
    let length = algorithm.len() + 16 + mac.len() + other.len();
    message.extend_from_slice(&(length as u16).to_be_bytes());
    message.extend_from_slice(algorithm);
    message.extend_from_slice(&timers(time, FUDGE));
    message.extend_from_slice(&(mac.len() as u16).to_be_bytes());
    message.extend_from_slice(mac);
    message.extend_from_slice(&original_id);
    message.extend_from_slice(&error.to_be_bytes());
    message.extend_from_slice(&(other.len() as u16).to_be_bytes());
    message.extend_from_slice(other);
    let additional = u16_at(message, 10).unwrap_or(0) + 1;
    message[10..12].copy_from_slice(&additional.to_be_bytes());
}

pub(super) fn u16_at(message: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*message.get(at)?, *message.get(at + 1)?]))
}

/// Reads on through a message.
pub(super) struct Walk<'a> {
    pub message: &'a [u8],
    pub at: usize,
}

impl Walk<'_> {
    pub fn u16(&mut self) -> Option<u16> {
        let value = u16_at(self.message, self.at)?;
        self.at += 2;
        Some(value)
    }

    /// A name, its pointers followed; each must point back, so that there is an end.
    pub fn name(&mut self) -> Option<LowerName> {
        let mut wire = Vec::with_capacity(64);
        let (mut at, mut after, mut before) = (self.at, None, self.at);
        loop {
            let length = usize::from(*self.message.get(at)?);
            match length {
                0 => break,
                1..=63 => {
                    wire.extend_from_slice(self.message.get(at..=at + length)?);
                    at += 1 + length;
                }
                0xc0.. => {
                    let target = usize::from(u16_at(self.message, at)? & 0x3fff);
                    after.get_or_insert(at + 2);
                    if target >= before {
                        return None;
                    }
                    (at, before) = (target, target);
                }
                _ => return None,
            }
            if wire.len() > 254 {
                return None;
            }
        }
        wire.push(0);
        self.at = after.unwrap_or(at + 1);
        LowerName::new(&wire)
    }

    fn bytes(&mut self, count: usize) -> Option<Vec<u8>> {
        let bytes = self.message.get(self.at..self.at + count)?.to_vec();
        self.at += count;
        Some(bytes)
    }

    fn tsig(&mut self, name: LowerName, start: usize) -> Option<Tsig> {
        let algorithm = self.name()?;
        let time = self.bytes(6)?.iter().fold(0u64, |time, byte| time << 8 | u64::from(*byte));
        let fudge = self.u16()?;
        let length = usize::from(self.u16()?);
        let mac = self.bytes(length)?;
        let (original_id, error) = (self.u16()?, self.u16()?);
        let length = usize::from(self.u16()?);
        let other = self.bytes(length)?;
        (self.at == self.message.len()).then_some(Tsig {
            name,
            algorithm,
            time,
            fudge,
            mac,
            original_id,
            error,
            other,
            start,
        })
    }
}
