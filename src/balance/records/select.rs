//! Step 4: the order of the records and how many of them an answer holds. With `topology` the records of the client's
//! own data centre come first of all, and alone, where there are any; else, with `geo`, those for its region.
//!
//! Resolvers cache and often reorder an answer, so shares are exact only where an answer holds one record
//! (`answers = 1`); with more, `weighted` gives every record the first place in proportion to its weight. The hash is
//! rendezvous hashing: each record scores `weight / -ln(h(client, record))` and the best scores win. It needs no state,
//! gives the same result on every appliance with the same records, and when a record goes, only the clients that it had
//! are spread over the others.

use std::net::IpAddr;

use crate::model::geo::Place;
use crate::model::zone::{Record, RecordType, Rrset, SelectMethod};

/// The chance and the circumstances of one query.
#[derive(Clone, Copy, Debug)]
pub struct Draw<'a> {
    /// Fresh random bits for `weighted`.
    pub entropy: u64,
    /// The number of earlier queries for this RRset, for `round_robin`.
    pub turn: u64,
    /// Whom the answer is for, for `hash`.
    pub client: IpAddr,
    /// The data centre that the client stands in, for `topology`.
    pub datacenter: Option<&'a str>,
    /// Where it is, for `geo`.
    pub place: Place<'a>,
}

/// Orders `chosen` (positions in `rrset.records`) and cuts it to the number of answers. A record of weight 0 stays only
/// where all have weight 0. A CNAME is always alone.
pub fn select(rrset: &Rrset, chosen: &mut Vec<u32>, draw: Draw<'_>) {
    let record = |at: u32| &rrset.records[at as usize];
    if chosen.iter().any(|&at| record(at).weight > 0) {
        chosen.retain(|&at| record(at).weight > 0);
    }
    let near = |at: u32| draw.datacenter.is_some() && record(at).datacenter.as_deref() == draw.datacenter;
    if rrset.select.topology && chosen.iter().any(|&at| near(at)) {
        chosen.retain(|&at| near(at));
    } else if rrset.select.geo {
        by_region(rrset, chosen, draw.place);
    }
    let Some(&first) = chosen.first() else { return };
    let single = record(first).rtype == RecordType::CNAME;
    let wanted = if single { 1 } else { rrset.select.answers.map_or(usize::MAX, |n| n.max(1) as usize) };
    match rrset.select.method {
        SelectMethod::Ordered => {}
        SelectMethod::RoundRobin => {
            let turn = draw.turn % chosen.len() as u64;
            chosen.rotate_left(turn as usize);
        }
        SelectMethod::Weighted => permute(chosen, wanted, |at| record(at).weight, draw.entropy),
        SelectMethod::Hash => {
            let client = hash_address(draw.client);
            // Higher is better; `total_cmp` on the negated score sorts the best to the front. Ties keep their order.
            chosen.sort_by_cached_key(|&at| Descending(score(client, record(at))));
        }
    }
    chosen.truncate(wanted);
}

/// Keeps the records for the narrowest region that holds the client. A client in none of the regions gets the records
/// that are for nobody in particular, and all where there are none of those.
fn by_region(rrset: &Rrset, chosen: &mut Vec<u32>, place: Place<'_>) {
    let regions = |at: u32| &rrset.records[at as usize].geo;
    let best = chosen.iter().map(|&at| place.nearness(regions(at))).max().unwrap_or(0);
    if best > 0 {
        chosen.retain(|&at| place.nearness(regions(at)) == best);
    } else if chosen.iter().any(|&at| regions(at).is_empty()) {
        chosen.retain(|&at| regions(at).is_empty());
    }
}

/// Draws without replacement in proportion to the weights until `wanted` places are filled. Equal weights where all are
/// zero.
fn permute(chosen: &mut [u32], wanted: usize, weight: impl Fn(u32) -> u32, mut entropy: u64) {
    let all_zero = chosen.iter().all(|&at| weight(at) == 0);
    let weight = |at| if all_zero { 1 } else { u64::from(weight(at)) };
    let mut total: u64 = chosen.iter().map(|&at| weight(at)).sum();
    for place in 0..chosen.len().min(wanted) {
        let mut ticket = below(&mut entropy, total);
        let found = chosen[place..].iter().position(|&at| match ticket.checked_sub(weight(at)) {
            Some(rest) => {
                ticket = rest;
                false
            }
            None => true,
        });
        let winner = place + found.expect("the ticket is below the sum of the weights");
        total -= weight(chosen[winner]);
        // Not a swap: those who have not been drawn keep the order of the configuration.
        chosen[place..=winner].rotate_right(1);
    }
}

/// A number below `bound` (which is above zero); the bias of at most `bound / 2^64` is beneath notice.
fn below(entropy: &mut u64, bound: u64) -> u64 {
    *entropy = entropy.wrapping_add(0x9e37_79b9_7f4a_7c15);
    ((u128::from(mix(*entropy)) * u128::from(bound)) >> 64) as u64
}

fn score(client: u64, record: &Record) -> f64 {
    let mut hash = client;
    for chunk in record.rdata.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = mix(hash ^ u64::from_le_bytes(word));
    }
    // 53 bits, moved off zero and one, so that the logarithm is finite and below zero.
    let unit = ((hash >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    f64::from(record.weight.max(1)) / -unit.ln()
}

/// Fixed, unlike the hashes of maps: a client must keep its answer over restarts and between appliances.
fn hash_address(client: IpAddr) -> u64 {
    match client.to_canonical() {
        IpAddr::V4(v4) => mix(u64::from(u32::from(v4)) ^ 0x0400_0000_0000_0000),
        IpAddr::V6(v6) => {
            let bits = u128::from(v6);
            mix(mix((bits >> 64) as u64) ^ bits as u64)
        }
    }
}

/// The finaliser of splitmix64.
fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

#[derive(PartialEq)]
struct Descending(f64);

impl Eq for Descending {}

impl PartialOrd for Descending {
    fn partial_cmp(&self, other: &Descending) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Descending {
    fn cmp(&self, other: &Descending) -> std::cmp::Ordering {
        other.0.total_cmp(&self.0)
    }
}
