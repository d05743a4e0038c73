//! One table of the document, read by key. The walk has settled types and ranges; what it refused reads as absent here,
//! so that one mistake is reported once.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use crate::config::document::{Node, Path, Place, Table, Value};
use crate::config::report::Report;
use crate::config::values;
use crate::model::check::StatusRange;
use crate::model::id::Name;
use crate::model::scenario::Secret;

/// A table, the defaults behind it, and where both are reported.
#[derive(Clone, Copy)]
pub struct Object<'a> {
    pub table: &'a Table,
    pub defaults: Option<&'a Table>,
    pub path: Path<'a>,
    /// Of the object's key.
    pub place: Place,
}

// === impl Object ===

impl<'a> Object<'a> {
    pub fn new(table: &'a Table, defaults: Option<&'a Table>, path: Path<'a>, place: Place) -> Object<'a> {
        Object { table, defaults, path, place }
    }

    /// Its own value, or the default for all of its kind.
    pub fn get(&self, key: &str) -> Option<&'a Node> {
        self.table.get(key).or_else(|| self.defaults?.get(key))
    }

    /// Only what stands in the object itself.
    pub fn own(&self, key: &str) -> Option<&'a Node> {
        self.table.get(key)
    }

    pub fn text(&self, key: &str) -> Option<&'a str> {
        self.get(key)?.text()
    }

    pub fn name(&self, key: &str) -> Option<Name> {
        self.text(key).map(Name::from)
    }

    pub fn bool(&self, key: &str) -> Option<bool> {
        match self.get(key)?.value {
            Value::Bool(value) => Some(value),
            _ => None,
        }
    }

    pub fn int<T: TryFrom<i64>>(&self, key: &str) -> Option<T> {
        match self.get(key)?.value {
            Value::Integer(Some(number)) => T::try_from(number).ok(),
            _ => None,
        }
    }

    pub fn duration(&self, key: &str) -> Option<Duration> {
        values::duration(self.get(key)?).ok()
    }

    pub fn socket(&self, key: &str) -> Option<SocketAddr> {
        values::socket(self.text(key)?).ok()
    }

    pub fn ip(&self, key: &str) -> Option<IpAddr> {
        values::ip(self.text(key)?).ok()
    }

    /// The items of a list; a single value counts as a list of one.
    pub fn items(&self, key: &str) -> Vec<&'a Node> {
        match self.get(key) {
            Some(Node { value: Value::List(items), .. }) => items.iter().collect(),
            Some(node) => vec![node],
            None => Vec::new(),
        }
    }

    pub fn statuses(&self, key: &str) -> Option<Vec<StatusRange>> {
        self.get(key)?;
        Some(self.items(key).into_iter().filter_map(|node| values::status(node).ok()).collect())
    }

    /// `{ Name = "value" }` in the order of the text.
    pub fn pairs(&self, key: &str) -> Vec<(Name, Name)> {
        let table = self.get(key).and_then(Node::table);
        let entries = table.map_or(&[][..], |table| &table.entries[..]);
        entries.iter().filter_map(|e| Some((e.key.as_str().into(), e.node.text()?.into()))).collect()
    }

    /// A table within, without defaults.
    pub fn inner(&self, key: &'a str) -> Option<(&'a Table, Place)> {
        let node = self.get(key)?;
        Some((node.table()?, node.place))
    }

    /// Where a key's value stands; the object where there is none.
    pub fn place_of(&self, key: &str) -> Place {
        self.get(key).map_or(self.place, |node| node.place)
    }

    /// Reports what is wrong with the value of a key.
    pub fn wrong(&self, report: &mut Report, key: &str, why: impl std::fmt::Display) {
        report.error(self.place_of(key), self.path.key(key), format!("{}: {why}", self.path.key(key)));
    }

    /// Reports what is wrong with the object as a whole.
    pub fn wrong_whole(&self, report: &mut Report, why: impl std::fmt::Display) {
        report.error(self.place, self.path, format!("{}: {why}", self.path));
    }

    /// Warns of the object as a whole.
    pub fn warn_whole(&self, report: &mut Report, what: impl std::fmt::Display) {
        report.warning(self.place, self.path, format!("{}: {what}", self.path));
    }

    /// Reports a key that must be there for this kind of object.
    pub fn require(&self, report: &mut Report, key: &str) {
        if self.get(key).is_none() && !report.has_syntax_errors() {
            report.error(self.place, self.path, format!("missing key `{key}` in {}", self.path));
        }
    }

    /// Reports `key` where it is missing beside `other`.
    pub fn require_beside(&self, report: &mut Report, other: &str, key: &str) {
        if self.get(other).is_some() {
            self.require(report, key);
        }
    }

    /// Reports keys of the object itself that mean nothing beside the others.
    pub fn only(&self, report: &mut Report, meaningless: &[&str], because: &str) {
        for key in meaningless {
            if let Some(entry) = self.table.entry(key) {
                let what = format!("{}: `{key}` means nothing {because}", self.path);
                report.error(entry.place, self.path.key(key), what);
            }
        }
    }

    /// A header field name must be a token and its value must not end the line (RFC 9110 §5).
    pub fn headers(&self, report: &mut Report, key: &str) -> Vec<(Name, Name)> {
        let pairs = self.pairs(key);
        for (name, value) in &pairs {
            if let Err(why) = header(name, value) {
                self.wrong(report, key, why);
            }
        }
        pairs
    }

    /// `{ env = … }` or `{ file = … }`.
    pub fn secret(&self, report: &mut Report, key: &str) -> Option<Secret> {
        let table = self.get(key)?.table()?;
        let text = |key: &str| table.get(key).and_then(Node::text).map(Name::from);
        match (text("env"), text("file")) {
            (Some(env), None) => {
                if env.contains(['=', '\0']) {
                    self.wrong(report, key, format!("`{env}` is no name of an environment variable"));
                }
                Some(Secret::Env(env))
            }
            (None, Some(file)) => Some(Secret::File(file)),
            _ => {
                self.wrong(report, key, "say either `env` or `file`");
                None
            }
        }
    }
}

/// Whether a field can be sent as it is.
pub fn header(name: &str, value: &str) -> Result<(), String> {
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    if name.is_empty() || !name.bytes().all(token) {
        return Err(format!("`{name}` is not a header name"));
    }
    if value.bytes().any(|b| (b < b' ' && b != b'\t') || b == 0x7f) {
        return Err(format!("the value of `{name}` has a control character"));
    }
    Ok(())
}

/// Methods are tokens.
pub fn method(text: &str) -> Result<(), String> {
    if !text.is_empty() && text.len() <= 32 && text.bytes().all(|b| b.is_ascii_alphabetic() || b == b'-' || b == b'_') {
        return Ok(());
    }
    Err(format!("`{text}` is not an HTTP method"))
}
