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

/// The canonical order of names in wire format, lower case: by labels, from the right.
pub fn compare(a: &[u8], b: &[u8]) -> Ordering {
    let (a, b) = (Starts::of(a), Starts::of(b));
    let (mut left, mut right) = (a.count, b.count);
    while left > 0 && right > 0 {
        left -= 1;
        right -= 1;
        match a.label(left).cmp(b.label(right)) {
            Ordering::Equal => {}
            other => return other,
        }
    }
    left.cmp(&right)
}

/// Where the labels of a name start.
struct Starts<'a> {
    name: &'a [u8],
    starts: [u8; 128],
    count: usize,
}

impl Starts<'_> {
    fn of(name: &[u8]) -> Starts<'_> {
        let mut all = Starts { name, starts: [0; 128], count: 0 };
        let mut at = 0;
        while let Some(&length) = name.get(at).filter(|length| **length != 0) {
            if all.count == all.starts.len() {
                break;
            }
            all.starts[all.count] = at as u8;
            all.count += 1;
            at += 1 + usize::from(length);
        }
        all
    }

    fn label(&self, index: usize) -> &[u8] {
        let at = usize::from(self.starts[index]);
        &self.name[at + 1..=at + usize::from(self.name[at])]
    }
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
