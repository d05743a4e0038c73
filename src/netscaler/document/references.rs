//! Who names whom: what is in use cannot go, and a new name is told to everybody.

use serde_json::{Map, Value};

use super::check::bound_names;
use super::{Document, name_of};
use crate::netscaler::document::write::check_name;
use crate::netscaler::error::NsError;
use crate::netscaler::gslb;
use crate::netscaler::resource::Resource;
use crate::netscaler::value::text_of;

/// Resources that have another name tomorrow.
const RENAMED: [&str; 12] = [
    "server",
    "service",
    "servicegroup",
    "lbvserver",
    "csvserver",
    "lbgroup",
    "csaction",
    "cspolicy",
    "responderaction",
    "responderpolicy",
    "rewriteaction",
    "rewritepolicy",
];

/// A section, the path below each of its objects (`*`: every key, and every item of a list), and whose names stand there.
type Named = (&'static str, &'static [&'static str], &'static str);

const NAMED: &[Named] = &[
    ("vserver", &["services", "*"], "service"),
    ("vserver", &["groups", "*"], "service_group"),
    ("vserver", &["split", "*"], "service_group"),
    ("vserver", &["proximity", "*", "*"], "service"),
    ("vserver", &["backup"], "vserver"),
    ("vserver", &["backup_vserver"], "vserver"),
    ("vserver", &["certificates", "*"], "certificate"),
    ("vserver", &["certificate", "*"], "certificate"),
    ("vserver", &["certkey_name", "*"], "certificate"),
    ("vserver", &["tls", "client_ca"], "certificate"),
    ("cs_vserver", &["default"], "vserver"),
    ("cs_vserver", &["backup"], "vserver"),
    ("cs_vserver", &["backup_vserver"], "vserver"),
    ("cs_vserver", &["certificates", "*"], "certificate"),
    ("cs_vserver", &["tls", "client_ca"], "certificate"),
    ("lb_group", &["vservers", "*"], "vserver"),
    ("service", &["server"], "server"),
    ("service", &["monitors", "*"], "monitor"),
    ("service", &["tls", "certificate"], "certificate"),
    ("service", &["tls", "ca"], "certificate"),
    ("service_group", &["monitors", "*"], "monitor"),
    ("service_group", &["member", "*", "server"], "server"),
    ("service_group", &["tls", "certificate"], "certificate"),
    ("service_group", &["tls", "ca"], "certificate"),
    ("vserver", &["responder_policies", "*"], "responder_policy"),
    ("vserver", &["rewrite_policies", "*"], "rewrite_policy"),
    ("cs_vserver", &["responder_policies", "*"], "responder_policy"),
    ("cs_vserver", &["rewrite_policies", "*"], "rewrite_policy"),
    ("cs_vserver", &["cs_policies", "*"], "cs_policy"),
    ("cs_vserver", &["cs_policies", "*", "target"], "vserver"),
    ("cs_action", &["target"], "vserver"),
    ("cs_policy", &["action"], "cs_action"),
    ("responder_policy", &["action"], "responder_action"),
    ("rewrite_policy", &["action"], "rewrite_action"),
    ("rule", &["vserver"], "vserver"),
    ("rule", &["action", "route", "vserver"], "vserver"),
    ("rule", &["action", "route", "service"], "service"),
    ("rule", &["action", "route", "group"], "service_group"),
    ("rule", &["action", "mirror", "vserver"], "vserver"),
];

/// Sections whose objects are bound to what they name: it goes and they stay.
fn lets_go(owner: &str, path: &[&str]) -> bool {
    matches!((owner, path), ("vserver", ["services" | "groups", _]) | ("lb_group", ["vservers", _]))
}

impl Document {
    /// Whether objects of the resource can be given another name.
    pub fn is_renamed(resource: &Resource) -> bool {
        RENAMED.contains(&resource.nitro)
    }

    /// Who uses an object, as the command line names it: `lb vserver web`. `None`: nobody.
    pub fn is_referenced(&self, resource: &Resource, name: &str) -> Option<String> {
        self.user_of(resource.section(), name, |_, _| true)
    }

    fn user_of(&self, section: &str, name: &str, counts: impl Fn(&str, &[&str]) -> bool) -> Option<String> {
        let target = if section == "cs_vserver" { "vserver" } else { section };
        for (owner, path, _) in NAMED.iter().filter(|(_, _, named)| *named == target) {
            if !counts(owner, path) {
                continue;
            }
            let mut users = self.section(owner).filter(|(_, table)| names(table, path, name));
            if let Some((user, _)) = users.next() {
                return Some(format!("{} {user}", said(owner)));
            }
        }
        if matches!(section, "policy_patset" | "policy_expression") {
            return self.names_in_text(section, name);
        }
        if target == "monitor"
            && let Some(defaults) = self.defaults("service")
            && names(defaults, &["monitors", "*"], name)
        {
            return Some("[defaults.service]".to_owned());
        }
        self.term(section, name).or_else(|| gslb::kept_user(self, target, name))
    }

    /// Where a term such as `vs:web` stands.
    fn term(&self, section: &str, name: &str) -> Option<String> {
        let prefix = prefix(section)?;
        let found = |table: &Value| contains_term(table, prefix, name);
        let sections = self.root.iter().filter(|(key, _)| !matches!(&key[..], "defaults" | "features"));
        for (key, value) in sections {
            let Some(tables) = value.as_object() else { continue };
            if let Some((user, _)) = tables.iter().find(|(_, table)| found(table)) {
                return Some(format!("{} {user}", said(key)));
            }
        }
        None
    }

    /// Whether an object can go.
    pub(super) fn check_unused(&self, resource: &Resource, name: &str) -> Result<(), NsError> {
        let argument = resource.attribute(resource.key).map_or("name", |attribute| attribute.cli);
        let Some(user) = self.user_of(resource.section(), name, |owner, path| !lets_go(owner, path)) else {
            return Ok(());
        };
        let error = match resource.nitro {
            "lbmonitor" => NsError::with(2131, &[argument, name]),
            "sslcertkey" => NsError::with(1541, &[argument, name]),
            _ => return Err(NsError::in_use(argument, name, &user)),
        };
        Err(error.because(&format!("used by {user}")))
    }

    /// Bindings of an object that goes. (NetScaler's `allowBoundSvcRemoval` is on by default.)
    pub(super) fn forget(&mut self, resource: &Resource, name: &str) {
        let key = match resource.nitro {
            "service" => ("vserver", "services"),
            "servicegroup" => ("vserver", "groups"),
            "lbvserver" => ("lb_group", "vservers"),
            _ => return,
        };
        let Some(Value::Object(tables)) = self.root.get_mut(key.0) else { return };
        for table in tables.values_mut().filter_map(Value::as_object_mut) {
            match table.get_mut(key.1) {
                Some(Value::Array(items)) => items.retain(|item| item.as_str() != Some(name)),
                Some(Value::Object(entries)) => {
                    entries.shift_remove(name);
                }
                _ => continue,
            }
            let is_empty = bound_names(table.get(key.1)).is_empty();
            if is_empty && key.0 == "vserver" {
                table.shift_remove(key.1);
            }
        }
    }

    /// The group that a vserver is in.
    pub(super) fn group_of(&self, vserver: &str) -> Option<&str> {
        self.section("lb_group").find(|(_, table)| names(table, &["vservers", "*"], vserver)).map(|(name, _)| name)
    }

    pub(super) fn rename(
        &mut self,
        resource: &'static Resource,
        arguments: &Map<String, Value>,
    ) -> Result<(), NsError> {
        let name = name_of(resource, arguments)?;
        if !Document::is_renamed(resource) {
            return Err(NsError::no_such_command(&format!("rename {}", resource.said())));
        }
        if !self.has(resource, &name) {
            return Err(self.unknown(resource, &name));
        }
        let new = arguments.get("newname").map(text_of).filter(|new| !new.is_empty());
        let Some(new) = new else { return Err(NsError::missing("newName")) };
        check_name(&new)?;
        self.check_new(resource, &new)?;
        if let Some(user) = gslb::kept_user(self, resource.section(), &name) {
            return Err(NsError::in_use(resource.key, &name, &user));
        }
        let section = resource.section();
        if let Some(Value::Object(tables)) = self.root.get_mut(section) {
            rename_key(tables, &name, &new);
        }
        let target = if section == "cs_vserver" { "vserver" } else { section };
        for (owner, path, _) in NAMED.iter().filter(|(_, _, named)| *named == target) {
            let Some(Value::Object(tables)) = self.root.get_mut(*owner) else { continue };
            for table in tables.values_mut() {
                rename_at(table, path, &name, &new);
            }
        }
        if let Some(prefix) = prefix(section) {
            self.root.values_mut().for_each(|value| rename_terms(value, prefix, &name, &new));
        }
        Ok(())
    }
}

/// What conditions write before the name of such an object.
fn prefix(section: &str) -> Option<&'static str> {
    match section {
        "vserver" | "cs_vserver" => Some("vs:"),
        "service" | "service_group" => Some("svc:"),
        _ => None,
    }
}

/// A section in the words of the command line.
fn said(section: &str) -> String {
    let resource = Resource::all().find(|resource| !resource.is_binding() && resource.section() == section);
    resource.map_or_else(|| section.to_owned(), Resource::said)
}

/// Whether a name stands at a path.
fn names(table: &Map<String, Value>, path: &[&str], name: &str) -> bool {
    let Some((first, rest)) = path.split_first() else { return false };
    let Some(value) = table.get(*first) else { return false };
    stands(value, rest, name)
}

fn stands(value: &Value, path: &[&str], name: &str) -> bool {
    match path {
        [] => value.as_str() == Some(name),
        ["*"] => match value {
            Value::Object(entries) => entries.contains_key(name),
            Value::Array(items) => items.iter().any(|item| item.as_str() == Some(name)),
            other => other.as_str() == Some(name),
        },
        ["*", rest @ ..] => value.as_object().is_some_and(|entries| entries.values().any(|v| stands(v, rest, name))),
        [first, rest @ ..] => value.get(first).is_some_and(|value| stands(value, rest, name)),
    }
}

fn rename_at(value: &mut Value, path: &[&str], name: &str, new: &str) {
    match path {
        [] => {
            if value.as_str() == Some(name) {
                *value = new.into();
            }
        }
        ["*"] => match value {
            Value::Object(entries) => rename_key(entries, name, new),
            Value::Array(items) => items.iter_mut().for_each(|item| rename_at(item, &[], name, new)),
            other => rename_at(other, &[], name, new),
        },
        ["*", rest @ ..] => {
            if let Value::Object(entries) = value {
                entries.values_mut().for_each(|value| rename_at(value, rest, name, new));
            }
        }
        [first, rest @ ..] => {
            if let Some(value) = value.get_mut(first) {
                rename_at(value, rest, name, new);
            }
        }
    }
}

/// In its place among the others.
fn rename_key(entries: &mut Map<String, Value>, name: &str, new: &str) {
    if !entries.contains_key(name) {
        return;
    }
    let old = std::mem::take(entries);
    entries
        .extend(old.into_iter().map(|(key, value)| if key == name { (new.to_owned(), value) } else { (key, value) }));
}

/// `vs:web`, `vs:web!`, `vs:web{…}`; of a group `svc:group/member` too.
fn rest_of_term<'a>(text: &'a str, prefix: &str, name: &str) -> Option<&'a str> {
    let rest = text.strip_prefix(prefix)?.strip_prefix(name)?;
    (rest.is_empty() || rest.starts_with(['!', '{', '/', ' ', '.'])).then_some(rest)
}

fn contains_term(value: &Value, prefix: &str, name: &str) -> bool {
    match value {
        Value::String(text) => rest_of_term(text, prefix, name).is_some(),
        Value::Array(items) => items.iter().any(|item| contains_term(item, prefix, name)),
        Value::Object(entries) => entries.values().any(|value| contains_term(value, prefix, name)),
        _ => false,
    }
}

fn rename_terms(value: &mut Value, prefix: &str, name: &str, new: &str) {
    match value {
        Value::String(text) => {
            if let Some(rest) = rest_of_term(text, prefix, name) {
                *text = format!("{prefix}{new}{rest}");
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| rename_terms(item, prefix, name, new)),
        Value::Object(entries) => entries.values_mut().for_each(|value| rename_terms(value, prefix, name, new)),
        _ => {}
    }
}
