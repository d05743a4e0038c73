//! Tables of a configuration that belong to GSLB.

use serde_json::Value;

use crate::netscaler::document::Document;

/// A table that belongs to GSLB.
pub(super) enum Part {
    /// `[check.NAME]`, `[scenario.NAME]`, `[service.NAME]`
    Of(&'static str, String),
    Rrset(String, String),
}

/// The name of an RRset by its key in a zone.
pub(super) fn domain(zone: &str, key: &str) -> String {
    match key.split(' ').next().unwrap_or_default() {
        "@" => zone.to_owned(),
        owner => format!("{owner}.{zone}"),
    }
}

/// The configuration without these tables, and without zones that hold nothing then.
pub(super) fn without<'a>(document: &Document, parts: impl Iterator<Item = &'a Part>) -> Document {
    let mut root = document.root().clone();
    for part in parts {
        match part {
            Part::Of(section, name) => {
                if let Some(Value::Object(tables)) = root.get_mut(*section) {
                    tables.shift_remove(name);
                    if tables.is_empty() {
                        root.shift_remove(*section);
                    }
                }
            }
            Part::Rrset(zone, key) => {
                let Some(Value::Object(zones)) = root.get_mut("zone") else { continue };
                let Some(Value::Object(table)) = zones.get_mut(zone) else { continue };
                if let Some(Value::Object(rrsets)) = table.get_mut("rrset") {
                    rrsets.shift_remove(key);
                    if rrsets.is_empty() {
                        table.shift_remove("rrset");
                    }
                }
                if table.is_empty() {
                    zones.shift_remove(zone);
                }
                if zones.is_empty() {
                    root.shift_remove("zone");
                }
            }
        }
    }
    Document::from_root(root)
}

// === impl Part ===

impl Part {
    /// It in a configuration.
    pub(super) fn of<'a>(&self, document: &'a Document) -> Option<&'a Value> {
        match self {
            Part::Of(section, name) => document.root().get(*section)?.get(name),
            // A zone that comes or goes takes names of another along.
            Part::Rrset(zone, key) => {
                let (name, rtype) = (domain(zone, key), key.split(' ').nth(1));
                let zones = document.root().get("zone")?.as_object()?;
                let rrsets = zones.iter().filter_map(|(zone, table)| Some((zone, table.get("rrset")?.as_object()?)));
                let mut all =
                    rrsets.flat_map(|(zone, rrsets)| rrsets.iter().map(move |(key, table)| (zone, key, table)));
                let is_it = |zone: &str, key: &str| key.split(' ').nth(1) == rtype && domain(zone, key) == name;
                all.find(|(zone, key, _)| is_it(zone, key)).map(|(.., table)| table)
            }
        }
    }
}
