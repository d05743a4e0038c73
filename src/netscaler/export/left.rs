//! What NetScaler has no word for, as comments.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use crate::config::schema::{Kind, Schema};
use crate::netscaler::document::Document;
use crate::netscaler::resource::{Joint, Place, Resource};
use crate::netscaler::value::schema_of;

/// Section, resource, its part that speaks TLS, and keys of bindings.
const SECTIONS: [(&str, &str, &[&[&str]]); 16] = [
    ("server", "server", &[]),
    ("monitor", "lbmonitor", &[]),
    ("certificate", "sslcertkey", &[]),
    ("service", "service", &[&["monitors"], &["tls", "verify"], &["tls", "server_name"], &["tls", "min_version"]]),
    (
        "service_group",
        "servicegroup",
        &[&["monitors"], &["member"], &["tls", "verify"], &["tls", "server_name"], &["tls", "min_version"]],
    ),
    (
        "vserver",
        "lbvserver",
        &[&["services"], &["groups"], BOUND[0], BOUND[1], TLS[0], TLS[1], TLS[2], TLS[3], TLS[4], TLS[5], TLS[6]],
    ),
    (
        "cs_vserver",
        "csvserver",
        &[&["default"], BOUND[0], BOUND[1], BOUND[2], TLS[0], TLS[1], TLS[2], TLS[3], TLS[4], TLS[5], TLS[6]],
    ),
    ("lb_group", "lbgroup", &[&["vservers"]]),
    ("policy_patset", "policypatset", &[&["patterns"]]),
    ("policy_expression", "policyexpression", &[]),
    ("cs_action", "csaction", &[]),
    ("cs_policy", "cspolicy", &[]),
    ("responder_action", "responderaction", &[]),
    ("responder_policy", "responderpolicy", &[]),
    ("rewrite_action", "rewriteaction", &[]),
    ("rewrite_policy", "rewritepolicy", &[]),
];
const BOUND: [&[&str]; 3] = [&["responder_policies"], &["rewrite_policies"], &["cs_policies"]];
const TLS: [&[&str]; 7] = [
    &["certificates"],
    &["tls", "client_ca"],
    &["tls", "client_auth"],
    &["tls", "min_version"],
    &["tls", "max_version"],
    &["tls", "resumption"],
    &["tls", "hsts"],
];

/// A comment for each key that no line says, and one that counts them, for the top; both empty where lines say all.
pub(super) fn comments(document: &Document) -> (String, String) {
    let mut left = String::new();
    for (section, nitro, bound) in SECTIONS {
        let Some((resource, schema)) = Resource::find(nitro).zip(schema_of(section)) else { continue };
        let covered: Vec<Vec<&str>> =
            covered(resource).into_iter().chain(bound.iter().map(|path| path.to_vec())).collect();
        for name in document.names(resource) {
            let Some(table) = document.table(section, name) else { continue };
            let mut unsaid = Vec::new();
            leaves(table, schema, &mut Vec::new(), &mut |path, value| {
                if !covered.iter().any(|known| path.starts_with(known)) {
                    unsaid.push(line(path, value));
                }
            });
            let inexact = resource.attributes().filter_map(|attribute| {
                let said = document.said(resource, name, table, attribute)?;
                (!said.exact).then_some(attribute.cli)
            });
            unsaid.extend(inexact.map(|cli| format!("-{cli} says it in part only")));
            for what in unsaid {
                let _ = writeln!(left, "# [{}] {what}", path_text(&[section, name]));
            }
            members(document, section, name, table, &mut left);
        }
    }
    let keys = left.lines().count();
    let mut counted: Vec<String> = Vec::new();
    for (key, value) in document.root() {
        let only_named = |value: &Value| value.as_object().is_some_and(|table| table.keys().all(|key| key == "name"));
        let only_sources =
            |value: &Value| value.as_object().is_some_and(|t| t.keys().all(|key| key == "source_addresses"));
        let is_said = SECTIONS.iter().any(|(section, ..)| section == key)
            || key == "features"
            || ["schema", "resolver", "time"].contains(&&key[..])
            || (key == "network" && only_sources(value))
            || (key == "appliance" && only_named(value));
        match value {
            _ if is_said => {}
            Value::Object(entries) if !entries.is_empty() && entries.values().all(Value::is_object) => {
                for (name, entry) in entries {
                    let path = path_text(&[key, name]);
                    // Of these the other keys are said.
                    let said_in_part = ["zone", "datacenter"].contains(&&key[..]);
                    let keys: Vec<&str> =
                        entry.as_object().into_iter().flat_map(Map::keys).map(String::as_str).collect();
                    let keys = if said_in_part { format!(" {}", keys.join(", ")) } else { String::new() };
                    let _ = writeln!(left, "# [{path}]{}", keys.trim_end());
                }
                counted.push(format!("[{key}] {}", entries.len()));
            }
            Value::Object(_) => {
                let _ = writeln!(left, "# [{key}]");
                counted.push(format!("[{key}]"));
            }
            other => {
                let _ = writeln!(left, "# {key} = {other}");
                counted.push(key.clone());
            }
        }
    }
    if left.is_empty() {
        return Default::default();
    }
    if keys > 0 {
        counted.push(format!("keys of objects {keys}"));
    }
    let counted = format!("# Not in these lines, but named in comments at the end: {}\n", counted.join(", "));
    let begin = "# NetScaler has no words for what follows; `show ns runningConfig -toml` shows it:\n";
    (format!("{begin}{left}"), counted)
}

/// Members are called by server and port there.
fn members(document: &Document, section: &str, name: &str, table: &Map<String, Value>, left: &mut String) {
    if section != "service_group" {
        return;
    }
    for (member, called) in document.member_names(table) {
        if member != called {
            let path = path_text(&[section, name, "member", &member]);
            let _ = writeln!(left, "# [{path}] is called {called} there");
        }
    }
}

/// The paths that a resource's attributes say.
fn covered(resource: &'static Resource) -> Vec<Vec<&'static str>> {
    let mut paths: Vec<Vec<&'static str>> = Vec::new();
    for attribute in resource.attributes() {
        match attribute.place {
            Place::At(path, _) => paths.push(path.to_vec()),
            Place::With(joint) => paths.extend(of_joint(joint).iter().map(|path| path.to_vec())),
            _ => {}
        }
    }
    paths
}

fn of_joint(joint: Joint) -> &'static [&'static [&'static str]] {
    match joint {
        Joint::Vip | Joint::ServerAddress => &[&["address"]],
        Joint::Host => &[&["server"], &["address"], &["port"]],
        Joint::Persistence => &[
            &["persistence", "type"],
            &["persistence", "timeout"],
            &["persistence", "backup"],
            &["persistence", "backup_timeout"],
            &["persistence", "prefix_v4"],
            &["persistence", "prefix_v6"],
            &["persistence", "cookie_name"],
            &["persistence", "request"],
            &["persistence", "response"],
        ],
        Joint::Rule => &[&["token"]],
        Joint::Spillover => &[
            &["spillover", "method"],
            &["spillover", "threshold"],
            &["spillover", "persistence"],
            &["spillover", "persistence_timeout"],
            &["spillover", "backup_action"],
        ],
        Joint::Time => &[&["interval"], &["response_timeout"], &["down_time"], &["deviation"]],
        Joint::Codes => &[&["response_codes"], &["rad_codes"]],
        Joint::Tls | Joint::Rebind => &[],
    }
}

/// Every value below a table whose keys the schema knows, under its own spelling. Tables of names are values.
fn leaves<'a>(
    table: &'a Map<String, Value>,
    schema: &'static Schema,
    path: &mut Vec<&'static str>,
    found: &mut dyn FnMut(&[&'static str], &'a Value),
) {
    for (name, value) in table {
        let key = schema.keys.iter().find(|key| key.name == name || key.aliases.contains(&&name[..]));
        let Some(key) = key else { continue };
        path.push(key.name);
        match (value, inner(&key.kind)) {
            (Value::Object(below), Some(schema)) => leaves(below, schema, path, found),
            _ => found(path, value),
        }
        path.pop();
    }
}

fn inner(kind: &'static Kind) -> Option<&'static Schema> {
    match kind {
        Kind::Table(schema) => Some(schema),
        _ => None,
    }
}

fn line(path: &[&str], value: &Value) -> String {
    format!("{} = {value}", path.join("."))
}

/// `vserver.web`, `zone."example.test"`
fn path_text(path: &[&str]) -> String {
    let bare = |key: &str| !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-');
    let parts = path.iter().map(|key| if bare(key) { (*key).to_owned() } else { Value::from(*key).to_string() });
    parts.collect::<Vec<_>>().join(".")
}
