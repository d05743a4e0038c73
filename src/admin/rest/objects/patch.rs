//! Merge patches (RFC 7396) on tables of the configuration. Short forms are written out first where a patch goes into
//! them, and other spellings of a key are taken for the key.

use serde_json::{Map, Value, json};

use crate::config::schema::{Kind, Schema};

/// Changes `target` by `patch`; `kind` is what the schema says of it.
///
/// `null` takes a key away. An object goes into what is there: a list of names or a bare weight becomes the table that
/// it is short for, so that patching one member does not lose the others.
pub(super) fn apply(target: &mut Value, patch: &Value, kind: Option<&'static Kind>) {
    let Value::Object(patch) = patch else {
        target.clone_from(patch);
        return;
    };
    if !target.is_object() {
        *target = written_out(target, kind);
    }
    let Value::Object(target) = target else { return };
    let table = kind.and_then(table_of);
    for (key, value) in patch {
        let (name, inner) = match table {
            Some(Of::Table(schema)) => named(schema, key),
            Some(Of::Map(inner)) => (&**key, Some(inner)),
            None => (&**key, None),
        };
        let there = spelled(table, name).find(|spelling| target.contains_key(*spelling)).map(str::to_owned);
        if value.is_null() {
            if let Some(there) = there {
                target.shift_remove(&there);
            }
            continue;
        }
        let place = target.entry(there.unwrap_or_else(|| name.to_owned())).or_insert(Value::Null);
        apply(place, value, inner);
    }
}

/// A table as the schema sees it.
#[derive(Clone, Copy)]
enum Of {
    Table(&'static Schema),
    Map(&'static Kind),
}

/// What of a kind is written as a table.
fn table_of(kind: &'static Kind) -> Option<Of> {
    match kind {
        Kind::Table(schema) => Some(Of::Table(schema)),
        Kind::Map(inner) => Some(Of::Map(inner)),
        Kind::OneOf(kinds) => kinds.iter().find_map(table_of),
        _ => None,
    }
}

/// The key's own name where it is spelled another way, and what it holds.
fn named<'a>(schema: &'static Schema, key: &'a str) -> (&'a str, Option<&'static Kind>) {
    match schema.keys.iter().find(|known| known.name == key || known.aliases.contains(&key)) {
        Some(known) => (known.name, Some(&known.kind)),
        None => (key, None),
    }
}

/// A key's own name and the other spellings of it.
fn spelled(table: Option<Of>, name: &str) -> impl Iterator<Item = &str> {
    let key = table.and_then(|table| if let Of::Table(schema) = table { schema.key(name) } else { None });
    std::iter::once(name).chain(key.map_or(&[][..], |key| key.aliases).iter().copied())
}

/// The table that a short form stands for; an empty one where a value has no longer form.
fn written_out(short: &Value, kind: Option<&'static Kind>) -> Value {
    let table = kind.and_then(table_of);
    match (short, table) {
        // services = ["a", "b"]: each with weight 1.
        (Value::Array(names), Some(Of::Map(inner))) if takes_weight(inner) => {
            names.iter().filter_map(|name| Some((name.as_str()?.to_owned(), json!(1)))).collect::<Map<_, _>>().into()
        }
        // when = [["a"], ["b"]]: groups without names.
        (Value::Array(groups), Some(Of::Map(Kind::List(_)))) => {
            let numbered = groups.iter().enumerate().map(|(at, group)| ((at + 1).to_string(), group.clone()));
            Value::Object(numbered.collect())
        }
        // services = { a = 3 }: a weight alone.
        (Value::Number(weight), Some(Of::Table(schema))) if schema.key("weight").is_some() => {
            json!({ "weight": weight })
        }
        _ => Value::Object(Map::new()),
    }
}

fn takes_weight(kind: &Kind) -> bool {
    match kind {
        Kind::Int(..) => true,
        Kind::OneOf(kinds) => kinds.iter().any(takes_weight),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::super::kept::{Place, kind_at};
    use super::*;

    fn patched(place: &[&str], before: Value, patch: Value) -> Value {
        let kind = kind_at(&Place(place.iter().map(ToString::to_string).collect()));
        let mut target = before;
        apply(&mut target, &patch, kind);
        target
    }

    #[test]
    fn the_examples_of_rfc_7396_hold() {
        for (before, patch, after) in [
            (json!({"a": "b"}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "b"}), json!({"b": "c"}), json!({"a": "b", "b": "c"})),
            (json!({"a": "b"}), json!({"a": null}), json!({})),
            (json!({"a": "b", "b": "c"}), json!({"a": null}), json!({"b": "c"})),
            (json!({"a": ["b"]}), json!({"a": "c"}), json!({"a": "c"})),
            (json!({"a": "c"}), json!({"a": ["b"]}), json!({"a": ["b"]})),
            (json!({"a": {"b": "c"}}), json!({"a": {"b": "d", "c": null}}), json!({"a": {"b": "d"}})),
            (json!({"a": "foo"}), json!({"b": {"c": {"d": null}}}), json!({"a": "foo", "b": {"c": {}}})),
            (json!(["a", "b"]), json!({"a": "b", "c": null}), json!({"a": "b"})),
        ] {
            assert_eq!(patched(&["x"], before.clone(), patch.clone()), after, "{before} {patch}");
        }
    }

    #[test]
    fn a_short_form_is_written_out_before_a_patch_goes_into_it() {
        let web = |before, patch| patched(&["vserver", "web"], before, patch);
        let of_list = web(json!({"services": ["a", "b"]}), json!({"services": {"c": 3}}));
        assert_eq!(of_list, json!({"services": {"a": 1, "b": 1, "c": 3}}));
        let of_list = web(json!({"services": ["a", "b"]}), json!({"services": {"a": null}}));
        assert_eq!(of_list, json!({"services": {"b": 1}}));
        let of_weight = web(json!({"services": {"a": 3}}), json!({"services": {"a": {"order": 2}}}));
        assert_eq!(of_weight, json!({"services": {"a": {"weight": 3, "order": 2}}}));
        let whole = web(json!({"services": {"a": 3}}), json!({"services": ["b"]}));
        assert_eq!(whole, json!({"services": ["b"]}), "a list says which, as in the file");
        let dr = patched(
            &["scenario", "dr"],
            json!({"activate": {"when": [["a"], ["b"]]}}),
            json!({"activate": {"when": {"by hand": ["sw:x"]}}}),
        );
        assert_eq!(dr, json!({"activate": {"when": {"1": ["a"], "2": ["b"], "by hand": ["sw:x"]}}}));
    }

    #[test]
    fn another_spelling_of_a_key_is_the_key() {
        let server = patched(&["server", "a"], json!({"ip_address": "10.0.0.1"}), json!({"address": "10.0.0.2"}));
        assert_eq!(server, json!({"ip_address": "10.0.0.2"}));
        let server = patched(&["server", "a"], json!({"address": "10.0.0.1"}), json!({"domain": null}));
        assert_eq!(server, json!({}));
    }
}
