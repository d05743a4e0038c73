//! No CNAME beside other data, in any combination of scenarios that can be reached (RFC 1034 §3.6.2).
//!
//! What a steered RRset serves depends on which of its DR scenarios are active, so the combinations of the scenarios
//! that the owner's RRsets name are walked through. An RRset counts with every set that it may serve in a combination:
//! the answer to "can these two meet?" must not depend on which checks happen to be down.

use crate::model::id::ScenarioId;
use crate::model::zone::{OnEmpty, Record, RecordType, Rrset};

/// Owners with more DR scenarios than this are judged as if any combination of sets could meet.
const SCENARIOS_MOST: usize = 12;

/// The RRsets of one owner that conflict, and why. `fixed` are the owner's types in the zone text.
pub fn conflicts<'m>(fixed: &[RecordType], rrsets: &[&'m Rrset]) -> Vec<(&'m Rrset, String)> {
    let mut found = Vec::new();
    let aliases = |rrset: &Rrset| rrset.records.iter().any(|r| r.enabled && r.rtype == RecordType::CNAME);
    for rrset in rrsets {
        if aliases(rrset) {
            if let Some(other) = fixed.iter().filter(|rtype| !is_meta(**rtype)).min() {
                found.push((
                    *rrset,
                    format!("a CNAME cannot stand beside the {other} record of its owner in the zone text"),
                ));
            }
        } else if fixed.contains(&RecordType::CNAME) {
            found.push((*rrset, "its owner is a CNAME in the zone text, which cannot stand beside other data".into()));
        }
        found.extend(mixed_sets(rrset).map(|why| (*rrset, why)));
    }
    if rrsets.len() > 1 && rrsets.iter().any(|rrset| aliases(rrset)) {
        found.extend(meeting(rrsets));
    }
    found
}

/// DNSSEC's records may stand beside a CNAME.
fn is_meta(rtype: RecordType) -> bool {
    matches!(rtype.0, 46 | 47)
}

/// Within one set all records are of one type, and a CNAME has one target at a time.
fn mixed_sets(rrset: &Rrset) -> Option<String> {
    for set in sets(rrset) {
        let records: Vec<&Record> = members(rrset, set).collect();
        let aliases: Vec<&&Record> = records.iter().filter(|r| r.rtype == RecordType::CNAME).collect();
        if !aliases.is_empty() && aliases.len() < records.len() {
            return Some("a set of records holds a CNAME beside other data; give them different `drCond`".into());
        }
        if aliases.len() > 1 && rrset.select.answers != Some(1) && !exclusive(&aliases) {
            return Some(
                "a set has several CNAME records, and an owner has one; say `select = { answers = 1 }`".into(),
            );
        }
    }
    None
}

/// Two records of which one is left out exactly while the other is not.
fn exclusive(records: &[&&Record]) -> bool {
    match records {
        [a, b] => matches!((a.cond, b.cond), (Some((s, x)), Some((t, y))) if s == t && x != y),
        _ => false,
    }
}

fn sets(rrset: &Rrset) -> Vec<Option<ScenarioId>> {
    let mut sets = vec![None];
    for record in &rrset.records {
        if !sets.contains(&record.dr_cond) {
            sets.push(record.dr_cond);
        }
    }
    sets
}

fn members(rrset: &Rrset, set: Option<ScenarioId>) -> impl Iterator<Item = &Record> {
    rrset.records.iter().filter(move |record| record.enabled && record.dr_cond == set)
}

/// Pairs of RRsets where one may be a CNAME while the other has data.
fn meeting<'m>(rrsets: &[&'m Rrset]) -> Vec<(&'m Rrset, String)> {
    let mut scenarios: Vec<ScenarioId> =
        rrsets.iter().flat_map(|r| r.records.iter()).filter_map(|r| r.dr_cond).collect();
    scenarios.sort();
    scenarios.dedup();
    let all = scenarios.len() > SCENARIOS_MOST;
    let combinations = if all { 1 } else { 1_u32 << scenarios.len() };
    for combination in 0..combinations {
        let active = |scenario: ScenarioId| {
            all || scenarios.binary_search(&scenario).is_ok_and(|bit| combination & (1 << bit) != 0)
        };
        let served: Vec<Vec<RecordType>> = rrsets.iter().map(|rrset| served(rrset, active, all)).collect();
        for (index, rrset) in rrsets.iter().enumerate() {
            let other = (0..rrsets.len()).find(|&other| {
                other != index && served[index].contains(&RecordType::CNAME) && !served[other].is_empty()
            });
            if let Some(other) = other {
                let why = format!("can be a CNAME while `{}` has data, and a CNAME stands alone", rrsets[other].key);
                return vec![(*rrset, why)];
            }
        }
    }
    Vec::new()
}

/// The types that an RRset may serve while these scenarios are active.
fn served(rrset: &Rrset, active: impl Fn(ScenarioId) -> bool, all: bool) -> Vec<RecordType> {
    let sets = sets(rrset);
    let mut chosen: Vec<Option<ScenarioId>> = sets.iter().copied().filter(|set| set.is_some_and(&active)).collect();
    // `other_set` and `last_good` may go back to the primary set.
    if chosen.is_empty() || all || matches!(rrset.on_empty, OnEmpty::OtherSet | OnEmpty::LastGood) {
        chosen.push(None);
    }
    let mut types: Vec<RecordType> = chosen.iter().flat_map(|set| members(rrset, *set)).map(|r| r.rtype).collect();
    if let OnEmpty::Static(_) = rrset.on_empty {
        types.push(rrset.rtype);
    }
    types.sort();
    types.dedup();
    types
}
