//! GSLB and DNS of a configuration as lines, and the configuration without what they say.

use std::fmt::Write as _;
use std::net::SocketAddr;

use serde_json::{Map, Value, json};

use super::read::Book;
use super::said::Object;
use super::zones::{self, TTL};
use crate::config::{units, zonefile};
use crate::model::zone::{DnsName, RecordType, StaticRecord};
use crate::netscaler::document::Document;
use crate::netscaler::export::quoted;

/// NetScaler's sites have an address; this one says that there is none.
pub(super) const NO_ADDRESS: &str = "0.0.0.0";

type Table = Map<String, Value>;

/// Lines, each with its line end, and what is left to be said.
pub(in crate::netscaler) fn export(document: &Document) -> (String, Document) {
    let book = Book::of(document);
    let mut books = book.books.clone();
    for site in books.sites.iter_mut() {
        if site.words.len() < 2 {
            site.words.push(NO_ADDRESS.into());
        }
    }
    let mut root = book.rest.into_root();
    root.shift_remove("gslb");
    if !book.unreadable.is_empty() {
        root.insert("gslb".into(), json!({ "lines": book.unreadable }));
    }
    let mut out = String::new();
    listeners(&mut root, &mut out);
    for line in books.lines(|_: &str, _: &Object| true) {
        let _ = writeln!(out, "{line}");
    }
    drop_said(&mut root, "datacenter");
    if let Some(Value::Object(appliance)) = root.get_mut("appliance") {
        let is_site = |site: &str| books.sites.get(site).is_some();
        if appliance.get("site").and_then(Value::as_str).is_some_and(is_site) {
            appliance.shift_remove("site");
        }
    }
    if let Some(Value::Object(zones)) = root.get_mut("zone") {
        for (name, table) in zones.iter_mut() {
            let Value::Object(table) = table else { continue };
            let steered = document.table("zone", name).and_then(|zone| zone.get("rrset")?.as_object());
            zone(name, table, steered, &mut out);
        }
    }
    // Zones that GSLB alone needs are made for its domains.
    drop_said(&mut root, "zone");
    (out, Document::from_root(root))
}

/// Objects that have nothing left.
fn drop_said(root: &mut Table, section: &str) {
    if let Some(Value::Object(tables)) = root.get_mut(section) {
        tables.retain(|_, table| table.as_object().is_none_or(|table| !table.is_empty()));
        if tables.is_empty() {
            root.shift_remove(section);
        }
    }
}

/// Where questions come in: services of type ADNS.
fn listeners(root: &mut Table, out: &mut String) {
    let taken = |root: &Table, name: &str| root.get("service").is_some_and(|services| services.get(name).is_some());
    let addresses = match root.get("dns").and_then(|dns| dns.get("listen")) {
        Some(Value::Array(addresses)) => addresses.clone(),
        Some(one @ Value::String(_)) => vec![one.clone()],
        _ => return,
    };
    let sockets = addresses.iter().map(|address| address.as_str()?.parse::<SocketAddr>().ok());
    let sockets: Option<Vec<SocketAddr>> = sockets.collect();
    // A port of the system's choosing is no service.
    let Some(sockets) = sockets.filter(|sockets| sockets.iter().all(|socket| socket.port() > 0)) else { return };
    let mut number = 0;
    for socket in sockets {
        let name = loop {
            number += 1;
            let name = format!("adns-{number}");
            if !taken(root, &name) {
                break name;
            }
        };
        let _ = writeln!(out, "add service {name} {} ADNS {}", socket.ip(), socket.port());
    }
    if let Some(Value::Object(dns)) = root.get_mut("dns") {
        dns.shift_remove("listen");
        if dns.is_empty() {
            root.shift_remove("dns");
        }
    }
}

/// Says a zone and its records, and takes out of its table what is said.
fn zone(name: &str, table: &mut Table, steered: Option<&Table>, out: &mut String) {
    let is_name = zones::domain(name).as_deref() == Ok(name);
    let Some(origin) = DnsName::parse(&format!("{name}."), &DnsName::root()).filter(|_| is_name) else { return };
    if table.contains_key("file") || table.get("transfer").is_some_and(|transfer| transfer.get("from").is_some()) {
        return;
    }
    let seconds = |value: Option<&Value>| {
        let duration = units::parse_duration(value?.as_str()?).ok()?;
        Some(duration.as_secs())
    };
    let ttl = seconds(table.get("ttl"));
    let (records, left) = readable(table.get("static").and_then(Value::as_str).unwrap_or_default(), &origin, ttl);
    if let Some(soa) = table.get("soa").and_then(|soa| soa_line(name, soa.as_object()?, ttl.unwrap_or(60))) {
        let _ = writeln!(out, "{soa}");
        table.shift_remove("soa");
        table.shift_remove("ttl");
    } else if ttl.is_some() || !is_made_by_itself(name, &records, steered) {
        let _ = writeln!(out, "add dns zone {} -proxyMode NO", quoted(name));
        if ttl == Some(TTL.into()) {
            table.shift_remove("ttl");
        }
    }
    for (record, line) in &records {
        let _ = writeln!(out, "add dns {line} -TTL {}", record.ttl);
    }
    table.shift_remove("static");
    if !left.is_empty() {
        table.insert("static".into(), left.into());
    }
}

fn soa_line(zone: &str, soa: &Table, ttl: u64) -> Option<String> {
    let text = |key: &str| Some(soa.get(key)?.as_str()?.trim_end_matches('.'));
    let mut line =
        format!("add dns soaRec {} -originServer {} -contact {}", quoted(zone), text("mname")?, text("rname")?);
    let _ = write!(line, " -serial {}", soa.get("serial")?);
    for key in ["refresh", "retry", "expire", "minimum"] {
        let _ = write!(line, " -{key} {}", units::parse_duration(soa.get(key)?.as_str()?).ok()?.as_secs());
    }
    let _ = write!(line, " -TTL {ttl}");
    Some(line)
}

/// Whether an import makes this zone for its names without being told of it.
fn is_made_by_itself(zone: &str, records: &[(StaticRecord, String)], steered: Option<&Table>) -> bool {
    let of_text = records.iter().map(|(record, _)| {
        let below = matches!(record.rtype, RecordType::CNAME | RecordType::PTR);
        (record.owner.to_string().trim_end_matches('.').to_owned(), below)
    });
    let of_rrsets = steered.into_iter().flat_map(Map::keys).map(|key| {
        let (owner, rtype) = key.split_once(' ').unwrap_or((key, ""));
        let name = if owner == "@" { zone.to_owned() } else { format!("{owner}.{zone}") };
        (name, rtype == "CNAME")
    });
    let names: Vec<(String, bool)> = of_text.chain(of_rrsets).collect();
    let mut names = names.iter().map(|(name, below)| zones::zone_for(name, *below));
    names.len() > 0 && names.all(|made| made == Some(zone))
}

/// Records of a zone's text that lines can say, in its order, and the rest of the text.
fn readable(text: &str, origin: &DnsName, ttl: Option<u64>) -> (Vec<(StaticRecord, String)>, String) {
    let ttl = ttl.and_then(|ttl| u32::try_from(ttl).ok()).unwrap_or(60);
    // Lines that hang together are not taken apart.
    if text.contains(['$', '(']) || text.lines().any(|line| line.starts_with([' ', '\t'])) {
        return (Vec::new(), text.to_owned());
    }
    let (mut said, mut left) = (Vec::new(), String::new());
    for line in text.lines() {
        let (mut records, problems) = zonefile::read(line, origin, ttl);
        // Judged alone, a line has no other faults than its own.
        let record = records.pop().filter(|_| records.is_empty() && problems.is_empty());
        match record.and_then(|record| Some((record_line(&record)?, record))) {
            Some((line, record)) => said.push((record, line)),
            None if line.trim().is_empty() || line.trim_start().starts_with(';') => {}
            None => {
                left.push_str(line);
                left.push('\n');
            }
        }
    }
    (said, left)
}

/// `addRec www.example.test 192.0.2.1`; `None`: NetScaler has no such record.
fn record_line(record: &StaticRecord) -> Option<String> {
    let owner = record.owner.to_string();
    let owner = owner.strip_suffix('.')?;
    zones::domain(owner).ok()?;
    let owner = quoted(owner);
    let data = zonefile::presentation(record.rtype, &record.rdata);
    let words: Vec<&str> = data.split(' ').map(|word| word.strip_suffix('.').unwrap_or(word)).collect();
    Some(match (record.rtype, &words[..]) {
        (RecordType::A, [ip]) => format!("addRec {owner} {ip}"),
        (RecordType::AAAA, [ip]) => format!("aaaaRec {owner} {ip}"),
        (RecordType::NS, [server]) => format!("nsRec {owner} {server}"),
        (RecordType::CNAME, [name]) => format!("cnameRec {owner} {name}"),
        (RecordType::PTR, [name]) => format!("ptrRec {owner} {name}"),
        (RecordType::MX, [preference, mx]) => format!("mxRec {owner} -mx {mx} -pref {preference}"),
        (RecordType::SRV, [priority, weight, port, target]) => {
            format!("srvRec {owner} {target} -priority {priority} -weight {weight} -port {port}")
        }
        (RecordType::TXT, _) => {
            let strings: Option<Vec<String>> = strings(&record.rdata)?.into_iter().map(plain).collect();
            format!("txtRec {owner} {}", strings?.join(" "))
        }
        _ => return None,
    })
}

/// Character strings, each behind its length (RFC 1035 §3.3.14).
fn strings(mut rdata: &[u8]) -> Option<Vec<&str>> {
    let mut strings = Vec::new();
    while let Some((length, rest)) = rdata.split_first() {
        let (text, rest) = rest.split_at_checked(usize::from(*length))?;
        strings.push(std::str::from_utf8(text).ok()?);
        rdata = rest;
    }
    Some(strings)
}

fn plain(text: &str) -> Option<String> {
    (!text.contains(char::is_control)).then(|| quoted(text))
}
