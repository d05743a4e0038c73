//! ALIAS at the apex, and records near the client.

use super::world::{Asked, Reply, World, name, record};
use crate::dataplane::dns::explain;
use crate::model::id::SwitchId;
use crate::model::scenario::Datacenter;
use crate::model::zone::{RecordType, StaticRecord};

/// `owner` stands for `target`.
fn alias(world: &mut World, owner: &str, ttl: u32, target: &str) {
    let rdata = name(target).0;
    world.model.zones[0].records.push(StaticRecord { owner: name(owner), rtype: RecordType::ALIAS, ttl, rdata });
}

fn ttls(reply: &Reply) -> Vec<u32> {
    reply.message.answers.iter().map(|record| record.ttl).collect()
}

#[test]
fn an_alias_at_the_apex_has_the_addresses_of_its_target() {
    let mut world = World::example();
    alias(&mut world, "example.test.", 20, "www.example.test.");
    let disaster = world.scenario("dr", false);
    world.rrset("www A", vec![record("192.0.2.10"), super::world::dr(disaster, "198.51.100.10")]);
    let reply = world.ask("example.test.", "A");
    assert_eq!((reply.answers(), ttls(&reply)), (vec!["example.test. A 192.0.2.10".to_owned()], vec![20]));
    assert!(reply.is_authoritative());
    assert!(world.ask("example.test.", "AAAA").is_nodata());
    assert_eq!(world.ask("example.test.", "NS").answers().len(), 2, "what else stands there stays");
    assert!(world.ask("example.test.", "TYPE65401").is_nodata(), "it is no type on the wire");
    assert_eq!(world.ask("example.test.", "ANY").message.answers[0].record_type().to_string(), "NS");
    world.active[0] = true;
    assert_eq!(world.ask("example.test.", "A").data(), ["198.51.100.10"], "it follows the scenario");
}

#[test]
fn an_alias_follows_aliases_into_other_zones_and_ends() {
    let mut world = World::example();
    world.zone("other.test.", "www 10 A 192.0.2.99\n*.any A 192.0.2.98\nsub NS ns.example.org.");
    alias(&mut world, "one.example.test.", 60, "two.example.test.");
    alias(&mut world, "two.example.test.", 50, "three.example.test.");
    alias(&mut world, "three.example.test.", 60, "www.other.test.");
    let reply = world.ask("one.example.test.", "A");
    assert_eq!((reply.answers(), ttls(&reply)), (vec!["one.example.test. A 192.0.2.99".to_owned()], vec![10]));
    assert_eq!(reply.authority(), [""; 0]);
    for (owner, target) in [
        ("loop.example.test.", "loop.example.test."),
        ("cut.example.test.", "www.sub.other.test."),
        ("gone.example.test.", "gone.other.test."),
        ("away.example.test.", "www.example.org."),
        ("renamed.example.test.", "x.old.example.test."),
    ] {
        alias(&mut world, owner, 30, target);
        assert!(world.ask(owner, "A").is_nodata(), "{owner}");
    }
    alias(&mut world, "wild.other.example.test.", 30, "x.any.other.test.");
    assert_eq!(world.ask("wild.other.example.test.", "A").data(), ["192.0.2.98"]);
    alias(&mut world, "via.example.test.", 30, "alias.example.test.");
    assert_eq!(world.ask("via.example.test.", "A").data(), ["192.0.2.80"], "through a CNAME");
    let why = explain(&world.snapshot(), &name("via.example.test."), RecordType::A, "192.0.2.1".parse().unwrap());
    assert_eq!(why.steps.iter().filter(|step| step.name == "alias").count(), 2, "{why:#?}");
}

#[test]
fn a_client_gets_what_is_near_to_it_by_the_longest_of_our_networks() {
    let mut world = World::example();
    for (datacenter, networks) in [("dc-a", ["10.0.0.0/8", "2001:db8:a::/48"]), ("dc-b", ["10.2.0.0/16", "::/0"])] {
        world.model.datacenters.push(Datacenter {
            name: datacenter.into(),
            wan: None,
            lan: None,
            internet: None,
            networks: networks.iter().map(|network| network.parse().unwrap()).collect(),
            maintenance: SwitchId::from_index(0),
        });
    }
    let mut records = vec![record("192.0.2.1"), record("192.0.2.2")];
    records[0].datacenter = Some("dc-a".into());
    records[1].datacenter = Some("dc-b".into());
    world.rrset("near A", records).select.topology = true;
    let ask = |client: &str| {
        let client = client.parse().unwrap();
        world.ask_with(&Asked { client, ..Asked::new("near.example.test.", "A") }).data()
    };
    assert_eq!(ask("10.1.2.3"), ["192.0.2.1"]);
    assert_eq!(ask("10.2.2.3"), ["192.0.2.2"]);
    assert_eq!(ask("::ffff:10.2.2.3"), ["192.0.2.2"]);
    assert_eq!(ask("2001:db8:a::1"), ["192.0.2.1"]);
    assert_eq!(ask("2001:db8:b::1"), ["192.0.2.2"]);
    assert_eq!(ask("203.0.113.9"), ["192.0.2.1", "192.0.2.2"], "it stands nowhere");
    let why = explain(&world.snapshot(), &name("near.example.test."), RecordType::A, "10.2.2.3".parse().unwrap());
    let select = why.steps.iter().find(|step| step.name == "select").unwrap();
    assert_eq!(select.because, "the client stands in dc-b; method = ordered, answers = all");
}
