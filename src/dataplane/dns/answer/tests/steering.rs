//! Answers that scenarios decide.

use hickory_proto::op::ResponseCode;

use super::world::{Asked, Reply, World, cond, dr, record, static_data};
use crate::balance::records::Fallback;
use crate::dataplane::dns::explain;
use crate::model::condition::Truth;
use crate::model::zone::{DnsName, OnEmpty, Record, RecordType, Select, SelectMethod};

/// `www A`: a and b of the primary set (a with a condition), c of the DR set.
fn steered() -> World {
    let mut world = World::example();
    let out = world.scenario("a-is-out", false);
    let disaster = world.scenario("dr", false);
    world.rrset("www A", vec![cond(out, "192.0.2.10"), record("192.0.2.11"), dr(disaster, "198.51.100.10")]);
    world
}

#[test]
fn scenarios_change_the_answer_and_the_answer_alone() {
    let mut world = steered();
    assert_eq!(world.ask("www.example.test.", "A").data(), ["192.0.2.10", "192.0.2.11"]);
    world.active = vec![true, false];
    assert_eq!(world.ask("www.example.test.", "A").data(), ["192.0.2.11"]);
    world.active = vec![true, true];
    let reply = world.ask("www.example.test.", "A");
    assert_eq!(reply.answers(), ["www.example.test. A 198.51.100.10"]);
    assert!(reply.is_authoritative() && reply.extended_error().is_none());
    assert_eq!(reply.message.answers[0].ttl, 30);
}

#[test]
fn a_check_that_is_false_takes_its_record_out() {
    let mut world = World::example();
    let up = world.term("api-a", Truth::Unknown);
    world.rrset("www A", vec![Record { check: Some(up), ..record("192.0.2.10") }, record("192.0.2.11")]);
    assert_eq!(world.ask("www.example.test.", "A").data().len(), 2);
    world.watched[0] = Truth::False;
    assert_eq!(world.ask("www.example.test.", "A").data(), ["192.0.2.11"]);
}

#[test]
fn a_steered_name_exists_whatever_its_scenarios_say() {
    let mut world = World::example();
    let out = world.scenario("out", true);
    world.rrset("www A", vec![cond(out, "192.0.2.10")]).on_empty = OnEmpty::NoData;
    let reply = world.ask("www.example.test.", "A");
    assert!(reply.is_nodata());
    assert_eq!(reply.outcome.fallback, Some((0, Fallback::NoData)));
    assert!(world.ask("www.example.test.", "AAAA").is_nodata());
}

#[test]
fn every_policy_shows_in_answer_and_extended_error() {
    let mut world = World::example();
    let out = world.scenario("out", true);
    let cases = [
        (OnEmpty::ServeAll, &["192.0.2.10"][..], ResponseCode::NoError, 0),
        (OnEmpty::OtherSet, &["192.0.2.10"], ResponseCode::NoError, 0),
        (static_data("203.0.113.1"), &["203.0.113.1"], ResponseCode::NoError, 0),
        (OnEmpty::LastGood, &["192.0.2.10"], ResponseCode::NoError, 3),
        (OnEmpty::NoData, &[], ResponseCode::NoError, 0),
        (OnEmpty::ServFail, &[], ResponseCode::ServFail, 0),
    ];
    world.rrset("www A", vec![cond(out, "192.0.2.10")]);
    for (policy, data, rcode, code) in cases {
        world.model.zones[0].rrsets[0].on_empty = policy.clone();
        let reply = world.ask("www.example.test.", "A");
        assert_eq!((reply.data(), reply.rcode()), (data.iter().map(|d| d.to_string()).collect(), rcode), "{policy:?}");
        let (shown, text) = reply.extended_error().unwrap();
        assert_eq!((shown, text), (code, format!("on_empty = {}", reply.outcome.fallback.unwrap().1.word())));
        assert!(world.ask_with(&Asked { edns: None, ..Asked::new("www.example.test.", "A") }).bytes.len() <= 512);
    }
}

#[test]
fn aliases_lead_to_steered_names_and_wildcards_can_be_steered() {
    let mut world = steered();
    let disaster = crate::model::id::ScenarioId(1);
    world.rrset("*.tenant A", vec![record("192.0.2.70"), dr(disaster, "198.51.100.70")]);
    world.active = vec![false, true];
    assert_eq!(world.ask("to-www.example.test.", "A").data(), ["www.example.test.", "198.51.100.10"]);
    assert_eq!(world.ask("x.tenant.example.test.", "A").answers(), ["x.tenant.example.test. A 198.51.100.70"]);
}

#[test]
fn a_set_that_is_a_cname_makes_the_whole_name_an_alias() {
    let mut world = World::example();
    let disaster = world.scenario("dr", false);
    world.rrset("app A", vec![record("192.0.2.10"), dr(disaster, "web.example.test.")]);
    assert_eq!(world.ask("app.example.test.", "A").data(), ["192.0.2.10"]);
    assert!(world.ask("app.example.test.", "AAAA").is_nodata());
    assert!(world.ask("app.example.test.", "CNAME").is_nodata());
    world.active[0] = true;
    assert_eq!(world.ask("app.example.test.", "A").data(), ["web.example.test.", "192.0.2.80"]);
    assert_eq!(world.ask("app.example.test.", "TXT").data(), ["web.example.test."]);
    assert_eq!(world.ask("app.example.test.", "CNAME").data(), ["web.example.test."]);
    assert_eq!(world.ask("app.example.test.", "ANY").data(), ["web.example.test."]);
}

#[test]
fn a_primary_cname_gives_way_to_addresses() {
    let mut world = World::example();
    let disaster = world.scenario("dr", false);
    world.rrset("cdn CNAME", vec![record("www.example.org."), dr(disaster, "198.51.100.10")]);
    assert_eq!(world.ask("cdn.example.test.", "A").data(), ["www.example.org."]);
    world.active[0] = true;
    assert_eq!(world.ask("cdn.example.test.", "A").data(), ["198.51.100.10"]);
    assert!(world.ask("cdn.example.test.", "CNAME").is_nodata());
    assert_eq!(world.ask("cdn.example.test.", "ANY").data(), ["198.51.100.10"]);
}

#[test]
fn the_number_of_answers_and_the_method_are_obeyed() {
    let mut world = World::example();
    let data = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];
    world.rrset("rr A", data.iter().map(|d| record(d)).collect()).select =
        Select { topology: false, geo: false, method: SelectMethod::RoundRobin, answers: Some(1) };
    let snapshot = world.snapshot();
    let ask = || Reply::to(&snapshot, &Asked::new("rr.example.test.", "A")).data()[0].clone();
    let seen: Vec<String> = (0..6).map(|_| ask()).collect();
    assert_eq!(seen, [data, data].concat());
    explain(&snapshot, &super::world::name("rr.example.test."), RecordType::A, "::1".parse().unwrap());
    assert_eq!(ask(), data[0], "explaining takes no turn");
}

#[test]
fn steered_addresses_appear_in_the_additional_section() {
    let mut world = steered();
    world.model.zones[0].records.retain(|r| r.rtype != RecordType::MX);
    world.model.zones[0].records.push(crate::model::zone::StaticRecord {
        owner: super::world::name("example.test."),
        rtype: RecordType::MX,
        ttl: 30,
        rdata: [b"\x00\x0a".as_slice(), &super::world::name("www.example.test.").0].concat().into(),
    });
    world.active = vec![false, true];
    assert_eq!(world.ask("example.test.", "MX").additional(), ["www.example.test. A 198.51.100.10"]);
}

#[test]
fn explain_names_each_step_and_the_scenario_that_decided() {
    let mut world = steered();
    world.active = vec![true, false];
    let explained = |world: &World, rtype| {
        let name = DnsName::parse("www.example.test.", &DnsName::root()).unwrap();
        explain(&world.snapshot(), &name, rtype, "203.0.113.9".parse().unwrap())
    };
    let told = explained(&world, RecordType::A);
    assert_eq!(told.answer, ["www.example.test. 30 IN A 192.0.2.11"]);
    let steps: Vec<&str> = told.steps.iter().map(|s| s.name).collect();
    assert_eq!(steps, ["zone", "name", "base_set", "filter", "select"]);
    let filter = &told.steps[3];
    assert_eq!(filter.scenario.as_deref(), Some("a-is-out"));
    assert_eq!(
        (&filter.in_[..], &filter.out[..]),
        (&["192.0.2.10".into(), "192.0.2.11".into()][..], &["192.0.2.11".into()][..])
    );
    assert_eq!(filter.because, "192.0.2.10 drops out; cond: scenario a-is-out is active");

    world.active = vec![false, true];
    let told = explained(&world, RecordType::A);
    assert_eq!(told.steps[2].scenario.as_deref(), Some("dr"));
    let json = serde_json::to_value(&told).unwrap();
    assert_eq!(json["steps"][2]["out"][0], "198.51.100.10");
    assert_eq!(json["type"], "A");

    let told = explained(&world, RecordType::AAAA);
    assert!(told.answer.is_empty() && told.authority.len() == 1);
    world.model.features.gslb = false;
    assert_eq!(explained(&world, RecordType::A).steps[0].because, "feature gslb is off");
}

#[test]
fn each_record_says_which_step_decided_about_it() {
    let mut world = steered();
    world.active = vec![true, false];
    let view = world.snapshot().steered(0, 0);
    let told: Vec<(bool, &str)> = view.records.iter().map(|r| (r.served, r.step)).collect();
    assert_eq!(told, [(false, "filter"), (true, "base_set"), (false, "base_set")]);
    assert_eq!(view.records[2].because, "drCond: scenario dr is inactive");
    world.active = vec![true, true];
    let view = world.snapshot().steered(0, 0);
    assert_eq!(view.records[1].because, "the DR set of dr is served instead");
    assert!(view.records[2].served);
}
