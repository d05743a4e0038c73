//! What a zone as a whole must obey, judged when all records are read.

use std::collections::{BTreeMap, HashSet};

use super::{Placed, ZoneProblem};
use crate::model::zone::{DnsName, RecordType, StaticRecord};

/// Judges the records in the order of the text and returns those that can stand. The later of two records that
/// contradict each other is the one named.
pub(super) fn judge(placed: Vec<Placed>, zone: &DnsName, problems: &mut Vec<ZoneProblem>) -> Vec<StaticRecord> {
    let mut ttls: BTreeMap<(DnsName, RecordType), u32> = BTreeMap::new();
    let mut cname_owner: BTreeMap<DnsName, bool> = BTreeMap::new();
    let mut seen: HashSet<(DnsName, RecordType, std::sync::Arc<[u8]>)> = HashSet::new();
    let mut kept = Vec::with_capacity(placed.len());
    for Placed { record, line, column } in placed {
        let (owner, rtype) = (&record.owner, record.rtype);
        let mut wrong = Vec::new();
        if !owner.is_within(zone) {
            wrong.push(format!("`{owner}` is outside the zone `{zone}`"));
        }
        let is_cname = rtype == RecordType::CNAME;
        match cname_owner.get(owner) {
            Some(true) if is_cname => wrong.push(format!("`{owner}` has a second CNAME")),
            Some(was_cname) if *was_cname != is_cname => {
                wrong.push(format!("`{owner}` has a CNAME beside other records"));
            }
            Some(_) => {}
            None => {
                cname_owner.insert(owner.clone(), is_cname);
            }
        }
        let first = *ttls.entry((owner.clone(), rtype)).or_insert(record.ttl);
        if first != record.ttl {
            wrong.push(format!(
                "TTL {} of `{owner} {rtype}` differs from {first} said before; an RRset has one",
                record.ttl
            ));
        }
        if rtype == RecordType::SOA {
            if owner != zone {
                wrong.push(format!("a SOA stands at the apex `{zone}` only"));
            } else if kept.iter().any(|r: &StaticRecord| r.rtype == RecordType::SOA) {
                wrong.push("the zone has a second SOA".into());
            }
        }
        if !seen.insert((owner.clone(), rtype, record.rdata.clone())) && wrong.is_empty() {
            wrong.push(format!("this record of `{owner} {rtype}` stands twice"));
        }
        if wrong.is_empty() {
            kept.push(record);
        }
        problems.extend(wrong.into_iter().map(|what| ZoneProblem { line, column, what }));
    }
    kept
}
