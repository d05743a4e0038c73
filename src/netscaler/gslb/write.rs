//! Books into a configuration: the tables that an import makes of them, and lines for what those do not say.

use serde_json::{Map, Value, json};

use super::read::Book;
use super::said::{Bound, Object};
use super::zones::Zones;
use super::{Books, Carrying, vserver};
use crate::netscaler::document::Document;
use crate::netscaler::error::NsError;
use crate::netscaler::import::{Fate, Pending};

/// Sections in which GSLB writes objects by name.
const SECTIONS: [&str; 3] = ["service", "check", "scenario"];

/// `rest` with the tables of what is in use: vservers with a domain and a service, and what they need. Beside it what
/// could not be written.
pub(super) fn written(books: &Books, rest: &Document) -> (Document, Vec<String>) {
    let (ready, mut lines) = numbered(books);
    let mut document = rest.clone();
    let zones = Zones::of(&document);
    let mut carrying = Carrying {
        document: &mut document,
        lines: &mut lines,
        zones,
        left: Default::default(),
        members: Default::default(),
    };
    carrying.plan(&ready);
    vserver::carry(&mut carrying, &ready);
    carrying.finish();
    let missing = lines.into_iter().filter_map(|line| match line.fate {
        Some(Fate::Missing { what, .. }) => Some(what),
        _ => None,
    });
    (document, missing.flatten().collect())
}

/// Each object and each binding on a line of its own; domains of vservers without a service lead nowhere yet.
fn numbered(books: &Books) -> (Books, Vec<Pending>) {
    let mut books = books.clone();
    let mut lines = Vec::new();
    let number = |lines: &mut Vec<Pending>| {
        lines.push(Pending::read(lines.len() + 1, ""));
        lines.len() - 1
    };
    for vserver in books.vservers.iter_mut() {
        if vserver.bound("serviceName").next().is_none() {
            vserver.bound.clear();
        }
    }
    for object in books.sites.iter_mut().chain(books.services.iter_mut()).chain(books.vservers.iter_mut()) {
        object.line = number(&mut lines);
        object.options.iter_mut().for_each(|option| option.line = object.line);
        for Bound { line, options } in &mut object.bound {
            *line = number(&mut lines);
            options.iter_mut().for_each(|option| option.line = *line);
        }
    }
    (books, lines)
}

// === impl Book ===

impl Book {
    /// The configuration with `books` in place of what they were, and `rest` in place of what was left.
    ///
    /// Errors: 278 with what this build has no place for; 273 where a name is taken by something that is no GSLB.
    pub(super) fn replaced(&self, document: &Document, rest: &Document, books: &Books) -> Result<Document, NsError> {
        let (_, known) = written(&self.books, &self.rest);
        let (new, missing) = written(books, rest);
        if let Some(what) = missing.into_iter().find(|what| !known.contains(what)) {
            return Err(NsError::new(278).because(&what));
        }
        for section in SECTIONS {
            let of = |document: &'_ Document| document.root().get(section).and_then(Value::as_object).cloned();
            let (before, after) = (of(rest).unwrap_or_default(), of(&new).unwrap_or_default());
            if let Some((name, _)) = before.iter().find(|(name, table)| after.get(&name[..]) != Some(*table)) {
                return Err(NsError::exists("name", name).because(&format!("as [{section}.{name}]")));
            }
        }
        let mut root = new.into_root();
        root.shift_remove("gslb");
        let read = Book::plain(&Document::from_root(root.clone()));
        let mut lines = self.unreadable.clone();
        lines.extend(books.lines(|kind, object| is_kept(kind, object, &read)));
        if !lines.is_empty() {
            root.insert("gslb".into(), json!({ "lines": lines }));
        }
        Ok(Document::from_root(in_order(document.root(), root)))
    }
}

/// Whether the tables say less of it than it says.
pub(super) fn is_kept(kind: &str, object: &Object, read: &Books) -> bool {
    let found = match kind {
        "site" => return object.words.len() > 1,
        "service" => read.services.get(&object.name),
        _ => read.vservers.get(&object.name),
    };
    found.is_none_or(|found| !found.says_as(object))
}

/// Tables where they were, new ones behind them.
fn in_order(old: &Map<String, Value>, mut new: Map<String, Value>) -> Map<String, Value> {
    let mut ordered = Map::new();
    for (key, old) in old {
        let Some(value) = new.shift_remove(key) else { continue };
        let value = match (old, value) {
            (Value::Object(old), Value::Object(value)) => Value::Object(in_order(old, value)),
            (_, value) => value,
        };
        ordered.insert(key.clone(), value);
    }
    ordered.extend(new);
    ordered
}
