//! Building the tree of a zone: from its own records or a primary's, with what is steered here laid over them.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

use super::{FixedRrset, Missing, Node, NodeId, SteeredRrset, ZoneEntry};
use crate::model::zone::{DnsName, Received, RecordType, Rrset, StaticRecord, Zone, ZoneContents};
use crate::snapshot::contents::fixed_contents;
use crate::snapshot::signing::{Contents, ZoneSigner, contents};

/// Of the validity of signatures: the longest TTL.
const TTL_PART: u32 = 4;

// === impl ZoneEntry ===

impl ZoneEntry {
    /// Of a zone that comes from a primary, with what that says; `None`: nothing yet.
    pub fn build_with(zone: &Zone, received: Option<&Received>, before: Option<&ZoneEntry>) -> ZoneEntry {
        if !zone.transfer.comes_in() {
            return ZoneEntry::build(zone, before);
        }
        let Some(received) = received else {
            return ZoneEntry { missing: Some(Missing::NotYet), ..ZoneEntry::build(zone, before) };
        };
        let theirs = &received.contents;
        let soa = (Arc::clone(&theirs.soa.rdata), theirs.soa.ttl, theirs.minimum());
        let records = laid_over(zone, theirs);
        let mut entry = ZoneEntry::assemble(zone, soa, records.as_slice(), before);
        entry.missing = received.is_expired.then_some(Missing::Expired);
        entry.received = Some(received.clone());
        entry
    }

    pub(super) fn build(zone: &Zone, before: Option<&ZoneEntry>) -> ZoneEntry {
        let soa_ttl = zone.records.iter().find(|r| r.rtype == RecordType::SOA).map(|r| r.ttl);
        let soa = (zone.soa.rdata(), soa_ttl.unwrap_or_else(|| seconds(zone.ttl)), seconds(zone.soa.minimum));
        let records: Vec<&StaticRecord> = zone.records.iter().filter(|r| r.rtype != RecordType::SOA).collect();
        ZoneEntry::assemble(zone, soa, &records, before)
    }

    /// `soa`: its RDATA, its TTL, and the TTL of negative answers that it asks for.
    fn assemble(
        zone: &Zone,
        (soa, soa_ttl, minimum): (Arc<[u8]>, u32, u32),
        records: &[&StaticRecord],
        before: Option<&ZoneEntry>,
    ) -> ZoneEntry {
        // Signatures must outlive what they sign in caches; of the configuration's own zones nothing is longer.
        let most = zone.dnssec.as_ref().map_or(u32::MAX, |dnssec| seconds(dnssec.validity / TTL_PART));
        let soa_ttl = soa_ttl.min(most);
        let mut entry = ZoneEntry {
            origin: zone.origin.clone(),
            received: None,
            missing: None,
            soa,
            soa_ttl,
            negative_ttl: soa_ttl.min(minimum),
            nodes: Vec::with_capacity(records.len() + zone.rrsets.len() + 1),
            by_name: HashMap::with_capacity(records.len() + zone.rrsets.len() + 1),
            deepest_owner: 0,
            fixed_contents: 0,
            signer: zone.dnssec.as_ref().and_then(|dnssec| ZoneSigner::new(&zone.origin, dnssec)),
            turns: zone.rrsets.iter().map(|_| AtomicU64::new(0)).collect(),
            counted: zone.rrsets.iter().map(|_| OnceLock::new()).collect(),
        };
        entry.insert(zone.origin.clone(), None);
        let soa = Arc::clone(&entry.soa);
        entry.add_fixed(&zone.origin, RecordType::SOA, soa_ttl, &soa);
        for record in records {
            entry.add_fixed(&record.owner, record.rtype, record.ttl.min(most), &record.rdata);
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
        entry.fixed_contents = fixed_contents(&entry.soa, &entry.nodes);
        for set in entry.nodes.iter_mut().flat_map(|node| &mut node.fixed) {
            set.contents = contents(set.rdata.iter().map(|rdata| &**rdata));
        }
        if let Some(signer) = &mut entry.signer {
            signer.link(&entry.nodes, before.and_then(|before| before.signer.as_ref()));
        }
        entry
    }

    fn add_fixed(&mut self, owner: &DnsName, rtype: RecordType, ttl: u32, rdata: &Arc<[u8]>) {
        let node = self.ensure(owner);
        let fixed = &mut self.nodes[node.index()].fixed;
        match fixed.iter_mut().find(|set| set.rtype == rtype) {
            // RRsets are sets (RFC 2181 §5).
            Some(set) if set.rdata.contains(rdata) => {}
            Some(set) => set.rdata.push(Arc::clone(rdata)),
            None => {
                fixed.push(FixedRrset { rtype, ttl, rdata: vec![Arc::clone(rdata)], contents: Contents::default() })
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

/// What of a primary's records stands beside the steering of the configuration: an RRset that is steered here takes the
/// place of theirs, one that may be a CNAME that of everything at its name, and a CNAME of theirs goes where anything is
/// steered. Of their signatures nothing is left where the zone is signed here.
fn laid_over<'c>(zone: &Zone, contents: &'c ZoneContents) -> Vec<&'c StaticRecord> {
    let mut steered: HashMap<&DnsName, Vec<&Rrset>> = HashMap::new();
    for rrset in &zone.rrsets {
        steered.entry(&rrset.owner).or_default().push(rrset);
    }
    let is_hidden = |record: &StaticRecord| {
        let Some(rrsets) = steered.get(&record.owner) else { return false };
        let stands_alone = |rrset: &&Rrset| {
            rrset.rtype == RecordType::CNAME || rrset.records.iter().any(|r| r.rtype == RecordType::CNAME)
        };
        record.rtype == RecordType::CNAME
            || rrsets.iter().any(|rrset| rrset.rtype == record.rtype)
            || rrsets.iter().any(stands_alone)
    };
    let signed_here = zone.dnssec.is_some();
    let records: Box<dyn Iterator<Item = &StaticRecord>> =
        if signed_here { Box::new(contents.unsigned()) } else { Box::new(contents.records.iter()) };
    records.filter(|record| !is_hidden(record)).collect()
}

fn seconds(duration: std::time::Duration) -> u32 {
    u32::try_from(duration.as_secs()).unwrap_or(u32::MAX).min(i32::MAX as u32)
}
