//! Writing TOML. By hand rather than through a library: the order of the keys is meant, lists of records stand one to a
//! line, and zone texts stand as they are.

use std::fmt::Write;

/// Lists are broken into lines where their line would be longer.
const WIDTH: usize = 110;

#[derive(Clone, Debug, PartialEq)]
pub(in crate::config) enum Value {
    Str(String),
    /// A text of several lines, printed as such.
    Lines(String),
    Int(i64),
    Float(f64),
    Bool(bool),
    /// A date or time, as TOML writes it.
    Verbatim(String),
    List(Vec<Value>),
    Inline(Vec<(String, Value)>),
}

#[derive(Default)]
pub(in crate::config) struct Text {
    out: String,
}

// === impl Value ===

impl Value {
    pub fn str(text: impl AsRef<str>) -> Value {
        Value::Str(text.as_ref().to_owned())
    }

    pub fn strs<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Value {
        Value::List(texts.into_iter().map(Value::str).collect())
    }

    /// Names with their weights: a plain list where every weight is 1.
    pub fn weighted<T: AsRef<str>>(entries: impl IntoIterator<Item = (T, u32)>) -> Value {
        let entries: Vec<(T, u32)> = entries.into_iter().collect();
        if entries.iter().all(|(_, weight)| *weight == 1) {
            return Value::strs(entries.iter().map(|(name, _)| name));
        }
        let weighted = entries.into_iter().map(|(name, w)| (name.as_ref().to_owned(), Value::Int(w.into())));
        Value::Inline(weighted.collect())
    }

    pub fn json(value: &serde_json::Value) -> Value {
        match value {
            serde_json::Value::Null => Value::str(""),
            serde_json::Value::Bool(b) => Value::Bool(*b),
            serde_json::Value::Number(n) => {
                n.as_i64().map_or_else(|| Value::Float(n.as_f64().unwrap_or(0.0)), Value::Int)
            }
            serde_json::Value::String(s) => Value::str(s),
            serde_json::Value::Array(items) => Value::List(items.iter().map(Value::json).collect()),
            serde_json::Value::Object(entries) => {
                Value::Inline(entries.iter().map(|(key, value)| (key.clone(), Value::json(value))).collect())
            }
        }
    }

    fn write(&self, out: &mut String) {
        match self {
            Value::Str(text) => string(out, text),
            Value::Lines(text) => lines(out, text),
            Value::Int(number) => drop(write!(out, "{number}")),
            Value::Float(number) => drop(write!(out, "{number:?}")),
            Value::Bool(value) => drop(write!(out, "{value}")),
            Value::Verbatim(text) => out.push_str(text),
            Value::List(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    item.write(out);
                }
                out.push(']');
            }
            Value::Inline(entries) if entries.is_empty() => out.push_str("{}"),
            Value::Inline(entries) => {
                out.push_str("{ ");
                for (at, (name, value)) in entries.iter().enumerate() {
                    out.push_str(if at > 0 { ", " } else { "" });
                    key(out, name);
                    out.push_str(" = ");
                    value.write(out);
                }
                out.push_str(" }");
            }
        }
    }
}

// === impl Text ===

impl Text {
    /// Opens `[a.b.c]`.
    pub fn table(&mut self, path: &[&str]) {
        self.out.push_str("\n[");
        for (at, part) in path.iter().enumerate() {
            self.out.push_str(if at > 0 { "." } else { "" });
            key(&mut self.out, part);
        }
        self.out.push_str("]\n");
    }

    pub fn key(&mut self, name: &str, value: Value) {
        let start = self.out.len();
        key(&mut self.out, name);
        self.out.push_str(" = ");
        let value_at = self.out.len();
        value.write(&mut self.out);
        if let Value::List(items) = &value
            && self.out.len() - start > WIDTH
        {
            self.out.truncate(value_at);
            self.out.push_str("[\n");
            for item in items {
                self.out.push_str("  ");
                item.write(&mut self.out);
                self.out.push_str(",\n");
            }
            self.out.push(']');
        }
        self.out.push('\n');
    }

    pub fn maybe(&mut self, name: &str, value: Option<Value>) {
        if let Some(value) = value {
            self.key(name, value);
        }
    }

    pub fn finish(self) -> String {
        self.out
    }
}

fn key(out: &mut String, name: &str) {
    let bare = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    if bare { out.push_str(name) } else { string(out, name) }
}

fn string(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        escaped(out, c);
    }
    out.push('"');
}

/// A text of several lines keeps them; what ends a line in any other way is escaped.
fn lines(out: &mut String, text: &str) {
    if !text.contains('\n') {
        return string(out, text);
    }
    out.push_str("\"\"\"\n");
    for c in text.chars() {
        if c == '\n' { out.push('\n') } else { escaped(out, c) }
    }
    out.push_str("\"\"\"");
}

fn escaped(out: &mut String, c: char) {
    match c {
        '"' => out.push_str("\\\""),
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if c.is_control() => drop(write!(out, "\\u{:04X}", c as u32)),
        c => out.push(c),
    }
}
