//! JSON schemas of the configuration's tables, made of the configuration's own schema.

use serde_json::{Map, Value, json};

use crate::admin::rest::objects::KEPT;
use crate::config::schema::{Kind, Schema};

/// How a table is sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// All of it.
    Whole,
    /// All of it with its name.
    New,
    /// A merge patch.
    Patch,
}

/// A reference to a table's schema among the components; `None`: any table.
pub(super) fn reference(schema: Option<&'static Schema>, form: Form, components: &mut Map<String, Value>) -> Value {
    let Some(schema) = schema else { return json!({ "type": "object" }) };
    let kept = KEPT.iter().find(|kept| kept.schema().is_some_and(|of| std::ptr::eq(of, schema)));
    let words = kept.map_or("Table", |kept| kept.noun).split(|c: char| !c.is_ascii_alphanumeric());
    let capital =
        |word: &str| word.chars().take(1).map(|c| c.to_ascii_uppercase()).chain(word.chars().skip(1)).collect();
    let noun: String = words.map(|word| -> String { capital(word) }).collect();
    let name = match form {
        Form::Whole => format!("{noun}Table"),
        Form::New => format!("New{noun}"),
        Form::Patch => format!("{noun}Patch"),
    };
    if !components.contains_key(&name) {
        let described = match form {
            Form::Whole => table(Some(schema), false),
            Form::New => named(Some(schema)),
            Form::Patch => table(Some(schema), true),
        };
        components.insert(name.clone(), described);
    }
    json!({ "$ref": format!("#/components/schemas/{name}") })
}

/// A table as it is read; `None`: any. `patch`: every key may be `null`, and none must be there.
fn table(schema: Option<&'static Schema>, patch: bool) -> Value {
    let Some(schema) = schema else { return json!({ "type": "object" }) };
    let properties: Map<String, Value> =
        schema.keys.iter().map(|key| (key.name.to_owned(), nullable(kind(&key.kind, patch), patch))).collect();
    let required: Vec<&str> = schema.keys.iter().filter(|key| key.required && !patch).map(|key| key.name).collect();
    let mut table = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        table["required"] = json!(required);
    }
    table
}

/// A table with its name beside its keys.
fn named(schema: Option<&'static Schema>) -> Value {
    let mut table = table(schema, false);
    let name = json!({ "type": "string", "minLength": 1, "maxLength": 127, "description": "What it is called." });
    if !table["properties"].is_object() {
        table["properties"] = json!({});
    }
    table["properties"]["name"] = name;
    let mut required = table["required"].as_array().cloned().unwrap_or_default();
    required.push("name".into());
    table["required"] = required.into();
    table
}

fn nullable(schema: Value, patch: bool) -> Value {
    if patch { json!({ "anyOf": [schema, { "type": "null" }] }) } else { schema }
}

fn kind(of: &'static Kind, patch: bool) -> Value {
    match of {
        Kind::Bool => json!({ "type": "boolean" }),
        Kind::Int(least, most) => json!({ "type": "integer", "minimum": least, "maximum": most }),
        Kind::Duration(..) => json!({ "type": ["string", "number"], "examples": ["30s", 30] }),
        Kind::Size(..) => json!({ "type": ["string", "integer"], "examples": ["16KiB"] }),
        Kind::Rate(..) => json!({ "type": "string", "examples": ["10Mbit/s"] }),
        Kind::Status => json!({ "type": ["string", "integer"], "examples": ["200-204", 200] }),
        Kind::Word(words) => json!({ "type": "string", "examples": words.known, "description": "In any case." }),
        Kind::Any => json!({}),
        Kind::List(inner) => json!({ "type": "array", "items": kind(inner, false) }),
        Kind::Map(inner) => {
            json!({ "type": "object", "additionalProperties": nullable(kind(inner, patch), patch) })
        }
        Kind::Table(schema) => table(Some(schema), patch),
        Kind::OneOf(kinds) => json!({ "anyOf": kinds.iter().map(|inner| kind(inner, patch)).collect::<Vec<_>>() }),
        Kind::Name => json!({ "type": "string", "minLength": 1 }),
        _ => json!({ "type": "string", "description": of.expected() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::schema::ROOT;

    #[test]
    fn a_table_says_its_keys_their_types_and_which_must_be_there() {
        let Some(Kind::Map(Kind::Table(rule))) = ROOT.key("rule").map(|key| &key.kind) else {
            panic!("rules are tables")
        };
        let as_sent = named(Some(rule));
        let required: Vec<&str> = as_sent["required"].as_array().unwrap().iter().map(|r| r.as_str().unwrap()).collect();
        assert_eq!(required, ["vserver", "priority", "action", "name"]);
        assert_eq!(as_sent["properties"]["priority"]["minimum"], 1);
        let patch = table(Some(rule), true);
        assert!(patch.get("required").is_none());
        assert_eq!(patch["properties"]["vserver"]["anyOf"][1]["type"], "null");
    }
}
