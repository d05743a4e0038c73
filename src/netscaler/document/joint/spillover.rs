//! Spillover: method, threshold, and what goes with them.

use serde_json::{Map, Value};

use super::{At, said, spelled, value};
use crate::netscaler::document::write::Given;
use crate::netscaler::error::NsError;
use crate::netscaler::resource::Form;
use crate::netscaler::value::{Said, from_toml, get, kind_at, put, remove, to_toml};

/// NITRO's name, path, how it is written.
const ROWS: [(&str, &[&str], Form); 4] = [
    ("somethod", &["spillover", "method"], Form::Word),
    ("sopersistence", &["spillover", "persistence"], Form::Enabled),
    ("sopersistencetimeout", &["spillover", "persistence_timeout"], Form::Minutes),
    ("sobackupaction", &["spillover", "backup_action"], Form::Word),
];
const THRESHOLD: &[&str] = &["spillover", "threshold"];

pub(super) fn write(at: &At<'_>, table: &mut Map<String, Value>, given: &Given) -> Result<(), NsError> {
    for (nitro, path, form) in ROWS {
        let Some(text) = said(given, nitro) else { continue };
        let (Some(attribute), Some(kind)) = (at.resource.attribute(nitro), kind_at(at.schema, path)) else { continue };
        let is_default =
            |text: &str| nitro != "somethod" && at.document.is_default(at.resource, path, attribute.default, text);
        match text.filter(|text| !text.is_empty() && !is_default(text)) {
            Some(text) => put(table, at.schema, path, to_toml(attribute, form, kind, text)?),
            None => remove(table, at.schema, path),
        }
    }
    let spelled = |nitro| spelled(at.resource, nitro);
    let word = get(table, at.schema, &["spillover", "method"]).and_then(Value::as_str).unwrap_or("NONE").to_owned();
    if word == "NONE" {
        let others = ["sothreshold", "sopersistencetimeout", "sobackupaction", "sopersistence"];
        let changes = |nitro: &&&str| {
            let default = at.resource.attribute(nitro).map_or("", |attribute| attribute.default);
            value(given, nitro).is_some_and(|text| !text.eq_ignore_ascii_case(default))
        };
        // An action alone waits for a method, as `-soMethod NONE` says that there is none.
        if let Some(nitro) = others.iter().find(changes).filter(|_| value(given, "somethod").is_none()) {
            return Err(NsError::prerequisite(spelled("somethod"), spelled(nitro)));
        }
        remove(table, at.schema, &["spillover"]);
        return Ok(());
    }
    threshold(at, table, given, &word)?;
    if get(table, at.schema, &["spillover", "persistence"]) != Some(&Value::Bool(true)) {
        if value(given, "sopersistencetimeout").is_some_and(|text| text != "2") {
            return Err(NsError::prerequisite(spelled("sopersistence"), spelled("sopersistencetimeout")));
        }
        remove(table, at.schema, &["spillover", "persistence_timeout"]);
    }
    Ok(())
}

fn threshold(at: &At<'_>, table: &mut Map<String, Value>, given: &Given, word: &str) -> Result<(), NsError> {
    let text = said(given, "sothreshold");
    if text.flatten() == Some("0") {
        return Err(NsError::new(1288));
    }
    if word == "DYNAMICCONNECTION" {
        if value(given, "sothreshold").is_some() {
            return Err(NsError::new(1291));
        }
        remove(table, at.schema, THRESHOLD);
        return Ok(());
    }
    let Some(attribute) = at.resource.attribute("sothreshold") else { return Ok(()) };
    let Some(kind) = kind_at(at.schema, THRESHOLD) else { return Ok(()) };
    let form = if word == "BANDWIDTH" { Form::Kilobits } else { Form::Number };
    if let Some(text) = value(given, "sothreshold") {
        if word == "HEALTH" && text.parse::<u32>().is_ok_and(|percent| percent > 100) {
            return Err(NsError::bad_value(attribute.cli, text).because("1 to 100"));
        }
        put(table, at.schema, THRESHOLD, to_toml(attribute, form, kind, text)?);
    }
    // What counts connections is no rate, and the other way round.
    let fits = get(table, at.schema, THRESHOLD).is_some_and(|value| value.is_string() == (word == "BANDWIDTH"));
    if fits || word == "CONDITION" {
        return Ok(());
    }
    Err(NsError::prerequisite(spelled(at.resource, "sothreshold"), spelled(at.resource, "somethod")))
}

pub(super) fn read(at: &At<'_>, table: &Map<String, Value>, nitro: &str) -> Option<Said> {
    let word = at.text(table, &["spillover", "method"])?;
    if word == "CONDITION" {
        // NetScaler's policies of spillover are another thing.
        return (nitro == "somethod").then(|| Said { text: "NONE".into(), exact: false });
    }
    if nitro == "sothreshold" {
        let form = if word == "BANDWIDTH" { Form::Kilobits } else { Form::Number };
        return from_toml(form, at.effective(table, THRESHOLD)?);
    }
    let (_, path, form) = ROWS.into_iter().find(|(known, ..)| *known == nitro)?;
    from_toml(form, at.effective(table, path)?)
}
