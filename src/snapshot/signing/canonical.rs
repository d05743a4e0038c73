//! The canonical form and order of RFC 4034 §6, and the type bitmap of §4.1.2.

use std::cmp::Ordering;

use super::Signable;
use crate::model::zone::{DnsName, RecordType};

/// Labels as an RRSIG counts them: without the root and a leading `*`.
pub(super) fn labels(owner: &DnsName) -> u8 {
    let count = owner.labels().count() as u8;
    if owner.0.starts_with(b"\x01*") { count - 1 } else { count }
}

/// The records of an RRset as they are signed: sorted by their data, each once.
pub(super) fn records<'r>(what: Signable<'_>, rdata: impl Iterator<Item = &'r [u8]>) -> Vec<u8> {
    let mut all: Vec<Vec<u8>> = rdata.map(|rdata| lowered(what.rtype, rdata)).collect();
    all.sort();
    all.dedup();
    let mut out = Vec::new();
    for rdata in all {
        out.extend_from_slice(&what.owner.0);
        out.extend_from_slice(&what.rtype.0.to_be_bytes());
        out.extend_from_slice(&[0, 1]);
        out.extend_from_slice(&what.ttl.to_be_bytes());
        out.extend_from_slice(&(rdata.len() as u16).to_be_bytes());
        out.extend_from_slice(&rdata);
    }
    out
}

/// RDATA with its names in lower case, for the types of RFC 4034 §6.2 as RFC 6840 §5.1 corrects them.
fn lowered(rtype: RecordType, rdata: &[u8]) -> Vec<u8> {
    let mut out = rdata.to_vec();
    // Bytes before the first name, and how many names there are.
    let (start, names) = match rtype.0 {
        // NS MD MF CNAME MB MG MR PTR NXT DNAME
        2..=5 | 7..=9 | 12 | 30 | 39 => (0, 1),
        // SOA MINFO RP
        6 | 14 | 17 => (0, 2),
        // MX AFSDB RT KX
        15 | 18 | 21 | 36 => (2, 1),
        // PX
        26 => (2, 2),
        // SRV
        33 => (6, 1),
        // NAPTR: three strings stand before the name.
        35 => (naptr_name(rdata), 1),
        _ => return out,
    };
    let mut at = start;
    for _ in 0..names {
        while let Some(&length) = out.get(at).filter(|length| **length != 0) {
            let end = (at + 1 + usize::from(length)).min(out.len());
            out[at + 1..end].make_ascii_lowercase();
            at = end;
        }
        at += 1;
    }
    out
}

fn naptr_name(rdata: &[u8]) -> usize {
    (0..3).fold(4, |at, _| at + 1 + usize::from(rdata.get(at).copied().unwrap_or(0)))
}

/// Bytes that order names as RFC 4034 §6.1 does: labels from the right, each ended by 0. A byte 0 or 1 inside a label is
/// written as 1 and its successor, so that an end comes before everything else.
pub(super) struct Order {
    bytes: [u8; ORDER_MAX],
    length: usize,
}

/// A name has at most 255 bytes, of which each may become two.
const ORDER_MAX: usize = 512;

impl Order {
    /// `name`: wire format, lower case.
    pub fn of(name: &[u8]) -> Order {
        let mut order = Order { bytes: [0; ORDER_MAX], length: 0 };
        let (mut starts, mut count, mut at) = ([0_u8; 128], 0, 0);
        while let Some(&length) = name.get(at).filter(|length| **length != 0 && count < starts.len()) {
            starts[count] = at as u8;
            count += 1;
            at += 1 + usize::from(length);
        }
        for &start in starts[..count].iter().rev() {
            let start = usize::from(start);
            let label = name.get(start + 1..=start + usize::from(name[start])).unwrap_or(&[]);
            for &byte in label {
                match byte {
                    0 | 1 => order.push(&[1, byte + 1]),
                    _ => order.push(&[byte]),
                }
            }
            order.push(&[0]);
        }
        order
    }

    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }

    fn push(&mut self, bytes: &[u8]) {
        if let Some(place) = self.bytes.get_mut(self.length..self.length + bytes.len()) {
            place.copy_from_slice(bytes);
            self.length += bytes.len();
        }
    }
}

/// The canonical order of names in wire format, lower case: by labels, from the right.
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    Order::of(a).as_bytes().cmp(Order::of(b).as_bytes())
}

/// The type bitmap of an NSEC record; `types` sorted.
pub fn type_bitmap(types: &[RecordType], out: &mut Vec<u8>) {
    let mut rest = types;
    while let Some(first) = rest.first() {
        let window = (first.0 >> 8) as u8;
        let end = rest.iter().position(|t| (t.0 >> 8) as u8 != window).unwrap_or(rest.len());
        let mut bits = [0u8; 32];
        for rtype in &rest[..end] {
            let low = usize::from(rtype.0 & 0xff);
            bits[low / 8] |= 0x80 >> (low % 8);
        }
        let length = bits.iter().rposition(|byte| *byte != 0).map_or(0, |at| at + 1);
        out.extend_from_slice(&[window, length as u8]);
        out.extend_from_slice(&bits[..length]);
        rest = &rest[end..];
    }
}
