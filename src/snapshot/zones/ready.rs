//! Answers that need no thought, ready on the wire: names whose records are neither steered nor at the end of anything.
//!
//! One place for all zones, found by the whole name: a slot, and behind it name, types and records in one piece of memory.
//! So a query costs two or three reads of memory that is far apart, where the tree of a zone takes twice as many. What is
//! not here (aliases, delegations, wildcards, steered names, names that do not exist, sets that name hosts) is answered by
//! the tree, which has all that is here too.

use std::hash::{BuildHasher, RandomState};

use super::{Node, ZoneIndex};
use crate::model::zone::RecordType;

#[derive(Debug, Default)]
pub(super) struct ReadyAnswers {
    seed: RandomState,
    /// Open addressing, at most half full; a power of two.
    slots: Box<[Slot]>,
    bytes: Box<[u8]>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    /// The upper half of the hash.
    tag: u32,
    /// Where the name begins in `bytes`, and one; 0: the slot is free.
    behind: u32,
}

/// The records of one RRset, to stand behind a question for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyAnswer<'a> {
    /// Position in `Model::zones`.
    pub zone: usize,
    pub records: u16,
    /// Their owner is a pointer to the question.
    pub wire: &'a [u8],
}

/// A pointer to the name of the question, behind the header.
const QUESTION: [u8; 2] = [0xc0, 12];
/// Zone, and how many types follow. Bytes behind the name.
const HEAD: usize = 5;
/// Type, number of records, bytes of records.
const TYPE_HEAD: usize = 6;

// === impl ReadyAnswers ===

impl ReadyAnswers {
    pub fn build(index: &ZoneIndex) -> ReadyAnswers {
        let (seed, mut bytes, mut starts) = (RandomState::new(), Vec::new(), Vec::new());
        // What comes from primaries comes and goes beside the configuration, which this is made for.
        let own = |zone: &super::ZoneEntry| zone.received.is_none() && zone.missing.is_none();
        for (at, zone) in index.zones.iter().enumerate().filter(|(_, zone)| own(zone)) {
            let nodes = zone.nodes.iter().filter(|node| is_plain(node));
            // A name below the origin of another zone is that zone's.
            for node in nodes.filter(|node| index.find(&node.name.0) == Some(at)) {
                let start = bytes.len();
                if write(node, at, &mut bytes) {
                    starts.push(start);
                }
            }
        }
        let mut slots = vec![Slot::default(); (2 * starts.len()).next_power_of_two()];
        for start in starts {
            let Ok(behind) = u32::try_from(start + 1) else { break };
            let hash = seed.hash_one(name_at(&bytes, start));
            let mut at = hash as usize & (slots.len() - 1);
            while slots[at].behind != 0 {
                at = (at + 1) & (slots.len() - 1);
            }
            slots[at] = Slot { tag: (hash >> 32) as u32, behind };
        }
        ReadyAnswers { seed, slots: slots.into(), bytes: bytes.into() }
    }

    /// What there is for a name (lower case, wire format) and a type.
    pub fn find(&self, name: &[u8], rtype: u16) -> Option<ReadyAnswer<'_>> {
        let hash = self.seed.hash_one(name);
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash as usize & mask;
        let start = loop {
            let slot = self.slots[at];
            let start = (slot.behind as usize).checked_sub(1)?;
            if slot.tag == (hash >> 32) as u32 && name_at(&self.bytes, start) == name {
                break start;
            }
            at = (at + 1) & mask;
        };
        let rest = &self.bytes[start + 1 + name.len()..];
        let zone = u32::from_be_bytes([rest[0], rest[1], rest[2], rest[3]]) as usize;
        let (types, mut rest) = (rest[4], &rest[HEAD..]);
        for _ in 0..types {
            let number = |at: usize| u16::from_be_bytes([rest[at], rest[at + 1]]);
            let (found, records, length) = (number(0), number(2), usize::from(number(4)));
            if found == rtype {
                return Some(ReadyAnswer { zone, records, wire: &rest[TYPE_HEAD..TYPE_HEAD + length] });
            }
            rest = &rest[TYPE_HEAD + length..];
        }
        None
    }
}

/// Whether each of its RRsets is the answer to a question for it, whatever else there is.
fn is_plain(node: &Node) -> bool {
    let alias = |rtype| matches!(rtype, RecordType::CNAME | RecordType::ALIAS);
    node.boundary.is_none() && node.steered.is_empty() && !node.fixed.iter().any(|set| alias(set.rtype))
}

/// Types that bring other records along, have names to be compressed, or belong to another zone.
fn is_plain_type(rtype: RecordType) -> bool {
    const OTHERS: [RecordType; 7] = [
        RecordType::NS,
        RecordType::SOA,
        RecordType::PTR,
        RecordType::MX,
        RecordType::SRV,
        RecordType::DNAME,
        RecordType::DS,
    ];
    !OTHERS.contains(&rtype)
}

fn name_at(bytes: &[u8], start: usize) -> &[u8] {
    let length = usize::from(bytes[start]);
    &bytes[start + 1..start + 1 + length]
}

/// Writes a name with its sets; false, and nothing, where none is plain.
fn write(node: &Node, zone: usize, bytes: &mut Vec<u8>) -> bool {
    let start = bytes.len();
    bytes.push(node.name.0.len() as u8);
    bytes.extend_from_slice(&node.name.0);
    bytes.extend_from_slice(&(zone as u32).to_be_bytes());
    let count_at = bytes.len();
    bytes.push(0);
    for set in node.fixed.iter().filter(|set| is_plain_type(set.rtype)) {
        let length: usize = set.rdata.iter().map(|rdata| 12 + rdata.len()).sum();
        let Ok(length) = u16::try_from(length) else { continue };
        bytes.extend_from_slice(&set.rtype.0.to_be_bytes());
        bytes.extend_from_slice(&(set.rdata.len() as u16).to_be_bytes());
        bytes.extend_from_slice(&length.to_be_bytes());
        for rdata in &set.rdata {
            bytes.extend_from_slice(&QUESTION);
            bytes.extend_from_slice(&set.rtype.0.to_be_bytes());
            bytes.extend_from_slice(&[0, 1]);
            bytes.extend_from_slice(&set.ttl.to_be_bytes());
            bytes.extend_from_slice(&(rdata.len() as u16).to_be_bytes());
            bytes.extend_from_slice(rdata);
        }
        bytes[count_at] = bytes[count_at].saturating_add(1);
        if bytes[count_at] == u8::MAX {
            break;
        }
    }
    let has_any = bytes[count_at] > 0;
    if !has_any {
        bytes.truncate(start);
    }
    has_any
}
