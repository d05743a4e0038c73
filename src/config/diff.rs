//! What differs between two models, by name.
//!
//! Both are printed ([`render`]) and compared key by key: the printed text holds everything that was configured, under
//! names instead of ids, so nothing can be forgotten here when the model grows. Zone texts are compared by their
//! records, since a text says little about what answers will change.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use super::zonefile::presentation;
use super::{edit, render};
use crate::model::Model;
use crate::model::tls::Certificate;
use crate::model::zone::Zone;

/// One object that is there in only one of two models, or in both in different ways.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Difference {
    /// `vserver web`
    pub object: String,
    pub kind: DifferenceKind,
    /// `backup: none → web-spare`; empty where the object is added or removed.
    pub details: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DifferenceKind {
    Added,
    Removed,
    Changed,
}

/// Tables that stand once; all others hold objects by name.
const ONCE: [&str; 15] = [
    "appliance",
    "admin",
    "features",
    "journal",
    "network",
    "time",
    "log",
    "trace",
    "resolver",
    "monitors",
    "drills",
    "gslb",
    "dns",
    "peer_link",
    "policy_global",
];
/// Longer values are not shown whole.
const SHOWN_MOST: usize = 120;

/// The differences from `old` to `new`, sorted by object. Equal models have none; models that differ only in what is
/// generated from the same configuration have none either.
pub fn diff(old: &Model, new: &Model) -> Vec<Difference> {
    if old == new {
        return Vec::new();
    }
    let (before, after) = (objects(old), objects(new));
    let mut differences = Vec::new();
    for (name, old) in &before {
        match after.get(name) {
            None => differences.push(Difference::whole(name, DifferenceKind::Removed)),
            Some(new) => {
                let mut details = Vec::new();
                compare("", old, new, &mut details);
                details.iter_mut().for_each(|detail| keep_secrets(name, detail));
                if !details.is_empty() {
                    differences.push(Difference { object: name.clone(), kind: DifferenceKind::Changed, details });
                }
            }
        }
    }
    let added = after.keys().filter(|name| !before.contains_key(*name));
    differences.extend(added.map(|name| Difference::whole(name, DifferenceKind::Added)));
    differences.sort();
    differences
}

/// What policies and rules say in secret is not told.
fn keep_secrets(object: &str, detail: &mut String) {
    let section = object.split(' ').next().unwrap_or_default();
    let path = detail.split_once(": ").map(|(path, _)| path).unwrap_or_default();
    if edit::is_told(section, path, detail) {
        *detail = format!("{path}: changed");
    }
}

/// Every object under `kind name`.
fn objects(model: &Model) -> BTreeMap<String, Value> {
    // What is printed is TOML; the test of the writer says so.
    let Ok(Value::Object(root)) = edit::to_json(&render::render(model)) else { return BTreeMap::new() };
    let mut objects = BTreeMap::new();
    for (kind, value) in root {
        match value {
            Value::Object(mut table) if ONCE.contains(&kind.as_str()) => {
                for callers in ["user", "token"] {
                    if let Some(Value::Object(named)) = table.remove(callers) {
                        objects.extend(named.into_iter().map(|(name, one)| (format!("{callers} {name}"), one)));
                    }
                }
                objects.insert(kind, Value::Object(table));
            }
            Value::Object(named) => {
                for (name, mut object) in named {
                    if kind == "zone"
                        && let Some(zone) = model.zones.iter().find(|zone| *zone.name == name)
                    {
                        split_zone(&mut objects, zone, &mut object);
                    }
                    if kind == "certificate"
                        && let Some(certificate) = model.certificates.iter().find(|c| *c.name == name)
                    {
                        tell_certificate(certificate, &mut object);
                    }
                    objects.insert(format!("{kind} {name}"), object);
                }
            }
            _ => {}
        }
    }
    objects
}

/// What is in the files of a certificate shows when they are replaced under their names.
fn tell_certificate(certificate: &Certificate, object: &mut Value) {
    let (Value::Object(table), Some(facts)) = (object, certificate.facts()) else { return };
    let day = jiff::Timestamp::from_second(facts.not_after).map(|at| at.strftime("%Y-%m-%d").to_string());
    table.insert("serial".into(), Value::String(facts.serial.to_string()));
    table.insert("expires".into(), Value::String(day.unwrap_or_default()));
    table.insert("names".into(), facts.names.iter().map(|name| Value::String(name.to_string())).collect());
}

/// RRsets become objects of their own, and the zone text its records.
fn split_zone(objects: &mut BTreeMap<String, Value>, zone: &Zone, object: &mut Value) {
    let Value::Object(table) = object else { return };
    if let Some(Value::Object(rrsets)) = table.remove("rrset") {
        let named = rrsets.into_iter().map(|(key, rrset)| (format!("rrset {key} of {}", zone.name), rrset));
        objects.extend(named);
    }
    table.remove("static");
    let records = zone.records.iter().map(|record| {
        let data = presentation(record.rtype, &record.rdata);
        Value::String(format!("{} {} {} {data}", record.owner, record.ttl, record.rtype))
    });
    table.insert("records".into(), records.collect());
}

fn compare(path: &str, old: &Value, new: &Value, details: &mut Vec<String>) {
    match (old, new) {
        (Value::Object(old), Value::Object(new)) => compare_tables(path, old, new, details),
        (Value::Array(old), Value::Array(new)) if is_long(old) || is_long(new) => {
            compare_lists(path, old, new, details);
        }
        _ if old == new => {}
        _ => changed(path, Some(old), Some(new), details),
    }
}

fn compare_tables(path: &str, old: &Map<String, Value>, new: &Map<String, Value>, details: &mut Vec<String>) {
    let inner = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    for (key, old) in old {
        match new.get(key) {
            Some(new) => compare(&inner(key), old, new, details),
            None => changed(&inner(key), Some(old), None, details),
        }
    }
    for (key, new) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
        changed(&inner(key), None, Some(new), details);
    }
    let common = |table: &Map<String, Value>, other: &Map<String, Value>| -> Vec<String> {
        table.keys().filter(|key| other.contains_key(*key)).cloned().collect()
    };
    // The printed order is fixed except where it means something.
    let (was, is) = (common(old, new), common(new, old));
    if was != is {
        details.push(format!("{path}: order {} → {}", was.join(", "), is.join(", ")));
    }
}

/// Lists of records and of groups: what came and what went.
fn compare_lists(path: &str, old: &[Value], new: &[Value], details: &mut Vec<String>) {
    if old == new {
        return;
    }
    let before = details.len();
    let left_over = |all: &[Value], other: &[Value]| {
        let mut other: Vec<&Value> = other.iter().collect();
        let gone = |value: &&Value| match other.iter().position(|o| o == value) {
            Some(at) => {
                other.swap_remove(at);
                false
            }
            None => true,
        };
        all.iter().filter(gone).map(shown).collect::<Vec<_>>()
    };
    details.extend(left_over(old, new).into_iter().map(|value| format!("{path}: − {value}")));
    details.extend(left_over(new, old).into_iter().map(|value| format!("{path}: + {value}")));
    if details.len() == before {
        details.push(format!("{path}: in another order"));
    }
}

fn is_long(list: &[Value]) -> bool {
    let wide = || list.iter().map(|item| shown(item).len()).sum::<usize>() > SHOWN_MOST / 2;
    list.iter().any(|item| item.is_object() || item.is_array()) || list.len() > 8 || wide()
}

fn changed(path: &str, old: Option<&Value>, new: Option<&Value>, details: &mut Vec<String>) {
    if edit::is_hidden(path) {
        details.push(format!("{path}: changed"));
        return;
    }
    let side = |value: Option<&Value>| value.map_or_else(|| "none".to_owned(), shown);
    details.push(format!("{path}: {} → {}", side(old), side(new)));
}

/// A value on one line, without quotes where it needs none.
fn shown(value: &Value) -> String {
    let text = match value {
        Value::String(text) if text.is_empty() => "\"\"".into(),
        Value::String(text) if text.contains(char::is_control) => format!("{text:?}"),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(shown).collect::<Vec<_>>().join(", ")),
        Value::Object(entries) => {
            let entries: Vec<_> = entries.iter().map(|(key, value)| format!("{key} = {}", shown(value))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
        other => other.to_string(),
    };
    if text.chars().count() <= SHOWN_MOST {
        return text;
    }
    text.chars().take(SHOWN_MOST).chain("…".chars()).collect()
}

// === impl Difference ===

impl Difference {
    fn whole(object: &str, kind: DifferenceKind) -> Difference {
        Difference { object: object.to_owned(), kind, details: Vec::new() }
    }
}

/// One line: `~ vserver web: backup: none → web-spare`, `+ server app3`, `− server app1`.
impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.kind {
            DifferenceKind::Added => '+',
            DifferenceKind::Removed => '−',
            DifferenceKind::Changed => '~',
        };
        write!(f, "{sign} {}", self.object)?;
        if self.details.is_empty() {
            return Ok(());
        }
        write!(f, ": {}", self.details.join("; "))
    }
}

#[cfg(test)]
mod tests;
