//! The chain of NSEC records. It links every name that the zone speaks for, steered ones always: which names exist does
//! not change with the state, so the chain is made once for each model. What a name has changes, and with it the type
//! bitmap of its own NSEC; a list of types is read at the query from what is served at that moment.

use super::super::zones::{Node, NodeId};
use super::{ZoneSigner, compare};
use crate::model::zone::{DnsName, RecordType};

// === impl ZoneSigner ===

impl ZoneSigner {
    /// Makes the chain of these nodes, of which the first is the apex.
    pub(in crate::snapshot) fn link(&mut self, nodes: &[Node]) {
        let ids = (0..nodes.len()).map(NodeId::at);
        let mut chain: Vec<NodeId> = ids.filter(|&id| nodes[id.index()].is_authoritative(id)).collect();
        chain.sort_by(|a, b| compare(&nodes[a.index()].name.0, &nodes[b.index()].name.0));
        self.chain = chain;
        // Each name has few types; the spare is for the sets that steering makes.
        self.most += 8 * nodes.len();
    }

    /// The names of the chain in canonical order.
    pub fn chain(&self) -> &[NodeId] {
        &self.chain
    }

    /// The place in the chain of the last name that is not behind `name` (lower case, wire format, in the zone): the name
    /// itself, or that whose NSEC covers it.
    pub fn covering<'n>(&self, name: &[u8], name_of: impl Fn(NodeId) -> &'n DnsName) -> usize {
        let behind = self.chain.partition_point(|&id| compare(&name_of(id).0, name).is_le());
        behind.saturating_sub(1)
    }

    /// RDATA of the NSEC at a place in the chain, for a name that has these types.
    pub fn nsec<'n>(
        &self,
        place: usize,
        mut types: Vec<RecordType>,
        name_of: impl Fn(NodeId) -> &'n DnsName,
    ) -> Vec<u8> {
        let next = self.chain[(place + 1) % self.chain.len()];
        let mut rdata = name_of(next).0.to_vec();
        types.extend([RecordType::RRSIG, RecordType::NSEC]);
        types.sort_unstable();
        types.dedup();
        super::type_bitmap(&types, &mut rdata);
        rdata
    }
}
