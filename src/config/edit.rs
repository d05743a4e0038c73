//! Changing a configuration's text without losing its comments, and its JSON form.
//!
//! A saved file belongs to its author: comments, order, blank lines and the way things are written stay wherever the
//! meaning does. [`mod@merge`] therefore edits the old text until it means the new one, rather than printing the new one.

mod hidden;
mod json;
mod merge;
mod running;

use toml_edit::{DocumentMut, Item, TableLike, Value as Toml};

use super::render::text::{Text, Value};

pub(super) use hidden::{is_hidden, is_told};

pub use hidden::{
    for_journal, for_support, gives_answer, is_redacted, is_secret, redact, request_without_query, value_for_journal,
    value_for_support,
};
pub use json::parse_json;
pub use merge::{is_ordered, merge};
pub use running::running;

/// A JSON configuration as TOML text, keys in the order of the JSON.
///
/// Errors: what is no object, `null` (a key that is not wanted is left out), integers of more than 64 bits.
pub fn from_json(json: &serde_json::Value) -> Result<String, String> {
    let serde_json::Value::Object(root) = json else {
        return Err("a configuration is a JSON object".into());
    };
    check_json(json, &mut Vec::new())?;
    let mut out = Text::default();
    tables(&mut out, &mut Vec::new(), root);
    Ok(out.finish().trim_start_matches('\n').to_owned())
}

/// A TOML text as JSON, keys in the order of the text. Dates and times become strings.
pub fn to_json(text: &str) -> Result<serde_json::Value, String> {
    let document = parse(text)?;
    Ok(table_json(document.as_table()))
}

fn parse(text: &str) -> Result<DocumentMut, String> {
    text.parse::<DocumentMut>().map_err(|error| {
        let at = error.span().map_or(0, |span| span.start.min(text.len()));
        let line = text.as_bytes()[..at].iter().filter(|b| **b == b'\n').count() + 1;
        format!("line {line}: {}", error.message().lines().collect::<Vec<_>>().join(", "))
    })
}

fn table_json(table: &dyn TableLike) -> serde_json::Value {
    let entries = table.iter().filter_map(|(key, item)| Some((key.to_owned(), item_json(item)?)));
    serde_json::Value::Object(entries.collect())
}

fn item_json(item: &Item) -> Option<serde_json::Value> {
    match item {
        Item::None => None,
        Item::Table(table) => Some(table_json(table)),
        Item::ArrayOfTables(tables) => Some(tables.iter().map(|table| table_json(table)).collect()),
        Item::Value(value) => Some(value_json(value)),
    }
}

fn value_json(value: &Toml) -> serde_json::Value {
    match value {
        Toml::String(text) => text.value().as_str().into(),
        Toml::Integer(number) => (*number.value()).into(),
        // What JSON has no number for stays readable, and no number.
        Toml::Float(number) => match serde_json::Number::from_f64(*number.value()) {
            Some(number) => number.into(),
            None => number.value().to_string().into(),
        },
        Toml::Boolean(value) => (*value.value()).into(),
        Toml::Datetime(moment) => moment.value().to_string().into(),
        Toml::Array(items) => items.iter().map(value_json).collect(),
        Toml::InlineTable(table) => table_json(table),
    }
}

fn check_json(json: &serde_json::Value, path: &mut Vec<String>) -> Result<(), String> {
    let wrong = |path: &[String], what: &str| Err(format!("{}: {what}", path.join(".")));
    match json {
        serde_json::Value::Null => wrong(path, "null says nothing; leave the key out"),
        serde_json::Value::Number(number) if number.is_u64() && number.as_i64().is_none() => {
            wrong(path, "the number is too large")
        }
        serde_json::Value::Array(items) => items.iter().enumerate().try_for_each(|(at, item)| {
            path.push(at.to_string());
            check_json(item, path)?;
            path.pop();
            Ok(())
        }),
        serde_json::Value::Object(entries) => entries.iter().try_for_each(|(key, value)| {
            path.push(key.clone());
            check_json(value, path)?;
            path.pop();
            Ok(())
        }),
        _ => Ok(()),
    }
}

/// The keys of a table, then the tables in it: TOML wants them in this order.
fn tables<'a>(out: &mut Text, path: &mut Vec<&'a str>, entries: &'a serde_json::Map<String, serde_json::Value>) {
    let (inner, plain): (Vec<_>, Vec<_>) = entries.iter().partition(|(_, value)| value.is_object());
    if !path.is_empty() && (!plain.is_empty() || inner.is_empty()) {
        out.table(path);
    }
    for (key, value) in plain {
        out.key(key, Value::json(value));
    }
    for (key, value) in inner {
        path.push(key);
        tables(out, path, value.as_object().expect("partitioned"));
        path.pop();
    }
}

#[cfg(test)]
mod tests;
