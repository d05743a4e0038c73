//! Editing one text until it means another.

use serde_json::Value as Json;
use toml_edit::{Array, ArrayOfTables, Decor, InlineTable, Item, Table, TableLike, Value};

use super::{item_json, parse, table_json, value_json};

/// Tables in which the order of the keys means something: services of a vserver, groups of a condition, header fields.
const ORDERED: [&str; 6] = ["services", "monitors", "when", "gate", "headers", "custom_headers"];

/// Whether the order of the keys in a table of this name means something.
pub fn is_ordered(key: &str) -> bool {
    ORDERED.contains(&key)
}

/// `old_text` changed so that it means `new_text`. What means the same stays as it is written, comments included; a
/// changed value keeps the comments around it; a removed key takes its own comments along; new tables stand behind
/// those of their kind.
///
/// Errors: either text is no TOML.
pub fn merge(old_text: &str, new_text: &str) -> Result<String, String> {
    let mut old = parse(old_text).map_err(|e| format!("the old text is not TOML: {e}"))?;
    let new = parse(new_text).map_err(|e| format!("the new text is not TOML: {e}"))?;
    merge_tables(old.as_table_mut(), new.as_table(), Place { inline: false, ordered: false });
    let merged = old.to_string();
    // A text that does not mean what was asked for must never be saved.
    match parse(&merged) {
        Ok(back) if same(&table_json(back.as_table()), &table_json(new.as_table()), false) => Ok(merged),
        _ => Err("the texts are written too differently to be merged".into()),
    }
}

/// Whether both mean the same; the order of keys counts where it means something.
fn same(a: &Json, b: &Json, ordered: bool) -> bool {
    match (a, b) {
        (Json::Object(a), Json::Object(b)) => {
            a.len() == b.len()
                && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b, ORDERED.contains(&key.as_str()))))
                && (!ordered || a.keys().eq(b.keys()))
        }
        (Json::Array(a), Json::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b, false)),
        _ => a == b,
    }
}

/// What is known of the table at hand.
#[derive(Clone, Copy)]
struct Place {
    /// New tables in it stand in line.
    inline: bool,
    ordered: bool,
}

fn merge_tables(old: &mut dyn TableLike, new: &dyn TableLike, place: Place) {
    let gone: Vec<String> = old.iter().map(|(key, _)| key.to_owned()).filter(|key| !new.contains_key(key)).collect();
    for key in gone {
        old.remove(&key);
    }
    for (key, item) in new.iter() {
        // Keys stand before tables in TOML, so an order of both can only be kept in line.
        let inner = Place { ordered: ORDERED.contains(&key), inline: place.inline || place.ordered };
        match old.get_mut(key) {
            Some(existing) => merge_items(existing, item, inner),
            None => {
                old.insert(key, fresh(item, inner.inline));
            }
        }
    }
    if place.ordered {
        reorder(old, new);
    }
}

fn merge_items(old: &mut Item, new: &Item, place: Place) {
    if let (Some(old), Some(new)) = (item_json(old), item_json(new))
        && same(&old, &new, place.ordered)
    {
        return;
    }
    if let (Item::ArrayOfTables(tables), Some(items)) = (&mut *old, tables_of(new)) {
        merge_array_of_tables(tables, items);
        return;
    }
    match (&mut *old, new) {
        (Item::Table(table), _) if new.is_table_like() && (!place.inline || table.is_dotted()) => {
            let inline = table.is_dotted();
            merge_tables(table, new.as_table_like().expect("just asked"), Place { inline, ..place });
            // A table that is only there through its keys must be written once it has none.
            if table.is_empty() && inline {
                *old = fresh(new, true);
            } else if table.is_empty() {
                table.set_implicit(false);
            }
        }
        (Item::Value(value), _) => match fresh(new, true).into_value() {
            Ok(new) => merge_values(value, new, place),
            Err(_) => *old = fresh(new, place.inline),
        },
        _ => *old = fresh(new, place.inline),
    }
}

fn merge_values(old: &mut Value, new: Value, place: Place) {
    match (&mut *old, &new) {
        (Value::InlineTable(old), Value::InlineTable(new)) => {
            merge_tables(old, new, Place { inline: true, ..place });
            separate(old);
        }
        (Value::Array(old), Value::Array(new)) => merge_arrays(old, new),
        _ => {
            let decor = old.decor().clone();
            *old = new;
            *old.decor_mut() = decor;
        }
    }
}

/// Elements that stay keep their lines and comments, whatever moves around them.
fn merge_arrays(old: &mut Array, new: &Array) {
    let in_lines = old.iter().any(|value| has_newline(value.decor())) || text(old.trailing()).contains('\n');
    let indent = old.iter().next().and_then(|value| value.decor().prefix().map(text)).unwrap_or_default();
    let indent = indent.rfind('\n').map_or("\n  ".to_owned(), |at| indent[at..].to_owned());
    let meanings: Vec<_> = new.iter().map(value_json).collect();
    let mut pool: Vec<Option<Value>> = old.iter().map(|value| Some(value.clone())).collect();
    let same = |a: &Json, b: &Json| same(a, b, false);
    let stays = |value: &Value| meanings.iter().any(|meaning| same(meaning, &value_json(value)));
    let stays: Vec<bool> = old.iter().map(stays).collect();
    old.clear();
    for (at, value) in new.iter().enumerate() {
        let equal = pool.iter().position(|p| p.as_ref().is_some_and(|p| same(&value_json(p), &meanings[at])));
        let kept = match equal {
            Some(found) => pool[found].take(),
            None => pool.get_mut(at).filter(|_| !stays[at]).and_then(Option::take).map(|mut similar| {
                merge_values(&mut similar, plain(value), Place { inline: true, ordered: false });
                similar
            }),
        };
        let kept = kept.unwrap_or_else(|| {
            let mut added = plain(value);
            if in_lines {
                *added.decor_mut() = Decor::new(indent.clone(), "");
            }
            added
        });
        old.push_formatted(kept);
    }
    if !in_lines {
        old.fmt();
    } else if let Some(last) = old.iter_mut().last() {
        // A comma behind the last line too, so that the next one is added without touching this one.
        let suffix = last.decor().suffix().map(text).unwrap_or_default();
        if !suffix.contains('#') {
            last.decor_mut().set_suffix("");
            if !text(old.trailing()).contains('\n') {
                old.set_trailing("\n");
            }
            old.set_trailing_comma(true);
        }
    }
}

fn merge_array_of_tables(old: &mut ArrayOfTables, new: Vec<Table>) {
    while old.len() > new.len() {
        old.remove(old.len() - 1);
    }
    for (at, table) in new.into_iter().enumerate() {
        match old.get_mut(at) {
            Some(existing) => merge_tables(existing, &table, Place { inline: false, ordered: false }),
            None => old.push(table),
        }
    }
}

/// A list of tables, however it is written.
fn tables_of(item: &Item) -> Option<Vec<Table>> {
    match item {
        Item::ArrayOfTables(tables) => Some(tables.iter().cloned().map(without_place).collect()),
        Item::Value(Value::Array(items)) => {
            items.iter().map(|value| Some(value.as_inline_table()?.clone().into_table())).collect()
        }
        _ => None,
    }
}

/// An item of the new text for the old one.
fn fresh(item: &Item, inline: bool) -> Item {
    if inline {
        return match item.clone().into_value() {
            Ok(value) => Item::Value(plain(&value)),
            Err(item) => item,
        };
    }
    match item {
        Item::Table(table) => Item::Table(without_place(table.clone())),
        Item::ArrayOfTables(tables) => {
            let mut placed = ArrayOfTables::new();
            tables.iter().cloned().map(without_place).for_each(|table| placed.push(table));
            Item::ArrayOfTables(placed)
        }
        Item::Value(value) => {
            let mut value = value.clone();
            value.decor_mut().clear();
            Item::Value(value)
        }
        Item::None => Item::None,
    }
}

/// Without positions of the document it comes from, a table stands behind its siblings.
fn without_place(mut table: Table) -> Table {
    table.set_position(None);
    for (_, item) in table.iter_mut() {
        *item = match std::mem::take(item) {
            Item::Table(inner) => Item::Table(without_place(inner)),
            Item::ArrayOfTables(tables) => {
                let mut placed = ArrayOfTables::new();
                tables.into_iter().map(without_place).for_each(|table| placed.push(table));
                Item::ArrayOfTables(placed)
            }
            other => other,
        };
    }
    table
}

/// A value on one line, without what stood around it.
fn plain(value: &Value) -> Value {
    let mut value = value.clone();
    match &mut value {
        Value::Array(items) => {
            let values: Vec<Value> = items.iter().map(plain).collect();
            items.clear();
            values.into_iter().for_each(|value| items.push_formatted(value));
            items.fmt();
            items.set_trailing_comma(false);
        }
        Value::InlineTable(table) => {
            let mut fresh = InlineTable::new();
            for (key, value) in table.iter() {
                fresh.insert(key, plain(value));
            }
            *table = fresh;
        }
        _ => {}
    }
    value.decor_mut().clear();
    value
}

/// After keys came or went, the spaces around the commas are made anew where no comment would be lost.
fn separate(table: &mut InlineTable) {
    let mut inner = table.clone();
    inner.decor_mut().clear();
    if !inner.to_string().contains(['#', '\n']) {
        table.fmt();
        for (mut key, value) in table.iter_mut() {
            key.fmt();
            value.decor_mut().clear();
        }
    }
}

/// Puts the keys into the order of the new table.
fn reorder(old: &mut dyn TableLike, new: &dyn TableLike) {
    let (now, wanted): (Vec<_>, Vec<_>) = (keys(old), keys(new));
    if now == wanted {
        return;
    }
    let entries: Vec<(toml_edit::Key, Item)> = wanted
        .iter()
        .filter_map(|key| {
            let formatted = old.key(key)?.clone();
            Some((formatted, old.remove(key)?))
        })
        .collect();
    for (key, item) in entries {
        old.entry_format(&key).or_insert(item);
    }
}

fn keys(table: &dyn TableLike) -> Vec<String> {
    table.iter().map(|(key, _)| key.to_owned()).collect()
}

fn has_newline(decor: &Decor) -> bool {
    [decor.prefix(), decor.suffix()].into_iter().flatten().any(|part| text(part).contains('\n'))
}

fn text(raw: &toml_edit::RawString) -> String {
    raw.as_str().unwrap_or_default().to_owned()
}
