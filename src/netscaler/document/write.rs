//! Objects: add, set, unset, remove.

use serde_json::{Map, Value};

use super::read::is_feature;
use super::{Act, Document, joint, name_of};
use crate::config::schema::Schema;
use crate::netscaler::error::{NsError, Warning};
use crate::netscaler::resource::{Attribute, Joint, Kind, Place, Resource};
use crate::netscaler::table;
use crate::netscaler::value::{get, is_true, kind_at, put, remove, same, schema_of, text_of, to_toml};

/// Whether this is one of NetScaler's own monitors, which are always there.
pub(super) fn is_builtin(monitor: &str) -> bool {
    crate::config::builtin_monitors().any(|builtin| builtin == monitor)
}

/// What a statement says of one object: values by attribute; `None`: back to what it is without.
pub(super) type Given = Vec<(&'static Attribute, Option<String>)>;

impl Document {
    pub(super) fn add(&mut self, resource: &'static Resource, arguments: &Map<String, Value>) -> Result<(), NsError> {
        let name = name_of(resource, arguments)?;
        check_name(&name)?;
        self.check_new(resource, &name)?;
        let given = given(resource, arguments, false)?;
        for needed in resource.required {
            let is_there = |one: &str| given.iter().any(|(attribute, _)| attribute.nitro == one);
            let by_default = |one: &str| self.said_by_defaults(resource, one);
            if !needed.split('|').any(|one| is_there(one) || by_default(one)) {
                let first = needed.split('|').next().and_then(|one| resource.attribute(one));
                return Err(NsError::missing(first.map_or(needed, |attribute| attribute.cli)));
            }
        }
        let mut table = Map::new();
        let acts = self.write(resource, &name, &mut table, &given)?;
        if resource.nitro == "lbgroup" {
            table.insert("vservers".into(), Value::Array(Vec::new()));
        }
        self.check(resource, &name, &table, &given)?;
        self.store(resource.section(), &name, table);
        self.acts.extend(acts);
        Ok(())
    }

    pub(super) fn set(&mut self, resource: &'static Resource, arguments: &Map<String, Value>) -> Result<(), NsError> {
        let name = name_of(resource, arguments)?;
        let Some(table) = self.table(resource.section(), &name).cloned() else {
            return Err(self.unknown(resource, &name));
        };
        let given = given(resource, arguments, false)?;
        if given.is_empty() {
            return Err(NsError::new(431));
        }
        if given.iter().any(|(attribute, _)| matches!(attribute.place, Place::With(Joint::Rebind))) {
            return self.rebind(resource, &name, &given);
        }
        self.rewrite(resource, &name, table, &given)
    }

    pub(super) fn unset(&mut self, resource: &'static Resource, arguments: &Map<String, Value>) -> Result<(), NsError> {
        let name = name_of(resource, arguments)?;
        let Some(table) = self.table(resource.section(), &name) else { return Err(self.unknown(resource, &name)) };
        let given = given(resource, arguments, true)?;
        if given.is_empty() {
            return Err(NsError::new(431));
        }
        if let Some((attribute, _)) = given.iter().find(|(attribute, _)| is_needed(resource, attribute)) {
            return Err(NsError::with(257, &[attribute.cli]));
        }
        let unsets = |nitro: &str| given.iter().any(|(attribute, _)| attribute.nitro == nitro);
        if unsets("backupvserver") && schema(resource).and_then(|s| get(table, s, &["backup"])).is_none() {
            return Err(NsError::new(470));
        }
        self.rewrite(resource, &name, table.clone(), &given)
    }

    fn rewrite(
        &mut self,
        resource: &'static Resource,
        name: &str,
        mut table: Map<String, Value>,
        given: &Given,
    ) -> Result<(), NsError> {
        self.check_fixed(resource, &table, given)?;
        let acts = self.write(resource, name, &mut table, given)?;
        self.check(resource, name, &table, given)?;
        self.store(resource.section(), name, table);
        self.acts.extend(acts);
        Ok(())
    }

    /// Writes what is given into an object's table; the acts that follow.
    fn write(
        &self,
        resource: &'static Resource,
        name: &str,
        table: &mut Map<String, Value>,
        given: &Given,
    ) -> Result<Vec<Act>, NsError> {
        let Some(schema) = schema(resource) else { return Ok(Vec::new()) };
        let mut acts = Vec::new();
        let mut joints: Vec<Joint> = Vec::new();
        for (attribute, value) in given {
            match attribute.place {
                Place::At(path, form) => {
                    let kind = kind_at(schema, path).ok_or_else(|| NsError::no_such_argument(attribute.cli))?;
                    match value.as_deref() {
                        Some(text) if !self.is_default(resource, path, attribute.default, text) => {
                            put(table, schema, path, to_toml(attribute, form, kind, text)?);
                        }
                        _ => remove(table, schema, path),
                    }
                }
                Place::With(joint) => {
                    if !joints.contains(&joint) {
                        joints.push(joint);
                    }
                }
                Place::State => acts.extend(state(resource, name, None, value.as_deref(), attribute)?),
                Place::Only(values) => tolerate(attribute, values, value.as_deref())?,
                Place::Refused(why) => refuse(attribute, why, value.as_deref())?,
                Place::Name | Place::Other | Place::Line => {}
            }
        }
        let at = joint::At { document: self, resource, name, schema };
        joint::write(&at, table, &joints, given)?;
        Ok(acts)
    }

    /// Whether `text` is what NetScaler has anyway, and nothing in the configuration says otherwise.
    pub(super) fn is_default(&self, resource: &Resource, path: &[&str], default: &str, text: &str) -> bool {
        let section = resource.section();
        let otherwise = || self.defaults(section).zip(schema(resource)).and_then(|(d, s)| get(d, s, path)).is_some();
        (text.is_empty() || (!default.is_empty() && same(default, text))) && !otherwise()
    }

    fn said_by_defaults(&self, resource: &Resource, nitro: &str) -> bool {
        let Some(Place::At(path, _)) = resource.attribute(nitro).map(|attribute| attribute.place) else { return false };
        let defaults = self.defaults(resource.section());
        defaults.zip(schema(resource)).and_then(|(d, s)| get(d, s, path)).is_some()
    }

    pub(super) fn remove(
        &mut self,
        resource: &'static Resource,
        arguments: &Map<String, Value>,
    ) -> Result<(), NsError> {
        let name = name_of(resource, arguments)?;
        if !self.has(resource, &name) {
            return Err(self.unknown(resource, &name));
        }
        self.check_unused(resource, &name)?;
        self.forget(resource, &name);
        let section = resource.section();
        if let Some(Value::Object(tables)) = self.root.get_mut(section) {
            tables.shift_remove(&name);
            if tables.is_empty() {
                self.root.shift_remove(section);
            }
        }
        Ok(())
    }

    /// Of an object that is not there.
    pub(super) fn unknown(&self, resource: &Resource, name: &str) -> NsError {
        let argument = resource.attribute(resource.key).map_or("name", |attribute| attribute.cli);
        if resource.nitro == "lbmonitor" && is_builtin(name) {
            let is_default = name.ends_with("-default");
            return NsError::with(if is_default { 2139 } else { 257 }, &[argument, name]);
        }
        NsError::no_such_resource(argument, name)
    }

    /// `enable ns feature`, `disable ns feature`.
    /// What NetScaler has and is not there is warned of, where something else is enabled with it.
    pub(super) fn features(&mut self, arguments: &Map<String, Value>, enable: bool) -> Result<Vec<Warning>, NsError> {
        let list = arguments.get("feature").map(text_of).unwrap_or_default();
        let names: Vec<String> =
            list.split([' ', ',']).filter(|name| !name.is_empty()).map(str::to_ascii_uppercase).collect();
        if names.is_empty() {
            return Err(NsError::missing("feature"));
        }
        let mut settings = Vec::new();
        let mut absent = Vec::new();
        for name in &names {
            match &name[..] {
                "LB" | "LOADBALANCING" => settings.push("lb"),
                "GSLB" => settings.push("gslb"),
                // They are there as soon as something is configured that needs them.
                "CS" | "CONTENTSWITCH" | "SSL" | "REWRITE" | "RESPONDER" if enable => {}
                other if enable && is_feature(other) => absent.push(name),
                _ if enable => return Err(NsError::unsupported("feature", name, "")),
                "CS" | "CONTENTSWITCH" | "SSL" | "REWRITE" | "RESPONDER" => {
                    return Err(NsError::with(257, &["feature", name]).because("it is always on"));
                }
                _ => {}
            }
        }
        if let (Some(first), true) = (absent.first(), absent.len() == names.len()) {
            return Err(NsError::unsupported("feature", first, ""));
        }
        for key in settings {
            let features = self.root.entry("features").or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(features) = features {
                features.insert(key.into(), enable.into());
            }
        }
        let warning = |name: &&String| {
            let error = NsError::with(1067, &[name]).because("not available in this build");
            Warning { code: error.code, message: error.message }
        };
        Ok(absent.iter().map(warning).collect())
    }

    /// `set ns hostName`
    pub(super) fn host_name(&mut self, arguments: &Map<String, Value>) -> Result<(), NsError> {
        let name = arguments.get("hostname").map(text_of).filter(|name| !name.is_empty());
        let Some(name) = name else { return Err(NsError::missing("hostName")) };
        check_name(&name)?;
        if let Value::Object(appliance) = self.root.entry("appliance").or_insert_with(|| Value::Object(Map::new())) {
            appliance.insert("name".into(), name.into());
        }
        Ok(())
    }

    /// Parameters of which none changes anything here.
    pub(super) fn set_nothing(
        &self,
        resource: &'static Resource,
        arguments: &Map<String, Value>,
    ) -> Result<(), NsError> {
        let given = given(resource, arguments, false)?;
        if given.is_empty() {
            return Err(NsError::new(431));
        }
        given.iter().try_for_each(|(attribute, value)| match attribute.place {
            Place::Only(values) => tolerate(attribute, values, value.as_deref()),
            _ => Ok(()),
        })
    }
}

pub(super) fn schema(resource: &Resource) -> Option<&'static Schema> {
    schema_of(resource.section())
}

/// The attributes that a statement names, beside the object's name.
pub(super) fn given(
    resource: &'static Resource,
    arguments: &Map<String, Value>,
    unset: bool,
) -> Result<Given, NsError> {
    let mut given = Given::new();
    for (nitro, value) in arguments.iter().filter(|(nitro, _)| **nitro != *resource.key) {
        let Some(attribute) = resource.attribute(nitro) else { return Err(NsError::no_such_argument(nitro)) };
        let said = (!unset && !value.is_null()).then(|| text_of(value));
        given.push((attribute, said));
    }
    Ok(given)
}

pub(in crate::netscaler) fn tolerate(
    attribute: &Attribute,
    values: &[&str],
    value: Option<&str>,
) -> Result<(), NsError> {
    match value {
        Some(text) if !text.is_empty() && !values.iter().any(|known| same(known, text)) => {
            Err(NsError::unsupported(attribute.cli, text, table::why_only(attribute.nitro)))
        }
        _ => Ok(()),
    }
}

pub(in crate::netscaler) fn refuse(attribute: &Attribute, why: &str, value: Option<&str>) -> Result<(), NsError> {
    match value {
        None | Some("") => Ok(()),
        // What is not asked for.
        Some(text) if attribute.kind == Kind::Boolean && is_true(text) == Some(false) => Ok(()),
        Some(text) => Err(NsError::unsupported(attribute.cli, text, why)),
    }
}

/// `state` is no configuration: DISABLED is an act that follows.
pub(super) fn state(
    resource: &'static Resource,
    name: &str,
    member: Option<&str>,
    value: Option<&str>,
    attribute: &Attribute,
) -> Result<Option<Act>, NsError> {
    let Some(text) = value else { return Ok(None) };
    let act = |enable| Act { resource, name: name.to_owned(), member: member.map(Into::into), enable };
    match &text.to_ascii_uppercase()[..] {
        "ENABLED" => Ok(None),
        "DISABLED" => Ok(Some(act(false))),
        _ => Err(NsError::bad_value(attribute.cli, text)),
    }
}

fn is_needed(resource: &Resource, attribute: &Attribute) -> bool {
    resource.required.iter().flat_map(|needed| needed.split('|')).any(|one| one == attribute.nitro)
}

/// NetScaler's rule for names, and no slash, which tells members of groups apart.
pub(in crate::netscaler) fn check_name(name: &str) -> Result<(), NsError> {
    let first = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let other = |c: char| first(c) || "#. :@=-".contains(c);
    let is_good = name.starts_with(first) && name.chars().all(other) && name.len() <= 127;
    if is_good { Ok(()) } else { Err(NsError::with(1075, &["name", name])) }
}
