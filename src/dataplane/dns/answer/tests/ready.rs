//! Answers that are ready on the wire.

use super::world::{Asked, World, record};
use crate::dataplane::dns::answer::{Circumstances, Event, Transport, answer, respond};
use crate::model::time::Wall;
use crate::model::zone::RecordType;

/// One zone inside another, which has names below its origin; a set that does not fit; a steered name.
fn world() -> World {
    let mut world = World::example();
    let many: String = (0..100).map(|i| format!("many A 198.51.100.{i}\n")).collect();
    world.zone("example.net.", &format!("@ NS ns1\n@ A 192.0.2.1\nhost.inner A 192.0.2.2\n*.w TXT \"w\"\n{many}"));
    world.zone("inner.example.net.", "@ NS ns1\nhost A 192.0.2.3\n");
    world.rrset("www A", vec![record("192.0.2.10")]);
    world
}

#[test]
fn a_ready_answer_is_byte_for_byte_that_of_the_tree() {
    let snapshot = world().snapshot();
    let mut ready = 0;
    let names = [
        "example.test.",
        "ns1.example.test.",
        "NS1.Example.TEST.",
        "mail.example.test.",
        "alias.example.test.",
        "x.wild.example.test.",
        "*.wild.example.test.",
        "deep.example.test.",
        "b.c.deep.example.test.",
        "ns.sub.example.test.",
        "sub.example.test.",
        "x.old.example.test.",
        "odd.example.test.",
        "www.example.test.",
        "_sip._udp.example.test.",
        "nothing.example.test.",
        "example.net.",
        "host.inner.example.net.",
        "inner.example.net.",
        "many.example.net.",
        "*.w.example.net.",
        "example.org.",
        ".",
    ];
    for name in names {
        for rtype in ["A", "AAAA", "TXT", "NS", "MX", "SRV", "CNAME", "DS", "SOA", "ANY", "TYPE65400"] {
            for (edns, transport) in [
                (None, Transport::Udp),
                (Some(512), Transport::Udp),
                (Some(1232), Transport::Udp),
                (None, Transport::Tcp),
            ] {
                let asked = Asked { edns, transport, ..Asked::new(name, rtype) };
                let wire = asked.wire();
                let (mut told, mut tree) = (|_: Event<'_>| {}, Vec::new());
                let client = asked.client;
                let untold = Circumstances::new(client, transport, 1, Wall(0));
                let circumstances = Circumstances { trace: Some(&mut told), ..untold };
                let by_tree = respond(&mut Vec::new(), &snapshot, &wire, circumstances, &mut tree);
                let mut out = Vec::new();
                let outcome = answer(&snapshot, &wire, asked.client, transport, 1, &mut out);
                assert_eq!((outcome, &out), (by_tree, &tree), "{name} {rtype} {edns:?} {transport:?}");
                let lower = name_of(name);
                ready += usize::from(snapshot.zones.ready_answer(&lower, asked.rtype.0).is_some());
            }
        }
    }
    assert_eq!(ready % 4, 0);
    assert!(ready / 4 >= 12, "{ready}");
}

#[test]
fn what_is_steered_or_delegated_or_an_alias_is_never_ready() {
    let snapshot = world().snapshot();
    for name in ["www.example.test.", "alias.example.test.", "ns.sub.example.test.", "nothing.example.test."] {
        assert_eq!(snapshot.zones.ready_answer(&name_of(name), RecordType::A.0), None, "{name}");
    }
    let inner = snapshot.zones.ready_answer(&name_of("host.inner.example.net."), RecordType::A.0).unwrap();
    assert!(inner.zone == 2 && inner.wire.ends_with(&[192, 0, 2, 3]), "that of the zone it belongs to: {inner:?}");
}

fn name_of(text: &str) -> Vec<u8> {
    super::world::name(&text.to_ascii_lowercase()).0.to_vec()
}
