//! Zones prepared for answering: names to records, once for each model.
//!
//! Every name between a record's owner and its zone's apex exists (RFC 4592 §2.2.2), so empty non-terminals are nodes
//! without records, and the closest encloser of a name is the longest suffix that has a node. What the tree says about a
//! name and cannot change with the state is computed here: the wildcard below a node, and the highest point at or above
//! it where the zone's own authority ends (a zone cut, or a DNAME that covers what is below it).
//!
//! Maps are keyed by lower-case wire names and hashed with a seed of this process, because the names come from the
//! network.

mod last_good;
mod names;
mod ready;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::Snapshot;
use super::limiter::Limiter;
use super::live::RrsetLive;
use super::networks::Networks;
use super::signing::{Contents, ZoneSigner, contents};
use crate::balance::records::{self, Decision, Steering};
use crate::model::Model;
use crate::model::zone::{DnsName, RecordType, Zone};
use names::suffixes;

use ready::ReadyAnswers;

pub use last_good::{LastGood, last_good, recall};
pub use ready::ReadyAnswer;

#[derive(Debug, Default)]
pub struct ZoneIndex {
    by_origin: HashMap<Arc<[u8]>, u32>,
    /// In the order of `Model::zones`.
    zones: Vec<Arc<ZoneEntry>>,
    /// Labels of the longest origin.
    deepest_origin: usize,
    limiter: Option<Limiter>,
    networks: Networks,
    ready: ReadyAnswers,
}

/// One zone as a tree.
#[derive(Debug)]
pub struct ZoneEntry {
    pub origin: DnsName,
    /// RDATA of the SOA.
    pub soa: Arc<[u8]>,
    pub soa_ttl: u32,
    /// TTL of negative answers: the smaller of the SOA's TTL and its `minimum` (RFC 2308 §5).
    pub negative_ttl: u32,
    nodes: Vec<Node>,
    by_name: HashMap<Arc<[u8]>, NodeId>,
    /// Labels of the longest owner.
    deepest_owner: usize,
    /// Fingerprint of what does not change with the state.
    pub(super) fixed_contents: u64,
    /// `None`: the zone is not signed.
    pub signer: Option<ZoneSigner>,
    /// One for each of the zone's steered RRsets: how many queries it has had (round robin).
    turns: Vec<AtomicU64>,
    /// One for each of them: its counters, found by name when they are first needed.
    counted: Vec<OnceLock<Arc<RrsetLive>>>,
}

/// A position in the tree of one zone; the apex is [`NodeId::APEX`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

/// A name that exists.
#[derive(Debug)]
pub struct Node {
    pub name: DnsName,
    /// RRsets without steering.
    pub fixed: Vec<FixedRrset>,
    pub steered: Vec<SteeredRrset>,
    /// The node `*` below this one.
    pub wildcard: Option<NodeId>,
    /// The highest node at or above this one where authority ends: for what is below a zone cut and the cut itself, the
    /// cut; for what is below a DNAME, the DNAME's owner.
    pub boundary: Option<NodeId>,
    parent: Option<NodeId>,
}

#[derive(Debug)]
pub struct FixedRrset {
    pub rtype: RecordType,
    pub ttl: u32,
    pub rdata: Vec<Arc<[u8]>>,
    /// Stands for the data.
    pub contents: Contents,
}

/// A steered RRset by its position in `Zone::rrsets`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SteeredRrset {
    pub index: u32,
    /// The type of its key.
    pub rtype: RecordType,
    /// Whether some set of it is a CNAME while its key is not, or the other way about: then it must be decided before the
    /// type of the owner's answer is known.
    pub varies: bool,
}

/// Where a name stands in a zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The name exists.
    Exact(NodeId),
    /// It does not; the closest name above it that does.
    Below(NodeId),
}

// === impl Snapshot ===

impl Snapshot {
    /// What steers records in this snapshot.
    pub fn steering(&self) -> Steering<'_> {
        Steering { scenario_active: &self.scenario_active, watched: &self.watched }
    }

    /// Steps 1 to 3 for one steered RRset, by position in `model.zones` and `Zone::rrsets`; `chosen` is overwritten with
    /// the positions of the records served.
    pub fn decide(&self, zone: usize, rrset: usize, chosen: &mut Vec<u32>) -> Decision {
        let known = recall(&self.last_good, zone, rrset);
        records::decide(&self.model.zones[zone].rrsets[rrset], self.steering(), known, chosen)
    }
}

// === impl ZoneIndex ===

impl ZoneIndex {
    pub fn build(model: &Model) -> ZoneIndex {
        ZoneIndex::build_after(model, None)
    }

    /// With the zones of `before`, a model and its index, that have not changed in it: turns of `round_robin` go on, and
    /// signatures are kept, also in zones that have changed and are signed by the same keys.
    pub fn build_after(model: &Model, before: Option<(&Model, &ZoneIndex)>) -> ZoneIndex {
        let entry = |zone: &Zone| {
            let before = before.and_then(|(old, index)| {
                let at = old.zones.iter().position(|old| old.origin == zone.origin)?;
                Some((&old.zones[at], &index.zones[at]))
            });
            match before {
                Some((old, entry)) if old == zone => Arc::clone(entry),
                _ => Arc::new(ZoneEntry::build(zone, before.map(|(_, entry)| &**entry))),
            }
        };
        let origins = || model.zones.iter().map(|z| &z.origin);
        let mut index = ZoneIndex {
            by_origin: (0u32..).zip(origins()).map(|(at, origin)| (Arc::clone(&origin.0), at)).collect(),
            deepest_origin: origins().map(|o| o.labels().count()).max().unwrap_or(0),
            zones: model.zones.iter().map(entry).collect(),
            limiter: model.dns.rate_limit.as_ref().map(Limiter::new),
            networks: Networks::build(model),
            ready: ReadyAnswers::default(),
        };
        index.ready = ReadyAnswers::build(&index);
        index
    }

    /// The answer to a question, where it needs no thought; `None` says nothing of what there is.
    pub fn ready_answer(&self, name: &[u8], rtype: u16) -> Option<ReadyAnswer<'_>> {
        self.ready.find(name, rtype)
    }

    /// The zone with the longest origin that `name` (lower case, wire format) is within; its position in `Model::zones`.
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        suffixes(name, self.deepest_origin).find_map(|suffix| self.by_origin.get(suffix)).map(|&at| at as usize)
    }

    pub fn zone(&self, at: usize) -> &ZoneEntry {
        &self.zones[at]
    }

    /// Whether a zone of it is signed that is not the same in `other`.
    pub fn signs_more_than(&self, other: Option<&ZoneIndex>) -> bool {
        let in_other = |zone: &ZoneEntry| {
            let at = other?.by_origin.get(&zone.origin.0)?;
            other?.zones.get(*at as usize)
        };
        let is_same = |zone: &Arc<ZoneEntry>| in_other(zone).is_some_and(|there| Arc::ptr_eq(there, zone));
        self.zones.iter().any(|zone| zone.signer.is_some() && !is_same(zone))
    }

    /// `[dns] rate_limit`; a new model starts counting anew.
    pub fn limiter(&self) -> Option<&Limiter> {
        self.limiter.as_ref()
    }

    /// The operator's own networks.
    pub fn networks(&self) -> &Networks {
        &self.networks
    }
}

// === impl ZoneEntry ===

impl ZoneEntry {
    fn build(zone: &Zone, before: Option<&ZoneEntry>) -> ZoneEntry {
        let soa_ttl = zone.records.iter().find(|r| r.rtype == RecordType::SOA).map(|r| r.ttl);
        let soa_ttl = soa_ttl.unwrap_or_else(|| seconds(zone.ttl));
        let mut entry = ZoneEntry {
            origin: zone.origin.clone(),
            soa: zone.soa.rdata(),
            soa_ttl,
            negative_ttl: soa_ttl.min(seconds(zone.soa.minimum)),
            nodes: Vec::with_capacity(zone.records.len() + zone.rrsets.len() + 1),
            by_name: HashMap::with_capacity(zone.records.len() + zone.rrsets.len() + 1),
            deepest_owner: 0,
            fixed_contents: 0,
            signer: zone.dnssec.as_ref().and_then(|dnssec| ZoneSigner::new(&zone.origin, dnssec)),
            turns: zone.rrsets.iter().map(|_| AtomicU64::new(0)).collect(),
            counted: zone.rrsets.iter().map(|_| OnceLock::new()).collect(),
        };
        entry.insert(zone.origin.clone(), None);
        entry.add_fixed(&zone.origin, RecordType::SOA, soa_ttl, &zone.soa.rdata());
        for record in zone.records.iter().filter(|r| r.rtype != RecordType::SOA) {
            entry.add_fixed(&record.owner, record.rtype, record.ttl, &record.rdata);
        }
        let keys: Vec<Arc<[u8]>> = entry.signer.iter().flat_map(ZoneSigner::dnskeys).collect();
        for key in &keys {
            entry.add_fixed(&zone.origin, RecordType::DNSKEY, soa_ttl, key);
        }
        for (index, rrset) in (0u32..).zip(&zone.rrsets) {
            let varies = rrset.records.iter().any(|r| r.rtype != rrset.rtype);
            let node = entry.ensure(&rrset.owner);
            entry.nodes[node.index()].steered.push(SteeredRrset { index, rtype: rrset.rtype, varies });
        }
        entry.mark_boundaries();
        entry.fixed_contents = super::contents::fixed_contents(zone, &entry.nodes);
        for set in entry.nodes.iter_mut().flat_map(|node| &mut node.fixed) {
            set.contents = contents(set.rdata.iter().map(|rdata| &**rdata));
        }
        if let Some(signer) = &mut entry.signer {
            signer.link(&entry.nodes, before.and_then(|before| before.signer.as_ref()));
        }
        entry
    }

    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }

    /// Where `name` (lower case, wire format, within this zone) stands.
    pub fn place(&self, name: &[u8]) -> Place {
        for suffix in suffixes(name, self.deepest_owner) {
            if let Some(&id) = self.by_name.get(suffix) {
                return if suffix.len() == name.len() { Place::Exact(id) } else { Place::Below(id) };
            }
        }
        Place::Below(NodeId::APEX)
    }

    /// The number of earlier calls for this RRset: the turn of round robin.
    pub fn next_turn(&self, rrset: u32) -> u64 {
        self.turns[rrset as usize].fetch_add(1, Ordering::Relaxed)
    }

    /// The counters of a steered RRset; `find` looks them up the first time.
    pub fn counted(&self, rrset: u32, find: impl FnOnce() -> Arc<RrsetLive>) -> &RrsetLive {
        self.counted[rrset as usize].get_or_init(find)
    }

    /// The turn that the next query will have.
    pub fn turn(&self, rrset: u32) -> u64 {
        self.turns[rrset as usize].load(Ordering::Relaxed)
    }

    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len()).map(NodeId::at)
    }

    /// Parents stand before their children, the apex first.
    pub fn id(&self, index: usize) -> Option<NodeId> {
        (index < self.nodes.len()).then(|| NodeId::at(index))
    }

    pub fn node_count(&self) -> usize {
        self.nodes.len()
    }

    fn add_fixed(&mut self, owner: &DnsName, rtype: RecordType, ttl: u32, rdata: &Arc<[u8]>) {
        let node = self.ensure(owner);
        let fixed = &mut self.nodes[node.index()].fixed;
        match fixed.iter_mut().find(|set| set.rtype == rtype) {
            // RRsets are sets (RFC 2181 §5).
            Some(set) if set.rdata.contains(rdata) => {}
            Some(set) => set.rdata.push(Arc::clone(rdata)),
            None => {
                fixed.push(FixedRrset { rtype, ttl, rdata: vec![Arc::clone(rdata)], contents: Contents::default() });
            }
        }
    }

    /// The node of `name`, made with all that is missing between it and the apex.
    fn ensure(&mut self, name: &DnsName) -> NodeId {
        if let Some(&id) = self.by_name.get(&name.0) {
            return id;
        }
        let parent = match name.parent() {
            Some(above) if name.is_within(&self.origin) => self.ensure(&above),
            // Out of zone: refused at load. Kept from looping all the same.
            _ => NodeId::APEX,
        };
        self.insert(name.clone(), Some(parent))
    }

    fn insert(&mut self, name: DnsName, parent: Option<NodeId>) -> NodeId {
        let id = NodeId(u32::try_from(self.nodes.len()).expect("a zone has fewer than 2^32 names"));
        if let Some(parent) = parent.filter(|_| name.0.starts_with(b"\x01*")) {
            self.nodes[parent.index()].wildcard = Some(id);
        }
        self.deepest_owner = self.deepest_owner.max(name.labels().count());
        self.by_name.insert(Arc::clone(&name.0), id);
        self.nodes.push(Node { name, fixed: Vec::new(), steered: Vec::new(), wildcard: None, boundary: None, parent });
        id
    }

    /// Parents stand before their children, so one pass from the top suffices.
    fn mark_boundaries(&mut self) {
        for at in 0..self.nodes.len() {
            let id = NodeId(at as u32);
            let above = self.nodes[at].parent.and_then(|parent| {
                let above = &self.nodes[parent.index()];
                above.boundary.or_else(|| above.has(RecordType::DNAME).then_some(parent))
            });
            let boundary = above.or_else(|| self.nodes[at].is_cut().then_some(id));
            self.nodes[at].boundary = boundary;
        }
    }
}

// === impl Node ===

impl Node {
    pub fn fixed(&self, rtype: RecordType) -> Option<&FixedRrset> {
        self.fixed.iter().find(|set| set.rtype == rtype)
    }

    /// Whether there is an RRset of this type, steered or not; a steered one may be empty at the moment.
    pub fn has(&self, rtype: RecordType) -> bool {
        self.fixed(rtype).is_some() || self.steered.iter().any(|s| s.rtype == rtype)
    }

    /// Whether the zone delegates this name. NS records at a wildcard delegate nothing (RFC 4592 §4.2).
    pub fn is_cut(&self) -> bool {
        self.parent.is_some() && self.has(RecordType::NS) && !self.name.0.starts_with(b"\x01*")
    }

    /// Whether the zone itself speaks for this name: it has records that are neither below a zone cut nor below a DNAME.
    pub fn is_authoritative(&self, id: NodeId) -> bool {
        !self.is_empty() && self.boundary.is_none_or(|boundary| boundary == id)
    }

    /// An empty non-terminal: it exists because something below it does.
    pub fn is_empty(&self) -> bool {
        self.fixed.is_empty() && self.steered.is_empty()
    }
}

// === impl NodeId ===

impl NodeId {
    pub const APEX: NodeId = NodeId(0);

    pub(super) fn at(index: usize) -> NodeId {
        NodeId(index as u32)
    }

    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

fn seconds(duration: std::time::Duration) -> u32 {
    u32::try_from(duration.as_secs()).unwrap_or(u32::MAX).min(i32::MAX as u32)
}

#[cfg(test)]
mod tests;
