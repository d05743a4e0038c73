//! Commands on zones and their records: `add dns addRec`, `rm dns mxRec`, ….
//!
//! A record is a line of the text of its zone; what adds one is read as an import reads it. A zone that no command made
//! goes with its last record.

mod append;

use std::fmt::Write as _;
use std::net::IpAddr;

use serde_json::{Map, Value};

use super::change::{Given, value};
use super::zones::{self, Zones};
use super::{Books, Carrying};
use crate::config::zonefile;
use crate::model::zone::{DnsName, RecordType};
use crate::netscaler::document::Document;
use crate::netscaler::error::NsError;
use crate::netscaler::export::quoted;
use crate::netscaler::import::{Fate, Pending};
use crate::netscaler::resource::{Place, Resource};
use crate::netscaler::statement::Verb;
pub(super) use append::append;

/// Behind each other in one value: blanks may stand in a string.
pub(super) const BETWEEN: char = '\0';

/// Carries out a command; `None`: there is none such.
pub(super) fn execute(
    document: &mut Document,
    resource: &'static Resource,
    verb: Verb,
    name: &str,
    given: &Given,
) -> Option<Result<(), NsError>> {
    let key = resource.attribute(resource.key).map_or("name", |attribute| attribute.cli);
    let Ok(owner) = zones::domain(name) else { return Some(Err(NsError::bad_value(key, name))) };
    let has_zone = document.table("zone", &owner).is_some();
    let has_soa = document.table("zone", &owner).is_some_and(|zone| zone.contains_key("soa"));
    let unknown = || Err(NsError::no_such_resource(key, name));
    Some(match (resource.nitro, verb) {
        ("dnszone", Verb::Add) if has_zone => Err(NsError::exists(key, name)),
        ("dnssoarec", Verb::Add) if has_soa => Err(NsError::exists(key, name)),
        ("dnszone" | "dnssoarec", Verb::Add) => add(document, resource, &owner, given),
        ("dnszone", Verb::Remove | Verb::Set) if !has_zone => unknown(),
        ("dnszone", Verb::Set) => Ok(()),
        ("dnszone", Verb::Remove) => remove_zone(document, key, &owner),
        ("dnssoarec", Verb::Remove | Verb::Set | Verb::Unset) if !has_soa => unknown(),
        ("dnssoarec", Verb::Remove) => {
            edit(document, &owner, |zone| drop(zone.shift_remove("soa")));
            Ok(())
        }
        ("dnssoarec", Verb::Set | Verb::Unset) => set_soa(document, resource, &owner, given),
        (_, Verb::Add) => add_record(document, resource, &owner, given),
        (_, Verb::Remove) => remove_record(document, resource, &owner, given),
        _ => return None,
    })
}

fn edit(document: &mut Document, zone: &str, change: impl FnOnce(&mut Map<String, Value>)) {
    let mut root = std::mem::take(document).into_root();
    if let Some(Value::Object(zones)) = root.get_mut("zone") {
        if let Some(Value::Object(table)) = zones.get_mut(zone) {
            change(table);
            if table.is_empty() {
                zones.shift_remove(zone);
            }
        }
        if zones.is_empty() {
            root.shift_remove("zone");
        }
    }
    *document = Document::from_root(root);
}

fn remove_zone(document: &mut Document, key: &str, name: &str) -> Result<(), NsError> {
    let table = document.table("zone", name).cloned().unwrap_or_default();
    for (holds, what) in [
        ("soa", "its SOA record"),
        ("static", "its records"),
        ("file", "its file of records"),
        ("rrset", "its steered records"),
        ("transfer", "its transfer"),
        ("dnssec", "its keys"),
    ] {
        if table.contains_key(holds) {
            return Err(NsError::in_use(key, name, what));
        }
    }
    edit(document, name, Map::clear);
    Ok(())
}

/// A command as the line that an import reads.
fn line(resource: &'static Resource, owner: &str, given: &Given, ttl: Option<u32>) -> String {
    let mut line = format!("add dns {} {}", resource.words[1], quoted(owner));
    let said = |line: &mut String, is_word: bool| {
        for (attribute, said) in given {
            let Some(text) = said else { continue };
            let stands = resource.positional.contains(&attribute.nitro) && attribute.nitro != "mx";
            if stands != is_word {
                continue;
            }
            if !stands {
                let _ = write!(line, " -{}", attribute.cli);
            }
            for word in text.split(BETWEEN) {
                let _ = write!(line, " {}", quoted(word));
            }
        }
    };
    said(&mut line, true);
    said(&mut line, false);
    if let Some(ttl) = ttl {
        let _ = write!(line, " -TTL {ttl}");
    }
    line
}

fn add(document: &mut Document, resource: &'static Resource, owner: &str, given: &Given) -> Result<(), NsError> {
    carry(document, &line(resource, owner, given, None))
}

/// Reads the line as an import does, into the zones that are there.
fn carry(document: &mut Document, line: &str) -> Result<(), NsError> {
    let refused = |why: &str| NsError::new(278).because(why);
    // What stands in a zone's text already has the first line.
    let mut lines = vec![Pending::read(1, ""), Pending::read(2, line)];
    let records = zones::record(1, &lines[1]).map_err(|why| refused(&why))?;
    let books = Books { records, ..Books::default() };
    let mut next = document.clone();
    let zones = Zones::with_text(&next);
    let mut carrying = Carrying {
        document: &mut next,
        lines: &mut lines,
        zones,
        left: Default::default(),
        members: Default::default(),
    };
    carrying.plan(&books);
    carrying.records(&books.records);
    carrying.finish();
    for line in &lines {
        if let Some(Fate::Missing { what, .. }) = &line.fate {
            return Err(refused(&what.join("; ")));
        }
    }
    *document = next;
    Ok(())
}

fn set_soa(document: &mut Document, resource: &'static Resource, owner: &str, given: &Given) -> Result<(), NsError> {
    let zone = document.table("zone", owner).cloned().unwrap_or_default();
    let mut all = Given::new();
    for attribute in resource.attributes().filter(|attribute| matches!(attribute.place, Place::Line)) {
        let seconds = |value: &Value| {
            let text = value.as_str()?;
            Some(crate::config::units::parse_duration(text).ok()?.as_secs().to_string())
        };
        let now = match attribute.nitro {
            "originserver" => zone.get("soa").and_then(|soa| soa.get("mname")?.as_str().map(str::to_owned)),
            "contact" => zone.get("soa").and_then(|soa| soa.get("rname")?.as_str().map(str::to_owned)),
            "serial" => zone.get("soa").and_then(|soa| Some(soa.get("serial")?.to_string())),
            "ttl" => zone.get("ttl").and_then(seconds),
            other => zone.get("soa").and_then(|soa| seconds(soa.get(other)?)),
        };
        match given.iter().find(|(said, _)| said.nitro == attribute.nitro) {
            Some((_, None)) if ["originserver", "contact"].contains(&attribute.nitro) => {
                return Err(NsError::with(257, &[attribute.cli]));
            }
            Some((_, said)) => all.push((attribute, said.clone())),
            None => all.push((attribute, now)),
        }
    }
    add(document, resource, owner, &all)
}

/// A zone with its text, as far as commands may change it.
struct Text {
    zone: String,
    origin: DnsName,
    ttl: u32,
    text: String,
}

/// `None`: no zone holds the name yet. Errors: its zone takes no command.
fn text_of_zone(document: &Document, owner: &str) -> Result<Option<Text>, NsError> {
    let Some((zone, _)) = Zones::of(document).holder(owner) else { return Ok(None) };
    let Some(table) = document.table("zone", &zone) else { return Ok(None) };
    let not_here = |why: &str| Err(NsError::with(257, &["zone", &zone]).because(why));
    if table.contains_key("file") {
        return not_here("its records stand in a file: change that");
    }
    if table.get("transfer").is_some_and(|transfer| transfer.get("from").is_some()) {
        return not_here("it comes from its primaries: change it there");
    }
    Ok(Text::of(&zone, table))
}

fn rtype(resource: &Resource) -> RecordType {
    match resource.nitro {
        "dnsaaaarec" => RecordType::AAAA,
        "dnscnamerec" => RecordType::CNAME,
        "dnsnsrec" => RecordType::NS,
        "dnsmxrec" => RecordType::MX,
        "dnstxtrec" => RecordType::TXT,
        "dnssrvrec" => RecordType::SRV,
        "dnsptrrec" => RecordType::PTR,
        _ => RecordType::A,
    }
}

/// Whether data, as a zone's text has it, is what a command names; what it does not name does not matter.
fn is_meant(resource: &Resource, given: &Given, data: &str) -> bool {
    let is_host = |nitro: &str, data: &str| match value(given, nitro) {
        Some(name) => zones::host(name).is_ok_and(|name| name.eq_ignore_ascii_case(data)),
        None => true,
    };
    let last = data.rsplit(' ').next().unwrap_or_default();
    let is_address = |nitro: &str| match value(given, nitro) {
        Some(list) => list.split(BETWEEN).any(|ip| ip.parse::<IpAddr>().is_ok_and(|ip| data.parse() == Ok(ip))),
        None => true,
    };
    match resource.nitro {
        "dnsaddrec" => is_address("ipaddress"),
        "dnsaaaarec" => is_address("ipv6address"),
        "dnscnamerec" => is_host("canonicalname", data),
        "dnsnsrec" => is_host("nameserver", data),
        "dnsptrrec" => is_host("domain", data),
        "dnsmxrec" => is_host("mx", last),
        "dnssrvrec" => is_host("target", last),
        _ => value(given, "string")
            .is_none_or(|text| text.split(BETWEEN).map(zones::quoted).collect::<Vec<_>>().join(" ") == data),
    }
}

// === impl Text ===

impl Text {
    fn of(zone: &str, table: &Map<String, Value>) -> Option<Text> {
        let origin = DnsName::parse(&format!("{zone}."), &DnsName::root())?;
        let said = table.get("ttl").and_then(Value::as_str);
        let ttl = said.and_then(|ttl| crate::config::units::parse_duration(ttl).ok());
        let ttl = ttl.map_or(60, |ttl| ttl.as_secs()).try_into().unwrap_or(60);
        let text = table.get("static").and_then(Value::as_str).unwrap_or_default().to_owned();
        Some(Text { zone: zone.to_owned(), origin, ttl, text })
    }

    /// TTL and data of the records of this name and type, as a text has them.
    fn records(&self, text: &str, owner: &str, rtype: RecordType) -> Vec<(u32, String)> {
        let (records, _) = zonefile::read(text, &self.origin, self.ttl);
        let is_it = |name: &DnsName| name.to_string().trim_end_matches('.') == owner;
        let found = records.iter().filter(|record| record.rtype == rtype && is_it(&record.owner));
        found.map(|record| (record.ttl, zonefile::presentation(rtype, &record.rdata))).collect()
    }
}

/// A text without these lines (from 0). A line that has its owner from one of them gets it in front. `None`: one of them
/// goes on in brackets.
fn without(text: &str, gone: &[usize]) -> Option<String> {
    let is_indented = |line: &str| line.starts_with([' ', '\t']);
    let (mut left, mut owner) = (String::new(), None);
    for (at, line) in text.lines().enumerate() {
        let says_something = !line.trim().is_empty() && !line.trim_start().starts_with(';');
        if gone.contains(&at) {
            // Those of a string are within quotes.
            if line.split('"').step_by(2).any(|part| part.contains('(')) {
                return None;
            }
            if !is_indented(line) {
                owner = line.split([' ', '\t']).next();
            }
            continue;
        }
        if says_something && let Some(owner) = owner.take().filter(|_| is_indented(line)) {
            left.push_str(owner);
        }
        left.push_str(line);
        left.push('\n');
    }
    Some(left)
}

fn add_record(document: &mut Document, resource: &'static Resource, owner: &str, given: &Given) -> Result<(), NsError> {
    let mut ttl = None;
    if let Some(text) = text_of_zone(document, owner)? {
        let there = text.records(&text.text, owner, rtype(resource));
        if there.iter().any(|(_, data)| is_meant(resource, given, data)) {
            return Err(NsError::exists(resource.attribute(resource.key).map_or("name", |a| a.cli), owner));
        }
        if let Some((known, _)) = there.first() {
            match value(given, "ttl") {
                Some(said) if said != known.to_string() => {
                    let why = format!("its other records have {known}, and one TTL holds for all of a name and type");
                    return Err(NsError::unsupported("TTL", said, &why));
                }
                Some(_) => {}
                None => ttl = Some(*known),
            }
        }
    }
    carry(document, &line(resource, owner, given, ttl))
}

fn remove_record(
    document: &mut Document,
    resource: &'static Resource,
    owner: &str,
    given: &Given,
) -> Result<(), NsError> {
    let key = resource.attribute(resource.key).map_or("name", |attribute| attribute.cli);
    let unknown = || NsError::no_such_resource(key, owner);
    let Some(text) = text_of_zone(document, owner)? else { return Err(unknown()) };
    let rtype = rtype(resource);
    let is_it = |name: &DnsName| name.to_string().trim_end_matches('.') == owner;
    let meant: Vec<usize> = zonefile::places(&text.text, &text.origin, text.ttl)
        .into_iter()
        .filter(|(_, record)| record.rtype == rtype && is_it(&record.owner))
        .filter(|(_, record)| is_meant(resource, given, &zonefile::presentation(rtype, &record.rdata)))
        .map(|(line, _)| line as usize - 1)
        .collect();
    if meant.is_empty() {
        return Err(unknown());
    }
    let Some(left) = without(&text.text, &meant) else {
        let why = "the text of its zone says it on several lines: change it in the configuration";
        return Err(NsError::with(257, &[key, owner]).because(why));
    };
    edit(document, &text.zone, |zone| {
        if left.trim().is_empty() {
            zone.shift_remove("static");
        } else {
            zone.insert("static".into(), left.into());
        }
    });
    Ok(())
}

#[cfg(test)]
mod tests;
