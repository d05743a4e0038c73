//! What policies, rules and criteria say in secret: values that are written into messages, and what fields with passwords,
//! tokens and cookies are compared with.

use toml_edit::{InlineTable, Item, TableLike, Value as Toml};

use super::{HIDDEN, Reader, replace};
use crate::config::policy::expression::{is_secret_field, without_secrets};

/// Sections with expressions, and the key of each.
const EXPRESSIONS: [(&str, &str); 4] =
    [("policy_expression", "value"), ("cs_policy", "rule"), ("responder_policy", "rule"), ("rewrite_policy", "rule")];

/// Criteria of fields and of cookies.
const FIELDS: [&str; 3] = ["header", "response_header", "cookie"];

/// Hides it within a whole configuration, or what there is of one.
pub(super) fn hide(root: &mut dyn TableLike, reader: Reader) {
    // In the journal what stands there is an expression that still loads.
    let value = match reader {
        Reader::Person => HIDDEN.to_owned(),
        Reader::Journal => format!("\"{HIDDEN}\""),
    };
    each(root, "rewrite_action", &mut |action| put(action, "value", &|_| Some(value.clone())));
    for (section, key) in EXPRESSIONS {
        each(root, section, &mut |table| put(table, key, &|text| without_secrets(text, HIDDEN)));
    }
    each(root, "rule", &mut edits);
    each(root, "criterion", &mut |criterion| {
        for key in FIELDS {
            if let Some(test) = criterion.get_mut(key).and_then(Item::as_table_like_mut)
                && (key == "cookie" || test.get("name").and_then(Item::as_str).is_some_and(is_secret_field))
            {
                compared(test);
            }
        }
    });
}

/// Hides it within the value of a key, given by its whole path.
pub(super) fn hide_at(path: &str, value: &mut Toml, reader: Reader) {
    let mut keys: Vec<String> = path.split('.').map(str::to_owned).collect();
    let begins = |key: &String| key == "action" || FIELDS.contains(&&**key);
    let inner = match keys[0].as_str() {
        "rule" | "criterion" => keys.iter().skip(2).position(begins).map(|at| at + 2),
        _ => keys.len().checked_sub(1),
    };
    // A name may have dots.
    if let Some(inner) = inner.filter(|inner| *inner > 2) {
        let name = keys[1..inner].join(".");
        keys.splice(1..inner, [name]);
    }
    let mut whole = value.clone();
    for key in keys.iter().rev() {
        let mut table = InlineTable::new();
        table.insert(key.as_str(), whole);
        whole = table.into();
    }
    if let Toml::InlineTable(root) = &mut whole {
        hide(root, reader);
    }
    let found = keys.iter().try_fold(&whole, |at, key| at.as_inline_table()?.get(key));
    if let Some(found) = found {
        *value = found.clone();
    }
}

/// Whether a line of what has changed tells such a thing: `section` of the object, `path` of the key within it.
pub(in crate::config) fn is_told(section: &str, path: &str, line: &str) -> bool {
    match (section, path) {
        ("rule", path) => path.starts_with("action") && line.contains("value = "),
        ("responder_action", "target") => line.contains("HTTP/"),
        ("rewrite_action", "value") => true,
        (section, path) if EXPRESSIONS.contains(&(section, path)) => {
            let line = line.to_ascii_lowercase();
            ["authorization", "cookie"].iter().any(|field| line.contains(field))
        }
        _ => false,
    }
}

fn each(root: &mut dyn TableLike, section: &str, change: &mut dyn FnMut(&mut dyn TableLike)) {
    let Some(objects) = root.get_mut(section).and_then(Item::as_table_like_mut) else { return };
    for (_, object) in objects.iter_mut() {
        if let Some(table) = object.as_table_like_mut() {
            change(table);
        }
    }
}

fn put(table: &mut dyn TableLike, key: &str, stands: &dyn Fn(&str) -> Option<String>) {
    let Some(value) = table.get_mut(key).and_then(Item::as_value_mut) else { return };
    if let Some(shown) = value.as_str().and_then(stands) {
        replace(value, shown);
    }
}

fn edits(rule: &mut dyn TableLike) {
    let action = rule.get_mut("action").and_then(Item::as_table_like_mut);
    let Some(edits) = action.and_then(|action| action.get_mut("edit")) else { return };
    let hide = |edit: &mut dyn TableLike| put(edit, "value", &|_| Some(HIDDEN.to_owned()));
    match edits {
        Item::ArrayOfTables(tables) => tables.iter_mut().for_each(|table| hide(table)),
        Item::Value(Toml::Array(items)) => {
            items.iter_mut().filter_map(Toml::as_inline_table_mut).for_each(|table| hide(table));
        }
        _ => {}
    }
}

/// All that a field is compared with; its name stays.
fn compared(test: &mut dyn TableLike) {
    for (key, item) in test.iter_mut() {
        match item.as_value_mut() {
            Some(Toml::Array(items)) => {
                items.clear();
                items.push(HIDDEN);
            }
            Some(value) if key.get() != "name" => replace(value, HIDDEN.to_owned()),
            _ => {}
        }
    }
}
