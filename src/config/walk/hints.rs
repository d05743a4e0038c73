//! What to write here, for whoever writes as NetScaler's command line does.

use crate::config::document::{Node, Path, Value};
use crate::config::schema::{Key, Kind, Schema};

/// The page that says of every parameter what becomes of it.
const PAGE: &str = include_str!("../../manual/netscaler.rs");

/// NetScaler's parameters (and what others are called elsewhere) that have another name here, without case and
/// separators; and what to write.
const PARAMETERS: [(&str, &str); 8] = [
    ("ip", "address = \"192.0.2.1\""),
    ("ipaddress", "address = \"192.0.2.1\""),
    ("backupvserver", "backup = \"NAME\""),
    ("persistencetype", "persistence = { type = \"SOURCEIP\", timeout = \"2m\" }"),
    ("persistencebackup", "persistence = { type = \"COOKIEINSERT\", backup = \"SOURCEIP\" }"),
    ("timeout", "persistence = { type = \"SOURCEIP\", timeout = \"2m\" }"),
    ("somethod", "spillover = { method = \"CONNECTION\", threshold = 1000 }"),
    ("sothreshold", "spillover = { method = \"CONNECTION\", threshold = 1000 }"),
];

/// Words that people shorten.
const WORDS: [(&str, &str); 5] = [
    ("RR", "ROUNDROBIN"),
    ("LEASTCONN", "LEASTCONNECTION"),
    ("LEASTCONNECTIONS", "LEASTCONNECTION"),
    ("LEASTREQ", "LEASTREQUEST"),
    ("COOKIE", "COOKIEINSERT"),
];

/// `cltTimeout` and `clt-timeout` are `clt_timeout`.
fn folded(key: &str) -> String {
    key.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase()
}

/// Keys that are listed where one is unknown.
const KNOWN_MOST: usize = 8;

/// Keys of a schema for whoever wrote one that is none: all where they are few, else, in place of a table, those of
/// tables.
pub(super) fn known(schema: &'static Schema, is_table: bool) -> Vec<String> {
    let is_one = |key: &&Key| matches!(key.kind, Kind::Table(_) | Kind::Map(_) | Kind::OneOf(_));
    let all: Vec<&Key> = match schema.keys.len() {
        0..=KNOWN_MOST => schema.keys.iter().collect(),
        _ if is_table => schema.keys.iter().filter(is_one).collect(),
        _ => Vec::new(),
    };
    all.into_iter().map(|key| format!("`{}`", key.name)).collect()
}

/// Whether a table below `path` is the second half of a name that has dots and no quotes: `[zone.example.test]`.
pub(super) fn is_half_a_name(path: Path<'_>) -> bool {
    let path = path.to_string();
    let mut parts = path.split('.');
    matches!(parts.next(), Some("zone" | "peer")) && parts.count() == 1 && !path.contains('"')
}

/// The key that is this one but for case and separators.
pub(super) fn same_key(key: &str, schema: &'static Schema) -> Option<&'static Key> {
    let wanted = folded(key);
    let is = |known: &&Key| folded(known.name) == wanted || known.aliases.iter().any(|alias| folded(alias) == wanted);
    schema.keys.iter().find(is)
}

/// What to write instead of a parameter of vservers that has no key of its own.
pub(super) fn instead(key: &str, schema: &'static Schema) -> Option<&'static str> {
    let wanted = folded(key);
    let (_, text) = PARAMETERS.iter().find(|(parameter, _)| *parameter == wanted)?;
    let stands_in = text.split(' ').next()?;
    schema.key(stands_in).is_some().then_some(*text)
}

/// What a shortened word stands for, where it is one of the known ones.
pub(super) fn word(text: &str, known: &'static [&'static str]) -> Option<&'static str> {
    let short = WORDS.iter().find(|(short, _)| short.eq_ignore_ascii_case(text))?;
    known.iter().find(|known| **known == short.1).copied()
}

/// The remark that stands in the manual beside a parameter that is refused; `` where there is none.
pub(super) fn remark(path: Path<'_>, key: &str) -> String {
    let path = path.to_string();
    let section = match path.split('.').find(|part| *part != "defaults") {
        Some("service") => "service",
        Some("service_group") => "serviceGroup",
        Some("vserver") => "lb vserver",
        Some("monitor") => "lb monitor",
        Some("server") => "server",
        _ => return String::new(),
    };
    let lines = PAGE.lines().map(|line| line.trim_start_matches("//! "));
    let rows = lines.skip_while(|line| line.strip_prefix("## ") != Some(section)).skip(1);
    let mut rows = rows.take_while(|line| !line.starts_with("## "));
    let cells = rows.find_map(|row| {
        let cells: Vec<&str> = row.trim().trim_matches('|').split(" | ").map(str::trim).collect();
        let is_it = cells.len() >= 4 && cells[1] == "refused" && cells[2].split('`').any(|named| named == key);
        is_it.then_some(cells)
    });
    match cells {
        Some(cells) if !cells[3].is_empty() => format!(": {}", cells[3]),
        _ => String::new(),
    }
}

/// How to write a value of the wrong type, where what is meant is plain.
pub(super) fn value(node: &Node, kind: &Kind) -> String {
    let Value::Text(text) = &node.value else { return String::new() };
    let is = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
    match kind {
        Kind::Bool if is(&["ENABLED", "ON", "YES", "TRUE"]) => "; write true".into(),
        Kind::Bool if is(&["DISABLED", "OFF", "NO", "FALSE"]) => "; write false".into(),
        Kind::Table(schema) if schema.key("type").is_some() => format!("; write {{ type = {text:?} }}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refused_parameter_says_what_there_is_instead() {
        let path = Path::Root;
        let (section, object) = (path.key("service"), "web1");
        let said = remark(section.key(object), "usip");
        assert!(said.contains("proxy_protocol"), "{said}");
        assert_eq!(remark(path.key("zone"), "usip"), "");
    }
}
