//! Bindings: of services, groups, members, monitors, vservers and certificates.

mod member;

pub(super) use member::member_schema;

use serde_json::{Map, Value, json};

use super::policy::bank_of;
use super::write::{Given, given, is_builtin, refuse, schema, tolerate};
use super::{Document, name_of};
use crate::netscaler::error::NsError;
use crate::netscaler::resource::{Attribute, Place, Resource, Shape};
use crate::netscaler::statement::names_default_suites;
use crate::netscaler::value::{is_true, shortened, text_of};

/// The two objects of a binding and what is said of it.
pub(super) struct Ends {
    pub owner: &'static Resource,
    pub name: String,
    pub table: Map<String, Value>,
    pub other: String,
    pub given: Given,
}

impl Document {
    pub(super) fn bind(&mut self, resource: &'static Resource, arguments: &Map<String, Value>) -> Result<(), NsError> {
        let (resource, arguments) = self.meant(resource, arguments);
        if resource.nitro == "servicegroup_servicegroupmember_binding" {
            return self.bind_member(resource, &arguments);
        }
        if names_default_suites(resource, &arguments) {
            let (owner, name) = (resource.owner().unwrap_or(resource), name_of(resource, &arguments)?);
            return if self.has(owner, &name) { Ok(()) } else { Err(self.unknown(owner, &name)) };
        }
        let ends = self.ends(resource, &arguments)?;
        if let Some(bank) = bank_of(resource) {
            self.policy_of(bank, ends.owner, &ends.other)?;
        }
        for (attribute, value) in &ends.given {
            match attribute.place {
                Place::Only(values) => tolerate(attribute, values, value.as_deref())?,
                Place::Refused(why) => refuse(attribute, why, value.as_deref())?,
                _ => {}
            }
        }
        match resource.nitro {
            "lbvserver_service_binding" => self.bind_service(ends, false),
            "lbvserver_servicegroup_binding" => self.bind_group(ends),
            "csvserver_lbvserver_binding" => self.bind_default(ends),
            "lbgroup_lbvserver_binding" => self.bind_vserver(ends),
            "sslvserver_sslcertkey_binding" => self.bind_certificate(ends),
            "policypatset_pattern_binding" => self.bind_pattern(ends),
            _ if let Some(bank) = bank_of(resource) => self.bind_policy(bank, ends),
            _ => self.bind_monitor(ends, false),
        }
    }

    /// Where a line says a group's name for a service's, the group is meant; NITRO may say so by its attribute.
    fn meant(
        &self,
        resource: &'static Resource,
        arguments: &Map<String, Value>,
    ) -> (&'static Resource, Map<String, Value>) {
        let mut arguments = arguments.clone();
        // `bind lb monitor m g` names a service or a group.
        if resource.nitro == "service_lbmonitor_binding" {
            let name = arguments.get("name").map(text_of).unwrap_or_default();
            if self.table("service", &name).is_none() && self.table("service_group", &name).is_some() {
                arguments.shift_remove("name");
                arguments.insert("servicegroupname".into(), name.into());
                return (Resource::find("servicegroup_lbmonitor_binding").unwrap_or(resource), arguments);
            }
        }
        if resource.nitro != "lbvserver_service_binding" {
            return (self.bank_meant(resource, &arguments).unwrap_or(resource), arguments);
        }
        let group = arguments.get("servicegroupname").map(text_of).filter(|name| !name.is_empty());
        let service = arguments.get("servicename").map(text_of).unwrap_or_default();
        let is_group = self.table("service", &service).is_none() && self.table("service_group", &service).is_some();
        let name = match group {
            Some(name) if service.is_empty() => name,
            _ if is_group => service,
            _ => return (resource, arguments),
        };
        arguments.shift_remove("servicename");
        arguments.insert("servicegroupname".into(), name.into());
        (Resource::find("lbvserver_servicegroup_binding").unwrap_or(resource), arguments)
    }

    fn ends(&self, resource: &'static Resource, arguments: &Map<String, Value>) -> Result<Ends, NsError> {
        let name = name_of(resource, arguments)?;
        let owner = self.owner_of(resource, &name)?;
        let Some(table) = self.table(owner.section(), &name).cloned() else {
            let argument = resource.attribute(resource.key).map_or("name", |attribute| attribute.cli);
            return Err(NsError::no_such_resource(argument, &name));
        };
        let given = given(resource, arguments, false)?;
        let other = given.iter().find(|(attribute, _)| matches!(attribute.place, Place::Other));
        let Some(other) = other.and_then(|(_, value)| value.clone()).filter(|other| !other.is_empty()) else {
            let spelled = resource.attributes().find(|attribute| matches!(attribute.place, Place::Other));
            return Err(NsError::missing(spelled.map_or("", |attribute| attribute.cli)));
        };
        Ok(Ends { owner, name, table, other, given })
    }

    /// The resource of the owner; a vserver that speaks TLS is of either role.
    fn owner_of(&self, resource: &'static Resource, name: &str) -> Result<&'static Resource, NsError> {
        let Shape::Binding { owner, .. } = resource.shape else {
            return Err(NsError::no_such_command(resource.nitro));
        };
        let nitro = match owner {
            "sslvserver" if self.table("cs_vserver", name).is_some() => "csvserver",
            "sslvserver" => "lbvserver",
            other => other,
        };
        Resource::find(nitro).ok_or_else(|| NsError::no_such_command(nitro))
    }

    fn bind_service(&mut self, ends: Ends, again: bool) -> Result<(), NsError> {
        let Ends { owner, name, mut table, other, given } = ends;
        let Some(service) = self.table("service", &other) else {
            return Err(NsError::with(462, &["serviceName", &other]));
        };
        let to = Resource::find("service").unwrap_or(owner);
        self.check_carries(&table, to, service, ["serviceName", &other])?;
        let mut bound = entries(table.get("services"));
        if bound.contains_key(&other) != again {
            let code = if again { 1303 } else { 273 };
            return Err(NsError::with(code, &["serviceName", &other]));
        }
        let old = bound.get(&other);
        let old =
            |key: &str| old.and_then(|old| if key == "weight" && !old.is_object() { Some(old) } else { old.get(key) });
        let weight = number(&given, "weight", 0, 100)?.or_else(|| old("weight").and_then(Value::as_i64)).unwrap_or(1);
        let order = number(&given, "order", 1, 8192)?.or_else(|| old("order").and_then(Value::as_i64)).unwrap_or(1);
        let value = if order == 1 { json!(weight) } else { json!({ "weight": weight, "order": order }) };
        bound.insert(other, value);
        table.insert("services".into(), plain_if_it_can_be(bound, &json!(1)));
        self.store(owner.section(), &name, table);
        Ok(())
    }

    fn bind_group(&mut self, ends: Ends) -> Result<(), NsError> {
        let Ends { owner, name, mut table, other, .. } = ends;
        let Some(group) = self.table("service_group", &other) else {
            return Err(NsError::no_such_resource("serviceGroupName", &other));
        };
        let to = Resource::find("servicegroup").unwrap_or(owner);
        self.check_carries(&table, to, group, ["serviceGroupName", &other])?;
        push(&mut table, "groups", &other, "serviceGroupName")?;
        self.store(owner.section(), &name, table);
        Ok(())
    }

    fn bind_default(&mut self, ends: Ends) -> Result<(), NsError> {
        let Ends { owner, name, mut table, other, .. } = ends;
        self.check_target(&table, &other)?;
        if table.get("default").and_then(Value::as_str).is_some_and(|old| old == other) {
            return Err(NsError::exists("lbvserver", &other));
        }
        table.insert("default".into(), other.into());
        self.store(owner.section(), &name, table);
        Ok(())
    }

    fn bind_vserver(&mut self, ends: Ends) -> Result<(), NsError> {
        let Ends { owner, name, mut table, other, .. } = ends;
        let Some(vserver) = self.table("vserver", &other) else {
            return Err(NsError::with(461, &["vServerName", &other]));
        };
        if let Some(group) = self.group_of(&other) {
            return Err(NsError::exists("vServerName", &other).because(&format!("it is in the group {group}")));
        }
        // Its own goes, as NetScaler lets the group's take its place.
        if vserver.contains_key("persistence") {
            let mut vserver = vserver.clone();
            vserver.shift_remove("persistence");
            self.store("vserver", &other, vserver);
        }
        push(&mut table, "vservers", &other, "vServerName")?;
        self.store(owner.section(), &name, table);
        Ok(())
    }

    fn bind_certificate(&mut self, ends: Ends) -> Result<(), NsError> {
        let Ends { owner, name, mut table, other, given } = ends;
        if self.table("certificate", &other).is_none() {
            return Err(NsError::with(1540, &["certkeyName", &other]));
        }
        if is_ca(&given) {
            super::part::put_tls(&mut table, schema(owner), "client_ca", other.into());
        } else {
            let list = spelled_certificates(&mut table);
            push(&mut table, list, &other, "certkeyName")?;
        }
        self.store(owner.section(), &name, table);
        Ok(())
    }

    fn bind_monitor(&mut self, ends: Ends, again: bool) -> Result<(), NsError> {
        let Ends { owner, name, mut table, other, given } = ends;
        if other.ends_with("-default") && is_builtin(&other) {
            return Err(NsError::with(2165, &["monitorName", &other]));
        }
        if self.table("monitor", &other).is_none() && !is_builtin(&other) {
            return Err(NsError::with(2171, &["monitorName", &other]));
        }
        let defaults = self.defaults(owner.section()).and_then(|defaults| defaults.get("monitors"));
        let mut bound = entries(table.get("monitors").or(defaults));
        if bound.contains_key(&other) != again {
            return Err(NsError::with(if again { 2170 } else { 2133 }, &["monitorName", &other]));
        }
        let mut binding = match bound.get(&other) {
            Some(Value::Object(old)) => old.clone(),
            Some(weight) => Map::from_iter([("weight".to_owned(), weight.clone())]),
            None => Map::new(),
        };
        if let Some(weight) = number(&given, "weight", 1, 100)? {
            binding.insert("weight".into(), weight.into());
        }
        if let Some((attribute, text)) = value_of(&given, "monstate") {
            let state = shortened(["ENABLED", "DISABLED"].into_iter(), text).ok().flatten();
            let state = state.ok_or_else(|| NsError::bad_value(attribute.cli, text))?.into();
            binding.insert("state".into(), state);
        }
        if let Some((attribute, text)) = value_of(&given, "passive") {
            let passive = is_true(text).ok_or_else(|| NsError::bad_value(attribute.cli, text))?;
            binding.insert("passive".into(), passive.into());
        }
        binding.retain(|key, value| !is_plain(key, value));
        let value = match (binding.len(), binding.get("weight")) {
            (0, _) => json!(1),
            (1, Some(weight)) => weight.clone(),
            _ => Value::Object(binding),
        };
        bound.insert(other, value);
        table.insert("monitors".into(), plain_if_it_can_be(bound, &json!(1)));
        self.store(owner.section(), &name, table);
        Ok(())
    }

    pub(super) fn unbind(
        &mut self,
        resource: &'static Resource,
        arguments: &Map<String, Value>,
    ) -> Result<(), NsError> {
        if names_default_suites(resource, arguments) {
            return Err(NsError::unsupported("cipherName", "DEFAULT", "the suites cannot be chosen"));
        }
        let (resource, arguments) = self.meant(resource, arguments);
        if resource.nitro == "servicegroup_servicegroupmember_binding" {
            return self.unbind_member(resource, &arguments);
        }
        let ends = self.ends(resource, &arguments)?;
        if let Some(bank) = bank_of(resource) {
            return self.unbind_policy(bank, ends);
        }
        if resource.nitro == "policypatset_pattern_binding" {
            return self.unbind_pattern(ends);
        }
        let Ends { owner, name, mut table, other, given } = ends;
        let section = owner.section();
        let removed = match resource.nitro {
            "lbvserver_service_binding" => take(&mut table, "services", &other).then_some(()).ok_or(1303),
            "lbvserver_servicegroup_binding" => take(&mut table, "groups", &other).then_some(()).ok_or(258),
            "lbgroup_lbvserver_binding" => {
                let done = take(&mut table, "vservers", &other);
                table.entry("vservers").or_insert_with(|| Value::Array(Vec::new()));
                done.then_some(()).ok_or(258)
            }
            "csvserver_lbvserver_binding" => {
                let is_it = table.get("default").and_then(Value::as_str).is_some_and(|old| old == other);
                if is_it {
                    table.shift_remove("default");
                }
                is_it.then_some(()).ok_or(258)
            }
            "sslvserver_sslcertkey_binding" if is_ca(&given) => {
                super::part::take_ca(&mut table, schema(owner), &other).then_some(()).ok_or(258)
            }
            "sslvserver_sslcertkey_binding" => {
                let list = spelled_certificates(&mut table);
                take(&mut table, list, &other).then_some(()).ok_or(258)
            }
            _ => {
                if other.ends_with("-default") && is_builtin(&other) {
                    return Err(NsError::with(2164, &["monitorName", &other]));
                }
                let defaults = self.defaults(section).and_then(|defaults| defaults.get("monitors")).cloned();
                if let (false, Some(defaults)) = (table.contains_key("monitors"), &defaults) {
                    table.insert("monitors".into(), defaults.clone());
                }
                let done = take(&mut table, "monitors", &other);
                if defaults.is_some() {
                    table.entry("monitors").or_insert_with(|| Value::Array(Vec::new()));
                }
                done.then_some(()).ok_or(2170)
            }
        };
        let argument = resource.attributes().find(|a| matches!(a.place, Place::Other)).map_or("", |a| a.cli);
        removed.map_err(|code| NsError::with(code, &[argument, &other]))?;
        self.store(section, &name, table);
        Ok(())
    }

    /// `set lb vserver web -weight 3 svc1`, `set service web1 -weight 3 mon`: a change of a binding.
    pub(super) fn rebind(&mut self, resource: &'static Resource, name: &str, given: &Given) -> Result<(), NsError> {
        let other_name = if resource.nitro == "lbvserver" { "servicename" } else { "monitor_name_svc" };
        let Some((attribute, other)) = value_of(given, other_name) else {
            let other = resource.attribute(other_name).map_or("", |attribute| attribute.cli);
            return Err(NsError::prerequisite(other, "weight"));
        };
        if let Some((stray, _)) = given.iter().find(|(a, _)| a.nitro != other_name && a.nitro != "weight") {
            return Err(NsError::both(attribute.cli, stray.cli));
        }
        let Some(table) = self.table(resource.section(), name).cloned() else {
            return Err(self.unknown(resource, name));
        };
        let (other, given) = (other.to_owned(), given.clone());
        let ends = Ends { owner: resource, name: name.to_owned(), table, other, given };
        if resource.nitro == "lbvserver" { self.bind_service(ends, true) } else { self.bind_monitor(ends, true) }
    }
}

/// What nobody needs to say of a bound monitor.
fn is_plain(key: &str, value: &Value) -> bool {
    matches!((key, value), ("passive", Value::Bool(false)))
        || (key == "state" && value == "ENABLED")
        || (key == "weight" && *value == json!(1))
}

fn is_ca(given: &Given) -> bool {
    value_of(given, "ca").is_some_and(|(_, text)| is_true(text) == Some(true) || text.is_empty())
}

fn value_of<'a>(given: &'a Given, nitro: &str) -> Option<(&'static Attribute, &'a str)> {
    given.iter().find(|(a, _)| a.nitro == nitro).and_then(|(a, value)| Some((*a, value.as_deref()?)))
}

pub(super) fn number(given: &Given, nitro: &str, low: i64, high: i64) -> Result<Option<i64>, NsError> {
    let Some((attribute, text)) = value_of(given, nitro).filter(|(_, text)| !text.is_empty()) else { return Ok(None) };
    let bad = || NsError::bad_value(attribute.cli, text).because(&format!("{low} to {high}"));
    text.parse::<i64>().ok().filter(|n| (low..=high).contains(n)).map(Some).ok_or_else(bad)
}

/// A list of names as a table of weights; a table as it is.
pub(super) fn entries(value: Option<&Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(entries)) => entries.clone(),
        Some(Value::Array(items)) => items.iter().map(|item| (text_of(item), json!(1))).collect(),
        Some(Value::String(name)) => Map::from_iter([(name.clone(), json!(1))]),
        _ => Map::new(),
    }
}

/// A table in which nobody says more than the name is a list of names.
fn plain_if_it_can_be(bound: Map<String, Value>, plain: &Value) -> Value {
    if bound.values().all(|value| value == plain) {
        return bound.into_iter().map(|(name, _)| Value::String(name)).collect();
    }
    Value::Object(bound)
}

fn push(table: &mut Map<String, Value>, key: &str, name: &str, argument: &str) -> Result<(), NsError> {
    let mut bound = entries(table.get(key));
    if bound.contains_key(name) {
        return Err(NsError::exists(argument, name));
    }
    bound.insert(name.to_owned(), json!(1));
    table.insert(key.to_owned(), plain_if_it_can_be(bound, &json!(1)));
    Ok(())
}

/// Takes a name out of a list or table; the key goes with the last. Whether it was there.
fn take(table: &mut Map<String, Value>, key: &str, name: &str) -> bool {
    let mut bound = entries(table.get(key));
    if bound.shift_remove(name).is_none() {
        return false;
    }
    if bound.is_empty() {
        table.shift_remove(key);
    } else {
        table.insert(key.to_owned(), plain_if_it_can_be(bound, &json!(1)));
    }
    true
}

/// The list of certificates under the schema's spelling.
fn spelled_certificates(table: &mut Map<String, Value>) -> &'static str {
    for alias in ["certificate", "certkey_name"] {
        if let Some(list) = table.shift_remove(alias) {
            table.insert("certificates".into(), list);
        }
    }
    "certificates"
}
