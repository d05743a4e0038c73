//! The chain of NSEC records. It links every name that the zone speaks for, steered ones always: which names exist does
//! not change with the state, so the chain is made once for each model. What a name has changes where it is steered, and
//! with it the type bitmap of its own NSEC, which is made at the query from what is served at that moment; all others are
//! made here.

use std::sync::Arc;

use super::super::contents::fixed_types;
use super::super::zones::{Node, NodeId};
use super::table::Table;
use super::{ZoneSigner, canonical};
use crate::model::zone::{DnsName, RecordType};

/// Names with an NSEC record, in canonical order.
#[derive(Debug, Default)]
pub(super) struct Chain {
    ids: Vec<NodeId>,
    /// What the names are ordered by.
    order: Vec<Box<[u8]>>,
    /// RDATA of the NSEC records of names that are not steered.
    nsecs: Vec<Option<Box<[u8]>>>,
}

/// Contents that a steered RRset is given room for in the table of signatures.
const OF_STEERED: usize = 64;

// === impl ZoneSigner ===

impl ZoneSigner {
    /// Makes the chain of these nodes, of which the first is the apex. `before`: what signed the zone in the model before,
    /// whose signatures are good as long as the keys are the same.
    pub(in crate::snapshot) fn link(&mut self, nodes: &[Node], before: Option<&ZoneSigner>) {
        let ids = (0..nodes.len()).map(NodeId::at).filter(|&id| nodes[id.index()].is_authoritative(id));
        let mut sorted: Vec<(Box<[u8]>, NodeId)> =
            ids.map(|id| (canonical::Order::of(&nodes[id.index()].name.0).as_bytes().into(), id)).collect();
        sorted.sort_unstable();
        let (order, ids) = sorted.into_iter().unzip();
        self.chain = Chain { order, ids, nsecs: Vec::new() };
        let name_of = |id: NodeId| &nodes[id.index()].name;
        let nsec = |(place, &id): (usize, &NodeId)| {
            let node = &nodes[id.index()];
            node.steered.is_empty().then(|| self.nsec(place, fixed_types(node), name_of).into_boxed_slice())
        };
        self.chain.nsecs = self.chain.ids.iter().enumerate().map(nsec).collect();
        let contents = nodes.iter().map(|node| 1 + node.fixed.len() + OF_STEERED * node.steered.len()).sum();
        self.made = match before.filter(|before| self.signs_like(before)) {
            Some(before) => Table::resized(&before.made, contents),
            None => Arc::new(Table::new(contents)),
        };
    }

    /// The names of the chain in canonical order.
    pub fn chain(&self) -> &[NodeId] {
        &self.chain.ids
    }

    /// The place in the chain of the last name that is not behind `name` (lower case, wire format, in the zone): the name
    /// itself, or that whose NSEC covers it.
    pub fn covering(&self, name: &[u8]) -> usize {
        let wanted = canonical::Order::of(name);
        let behind = self.chain.order.partition_point(|order| **order <= *wanted.as_bytes());
        behind.saturating_sub(1)
    }

    /// RDATA of the NSEC at a place in the chain, whose name is not steered; `None`: it is.
    pub fn fixed_nsec(&self, place: usize) -> Option<&[u8]> {
        self.chain.nsecs[place].as_deref()
    }

    /// RDATA of the NSEC at a place in the chain, for a name that has these types.
    pub fn nsec<'n>(
        &self,
        place: usize,
        mut types: Vec<RecordType>,
        name_of: impl Fn(NodeId) -> &'n DnsName,
    ) -> Vec<u8> {
        let next = self.chain.ids[(place + 1) % self.chain.ids.len()];
        let mut rdata = name_of(next).0.to_vec();
        types.extend([RecordType::RRSIG, RecordType::NSEC]);
        types.sort_unstable();
        types.dedup();
        super::type_bitmap(&types, &mut rdata);
        rdata
    }
}
