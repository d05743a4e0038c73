//! Persistence, and the expression that it or the method takes a value by.

use serde_json::{Map, Value};

use super::{At, said, spelled, value};
use crate::netscaler::document::write::Given;
use crate::netscaler::error::NsError;
use crate::netscaler::resource::Form;
use crate::netscaler::value::{Said, Side, expression, extract, from_toml, get, kind_at, put, remove, same, to_toml};

/// NITRO's name, path, how it is written.
const ROWS: [(&str, &[&str], Form); 7] = [
    ("persistencetype", &["persistence", "type"], Form::Word),
    ("timeout", &["persistence", "timeout"], Form::Minutes),
    ("persistencebackup", &["persistence", "backup"], Form::Word),
    ("backuppersistencetimeout", &["persistence", "backup_timeout"], Form::Minutes),
    ("persistmask", &["persistence", "prefix_v4"], Form::Mask),
    ("v6persistmasklen", &["persistence", "prefix_v6"], Form::Number),
    ("cookiename", &["persistence", "cookie_name"], Form::Text),
];
const REQUEST: &[&str] = &["persistence", "request"];
const RESPONSE: &[&str] = &["persistence", "response"];

pub(super) fn write(at: &At<'_>, table: &mut Map<String, Value>, given: &Given) -> Result<(), NsError> {
    let spelled = |nitro| spelled(at.resource, nitro);
    for (nitro, path, form) in ROWS {
        let Some(text) = said(given, nitro) else { continue };
        let Some(attribute) = at.resource.attribute(nitro) else { continue };
        let Some(kind) = kind_at(at.schema, path) else { continue };
        let is_default = |text: &str| {
            let default = if nitro == "persistmask" { "255.255.255.255" } else { attribute.default };
            nitro != "persistencetype" && at.document.is_default(at.resource, path, default, text)
        };
        match text.filter(|text| !text.is_empty() && !is_default(text)) {
            Some(text) => put(table, at.schema, path, to_toml(attribute, form, kind, text)?),
            None => remove(table, at.schema, path),
        }
    }
    rules(at, table, given)?;
    if at.document.table("lb_group", at.name).is_none()
        && value(given, "persistencetype").is_some_and(|word| !word.eq_ignore_ascii_case("NONE"))
        && at.document.group_of(at.name).is_some_and(|_| at.resource.nitro == "lbvserver")
    {
        return Err(NsError::new(2306));
    }
    let word = get(table, at.schema, &["persistence", "type"]).and_then(Value::as_str).unwrap_or("NONE").to_owned();
    if word == "NONE" {
        let left = ROWS.iter().find(|(nitro, path, _)| {
            *nitro != "persistencetype" && value(given, nitro).is_some() && get(table, at.schema, path).is_some()
        });
        if let Some((nitro, ..)) = left {
            return Err(NsError::prerequisite(spelled("persistencetype"), spelled(nitro)));
        }
        let by_default = at.document.defaults(at.resource.section()).is_some_and(|d| d.contains_key("persistence"));
        remove(table, at.schema, &["persistence"]);
        if by_default && value(given, "persistencetype").is_some() {
            put(table, at.schema, &["persistence", "type"], "NONE".into());
        }
        return Ok(());
    }
    check(at, table, &word)
}

fn check(at: &At<'_>, table: &mut Map<String, Value>, word: &str) -> Result<(), NsError> {
    let spelled = |nitro| spelled(at.resource, nitro);
    let has = |path: &[&str]| get(table, at.schema, path).is_some();
    let timeout = get(table, at.schema, &["persistence", "timeout"]).and_then(crate::netscaler::value::duration_of);
    if timeout.is_some_and(|t| t.is_zero()) && word != "COOKIEINSERT" {
        return Err(NsError::with(1097, &[spelled("timeout"), "0"]).because("0 is of COOKIEINSERT alone"));
    }
    if has(&["persistence", "cookie_name"]) && word != "COOKIEINSERT" {
        return Err(NsError::new(1381));
    }
    if takes_value(word) && !has(REQUEST) {
        return Err(NsError::prerequisite(spelled("rule"), spelled("persistencetype")));
    }
    if !takes_value(word) {
        for path in [REQUEST, RESPONSE] {
            remove(table, at.schema, path);
        }
    }
    let backup = get(table, at.schema, &["persistence", "backup"]).and_then(Value::as_str);
    match backup {
        Some("NONE") => {
            remove(table, at.schema, &["persistence", "backup"]);
            remove(table, at.schema, &["persistence", "backup_timeout"]);
        }
        Some(_) if word != "COOKIEINSERT" => return Err(NsError::new(2307)),
        None if get(table, at.schema, &["persistence", "backup_timeout"]).is_some() => {
            return Err(NsError::prerequisite(spelled("persistencebackup"), spelled("backuppersistencetimeout")));
        }
        _ => {}
    }
    Ok(())
}

fn takes_value(word: &str) -> bool {
    matches!(word, "RULE" | "URLPASSIVE" | "CUSTOMSERVERID")
}

/// `rule` and `resRule` go to whoever needs a value.
fn rules(at: &At<'_>, table: &mut Map<String, Value>, given: &Given) -> Result<(), NsError> {
    if let Some(text) = said(given, "rule") {
        let is_none = text.is_none_or(|text| text.is_empty() || same(text, "none"));
        let parsed = text.filter(|_| !is_none).map(|text| {
            let attribute = spelled(at.resource, "rule");
            let place = extract(text, Side::Request);
            place.ok_or_else(|| {
                NsError::unsupported(attribute, text, "it says more than where a value of the request stands")
            })
        });
        let place = parsed.transpose()?;
        let type_word = get(table, at.schema, &["persistence", "type"]).and_then(Value::as_str).unwrap_or("NONE");
        let for_persistence = takes_value(type_word);
        let for_method = method(at, table).is_some_and(takes_token);
        for (wanted, path) in [(for_persistence, REQUEST), (for_method, &["token"][..])] {
            match &place {
                Some(place) if wanted => put(table, at.schema, path, place.clone()),
                _ => remove(table, at.schema, path),
            }
        }
        if place.is_some() && !for_persistence && !for_method {
            return Err(NsError::prerequisite(spelled(at.resource, "persistencetype"), spelled(at.resource, "rule")));
        }
    }
    if let Some(text) = said(given, "resrule") {
        match text.filter(|text| !text.is_empty() && !same(text, "none")) {
            None => remove(table, at.schema, RESPONSE),
            Some(text) => {
                let place = extract(text, Side::Response).ok_or_else(|| {
                    let why = "it says more than where a value of the response stands";
                    NsError::unsupported(spelled(at.resource, "resrule"), text, why)
                })?;
                put(table, at.schema, RESPONSE, place);
            }
        }
    }
    Ok(())
}

fn method<'t>(at: &'t At<'_>, table: &'t Map<String, Value>) -> Option<&'t str> {
    (at.resource.nitro == "lbvserver").then(|| at.text(table, &["lb_method"])).flatten()
}

fn takes_token(method: &str) -> bool {
    matches!(method, "TOKEN" | "CALLIDHASH")
}

/// TOKEN needs an expression.
pub(super) fn check_token(at: &At<'_>, table: &mut Map<String, Value>, given: &Given) -> Result<(), NsError> {
    let Some(word) = method(at, table) else { return Ok(()) };
    if word == "TOKEN" && get(table, at.schema, &["token"]).is_none() && value(given, "lbmethod").is_some() {
        return Err(NsError::prerequisite(spelled(at.resource, "rule"), spelled(at.resource, "lbmethod")));
    }
    if !takes_token(word) {
        remove(table, at.schema, &["token"]);
    }
    Ok(())
}

pub(super) fn read(at: &At<'_>, table: &Map<String, Value>, nitro: &str) -> Option<Said> {
    let said = |value: &Value, side| {
        let text = expression(value, side);
        Some(Said { exact: text.is_some(), text: text.unwrap_or_else(|| "none".into()) })
    };
    match nitro {
        "rule" => said(at.effective(table, REQUEST).or_else(|| at.effective(table, &["token"]))?, Side::Request),
        "resrule" => said(at.effective(table, RESPONSE)?, Side::Response),
        _ => {
            let (_, path, form) = ROWS.into_iter().find(|(known, ..)| *known == nitro)?;
            from_toml(form, at.effective(table, path)?)
        }
    }
}
