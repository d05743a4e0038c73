//! What policies say, as the model keeps it to be told and printed; what follows from them are rules.

use super::Context;
use super::object::Object;
use crate::config::document::{Node, Path, Place, Table, Value};
use crate::config::schema::{Kind, ROOT, Schema};
use crate::model::policy::{BoundPolicy, Policies, PolicyBank, PolicyKind, PolicyObject, Said};

pub fn all(cx: &Context<'_>) -> Policies {
    let mut objects = Vec::new();
    for kind in PolicyKind::ALL {
        let Some(schema) = schema(kind) else { continue };
        for (name, _, table) in cx.section(kind.section()) {
            objects.push(PolicyObject { kind, name: name.into(), says: says(schema, table) });
        }
    }
    objects.sort_by(|a, b| (a.kind, &a.name).cmp(&(b.kind, &b.name)));
    let global = cx.section_table("policy_global").map_or_else(Vec::new, |table| {
        let root = Path::Root;
        bound(&Object::new(table, None, root.key("policy_global"), Place::default()))
    });
    Policies { objects, global, ..Policies::default() }
}

fn schema(kind: PolicyKind) -> Option<&'static Schema> {
    match ROOT.key(kind.section())?.kind {
        Kind::Map(Kind::Table(schema)) => Some(schema),
        _ => None,
    }
}

fn says(schema: &'static Schema, table: &Table) -> Vec<(&'static str, Said)> {
    schema.keys.iter().filter_map(|key| Some((key.name, said(table.get(key.name)?)?))).collect()
}

fn said(node: &Node) -> Option<Said> {
    match &node.value {
        Value::Text(text) => Some(Said::Text(text.as_str().into())),
        Value::Integer(number) => number.map(Said::Number),
        Value::List(items) => Some(Said::List(items.iter().filter_map(|item| item.text().map(Into::into)).collect())),
        Value::Table(table) => {
            let number = |node: &Node| match node.value {
                Value::Integer(number) => number,
                _ => None,
            };
            let entries = table.entries.iter();
            Some(Said::Numbered(entries.filter_map(|e| Some((e.key.as_str().into(), number(&e.node)?))).collect()))
        }
        _ => None,
    }
}

/// The policies of a vserver's table, or of the one that holds for all.
pub fn bound(object: &Object<'_>) -> Vec<BoundPolicy> {
    let mut all = Vec::new();
    for bank in PolicyBank::ALL {
        let entries = object.own(bank.key()).and_then(Node::table).map_or(&[][..], |table| &table.entries[..]);
        for entry in entries {
            let inner = entry.node.table().map(|table| Object::new(table, None, object.path, entry.place));
            let word = |key: &str| inner.as_ref().and_then(|inner| inner.text(key));
            let alone = match entry.node.value {
                Value::Integer(Some(number)) => u32::try_from(number).ok(),
                _ => None,
            };
            all.push(BoundPolicy {
                bank,
                policy: entry.key.as_str().into(),
                priority: alone.or_else(|| inner.as_ref()?.int("priority")),
                goes_on: word("goto") == Some("NEXT"),
                of_answer: word("type").is_some_and(|word| word.starts_with("RES")),
                overrides: word("type").is_some_and(|word| word.ends_with("_OVERRIDE")),
                target: word("target").map(Into::into),
            });
        }
    }
    all
}
