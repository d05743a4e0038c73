//! Members of service groups.

use serde_json::{Map, Value};

use super::super::write::{Given, given, refuse, state, tolerate};
use super::super::{Document, joint, name_of};
use crate::config::schema::{Kind, Schema};
use crate::netscaler::error::NsError;
use crate::netscaler::resource::{Joint, Place, Resource};
use crate::netscaler::value::{kind_at, put, remove, schema_of, to_toml};

impl Document {
    pub(super) fn bind_member(
        &mut self,
        resource: &'static Resource,
        arguments: &Map<String, Value>,
    ) -> Result<(), NsError> {
        let (group, mut table) = self.group(resource, arguments)?;
        let given = given(resource, arguments, false)?;
        let member_schema = member_schema().ok_or_else(|| NsError::invalid("serviceGroupName"))?;
        let mut member = Map::new();
        say(&mut member, member_schema, &given)?;
        let mut disabled = false;
        for (attribute, value) in given.iter().filter(|(attribute, _)| matches!(attribute.place, Place::State)) {
            disabled = state(resource, &group, None, value.as_deref(), attribute)?.is_some();
        }
        let at = joint::At { document: self, resource, name: &group, schema: member_schema };
        joint::write(&at, &mut member, &[Joint::Host], &given)?;
        let (server, address, port) = joint::host_of(&member, member_schema);
        let Some(host) = server.as_deref().or(address.as_deref()) else { return Err(NsError::missing("IP")) };
        let is_looked_up = self.is_srv(server.as_deref());
        if port.is_none() && !is_looked_up {
            return Err(NsError::missing("port"));
        }
        if self.member_at(&table, member_schema, host, port).is_some() {
            let port = port.map(|port| port.to_string()).unwrap_or_default();
            return Err(NsError::exists("serviceGroupName", &format!("{group}, {host}, {port}")));
        }
        let name = joint::member_name(host, port);
        let members = table.entry("member").or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(members) = members {
            members.insert(name.clone(), Value::Object(member));
        }
        self.store("service_group", &group, table);
        if disabled && let Some(owner) = resource.owner() {
            self.acts.push(super::super::Act { resource: owner, name: group, member: Some(name), enable: false });
        }
        Ok(())
    }

    pub(super) fn unbind_member(
        &mut self,
        resource: &'static Resource,
        arguments: &Map<String, Value>,
    ) -> Result<(), NsError> {
        let (group, mut table) = self.group(resource, arguments)?;
        let given = given(resource, arguments, false)?;
        let name = self.said_member(&group, &table, &given)?;
        if let Some(Value::Object(members)) = table.get_mut("member") {
            members.shift_remove(&name);
            if members.is_empty() {
                table.shift_remove("member");
            }
        }
        self.store("service_group", &group, table);
        Ok(())
    }

    /// `set serviceGroup web 192.0.2.1 80 -weight 3`: a change of a member.
    pub(in crate::netscaler::document) fn set_member(
        &mut self,
        resource: &'static Resource,
        arguments: &Map<String, Value>,
    ) -> Result<(), NsError> {
        let (group, mut table) = self.group(resource, arguments)?;
        let given = given(resource, arguments, false)?;
        let name = self.said_member(&group, &table, &given)?;
        if !given.iter().any(|(attribute, _)| matches!(attribute.place, Place::At(..))) {
            return Err(NsError::new(431));
        }
        let member = table.get_mut("member").and_then(|members| members.get_mut(&name)).and_then(Value::as_object_mut);
        if let Some((member, schema)) = member.zip(member_schema()) {
            say(member, schema, &given)?;
        }
        self.store("service_group", &group, table);
        Ok(())
    }

    /// What the TOML calls the member that a statement names by its server or address and port.
    fn said_member(&self, group: &str, table: &Map<String, Value>, given: &Given) -> Result<String, NsError> {
        let value = |nitro: &str| {
            let found = given.iter().find(|(attribute, _)| attribute.nitro == nitro);
            found.and_then(|(_, value)| value.as_deref()).filter(|text| !text.is_empty())
        };
        let Some(host) = value("servername").or_else(|| value("ip")) else { return Err(NsError::missing("IP")) };
        let port = match value("port").filter(|text| *text != "0") {
            Some(text) => Some(text.parse::<u16>().map_err(|_| NsError::bad_value("port", text))?),
            None => None,
        };
        let name = member_schema().and_then(|schema| self.member_at(table, schema, host, port));
        name.ok_or_else(|| {
            let port = port.map(|port| port.to_string()).unwrap_or_default();
            NsError::no_such_resource("serviceGroupName", &format!("{group}, {host}, {port}"))
        })
    }

    fn group(
        &self,
        resource: &'static Resource,
        arguments: &Map<String, Value>,
    ) -> Result<(String, Map<String, Value>), NsError> {
        let name = name_of(resource, arguments)?;
        match self.table("service_group", &name) {
            Some(table) => Ok((name, table.clone())),
            None => Err(NsError::no_such_resource("serviceGroupName", &name)),
        }
    }

    /// The members of a group: what the TOML calls them, and what a line would.
    pub(in crate::netscaler) fn member_names(&self, group: &Map<String, Value>) -> Vec<(String, String)> {
        let Some(schema) = member_schema() else { return Vec::new() };
        let members = group.get("member").and_then(Value::as_object).into_iter().flatten();
        let called = |(name, member): (&String, &Value)| {
            let (server, address, port) = joint::host_of(member.as_object()?, schema);
            Some((name.clone(), joint::member_name(&server.or(address)?, port)))
        };
        members.filter_map(called).collect()
    }

    /// What a member on a server, or an address, and a port is called.
    pub(in crate::netscaler) fn member_called(host: &str, port: Option<u16>) -> String {
        joint::member_name(host, port)
    }

    fn is_srv(&self, server: Option<&str>) -> bool {
        let table = server.and_then(|server| self.table("server", server));
        table.and_then(|table| table.get("query_type")).and_then(Value::as_str) == Some("SRV")
    }

    /// The member that stands on a server (or address) and port; without a port the only one there.
    fn member_at(
        &self,
        group: &Map<String, Value>,
        schema: &'static Schema,
        host: &str,
        port: Option<u16>,
    ) -> Option<String> {
        let ip = |server: &str| {
            let table = self.table("server", server)?;
            ["address", "ip_address", "domain"].iter().find_map(|key| table.get(*key)?.as_str()).map(str::to_owned)
        };
        let wanted = [Some(host.to_owned()), ip(host)];
        let mut found = Vec::new();
        for (name, member) in group.get("member").and_then(Value::as_object).into_iter().flatten() {
            let Some(member) = member.as_object() else { continue };
            let (server, address, its_port) = joint::host_of(member, schema);
            let places = [server.clone(), address, server.as_deref().and_then(ip)];
            let is_there = places.iter().flatten().any(|place| wanted.iter().flatten().any(|one| one == place));
            if is_there && (port.is_none() || port == its_port) {
                found.push(name.clone());
            }
        }
        if port.is_none() && found.len() > 1 {
            return None;
        }
        found.into_iter().next()
    }
}

/// Writes what is said of a member beside where it is.
fn say(member: &mut Map<String, Value>, schema: &'static Schema, given: &Given) -> Result<(), NsError> {
    for (attribute, value) in given {
        match attribute.place {
            Place::At(path, form) => {
                let kind = kind_at(schema, path).ok_or_else(|| NsError::no_such_argument(attribute.cli))?;
                match value.as_deref() {
                    Some(text) if !text.is_empty() && text != attribute.default && text != "None" => {
                        put(member, schema, path, to_toml(attribute, form, kind, text)?);
                    }
                    _ => remove(member, schema, path),
                }
            }
            Place::Only(values) => tolerate(attribute, values, value.as_deref())?,
            Place::Refused(why) => refuse(attribute, why, value.as_deref())?,
            _ => {}
        }
    }
    Ok(())
}

/// The keys of a member.
pub(in crate::netscaler::document) fn member_schema() -> Option<&'static Schema> {
    match kind_at(schema_of("service_group")?, &["member"])? {
        Kind::Map(Kind::Table(schema)) => Some(*schema),
        _ => None,
    }
}
