//! Times of monitors with their units, and codes.

use std::time::Duration;

use serde_json::{Map, Value};

use super::{At, said, spelled, value};
use crate::config::schema::kind_has_key;
use crate::netscaler::document::write::Given;
use crate::netscaler::error::NsError;
use crate::netscaler::resource::Form;
use crate::netscaler::value::{Said, duration_of, from_toml, get, kind_at, put, remove, shortened, timed, to_toml};

/// The number, its unit, the path, NetScaler's default in seconds.
const TIMES: [(&str, &str, &[&str], u64); 4] = [
    ("interval", "units3", &["interval"], 5),
    ("resptimeout", "units4", &["response_timeout"], 2),
    ("downtime", "units2", &["down_time"], 30),
    ("deviation", "units1", &["deviation"], 0),
];
const UNITS: [&str; 3] = ["SEC", "MSEC", "MIN"];

pub(super) fn times(at: &At<'_>, table: &mut Map<String, Value>, given: &Given) -> Result<(), NsError> {
    for (nitro, unit_name, path, default) in TIMES {
        let unit = match value(given, unit_name) {
            Some(text) => match shortened(UNITS.iter().copied(), text) {
                Ok(Some(unit)) => unit,
                _ => return Err(NsError::bad_value(spelled(at.resource, unit_name), text)),
            },
            None => "SEC",
        };
        let (Some(attribute), Some(kind)) = (at.resource.attribute(nitro), kind_at(at.schema, path)) else { continue };
        match said(given, nitro) {
            None if unit != "SEC" => {
                return Err(NsError::prerequisite(spelled(at.resource, unit_name), attribute.cli));
            }
            None => {}
            Some(None | Some("")) => remove(table, at.schema, path),
            Some(Some(text)) => {
                let bad = || NsError::bad_value(attribute.cli, text);
                let count: u32 = text.parse().map_err(|_| bad())?;
                let one = match unit {
                    "MSEC" => Duration::from_millis(1),
                    "MIN" => Duration::from_secs(60),
                    _ => Duration::from_secs(1),
                };
                let time = one.checked_mul(count).ok_or_else(bad)?;
                let written = timed(attribute, kind, text, time)?;
                let by_default = at.document.defaults("monitor").and_then(|d| get(d, at.schema, path)).is_some();
                if time == Duration::from_secs(default) && !by_default {
                    remove(table, at.schema, path);
                } else {
                    put(table, at.schema, path, written);
                }
            }
        }
    }
    Ok(())
}

/// The duration in force at a path, in the order interval, response time-out, down time, deviation.
pub(in crate::netscaler::document) fn time_of(
    at: &At<'_>,
    table: &Map<String, Value>,
    nitro: &str,
) -> Option<Duration> {
    let (_, _, path, default) = TIMES.into_iter().find(|(known, ..)| *known == nitro)?;
    Some(at.effective(table, path).and_then(duration_of).unwrap_or(Duration::from_secs(default)))
}

/// Whole minutes are minutes, as NetScaler makes them; then seconds; else milliseconds.
pub(super) fn read_time(at: &At<'_>, table: &Map<String, Value>, nitro: &str) -> Option<Said> {
    let (number, ..) = TIMES.into_iter().find(|(number, unit, ..)| *number == nitro || *unit == nitro)?;
    let time = time_of(at, table, number)?;
    let ms = time.as_millis();
    let (unit, size) = match ms {
        0 => ("SEC", 1000),
        _ if ms.is_multiple_of(60_000) => ("MIN", 60_000),
        _ if ms.is_multiple_of(1000) => ("SEC", 1000),
        _ => ("MSEC", 1),
    };
    let text = if number == nitro { (ms / size).to_string() } else { unit.to_owned() };
    Some(Said { text, exact: time.as_nanos().is_multiple_of(1_000_000) })
}

/// `respcode`: status codes, or codes of RADIUS.
pub(super) fn codes(at: &At<'_>, table: &mut Map<String, Value>, given: &Given) -> Result<(), NsError> {
    let kind_word = at.text(table, &["type"]).unwrap_or("TCP").to_owned();
    let is_radius = kind_word == "RADIUS";
    let path: &[&str] = if is_radius { &["rad_codes"] } else { &["response_codes"] };
    let Some(attribute) = at.resource.attribute("respcode") else { return Ok(()) };
    match said(given, "respcode").flatten().filter(|text| !text.is_empty()) {
        None => remove(table, at.schema, path),
        Some(text) if is_radius => {
            let numbers: Result<Vec<u8>, _> =
                text.split([' ', ',']).filter(|t| !t.is_empty()).map(str::parse).collect();
            let numbers = numbers.map_err(|_| NsError::bad_value(attribute.cli, text))?;
            put(table, at.schema, path, numbers.into());
        }
        Some(text) if kind_has_key(&kind_word, "response_codes") => {
            let Some(kind) = kind_at(at.schema, path) else { return Ok(()) };
            put(table, at.schema, path, to_toml(attribute, Form::Codes, kind, text)?);
        }
        // Sent with every monitor by some clients.
        Some("200") => {}
        Some(text) => {
            return Err(NsError::unsupported(
                attribute.cli,
                text,
                &format!("a monitor of type {kind_word} has no codes"),
            ));
        }
    }
    Ok(())
}

pub(super) fn read_codes(at: &At<'_>, table: &Map<String, Value>) -> Option<Said> {
    let kind = at.text(table, &["type"]).unwrap_or("TCP");
    let path: &[&str] = if kind == "RADIUS" { &["rad_codes"] } else { &["response_codes"] };
    match at.effective(table, path) {
        Some(value) => from_toml(Form::Codes, value),
        None if matches!(kind, "HTTP" | "HTTP2" | "HTTP-INLINE") => Some(Said { text: "200".into(), exact: true }),
        None => None,
    }
}
