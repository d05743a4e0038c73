use std::time::{Duration, Instant};

use super::*;
use crate::model::id::ScenarioId;
use crate::model::zone::{OnEmpty, Record, Rrset, Select, SelectMethod, Soa, StaticRecord};

fn name(text: &str) -> DnsName {
    DnsName::parse(text, &DnsName::root()).unwrap()
}

fn zone(origin: &str, records: &[(&str, RecordType)], rrsets: Vec<Rrset>) -> Zone {
    let origin = name(origin);
    let record = |&(owner, rtype): &(&str, RecordType)| StaticRecord {
        owner: DnsName::parse(owner, &origin).unwrap(),
        rtype,
        ttl: 30,
        rdata: Arc::from([0u8].as_slice()),
    };
    Zone {
        name: origin.to_string().trim_end_matches('.').into(),
        ttl: Duration::from_secs(30),
        degraded_ttl: None,
        soa: Soa {
            mname: origin.clone(),
            rname: origin.clone(),
            serial: 1,
            refresh: Duration::from_secs(3600),
            retry: Duration::from_secs(600),
            expire: Duration::from_secs(86_400),
            minimum: Duration::from_secs(5),
        },
        dnssec: None,
        transfer: Default::default(),
        text: None,
        records: records.iter().map(record).collect(),
        rrsets,
        origin,
    }
}

fn steered(owner: &str, data: &[&str], on_empty: OnEmpty) -> Rrset {
    let record = |text: &&str| Record {
        data: (*text).into(),
        rtype: RecordType::A,
        rdata: text.bytes().collect::<Vec<u8>>().into(),
        cond: None,
        dr_cond: None,
        check: None,
        enabled: true,
        weight: 1,
        datacenter: None,
        geo: Vec::new(),
    };
    Rrset {
        key: owner.into(),
        owner: name(owner),
        rtype: RecordType::A,
        ttl: 30,
        own_ttl: false,
        degraded_ttl: None,
        own_degraded_ttl: false,
        gslb_vserver: None,
        records: data.iter().map(record).collect(),
        on_empty,
        select: Select { topology: false, geo: false, method: SelectMethod::Ordered, answers: None },
        datacenter: None,
    }
}

fn index(zones: Vec<Zone>) -> ZoneIndex {
    ZoneIndex::build(&Model { zones, ..Model::empty() })
}

#[test]
fn the_longest_origin_wins_and_labels_are_not_letters() {
    let index = index(vec![zone("example.test.", &[], vec![]), zone("sub.example.test.", &[], vec![])]);
    let find = |text| index.find(&name(text).0);
    assert_eq!(find("www.example.test."), Some(0));
    assert_eq!(find("example.test."), Some(0));
    assert_eq!(find("a.b.sub.example.test."), Some(1));
    assert_eq!(find("sub.example.test."), Some(1));
    assert_eq!(find("notexample.test."), None);
    assert_eq!(find("test."), None);
    assert_eq!(find("."), None);
}

#[test]
fn the_root_can_be_a_zone() {
    let index = index(vec![zone(".", &[("a.b.", RecordType::A)], vec![])]);
    assert_eq!(index.find(&name("anything.at.all.").0), Some(0));
    assert_eq!(index.zone(0).place(&name(".").0), Place::Exact(NodeId::APEX));
}

#[test]
fn names_between_an_owner_and_the_apex_exist() {
    let index = index(vec![zone(
        "example.test.",
        &[("a.b.c", RecordType::A)],
        vec![steered("x.y.example.test.", &[], OnEmpty::ServeAll)],
    )]);
    let zone = index.zone(0);
    for empty in ["b.c.example.test.", "c.example.test.", "y.example.test."] {
        let Place::Exact(id) = zone.place(&name(empty).0) else { panic!("{empty} exists") };
        assert!(zone.node(id).is_empty());
    }
    let Place::Below(encloser) = zone.place(&name("q.z.b.c.example.test.").0) else { panic!() };
    assert_eq!(zone.node(encloser).name, name("b.c.example.test."));
    assert_eq!(zone.place(&name("nothing.example.test.").0), Place::Below(NodeId::APEX));
}

#[test]
fn authority_ends_at_the_highest_cut_and_below_a_dname() {
    let records = [
        ("cut", RecordType::NS),
        ("deeper.cut", RecordType::NS),
        ("ns.cut", RecordType::A),
        ("alias", RecordType::DNAME),
        ("x.alias", RecordType::A),
        ("@", RecordType::NS),
        ("*", RecordType::NS),
    ];
    let index = index(vec![zone("example.test.", &records, vec![])]);
    let zone = index.zone(0);
    let boundary = |text: &str| match zone.place(&name(text).0) {
        Place::Exact(id) => zone.node(id).boundary.map(|b| zone.node(b).name.to_string()),
        Place::Below(_) => panic!("{text} exists"),
    };
    assert_eq!(boundary("example.test."), None);
    assert_eq!(boundary("*.example.test."), None);
    for below in ["cut.example.test.", "ns.cut.example.test.", "deeper.cut.example.test."] {
        assert_eq!(boundary(below).as_deref(), Some("cut.example.test."));
    }
    assert_eq!(boundary("alias.example.test."), None);
    assert_eq!(boundary("x.alias.example.test.").as_deref(), Some("alias.example.test."));
}

#[test]
fn the_last_good_records_survive_a_reload_by_their_data() {
    let model = |data: &[&str]| {
        let rrset = steered("www.example.test.", data, OnEmpty::LastGood);
        Model { zones: vec![zone("example.test.", &[], vec![rrset])], ..Model::empty() }
    };
    let mut old = model(&["a", "b"]);
    old.zones[0].rrsets[0].records[0].cond = Some((ScenarioId(0), false));
    let known = last_good(&old, &[true], &[], None);
    assert_eq!(known, vec![vec![vec![1]]]);

    let mut new = model(&["c", "b", "a"]);
    for record in &mut new.zones[0].rrsets[0].records {
        record.cond = Some((ScenarioId(0), false));
    }
    assert_eq!(recall(&last_good(&new, &[true], &[], Some((&old, &known))), 0, 0), [1]);
    assert_eq!(recall(&last_good(&new, &[false], &[], Some((&old, &known))), 0, 0), [0, 1, 2]);
    assert_eq!(recall(&last_good(&new, &[true], &[], None), 0, 0), [0u32; 0]);
}

#[test]
fn a_hundred_thousand_records_are_indexed_in_a_moment() {
    let mut zone = zone("example.test.", &[], vec![]);
    let record = |i: u32| StaticRecord {
        owner: name(&format!("host{i}.rack{}.example.test.", i % 500)),
        rtype: RecordType::A,
        ttl: 30,
        rdata: Arc::from(i.to_be_bytes().as_slice()),
    };
    zone.records = (0..100_000).map(record).collect();
    let model = Model { zones: vec![zone], ..Model::empty() };
    let start = Instant::now();
    let index = ZoneIndex::build(&model);
    // Generous: this is a debug build on a busy machine.
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    assert_eq!(index.zone(0).node_count(), 100_000 + 500 + 1);
}

#[test]
fn ttls_of_a_transferred_zone_that_is_signed_here_are_cut_to_what_signatures_outlive() {
    let origin = name("example.test.");
    let numbers = [7u32, 3600, 600, 86_400, 900_000].into_iter().flat_map(u32::to_be_bytes);
    let record = |rtype, ttl, rdata: Vec<u8>| StaticRecord { owner: origin.clone(), rtype, ttl, rdata: rdata.into() };
    let soa = record(RecordType::SOA, 800_000, [0, 0].into_iter().chain(numbers).collect());
    let records = vec![soa, record(RecordType::A, 2_592_000, vec![192, 0, 2, 1]), record(RecordType::NS, 60, vec![0])];
    let contents = Arc::new(crate::model::zone::ZoneContents::new(origin, records).unwrap());
    let received = Received { contents, confirmed: crate::model::time::Wall(0), is_expired: false };
    let mut zone = zone("example.test.", &[], Vec::new());
    zone.transfer.from.push(crate::model::transfer::Primary { address: ([192, 0, 2, 53], 53).into(), key: None });
    let ttls = |zone: &Zone| {
        let entry = ZoneEntry::build_with(zone, Some(&received), None);
        let of = |rtype| entry.node(NodeId::APEX).fixed.iter().find(|set| set.rtype == rtype).map(|set| set.ttl);
        ([RecordType::SOA, RecordType::A, RecordType::NS].map(of), entry.negative_ttl)
    };
    assert_eq!(ttls(&zone), ([Some(800_000), Some(2_592_000), Some(60)], 800_000), "as they came");
    zone.dnssec = Some(crate::model::dnssec::Dnssec { keys: Vec::new(), validity: Duration::from_secs(86_400) });
    assert_eq!(ttls(&zone), ([Some(21_600), Some(21_600), Some(60)], 21_600), "a quarter of a day");
}
