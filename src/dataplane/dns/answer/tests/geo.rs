//! Geography, by a database in MaxMind's format that is made here.

use std::collections::BTreeMap;

use super::world::{Asked, World, name, record};
use crate::dataplane::dns::explain;
use crate::model::dns::ClientSubnet;
use crate::model::geo::{Database, Region};
use crate::model::net::Network;
use crate::model::zone::RecordType;

/// One value of the format: a control byte with type and length, and the payload.
fn value(kind: u8, length: usize, payload: &[u8]) -> Vec<u8> {
    assert!(length < 29);
    let head = if kind > 7 { vec![length as u8, kind - 7] } else { vec![kind << 5 | length as u8] };
    [head, payload.to_vec()].concat()
}

fn text(text: &str) -> Vec<u8> {
    value(2, text.len(), text.as_bytes())
}

fn map(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let payload: Vec<u8> = entries.iter().flat_map(|(key, value)| [text(key), value.clone()].concat()).collect();
    value(7, entries.len(), &payload)
}

fn array(items: &[Vec<u8>]) -> Vec<u8> {
    value(11, items.len(), &items.concat())
}

/// A database with these networks: continent, country, subdivision.
pub fn database(networks: &[(&str, [&str; 3])]) -> Vec<u8> {
    // Two records a node; what is below the number of nodes leads to a node, above it to data.
    let mut nodes: Vec<[Option<Result<usize, usize>>; 2]> = vec![[None; 2]];
    let mut data = Vec::new();
    for (network, [continent, country, part]) in networks {
        let offset = data.len();
        data.extend(map(&[
            ("continent", map(&[("code", text(continent))])),
            ("country", map(&[("iso_code", text(country))])),
            ("subdivisions", array(&[map(&[("iso_code", text(part))])])),
        ]));
        let network: Network = network.parse().unwrap();
        let (bits, length) = match network.address {
            std::net::IpAddr::V4(v4) => (u128::from(u32::from(v4)), 96 + network.prefix),
            std::net::IpAddr::V6(v6) => (u128::from(v6), network.prefix),
        };
        let mut node = 0;
        for at in 0..length {
            let bit = (bits >> (127 - at) & 1) as usize;
            if at + 1 == length {
                nodes[node][bit] = Some(Err(offset));
            } else {
                node = match nodes[node][bit] {
                    Some(Ok(next)) => next,
                    _ => {
                        nodes.push([None; 2]);
                        let next = nodes.len() - 1;
                        nodes[node][bit] = Some(Ok(next));
                        next
                    }
                };
            }
        }
    }
    let count = nodes.len();
    let mut file = Vec::new();
    for entry in nodes.iter().flatten() {
        let number = match entry {
            None => count,
            Some(Ok(node)) => *node,
            Some(Err(offset)) => count + 16 + offset,
        };
        file.extend((number as u32).to_be_bytes());
    }
    file.extend([0; 16]);
    file.extend(data);
    file.extend(b"\xab\xcd\xefMaxMind.com");
    let number = |kind: u8, number: u64| {
        let bytes = number.to_be_bytes();
        let bytes = &bytes[bytes.iter().position(|byte| *byte != 0).unwrap_or(8)..];
        value(kind, bytes.len(), bytes)
    };
    let metadata: BTreeMap<&str, Vec<u8>> = [
        ("binary_format_major_version", number(5, 2)),
        ("binary_format_minor_version", number(5, 0)),
        ("build_epoch", number(9, 1_700_000_000)),
        ("database_type", text("Test-City")),
        ("description", map(&[("en", text("made by a test"))])),
        ("ip_version", number(5, 6)),
        ("languages", array(&[text("en")])),
        ("node_count", number(6, count as u64)),
        ("record_size", number(5, 32)),
    ]
    .into();
    file.extend(map(&metadata.into_iter().collect::<Vec<_>>()));
    file
}

fn world() -> World {
    let mut world = World::example();
    let bytes = database(&[
        ("192.0.2.0/24", ["EU", "TR", "34"]),
        ("198.51.100.0/24", ["EU", "TR", "06"]),
        ("203.0.113.0/24", ["EU", "DE", "BE"]),
        ("2001:db8::/32", ["NA", "US", "CA"]),
    ]);
    world.model.dns.geo = Some(Database::open("test.mmdb".into(), bytes).unwrap());
    let mut records: Vec<_> = (1..=4).map(|n| record(&format!("10.0.0.{n}"))).collect();
    for (record, region) in records.iter_mut().zip(["subdivision:TR-34", "country:tr", "continent:EU"]) {
        record.geo = vec![Region::parse(region).unwrap()];
    }
    world.rrset("geo A", records).select.geo = true;
    world
}

fn ask(world: &World, client: &str) -> Vec<String> {
    let client = client.parse().unwrap();
    world.ask_with(&Asked { client, ..Asked::new("geo.example.test.", "A") }).data()
}

#[test]
fn a_client_gets_the_records_for_the_narrowest_region_that_holds_it() {
    let world = world();
    assert_eq!(ask(&world, "192.0.2.1"), ["10.0.0.1"], "its subdivision");
    assert_eq!(ask(&world, "::ffff:192.0.2.1"), ["10.0.0.1"]);
    assert_eq!(ask(&world, "198.51.100.1"), ["10.0.0.2"], "its country");
    assert_eq!(ask(&world, "203.0.113.9"), ["10.0.0.3"], "its continent");
    assert_eq!(ask(&world, "2001:db8::1"), ["10.0.0.4"], "elsewhere: the record for nobody in particular");
    assert_eq!(ask(&world, "127.0.0.1"), ["10.0.0.4"], "unknown");
    let why = explain(&world.snapshot(), &name("geo.example.test."), RecordType::A, "192.0.2.1".parse().unwrap());
    let select = why.steps.iter().find(|step| step.name == "select").unwrap();
    assert_eq!(select.because, "its region: TR-34 (EU); method = ordered, answers = all");
}

#[test]
fn a_region_without_a_record_left_falls_back_to_the_next_wider_one() {
    let mut world = world();
    let disaster = world.scenario("out", true);
    let records = &mut world.model.zones[0].rrsets[0].records;
    records[0].cond = Some((disaster, false));
    assert_eq!(ask(&world, "192.0.2.1"), ["10.0.0.2"]);
    world.model.zones[0].rrsets[0].records.truncate(2);
    assert_eq!(ask(&world, "2001:db8::1"), ["10.0.0.2"], "no record is for everybody, so all are");
}

#[test]
fn the_clients_subnet_stands_for_the_client_where_its_resolver_is_believed() {
    let mut world = world();
    let believed = vec!["127.0.0.0/8".parse().unwrap()];
    world.model.dns.ecs = Some(ClientSubnet { ipv4_prefix: 20, ipv6_prefix: 48, from: believed });
    let snapshot = world.snapshot();
    let ask = |client: &str| {
        let mut query = Asked { client: client.parse().unwrap(), ..Asked::new("geo.example.test.", "A") }.wire();
        let end = query.len();
        query[end - 2..].copy_from_slice(&[0, 11]);
        query.extend([0, 8, 0, 7, 0, 1, 24, 0, 192, 0, 2]);
        let mut reply = Vec::new();
        let (transport, client) = (crate::dataplane::dns::Transport::Udp, client.parse().unwrap());
        crate::dataplane::dns::answer(&snapshot, &query, client, transport, 0, &mut reply);
        reply
    };
    let reply = ask("127.0.0.1");
    assert!(reply.ends_with(&[0, 8, 0, 7, 0, 1, 24, 20, 192, 0, 2]), "the scope is what was looked at: {reply:?}");
    assert!(reply.windows(4).any(|w| w == [10, 0, 0, 4]), "192.0.0.0 is nowhere");
    assert!(!ask("203.0.113.9").ends_with(&[192, 0, 2]), "a resolver that is not believed gets no option back");
}

#[test]
fn what_is_no_database_is_refused_and_a_broken_one_never_panics() {
    assert!(Database::open("x".into(), b"no database".to_vec()).is_err());
    let good = database(&[("192.0.2.0/24", ["EU", "TR", "34"])]);
    for at in (0..good.len()).step_by(7) {
        let mut broken = good.clone();
        broken[at] ^= 0xff;
        if let Ok(database) = Database::open("x".into(), broken) {
            database.place("192.0.2.1".parse().unwrap());
            database.place("2001:db8::1".parse().unwrap());
        }
    }
    let cut = Database::open("x".into(), good[..good.len() / 2].to_vec());
    assert!(cut.is_err());
}

#[test]
fn regions_are_read_in_either_case_and_nothing_else_is() {
    for (text, shown) in [("country:tr", "country:TR"), ("subdivision:de-BE", "subdivision:DE-BE")] {
        assert_eq!(Region::parse(text).unwrap().to_string(), shown);
    }
    for text in ["EU", "continent:XX", "country:TUR", "country:", "subdivision:TR", "subdivision:TR-3456", "city:Rome"]
    {
        assert_eq!(Region::parse(text), None, "{text}");
    }
}
