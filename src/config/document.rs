//! A configuration as written: a tree in which every key and value knows its place. All later steps read this tree, so
//! that a problem found at the very end (a backup chain that loops) still names a file and a line.
//!
//! The TOML parser recovers from a syntax error and goes on, but what it then takes for keys and tables is a guess. Of
//! each file only the first one is reported, where it stands, and nothing that would follow from a guess.

mod twice;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use super::report::Report;

/// Where something stands: a file of the [`Report`] and a byte in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    pub file: u32,
    pub start: u32,
}

#[derive(Clone, Debug)]
pub struct Node {
    pub place: Place,
    pub value: Value,
}

#[derive(Clone, Debug)]
pub enum Value {
    Text(String),
    /// `None`: more than 64 bits.
    Integer(Option<i64>),
    Float(f64),
    Bool(bool),
    /// A date, a time, or both, as written.
    Moment(String),
    List(Vec<Node>),
    Table(Table),
}

/// Entries in the order of the text: lists of services and groups of conditions mean their order.
#[derive(Clone, Debug, Default)]
pub struct Table {
    pub entries: Vec<Entry>,
}

#[derive(Clone, Debug)]
pub struct Entry {
    pub key: String,
    /// Of the key.
    pub place: Place,
    pub node: Node,
}

/// A dotted path to something, made into text only where a problem needs it.
#[derive(Clone, Copy, Debug)]
pub enum Path<'a> {
    Root,
    Key(&'a Path<'a>, &'a str),
    Item(&'a Path<'a>, usize),
}

/// Definitions of one file that stand twice, beyond this many, are not reported.
const TWICE_MOST: usize = 20;

/// Reads one file of the report. What is wrong with its syntax goes into the report; what could be read is returned.
pub fn read(report: &mut Report, file: u32) -> Table {
    let text = report.text(file);
    let (table, errors) = DeTable::parse_recoverable(&text);
    let start = |error: &toml::de::Error| error.span().map_or(0, |span| span.start);
    let is_twice = |error: &&toml::de::Error| error.message().starts_with("duplicate key");
    let broken = errors.iter().filter(|error| !is_twice(error)).min_by_key(|error| start(error));
    let until = broken.map_or(usize::MAX, start);
    for error in errors.iter().filter(is_twice).filter(|error| start(error) < until).take(TWICE_MOST) {
        if let Some(said) = twice::describe(&text, start(error)) {
            report.twice(Place { file, start: start(error) as u32 }, said);
        }
    }
    if let Some(error) = broken {
        let said = format!("not TOML: {}", error.message().lines().collect::<Vec<_>>().join(", "));
        report.syntax(Place { file, start: begins(&text, error.message(), until) as u32 }, said);
    }
    convert_table(table.into_inner(), file)
}

/// Where the mistake is rather than where it is noticed: a string of several lines that nobody closes ends with the file,
/// and the last quotes of its kind are those that open it.
fn begins(text: &str, message: &str, noticed: usize) -> usize {
    let quotes = match message {
        _ if noticed < text.trim_end().len() => None,
        _ if message.starts_with("invalid multi-line basic string") => Some("\"\"\""),
        _ if message.starts_with("invalid multi-line literal string") => Some("'''"),
        _ => None,
    };
    quotes.and_then(|quotes| text.rfind(quotes)).unwrap_or(noticed)
}

/// One TOML value, as in `--set PATH=VALUE`; text where it is none.
pub fn read_value(text: &str, file: u32) -> Node {
    match DeValue::parse(text) {
        Ok(value) => convert(value, file),
        Err(_) => Node { place: Place { file, start: 0 }, value: Value::Text(text.to_owned()) },
    }
}

fn convert(value: Spanned<DeValue<'_>>, file: u32) -> Node {
    let place = Place { file, start: value.span().start as u32 };
    let value = match value.into_inner() {
        DeValue::String(text) => Value::Text(text.into_owned()),
        DeValue::Integer(number) => Value::Integer(i64::from_str_radix(number.as_str(), number.radix()).ok()),
        DeValue::Float(number) => Value::Float(number.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(value) => Value::Bool(value),
        DeValue::Datetime(moment) => Value::Moment(moment.to_string()),
        DeValue::Array(items) => Value::List(convert_list(items, file)),
        DeValue::Table(table) => Value::Table(convert_table(table, file)),
    };
    Node { place, value }
}

fn convert_list(items: DeArray<'_>, file: u32) -> Vec<Node> {
    items.into_iter().map(|item| convert(item, file)).collect()
}

fn convert_table(table: DeTable<'_>, file: u32) -> Table {
    let mut entries: Vec<Entry> = table
        .into_iter()
        .map(|(key, value)| Entry {
            place: Place { file, start: key.span().start as u32 },
            key: key.into_inner().into_owned(),
            node: convert(value, file),
        })
        .collect();
    // The parser sorts by key; the places remember the order of the text.
    entries.sort_by_key(|entry| entry.place);
    Table { entries }
}

fn bare_or_quoted(key: &str) -> std::borrow::Cow<'_, str> {
    if !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-') {
        key.into()
    } else {
        quoted(key).into()
    }
}

/// A basic string of TOML.
fn quoted(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for c in text.chars() {
        match c {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            '\r' => quoted.push_str("\\r"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

// === impl Node ===

impl Node {
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn table(&self) -> Option<&Table> {
        match &self.value {
            Value::Table(table) => Some(table),
            _ => None,
        }
    }

    pub fn list(&self) -> Option<&[Node]> {
        match &self.value {
            Value::List(items) => Some(items),
            _ => None,
        }
    }

    /// As one TOML value on one line.
    pub fn to_toml(&self) -> String {
        match &self.value {
            Value::Text(text) => quoted(text),
            Value::Integer(number) => number.unwrap_or(0).to_string(),
            Value::Float(number) => format!("{number:?}"),
            Value::Bool(value) => value.to_string(),
            Value::Moment(moment) => moment.clone(),
            Value::List(items) => {
                let items: Vec<String> = items.iter().map(Node::to_toml).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Table(table) => {
                let pair = |entry: &Entry| format!("{} = {}", bare_or_quoted(&entry.key), entry.node.to_toml());
                let pairs: Vec<String> = table.entries.iter().map(pair).collect();
                if pairs.is_empty() { "{}".to_owned() } else { format!("{{ {} }}", pairs.join(", ")) }
            }
        }
    }

    /// With its article, for problems: `a string`.
    pub fn type_word(&self) -> &'static str {
        match &self.value {
            Value::Text(_) => "a string",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a number with a fraction",
            Value::Bool(_) => "a boolean",
            Value::Moment(_) => "a date or time",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
        }
    }
}

// === impl Table ===

impl Table {
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    pub fn entry_mut(&mut self, key: &str) -> Option<&mut Entry> {
        self.entries.iter_mut().find(|entry| entry.key == key)
    }

    pub fn get(&self, key: &str) -> Option<&Node> {
        self.entry(key).map(|entry| &entry.node)
    }

    /// With what only the defaults say; the tables named in `within` are completed key by key, others stand as they are.
    pub fn over(&self, defaults: &Table, within: &[&str]) -> Table {
        let mut entries = self.entries.clone();
        for default in &defaults.entries {
            match entries.iter_mut().find(|entry| entry.key == default.key) {
                None => entries.push(default.clone()),
                Some(own) if within.contains(&own.key.as_str()) => {
                    if let (Value::Table(own), Value::Table(default)) = (&mut own.node.value, &default.node.value) {
                        *own = own.over(default, &[]);
                    }
                }
                Some(_) => {}
            }
        }
        Table { entries }
    }

    /// As TOML, a line a key.
    pub fn to_toml(&self) -> String {
        let lines = self.entries.iter().map(|e| format!("{} = {}\n", bare_or_quoted(&e.key), e.node.to_toml()));
        lines.collect()
    }
}

// === impl Path ===

impl<'a> Path<'a> {
    pub fn key(&'a self, key: &'a str) -> Path<'a> {
        Path::Key(self, key)
    }

    pub fn item(&'a self, index: usize) -> Path<'a> {
        Path::Item(self, index)
    }
}

/// `zone."example.test".ttl`, `vserver.web.groups[1]`
impl std::fmt::Display for Path<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Path::Root => Ok(()),
            Path::Key(parent, key) => {
                parent.fmt(f)?;
                if !matches!(parent, Path::Root) {
                    f.write_str(".")?;
                }
                f.write_str(&bare_or_quoted(key))
            }
            Path::Item(parent, index) => write!(f, "{parent}[{index}]"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> (Table, Report) {
        let mut report = Report::new();
        let file = report.add("a.toml".into(), text.into(), true);
        let table = read(&mut report, file);
        (table, report)
    }

    #[test]
    fn entries_keep_the_order_of_the_text() {
        let (table, report) = table("zulu = 1\nalpha = { y = 1, x = 2 }\n");
        let keys: Vec<_> = table.entries.iter().map(|e| e.key.as_str()).collect();
        assert_eq!(keys, ["zulu", "alpha"]);
        let inner: Vec<_> =
            table.get("alpha").unwrap().table().unwrap().entries.iter().map(|e| e.key.as_str()).collect();
        assert_eq!(inner, ["y", "x"]);
        assert!(!report.has_errors());
    }

    #[test]
    fn of_a_broken_text_the_first_mistake_is_told_where_it_stands() {
        let told = |text: &str| {
            let (_, problems) = table(text).1.finish();
            problems.iter().map(|problem| problem.line).collect::<Vec<_>>()
        };
        assert_eq!(told("a = \nb = 1\nc = [1, \nd = 2\n"), [1]);
        assert_eq!(told("x = 1\nc = [\"a\",\nd = 2\n[b]\ne = 3\n"), [3], "the bracket is missed where it should be");
        assert_eq!(told("x = 1\nc = { a = 1, b = \nd = 2\ne = 3\n"), [3]);
        assert_eq!(told("a = 1\na = 2\nb = = 3\nb = 4\n"), [2, 3], "what stands twice before it does so for certain");
        assert_eq!(told("x = 1\ny = \"\"\"\n1\n2\n"), [2], "a string that is not closed, where it begins");
        assert_eq!(told("x = '''1'''\ny = '''\n1\n2\n"), [2]);
    }

    #[test]
    fn paths_quote_what_is_no_bare_key() {
        let root = Path::Root;
        let zone = root.key("zone");
        let name = zone.key("example.test");
        assert_eq!(name.item(2).to_string(), "zone.\"example.test\"[2]");
    }
}
