//! Zones: text, SOA, steered RRsets.

mod alias;
mod dnssec;
mod rrset;
mod transfer;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use super::Context;
use super::object::Object;
use crate::config::document::{Node, Path, Place, Table};
use crate::config::zonefile;
use crate::model::id::Name;
use crate::model::zone::{DnsName, RecordType, Rrset, Soa, StaticRecord, Zone, ZoneText};

pub use transfer::tsig;

/// All zones, by name.
pub fn all(cx: &mut Context<'_>) -> Vec<Zone> {
    let root = Path::Root;
    let section = root.key("zone");
    let mut zones = Vec::new();
    let mut origins: HashMap<DnsName, Place> = HashMap::new();
    for (key, place, table) in cx.section("zone") {
        let object = Object::new(table, None, section.key(key), place);
        let name = if key == "." { key } else { key.strip_suffix('.').unwrap_or(key) };
        let Some(origin) = DnsName::parse(&absolute(name), &DnsName::root()) else {
            object.wrong_whole(cx.report, format!("`{key}` is not a domain name"));
            continue;
        };
        if let Some(first) = origins.insert(origin.clone(), place) {
            let elsewhere = cx.report.describe(first);
            object.wrong_whole(cx.report, format!("the zone {origin} is defined twice; first at {elsewhere}"));
        }
        zones.push(zone(cx, &object, name.into(), origin));
    }
    stands_for_nothing(cx, &zones);
    zones.sort_by(|a, b| a.name.cmp(&b.name));
    zones
}

/// An ALIAS takes addresses that are served here; nobody is asked for others.
fn stands_for_nothing(cx: &mut Context<'_>, zones: &[Zone]) {
    let aliases = zones.iter().flat_map(|zone| zone.records.iter().map(move |record| (zone, record)));
    for (zone, record) in aliases.filter(|(_, record)| record.rtype == RecordType::ALIAS) {
        let Some(target) = DnsName::from_wire(&record.rdata) else { continue };
        let served = zones.iter().any(|zone| target.is_within(&zone.origin));
        let why = match &zone.dnssec {
            _ if !served => format!("{} is an ALIAS of {target}, which is in no zone served here", record.owner),
            Some(_) => format!("{} is an ALIAS; in a zone that is signed it cannot be", record.owner),
            None => continue,
        };
        let sections = cx.section("zone");
        let found = sections.into_iter().find(|(key, _, _)| key.strip_suffix('.').unwrap_or(key) == &*zone.name);
        let place = found.map(|(_, place, _)| place).unwrap_or_default();
        let path = format!("zone.\"{}\"", zone.name);
        cx.report.error(place, &path, format!("{path}: {why}"));
    }
}

fn absolute(name: &str) -> String {
    if name.ends_with('.') { name.to_owned() } else { format!("{name}.") }
}

fn zone(cx: &mut Context<'_>, object: &Object<'_>, name: Name, origin: DnsName) -> Zone {
    let ttl = seconds(cx, object, "ttl").unwrap_or(60);
    let degraded_ttl = degraded(cx, object, ttl);
    let transfer = transfer::transfer(cx, object);
    if transfer.comes_in() {
        for key in ["static", "file", "soa"] {
            if object.own(key).is_some() {
                let why = "the zone comes from its primaries (`transfer.from`); steer names of it with `rrset`";
                object.wrong(cx.report, key, why);
            }
        }
    }
    let (text, mut records) = text(cx, object, &origin, ttl);
    let in_text = records.iter().find(|record| record.rtype == RecordType::SOA).cloned();
    let soa = match (object.inner("soa"), in_text) {
        (Some(_), Some(_)) => {
            object.wrong(cx.report, "soa", "the zone text has a SOA too; say it once");
            default_soa(&origin, &records)
        }
        (None, Some(record)) => soa_of(&record.rdata).unwrap_or_else(|| default_soa(&origin, &records)),
        (said, None) => {
            let soa = match said {
                Some((table, place)) => {
                    soa(cx, &Object::new(table, None, object.path.key("soa"), place), &origin, &records)
                }
                None => default_soa(&origin, &records),
            };
            let rdata = soa.rdata();
            records.insert(0, StaticRecord { owner: origin.clone(), rtype: RecordType::SOA, ttl, rdata });
            soa
        }
    };
    let rrsets = rrset::all(cx, object, &origin, (ttl, degraded_ttl));
    conflicts(cx, object, &records, &rrsets);
    let apex_ns = records.iter().any(|record| record.rtype == RecordType::NS && record.owner == origin)
        || rrsets.iter().any(|rrset| rrset.rtype == RecordType::NS && rrset.owner == origin);
    if !apex_ns && !transfer.comes_in() {
        let path = object.path;
        cx.report.warning(
            object.place,
            path,
            format!("{path}: no NS record at the apex; resolvers will not accept the zone"),
        );
    }
    let dnssec = dnssec::dnssec(cx, object, &origin, &records, &rrsets);
    let seconds = |ttl: u32| Duration::from_secs(ttl.into());
    let (ttl, degraded_ttl) = (seconds(ttl), degraded_ttl.map(seconds));
    Zone { name, origin, ttl, degraded_ttl, soa, text, records, rrsets, dnssec, transfer }
}

/// TTLs are whole seconds.
pub(super) fn seconds(cx: &mut Context<'_>, object: &Object<'_>, key: &str) -> Option<u32> {
    let value = object.duration(key)?;
    if value.subsec_nanos() != 0 {
        object.wrong(cx.report, key, "a TTL is a whole number of seconds");
    }
    u32::try_from(value.as_secs()).ok()
}

/// `degraded_ttl` of a zone or an RRset whose TTL is `ttl`.
fn degraded(cx: &mut Context<'_>, object: &Object<'_>, ttl: u32) -> Option<u32> {
    let degraded = seconds(cx, object, "degraded_ttl")?;
    if degraded > ttl {
        let why = format!("{degraded} s is more than the TTL of {ttl} s, which it is to shorten");
        object.wrong(cx.report, "degraded_ttl", why);
    }
    Some(degraded)
}

/// The zone text, from the configuration or from its file, and its records.
fn text(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    origin: &DnsName,
    ttl: u32,
) -> (Option<ZoneText>, Vec<StaticRecord>) {
    match (object.own("static"), object.own("file")) {
        (Some(node), None) => {
            let Some(text) = node.text() else { return (None, Vec::new()) };
            let (records, problems) = zonefile::read(text, origin, ttl);
            let path = object.path.key("static");
            for problem in problems {
                let what = format!("{path}: {}", problem.what);
                cx.report.error_in_text(node.place, path, problem.line, problem.column, what);
            }
            (Some(ZoneText::Inline(text.into())), records)
        }
        (None, Some(node)) => {
            let Some(path) = node.text().filter(|path| !path.is_empty()) else { return (None, Vec::new()) };
            let (relative, shown) = cx.report.beside(node.place.file, path);
            match cx.files.read_named(&relative) {
                Ok(None) => (Some(ZoneText::File { path: relative.into(), text: "".into() }), Vec::new()),
                Ok(Some(text)) => {
                    let (records, problems) = zonefile::read(&text, origin, ttl);
                    let file = cx.report.add(shown, text.as_str().into(), true);
                    for problem in problems {
                        cx.report.error_at(file, problem.line, problem.column, object.path, problem.what);
                    }
                    // Relative to the root file, whichever file named it: a rendered model is one file.
                    (Some(ZoneText::File { path: relative.into(), text: text.into() }), records)
                }
                Err(why) => {
                    object.wrong(cx.report, "file", format!("`{path}` cannot be read: {why}"));
                    (None, Vec::new())
                }
            }
        }
        (Some(_), Some(_)) => {
            object.wrong(cx.report, "file", "say either `static` or `file`");
            (None, Vec::new())
        }
        (None, None) => (None, Vec::new()),
    }
}

fn default_soa(origin: &DnsName, records: &[StaticRecord]) -> Soa {
    let ns = records.iter().find(|record| record.rtype == RecordType::NS && record.owner == *origin);
    let seconds = Duration::from_secs;
    Soa {
        mname: ns.and_then(|ns| DnsName::from_wire(&ns.rdata)).unwrap_or_else(|| origin.clone()),
        rname: DnsName::parse("hostmaster", origin).unwrap_or_else(|| origin.clone()),
        serial: 1,
        refresh: seconds(3600),
        retry: seconds(600),
        expire: seconds(604_800),
        minimum: seconds(60),
    }
}

fn soa(cx: &mut Context<'_>, object: &Object<'_>, origin: &DnsName, records: &[StaticRecord]) -> Soa {
    let default = default_soa(origin, records);
    let mut name = |key: &str, default: DnsName| {
        let Some(text) = object.text(key).filter(|text| !text.is_empty()) else { return default };
        if text.contains('@') && text != "@" {
            object.wrong(
                cx.report,
                key,
                format!("`{text}`: a mailbox is written with a dot, `{}`", text.replacen('@', ".", 1)),
            );
        }
        DnsName::parse(text, origin).unwrap_or_else(|| {
            object.wrong(cx.report, key, format!("`{text}` is not a domain name"));
            default
        })
    };
    let (mname, rname) = (name("mname", default.mname), name("rname", default.rname));
    let mut time = |key: &str, default: Duration| {
        seconds(cx, object, key).map_or(default, |seconds| Duration::from_secs(u64::from(seconds)))
    };
    Soa {
        mname,
        rname,
        serial: object.int("serial").unwrap_or(default.serial),
        refresh: time("refresh", default.refresh),
        retry: time("retry", default.retry),
        expire: time("expire", default.expire),
        minimum: time("minimum", default.minimum),
    }
}

/// Reads RDATA of a SOA that stands in zone text.
fn soa_of(rdata: &[u8]) -> Option<Soa> {
    let mut rest = rdata;
    let mut name = || {
        let mut end = 0;
        while *rest.get(end)? != 0 {
            end += 1 + usize::from(rest[end]);
        }
        let name = DnsName::from_wire(rest.get(..=end)?)?;
        rest = &rest[end + 1..];
        Some(name)
    };
    let (mname, rname) = (name()?, name()?);
    let number = |at: usize| Some(u32::from_be_bytes(rest.get(at * 4..at * 4 + 4)?.try_into().ok()?));
    let time = |at: usize| number(at).map(|seconds| Duration::from_secs(u64::from(seconds)));
    Some(Soa {
        mname,
        rname,
        serial: number(0)?,
        refresh: time(1)?,
        retry: time(2)?,
        expire: time(3)?,
        minimum: time(4)?,
    })
}

/// One owner and type stands in one place, and a CNAME alone.
fn conflicts(cx: &mut Context<'_>, object: &Object<'_>, records: &[StaticRecord], rrsets: &[Rrset]) {
    if rrsets.is_empty() {
        return;
    }
    let fixed: HashSet<(&DnsName, RecordType)> = records.iter().map(|record| (&record.owner, record.rtype)).collect();
    let mut types: HashMap<&DnsName, Vec<RecordType>> = HashMap::new();
    for (owner, rtype) in &fixed {
        types.entry(owner).or_default().push(*rtype);
    }
    let mut owners: HashMap<&DnsName, Vec<&Rrset>> = HashMap::new();
    let places = places(object);
    for rrset in rrsets {
        owners.entry(&rrset.owner).or_default().push(rrset);
        if fixed.contains(&(&rrset.owner, rrset.rtype)) {
            report(cx, object, &places, rrset, "stands in the zone text too; an RRset is either fixed or steered");
        }
    }
    for (owner, rrsets) in owners {
        let beside = types.get(owner).map_or(&[][..], |types| &types[..]);
        for (rrset, why) in alias::conflicts(beside, &rrsets) {
            report(cx, object, &places, rrset, &why);
        }
    }
}

/// Keys of the RRsets and where they stand.
fn places<'d>(object: &Object<'d>) -> HashMap<&'d str, Place> {
    let table: Option<&Table> = object.own("rrset").and_then(Node::table);
    table.map_or_else(HashMap::new, |table| table.entries.iter().map(|e| (&*e.key, e.place)).collect())
}

fn report(cx: &mut Context<'_>, object: &Object<'_>, places: &HashMap<&str, Place>, rrset: &Rrset, why: &str) {
    let section = object.path.key("rrset");
    let path = section.key(&rrset.key);
    let place = places.get(&*rrset.key).copied().unwrap_or(object.place);
    cx.report.error(place, path, format!("{path}: {why}"));
}
