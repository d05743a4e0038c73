//! Makes one document of several files: includes as globs, and `--set PATH=VALUE` on top.
//!
//! A name defined twice is an error wherever it stands: with "the later file wins" a second definition of a service in
//! a forgotten file would decide what serves.

use std::collections::{HashMap, HashSet};

use super::document::{self, Entry, Node, Place, Table, Value};
use super::report::Report;
use super::schema::{Kind, ROOT, Schema};
use super::{Files, Source};

/// Files may include files this deep.
const DEPTH_MOST: usize = 8;

/// `schema` of this build.
const SCHEMA: i64 = 1;

/// Reads the root and everything that it includes.
pub fn read(report: &mut Report, root: Source, files: &dyn Files) -> Table {
    let mut reader = Reader { directory: directory(&root.path).to_owned(), files, seen: HashSet::new() };
    reader.seen.insert(file_name(&root.path).to_owned());
    let file = report.add(root.path, root.text, true);
    reader.file(report, file, "", 0)
}

/// Applies `--set` pairs in order; the last one of a path wins.
pub fn apply(report: &mut Report, document: &mut Table, overrides: &[(String, String)]) {
    for (path, value) in overrides {
        let file = report.add(format!("--set {path}").into(), value.as_str().into(), false);
        let place = Place { file, start: 0 };
        match keys(path) {
            Ok(keys) if matches!(keys[0].as_str(), "include" | "schema") => {
                let what = format!("`{}` is read before anything can be set; write it in the file", keys[0]);
                report.error(place, path, what);
            }
            Ok(keys) => set(report, document, &keys, document::read_value(value, file), place, path),
            Err(why) => report.error(place, path, format!("`{path}` is not a path: {why}")),
        }
    }
}

struct Reader<'a> {
    /// Of the root file, with its final slash where there is one: how included files are reported.
    directory: String,
    files: &'a dyn Files,
    /// Paths relative to the root file.
    seen: HashSet<String>,
}

impl Reader<'_> {
    /// `beside` is the directory of this file relative to the root file.
    fn file(&mut self, report: &mut Report, file: u32, beside: &str, depth: usize) -> Table {
        let mut table = document::read(report, file);
        check_schema(report, &table);
        let patterns = includes(&table);
        // Its includes are looked at, so that one reading tells what is wrong with each file. The rest is a guess.
        if report.is_broken(file) {
            table = Table::default();
        }
        // Each file has these two for itself; merged they would seem to be said twice.
        if depth > 0 {
            table.entries.retain(|entry| entry.key != "include" && entry.key != "schema");
        }
        for (pattern, place) in patterns {
            self.include(report, &mut table, &pattern, place, beside, depth);
        }
        table
    }

    fn include(
        &mut self,
        report: &mut Report,
        into: &mut Table,
        pattern: &str,
        place: Place,
        beside: &str,
        depth: usize,
    ) {
        if depth + 1 > DEPTH_MOST {
            report.error(place, "include", format!("`{pattern}`: files include files more than {DEPTH_MOST} deep"));
            return;
        }
        let pattern = if pattern.starts_with('/') { pattern.to_owned() } else { format!("{beside}{pattern}") };
        let paths = match self.files.glob(&pattern) {
            Ok(paths) => paths,
            Err(why) => {
                report.error(place, "include", format!("`{pattern}` cannot be read: {why}"));
                return;
            }
        };
        if paths.is_empty() && !pattern.contains(['*', '?', '[']) {
            report.error(place, "include", format!("there is no file `{pattern}`"));
        }
        for path in paths {
            if !self.seen.insert(path.clone()) {
                continue;
            }
            match self.files.read(&path) {
                Ok(text) => {
                    let shown = if path.starts_with('/') { path.clone() } else { format!("{}{path}", self.directory) };
                    let file = report.add(shown.into(), text.into(), true);
                    let inner = self.file(report, file, directory(&path), depth + 1);
                    merge(report, into, inner, Some(&ROOT), "");
                }
                Err(why) => report.error(place, "include", format!("`{path}` cannot be read: {why}")),
            }
        }
    }
}

/// A configuration for a newer build may mean something else by the same words.
fn check_schema(report: &mut Report, table: &Table) {
    if let Some(Node { place, value: Value::Integer(Some(schema)) }) = table.get("schema")
        && *schema > SCHEMA
    {
        let what =
            format!("schema {schema} is newer than this build, which reads schema {SCHEMA}; use a newer bascule");
        report.refuse(*place, "schema", what);
    }
}

fn includes(table: &Table) -> Vec<(String, Place)> {
    let Some(node) = table.get("include") else { return Vec::new() };
    let one = |node: &Node| node.text().map(|text| (text.to_owned(), node.place));
    match &node.value {
        Value::List(items) => items.iter().filter_map(one).collect(),
        _ => one(node).into_iter().collect(),
    }
}

/// Adds the entries of an included file. Tables with known keys grow together, in maps each name stands once.
fn merge(report: &mut Report, into: &mut Table, from: Table, schema: Option<&'static Schema>, path: &str) {
    let positions: HashMap<String, usize> =
        into.entries.iter().enumerate().map(|(at, entry)| (entry.key.clone(), at)).collect();
    for entry in from.entries {
        let Some(&at) = positions.get(&entry.key) else {
            into.entries.push(entry);
            continue;
        };
        let path = if path.is_empty() { entry.key.clone() } else { format!("{path}.{}", entry.key) };
        let first = &mut into.entries[at];
        let kind = schema.and_then(|schema| schema.key(&entry.key)).map(|key| &key.kind);
        match (kind, &mut first.node.value, entry.node.value) {
            (Some(Kind::Table(schema)), Value::Table(first), Value::Table(second)) => {
                merge(report, first, second, Some(schema), &path);
            }
            (Some(Kind::Map(_)), Value::Table(first), Value::Table(second)) => {
                merge(report, first, second, None, &path);
            }
            _ => {
                let elsewhere = report.describe(first.place);
                report.error(entry.place, &path, format!("{path} is defined twice; first at {elsewhere}"));
            }
        }
    }
}

fn set(report: &mut Report, document: &mut Table, keys: &[String], node: Node, place: Place, path: &str) {
    let Some((last, parents)) = keys.split_last() else { return };
    let mut table = document;
    for key in parents {
        if table.entry(key).is_none() {
            let node = Node { place, value: Value::Table(Table::default()) };
            table.entries.push(Entry { key: key.clone(), place, node });
        }
        match table.entry_mut(key).map(|entry| &mut entry.node.value) {
            Some(Value::Table(inner)) => table = inner,
            _ => {
                report.error(place, path, format!("`{key}` in `{path}` is not a table"));
                return;
            }
        }
    }
    match table.entry_mut(last) {
        Some(entry) => entry.node = node,
        None => table.entries.push(Entry { key: last.clone(), place, node }),
    }
}

/// The keys of a dotted path, quoted ones as in TOML.
fn keys(path: &str) -> Result<Vec<String>, String> {
    // The TOML parser knows how keys are written; it reads the path as the key of an entry.
    if path.contains(['\n', '\r', '=', '[', '#']) && !path.contains(['"', '\'']) {
        return Err("keys with special characters are quoted".into());
    }
    let text = format!("{path} = 0");
    let table = toml::de::DeTable::parse(&text).map_err(|error| error.message().replace('\n', ", "))?;
    let mut keys = Vec::new();
    let mut table = table.into_inner();
    loop {
        if table.len() != 1 {
            return Err("one path is expected".into());
        }
        let Some((key, value)) = table.into_iter().next() else { return Err("empty".into()) };
        keys.push(key.into_inner().into_owned());
        match value.into_inner() {
            toml::de::DeValue::Table(inner) => table = inner,
            _ => return Ok(keys),
        }
    }
}

/// With the final slash; empty where there is none.
fn directory(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..=at])
}

fn file_name(path: &str) -> &str {
    &path[directory(path).len()..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_of_overrides_are_written_like_keys() {
        assert_eq!(keys("admin.listen").unwrap(), ["admin", "listen"]);
        assert_eq!(keys("zone.\"example.test\".ttl").unwrap(), ["zone", "example.test", "ttl"]);
        for bad in ["", "a..b", "a=b", "a b", "a\nb"] {
            assert!(keys(bad).is_err(), "{bad:?}");
        }
    }
}
