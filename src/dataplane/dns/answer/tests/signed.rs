//! When signatures are made.

use std::sync::Arc;

use super::world::{Asked, World, dr, record};
use crate::dataplane::dns::answer::{Transport, answer};
use crate::dataplane::dns::unix_now;
use crate::model::Model;
use crate::model::dnssec::{Dnssec, KeyState, ZoneKey};
use crate::model::state::StateView;
use crate::model::tls::Pem;
use crate::model::zone::{SelectMethod, StaticRecord};
use crate::snapshot::Snapshot;
use crate::snapshot::build::{Parts, build};
use crate::snapshot::live::Registry;
use crate::snapshot::zones::ZoneIndex;

/// `www` has one answer of two, and one of two others while `dr` is active.
fn world() -> World {
    let mut world = World::example();
    let disaster = world.scenario("dr", false);
    let data = ["192.0.2.10", "192.0.2.11"].map(record);
    let others = ["198.51.100.10", "198.51.100.11"].map(|data| dr(disaster, data));
    let rrset = world.rrset("www A", data.into_iter().chain(others).collect());
    rrset.select.method = SelectMethod::RoundRobin;
    rrset.select.answers = Some(1);
    world.model.zones[0].dnssec = Some(dnssec("ODIyNjAzODQ2MjgwODAxMjI2NDUxOTAyMDQxNDIyNjI="));
    world
}

fn dnssec(private: &str) -> Dnssec {
    let text = format!("Private-key-format: v1.3\nAlgorithm: 15\nPrivateKey: {private}\n");
    let private = Pem { file: "k".into(), text: text.into() };
    let key = ZoneKey { private, public: None, role: None, state: KeyState::Active };
    Dnssec { keys: vec![key], validity: std::time::Duration::from_secs(14 * 86_400) }
}

fn snapshot(model: &Arc<Model>, zones: &Arc<ZoneIndex>, active: bool) -> Snapshot {
    build(Parts {
        generation: 1,
        model,
        view: &StateView::default(),
        registry: &mut Registry::default(),
        zones,
        resolved: &Default::default(),
        previous: None,
        scenario_active: vec![active],
        ready: true,
    })
}

/// Asks for what there is and for what there is not, with DO; how many signatures have been made by then.
fn signed_after_all_questions(snapshot: &Snapshot) -> u64 {
    for owner in
        ["@", "ns1", "mail", "alias", "web", "x.wild", "deep", "sub", "x.sub", "x.old", "odd", "www", "nothing"]
    {
        let owner = format!("{owner}.example.test.").replace("@.", "");
        for rtype in ["A", "AAAA", "MX", "NS", "SOA", "DNSKEY", "DS", "TXT", "ANY"] {
            for _turn in 0..2 {
                let asked = Asked::new(&owner, rtype);
                let mut wire = asked.wire();
                let flags = wire.len() - 4;
                wire[flags] |= 0x80;
                answer(snapshot, &wire, asked.client, Transport::Tcp, 1, &mut Vec::new());
            }
        }
    }
    signed(snapshot)
}

fn signed(snapshot: &Snapshot) -> u64 {
    snapshot.zones.zone(0).signer.as_ref().unwrap().signed()
}

fn after(model: &Model, before: (&Arc<Model>, &Arc<ZoneIndex>)) -> (Arc<Model>, Arc<ZoneIndex>) {
    let zones = ZoneIndex::build_after(model, Some((before.0, before.1)));
    (Arc::new(model.clone()), Arc::new(zones))
}

#[test]
fn what_is_signed_ahead_is_signed_at_no_query_before_or_after_a_flip() {
    let model = Arc::new(world().model);
    let zones = Arc::new(ZoneIndex::build(&model));
    let calm = snapshot(&model, &zones, false);
    calm.sign_ahead(unix_now(), || true);
    let made = signed(&calm);
    assert!(made > 30, "{made}");
    assert_eq!(signed_after_all_questions(&calm), made);
    assert_eq!(signed_after_all_questions(&snapshot(&model, &zones, true)), made);
    calm.sign_ahead(unix_now(), || true);
    assert_eq!(signed(&calm), made, "nothing is signed twice");
}

#[test]
fn a_reload_signs_what_is_new_and_nothing_else() {
    let mut world = world();
    let first = Arc::new(world.model.clone());
    let zones = Arc::new(ZoneIndex::build(&first));
    let before = snapshot(&first, &zones, false);
    before.sign_ahead(unix_now(), || true);
    let made = signed(&before);

    // Another zone: this one is taken over as it is, its turns of round robin included.
    let turn = before.zones.zone(0).next_turn(0);
    world.zone("example.net.", "www A 192.0.2.1\n");
    let (model, zones) = after(&world.model, (&first, &zones));
    let next = snapshot(&model, &zones, false);
    assert_eq!(next.zones.zone(0).turn(0), turn + 1);
    assert_eq!(signed_after_all_questions(&next), made);

    // One record more: its set, its NSEC, and the NSEC before it.
    let new = StaticRecord {
        owner: super::world::name("new-one.example.test."),
        rtype: crate::model::zone::RecordType::A,
        ttl: 30,
        rdata: [192, 0, 2, 7].as_slice().into(),
    };
    world.model.zones[0].records.push(new);
    let (changed, zones) = after(&world.model, (&model, &zones));
    let next = snapshot(&changed, &zones, false);
    next.sign_ahead(unix_now(), || true);
    assert_eq!(signed(&next), made + 3);
    assert_eq!(signed_after_all_questions(&next), made + 3);

    // Another key: nothing that was made is good.
    world.model.zones[0].dnssec = Some(dnssec("ODIyNjAzODQ2MjgwODAxMjI2NDUxOTAyMDQxNDIyNjM="));
    let (model, zones) = after(&world.model, (&changed, &zones));
    let next = snapshot(&model, &zones, false);
    assert_eq!(signed(&next), 0);
    assert!(signed_after_all_questions(&next) > 10);
}
