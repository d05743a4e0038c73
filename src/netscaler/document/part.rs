//! How vservers, services and groups speak TLS: a part of their tables.

use serde_json::{Map, Value};

use super::write::{Given, given, refuse, tolerate};
use super::{Document, name_of};
use crate::config::schema::Schema;
use crate::netscaler::error::NsError;
use crate::netscaler::resource::{Attribute, Place, Resource};
use crate::netscaler::value::{Said, get, is_true, put, remove, schema_of, shortened};

/// The first switches it.
const HSTS: [&str; 4] = ["hsts", "maxage", "includesubdomains", "preload"];
/// Seconds.
const MAX_AGE_MOST: u64 = 50 * 365 * 24 * 3_600;

impl Document {
    /// `set ssl vserver`, `set ssl service`.
    pub(super) fn set_part(
        &mut self,
        resource: &'static Resource,
        arguments: &Map<String, Value>,
        set: bool,
    ) -> Result<(), NsError> {
        let name = name_of(resource, arguments)?;
        let Some(section) = self.part_section(resource, &name) else { return Err(self.unknown(resource, &name)) };
        let Some((mut table, schema)) = self.table(section, &name).cloned().zip(schema_of(section)) else {
            return Err(self.unknown(resource, &name));
        };
        let given = given(resource, arguments, !set)?;
        if given.is_empty() {
            return Err(NsError::new(431));
        }
        for (attribute, value) in &given {
            match attribute.place {
                Place::Only(values) => tolerate(attribute, values, value.as_deref())?,
                Place::Refused(why) => refuse(attribute, why, value.as_deref())?,
                _ => {}
            }
        }
        if resource.nitro == "sslvserver" {
            vserver(&mut table, schema, &given)?;
            self.hsts(section, &mut table, schema, &given)?;
        } else {
            service(&mut table, schema, &given)?;
        }
        self.store(section, &name, table);
        Ok(())
    }

    /// `-HSTS ENABLED -maxage 31536000 -IncludeSubdomains YES -preload YES`: the last three say something of the first.
    fn hsts(
        &self,
        section: &str,
        table: &mut Map<String, Value>,
        schema: &'static Schema,
        given: &Given,
    ) -> Result<(), NsError> {
        let Some(first) =
            given.iter().map(|(attribute, _)| *attribute).find(|attribute| HSTS.contains(&attribute.nitro))
        else {
            return Ok(());
        };
        let on = switch(given, "hsts")?.unwrap_or(get(table, schema, &["tls", "hsts"]).is_some());
        let says_more = |(attribute, value): &(&'static Attribute, Option<String>)| {
            let value = value.as_deref().unwrap_or_default();
            HSTS[1..].contains(&attribute.nitro) && !value.is_empty() && !value.eq_ignore_ascii_case(attribute.default)
        };
        if !on {
            if let Some((attribute, _)) = given.iter().find(|one| says_more(one)) {
                return Err(NsError::prerequisite("HSTS", attribute.cli));
            }
            remove(table, schema, &["tls", "hsts"]);
            return Ok(());
        }
        let type_of = |table: &Map<String, Value>| table.get("type").and_then(Value::as_str).map(str::to_owned);
        let kind = type_of(table).or_else(|| self.defaults(section).and_then(type_of));
        if kind.as_deref() != Some("SSL") {
            return Err(NsError::unsupported(
                first.cli,
                "ENABLED",
                "it is a field of answers: the vserver must be of type SSL",
            ));
        }
        let path = |key: &'static str| ["tls", "hsts", key];
        if let Some((attribute, value)) = said(given, "maxage") {
            let text = value.filter(|text| !text.is_empty()).unwrap_or(attribute.default);
            let seconds: u32 = text.parse().map_err(|_| NsError::bad_value(attribute.cli, text))?;
            if u64::from(seconds) > MAX_AGE_MOST {
                return Err(NsError::unsupported(attribute.cli, text, "50 years are the most"));
            }
            put(table, schema, &path("max_age"), format!("{seconds}s").into());
        } else if get(table, schema, &path("max_age")).is_none() {
            put(table, schema, &path("max_age"), "0s".into());
        }
        for (nitro, key) in [("includesubdomains", "include_subdomains"), ("preload", "preload")] {
            match switch(given, nitro)? {
                Some(true) => put(table, schema, &path(key), true.into()),
                Some(false) => remove(table, schema, &path(key)),
                None => {}
            }
        }
        Ok(())
    }

    /// The section of the object that a part belongs to.
    pub(super) fn part_section(&self, resource: &Resource, name: &str) -> Option<&'static str> {
        match resource.nitro {
            "sslvserver" => self.vserver_section(name),
            _ => Some(resource.section()).filter(|section| self.table(section, name).is_some()),
        }
    }
}

fn said<'a>(given: &'a Given, nitro: &str) -> Option<(&'static Attribute, Option<&'a str>)> {
    given.iter().find(|(attribute, _)| attribute.nitro == nitro).map(|(a, value)| (*a, value.as_deref()))
}

/// ENABLED or DISABLED; `None` where it is not named. Unset: the default.
fn switch(given: &Given, nitro: &str) -> Result<Option<bool>, NsError> {
    match said(given, nitro) {
        None => Ok(None),
        Some((attribute, value)) => {
            let text = value.filter(|text| !text.is_empty()).unwrap_or(attribute.default);
            is_true(text).map(Some).ok_or_else(|| NsError::bad_value(attribute.cli, text))
        }
    }
}

fn vserver(table: &mut Map<String, Value>, schema: &'static Schema, given: &Given) -> Result<(), NsError> {
    versions(table, schema, given, true)?;
    if let Some(on) = switch(given, "sessreuse")? {
        say(table, schema, "resumption", (!on).then_some(Value::Bool(false)));
    }
    let asks = switch(given, "clientauth")?;
    let how = match said(given, "clientcert").and_then(|(a, value)| Some((a, value.filter(|text| !text.is_empty())?))) {
        Some((attribute, text)) => match shortened(["Mandatory", "Optional"].into_iter(), text) {
            Ok(Some("Optional")) => Some("optional"),
            Ok(Some(_)) => Some("required"),
            _ => return Err(NsError::bad_value(attribute.cli, text)),
        },
        None => None,
    };
    let old = get(table, schema, &["tls", "client_auth"]).and_then(Value::as_str).unwrap_or("none");
    let asked = asks.unwrap_or(old != "none");
    if !asked {
        if how.is_some() {
            return Err(NsError::prerequisite("clientAuth", "clientCert"));
        }
        if asks.is_some() {
            say(table, schema, "client_auth", None);
        }
        return Ok(());
    }
    let word = how.unwrap_or(if old == "none" { "required" } else { old }).to_owned();
    say(table, schema, "client_auth", Some(word.into()));
    Ok(())
}

fn service(table: &mut Map<String, Value>, schema: &'static Schema, given: &Given) -> Result<(), NsError> {
    versions(table, schema, given, false)?;
    if let Some(on) = switch(given, "serverauth")? {
        say(table, schema, "verify", on.then_some(Value::Bool(true)));
    }
    if let Some((_, value)) = said(given, "commonname") {
        say(table, schema, "server_name", value.filter(|text| !text.is_empty()).map(Value::from));
    }
    Ok(())
}

fn versions(
    table: &mut Map<String, Value>,
    schema: &'static Schema,
    given: &Given,
    has_most: bool,
) -> Result<(), NsError> {
    let least =
        |table: &Map<String, Value>| get(table, schema, &["tls", "min_version"]).and_then(Value::as_str) == Some("1.3");
    let most =
        |table: &Map<String, Value>| get(table, schema, &["tls", "max_version"]).and_then(Value::as_str) == Some("1.2");
    let tls12 = switch(given, "tls12")?.unwrap_or(!least(table));
    let tls13 = switch(given, "tls13")?.unwrap_or(!most(table));
    if !tls12 && !tls13 {
        return Err(NsError::unsupported("tls13", "DISABLED", "TLS 1.2 is disabled, and one of both is spoken"));
    }
    if !tls13 && !has_most {
        return Err(NsError::unsupported("tls13", "DISABLED", "servers choose the version"));
    }
    if least(table) == tls12 {
        say(table, schema, "min_version", (!tls12).then(|| "1.3".into()));
    }
    if has_most && most(table) == tls13 {
        say(table, schema, "max_version", (!tls13).then(|| "1.2".into()));
    }
    Ok(())
}

fn say(table: &mut Map<String, Value>, schema: &'static Schema, key: &str, value: Option<Value>) {
    match value {
        Some(value) => put(table, schema, &["tls", key], value),
        None => remove(table, schema, &["tls", key]),
    }
}

/// A key of `tls`.
pub(super) fn put_tls(table: &mut Map<String, Value>, schema: Option<&'static Schema>, key: &str, value: Value) {
    if let Some(schema) = schema {
        put(table, schema, &["tls", key], value);
    }
}

/// Takes the authority of clients' certificates away where it is this one.
pub(super) fn take_ca(table: &mut Map<String, Value>, schema: Option<&'static Schema>, name: &str) -> bool {
    let Some(schema) = schema else { return false };
    let is_it = get(table, schema, &["tls", "client_ca"]).and_then(Value::as_str) == Some(name);
    if is_it {
        remove(table, schema, &["tls", "client_ca"]);
    }
    is_it
}

/// What NetScaler says of a part.
pub(super) fn read(table: &Map<String, Value>, schema: &'static Schema, nitro: &str) -> Option<Said> {
    let text = |key: &str| get(table, schema, &["tls", key]).and_then(Value::as_str);
    let is = |key: &str| get(table, schema, &["tls", key]).and_then(Value::as_bool);
    let enabled = |on: bool| Some(if on { "ENABLED" } else { "DISABLED" });
    let said = match nitro {
        "tls12" => enabled(text("min_version") != Some("1.3")),
        "tls13" => enabled(text("max_version") != Some("1.2")),
        "sessreuse" => enabled(is("resumption") != Some(false)),
        "clientauth" => enabled(text("client_auth").unwrap_or("none") != "none"),
        "clientcert" => match text("client_auth") {
            Some("required") => Some("Mandatory"),
            Some("optional") => Some("Optional"),
            _ => None,
        },
        "hsts" => enabled(get(table, schema, &["tls", "hsts"]).is_some()),
        "maxage" => {
            let text = get(table, schema, &["tls", "hsts", "max_age"])?.as_str()?;
            let age = crate::config::units::parse_duration(text).ok()?;
            return Some(Said { text: age.as_secs().to_string(), exact: true });
        }
        "includesubdomains" | "preload" => {
            let key = if nitro == "preload" { "preload" } else { "include_subdomains" };
            let on = get(table, schema, &["tls", "hsts", key]) == Some(&Value::Bool(true));
            Some(if on { "YES" } else { "NO" })
        }
        "serverauth" => enabled(is("verify") == Some(true)),
        "commonname" => text("server_name"),
        _ => None,
    };
    said.map(|text| Said { text: text.to_owned(), exact: true })
}
