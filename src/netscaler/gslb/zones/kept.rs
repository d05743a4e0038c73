//! Zones by name, with what is written into them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use super::domain;
use crate::config::units;
use crate::netscaler::document::Document;

/// Zones while they are written.
#[derive(Default)]
pub(in super::super) struct Zones {
    pub(super) zones: BTreeMap<String, Zone>,
    pub(super) first_line: Option<usize>,
}

#[derive(Default)]
pub(super) struct Zone {
    pub(super) table: Map<String, Value>,
    /// A line of the file, a line of the text.
    pub(super) text: Vec<(usize, String)>,
    pub(super) rrsets: Map<String, Value>,
    /// No line says it.
    pub(super) is_made: bool,
    pub(super) is_told: bool,
}

// === impl Zones ===

impl Zones {
    /// Those of a configuration, their text apart.
    pub fn of(document: &Document) -> Zones {
        let mut all = Zones::default();
        let tables = document.root().get("zone").and_then(Value::as_object).into_iter().flatten();
        for (name, table) in tables.filter(|(name, _)| domain(name).as_ref() == Ok(*name)) {
            let mut table = table.as_object().cloned().unwrap_or_default();
            let rrsets = match table.shift_remove("rrset") {
                Some(Value::Object(rrsets)) => rrsets,
                _ => Map::new(),
            };
            all.zones.insert(name.clone(), Zone { table, rrsets, ..Zone::default() });
        }
        all
    }

    /// The same, with the lines of their text: all of the first line that is worked off.
    pub fn with_text(document: &Document) -> Zones {
        let mut all = Zones::of(document);
        for zone in all.zones.values_mut() {
            if let Some(text) = zone.table.get("static").and_then(Value::as_str) {
                zone.text = text.lines().map(|line| (0, line.to_owned())).collect();
            }
        }
        all
    }

    /// The zone that holds a name, the longest, and the name in it.
    pub fn holder(&self, name: &str) -> Option<(String, String)> {
        let mut rest = name;
        loop {
            if self.zones.contains_key(rest) {
                let owner = name[..name.len() - rest.len()].trim_end_matches('.');
                return Some((rest.to_owned(), if owner.is_empty() { "@".into() } else { owner.to_owned() }));
            }
            rest = rest.split_once('.')?.1;
        }
    }

    /// The first line that needs a DNS server.
    pub fn first_line(&self) -> Option<usize> {
        self.first_line
    }

    /// Those that hold something.
    pub fn into_tables(self) -> impl Iterator<Item = (String, Map<String, Value>)> {
        let holds = |zone: &Zone| !(zone.text.is_empty() && zone.rrsets.is_empty() && zone.table.is_empty());
        self.zones.into_iter().filter(move |(_, zone)| holds(zone) || !zone.is_made).map(|(name, zone)| {
            let text = zone.text();
            let mut table = zone.table;
            if !text.is_empty() {
                table.insert("static".into(), json!(text));
            }
            if !zone.rrsets.is_empty() {
                table.insert("rrset".into(), zone.rrsets.into());
            }
            (name, table)
        })
    }
}

// === impl Zone ===

impl Zone {
    /// Of records that say none, in seconds.
    pub(in super::super) fn ttl(&self) -> u32 {
        let said = self.table.get("ttl").and_then(Value::as_str).and_then(|ttl| units::parse_duration(ttl).ok());
        said.and_then(|ttl| ttl.as_secs().try_into().ok()).unwrap_or(60)
    }

    pub(super) fn text(&self) -> String {
        self.text.iter().map(|(_, text)| format!("{text}\n")).collect()
    }
}
