//! What an authoritative server owes, steering apart.

use hickory_proto::op::ResponseCode;

use super::world::{Asked, World};
use crate::dataplane::dns::answer::Transport;

#[test]
fn a_name_is_answered_with_its_records_and_authority() {
    let reply = World::example().ask("web.example.test.", "A");
    assert_eq!(reply.answers(), ["web.example.test. A 192.0.2.80"]);
    assert!(reply.is_authoritative());
    assert!(reply.authority().is_empty());
    assert_eq!(reply.message.answers[0].ttl, 30);
}

#[test]
fn the_apex_has_soa_and_name_servers_with_addresses() {
    let world = World::example();
    let soa = world.ask("example.test.", "SOA");
    assert_eq!(soa.data(), ["ns1.example.test. hostmaster.example.test. 7 3600 600 86400 5"]);
    let ns = world.ask("example.test.", "NS");
    assert_eq!(ns.data(), ["ns1.example.test.", "ns2.example.test."]);
    let glue =
        ["ns1.example.test. A 192.0.2.53", "ns1.example.test. AAAA 2001:db8::53", "ns2.example.test. A 192.0.2.54"];
    assert_eq!(ns.additional(), glue);
}

#[test]
fn mx_and_srv_bring_the_addresses_they_need() {
    let world = World::example();
    assert_eq!(world.ask("example.test.", "MX").additional(), ["mail.example.test. A 192.0.2.25"]);
    assert_eq!(world.ask("_sip._udp.example.test.", "SRV").additional(), ["web.example.test. A 192.0.2.80"]);
}

#[test]
fn a_name_that_is_not_there_is_nxdomain_with_the_soa() {
    let reply = World::example().ask("nothing.example.test.", "A");
    assert_eq!(reply.rcode(), ResponseCode::NXDomain);
    assert!(reply.has_soa() && reply.is_authoritative());
    assert_eq!(reply.message.authorities[0].name.to_string(), "example.test.");
}

#[test]
fn a_type_that_is_not_there_is_nodata_and_so_is_an_empty_non_terminal() {
    let world = World::example();
    for (name, rtype) in [
        ("web.example.test.", "AAAA"),
        ("web.example.test.", "TYPE666"),
        ("c.deep.example.test.", "A"),
        ("deep.example.test.", "A"),
        ("wild.example.test.", "TXT"),
        ("example.test.", "DS"),
    ] {
        assert!(world.ask(name, rtype).is_nodata(), "{name} {rtype}");
    }
}

#[test]
fn wildcards_stand_in_for_what_does_not_exist_only() {
    let world = World::example();
    assert_eq!(world.ask("q.wild.example.test.", "TXT").answers(), ["q.wild.example.test. TXT from the wildcard"]);
    assert_eq!(world.ask("x.y.wild.example.test.", "TXT").data(), ["from the wildcard"]);
    assert_eq!(world.ask("*.wild.example.test.", "TXT").data(), ["from the wildcard"]);
    assert!(world.ask("q.wild.example.test.", "A").is_nodata());
    assert!(world.ask("a.wild.example.test.", "TXT").is_nodata(), "an existing name is no wildcard's");
    let below = world.ask("q.a.wild.example.test.", "TXT");
    assert_eq!(below.rcode(), ResponseCode::NXDomain, "the closest encloser has no wildcard of its own");
}

#[test]
fn aliases_are_followed_inside_the_zone() {
    let world = World::example();
    let reply = world.ask("alias.example.test.", "A");
    assert_eq!(reply.answers(), ["alias.example.test. CNAME web.example.test.", "web.example.test. A 192.0.2.80"]);
    assert_eq!(world.ask("alias.example.test.", "CNAME").data(), ["web.example.test."]);
    assert_eq!(world.ask("outside.example.test.", "A").data(), ["www.example.org."]);

    let dangling = world.ask("dangling.example.test.", "A");
    assert_eq!(dangling.rcode(), ResponseCode::NXDomain, "the code is that of the last name (RFC 6604)");
    assert!(dangling.has_soa());
    let nodata = world.ask("alias.example.test.", "AAAA");
    assert_eq!((nodata.rcode(), nodata.data().len(), nodata.has_soa()), (ResponseCode::NoError, 1, true));
}

#[test]
fn a_loop_of_aliases_ends() {
    let reply = World::example().ask("loop1.example.test.", "A");
    assert_eq!(reply.rcode(), ResponseCode::NoError);
    assert_eq!(reply.data(), ["loop2.example.test.", "loop1.example.test."]);
}

#[test]
fn a_delegated_name_gets_a_referral_with_glue_and_no_authority() {
    let world = World::example();
    for name in ["sub.example.test.", "host.sub.example.test.", "ns.sub.example.test."] {
        let reply = world.ask(name, "A");
        assert!(!reply.is_authoritative() && reply.answers().is_empty(), "{name}");
        assert_eq!(reply.rcode(), ResponseCode::NoError);
        assert_eq!(
            reply.authority(),
            ["sub.example.test. NS ns.sub.example.test.", "sub.example.test. NS ns1.example.test."]
        );
        assert_eq!(reply.additional()[0], "ns.sub.example.test. A 192.0.2.153", "in-domain glue first");
        assert_eq!(reply.additional().len(), 3);
    }
}

#[test]
fn the_ds_of_a_delegation_is_the_parents() {
    let world = World::example();
    let reply = world.ask("sub.example.test.", "DS");
    assert!(reply.is_authoritative() && reply.answers().len() == 1);
    assert!(!world.ask("host.sub.example.test.", "DS").is_authoritative(), "below the cut it is not");

    let mut world = World::example();
    world.zone("sub.example.test.", "@ NS ns\nns A 192.0.2.153");
    assert_eq!(world.ask("sub.example.test.", "DS").answers().len(), 1, "also where the child is ours");
    assert_eq!(world.ask("ns.sub.example.test.", "A").data(), ["192.0.2.153"]);
}

#[test]
fn an_alias_to_a_delegated_name_ends_in_the_referral() {
    let reply = World::example().ask("to-cut.example.test.", "A");
    assert!(reply.is_authoritative(), "the first name is ours");
    assert_eq!(reply.data(), ["host.sub.example.test."]);
    assert_eq!(reply.authority().len(), 2);
}

#[test]
fn a_dname_renames_what_is_below_it() {
    let world = World::example();
    let reply = world.ask("x.old.example.test.", "A");
    assert_eq!(reply.message.answers[0].record_type().to_string(), "DNAME");
    let renamed = ["x.old.example.test. CNAME x.new.example.test.", "x.new.example.test. A 192.0.2.9"];
    assert_eq!(reply.answers()[1..], renamed);
    assert!(world.ask("old.example.test.", "A").is_nodata(), "but not its own name");
    let alias = world.ask("z.old.example.test.", "CNAME");
    assert_eq!((alias.rcode(), alias.answers().len()), (ResponseCode::NoError, 2), "the CNAME itself was asked for");
    let mut long = Asked::new("x.short.example.test.", "A");
    let label = [b"\x3f".as_slice(), &[b'y'; 63]].concat();
    long.name = [&label.repeat(3)[..], b"\x21", &[b'z'; 33], b"\x05short\x07example\x04test\x00"].concat();
    let reply = world.ask_with(&long);
    assert_eq!(reply.rcode(), ResponseCode::YXDomain, "the new name has more than 255 bytes");
}

#[test]
fn any_gets_one_rrset() {
    let world = World::example();
    assert_eq!(world.ask("ns1.example.test.", "ANY").answers(), ["ns1.example.test. A 192.0.2.53"]);
    assert_eq!(world.ask("alias.example.test.", "ANY").data(), ["web.example.test."]);
    assert_eq!(world.ask("example.test.", "ANY").data().len(), 2, "the NS records");
    assert!(world.ask("deep.example.test.", "ANY").is_nodata());
}

#[test]
fn unknown_types_are_kept_byte_for_byte() {
    let reply = World::example().ask("odd.example.test.", "TYPE65400");
    assert!(reply.bytes.windows(5).any(|w| w == [0, 3, 1, 2, 3]));
}

#[test]
fn names_outside_all_zones_are_refused() {
    for name in ["example.org.", "test.", ".", "notexample.test."] {
        let reply = World::example().ask(name, "A");
        assert_eq!(reply.rcode(), ResponseCode::Refused, "{name}");
        assert!(!reply.is_authoritative());
        assert_eq!(reply.extended_error().unwrap().0, 20);
    }
}

#[test]
fn the_case_of_the_question_is_kept_and_costs_no_space() {
    let world = World::example();
    let mut asked = Asked::new("web.example.test.", "A");
    let plain = world.ask_with(&asked).bytes.len();
    asked.name = b"\x03WeB\x07eXaMpLe\x04TeSt\x00".to_vec();
    let reply = world.ask_with(&asked);
    assert_eq!(reply.bytes[12..12 + asked.name.len()], asked.name);
    assert_eq!(reply.answers(), ["WeB.eXaMpLe.TeSt. A 192.0.2.80"]);
    assert_eq!(reply.bytes.len(), plain);
}

#[test]
fn an_answer_that_does_not_fit_is_cut_over_udp_and_whole_over_tcp() {
    let mut world = World::example();
    let many: String = (0..60).map(|i| format!("many A 198.51.100.{i}\n")).collect();
    world.model.zones.clear();
    world.zone("example.test.", &many);
    let mut asked = Asked { edns: None, ..Asked::new("many.example.test.", "A") };
    let cut = world.ask_with(&asked);
    assert!(cut.message.metadata.truncation && cut.outcome.truncated);
    assert!(cut.answers().is_empty() && cut.bytes.len() <= 512);

    asked.edns = Some(4096);
    let whole = world.ask_with(&asked);
    assert!(!whole.message.metadata.truncation);
    assert!(whole.bytes.len() <= 1232);
    asked.transport = Transport::Tcp;
    asked.edns = None;
    assert_eq!(world.ask_with(&asked).answers(), whole.answers());

    let more: String = (0..200).map(|i| format!("many A 198.51.100.{i}\n")).collect();
    world.model.zones.clear();
    world.zone("example.test.", &more);
    asked = Asked { edns: Some(65_535), ..Asked::new("many.example.test.", "A") };
    assert!(world.ask_with(&asked).message.metadata.truncation, "never more than 1232 bytes");
    asked.transport = Transport::Tcp;
    assert_eq!(world.ask_with(&asked).answers().len(), 200);
}

#[test]
fn addresses_that_do_not_fit_are_left_out_but_glue_is_not() {
    let mut world = World::example();
    let hosts: String =
        (0..25).map(|i| format!("@ NS ns{i}.x\nns{i}.x A 192.0.2.{i}\nns{i}.x AAAA 2001:db8::{i}\n")).collect();
    let cut = hosts.replace("@ NS", "cut NS").replace(".x", ".cut");
    world.model.zones.clear();
    world.zone("example.test.", &format!("{hosts}{cut}"));
    let asked = Asked { edns: None, ..Asked::new("example.test.", "NS") };
    let reply = world.ask_with(&asked);
    assert!(!reply.message.metadata.truncation, "helpful addresses are optional");
    assert_eq!(reply.answers().len(), 25);
    assert!(reply.additional().len() < 25 && reply.bytes.len() <= 512);

    let asked = Asked { edns: None, ..Asked::new("host.cut.example.test.", "A") };
    assert!(world.ask_with(&asked).message.metadata.truncation, "a referral without its glue leads nowhere");
}
