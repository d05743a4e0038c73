//! A query to a reply: one zone of a thousand static names, and a name steered by a scenario.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use bascule::dataplane::dns::answer::{Circumstances, Scratch, Transport, answer_with};
use bascule::machine::{Engine, Input};
use bascule::model::Model;
use bascule::model::id::ScenarioId;
use bascule::model::time::{Now, Tick, Wall};
use bascule::model::zone::{
    DnsName, OnEmpty, Record, RecordType, Rrset, Select, SelectMethod, Soa, StaticRecord, Zone,
};
use bascule::snapshot::Snapshot;
use bascule::snapshot::build::{Parts, build};
use bascule::snapshot::live::Registry;
use bascule::snapshot::zones::ZoneIndex;
use criterion::Criterion;

use super::world;

/// As a query comes: what is noted of an answer is noted once.
const NOW: Wall = Wall(1_800_000_000_000_000);

pub fn bench(c: &mut Criterion) {
    let snapshot = snapshot();
    let client: IpAddr = [127, 0, 0, 1].into();
    let mut group = c.benchmark_group("dns_answer");
    let mut out = Vec::new();
    let mut scratch = Scratch::default();
    for (what, name) in
        [("static", "h500.example.test."), ("steered", "www.example.test."), ("no such name", "nope.example.test.")]
    {
        let query = query(name);
        group.bench_function(what, |b| {
            let circumstances = || Circumstances::new(client, Transport::Udp, 7, NOW);
            b.iter(|| answer_with(&mut scratch, &snapshot, &query, circumstances(), &mut out));
        });
        assert!(!out.is_empty());
    }
    group.finish();
}

fn query(name: &str) -> Vec<u8> {
    let name = DnsName::parse(name, &DnsName::root()).expect("a name");
    let mut query = vec![0x12, 0x34, 0x01, 0x00, 0, 1, 0, 0, 0, 0, 0, 1];
    query.extend_from_slice(&name.0);
    query.extend_from_slice(&[0, 1, 0, 1]);
    // OPT, 1232 bytes.
    query.extend_from_slice(&[0, 0, 41, 0x04, 0xd0, 0, 0, 0, 0, 0, 0]);
    query
}

fn snapshot() -> Snapshot {
    let model = model();
    let mut engine = Engine::new();
    engine.step(Now::new(Tick(1), Wall(0)), Input::Adopt(Arc::clone(&model)), &mut Vec::new());
    build(Parts {
        generation: 1,
        model: &model,
        view: engine.view(),
        registry: &mut Registry::default(),
        zones: &Arc::new(ZoneIndex::build(&model)),
        resolved: &Default::default(),
        previous: None,
        scenario_active: vec![true; model.scenarios.len()],
        ready: true,
    })
}

fn model() -> Arc<Model> {
    let mut model = (*world::scenarios(10)).clone();
    let root = DnsName::root();
    let origin = DnsName::parse("example.test.", &root).expect("a name");
    let fixed = |owner: String, rtype, rdata: &[u8]| StaticRecord {
        owner: DnsName::parse(&owner, &origin).expect("a name"),
        rtype,
        ttl: 60,
        rdata: rdata.into(),
    };
    let ns = DnsName::parse("ns1", &origin).expect("a name");
    let mut records =
        vec![fixed("@".into(), RecordType::NS, &ns.0), fixed("ns1".into(), RecordType::A, &[192, 0, 2, 1])];
    records.extend((0..1_000_u16).map(|i| fixed(format!("h{i}"), RecordType::A, &[10, 0, (i >> 8) as u8, i as u8])));
    let record = |last: u8, dr_cond: Option<ScenarioId>| Record {
        data: format!("192.0.2.{last}").into(),
        rtype: RecordType::A,
        rdata: [192, 0, 2, last].as_slice().into(),
        cond: Some((ScenarioId(1), true)),
        dr_cond,
        check: None,
        enabled: true,
        weight: 1,
        datacenter: None,
        geo: Vec::new(),
    };
    let rrset = Rrset {
        key: "www A".into(),
        owner: DnsName::parse("www", &origin).expect("a name"),
        rtype: RecordType::A,
        ttl: 30,
        own_ttl: false,
        degraded_ttl: None,
        own_degraded_ttl: false,
        gslb_vserver: None,
        records: vec![
            record(10, None),
            record(11, None),
            record(12, Some(ScenarioId(0))),
            record(13, Some(ScenarioId(0))),
        ],
        on_empty: OnEmpty::ServeAll,
        select: Select { topology: false, geo: false, method: SelectMethod::Weighted, answers: None },
        datacenter: None,
    };
    model.zones = vec![Zone {
        name: "example.test".into(),
        origin: origin.clone(),
        ttl: Duration::from_secs(60),
        degraded_ttl: None,
        soa: Soa {
            mname: ns.clone(),
            rname: ns,
            serial: 1,
            refresh: Duration::from_secs(3600),
            retry: Duration::from_secs(600),
            expire: Duration::from_secs(604_800),
            minimum: Duration::from_secs(30),
        },
        text: None,
        dnssec: None,
        transfer: Default::default(),
        records,
        rrsets: vec![rrset],
    }];
    Arc::new(model)
}
