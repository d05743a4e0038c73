//! Signing before anybody asks.

use super::super::Snapshot;
use super::super::contents;
use super::super::zones::Node;
use super::{Signable, ZoneSigner};
use crate::balance::records::{Set, members};
use crate::model::zone::{OnEmpty, RecordType, Rrset};

// === impl Snapshot ===

impl Snapshot {
    /// Makes the signatures of what the zones hold now and of what steering may put in its place, as far as they are not
    /// there or will soon have to be replaced. `goes_on` is asked after each name. `now`: Unix seconds.
    ///
    /// Left for the query are sets that `cond` or `check` have thinned out, answers of several records out of more, and
    /// the NSEC records of steered names in other states than this one.
    pub fn sign_ahead(&self, now: u64, mut goes_on: impl FnMut() -> bool) {
        for zone in 0..self.model.zones.len() {
            let entry = self.zones.zone(zone);
            let Some(signer) = &entry.signer else { continue };
            for (place, &id) in signer.chain().iter().enumerate() {
                self.sign_name(zone, signer, entry.node(id), place, now);
                if !goes_on() {
                    return;
                }
            }
        }
    }

    fn sign_name(&self, zone: usize, signer: &ZoneSigner, node: &Node, place: usize, now: u64) {
        let entry = self.zones.zone(zone);
        let sign = |rtype: RecordType, ttl: u32, contents: &[u8], rdata: &[&[u8]]| {
            signer.sign_ahead(Signable { owner: &node.name, rtype, ttl }, contents, rdata.iter().copied(), now);
        };
        for set in self.rrsets_at(zone, node).iter().filter(|set| set.is_served) {
            let rdata: Vec<&[u8]> = set.rdata.iter().map(|rdata| &**rdata).collect();
            if !node.is_cut() || set.rtype == RecordType::DS {
                sign(set.rtype, set.ttl, &set.variant, &rdata);
            }
        }
        for steered in &node.steered {
            let rrset = &self.model.zones[zone].rrsets[steered.index as usize];
            // A signature holds the TTL, which may be the shorter one at times.
            for ttl in [Some(rrset.ttl), rrset.degraded_ttl].into_iter().flatten() {
                for positions in answers(rrset) {
                    let rdata: Vec<&[u8]> = positions.iter().map(|&at| &*rrset.records[at as usize].rdata).collect();
                    if let Some(&first) = positions.first() {
                        let rtype = rrset.records[first as usize].rtype;
                        sign(rtype, ttl, &contents::variant(rrset, &positions), &rdata);
                    }
                }
                if let OnEmpty::Static(data) = &rrset.on_empty {
                    let rdata: Vec<&[u8]> = data.iter().map(|data| &*data.rdata).collect();
                    sign(rrset.rtype, ttl, &super::contents(rdata.iter().copied()), &rdata);
                }
            }
        }
        let steered;
        let nsec = match signer.fixed_nsec(place) {
            Some(nsec) => nsec,
            None => {
                steered = signer.nsec(place, self.types(zone, node), |id| &entry.node(id).name);
                &steered
            }
        };
        sign(RecordType::NSEC, entry.negative_ttl, nsec, &[nsec]);
    }
}

/// What the selection makes of each set: the whole of it, or each record alone.
fn answers(rrset: &Rrset) -> Vec<Vec<u32>> {
    let mut sets: Vec<Set> = rrset.records.iter().map(Set::of).collect();
    sets.dedup();
    let whole = |set: Set| members(rrset, set).map(|(at, _)| at).collect::<Vec<u32>>();
    sets.into_iter()
        .flat_map(|set| {
            let whole = whole(set);
            let is_cname = whole.first().is_some_and(|&at| rrset.records[at as usize].rtype == RecordType::CNAME);
            if rrset.select.answers == Some(1) || is_cname {
                whole.into_iter().map(|at| vec![at]).collect()
            } else {
                vec![whole]
            }
        })
        .collect()
}
