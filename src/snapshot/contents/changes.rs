//! What changed from one serial of a zone to the next, so that secondaries can take that alone (RFC 1995).
//!
//! Only where the zone is not signed: with signatures a change is many records, and some differ each time they are made.

use std::collections::HashSet;
use std::sync::Arc;

use crate::model::zone::{RecordType, StaticRecord};
use crate::snapshot::Snapshot;
use crate::snapshot::zones::{Node, NodeId, Place, ZoneEntry};

/// Records of one change; what changes more is transferred whole.
const RECORDS_MOST: usize = 10_000;
/// Records of all changes of a zone that are kept.
const KEPT_MOST: usize = 100_000;
/// Names of a zone that is compared name by name where its configuration or its primary has changed it.
const NAMES_MOST: usize = 50_000;

/// One change. The serials are in the SOAs.
#[derive(Debug, PartialEq, Eq)]
pub struct Change {
    pub from: u32,
    /// RDATA of the SOA before.
    pub from_soa: Arc<[u8]>,
    /// RDATA of the SOA after.
    pub to_soa: Arc<[u8]>,
    /// Without the SOA.
    pub deleted: Vec<StaticRecord>,
    pub added: Vec<StaticRecord>,
}

/// Changes that follow each other, the oldest first.
pub type Changes = Arc<[Arc<Change>]>;

/// `before` with one more; at most `most`. `None` for the change: it is not known, and neither is what came before.
pub fn extended(before: &Changes, change: Option<Change>, most: usize) -> Changes {
    let Some(change) = change else { return Changes::default() };
    let mut all: Vec<Arc<Change>> = before.iter().cloned().chain([Arc::new(change)]).collect();
    let mut kept = 0;
    let fitting = all.iter().rev().take(most).take_while(|change| {
        kept += change.records();
        kept <= KEPT_MOST
    });
    let fitting = fitting.count();
    all.drain(..all.len() - fitting);
    all.into()
}

/// What leads from serial `from` to the newest; `None`: it is not known.
pub fn since(changes: &Changes, from: u32) -> Option<&[Arc<Change>]> {
    let at = changes.iter().position(|change| change.from == from)?;
    changes.get(at..)
}

/// The records that went and that came between two snapshots, zones by their positions there. `None`: too many.
pub fn difference(
    (old, old_zone): (&Snapshot, usize),
    (new, new_zone): (&Snapshot, usize),
) -> Option<(Vec<StaticRecord>, Vec<StaticRecord>)> {
    let (before, after) = (old.zones.entry(old_zone), new.zones.entry(new_zone));
    let mut found = (Vec::new(), Vec::new());
    let compare = |found: &mut (Vec<_>, Vec<_>), was: Option<&Node>, is: Option<&Node>| {
        let was: Vec<StaticRecord> = was.map_or_else(Vec::new, |node| records(old, old_zone, node));
        let is: Vec<StaticRecord> = is.map_or_else(Vec::new, |node| records(new, new_zone, node));
        let (gone, there): (HashSet<&StaticRecord>, HashSet<&StaticRecord>) =
            (was.iter().collect(), is.iter().collect());
        found.0.extend(was.iter().filter(|record| !there.contains(record)).cloned());
        found.1.extend(is.iter().filter(|record| !gone.contains(record)).cloned());
        found.0.len() + found.1.len() <= RECORDS_MOST
    };
    if Arc::ptr_eq(before, after) {
        // Only what is steered can have changed.
        for node in nodes(after).filter(|node| !node.steered.is_empty()) {
            if !compare(&mut found, Some(node), Some(node)) {
                return None;
            }
        }
        return Some(found);
    }
    if before.node_count() > NAMES_MOST || after.node_count() > NAMES_MOST {
        return None;
    }
    let in_entry = |entry: &ZoneEntry, node: &Node| match entry.place(&node.name.0) {
        Place::Exact(id) => Some(id),
        Place::Below(_) => None,
    };
    for node in nodes(after) {
        let was: Option<NodeId> = in_entry(before, node);
        if !compare(&mut found, was.map(|id| before.node(id)), Some(node)) {
            return None;
        }
    }
    for node in nodes(before).filter(|node| in_entry(after, node).is_none()) {
        if !compare(&mut found, Some(node), None) {
            return None;
        }
    }
    Some(found)
}

fn nodes(entry: &ZoneEntry) -> impl Iterator<Item = &Node> {
    entry.ids().map(|id| entry.node(id))
}

/// What a name has in a transfer, but for the SOA.
fn records(snapshot: &Snapshot, zone: usize, node: &Node) -> Vec<StaticRecord> {
    let served = snapshot.rrsets_at(zone, node).into_iter().filter(|set| set.is_served && set.rtype != RecordType::SOA);
    let of = |set: super::Standing| {
        let owner = node.name.clone();
        set.rdata.into_iter().map(move |rdata| StaticRecord {
            owner: owner.clone(),
            rtype: set.rtype,
            ttl: set.ttl,
            rdata,
        })
    };
    served.flat_map(of).collect()
}

// === impl Change ===

impl Change {
    /// How many it has, those of both SOAs included.
    pub fn records(&self) -> usize {
        self.deleted.len() + self.added.len() + 2
    }
}
