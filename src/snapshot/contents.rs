//! What a zone holds at this moment, steered RRsets included: for transfers, for the serial, and for the types of NSEC
//! records.
//!
//! A steered RRset is what scenarios and checks leave of it, before the selection: a secondary has no turns, weights or
//! clients to select by. A CNAME stands alone and is one record.
//!
//! The serial of a zone that is transferred follows its contents. It is the configured serial plus the seconds from
//! 2026-01-01 to the last change, and one more than before where that would not be more. So it grows over flips,
//! reloads and restarts without anything being stored, as long as the configured serial does not fall.

pub mod changes;
#[cfg(test)]
mod tests;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::Snapshot;
use super::signing::{Contents, contents};
use super::zones::{Node, NodeId, ZoneEntry};
use crate::balance::records::Source;
use crate::model::time::Wall;
use crate::model::zone::{OnEmpty, RecordType, Rrset, Zone};
use changes::{Change, Changes};

/// 2026-01-01T00:00:00Z in Unix seconds.
const EPOCH: i64 = 1_767_225_600;
/// Of the validity of signatures: how often the serial moves although nothing has changed, so that secondaries get
/// fresh signatures.
const RESIGNED: u64 = 8;

/// One RRset as it stands.
#[derive(Debug)]
pub struct Standing {
    pub rtype: RecordType,
    pub ttl: u32,
    pub rdata: Vec<Arc<[u8]>>,
    /// Stands for the data.
    pub variant: Contents,
    /// False: the set answers SERVFAIL; it has no records, and its type is not denied.
    pub is_served: bool,
}

/// The version of a zone that is transferred.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    contents: u64,
    /// Which span of the signatures' validity it was made in; 0: the zone is not signed.
    span: u64,
    pub serial: u32,
    /// RDATA of the SOA with that serial.
    soa: Arc<[u8]>,
    /// What led to it.
    pub changes: Changes,
}

/// Stands for the data of these records of an RRset.
pub fn variant(rrset: &Rrset, positions: &[u32]) -> Contents {
    contents(positions.iter().map(|&at| &*rrset.records[at as usize].rdata))
}

/// The types of a name that is not steered as its NSEC lists them; at a zone cut, those that this side of it speaks for.
pub(super) fn fixed_types(node: &Node) -> Vec<RecordType> {
    let mut types: Vec<RecordType> = node.fixed.iter().map(|set| set.rtype).collect();
    if types.contains(&RecordType::CNAME) {
        types.retain(|rtype| *rtype == RecordType::CNAME);
    }
    retain_ours(node, &mut types);
    types
}

fn retain_ours(node: &Node, types: &mut Vec<RecordType>) {
    if node.is_cut() {
        types.retain(|rtype| matches!(*rtype, RecordType::NS | RecordType::DS));
    }
}

// === impl Snapshot ===

impl Snapshot {
    /// RDATA of the zone's SOA with the serial of what it holds now.
    pub fn soa(&self, zone: usize) -> &[u8] {
        self.versions.get(zone).and_then(Option::as_ref).map_or(&self.zones.zone(zone).soa, |version| &version.soa)
    }

    /// The serial of what the zone holds now.
    pub fn serial(&self, zone: usize) -> u32 {
        let version = self.versions.get(zone).and_then(Option::as_ref);
        version.map_or_else(|| self.zones.zone(zone).serial(), |version| version.serial)
    }

    /// The RRsets of a name, those of glue included.
    pub fn rrsets_at(&self, zone: usize, node: &Node) -> Vec<Standing> {
        let fixed = |set: &super::zones::FixedRrset| {
            let is_soa = set.rtype == RecordType::SOA;
            let rdata = if is_soa { vec![self.soa(zone).into()] } else { set.rdata.clone() };
            let variant = if is_soa { contents(std::iter::once(self.soa(zone))) } else { set.contents };
            Standing { rtype: set.rtype, ttl: set.ttl, rdata, variant, is_served: true }
        };
        let mut all: Vec<Standing> = node.fixed.iter().map(fixed).collect();
        let mut chosen = Vec::new();
        for steered in &node.steered {
            let rrset = &self.model.zones[zone].rrsets[steered.index as usize];
            let decision = self.decide(zone, steered.index as usize, &mut chosen);
            let (rtype, ttl) = (decision.rtype, self.caching.of(zone, steered.index as usize).ttl);
            let most = if rtype == RecordType::CNAME { 1 } else { usize::MAX };
            let (rdata, variant, is_served) = match (decision.source, &rrset.on_empty) {
                (Source::Records(_), _) => {
                    chosen.truncate(most);
                    let of = |&at: &u32| Arc::clone(&rrset.records[at as usize].rdata);
                    (chosen.iter().map(of).collect(), variant(rrset, &chosen), true)
                }
                (Source::Static, OnEmpty::Static(data)) => {
                    let rdata: Vec<Arc<[u8]>> = data.iter().take(most).map(|data| Arc::clone(&data.rdata)).collect();
                    let variant = contents(rdata.iter().map(|rdata| &**rdata));
                    (rdata, variant, true)
                }
                (Source::ServFail, _) => (Vec::new(), Contents::default(), false),
                _ => continue,
            };
            all.push(Standing { rtype, ttl, rdata, variant, is_served });
        }
        if all.iter().any(|set| set.rtype == RecordType::CNAME && set.is_served) {
            all.retain(|set| set.rtype == RecordType::CNAME);
        }
        all
    }

    /// The types of a name as its NSEC lists them; at a zone cut, those that this side of it speaks for.
    pub fn types(&self, zone: usize, node: &Node) -> Vec<RecordType> {
        let mut types: Vec<RecordType> = self.rrsets_at(zone, node).iter().map(|set| set.rtype).collect();
        retain_ours(node, &mut types);
        types
    }

    /// Gives each zone that is transferred its version. `previous` is the snapshot before.
    pub(super) fn set_versions(&mut self, previous: Option<&Snapshot>, wall: Wall) {
        let model = Arc::clone(&self.model);
        let versions = model.zones.iter().enumerate().map(|(at, zone)| {
            zone.transfer.goes_out().then(|| {
                let span = span(zone, wall);
                let contents = self.fingerprint(at, span);
                let before = previous.and_then(|previous| {
                    let at = previous.model.zones.iter().position(|old| old.origin == zone.origin)?;
                    Some((previous, at, previous.versions.get(at)?.as_ref()?))
                });
                let known = before.map(|(_, _, version)| version);
                let mut version = Version::new(self.zones.zone(at), (contents, span), known, wall);
                if let Some((previous, was, known)) = before.filter(|(_, _, known)| known.serial != version.serial) {
                    let most = if zone.dnssec.is_some() { 0 } else { zone.transfer.history as usize };
                    let change = || {
                        // A zone that was not there is no base of differences.
                        let was_there = previous.zones.zone(was).missing.is_none();
                        let is_there = self.zones.zone(at).missing.is_none();
                        let both = most > 0 && was_there && is_there;
                        let (deleted, added) =
                            both.then(|| changes::difference((previous, was), (self, at))).flatten()?;
                        let (from_soa, to_soa) = (Arc::clone(&known.soa), Arc::clone(&version.soa));
                        Some(Change { from: known.serial, from_soa, to_soa, deleted, added })
                    };
                    version.changes = changes::extended(&known.changes, change(), most);
                }
                version
            })
        });
        self.versions = versions.collect();
    }

    /// Whether a zone is to have a new serial by the passing of time: its signatures have become older.
    pub fn versions_are_due(&self, wall: Wall) -> bool {
        let zones = self.model.zones.iter().zip(&self.versions);
        zones
            .filter_map(|(zone, version)| Some((zone, version.as_ref()?)))
            .any(|(zone, version)| span(zone, wall) > version.span)
    }

    fn fingerprint(&self, at: usize, span: u64) -> u64 {
        let mut hasher = DefaultHasher::new();
        let entry = self.zones.zone(at);
        entry.fixed_contents.hash(&mut hasher);
        span.hash(&mut hasher);
        for node in entry.ids().map(|id| entry.node(id)).filter(|node| !node.steered.is_empty()) {
            node.name.hash(&mut hasher);
            for set in self.rrsets_at(at, node) {
                (set.rtype, set.ttl, &set.rdata, set.is_served).hash(&mut hasher);
            }
        }
        hasher.finish()
    }
}

// === impl Version ===

impl Version {
    fn new(entry: &ZoneEntry, (contents, span): (u64, u64), before: Option<&Version>, wall: Wall) -> Version {
        if let Some(before) = before.filter(|before| before.contents == contents) {
            return before.clone();
        }
        let serial = next_serial(entry.serial(), before.map(|before| before.serial), wall);
        let mut soa = entry.soa.to_vec();
        let at = soa.len() - 20;
        soa[at..at + 4].copy_from_slice(&serial.to_be_bytes());
        Version { contents, span, serial, soa: soa.into(), changes: Changes::default() }
    }
}

fn span(zone: &Zone, wall: Wall) -> u64 {
    let seconds = u64::try_from(wall.0 / 1_000_000).unwrap_or(0);
    zone.dnssec.as_ref().map_or(0, |dnssec| seconds / (dnssec.validity.as_secs() / RESIGNED).max(1))
}

fn next_serial(configured: u32, before: Option<u32>, wall: Wall) -> u32 {
    let since = u32::try_from((wall.0 / 1_000_000 - EPOCH).max(0)).unwrap_or(0);
    let serial = configured.wrapping_add(since);
    match before {
        Some(before) if !is_newer(serial, before) => before.wrapping_add(1),
        _ => serial,
    }
}

/// Serial arithmetic (RFC 1982): whether `a` comes after `b`.
pub fn is_newer(a: u32, b: u32) -> bool {
    a != b && a.wrapping_sub(b) < 1 << 31
}

/// What of a zone does not change with the state.
pub(in crate::snapshot) fn fixed_contents(soa: &[u8], nodes: &[Node]) -> u64 {
    let mut hasher = DefaultHasher::new();
    soa.hash(&mut hasher);
    for (at, node) in nodes.iter().enumerate() {
        (&node.name, node.is_authoritative(NodeId::at(at))).hash(&mut hasher);
        for set in &node.fixed {
            (set.rtype, set.ttl, &set.rdata).hash(&mut hasher);
        }
    }
    hasher.finish()
}
