//! Records of zone text in NITRO's words.

use super::super::answer::{Fault, Object};
use super::super::live::{double, put};
use crate::config::zonefile::presentation;
use crate::control::World;
use crate::model::zone::{DnsName, RecordType, Zone};

/// More are not listed: a zone by transfer may have millions.
const MOST: usize = 100_000;

/// The attribute that names an entry, and the entries; `None`: it is no resource of DNS.
pub(super) fn read(world: &World<'_>, resource: &str) -> Option<Result<(&'static str, Vec<Object>), Fault>> {
    let zones = &world.model.zones;
    let (key, rtype) = match resource {
        "dnszone" => return Some(Ok(("zonename", zones.iter().map(zone).collect()))),
        "dnssoarec" => return Some(Ok(("domain", zones.iter().map(soa).collect()))),
        "dnsaddrec" => ("hostname", RecordType::A),
        "dnsaaaarec" => ("hostname", RecordType::AAAA),
        "dnscnamerec" => ("aliasname", RecordType::CNAME),
        "dnsnsrec" => ("domain", RecordType::NS),
        "dnsmxrec" => ("domain", RecordType::MX),
        "dnstxtrec" => ("domain", RecordType::TXT),
        "dnssrvrec" => ("domain", RecordType::SRV),
        "dnsptrrec" => ("reversedomain", RecordType::PTR),
        _ => return None,
    };
    let records = zones.iter().flat_map(|zone| &zone.records).filter(|record| record.rtype == rtype);
    let one = |record: &crate::model::zone::StaticRecord| {
        let mut object = Object::new();
        put(&mut object, key, name(&record.owner));
        fields(&mut object, resource, &presentation(rtype, &record.rdata));
        put(&mut object, "ttl", double(record.ttl));
        object
    };
    Some(Ok((key, records.take(MOST).map(one).collect())))
}

/// Without its last dot.
pub(super) fn name(name: &DnsName) -> String {
    let text = name.to_string();
    text.strip_suffix('.').filter(|text| !text.is_empty()).map_or(text.clone(), str::to_owned)
}

fn zone(zone: &Zone) -> Object {
    let mut object = Object::new();
    put(&mut object, "zonename", name(&zone.origin));
    put(&mut object, "proxymode", "NO");
    put(&mut object, "dnssecoffload", "DISABLED");
    put(&mut object, "nsec", "DISABLED");
    put(&mut object, "type", "ADNS");
    object
}

fn soa(zone: &Zone) -> Object {
    let mut object = Object::new();
    let soa = &zone.soa;
    put(&mut object, "domain", name(&zone.origin));
    put(&mut object, "originserver", name(&soa.mname));
    put(&mut object, "contact", name(&soa.rname));
    put(&mut object, "serial", double(soa.serial));
    for (key, time) in
        [("refresh", soa.refresh), ("retry", soa.retry), ("expire", soa.expire), ("minimum", soa.minimum)]
    {
        put(&mut object, key, double(time.as_secs()));
    }
    put(&mut object, "ttl", double(zone.ttl.as_secs()));
    object
}

/// The data of a record, attribute by attribute.
fn fields(object: &mut Object, resource: &str, data: &str) {
    let bare = |text: &str| text.strip_suffix('.').unwrap_or(text).to_owned();
    let words: Vec<&str> = data.split_whitespace().collect();
    match (resource, &words[..]) {
        ("dnsaddrec", [ip]) => put(object, "ipaddress", *ip),
        ("dnsaaaarec", [ip]) => put(object, "ipv6address", *ip),
        ("dnscnamerec", [target]) => put(object, "canonicalname", bare(target)),
        ("dnsnsrec", [server]) => put(object, "nameserver", bare(server)),
        ("dnsptrrec", [target]) => put(object, "domain", bare(target)),
        ("dnsmxrec", [preference, mx]) => {
            put(object, "mx", bare(mx));
            put(object, "pref", double(preference));
        }
        ("dnssrvrec", [priority, weight, port, target]) => {
            put(object, "target", bare(target));
            put(object, "priority", double(priority));
            put(object, "weight", double(weight));
            put(object, "port", double(port));
        }
        _ => put(object, "string", vec![data.trim_matches('"').to_owned()]),
    }
}
