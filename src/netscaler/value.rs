//! Values on either side: NetScaler's texts and numbers, and what the TOML says instead.

mod extract;
mod place;

use std::net::Ipv4Addr;
use std::time::Duration;

use serde_json::{Value, json};

use super::error::NsError;
use super::resource::{Attribute, Form, Kind as Written};
use crate::config::schema::{Kind, Words};
use crate::config::units;

pub(super) use extract::{Side, expression, extract};
pub(super) use place::{get, kind_at, of_object, put, remove, schema_of};

/// A value in NetScaler's words, and whether they say all of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Said {
    pub text: String,
    pub exact: bool,
}

/// A value as text, whatever it was sent as: `1.0` is `1`. A list is its items behind each other.
pub(super) fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => match number.as_f64() {
            Some(float) if number.is_f64() && float.fract() == 0.0 => format!("{float:.0}"),
            _ => number.to_string(),
        },
        Value::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join(" "),
        other => other.to_string(),
    }
}

/// As NITRO writes it.
pub(super) fn typed(kind: Written, text: &str) -> Value {
    match kind {
        Written::Integer => text.parse::<i64>().map_or_else(|_| text.into(), Value::from),
        Written::Boolean => (is_true(text) == Some(true)).into(),
        Written::List => text.split(' ').filter(|item| !item.is_empty()).collect(),
        Written::Double | Written::Text => text.into(),
    }
}

/// `ENABLED`, `YES`, `ON`, `true` and their opposites, in any case.
pub(super) fn is_true(text: &str) -> Option<bool> {
    match &text.to_ascii_uppercase()[..] {
        "ENABLED" | "YES" | "ON" | "TRUE" => Some(true),
        "DISABLED" | "NO" | "OFF" | "FALSE" => Some(false),
        _ => None,
    }
}

/// Whether two texts say the same value of an attribute: numbers by value, words in any case.
pub(super) fn same(one: &str, other: &str) -> bool {
    match (one.parse::<i64>(), other.parse::<i64>(), is_true(one), is_true(other)) {
        (Ok(a), Ok(b), ..) => a == b,
        (.., Some(a), Some(b)) => a == b,
        _ => one.eq_ignore_ascii_case(other),
    }
}

/// What the TOML says for `text`; `kind` is what the schema takes there.
pub(super) fn to_toml(attribute: &Attribute, form: Form, kind: &Kind, text: &str) -> Result<Value, NsError> {
    let bad = || NsError::bad_value(attribute.cli, text);
    match form {
        Form::Text => match kind {
            Kind::Int(..) => number(attribute, kind, text),
            Kind::Name if text.is_empty() => Err(bad()),
            _ => Ok(text.into()),
        },
        Form::Number => number(attribute, kind, text),
        Form::Word => word(attribute, kind, text),
        Form::Enabled | Form::YesNo | Form::OnOff => {
            let words: [&str; 2] = match form {
                Form::Enabled => ["ENABLED", "DISABLED"],
                Form::YesNo => ["YES", "NO"],
                _ => ["ON", "OFF"],
            };
            let known = [words[0], words[1], "true", "false"];
            let found = shortened(known.iter().copied(), text).map_err(|()| ambiguous(attribute, text))?;
            found.and_then(is_true).map(Value::Bool).ok_or_else(bad)
        }
        Form::Seconds => duration(attribute, kind, text, Duration::from_secs(1)),
        Form::Minutes => duration(attribute, kind, text, Duration::from_secs(60)),
        Form::Kilobits => {
            let kilobits: u64 = text.parse().map_err(|_| bad())?;
            let bits = kilobits.checked_mul(1000).ok_or_else(bad)?;
            Ok(units::format_rate(bits).into())
        }
        Form::Codes | Form::Items => {
            let items: Vec<&str> = text.split([' ', ',']).filter(|item| !item.is_empty()).collect();
            if items.is_empty() { Err(bad()) } else { Ok(json!(items)) }
        }
        Form::Bytes => Ok(escaped(text).into()),
        Form::Headers => Ok(text.into()),
        Form::Mask => {
            let length = prefix_of(text).ok_or_else(bad)?;
            Ok(if matches!(kind, Kind::Int(..)) { length.into() } else { text.into() })
        }
        Form::Secret => match text.split_once(':') {
            Some(("env", name)) if !name.is_empty() => Ok(json!({ "env": name })),
            Some(("file", path)) if !path.is_empty() => Ok(json!({ "file": path })),
            // The value itself is in no message.
            _ => Err(NsError::with(1097, &[attribute.cli])
                .because("a secret never stands in a configuration; say where it is found: env:NAME or file:PATH")),
        },
        Form::Extract => extract(text, Side::Request)
            .ok_or_else(|| NsError::unsupported(attribute.cli, text, "no value of a request is meant by it")),
    }
}

/// What NetScaler says for a value of the TOML; `None`: it has no words for it.
pub(super) fn from_toml(form: Form, value: &Value) -> Option<Said> {
    let said = |text: String| Some(Said { text, exact: true });
    match form {
        Form::Text | Form::Bytes | Form::Number => said(text_of(value)),
        Form::Word => {
            let text = value.as_str()?;
            let shown = [("NONE", "None"), ("BYPASS", "Bypass"), ("RELB", "ReLb")];
            let shown = shown.iter().find(|(ours, _)| *ours == text && text != "NONE").map_or(text, |(_, shown)| shown);
            said(shown.to_owned())
        }
        Form::Enabled => said((if value.as_bool()? { "ENABLED" } else { "DISABLED" }).to_owned()),
        Form::YesNo => said((if value.as_bool()? { "YES" } else { "NO" }).to_owned()),
        Form::OnOff => said((if value.as_bool()? { "ON" } else { "OFF" }).to_owned()),
        Form::Seconds => whole(value, Duration::from_secs(1)),
        Form::Minutes => whole(value, Duration::from_secs(60)),
        Form::Kilobits => {
            let bits = units::parse_rate(value.as_str()?).ok()?;
            Some(Said { text: bits.div_ceil(1000).to_string(), exact: bits.is_multiple_of(1000) })
        }
        Form::Codes | Form::Items => said(text_of(value)),
        Form::Mask => match value {
            Value::Number(length) => said(mask_of(length.as_u64()?)?),
            other => said(other.as_str()?.to_owned()),
        },
        Form::Secret => {
            let place = |kind: &str| Some(format!("{kind}:{}", value.get(kind)?.as_str()?));
            said(place("env").or_else(|| place("file"))?)
        }
        Form::Headers => match value {
            Value::Object(fields) => {
                said(fields.iter().map(|(name, value)| format!("{name}: {}\r\n", text_of(value))).collect())
            }
            other => said(text_of(other)),
        },
        Form::Extract => said(expression(value, Side::Request)?),
    }
}

/// A duration of the TOML: text with a unit, or a number of seconds.
pub(super) fn duration_of(value: &Value) -> Option<Duration> {
    match value {
        Value::String(text) => units::parse_duration(text).ok(),
        Value::Number(number) => Duration::try_from_secs_f64(number.as_f64()?).ok(),
        _ => None,
    }
}

fn whole(value: &Value, unit: Duration) -> Option<Said> {
    let (total, unit) = (duration_of(value)?.as_nanos(), unit.as_nanos());
    Some(Said { text: total.div_ceil(unit).to_string(), exact: total.is_multiple_of(unit) })
}

fn duration(attribute: &Attribute, kind: &Kind, text: &str, unit: Duration) -> Result<Value, NsError> {
    let bad = || NsError::bad_value(attribute.cli, text);
    let count: u32 = text.parse().map_err(|_| bad())?;
    timed(attribute, kind, text, unit.checked_mul(count).ok_or_else(bad)?)
}

/// A duration within the schema's range, as text.
pub(super) fn timed(attribute: &Attribute, kind: &Kind, text: &str, time: Duration) -> Result<Value, NsError> {
    if let Kind::Duration(low, high) = kind
        && !(u128::from(*low)..=u128::from(*high)).contains(&time.as_millis())
    {
        let [low, high] = [*low, *high].map(|ms| units::format_duration(Duration::from_millis(ms)));
        return Err(NsError::bad_value(attribute.cli, text).because(&format!("{low} to {high}")));
    }
    Ok(units::format_duration(time).into())
}

pub(super) fn number(attribute: &Attribute, kind: &Kind, text: &str) -> Result<Value, NsError> {
    let bad = || NsError::bad_value(attribute.cli, text);
    let number: i64 = text.parse().map_err(|_| bad())?;
    match ints(kind) {
        Some((low, high)) if !(low..=high).contains(&number) => Err(bad().because(&format!("{low} to {high}"))),
        _ => Ok(number.into()),
    }
}

fn ints(kind: &Kind) -> Option<(i64, i64)> {
    match kind {
        Kind::Int(low, high) => Some((*low, *high)),
        Kind::OneOf(kinds) => kinds.iter().find_map(ints),
        _ => None,
    }
}

/// A word that the schema knows.
pub(super) fn word(attribute: &Attribute, kind: &Kind, text: &str) -> Result<Value, NsError> {
    let Some(words) = words(kind) else { return Ok(text.into()) };
    let known = words.known.iter().chain(words.later).copied();
    match shortened(known, text) {
        Err(()) => Err(ambiguous(attribute, text)),
        Ok(Some(word)) if words.known.contains(&word) => Ok(word.into()),
        Ok(Some(word)) => Err(NsError::unsupported(attribute.cli, word, "")),
        Ok(None) => Err(NsError::bad_value(attribute.cli, text).because(&format!("one of {}", words.known.join(", ")))),
    }
}

fn words(kind: &Kind) -> Option<&'static Words> {
    match kind {
        Kind::Word(words) => Some(words),
        Kind::OneOf(kinds) => kinds.iter().find_map(words),
        _ => None,
    }
}

fn ambiguous(attribute: &Attribute, text: &str) -> NsError {
    NsError::with(1099, &[attribute.cli, text])
}

/// The one word that `text` is, or that it begins, in any case. `Err`: it begins several.
pub(super) fn shortened(
    words: impl Iterator<Item = &'static str> + Clone,
    text: &str,
) -> Result<Option<&'static str>, ()> {
    if let Some(whole) = words.clone().find(|word| word.eq_ignore_ascii_case(text)) {
        return Ok(Some(whole));
    }
    if text.is_empty() {
        return Ok(None);
    }
    let mut found = words.filter(|word| word.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text)));
    match (found.next(), found.next()) {
        (one, None) => Ok(one),
        _ => Err(()),
    }
}

/// 255.255.255.0 → 24
pub(super) fn prefix_of(mask: &str) -> Option<u8> {
    let bits = u32::from(mask.parse::<Ipv4Addr>().ok()?);
    let length = bits.leading_ones();
    (length > 0 && bits.count_ones() == length).then_some(length as u8)
}

pub(super) fn mask_of(length: u64) -> Option<String> {
    let host = 32u32.checked_sub(u32::try_from(length).ok()?)?;
    let bits = u32::MAX.checked_shl(host).unwrap_or(0);
    Some(Ipv4Addr::from(bits).to_string())
}

/// A backslash that begins nothing that the TOML's bytes know stands for itself.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        out.push(c);
        if c != '\\' {
            continue;
        }
        match rest.peek() {
            Some('\\' | 'r' | 'n' | 't' | '0' | 'x') => out.extend(rest.next()),
            _ => out.push('\\'),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_are_prefixes_and_back() {
        assert_eq!(prefix_of("255.255.255.0"), Some(24));
        assert_eq!(prefix_of("255.0.255.0"), None);
        assert_eq!(mask_of(32).as_deref(), Some("255.255.255.255"));
        for length in 1..=32 {
            assert_eq!(prefix_of(&mask_of(length).unwrap()), Some(length as u8));
        }
    }

    #[test]
    fn numbers_come_as_numbers_texts_and_floats() {
        assert_eq!(text_of(&json!(1.0)), "1");
        assert_eq!(text_of(&json!("1")), "1");
        assert_eq!(text_of(&json!(1)), "1");
        assert!(same("Enabled", "YES") && same("02", "2") && !same("2", "3"));
    }

    #[test]
    fn a_rate_that_is_no_whole_kilobit_is_told_to_be_rounded() {
        let said = from_toml(Form::Kilobits, &json!("1500bit/s")).unwrap();
        assert_eq!(said, Said { text: "2".into(), exact: false });
        assert_eq!(from_toml(Form::Seconds, &json!("3m")).unwrap().text, "180");
    }
}
