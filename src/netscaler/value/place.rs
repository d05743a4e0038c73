//! Where values stand: paths below a table, with the other spellings that the schema knows.

use serde_json::{Map, Value};

use crate::config::schema::{Kind, ROOT, Schema};

/// The table of one object of a section, or the one table of a section that holds one.
pub(in crate::netscaler) fn schema_of(section: &str) -> Option<&'static Schema> {
    table(&ROOT.key(section)?.kind)
}

fn table(kind: &'static Kind) -> Option<&'static Schema> {
    match kind {
        Kind::Table(schema) => Some(schema),
        Kind::Map(kind) => table(kind),
        Kind::OneOf(kinds) => kinds.iter().find_map(table),
        _ => None,
    }
}

/// What the schema takes at a path.
pub(in crate::netscaler) fn kind_at(schema: &'static Schema, path: &[&str]) -> Option<&'static Kind> {
    let (first, rest) = path.split_first()?;
    let kind = &schema.key(first)?.kind;
    if rest.is_empty() { Some(kind) } else { kind_at(table(kind)?, rest) }
}

/// A value by its path, whichever spelling the text has.
pub(in crate::netscaler) fn get<'a>(
    object: &'a Map<String, Value>,
    schema: &'static Schema,
    path: &[&str],
) -> Option<&'a Value> {
    let (first, rest) = path.split_first()?;
    let key = schema.key(first)?;
    let value = object.get(*first).or_else(|| key.aliases.iter().find_map(|alias| object.get(*alias)))?;
    if rest.is_empty() { Some(value) } else { get(value.as_object()?, table(&key.kind)?, rest) }
}

/// Writes a value, under the schema's own spelling, with the tables above it.
pub(in crate::netscaler) fn put(object: &mut Map<String, Value>, schema: &'static Schema, path: &[&str], value: Value) {
    let Some((first, rest)) = path.split_first() else { return };
    let Some(key) = schema.key(first) else { return };
    if let Some(alias) = key.aliases.iter().find(|alias| object.contains_key(**alias)) {
        let old = object.shift_remove(*alias).unwrap_or_default();
        object.insert((*first).to_owned(), old);
    }
    if rest.is_empty() {
        object.insert((*first).to_owned(), value);
        return;
    }
    let below = object.entry((*first).to_owned()).or_insert_with(|| Value::Object(Map::new()));
    if let (Value::Object(below), Some(schema)) = (below, table(&key.kind)) {
        put(below, schema, rest, value);
    }
}

/// Removes a value; tables that are empty then go with it.
pub(in crate::netscaler) fn remove(object: &mut Map<String, Value>, schema: &'static Schema, path: &[&str]) {
    let Some((first, rest)) = path.split_first() else { return };
    let Some(key) = schema.key(first) else { return };
    for name in std::iter::once(first).chain(key.aliases) {
        let Some(value) = object.get_mut(*name) else { continue };
        if let (false, Value::Object(below), Some(schema)) = (rest.is_empty(), value, table(&key.kind)) {
            remove(below, schema, rest);
            if !below.is_empty() {
                continue;
            }
        }
        object.shift_remove(*name);
    }
}

/// The table of an object in a section.
pub(in crate::netscaler) fn of_object<'a>(
    root: &'a Map<String, Value>,
    section: &str,
    name: &str,
) -> Option<&'a Map<String, Value>> {
    root.get(section)?.as_object()?.get(name)?.as_object()
}
