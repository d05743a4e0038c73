//! Compares a document with the schema: unknown and missing keys, wrong types, values outside their range, words that
//! do not exist. It also settles spellings (aliases become the key's name, words their canonical case), so that the
//! steps after it read one form only.

mod hints;

use super::document::{Entry, Node, Path, Place, Table, Value};
use super::report::{Report, nearest};
use super::schema::{Kind, Schema, Words};
use super::values;
use crate::model::id::turns_text;

/// An object's name: what conditions, paths and the shell can carry.
const NAME_BYTES_MOST: usize = 127;

/// Walks the whole document.
pub fn document(report: &mut Report, root: &mut Table) {
    let place = root.entries.first().map_or_else(Place::default, |entry| entry.place);
    table(report, root, &super::schema::ROOT, place, Path::Root);
}

fn table(report: &mut Report, table: &mut Table, schema: &'static Schema, place: Place, path: Path<'_>) {
    let mut seen: Vec<&'static str> = Vec::with_capacity(table.entries.len());
    // Objects under a misspelt section, to stand among those of the section that was meant.
    let mut strayed: Vec<(&'static str, Vec<Entry>)> = Vec::new();
    let said: Vec<&'static str> =
        table.entries.iter().filter_map(|entry| schema.key(&entry.key)).map(|key| key.name).collect();
    for entry in &mut table.entries {
        let known = schema.key(&entry.key).or_else(|| {
            // An alias is read as the key's own name from here on.
            schema.keys.iter().find(|key| key.aliases.contains(&entry.key.as_str()))
        });
        let key = match known {
            Some(key) => key,
            // So is a slip of the pen, once it is reported: nobody misses what was meant, and its value is looked at.
            None => match unknown_key(report, entry, schema, path) {
                Some(meant) if !said.contains(&meant.name) && !seen.contains(&meant.name) => meant,
                Some(meant) if matches!(meant.kind, Kind::Map(_)) => {
                    value(report, &mut entry.node, &meant.kind, path.key(meant.name));
                    if let Value::Table(inner) = &mut entry.node.value {
                        strayed.push((meant.name, std::mem::take(&mut inner.entries)));
                    }
                    continue;
                }
                _ => continue,
            },
        };
        if seen.contains(&key.name) {
            report.error(entry.place, path.key(&entry.key), format!("`{}` says `{}` again", entry.key, key.name));
            continue;
        }
        seen.push(key.name);
        value(report, &mut entry.node, &key.kind, path.key(key.name));
        if entry.key != key.name {
            entry.key = key.name.to_owned();
        }
    }
    for (name, entries) in strayed {
        let home = table.entries.iter_mut().find(|entry| entry.key == name);
        if let Some(Value::Table(inner)) = home.map(|entry| &mut entry.node.value) {
            let known: Vec<String> = inner.entries.iter().map(|entry| entry.key.clone()).collect();
            inner.entries.extend(entries.into_iter().filter(|entry| !known.contains(&entry.key)));
        }
    }
    // After a syntax error a key may only seem to be missing.
    if report.has_syntax_errors() {
        return;
    }
    for key in schema.keys.iter().filter(|key| key.required && !seen.contains(&key.name)) {
        report.error(place, path, format!("missing key `{}` in {path}", key.name));
    }
}

/// Reports a key and finds the one that was probably meant.
fn unknown_key(
    report: &mut Report,
    entry: &Entry,
    schema: &'static Schema,
    path: Path<'_>,
) -> Option<&'static super::schema::Key> {
    let (key, place) = (&*entry.key, entry.place);
    let is_table = matches!(entry.node.value, Value::Table(_));
    let within = if matches!(path, Path::Root) { String::new() } else { format!(" in {path}") };
    if schema.later.contains(&key) {
        report.error(
            place,
            path.key(key),
            format!("`{key}`{within} is not available in this build{}", hints::remark(path, key)),
        );
        return None;
    }
    if let Some(instead) = hints::instead(key, schema) {
        report.error(place, path.key(key), format!("unknown key `{key}`{within}; write `{instead}`"));
        return None;
    }
    let same = hints::same_key(key, schema).map(|key| key.name);
    let near = || report.may_spell().then(|| nearest(key, schema.keys.iter().map(|key| key.name))).flatten();
    let meant = same.or_else(near).map(str::to_owned);
    let hint = match meant {
        None if is_table && hints::is_half_a_name(path) => {
            let quoted = path.to_string().replacen('.', ".\"", 1);
            format!("; a name with dots stands in quotes, as in `[{quoted}.{key}\"]`")
        }
        None => {
            let known = hints::known(schema, is_table);
            if known.is_empty() { String::new() } else { format!("; known are {}", known.join(", ")) }
        }
        Some(_) => String::new(),
    };
    let found = meant.as_deref().and_then(|meant| schema.key(meant));
    report.error_meant(place, path.key(key), format!("unknown key `{key}`{within}{hint}"), meant);
    found
}

fn value(report: &mut Report, node: &mut Node, kind: &'static Kind, path: Path<'_>) {
    if let Kind::OneOf(kinds) = kind {
        match kinds.iter().find(|kind| takes(kind, node)) {
            Some(kind) => value(report, node, kind, path),
            None => wrong_type(report, node, kind, path),
        }
        return;
    }
    let place = node.place;
    match (kind, &mut node.value) {
        (Kind::Table(schema), Value::Table(inner)) => table(report, inner, schema, place, path),
        (Kind::Map(kind), Value::Table(inner)) => {
            for entry in &mut inner.entries {
                // The one domain that is called so.
                let is_root = entry.key == "." && path.to_string() == "zone";
                if let Err(why) = name(&entry.key).or_else(|why| if is_root { Ok(()) } else { Err(why) }) {
                    report.error(entry.place, path.key(&entry.key), format!("{}: {why}", path.key(&entry.key)));
                }
                value(report, &mut entry.node, kind, path.key(&entry.key));
            }
        }
        (Kind::List(kind), Value::List(items)) => {
            for (index, item) in items.iter_mut().enumerate() {
                value(report, item, kind, path.item(index));
            }
        }
        (Kind::Word(known), Value::Text(text)) => match word(text, known) {
            Ok(canonical) => *text = canonical.to_owned(),
            Err((why, meant)) => report.error_meant(place, path, format!("{path}: {why}"), meant),
        },
        _ => leaf(report, node, kind, path),
    }
}

fn leaf(report: &mut Report, node: &Node, kind: &Kind, path: Path<'_>) {
    if !takes(kind, node) {
        wrong_type(report, node, kind, path);
    } else if let Err(why) = values::check(kind, node) {
        report.error(node.place, path, format!("{path}: {why}"));
    }
}

/// Whether the TOML type of `node` is one that `kind` is written in.
fn takes(kind: &Kind, node: &Node) -> bool {
    match kind {
        Kind::Any => true,
        Kind::OneOf(kinds) => kinds.iter().any(|kind| takes(kind, node)),
        Kind::Bool => matches!(node.value, Value::Bool(_)),
        Kind::Int(..) => matches!(node.value, Value::Integer(_)),
        Kind::Duration(..) => matches!(node.value, Value::Text(_) | Value::Integer(_) | Value::Float(_)),
        Kind::Rate(..) => matches!(node.value, Value::Text(_)),
        Kind::Size(..) | Kind::Status => matches!(node.value, Value::Text(_) | Value::Integer(_)),
        Kind::Moment | Kind::Day => matches!(node.value, Value::Text(_) | Value::Moment(_)),
        Kind::List(_) => matches!(node.value, Value::List(_)),
        Kind::Map(_) | Kind::Table(_) => matches!(node.value, Value::Table(_)),
        _ => matches!(node.value, Value::Text(_)),
    }
}

fn wrong_type(report: &mut Report, node: &Node, kind: &Kind, path: Path<'_>) {
    let hint = hints::value(node, kind);
    let what = format!("{path}: expected {}, found {}{hint}", kind.expected(), node.type_word());
    report.error(node.place, path, what);
}

/// The canonical spelling of a word, or why there is none and what was probably meant.
fn word(text: &str, words: &'static Words) -> Result<&'static str, (String, Option<String>)> {
    if let Some(known) = words.known.iter().find(|known| known.eq_ignore_ascii_case(text)) {
        return Ok(known);
    }
    let known = words.known.join(", ");
    if words.later.iter().any(|later| later.eq_ignore_ascii_case(text)) {
        return Err((format!("`{text}` is not available in this build; there is {known}"), None));
    }
    let meant = hints::word(text, words.known).or_else(|| nearest(text, words.known.iter().copied()));
    let meant = meant.map(str::to_owned);
    let all = if words.known.len() <= 12 { format!(" one of {known}") } else { " a known word".to_owned() };
    Err((format!("`{text}` is not{all}"), meant))
}

/// Whether conditions, paths and the shell can carry a name.
pub fn name(text: &str) -> Result<(), String> {
    if text.is_empty() {
        return Err("a name cannot be empty".into());
    }
    if text.len() > NAME_BYTES_MOST {
        return Err(format!("a name has at most {NAME_BYTES_MOST} bytes, this one has {}", text.len()));
    }
    if text.trim() != text {
        return Err("a name cannot begin or end with a space".into());
    }
    if matches!(text, "." | "..") {
        return Err(format!("a name cannot be `{text}`: paths take it for a folder, so nothing could be done with it"));
    }
    match text.chars().find(|c| c.is_control() || turns_text(*c) || matches!(c, '{' | '}' | '"')) {
        Some(c) => Err(format!("a name cannot hold {c:?}")),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::name;

    #[test]
    fn a_name_can_be_addressed_and_reads_as_what_it_is() {
        for good in ["web1", "a b", "::1", "192.0.2.1:80", "@ A", "...", ".well-known", "größe", "שלום"] {
            assert_eq!(name(good), Ok(()), "{good}");
        }
        for bad in ["", ".", "..", " a", "a\n", "\u{202e}abc", "a\u{2066}b", "a\u{200f}", "a\"b", "{a}"] {
            assert!(name(bad).is_err(), "{bad:?}");
        }
        assert!(name("..").unwrap_err().contains("folder"));
    }

    #[test]
    fn the_root_of_the_domain_name_system_is_called_so() {
        let text = "[zone.\".\"]\nstatic = \"@ NS ns1\\nns1 A 192.0.2.53\"\n\
                    soa = { mname = \"ns1.\", rname = \"hostmaster.example.\" }\n";
        assert_eq!(&*crate::config::tests::loaded(text).model.zones[0].name, ".");
    }
}
