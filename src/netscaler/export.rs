//! A configuration as lines of an `ns.conf`, which read back give it again.
//!
//! What NetScaler has no word for is never dropped in silence: it is listed as a comment that names the table and the key.

mod disabled;
mod left;
mod network;
mod quote;

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::document::Document;
use super::gslb;
use super::resource::{Attribute, Joint, Kind, Place, Resource};
use super::value::{Said, same};

use disabled::Unsaid;

pub use disabled::Disabled;
pub use quote::quoted;

/// Resources in the order of a saved file: what is named stands before what names it.
const ORDER: [&str; 16] = [
    "server",
    "lbmonitor",
    "sslcertkey",
    "service",
    "servicegroup",
    "lbvserver",
    "csvserver",
    "lbgroup",
    "policypatset",
    "policyexpression",
    "csaction",
    "cspolicy",
    "responderaction",
    "responderpolicy",
    "rewriteaction",
    "rewritepolicy",
];
const PARTS: [&str; 3] = ["sslvserver", "sslservice", "sslservicegroup"];
const BINDINGS: [&str; 14] = [
    "policypatset_pattern_binding",
    "servicegroup_servicegroupmember_binding",
    "service_lbmonitor_binding",
    "servicegroup_lbmonitor_binding",
    "lbvserver_service_binding",
    "lbvserver_servicegroup_binding",
    "csvserver_lbvserver_binding",
    "csvserver_responderpolicy_binding",
    "csvserver_rewritepolicy_binding",
    "csvserver_cspolicy_binding",
    "lbvserver_responderpolicy_binding",
    "lbvserver_rewritepolicy_binding",
    "lbgroup_lbvserver_binding",
    "sslvserver_sslcertkey_binding",
];

/// The lines, each with its line end; `version` stands in the first, as a saved file has it.
pub fn lines(document: &Document, version: &str) -> String {
    lines_of_running(document, version, &Disabled::new())
}

/// The same of what runs: lines say `-state DISABLED` of what people have disabled.
pub fn lines_of_running(document: &Document, version: &str, disabled: &Disabled) -> String {
    let mut unsaid = Unsaid::new(document, disabled);
    let (gslb, rest) = gslb::export(document);
    let document = &rest;
    let (left, counted) = left::comments(document);
    let begin = format!("#Bascule {version}\n{counted}");
    let mut out = String::new();
    features(document, &mut out);
    out += &network::lines(document);
    let resources = |names: &'static [&'static str]| names.iter().filter_map(|name| Resource::find(name));
    let (instead, twins) = (same_servers(document), document.twins());
    for resource in resources(&ORDER) {
        for name in in_order(document, resource) {
            match instead.get(&name).filter(|_| resource.nitro == "server") {
                Some(first) => {
                    let _ = writeln!(out, "# server {name} has the address of {first}, which stands for it there");
                }
                None => {
                    if let Some(first) = twins.get(&name).filter(|_| resource.nitro == "service") {
                        let why = "one service has them there, and the next line is refused";
                        let _ = writeln!(out, "# service {name} has the type, address and port of {first}: {why}");
                    }
                    object(document, resource, &name, (&instead, &mut unsaid), &mut out);
                }
            }
        }
        if resource.nitro == "server" {
            hosts(document, &mut out);
        }
    }
    for resource in resources(&BINDINGS) {
        let mut rows = document.objects(resource);
        number(resource, &mut rows);
        for row in rows {
            binding(resource, &row, (&instead, &mut unsaid), &mut out);
        }
    }
    for resource in resources(&PARTS) {
        for row in document.objects(resource) {
            part(resource, &row, &mut out);
        }
    }
    begin + &unsaid.left() + &out + &gslb + &left
}

fn features(document: &Document, out: &mut String) {
    let appliance = document.root().get("appliance");
    if let Some(name) = appliance.and_then(|appliance| appliance.get("name")?.as_str()) {
        let _ = writeln!(out, "set ns hostName {}", quoted(name));
    }
    let on = |key: &str| document.root().get("features").and_then(|f| f.get(key)) != Some(&Value::Bool(false));
    let names = [("lb", "LB"), ("gslb", "GSLB")];
    for (words, wanted) in [("enable ns feature", true), ("disable ns feature", false)] {
        let mut list: Vec<&str> = names.iter().filter(|(key, _)| on(key) == wanted).map(|(_, name)| *name).collect();
        if wanted {
            list.extend(["CS", "SSL"]);
            let has = |section: &str| document.root().get(section).is_some();
            list.extend(has("rewrite_policy").then_some("REWRITE"));
            list.extend(has("responder_policy").then_some("RESPONDER"));
        }
        if !list.is_empty() {
            let _ = writeln!(out, "{words} {}", list.join(" "));
        }
    }
}

/// Servers on the address of one that stands before them, and that one: NetScaler has one server for each address.
fn same_servers(document: &Document) -> HashMap<String, String> {
    let Some(resource) = Resource::find("server") else { return HashMap::new() };
    let mut first: HashMap<String, String> = HashMap::new();
    let mut instead = HashMap::new();
    for server in document.objects(resource) {
        let text = |key: &str| server.get(key).and_then(Value::as_str).map(str::to_owned);
        let (Some(name), Some(address)) = (text("name"), text("ipaddress")) else { continue };
        match first.get(&address) {
            Some(first) => drop(instead.insert(name, first.clone())),
            None => drop(first.insert(address, name)),
        }
    }
    instead
}

/// Host names that services and members say themselves: NetScaler has a server object for each.
fn hosts(document: &Document, out: &mut String) {
    let mut done = HashSet::new();
    let resources =
        ["service", "servicegroup_servicegroupmember_binding"].iter().filter_map(|name| Resource::find(name));
    for row in resources.flat_map(|resource| document.objects(resource)) {
        let Some(host) = row.get("servername").and_then(Value::as_str) else { continue };
        let is_known = host.parse::<std::net::IpAddr>().is_ok() || document.table("server", host).is_some();
        if !is_known && done.insert(host.to_owned()) {
            let _ = writeln!(out, "add server {0} {0}", quoted(host));
        }
    }
}

/// Names in the order of the text, backups before those that they stand in for.
fn in_order(document: &Document, resource: &'static Resource) -> Vec<String> {
    let names: Vec<String> = document.names(resource).into_iter().map(str::to_owned).collect();
    if resource.nitro != "lbvserver" {
        return names;
    }
    let backup = |name: &str| document.object(resource, name)?.get("backupvserver")?.as_str().map(str::to_owned);
    let mut done: HashSet<String> = HashSet::new();
    let mut order = Vec::new();
    for name in names {
        let mut chain = vec![name];
        while let Some(next) = chain.last().and_then(|last| backup(last)) {
            if done.contains(&next) || chain.contains(&next) || !document.has(resource, &next) {
                break;
            }
            chain.push(next);
        }
        for name in chain.into_iter().rev() {
            if done.insert(name.clone()) {
                order.push(name);
            }
        }
    }
    order
}

fn object(
    document: &Document,
    resource: &'static Resource,
    name: &str,
    (instead, unsaid): (&HashMap<String, String>, &mut Unsaid),
    out: &mut String,
) {
    let Some(table) = document.table(resource.section(), name) else { return };
    let said = |attribute: &Attribute| document.said(resource, name, table, attribute);
    let by_name = |nitro: &str| resource.attribute(nitro).and_then(said);
    let _ = write!(out, "add {}", resource.said());
    let mut written: Vec<&str> = Vec::new();
    for place in resource.positional {
        // A service is on the server that it names, else on an address.
        let candidates: Vec<&str> = place.split('|').collect();
        let first = if candidates == ["ip", "servername"] { "servername" } else { candidates[0] };
        let found = std::iter::once(first).chain(candidates.iter().copied()).find_map(&by_name);
        let Some(said) = found else { break };
        let text = instead.get(&said.text).filter(|_| first == "servername").unwrap_or(&said.text);
        let _ = write!(out, " {}", quoted(text));
        written.extend(candidates);
    }
    let is_joined = |attribute: &Attribute| matches!(attribute.place, Place::With(Joint::Host | Joint::Rebind));
    for attribute in resource.attributes() {
        // The default of content switching is bound.
        let is_bound = (resource.nitro, attribute.nitro) == ("csvserver", "lbvserver");
        if is_bound
            || written.contains(&attribute.nitro)
            || is_joined(attribute)
            || attribute.nitro.starts_with("units")
        {
            continue;
        }
        let Some(Said { text, exact: true }) = said(attribute) else { continue };
        // The header stands behind the switch, which is said with it.
        if attribute.nitro == "cip" && by_name("cipheader").is_some() {
            continue;
        }
        if attribute.nitro == "cipheader" {
            let cip = by_name("cip").map_or_else(|| "ENABLED".to_owned(), |said| said.text);
            let _ = write!(out, " -cip {cip} {}", quoted(&text));
            continue;
        }
        keyword(attribute, &text, out);
        if let Place::With(Joint::Time) = attribute.place {
            unit(resource, attribute, &by_name, &text, out);
        }
    }
    unsaid.object(resource, name, out);
    out.push('\n');
}

/// Its value, unless NetScaler has it anyway.
fn keyword(attribute: &Attribute, text: &str, out: &mut String) {
    if matches!(attribute.place, Place::With(Joint::Time))
        || (!attribute.default.is_empty() && same(attribute.default, text))
    {
        return;
    }
    match attribute.kind {
        Kind::List => {
            let items: Vec<String> = text.split(' ').map(quoted).collect();
            let _ = write!(out, " -{} {}", attribute.cli, items.join(" "));
        }
        _ => {
            let _ = write!(out, " -{} {}", attribute.cli, quoted(text));
        }
    }
}

/// `-interval 2 MIN`; seconds need no unit.
fn unit(resource: &Resource, attribute: &Attribute, said: &dyn Fn(&str) -> Option<Said>, text: &str, out: &mut String) {
    let units = [("interval", "units3"), ("resptimeout", "units4"), ("downtime", "units2"), ("deviation", "units1")];
    let Some((_, unit)) = units.iter().find(|(number, _)| *number == attribute.nitro) else { return };
    let unit = said(unit).map_or_else(|| "SEC".to_owned(), |said| said.text);
    let is_default = unit == "SEC" && text == attribute.default;
    debug_assert_eq!(resource.nitro, "lbmonitor");
    if is_default {
        return;
    }
    let _ = write!(out, " -{} {text}", attribute.cli);
    if unit != "SEC" {
        let _ = write!(out, " {unit}");
    }
}

/// Policies without a priority come last here, and there each has one.
fn number(resource: &'static Resource, rows: &mut [Map<String, Value>]) {
    if !["responderpolicy", "rewritepolicy"].iter().any(|policy| resource.nitro.contains(policy)) {
        return;
    }
    let mut last: HashMap<String, u64> = HashMap::new();
    let of = |row: &Map<String, Value>, key: &str| row.get(key).map(super::value::text_of);
    let owner = |row: &Map<String, Value>| of(row, resource.key).unwrap_or_default();
    for row in rows.iter() {
        let priority = of(row, "priority").and_then(|text| text.parse().ok()).unwrap_or(0);
        let last = last.entry(owner(row)).or_default();
        *last = priority.max(*last);
    }
    for row in rows.iter_mut().filter(|row| !row.contains_key("priority")) {
        let last = last.entry(owner(row)).or_default();
        *last = *last / 10 * 10 + 10;
        row.insert("priority".to_owned(), last.to_string().into());
    }
}

fn binding(
    resource: &'static Resource,
    row: &Map<String, Value>,
    (instead, unsaid): (&HashMap<String, String>, &mut Unsaid),
    out: &mut String,
) {
    let value = |nitro: &str| row.iter().find(|(key, _)| key.eq_ignore_ascii_case(nitro)).map(|(_, value)| value);
    let text = |nitro: &str| value(nitro).map(super::value::text_of);
    let _ = write!(out, "bind {}", resource.said());
    let mut written: Vec<&str> = Vec::new();
    for place in resource.positional {
        let candidates: Vec<&str> = place.split('|').collect();
        let Some(value) = candidates.iter().rev().find_map(|nitro| text(nitro)) else { break };
        let value = instead.get(&value).filter(|_| candidates.contains(&"servername")).unwrap_or(&value);
        let _ = write!(out, " {}", quoted(value));
        written.extend(candidates);
    }
    for attribute in resource.attributes().filter(|attribute| !written.contains(&attribute.nitro)) {
        let Some(value) = text(attribute.nitro) else { continue };
        match attribute.kind {
            Kind::Boolean if value == "true" => {
                let _ = write!(out, " -{}", attribute.cli);
            }
            Kind::Boolean => {}
            _ => keyword(attribute, &value, out),
        }
    }
    unsaid.binding(resource, row, out);
    out.push('\n');
}

fn part(resource: &'static Resource, row: &Map<String, Value>, out: &mut String) {
    let mut line = String::new();
    for attribute in resource.attributes().filter(|a| matches!(a.place, Place::With(_))) {
        if let Some(value) = row.get(attribute.nitro) {
            keyword(attribute, &super::value::text_of(value), &mut line);
        }
    }
    if !line.is_empty() {
        let name = row.get(resource.key).map(super::value::text_of).unwrap_or_default();
        let _ = writeln!(out, "set {} {}{line}", resource.said(), quoted(&name));
    }
}

#[cfg(test)]
mod tests;
