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
mod tree;

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::Snapshot;
use super::limiter::Limiter;
use super::live::RrsetLive;
use super::networks::Networks;
use super::signing::{Contents, ZoneSigner};
use crate::balance::records::{self, Decision, Steering};
use crate::model::Model;
use crate::model::zone::{AllContents, DnsName, Received, RecordType, Zone};
use names::suffixes;

use ready::ReadyAnswers;

pub use last_good::{LastGood, last_good, recall};
pub use ready::ReadyAnswer;

#[derive(Clone, Debug, Default)]
pub struct ZoneIndex {
    by_origin: Arc<HashMap<Arc<[u8]>, u32>>,
    /// In the order of `Model::zones`.
    zones: Vec<Arc<ZoneEntry>>,
    /// Labels of the longest origin.
    deepest_origin: usize,
    limiter: Option<Arc<Limiter>>,
    networks: Arc<Networks>,
    ready: Arc<ReadyAnswers>,
}

/// One zone as a tree.
#[derive(Debug)]
pub struct ZoneEntry {
    pub origin: DnsName,
    /// Where it comes from a primary: what that says it holds.
    pub received: Option<Received>,
    /// Why it cannot be answered from; `None`: it can.
    pub missing: Option<Missing>,
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

/// Why a zone that comes from a primary cannot be answered from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// It has never been transferred.
    NotYet,
    /// No primary has confirmed it for too long.
    Expired,
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
    /// Zones that come from primaries as though they were there and empty: for rehearsals.
    pub fn build(model: &Model) -> ZoneIndex {
        ZoneIndex::build_after(model, None)
    }

    /// With the zones of `before`, a model and its index, that have not changed in it: turns of `round_robin` go on, and
    /// signatures are kept, also in zones that have changed and are signed by the same keys.
    pub fn build_after(model: &Model, before: Option<(&Model, &ZoneIndex)>) -> ZoneIndex {
        ZoneIndex::of(model, before, ZoneEntry::build)
    }

    /// The same with what primaries say.
    pub fn build_with(model: &Model, contents: &AllContents, before: Option<(&Model, &ZoneIndex)>) -> ZoneIndex {
        let build =
            |zone: &Zone, before: Option<&ZoneEntry>| ZoneEntry::build_with(zone, contents.get(&zone.origin), before);
        ZoneIndex::of(model, before, build)
    }

    /// The same with another entry in place of one that comes from primaries; shares all others.
    pub fn with(&self, at: usize, entry: Arc<ZoneEntry>) -> ZoneIndex {
        let mut index = self.clone();
        index.zones[at] = entry;
        index
    }

    fn of(
        model: &Model,
        before: Option<(&Model, &ZoneIndex)>,
        build: impl Fn(&Zone, Option<&ZoneEntry>) -> ZoneEntry,
    ) -> ZoneIndex {
        let entry = |zone: &Zone| {
            let before = before.and_then(|(old, index)| {
                let at = old.zones.iter().position(|old| old.origin == zone.origin)?;
                Some((&old.zones[at], &index.zones[at]))
            });
            match before {
                Some((old, entry)) if old == zone => Arc::clone(entry),
                _ => Arc::new(build(zone, before.map(|(_, entry)| &**entry))),
            }
        };
        let origins = || model.zones.iter().map(|z| &z.origin);
        let mut index = ZoneIndex {
            by_origin: Arc::new((0u32..).zip(origins()).map(|(at, origin)| (Arc::clone(&origin.0), at)).collect()),
            deepest_origin: origins().map(|o| o.labels().count()).max().unwrap_or(0),
            zones: model.zones.iter().map(entry).collect(),
            limiter: model.dns.rate_limit.as_ref().map(|limit| Arc::new(Limiter::new(limit))),
            networks: Arc::new(Networks::build(model)),
            ready: Arc::default(),
        };
        index.ready = Arc::new(ReadyAnswers::build(&index));
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

    /// The same, to tell whether it is that of another snapshot.
    pub fn entry(&self, at: usize) -> &Arc<ZoneEntry> {
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
        self.limiter.as_deref()
    }

    /// The operator's own networks.
    pub fn networks(&self) -> &Networks {
        &self.networks
    }
}

// === impl ZoneEntry ===

impl ZoneEntry {
    /// Of its SOA: as configured, or as the primary says it.
    pub fn serial(&self) -> u32 {
        let numbers = &self.soa[self.soa.len() - 20..];
        u32::from_be_bytes([numbers[0], numbers[1], numbers[2], numbers[3]])
    }

    /// Records that nothing steers, the SOA included.
    pub fn fixed_records(&self) -> usize {
        self.nodes.iter().flat_map(|node| &node.fixed).map(|set| set.rdata.len()).sum()
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

#[cfg(test)]
mod tests;
