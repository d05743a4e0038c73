//! A configuration on which statements are carried out.
//!
//! It is the JSON form of the TOML ([`to_json`](crate::config::edit::to_json)). A statement changes all that it says or
//! nothing. Whatever NetScaler finds out from the configuration alone is found out here and told with its number; the
//! rest is found by loading the configuration that comes out. What a statement does not touch stays as it is written.

mod bind;
mod check;
mod clear;
mod joint;
mod part;
mod policy;
mod read;
mod references;
mod write;

use serde_json::{Map, Value};

pub(super) use write::{check_name, refuse, tolerate};

use super::error::{NsError, Warning};
use super::gslb;
use super::network;
use super::resource::{Resource, Shape};
use super::statement::{Statement, Verb};
use super::value::{of_object, text_of};
use crate::config::edit;
pub(super) use policy::notes;

/// Members of service groups, whose bindings can be set.
const MEMBER: &str = "servicegroup_servicegroupmember_binding";

/// A configuration, section by section.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Document {
    root: Map<String, Value>,
    acts: Vec<Act>,
}

/// What a statement asks for beside configuration: state, which is carried out on the running appliance afterwards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Act {
    /// `lbvserver`, `csvserver`, `service`, `servicegroup`, `server`
    pub resource: &'static Resource,
    pub name: String,
    /// The member of a service group.
    pub member: Option<String>,
    pub enable: bool,
}

// === impl Document ===

impl Document {
    /// Errors: no TOML.
    pub fn from_toml(text: &str) -> Result<Document, String> {
        Document::from_json(edit::to_json(text)?)
    }

    /// Errors: no object.
    pub fn from_json(json: Value) -> Result<Document, String> {
        match json {
            Value::Object(root) => Ok(Document { root, acts: Vec::new() }),
            _ => Err("a configuration is a JSON object".into()),
        }
    }

    pub fn to_json(&self) -> Value {
        Value::Object(self.root.clone())
    }

    /// The sections, for looking at.
    pub fn root(&self) -> &Map<String, Value> {
        &self.root
    }

    /// Of the sections themselves.
    pub fn from_root(root: Map<String, Value>) -> Document {
        Document { root, acts: Vec::new() }
    }

    pub fn into_root(self) -> Map<String, Value> {
        self.root
    }

    pub fn into_json(self) -> Value {
        Value::Object(self.root)
    }

    /// As TOML, without comments; [`merge`](edit::merge) brings those of an older text back.
    pub fn to_toml(&self) -> Result<String, String> {
        edit::from_json(&Value::Object(self.root.clone()))
    }

    /// The acts that statements have asked for since the last call, in order.
    pub fn take_acts(&mut self) -> Vec<Act> {
        std::mem::take(&mut self.acts)
    }

    /// Carries out a statement. On an error nothing is changed.
    pub fn execute(&mut self, statement: &Statement) -> Result<Vec<Warning>, NsError> {
        let resource = statement.resource;
        let arguments = normal(&statement.arguments);
        if resource.is_of_gslb() {
            if gslb::append(&mut self.root, resource, statement.verb, &arguments) {
                return Ok(Vec::new());
            }
            let mut next = Document::from_root(self.root.clone());
            gslb::execute(&mut next, resource, statement.verb, &arguments)?;
            self.root = next.root;
            return Ok(Vec::new());
        }
        if resource.is_of_network() {
            let mut next = Document::from_root(self.root.clone());
            network::execute(&mut next, resource, statement.verb, &arguments)?;
            self.root = next.root;
            return Ok(Vec::new());
        }
        match (resource.shape, statement.verb) {
            (Shape::Binding { .. }, Verb::Set) if resource.nitro == MEMBER => self.set_member(resource, &arguments)?,
            (Shape::Binding { .. }, Verb::Add | Verb::Set | Verb::Bind) => self.bind(resource, &arguments)?,
            (Shape::Binding { .. }, Verb::Remove | Verb::Unbind | Verb::Unset) => self.unbind(resource, &arguments)?,
            (Shape::Object { .. }, Verb::Add) => self.add(resource, &arguments)?,
            (Shape::Object { .. }, Verb::Set) => self.set(resource, &arguments)?,
            (Shape::Object { .. }, Verb::Unset) => self.unset(resource, &arguments)?,
            (Shape::Object { .. }, Verb::Remove) => self.remove(resource, &arguments)?,
            (Shape::Object { .. }, Verb::Rename) => self.rename(resource, &arguments)?,
            (Shape::Part { .. }, Verb::Set) => self.set_part(resource, &arguments, true)?,
            (Shape::Part { .. }, Verb::Unset) => self.set_part(resource, &arguments, false)?,
            (Shape::Single { section: "features" }, Verb::Set) => return self.features(&arguments, true),
            (Shape::Single { section: "features" }, Verb::Unset) => return self.features(&arguments, false),
            (Shape::Single { section: "appliance" }, Verb::Set) => self.host_name(&arguments)?,
            (Shape::Single { .. }, Verb::Remove) if resource.nitro == "nsconfig" => self.clear(&arguments)?,
            (Shape::Single { .. }, Verb::Set | Verb::Unset) => self.set_nothing(resource, &arguments)?,
            (_, verb) => return Err(NsError::no_such_command(&format!("{} {}", verb.word(), resource.said()))),
        }
        Ok(self.warnings(resource, statement.verb))
    }

    /// Whether an object of the resource has this name.
    pub fn has(&self, resource: &Resource, name: &str) -> bool {
        match resource.shape {
            Shape::Part { .. } => self.part_section(resource, name).is_some(),
            Shape::Lines => gslb::has(self, resource, name),
            Shape::Network => network::has(self, resource, name),
            _ => self.table(resource.section(), name).is_some(),
        }
    }

    /// Names of a resource's objects, in the order of the text.
    pub fn names(&self, resource: &Resource) -> Vec<&str> {
        self.section(resource.section()).map(|(name, _)| name).collect()
    }

    fn section<'a>(&'a self, section: &str) -> impl Iterator<Item = (&'a str, &'a Map<String, Value>)> + use<'a> {
        let entries = self.root.get(section).and_then(Value::as_object).into_iter().flatten();
        entries.filter_map(|(name, value)| Some((name.as_str(), value.as_object()?)))
    }

    pub(super) fn table(&self, section: &str, name: &str) -> Option<&Map<String, Value>> {
        of_object(&self.root, section, name)
    }

    /// `[defaults.…]` of a section.
    fn defaults(&self, section: &str) -> Option<&Map<String, Value>> {
        let key = if section == "service_group" { "service" } else { section };
        self.root.get("defaults")?.get(key)?.as_object()
    }

    /// Writes an object's table, at the end of its section where it is new.
    fn store(&mut self, section: &str, name: &str, table: Map<String, Value>) {
        let tables = self.root.entry(section.to_owned()).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(tables) = tables {
            tables.insert(name.to_owned(), Value::Object(table));
        }
    }

    /// The section in which a vserver of either role stands.
    fn vserver_section(&self, name: &str) -> Option<&'static str> {
        ["vserver", "cs_vserver"].into_iter().find(|section| self.table(section, name).is_some())
    }

    /// NetScaler warns where what is configured cannot run.
    pub(crate) fn warnings(&self, resource: &Resource, verb: Verb) -> Vec<Warning> {
        let is_off = self.root.get("features").and_then(|f| f.get("lb")) == Some(&Value::Bool(false));
        let configures = matches!(verb, Verb::Add | Verb::Set | Verb::Bind);
        if is_off && configures && resource.section() == "vserver" {
            let error = NsError::with(1067, &["LB"]);
            return vec![Warning { code: error.code, message: error.message }];
        }
        Vec::new()
    }
}

/// Names of attributes as the tables have them.
fn normal(arguments: &Map<String, Value>) -> Map<String, Value> {
    arguments.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone())).collect()
}

/// The name of the object that is meant.
fn name_of(resource: &Resource, arguments: &Map<String, Value>) -> Result<String, NsError> {
    let spelled = resource.attribute(resource.key).map_or(resource.key, |attribute| attribute.cli);
    match arguments.get(resource.key).map(text_of) {
        Some(name) if !name.is_empty() => Ok(name),
        _ => Err(NsError::missing(spelled)),
    }
}

#[cfg(test)]
mod tests;
