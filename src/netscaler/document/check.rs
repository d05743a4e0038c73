//! What NetScaler finds out from the configuration alone.

use std::collections::{HashMap, HashSet};

use serde_json::{Map, Value};

use super::write::{Given, is_builtin, schema};
use super::{Document, joint};
use crate::model::service::Protocol;
use crate::model::vserver::Vserver;
use crate::netscaler::error::NsError;
use crate::netscaler::resource::Resource;
use crate::netscaler::table::why_only;
use crate::netscaler::value::get;

/// NetScaler: backups cascade at most ten deep.
const BACKUPS_MOST: usize = 10;

impl Document {
    /// Whether the name is free.
    pub(super) fn check_new(&self, resource: &Resource, name: &str) -> Result<(), NsError> {
        let argument = resource.attribute(resource.key).map_or("name", |attribute| attribute.cli);
        let section = resource.section();
        let taken = match section {
            "vserver" | "cs_vserver" => self.vserver_section(name).is_some(),
            "monitor" => is_builtin(name) || self.table(section, name).is_some(),
            _ => self.table(section, name).is_some(),
        };
        match (taken, section) {
            (false, _) => Ok(()),
            (true, "server") => Err(NsError::with(1335, &[argument, name])),
            (true, _) => Err(NsError::exists(argument, name)),
        }
    }

    /// Types are said once.
    pub(super) fn check_fixed(
        &self,
        resource: &Resource,
        table: &Map<String, Value>,
        given: &Given,
    ) -> Result<(), NsError> {
        let nitro = if resource.nitro == "lbmonitor" { "type" } else { "servicetype" };
        let Some((attribute, Some(text))) = given.iter().find(|(attribute, _)| attribute.nitro == nitro) else {
            return Ok(());
        };
        let old = self.kind_of(resource, table);
        if old.is_some_and(|old| old.eq_ignore_ascii_case(text)) || text.is_empty() {
            return Ok(());
        }
        if resource.nitro == "lbmonitor" {
            return Err(NsError::with(2155, &[attribute.cli, text]));
        }
        Err(NsError::with(257, &[attribute.cli, text]).because("the type is said when it is added"))
    }

    /// The type of an object, its own or by default.
    fn kind_of<'a>(&'a self, resource: &Resource, table: &'a Map<String, Value>) -> Option<&'a str> {
        let own = table.get("type").and_then(Value::as_str);
        own.or_else(|| self.defaults(resource.section())?.get("type")?.as_str())
    }

    pub(super) fn protocol(&self, resource: &Resource, table: &Map<String, Value>) -> Option<Protocol> {
        let word = self.kind_of(resource, table)?;
        Protocol::ALL.into_iter().find(|protocol| protocol.word() == word)
    }

    /// What an object says with others.
    pub(super) fn check(
        &self,
        resource: &'static Resource,
        name: &str,
        table: &Map<String, Value>,
        given: &Given,
    ) -> Result<(), NsError> {
        match resource.nitro {
            "lbvserver" | "csvserver" => {
                self.check_address(resource, name, table)?;
                self.check_backup(resource, name, table, given)?;
                self.check_dynamic(table)?;
                self.check_default(resource, table)
            }
            "lbmonitor" => self.check_monitor(resource, name, table, given),
            "cspolicy" | "csaction" | "responderpolicy" | "responderaction" | "rewritepolicy" | "rewriteaction"
            | "policyexpression" => {
                self.check_says(resource, table)?;
                self.check_policy(resource, name, table)
            }
            "service" => {
                self.check_endpoint(resource, name, table, given)?;
                self.check_idle(resource, table, given)
            }
            "servicegroup" => self.check_idle(resource, table, given),
            _ => Ok(()),
        }
    }

    /// One address and port is one vserver's.
    fn check_address(&self, resource: &Resource, name: &str, table: &Map<String, Value>) -> Result<(), NsError> {
        let address =
            |table: &Map<String, Value>| table.get("address").and_then(Value::as_str).and_then(joint::socket_of);
        let Some(own) = address(table).filter(|(_, port)| *port != 0) else { return Ok(()) };
        let ours = self.protocol(resource, table);
        for section in ["vserver", "cs_vserver"] {
            for (other, theirs) in self.section(section).filter(|(other, _)| *other != name) {
                if address(theirs) != Some(own) {
                    continue;
                }
                let role = Resource::find(if section == "vserver" { "lbvserver" } else { "csvserver" });
                let theirs = role.and_then(|role| self.protocol(role, theirs));
                let meet = ours
                    .zip(theirs)
                    .is_none_or(|(a, b)| (a.is_stream() && b.is_stream()) || (a.is_datagram() && b.is_datagram()));
                if meet {
                    let (ip, port) = own;
                    return Err(
                        NsError::with(304, &[&ip.to_string(), &port.to_string()]).because(&format!("of {other}"))
                    );
                }
            }
        }
        Ok(())
    }

    /// One address, port and type is one service's. A file may say otherwise; who adds or moves a service does not.
    fn check_endpoint(
        &self,
        resource: &'static Resource,
        name: &str,
        table: &Map<String, Value>,
        given: &Given,
    ) -> Result<(), NsError> {
        let moves = |attribute: &str| matches!(attribute, "ip" | "ipaddress" | "servername" | "port" | "servicetype");
        if !given.iter().any(|(attribute, _)| moves(attribute.nitro)) {
            return Ok(());
        }
        let Some(own) = self.endpoint(resource, table) else { return Ok(()) };
        let same = self
            .section("service")
            .find(|(other, theirs)| *other != name && self.endpoint(resource, theirs).as_ref() == Some(&own));
        match same {
            Some((other, _)) => {
                let (_, host, port) = own;
                Err(NsError::with(273, &["IP", &host, "port", &port.to_string()])
                    .because(&format!("of service {other}")))
            }
            None => Ok(()),
        }
    }

    /// Type, address (of a server that has one, else its name) and port of a service.
    fn endpoint(&self, resource: &'static Resource, table: &Map<String, Value>) -> Option<(String, String, u16)> {
        let (server, address, port) = joint::host_of(table, schema(resource)?);
        let host = match (server, address) {
            (Some(server), _) => {
                let of_server = self.table("server", &server);
                let keys = ["address", "ip_address", "domain"];
                let host = of_server.and_then(|t| keys.iter().find_map(|key| t.get(*key)?.as_str()));
                host.map(str::to_owned).unwrap_or(server)
            }
            (None, address) => address?,
        };
        Some((self.kind_of(resource, table).unwrap_or_default().to_owned(), host.to_ascii_lowercase(), port?))
    }

    /// Services of the type, address and port of one that stands before them, with that one.
    pub(in crate::netscaler) fn twins(&self) -> HashMap<String, String> {
        let Some(resource) = Resource::find("service") else { return HashMap::new() };
        let mut first = HashMap::new();
        let mut twins = HashMap::new();
        for (name, table) in self.section("service") {
            let Some(endpoint) = self.endpoint(resource, table) else { continue };
            match first.get(&endpoint) {
                Some(first) => drop(twins.insert(name.to_owned(), String::clone(first))),
                None => drop(first.insert(endpoint, name.to_owned())),
            }
        }
        twins
    }

    fn check_backup(
        &self,
        resource: &Resource,
        name: &str,
        table: &Map<String, Value>,
        given: &Given,
    ) -> Result<(), NsError> {
        let Some(schema) = schema(resource) else { return Ok(()) };
        let down = get(table, schema, &["disable_primary_on_down"]) == Some(&Value::Bool(true));
        let Some(backup) = get(table, schema, &["backup"]).and_then(Value::as_str) else {
            return if down { Err(NsError::with(1911, &["disablePrimaryOnDown"])) } else { Ok(()) };
        };
        if !given.iter().any(|(attribute, _)| attribute.nitro == "backupvserver") {
            return Ok(());
        }
        if backup == name {
            return Err(NsError::with(2144, &["backupVServer", backup]));
        }
        let Some(other) = self.table("vserver", backup) else {
            let code = if self.table("cs_vserver", backup).is_some() { 741 } else { 430 };
            return Err(NsError::with(code, &["backupVServer", backup]));
        };
        let theirs = Resource::find("lbvserver").and_then(|lb| self.protocol(lb, other));
        if self.protocol(resource, table).zip(theirs).is_some_and(|(ours, theirs)| !ours.carries(theirs)) {
            return Err(NsError::with(478, &["backupVServer", backup]));
        }
        let mut seen = HashSet::from([name]);
        let mut next = Some(backup);
        while let Some(at) = next {
            if !seen.insert(at) {
                return Err(NsError::with(2144, &["backupVServer", backup]));
            }
            if seen.len() > BACKUPS_MOST + 1 {
                let why = format!("the chain has more than {BACKUPS_MOST} backups");
                return Err(NsError::with(350, &["backupVServer", backup]).because(&why));
            }
            next = self.table("vserver", at).and_then(|table| get(table, schema, &["backup"])).and_then(Value::as_str);
        }
        // Whoever has this one as a backup gets the longer chain too.
        if self.longest_to(name, seen.len()) > BACKUPS_MOST + 1 {
            let why = format!("a chain that leads here would have more than {BACKUPS_MOST} backups");
            return Err(NsError::with(350, &["backupVServer", backup]).because(&why));
        }
        Ok(())
    }

    /// The length of the longest chain that leads to `name`, whose own has `own` vservers.
    fn longest_to(&self, name: &str, own: usize) -> usize {
        let mut longest = own;
        let mut front = vec![name.to_owned()];
        for steps in 1..=BACKUPS_MOST + 1 {
            let mut before = Vec::new();
            for section in ["vserver", "cs_vserver"] {
                let leads = |table: &Map<String, Value>| {
                    let to = ["backup", "backup_vserver"].iter().find_map(|key| table.get(*key)?.as_str());
                    to.is_some_and(|to| front.iter().any(|one| one == to))
                };
                before.extend(self.section(section).filter(|(_, t)| leads(t)).map(|(name, _)| name.to_owned()));
            }
            if before.is_empty() {
                break;
            }
            longest = own + steps;
            front = before;
        }
        longest
    }

    /// DYNAMICCONNECTION needs a limit of every service.
    fn check_dynamic(&self, table: &Map<String, Value>) -> Result<(), NsError> {
        let word = table.get("spillover").and_then(|s| s.get("method")).and_then(Value::as_str);
        if word != Some("DYNAMICCONNECTION") {
            return Ok(());
        }
        let limit = |section: &str, name: &str| {
            let own = self.table(section, name).and_then(|table| table.get("max_client"));
            own.or_else(|| self.defaults("service")?.get("max_client")).and_then(Value::as_u64).unwrap_or(0)
        };
        let services = bound_names(table.get("services")).into_iter().map(|name| ("service", name));
        let groups = bound_names(table.get("groups")).into_iter().map(|name| ("service_group", name));
        match services.chain(groups).find(|(section, name)| limit(section, name) == 0) {
            Some((_, name)) => Err(NsError::with(1313, &[name])),
            None => Ok(()),
        }
    }

    /// Idle clients are the vserver's business: of a service only NetScaler's own default for its type is taken.
    fn check_idle(
        &self,
        resource: &'static Resource,
        table: &Map<String, Value>,
        given: &Given,
    ) -> Result<(), NsError> {
        let Some((attribute, Some(text))) = given.iter().find(|(attribute, _)| attribute.nitro == "clttimeout") else {
            return Ok(());
        };
        let usual = self.protocol(resource, table).map(|p| Vserver::default_client_timeout(p).as_secs().to_string());
        match usual {
            Some(usual) if *text != usual && !text.is_empty() => {
                Err(NsError::unsupported(attribute.cli, text, why_only(attribute.nitro)))
            }
            _ => Ok(()),
        }
    }

    fn check_default(&self, resource: &Resource, table: &Map<String, Value>) -> Result<(), NsError> {
        match table.get("default").and_then(Value::as_str) {
            Some(default) if resource.nitro == "csvserver" => self.check_target(table, default),
            _ => Ok(()),
        }
    }

    /// What content switching hands to.
    pub(super) fn check_target(&self, table: &Map<String, Value>, target: &str) -> Result<(), NsError> {
        let Some(other) = self.table("vserver", target) else {
            return Err(NsError::with(461, &["lbvserver", target]));
        };
        let (cs, lb) = (Resource::find("csvserver"), Resource::find("lbvserver"));
        let ours = cs.and_then(|cs| self.protocol(cs, table));
        let theirs = lb.and_then(|lb| self.protocol(lb, other));
        match ours.zip(theirs) {
            Some((ours, theirs)) if !ours.carries(theirs) => Err(NsError::with(478, &["lbvserver", target])),
            _ => Ok(()),
        }
    }

    /// Whether a vserver can have a service or group of this table.
    pub(super) fn check_carries(
        &self,
        vserver: &Map<String, Value>,
        to: &'static Resource,
        other: &Map<String, Value>,
        argument: [&str; 2],
    ) -> Result<(), NsError> {
        let ours = Resource::find("lbvserver").and_then(|lb| self.protocol(lb, vserver));
        match ours.zip(self.protocol(to, other)) {
            Some((ours, theirs)) if !ours.carries(theirs) => Err(NsError::with(1304, &argument)),
            _ => Ok(()),
        }
    }

    fn check_monitor(
        &self,
        resource: &'static Resource,
        name: &str,
        table: &Map<String, Value>,
        given: &Given,
    ) -> Result<(), NsError> {
        let Some(schema) = schema(resource) else { return Ok(()) };
        let at = joint::At { document: self, resource, name, schema };
        let [interval, timeout] = ["interval", "resptimeout"].map(|nitro| joint::time_of(&at, table, nitro));
        if interval.zip(timeout).is_some_and(|(interval, timeout)| timeout >= interval) {
            return Err(NsError::new(2128));
        }
        let number = |path: &str| at.effective(table, &[path]).and_then(Value::as_u64);
        if number("failure_retries").is_some_and(|m| m > 0 && m >= number("retries").unwrap_or(3)) {
            return Err(NsError::new(2196));
        }
        let kind = self.kind_of(resource, table).unwrap_or("TCP");
        for (attribute, value) in given {
            let crate::netscaler::resource::Place::At(path, _) = attribute.place else { continue };
            let is_of_kinds = crate::config::schema::keys_of_kinds().any(|key| path == [key]);
            let is_there = value.is_some() && get(table, schema, path).is_some();
            if is_of_kinds && is_there && !crate::config::schema::kind_has_key(kind, path[0]) {
                let why = format!("a monitor of type {kind} has no use for it");
                return Err(NsError::with(1090, &[attribute.cli]).because(&why));
            }
        }
        Ok(())
    }
}

/// Names of a list, or of a table keyed by them.
pub(super) fn bound_names(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        Some(Value::Object(entries)) => entries.keys().map(String::as_str).collect(),
        Some(Value::String(name)) => vec![name],
        _ => Vec::new(),
    }
}
