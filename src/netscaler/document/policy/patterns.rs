//! Patterns of a set: a list, or a table where the numbers say more than the order.

use serde_json::{Map, Value, json};

use super::super::Document;
use super::super::bind::{Ends, number};
use crate::netscaler::error::NsError;
use crate::netscaler::value::text_of;

impl Document {
    pub(in crate::netscaler::document) fn bind_pattern(&mut self, ends: Ends) -> Result<(), NsError> {
        let Ends { owner, name, mut table, other, given } = ends;
        let mut all = patterns(&table);
        if all.iter().any(|(pattern, _)| *pattern == other) {
            return Err(NsError::exists("String", &other));
        }
        let next = all.iter().map(|(_, index)| *index).max().unwrap_or(0) + 1;
        let index = number(&given, "index", 1, 2_147_483_647)?.unwrap_or(next);
        if all.iter().any(|(_, taken)| *taken == index) {
            return Err(NsError::exists("index", &index.to_string()));
        }
        all.push((other, index));
        write_patterns(&mut table, all);
        self.store(owner.section(), &name, table);
        Ok(())
    }

    pub(in crate::netscaler::document) fn unbind_pattern(&mut self, ends: Ends) -> Result<(), NsError> {
        let Ends { owner, name, mut table, other, .. } = ends;
        let mut all = patterns(&table);
        let before = all.len();
        all.retain(|(pattern, _)| *pattern != other);
        if all.len() == before {
            return Err(NsError::no_such_resource("String", &other));
        }
        write_patterns(&mut table, all);
        self.store(owner.section(), &name, table);
        Ok(())
    }
}

/// Patterns with their numbers; a list counts from 1.
pub(in crate::netscaler::document) fn patterns(table: &Map<String, Value>) -> Vec<(String, i64)> {
    match table.get("patterns") {
        Some(Value::Array(items)) => items.iter().map(text_of).zip(1..).collect(),
        Some(Value::Object(entries)) => {
            entries.iter().map(|(pattern, index)| (pattern.clone(), index.as_i64().unwrap_or(0))).collect()
        }
        _ => Vec::new(),
    }
}

fn write_patterns(table: &mut Map<String, Value>, mut all: Vec<(String, i64)>) {
    all.sort_by_key(|(_, index)| *index);
    let counts = all.iter().zip(1..).all(|((_, index), at)| *index == at);
    match all.is_empty() {
        true => drop(table.shift_remove("patterns")),
        false if counts => {
            let names: Vec<String> = all.into_iter().map(|(pattern, _)| pattern).collect();
            table.insert("patterns".into(), json!(names));
        }
        false => {
            let entries: Map<String, Value> = all.into_iter().map(|(pattern, index)| (pattern, index.into())).collect();
            table.insert("patterns".into(), Value::Object(entries));
        }
    }
}
