//! What holds for every message.

use std::net::IpAddr;

use hickory_proto::op::Message;
use proptest::prelude::*;

use super::world::{Asked, World, cond, dr, record};
use crate::dataplane::dns::answer::{Transport, answer};
use crate::model::zone::RecordType;

const LOCAL: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

fn world() -> World {
    let mut world = World::example();
    let out = world.scenario("out", true);
    let disaster = world.scenario("dr", false);
    world.rrset("www A", vec![cond(out, "192.0.2.10"), record("192.0.2.11"), dr(disaster, "web.example.test.")]);
    world.rrset("*.s A", vec![cond(out, "192.0.2.10")]);
    world
}

/// Names made of labels that the zone knows, so that all corners are met.
fn any_name() -> impl Strategy<Value = Vec<u8>> {
    const LABELS: [&str; 15] =
        ["www", "web", "sub", "ns", "old", "x", "wild", "*", "a", "deep", "c", "s", "alias", "loop1", "Q"];
    proptest::collection::vec(proptest::sample::select(&LABELS[..]), 0..4).prop_map(|labels| {
        let mut name = Vec::new();
        for label in labels {
            name.push(label.len() as u8);
            name.extend_from_slice(label.as_bytes());
        }
        name.extend_from_slice(b"\x07example\x04test\x00");
        name
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_500))]

    #[test]
    fn any_bytes_are_survived(message in proptest::collection::vec(any::<u8>(), 0..200), tcp in any::<bool>()) {
        let transport = if tcp { Transport::Tcp } else { Transport::Udp };
        let mut out = Vec::new();
        let outcome = answer(&world().snapshot(), &message, LOCAL, transport, 0, &mut out);
        prop_assert_eq!(outcome.reply, !out.is_empty());
    }

    #[test]
    fn a_damaged_query_is_survived(
        name in any_name(),
        at in any::<proptest::sample::Index>(),
        value in any::<u8>(),
        cut in any::<proptest::sample::Index>(),
    ) {
        let mut message = Asked { name, ..Asked::new("example.test.", "A") }.wire();
        let at = at.index(message.len());
        message[at] = value;
        message.truncate(cut.index(message.len()) + 1);
        let mut out = Vec::new();
        answer(&world().snapshot(), &message, LOCAL, Transport::Udp, 0, &mut out);
        prop_assert!(out.is_empty() || Message::from_vec(&out).is_ok());
    }

    #[test]
    fn every_answer_can_be_decoded_fits_and_is_the_same_over_tcp(
        name in any_name(),
        rtype in proptest::sample::select(&[1u16, 2, 5, 6, 15, 16, 28, 33, 39, 43, 255, 666][..]),
        edns in proptest::option::of(0u16..5000),
        entropy in any::<u64>(),
    ) {
        let snapshot = world().snapshot();
        let asked = Asked { name, rtype: RecordType(rtype), edns, entropy, ..Asked::new("example.test.", "A") };
        let udp = super::world::Reply::to(&snapshot, &asked);
        let limit = edns.map_or(512, |size| size.clamp(512, 1232));
        prop_assert!(udp.bytes.len() <= usize::from(limit));
        prop_assert_eq!(udp.message.queries.len(), 1);
        let tcp = super::world::Reply::to(&snapshot, &Asked { transport: Transport::Tcp, ..asked });
        if !udp.message.metadata.truncation {
            prop_assert_eq!(udp.answers(), tcp.answers());
            prop_assert_eq!(udp.authority(), tcp.authority());
            prop_assert_eq!(udp.rcode(), tcp.rcode());
        }
        // The same content must come out of an encoder that is not ours.
        let again = Message::from_vec(&tcp.message.to_vec().unwrap()).unwrap();
        prop_assert_eq!(again.answers, tcp.message.answers);
    }
}
