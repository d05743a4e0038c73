//! Queries that are not quite queries (RFC 8906, RFC 9619, RFC 6891).

use std::net::IpAddr;

use super::world::{Asked, World};
use crate::dataplane::dns::answer::{Outcome, Transport, answer};

const LOCAL: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

fn raw(message: &[u8]) -> (Outcome, Vec<u8>) {
    let mut out = vec![0xff; 3];
    let outcome = answer(&World::example().snapshot(), message, LOCAL, Transport::Udp, 0, &mut out);
    (outcome, out)
}

fn query() -> Vec<u8> {
    Asked { edns: None, ..Asked::new("web.example.test.", "A") }.wire()
}

fn with_opt(opt: &[u8]) -> Vec<u8> {
    let mut message = query();
    message[11] += 1;
    message.extend_from_slice(opt);
    message
}

/// Changes one byte of a good query.
fn patched(at: usize, value: u8) -> Vec<u8> {
    let mut message = query();
    message[at] = value;
    message
}

const OPT: [u8; 11] = [0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0];

#[test]
fn answers_and_scraps_are_dropped() {
    for message in [&b""[..], b"\x12", &query()[..11], &patched(2, 0x80), &patched(2, 0x81)] {
        let (outcome, out) = raw(message);
        assert!(!outcome.reply && out.is_empty());
    }
}

#[test]
fn what_cannot_be_a_question_is_formerr_with_its_id() {
    let two_questions = patched(5, 2);
    let pointer = {
        let mut message = query();
        message.splice(12..30, [0xc0, 0x0c]);
        message
    };
    let mut trailing = query();
    trailing.push(0);
    let two_opts = {
        let mut message = with_opt(&OPT);
        message[11] = 2;
        message.extend_from_slice(&OPT);
        message
    };
    let named_opt = with_opt(&[1, b'x', 0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 0]);
    let short_option = with_opt(&[0, 0, 41, 4, 208, 0, 0, 0, 0, 0, 4, 0, 3, 0, 9]);
    let cases: [(&str, Vec<u8>); 12] = [
        ("no question", patched(5, 0)),
        ("header only", query()[..12].to_vec()),
        ("two questions", two_questions),
        ("an answer in a query", patched(7, 1)),
        ("an authority record in a query", patched(9, 1)),
        ("a count that lies", patched(11, 1)),
        ("a pointer as question", pointer),
        ("a label of a reserved kind", patched(12, 0x43)),
        ("trailing bytes", trailing),
        ("two OPT records", two_opts),
        ("an OPT record that is not the root's", named_opt),
        ("an option longer than its record", short_option),
    ];
    for (what, message) in cases {
        let (outcome, out) = raw(&message);
        assert_eq!(outcome.rcode, 1, "{what}");
        assert_eq!(out, [0x12, 0x34, 0x81, 1, 0, 0, 0, 0, 0, 0, 0, 0], "{what}");
    }
}

#[test]
fn a_question_that_ends_early_is_formerr() {
    let message = query();
    for end in 12..message.len() {
        assert_eq!(raw(&message[..end]).0.rcode, 1, "cut at {end}");
    }
}

#[test]
fn a_name_of_more_than_255_bytes_is_formerr() {
    let mut message = query()[..12].to_vec();
    message.extend([b"\x3f".as_slice(), &[b'a'; 63]].concat().repeat(4));
    message.extend_from_slice(&[0, 0, 1, 0, 1]);
    assert_eq!(raw(&message).0.rcode, 1);
}

#[test]
fn other_opcodes_are_not_implemented() {
    for opcode in 1..16u8 {
        let (outcome, out) = raw(&patched(2, opcode << 3));
        assert_eq!(outcome.rcode, 4);
        assert_eq!(out[2], 0x80 | opcode << 3, "id, opcode and nothing else");
    }
}

#[test]
fn unknown_flags_options_and_types_change_nothing() {
    let flags = {
        let mut message = query();
        message[2] |= 0x06;
        message[3] |= 0x70;
        message
    };
    let options = with_opt(&[0, 0, 41, 4, 208, 0, 0, 0x7f, 0xff, 0, 9, 0xff, 0x01, 0, 1, 7, 0, 3, 0, 0]);
    for message in [flags, options] {
        let (outcome, out) = raw(&message);
        assert_eq!((outcome.rcode, out[7]), (0, 1));
        assert_eq!((out[2], out[3]), (0x85, 0), "AA and RD; reserved bits are not echoed");
    }
    let other = with_opt(&[0, 0, 99, 0, 1, 0, 0, 0, 0, 0, 2, 1, 2]);
    assert_eq!(raw(&other).0.rcode, 0, "an unknown additional record");
}

#[test]
fn edns_is_answered_with_edns_and_do_is_copied() {
    let (_, out) = raw(&with_opt(&[0, 0, 41, 4, 208, 0, 0, 0x80, 0, 0, 0]));
    assert_eq!(out[out.len() - 11..], [0, 0, 41, 4, 208, 0, 0, 0x80, 0, 0, 0]);
    let (_, out) = raw(&query());
    assert_eq!(out[11], 0, "none without");
}

#[test]
fn another_edns_version_is_badvers() {
    let (outcome, out) = raw(&with_opt(&[0, 0, 41, 4, 208, 0, 1, 0, 0, 0, 0]));
    assert_eq!(outcome.rcode, 16);
    assert_eq!(out[3] & 0x0f, 0);
    assert_eq!(out[7], 0, "no answer");
    assert_eq!(out[out.len() - 11..], [0, 0, 41, 4, 208, 1, 0, 0, 0, 0, 0]);
}

#[test]
fn a_small_announced_payload_counts_as_512() {
    let mut asked = Asked::new("example.test.", "NS");
    asked.edns = Some(0);
    let reply = World::example().ask_with(&asked);
    assert!(!reply.message.metadata.truncation && reply.answers().len() == 2);
}

#[test]
fn other_classes_and_transfers_are_refused_and_meta_types_not_implemented() {
    let world = World::example();
    for class in [3, 4, 254, 255] {
        let reply = world.ask_with(&Asked { class, ..Asked::new("web.example.test.", "A") });
        assert_eq!(reply.outcome.rcode, 5, "class {class}");
    }
    let chaos = Asked { class: 3, ..Asked::new("version.bind.", "TXT") };
    assert_eq!(world.ask_with(&chaos).outcome.rcode, 5);
    for (rtype, rcode) in [("TYPE252", 5), ("TYPE251", 5), ("TYPE253", 4), ("TYPE254", 4), ("TYPE250", 4)] {
        assert_eq!(world.ask("example.test.", rtype).outcome.rcode, rcode, "{rtype}");
    }
}

#[test]
fn nothing_is_answered_from_unknown_state_or_while_gslb_is_off() {
    let mut world = World::example();
    world.ready = false;
    let reply = world.ask("web.example.test.", "A");
    assert_eq!((reply.outcome.rcode, reply.extended_error().unwrap().0), (2, 14));
    world.model.features.gslb = false;
    let reply = world.ask("web.example.test.", "A");
    assert_eq!((reply.outcome.rcode, reply.extended_error().unwrap().1.as_str()), (5, "gslb is off"));
}
