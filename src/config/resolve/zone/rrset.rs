//! Steered RRsets and their records.

use std::collections::HashMap;

use super::super::Context;
use super::super::object::Object;
use super::super::term::{Scope, term};
use super::seconds;
use crate::config::document::{Node, Path, Place, Table, Value};
use crate::config::zonefile;
use crate::model::geo::Region;
use crate::model::id::ScenarioId;
use crate::model::zone::{DnsName, OnEmpty, Record, RecordType, Rrset, Select, SelectMethod, StaticData};

static NOTHING: Table = Table { entries: Vec::new() };

/// All RRsets of a zone in the order of the text.
pub fn all(cx: &mut Context<'_>, zone: &Object<'_>, origin: &DnsName, ttls: (u32, Option<u32>)) -> Vec<Rrset> {
    let section = zone.path.key("rrset");
    let table = zone.own("rrset").and_then(Node::table).unwrap_or(&NOTHING);
    let mut rrsets = Vec::with_capacity(table.entries.len());
    let mut seen: HashMap<(DnsName, RecordType), Place> = HashMap::new();
    for entry in &table.entries {
        let Some(table) = entry.node.table() else { continue };
        let object = Object::new(table, None, section.key(&entry.key), entry.place);
        let Some((owner, rtype)) = key(cx, &object, &entry.key, origin) else { continue };
        if let Some(first) = seen.insert((owner.clone(), rtype), entry.place) {
            let elsewhere = cx.report.describe(first);
            object.wrong_whole(cx.report, format!("{owner} {rtype} is defined twice; first at {elsewhere}"));
        }
        rrsets.push(rrset(cx, &object, &entry.key, owner, rtype, origin, ttls));
    }
    rrsets
}

/// `www A`: an owner and a type.
fn key(cx: &mut Context<'_>, object: &Object<'_>, key: &str, origin: &DnsName) -> Option<(DnsName, RecordType)> {
    let mut words = key.split_whitespace();
    let (Some(owner), Some(rtype), None) = (words.next(), words.next(), words.next()) else {
        object.wrong_whole(cx.report, "the key of an RRset is its owner and its type, such as `\"www A\"`");
        return None;
    };
    let name = DnsName::parse(owner, origin);
    let rtype_parsed = RecordType::parse(rtype);
    if name.is_none() {
        object.wrong_whole(cx.report, format!("`{owner}` is not a domain name"));
    }
    if rtype_parsed.is_none() {
        let known = ["A", "AAAA", "CNAME", "MX", "NS", "PTR", "SRV", "TXT", "CAA", "SVCB", "HTTPS", "TLSA", "NAPTR"];
        let meant = crate::config::report::nearest(rtype, known).map(str::to_owned);
        let what = format!("{}: `{rtype}` is not a record type", object.path);
        cx.report.error_meant(object.place, object.path, what, meant);
    }
    let (name, rtype) = (name?, rtype_parsed?);
    if !name.is_within(origin) {
        object.wrong_whole(cx.report, format!("{name} is outside the zone {origin}"));
        return None;
    }
    let steerable = !matches!(rtype, RecordType::SOA | RecordType::OPT | RecordType::DNAME | RecordType::DS)
        && !(128..=255).contains(&rtype.0)
        && rtype != RecordType::ALIAS
        && !matches!(rtype.0, 0 | 46 | 47 | 48 | 50 | 51);
    if !steerable {
        object.wrong_whole(cx.report, format!("records of type {rtype} cannot be steered"));
        return None;
    }
    if rtype == RecordType::CNAME && name == *origin {
        object.wrong_whole(cx.report, "a CNAME cannot stand at the apex, beside SOA and NS");
    }
    Some((name, rtype))
}

fn rrset(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    key: &str,
    owner: DnsName,
    rtype: RecordType,
    origin: &DnsName,
    (zone_ttl, zone_degraded): (u32, Option<u32>),
) -> Rrset {
    let own_ttl = seconds(cx, object, "ttl");
    let ttl = own_ttl.unwrap_or(zone_ttl);
    let own_degraded = super::degraded(cx, object, ttl);
    let select = select(object);
    let nodes = object.own("records").and_then(Node::list).unwrap_or(&[]);
    let path = object.path.key("records");
    let mut records: Vec<Record> = Vec::with_capacity(nodes.len());
    for (index, node) in nodes.iter().enumerate() {
        let Some(record) = record(cx, node, path.item(index), rtype, origin) else { continue };
        if record.rtype == RecordType::CNAME && rtype != RecordType::CNAME && owner == *origin {
            let path = path.item(index);
            cx.report.error(node.place, path, format!("{path}: a CNAME cannot stand at the apex, beside SOA and NS"));
        }
        records.push(record);
    }
    twice(cx, nodes, &records, path);
    geography(cx, object, &select, &records);
    if select.topology && !records.iter().any(|record| has_networks(cx, record)) {
        object.wrong(cx.report, "select", "`topology` needs a record whose `datacenter` has `networks`");
    }
    if nodes.is_empty() && object.own("records").is_some() {
        object.wrong(cx.report, "records", "an RRset needs at least one record");
    }
    Rrset {
        key: key.into(),
        owner,
        rtype,
        ttl,
        own_ttl: own_ttl.is_some(),
        degraded_ttl: own_degraded.or(zone_degraded).filter(|degraded| *degraded < ttl),
        own_degraded_ttl: own_degraded.is_some(),
        records,
        on_empty: on_empty(cx, object, rtype, origin),
        select,
        datacenter: object.name("datacenter"),
        gslb_vserver: object.name("gslb_vserver"),
    }
}

/// Regions and a database belong together.
fn geography(cx: &mut Context<'_>, object: &Object<'_>, select: &Select, records: &[Record]) {
    let named = records.iter().any(|record| !record.geo.is_empty());
    let database = cx.section_table("dns").is_some_and(|dns| dns.get("geo").is_some());
    if select.geo && !named {
        object.wrong(cx.report, "select", "`geo` needs a record with `geo`");
    } else if select.geo && !database {
        object.wrong(cx.report, "select", "`geo` needs a database: `[dns] geo = { database = \"FILE.mmdb\" }`");
    } else if named && !select.geo {
        object.wrong(cx.report, "records", "`geo` of a record means nothing without `geo = true` in `select`");
    }
}

fn regions(cx: &mut Context<'_>, object: &Object<'_>) -> Vec<Region> {
    let mut regions = Vec::new();
    for node in object.items("geo") {
        let Some(text) = node.text() else { continue };
        match Region::parse(text) {
            Some(region) => regions.push(region),
            None => object.wrong(
                cx.report,
                "geo",
                format!("`{text}` is no region; write `continent:EU`, `country:TR` or `subdivision:TR-34`"),
            ),
        }
    }
    regions
}

/// Whether clients can be near to the record.
fn has_networks(cx: &Context<'_>, record: &Record) -> bool {
    let Some(name) = &record.datacenter else { return false };
    cx.section("datacenter").into_iter().any(|(key, _, table)| *key == **name && table.get("networks").is_some())
}

/// The same data twice in one set would be one record on the wire.
fn twice(cx: &mut Context<'_>, nodes: &[Node], records: &[Record], path: Path<'_>) {
    if nodes.len() != records.len() {
        return;
    }
    let mut seen = std::collections::HashSet::new();
    for (index, record) in records.iter().enumerate() {
        if record.enabled && !seen.insert((record.dr_cond, record.cond, &record.rdata)) {
            let path = path.item(index);
            let what = format!("{path}: `{}` stands twice in the same set", record.data);
            cx.report.error(nodes[index].place, path, what);
        }
    }
}

fn record(cx: &mut Context<'_>, node: &Node, path: Path<'_>, rtype: RecordType, origin: &DnsName) -> Option<Record> {
    // A plain string is a record with data and nothing else.
    let table = match &node.value {
        Value::Table(table) => table,
        Value::Text(_) => &NOTHING,
        _ => return None,
    };
    let object = Object::new(table, None, path, node.place);
    let data = node.text().or_else(|| object.text("data")).filter(|data| !data.is_empty())?;
    let place = object.own("data").map_or(node.place, |node| node.place);
    let own_type = match object.text("type") {
        None => rtype,
        Some(word) => match RecordType::parse(word) {
            Some(found) if found == rtype || found == RecordType::CNAME => found,
            _ => {
                object.wrong(cx.report, "type", format!("`{word}` is neither {rtype} nor CNAME"));
                rtype
            }
        },
    };
    let rdata = zonefile::rdata(own_type, data, origin).map_err(|why| {
        let alias = matches!(own_type, RecordType::A | RecordType::AAAA) && data.ends_with('.');
        let hint = if alias { "; an alias is a record with `type = \"CNAME\"`" } else { "" };
        cx.report.error(place, path, not_data(path, data, own_type, &why) + hint);
    });
    let cond = object.own("cond").and_then(|node| scenario(cx, node, path.key("cond"), true));
    let dr_cond = object.own("drCond").and_then(|node| scenario(cx, node, path.key("drCond"), false));
    let check = object.own("check").and_then(|node| {
        let term = term(cx, node.text()?, node.place, path.key("check"), Scope::Board)?;
        Some(cx.watch(term))
    });
    Some(Record {
        data: data.into(),
        rtype: own_type,
        rdata: rdata.ok()?,
        cond,
        dr_cond: dr_cond.map(|(scenario, _)| scenario),
        check,
        enabled: object.bool("enabled").unwrap_or(true),
        weight: object.int("weight").unwrap_or(1),
        datacenter: object.name("datacenter"),
        geo: regions(cx, &object),
    })
}

fn not_data(path: Path<'_>, data: &str, rtype: RecordType, why: &str) -> String {
    // The reader of zone text names the type too.
    let why = why.strip_prefix(&format!("{rtype}: ")).unwrap_or(why);
    format!("{path}: `{data}` is not the data of a record of type {rtype}: {why}")
}

/// The name of a scenario, plain or with `sc:`; `!` turns `cond` round.
fn scenario(cx: &mut Context<'_>, node: &Node, path: Path<'_>, may_negate: bool) -> Option<(ScenarioId, bool)> {
    let text = node.text().filter(|text| !text.is_empty())?;
    let (name, negated) = text.strip_suffix('!').map_or((text, false), |name| (name, true));
    let name = name.strip_prefix("sc:").unwrap_or(name).trim();
    if negated && !may_negate {
        cx.report.error(
            node.place,
            path,
            format!("{path}: a DR set is of an active scenario; `!` has no meaning here"),
        );
    }
    if name.contains('{') {
        cx.report.error(node.place, path, format!("{path}: a scenario has no qualifiers here"));
        return None;
    }
    if cx.names.checks.has(name) && !cx.names.scenarios.has(name) {
        cx.dangling(
            node.place,
            path,
            format!("`{name}` is a check; name it in `check`, or make a scenario of it"),
            None,
        );
        return None;
    }
    let id = cx.names.scenarios.find(cx.report, name, node.place, path)?;
    Some((ScenarioId::from_index(id), negated))
}

fn on_empty(cx: &mut Context<'_>, object: &Object<'_>, rtype: RecordType, origin: &DnsName) -> OnEmpty {
    let Some(node) = object.own("on_empty") else { return OnEmpty::ServeAll };
    match node.text() {
        Some("other_set") => return OnEmpty::OtherSet,
        Some("last_good") => return OnEmpty::LastGood,
        Some("nodata") => return OnEmpty::NoData,
        Some("servfail") => return OnEmpty::ServFail,
        Some(_) => return OnEmpty::ServeAll,
        None => {}
    }
    let items = node.table().and_then(|table| table.get("static")).and_then(Node::list).unwrap_or(&[]);
    let mut data = Vec::with_capacity(items.len());
    for item in items {
        let Some(text) = item.text().filter(|text| !text.is_empty()) else { continue };
        match zonefile::rdata(rtype, text, origin) {
            Ok(rdata) => data.push(StaticData { data: text.into(), rdata }),
            Err(why) => {
                let path = object.path.key("on_empty");
                cx.report.error(item.place, path, not_data(path, text, rtype, &why));
            }
        }
    }
    if items.is_empty() {
        object.wrong(cx.report, "on_empty", "`static` needs at least one record; for none say \"nodata\"");
    }
    OnEmpty::Static(data)
}

fn select(object: &Object<'_>) -> Select {
    let (table, place) = object.inner("select").unwrap_or((&NOTHING, object.place));
    let inner = Object::new(table, None, object.path, place);
    Select {
        topology: inner.bool("topology").unwrap_or(false),
        geo: inner.bool("geo").unwrap_or(false),
        method: match inner.text("method") {
            Some("weighted") => SelectMethod::Weighted,
            Some("round_robin") => SelectMethod::RoundRobin,
            Some("hash") => SelectMethod::Hash,
            _ => SelectMethod::Ordered,
        },
        answers: inner.int("answers"),
    }
}
