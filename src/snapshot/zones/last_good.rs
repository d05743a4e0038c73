//! What steered RRsets served before they became empty, for `on_empty = "last_good"`.

use crate::balance::records::{self, Steering};
use crate::model::Model;
use crate::model::condition::Truth;
use crate::model::zone::{OnEmpty, Rrset, Zone};

/// For each zone and steered RRset the positions of the records that were served when it last was not empty. Only RRsets
/// with `on_empty = "last_good"` are remembered; read it with [`recall`].
pub type LastGood = Vec<Vec<Vec<u32>>>;

/// What `last_good` of the next snapshot is. `previous` is the model and the value of the snapshot before; it may be
/// another model: then records are recognised by zone, key, type and data.
pub fn last_good(
    model: &Model,
    scenario_active: &[bool],
    watched: &[Truth],
    previous: Option<(&Model, &LastGood)>,
) -> LastGood {
    let steering = Steering { scenario_active, watched };
    let of_rrset = |zone: usize, at: usize, rrset: &Rrset| {
        if rrset.on_empty != OnEmpty::LastGood {
            return Vec::new();
        }
        let before = match previous {
            None => Vec::new(),
            Some((old, known)) if std::ptr::eq(old, model) => recall(known, zone, at).to_vec(),
            Some((old, known)) => carried_over(&model.zones[zone], rrset, old, known),
        };
        records::last_good(rrset, steering, &before)
    };
    let of_zone = |(z, zone): (usize, &Zone)| {
        if zone.rrsets.iter().all(|r| r.on_empty != OnEmpty::LastGood) {
            return Vec::new();
        }
        zone.rrsets.iter().enumerate().map(|(at, rrset)| of_rrset(z, at, rrset)).collect()
    };
    model.zones.iter().enumerate().map(of_zone).collect()
}

/// What is remembered for one RRset; empty where nothing is.
pub fn recall(known: &LastGood, zone: usize, rrset: usize) -> &[u32] {
    known.get(zone).and_then(|z| z.get(rrset)).map_or(&[], Vec::as_slice)
}

fn carried_over(zone: &Zone, rrset: &Rrset, old: &Model, known: &LastGood) -> Vec<u32> {
    let found = || {
        let z = old.zones.iter().position(|z| z.origin == zone.origin)?;
        let at = old.zones[z].rrsets.iter().position(|r| r.owner == rrset.owner && r.rtype == rrset.rtype)?;
        Some((&old.zones[z].rrsets[at], recall(known, z, at)))
    };
    let Some((before, positions)) = found() else { return Vec::new() };
    let now = positions.iter().filter_map(|&p| {
        let was = before.records.get(p as usize)?;
        rrset.records.iter().position(|r| r.rtype == was.rtype && r.rdata == was.rdata).map(|p| p as u32)
    });
    let now: Vec<u32> = now.collect();
    // The records may have moved to different sets, and sets are never mixed.
    let mut sets = now.iter().map(|&p| rrset.records[p as usize].dr_cond);
    let first = sets.next();
    if sets.all(|s| Some(s) == first) { now } else { Vec::new() }
}
