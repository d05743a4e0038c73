//! Objects as NetScaler tells them: every attribute under NITRO's name, its defaults filled in.

use serde_json::{Map, Value};

use super::bind::{entries, member_schema};
use super::check::bound_names;
use super::policy::{bank_of, patterns};
use super::{Document, joint, part};
use crate::model::service::Protocol;
use crate::model::vserver::Vserver;
use crate::netscaler::gslb;
use crate::netscaler::network;
use crate::netscaler::resource::{Attribute, Place, Resource, Shape};
use crate::netscaler::value::{Said, from_toml, get, schema_of, typed};

impl Document {
    /// Every object of a resource, or every binding, in the order of the text. Values are typed as NITRO types them;
    /// attributes that have neither a value nor a default are absent. What a run alone knows (states, counters) is not here.
    pub fn objects(&self, resource: &'static Resource) -> Vec<Map<String, Value>> {
        if resource.is_of_gslb() {
            return gslb::objects(self, resource);
        }
        if resource.is_of_network() {
            return network::objects(self, resource);
        }
        match resource.shape {
            Shape::Object { section } => {
                let names: Vec<&str> = self.section(section).map(|(name, _)| name).collect();
                names.into_iter().filter_map(|name| self.object(resource, name)).collect()
            }
            Shape::Part { .. } | Shape::Binding { .. } => {
                let owners = self.owners(resource);
                let of = |name: &String| match resource.shape {
                    Shape::Part { .. } => self.object(resource, name).into_iter().collect(),
                    _ => self.bindings(resource, name),
                };
                owners.iter().flat_map(of).collect()
            }
            Shape::Single { .. } => self.object(resource, "").into_iter().collect(),
            Shape::Lines | Shape::Network => Vec::new(),
        }
    }

    /// Names of the objects that can carry a part or a binding.
    fn owners(&self, resource: &Resource) -> Vec<String> {
        let speaks_tls = |table: &Map<String, Value>, section: &str| {
            let own = table.get("type").and_then(Value::as_str);
            let word = own.or_else(|| self.defaults(section)?.get("type")?.as_str());
            word.is_some_and(|word| matches!(word, "SSL" | "SSL_TCP"))
        };
        let is_tls = resource.nitro.starts_with("ssl");
        let sections: &[&str] =
            if resource.nitro.starts_with("sslvserver") { &["vserver", "cs_vserver"] } else { &[resource.section()] };
        let all = sections.iter().flat_map(|section| self.section(section).map(move |(name, t)| (*section, name, t)));
        all.filter(|(section, _, table)| !is_tls || speaks_tls(table, section))
            .map(|(_, name, _)| name.into())
            .collect()
    }

    /// One object; `None`: there is none of this name. The name does not matter for what there is once.
    pub fn object(&self, resource: &'static Resource, name: &str) -> Option<Map<String, Value>> {
        let section = match resource.shape {
            Shape::Network => return network::object(self, resource, name),
            Shape::Part { .. } => self.part_section(resource, name)?,
            Shape::Single { section: "features" } => return Some(self.features_map()),
            Shape::Single { section: "appliance" } => {
                let name = self.root.get("appliance").and_then(|appliance| appliance.get("name"));
                let mut map = defaults_of(resource);
                map.insert("hostname".into(), name.cloned().unwrap_or_else(|| "bascule".into()));
                return Some(map);
            }
            Shape::Single { .. } => return Some(defaults_of(resource)),
            _ => resource.section(),
        };
        let table = self.table(section, name)?;
        let mut object = Map::new();
        for attribute in resource.attributes() {
            let text = match self.said(resource, name, table, attribute) {
                Some(said) => said.text,
                None => self.default_of(resource, table, attribute)?,
            };
            if !text.is_empty() {
                object.insert(attribute.nitro.to_owned(), typed(attribute.kind, &text));
            }
        }
        Some(object)
    }

    /// What the configuration says of an attribute, in NetScaler's words; `None`: nothing.
    pub(in crate::netscaler) fn said(
        &self,
        resource: &'static Resource,
        name: &str,
        table: &Map<String, Value>,
        attribute: &Attribute,
    ) -> Option<Said> {
        let exact = |text: &str| Some(Said { text: text.to_owned(), exact: true });
        let section = self.part_section(resource, name).filter(|_| matches!(resource.shape, Shape::Part { .. }));
        let schema = schema_of(section.unwrap_or_else(|| resource.section()))?;
        match attribute.place {
            Place::Name => exact(name),
            Place::At(path, form) => {
                let defaults = || self.defaults(resource.section()).and_then(|defaults| get(defaults, schema, path));
                let value = get(table, schema, path).or_else(defaults)?;
                from_toml(form, value)
            }
            Place::With(_) if matches!(resource.shape, Shape::Part { .. }) => {
                part::read(table, schema, attribute.nitro)
            }
            Place::With(joint) => {
                let at = joint::At { document: self, resource, name, schema };
                joint::read(&at, table, attribute, joint)
            }
            Place::Line | Place::Only(_) | Place::Refused(_) | Place::State | Place::Other => None,
        }
    }

    /// What NetScaler has where nothing is said; empty: it shows nothing.
    fn default_of(&self, resource: &Resource, table: &Map<String, Value>, attribute: &Attribute) -> Option<String> {
        let own = table.get("type").and_then(Value::as_str);
        let kind = own.or_else(|| self.defaults(resource.section())?.get("type")?.as_str()).unwrap_or("");
        let text = match (resource.nitro, attribute.nitro) {
            ("lbvserver" | "csvserver" | "service" | "servicegroup", "clttimeout") => {
                let protocol = Protocol::ALL.into_iter().find(|protocol| protocol.word() == kind);
                protocol.map_or(String::new(), |p| Vserver::default_client_timeout(p).as_secs().to_string())
            }
            ("lbmonitor", "httprequest") if matches!(kind, "HTTP" | "HTTP2" | "HTTP-INLINE") => "HEAD /".into(),
            ("lbmonitor", "action") if kind != "HTTP-INLINE" => String::new(),
            ("servicegroup", "autodisabledelay") => String::new(),
            // Numbers that no list would count.
            ("policypatset", "indextype") if table.get("patterns").is_some_and(Value::is_object) => {
                "User-defined".into()
            }
            _ => match attribute.place {
                Place::Only(values) => values.first().copied().unwrap_or_default().to_owned(),
                _ => attribute.default.to_owned(),
            },
        };
        Some(text)
    }

    fn features_map(&self) -> Map<String, Value> {
        let is_on = |key: &str| self.root.get("features").and_then(|f| f.get(key)) != Some(&Value::Bool(false));
        let all = [
            ("lb", is_on("lb")),
            ("cs", true),
            ("ssl", true),
            ("gslb", is_on("gslb")),
            ("rewrite", true),
            ("responder", true),
        ];
        let names: Value = all.iter().filter(|(_, on)| *on).map(|(name, _)| name.to_ascii_uppercase()).collect();
        let mut map = Map::from_iter([("feature".to_owned(), names)]);
        for name in OTHER_FEATURES {
            map.insert((*name).to_owned(), false.into());
        }
        map.extend(all.iter().map(|(name, on)| ((*name).to_owned(), Value::Bool(*on))));
        map
    }

    /// The bindings of one object, in the order of the text; empty where there are none, and for an object that is not there.
    pub fn bindings(&self, resource: &'static Resource, owner: &str) -> Vec<Map<String, Value>> {
        if resource.is_of_network() {
            return network::bindings(self, resource, owner);
        }
        let section = match resource.nitro {
            "sslvserver_sslcertkey_binding" => self.vserver_section(owner),
            _ => Some(resource.section()),
        };
        let Some((section, table)) = section.and_then(|s| Some((s, self.table(s, owner)?))) else { return Vec::new() };
        let row = |pairs: &[(&str, &str)]| {
            let mut map = Map::from_iter([(resource.key.to_owned(), Value::from(owner))]);
            for (nitro, text) in pairs.iter().filter(|(_, text)| !text.is_empty()) {
                let kind = resource.attribute(nitro).map(|attribute| attribute.kind);
                map.insert((*nitro).to_owned(), kind.map_or_else(|| (*text).into(), |kind| typed(kind, text)));
            }
            map
        };
        if let Some(bank) = bank_of(resource) {
            return self.policies_of(resource, bank, owner, table);
        }
        match resource.nitro {
            "lbvserver_service_binding" => entries(table.get("services"))
                .into_iter()
                .map(|(name, value)| {
                    let (weight, order) = weight_and_order(&value);
                    row(&[("servicename", &name), ("weight", &weight), ("order", &order)])
                })
                .collect(),
            "lbvserver_servicegroup_binding" => {
                bound_names(table.get("groups")).into_iter().map(|name| row(&[("servicegroupname", name)])).collect()
            }
            "lbgroup_lbvserver_binding" => {
                bound_names(table.get("vservers")).into_iter().map(|name| row(&[("vservername", name)])).collect()
            }
            "csvserver_lbvserver_binding" => table
                .get("default")
                .and_then(Value::as_str)
                .map(|name| row(&[("lbvserver", name)]))
                .into_iter()
                .collect(),
            "sslvserver_sslcertkey_binding" => {
                let Some(schema) = schema_of(section) else { return Vec::new() };
                let certificates = bound_names(get(table, schema, &["certificates"])).into_iter();
                let rows = certificates.enumerate().map(|(at, name)| {
                    row(&[("certkeyname", name), ("snicert", if at == 0 { "false" } else { "true" }), ("ca", "false")])
                });
                let ca = get(table, schema, &["tls", "client_ca"]).and_then(Value::as_str);
                rows.chain(ca.map(|name| row(&[("certkeyname", name), ("ca", "true")]))).collect()
            }
            "servicegroup_servicegroupmember_binding" => self.members(resource, owner, table),
            // NITRO writes this one name with a capital letter.
            "policypatset_pattern_binding" => patterns(table)
                .into_iter()
                .map(|(pattern, index)| row(&[("String", &pattern), ("index", &index.to_string())]))
                .collect(),
            _ => {
                let defaults = self.defaults(section).and_then(|defaults| defaults.get("monitors"));
                let bound = entries(table.get("monitors").or(defaults));
                let monitor = |(name, value): (String, Value)| {
                    let weight = value.get("weight").unwrap_or(&value).as_i64().unwrap_or(1).to_string();
                    let state = value.get("state").and_then(Value::as_str).unwrap_or("ENABLED").to_owned();
                    let passive = value.get("passive") == Some(&Value::Bool(true));
                    let passive = if passive { "true" } else { "false" };
                    row(&[("monitor_name", &name), ("weight", &weight), ("monstate", &state), ("passive", passive)])
                };
                bound.into_iter().map(monitor).collect()
            }
        }
    }

    fn members(&self, resource: &'static Resource, group: &str, table: &Map<String, Value>) -> Vec<Map<String, Value>> {
        let Some(schema) = member_schema() else { return Vec::new() };
        let at = joint::At { document: self, resource, name: group, schema };
        let mut rows = Vec::new();
        for (_, member) in table.get("member").and_then(Value::as_object).into_iter().flatten() {
            let Some(member) = member.as_object() else { continue };
            let mut row = Map::from_iter([(resource.key.to_owned(), Value::from(group))]);
            for attribute in resource.attributes() {
                let said = match attribute.place {
                    Place::With(joint) => joint::read(&at, member, attribute, joint),
                    Place::At(path, form) => get(member, schema, path).and_then(|value| from_toml(form, value)),
                    _ => None,
                };
                let text = said.map_or_else(|| attribute.default.to_owned(), |said| said.text);
                if !text.is_empty() {
                    row.insert(attribute.nitro.to_owned(), typed(attribute.kind, &text));
                }
            }
            rows.push(row);
        }
        rows
    }
}

/// Of a bound service: the weight alone, or a table.
pub(super) fn weight_and_order(value: &Value) -> (String, String) {
    let weight = value.get("weight").unwrap_or(value).as_i64().unwrap_or(1);
    let order = value.get("order").and_then(Value::as_i64).unwrap_or(1);
    (weight.to_string(), order.to_string())
}

/// Whether NetScaler has a feature of this name that is never on here.
pub(super) fn is_feature(name: &str) -> bool {
    OTHER_FEATURES.iter().any(|known| known.eq_ignore_ascii_case(name))
}

/// Features of NetScaler that are never on here, as NITRO names them.
const OTHER_FEATURES: &[&str] = &[
    "wl",
    "sp",
    "cr",
    "sc",
    "cmp",
    "pq",
    "hdosp",
    "cf",
    "ic",
    "sslvpn",
    "aaa",
    "ospf",
    "rip",
    "bgp",
    "ipv6pt",
    "appfw",
    "htmlinjection",
    "push",
    "appflow",
    "cloudbridge",
    "isis",
    "ch",
    "appqoe",
    "contentaccelerator",
    "rise",
    "feo",
    "lsn",
    "rdpproxy",
    "rep",
    "urlfiltering",
    "videooptimization",
    "forwardproxy",
    "sslinterception",
    "adaptivetcp",
    "cqa",
    "ci",
];

/// Of a resource of which nothing can be set.
fn defaults_of(resource: &'static Resource) -> Map<String, Value> {
    let mut map = Map::new();
    for attribute in resource.attributes() {
        let text = match attribute.place {
            Place::Only(values) => values.first().copied().unwrap_or_default(),
            _ => attribute.default,
        };
        if !text.is_empty() {
            map.insert(attribute.nitro.to_owned(), typed(attribute.kind, text));
        }
    }
    map
}
