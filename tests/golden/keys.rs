//! The page of every key is what the schema says, with the defaults that a printed configuration has.
//!
//! `BASCULE_WRITE_KEYS=1` writes the page anew.

use bascule::config::schema::{Kind, ROOT, Schema};
use bascule::config::units::format_duration;
use bascule::config::{edit, render};
use serde_json::Value;
use std::time::Duration;

use crate::config::load_text;

/// One object of each kind that has defaults worth telling, with what it needs.
const SAMPLE: &str = r#"
schema = 1
[dns]
[network]
[network.interface.x]
[monitor.x]
type = "HTTP"
[server.x]
address = "192.0.2.1"
[service.x]
type = "HTTP"
address = "192.0.2.1:80"
[service_group.x]
type = "HTTP"
member.a = { server = "x", port = 80 }
[vserver.x]
type = "HTTP"
address = "192.0.2.9:80"
services = ["x"]
[cs_vserver.y]
type = "HTTP"
address = "192.0.2.8:80"
default = "x"
[check.x]
type = "TCP"
address = "192.0.2.1:80"
"#;

const HEAD: &str = "\
# Every key of the configuration

One line for each key that this build takes, with what it may be; in front the section and, where it is a table, the key
that it stands in. NAME is a name of yours. A default is given where it is one value; where there is none the key is
needed, or its absence means that the feature is off. `[defaults.monitor]`, `[defaults.service]`, `[defaults.vserver]`,
`[defaults.check]` and `[defaults.scenario]` take the keys of their kind, for all objects of it. Which keys belong to which
type of monitor: [`monitors`](super::monitors). What NetScaler has beside them: [`netscaler`](super::netscaler).
";

fn ranged(kind: &Kind) -> String {
    let time = |ms: u64| format_duration(Duration::from_millis(ms));
    match kind {
        Kind::Int(from, i64::MAX) => format!("integer from {from}"),
        Kind::Int(from, to) => format!("integer, {from} to {to}"),
        Kind::Duration(from, to) => format!("duration, {} to {}", time(*from), time(*to)),
        Kind::Size(from, to) => format!("size, {from} to {to} bytes"),
        Kind::Rate(from, to) => format!("rate, {from} to {to} bit/s"),
        Kind::Word(words) => words.known.join(", "),
        Kind::List(kind) => format!("list: {}", ranged(kind)),
        Kind::Map(kind) => format!("table by name: {}", ranged(kind)),
        Kind::Table(_) => "table".into(),
        Kind::OneOf(kinds) => kinds.iter().map(ranged).collect::<Vec<_>>().join(" *or* "),
        Kind::Text | Kind::Name => "text".into(),
        Kind::Any => "any value".into(),
        other => other.expected().trim_start_matches("an ").trim_start_matches("a ").to_owned(),
    }
}

/// Tables in a kind, and what stands between the key and theirs.
fn tables(kind: &'static Kind, between: &str, found: &mut Vec<(String, &'static Schema)>) {
    match kind {
        Kind::Table(schema) => found.push((between.to_owned(), schema)),
        Kind::Map(kind) => tables(kind, &format!("{between}.NAME"), found),
        Kind::List(kind) => tables(kind, &format!("{between}[]"), found),
        Kind::OneOf(kinds) => kinds.iter().for_each(|kind| tables(kind, between, found)),
        _ => {}
    }
}

fn rows(schema: &'static Schema, prefix: &str, defaults: &Value, rows: &mut Vec<String>) {
    for key in schema.keys {
        let name = format!("{prefix}{}", key.name);
        let default = match defaults.get(key.name) {
            _ if key.required => "needed".to_owned(),
            // What the sample says is no default.
            _ if prefix.is_empty() && SAMPLE.contains(&format!("\n{} = ", key.name)) && key.name != "schema" => {
                String::new()
            }
            Some(Value::Object(_)) | None => String::new(),
            Some(value) => format!("`{value}`"),
        };
        let also = match key.aliases {
            [] => String::new(),
            aliases => format!(" (also `{}`)", aliases.join("`, `")),
        };
        rows.push(format!("| `{name}`{also} | {} | {default} |", ranged(&key.kind).replace('|', "\\|")));
        let mut inner = Vec::new();
        tables(&key.kind, "", &mut inner);
        for (between, table) in inner {
            let inner = defaults.get(key.name).cloned().unwrap_or_default();
            let path = format!("{name}{between}.");
            if path.matches('.').count() < 5 {
                self::rows(table, &path, &inner, rows);
            }
        }
    }
}

fn page() -> String {
    let model = load_text(SAMPLE, &[]).unwrap_or_else(|problems| panic!("{problems:?}")).model;
    let printed = edit::to_json(&render::render(&model)).unwrap();
    let mut page = HEAD.to_owned();
    for key in ROOT.keys.iter().filter(|key| key.name != "defaults") {
        let mut found = Vec::new();
        tables(&key.kind, "", &mut found);
        for (between, schema) in found {
            let title = if between.is_empty() { format!("[{}]", key.name) } else { format!("[{}.NAME]", key.name) };
            page += &format!("\n## `{title}`\n\n| key | is | default |\n|---|---|---|\n");
            let objects = &printed[key.name];
            let defaults = if between.is_empty() {
                objects.clone()
            } else {
                objects.as_object().and_then(|all| all.values().next()).cloned().unwrap_or_default()
            };
            let mut lines = Vec::new();
            rows(schema, "", &defaults, &mut lines);
            page += &lines.join("\n");
            page.push('\n');
        }
    }
    page
}

#[test]
fn the_page_of_every_key_is_what_the_schema_says() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/manual/keys.md");
    let page = page();
    if std::env::var_os("BASCULE_WRITE_KEYS").is_some() {
        std::fs::write(path, &page).unwrap();
    }
    let told = std::fs::read_to_string(path).unwrap();
    let differs = told.lines().zip(page.lines()).find(|(told, page)| told != page);
    assert!(told == page, "run this test with BASCULE_WRITE_KEYS=1; first difference: {differs:?}");
}
