//! Answers a second time, by reading the list of records as a person would, and random zones to compare on.

use proptest::prelude::*;

use super::world::{Asked, Reply, World, name};
use crate::model::zone::{DnsName, RecordType, StaticRecord};

/// Code, and the records of answer and authority as sorted `(owner, type)` with their count.
#[derive(Debug, PartialEq)]
struct Expected {
    rcode: u16,
    authoritative: bool,
    answer: Vec<(String, RecordType)>,
    authority: Vec<(String, RecordType)>,
}

/// No tree, no index: every question is a search through all records.
fn naive(records: &[StaticRecord], origin: &DnsName, asked: &DnsName, rtype: RecordType) -> Expected {
    let mut expected = Expected { rcode: 0, authoritative: true, answer: Vec::new(), authority: Vec::new() };
    let mut owner = asked.clone();
    let mut seen = vec![owner.clone()];
    loop {
        let of = |owner: &DnsName, rtype: RecordType| -> Vec<&StaticRecord> {
            records.iter().filter(|r| r.owner == *owner && r.rtype == rtype).collect()
        };
        let above = |name: &DnsName| -> Vec<DnsName> {
            let all = std::iter::successors(Some(name.clone()), DnsName::parent);
            let mut inside: Vec<DnsName> = all.take_while(|n| n.is_within(origin)).collect();
            inside.reverse();
            inside
        };
        let cut = above(&owner).into_iter().skip(1).find(|n| {
            let delegates = !of(n, RecordType::NS).is_empty() && n.labels().next() != Some(b"*".as_slice());
            delegates && !(rtype == RecordType::DS && *n == owner)
        });
        if let Some(cut) = cut {
            expected.authoritative = seen.len() > 1;
            expected.authority.extend(of(&cut, RecordType::NS).iter().map(|r| (r.owner.to_string(), r.rtype)));
            return expected.sorted();
        }
        let exists = |name: &DnsName| name == origin || records.iter().any(|r| r.owner.is_within(name));
        let mut source = owner.clone();
        if !exists(&owner) {
            let encloser = above(&owner).into_iter().rfind(|n| exists(n)).unwrap();
            source = DnsName::parse("*", &encloser).unwrap();
            if !exists(&source) {
                expected.rcode = 3;
                expected.authority.push((origin.to_string(), RecordType::SOA));
                return expected.sorted();
            }
        }
        let alias = of(&source, RecordType::CNAME);
        let found = if alias.is_empty() { of(&source, rtype) } else { alias.clone() };
        expected.answer.extend(found.iter().map(|r| (owner.to_string(), r.rtype)));
        if found.is_empty() {
            expected.authority.push((origin.to_string(), RecordType::SOA));
            return expected.sorted();
        }
        if alias.is_empty() || rtype == RecordType::CNAME {
            return expected.sorted();
        }
        owner = DnsName::from_wire(&alias[0].rdata).unwrap();
        if !owner.is_within(origin) || seen.contains(&owner) {
            return expected.sorted();
        }
        seen.push(owner.clone());
    }
}

impl Expected {
    fn sorted(mut self) -> Expected {
        self.answer.sort();
        self.authority.sort();
        self
    }

    fn of(reply: &Reply) -> Expected {
        let section = |records: &[hickory_proto::rr::Record]| {
            records.iter().map(|r| (r.name.to_lowercase().to_string(), RecordType(r.record_type().into()))).collect()
        };
        Expected {
            rcode: reply.outcome.rcode,
            authoritative: reply.is_authoritative(),
            answer: section(&reply.message.answers),
            authority: section(&reply.message.authorities),
        }
        .sorted()
    }
}

/// Few labels, so that names meet: `*` and ordinary ones up to three deep.
fn any_owner() -> impl Strategy<Value = String> {
    const LABELS: [&str; 4] = ["a", "b", "c", "*"];
    proptest::collection::vec(proptest::sample::select(&LABELS[..]), 0..4).prop_map(|labels| {
        let mut text: String = labels.iter().map(|l| format!("{l}.")).collect();
        text.push_str("example.test.");
        text
    })
}

/// A zone of A, TXT, NS, DS and CNAME records; a CNAME only where nothing else is.
fn any_zone() -> impl Strategy<Value = Vec<(String, u16, String)>> {
    let record = (any_owner(), proptest::sample::select(&[1u16, 1, 16, 2, 43, 5, 5][..]), any_owner());
    proptest::collection::vec(record, 0..12).prop_map(|records| {
        let mut kept: Vec<(String, u16, String)> = Vec::new();
        for (owner, rtype, target) in records {
            let clashes = kept.iter().any(|(o, t, _)| *o == owner && (*t == 5 || rtype == 5 || (*t == rtype)));
            let apex_alias = rtype == 5 && owner == "example.test.";
            if !clashes && !apex_alias {
                kept.push((owner, rtype, target));
            }
        }
        kept
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn the_tree_answers_as_a_search_through_all_records_does(
        zone in any_zone(),
        asked in any_owner(),
        rtype in proptest::sample::select(&[1u16, 16, 2, 43, 5, 28][..]),
    ) {
        let mut world = World::example();
        let origin = name("example.test.");
        world.model.zones[0].records = zone
            .iter()
            .map(|(owner, rtype, target)| StaticRecord {
                owner: name(owner),
                rtype: RecordType(*rtype),
                ttl: 30,
                rdata: match rtype {
                    1 => [192, 0, 2, 1].as_slice().into(),
                    2 | 5 => name(target).0,
                    _ => [1, b'x'].as_slice().into(),
                },
            })
            .collect();
        // The decoder must understand them: a DS of two bytes is none.
        for record in world.model.zones[0].records.iter_mut().filter(|r| r.rtype == RecordType::DS) {
            record.rdata = [0, 1, 13, 2].into_iter().chain([7; 32]).collect::<Vec<u8>>().into();
        }
        let expected = naive(&world.model.zones[0].records, &origin, &name(&asked), RecordType(rtype));
        let question = Asked { rtype: RecordType(rtype), ..Asked::new(&asked, "A") };
        let reply = world.ask_with(&question);
        prop_assert!(!reply.message.metadata.truncation);
        prop_assert_eq!(Expected::of(&reply), expected);
    }
}
