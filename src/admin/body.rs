//! Parameters and bodies of requests: every key is known, every value is of its type, and what is not is refused with
//! the nearest known spelling. The same lists of fields are printed in the OpenAPI document.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, StatusCode, header};
use serde_json::{Map, Value};

use super::problem::Problem;
use crate::config::edit::parse_json;
use crate::config::units::parse_duration;
use crate::control::command::{Expiry, Note};
use crate::model::balancing::Shares;
use crate::model::id::turns_text;
use crate::model::time::Wall;

/// Bytes of a configuration.
pub(crate) const CONFIG_MAX: usize = 8 << 20;
/// Bytes of any other body.
pub(crate) const ACT_MAX: usize = 64 << 10;
/// For the whole body.
const BODY_TIMEOUT: Duration = Duration::from_secs(30);
const REASON_MAX: usize = 1_000;

/// A key of a body or of a query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub name: &'static str,
    pub kind: FieldKind,
    pub about: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FieldKind {
    /// `"28s"`, or a number of seconds.
    Duration,
    /// true or false; `YES` and `NO` in any case.
    Flag,
    Text,
    /// A list of texts.
    Texts,
    /// Names with whole percents.
    Shares,
    /// A duration from now, or an RFC 3339 time.
    Expiry,
    /// `true`, or a duration.
    Wait,
    /// A whole number that is not negative.
    Integer,
    /// A whole number from the one to the other.
    Within(u64, u64),
    /// RFC 3339.
    Time,
    /// One of these words, in any case.
    Word(&'static [&'static str]),
    /// Some of these words, in any case, separated by commas (of a query).
    Words(&'static [&'static str]),
}

/// The members of a JSON body, checked against its fields.
#[derive(Debug)]
pub(crate) struct Fields(Map<String, Value>);

/// The query of a request, in order.
#[derive(Debug, Clone, Default)]
pub(crate) struct Params(Vec<(String, String)>);

/// Of routes that refuse whatever they are asked: every parameter is let through to the refusal.
pub(crate) const ANY: &[Field] = &[field("", FieldKind::Text, "")];

pub(crate) const fn field(name: &'static str, kind: FieldKind, about: &'static str) -> Field {
    Field { name, kind, about }
}

/// The whole body, at most `limit` bytes, within the time allowed.
pub(crate) async fn read(body: Body, limit: usize) -> Result<Bytes, Problem> {
    match tokio::time::timeout(BODY_TIMEOUT, axum::body::to_bytes(body, limit)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) if too_long(&error) => Err(Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "too_large",
            format!("the body is longer than {limit} bytes"),
        )),
        Ok(Err(error)) => Err(Problem::bad_request(format!("the body cannot be read: {error}"))),
        Err(_) => Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "timeout", "the body did not arrive within 30 s")),
    }
}

fn too_long(error: &axum::Error) -> bool {
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = source {
        if error.to_string().contains("length limit exceeded") {
            return true;
        }
        source = error.source();
    }
    false
}

/// The media type of a body in lower case without its parameters; empty where none is said.
pub(crate) fn media_type(headers: &HeaderMap) -> String {
    let value = headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok()).unwrap_or_default();
    value.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
}

/// A body that is a JSON object. An empty one is `{}`. The media type must be JSON (a merge patch is JSON, too) or unsaid;
/// curl's default of `-d` is taken as unsaid, because a form can never be meant here.
pub(crate) fn object(headers: &HeaderMap, body: &[u8]) -> Result<Map<String, Value>, Problem> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Ok(Map::new());
    }
    let media = media_type(headers);
    let json = ["", "application/json", "application/merge-patch+json", "application/x-www-form-urlencoded"];
    if !json.contains(&&media[..]) {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "unsupported_media_type",
            format!("`{media}` is not read here; send application/json"),
        ));
    }
    let text = std::str::from_utf8(body).map_err(|_| Problem::bad_request("the body is not UTF-8"))?;
    match parse_json(text) {
        Ok(Value::Object(map)) => Ok(map),
        Ok(_) => Err(Problem::bad_request("the body is not a JSON object")),
        Err(error) => Err(Problem::bad_request(format!("the body is not JSON: {error}"))),
    }
}

// === impl Fields ===

impl Fields {
    /// As [`object`] reads it, with known members only, and numbers within their bounds.
    pub fn parse(headers: &HeaderMap, body: &[u8], known: &'static [Field]) -> Result<Fields, Problem> {
        let map = object(headers, body)?;
        for (key, value) in &map {
            let Some(field) = known.iter().find(|f| f.name == key) else {
                let problem = Problem::bad_request(format!("unknown key `{key}`"));
                return Err(problem.meaning(super::nearest(key, known.iter().map(|f| f.name))));
            };
            field.check_member(value)?;
        }
        Ok(Fields(map))
    }

    fn get(&self, name: &str) -> Option<&Value> {
        self.0.get(name).filter(|v| !v.is_null())
    }

    pub fn text(&self, name: &str) -> Result<Option<&str>, Problem> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_str().map(Some).ok_or_else(|| wrong(name, value, "a text"))
    }

    pub fn texts(&self, name: &str) -> Result<Vec<&str>, Problem> {
        let Some(value) = self.get(name) else { return Ok(Vec::new()) };
        let texts = value.as_array().and_then(|items| items.iter().map(Value::as_str).collect());
        texts.ok_or_else(|| wrong(name, value, "a list of texts"))
    }

    pub fn flag(&self, name: &str) -> Result<Option<bool>, Problem> {
        let Some(value) = self.get(name) else { return Ok(None) };
        let flag = match value {
            Value::Bool(flag) => Some(*flag),
            Value::String(word) => flag_word(word),
            _ => None,
        };
        flag.map(Some).ok_or_else(|| wrong(name, value, "true or false"))
    }

    pub fn duration(&self, name: &str) -> Result<Option<Duration>, Problem> {
        let Some(value) = self.get(name) else { return Ok(None) };
        duration(name, value).map(Some)
    }

    /// Names with percents; `None`: the word `none`. The field is needed.
    pub fn shares(&self, name: &str) -> Result<Option<Shares>, Problem> {
        let wanted = "the shares of groups in percent, such as {\"blue\": 90, \"green\": 10}, or \"none\"";
        let Some(value) = self.get(name) else {
            return Err(Problem::bad_request(format!("`{name}` is missing: {wanted}")));
        };
        let share = |(group, share): (&String, &Value)| {
            let share = share.as_u64().filter(|&share| share <= 100)?;
            Some((group.as_str().into(), u8::try_from(share).ok()?))
        };
        match value {
            Value::String(word) if word.eq_ignore_ascii_case("none") => Ok(None),
            Value::Object(map) => {
                let shares: Option<Shares> = map.iter().map(share).collect();
                shares.map(Some).ok_or_else(|| wrong(name, value, wanted))
            }
            _ => Err(wrong(name, value, wanted)),
        }
    }

    pub fn integer(&self, name: &str) -> Result<Option<u64>, Problem> {
        let Some(value) = self.get(name) else { return Ok(None) };
        value.as_u64().map(Some).ok_or_else(|| wrong(name, value, "a whole number"))
    }

    /// One of `words`, as it stands there.
    pub fn word(&self, name: &str, words: &[&'static str]) -> Result<Option<&'static str>, Problem> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        match words.iter().find(|w| w.eq_ignore_ascii_case(text)) {
            Some(word) => Ok(Some(word)),
            None => Err(Problem::bad_request(format!("`{name}` is one of {}, not `{text}`", words.join(", ")))
                .meaning(super::nearest(text, words.iter().copied()))),
        }
    }

    /// `reason` and `expires`.
    pub fn note(&self) -> Result<Note, Problem> {
        let reason = self.text("reason")?.map(str::trim).filter(|r| !r.is_empty());
        if reason.is_some_and(|r| r.len() > REASON_MAX) {
            return Err(Problem::bad_request(format!("`reason` is longer than {REASON_MAX} bytes")));
        }
        let expires = match self.get("expires") {
            None => None,
            Some(value) => Some(expiry(value)?),
        };
        // One line that says what it says, wherever it is printed.
        let printed = |c: char| if c.is_control() || turns_text(c) { ' ' } else { c };
        let reason = reason.map(|reason| reason.chars().map(printed).collect::<String>().into());
        Ok(Note { reason, expires })
    }

    /// `wait`: true, or the longest wait.
    pub fn wait(&self, by_default: Duration) -> Result<Option<Duration>, Problem> {
        match self.get("wait") {
            None => Ok(None),
            Some(Value::Bool(wait)) => Ok(wait.then_some(by_default)),
            Some(value) => match value.as_str().and_then(flag_word) {
                Some(wait) => Ok(wait.then_some(by_default)),
                None => duration("wait", value).map(Some),
            },
        }
    }
}

fn wrong(name: &str, value: &Value, wanted: &str) -> Problem {
    Problem::bad_request(format!("`{name}` is {wanted}, not {value}"))
}

fn flag_word(word: &str) -> Option<bool> {
    match &word.to_ascii_lowercase()[..] {
        "yes" | "true" => Some(true),
        "no" | "false" => Some(false),
        _ => None,
    }
}

fn duration(name: &str, value: &Value) -> Result<Duration, Problem> {
    match value {
        Value::Number(seconds) => seconds
            .as_f64()
            .and_then(|s| Duration::try_from_secs_f64(s).ok())
            .ok_or_else(|| wrong(name, value, "a duration, which is not negative")),
        Value::String(text) => parse_duration(text).map_err(|error| Problem::bad_request(format!("`{name}`: {error}"))),
        _ => Err(wrong(name, value, "a duration such as \"30s\", or a number of seconds")),
    }
}

fn expiry(value: &Value) -> Result<Expiry, Problem> {
    if let Some(at) = value.as_str().and_then(parse_time) {
        return Ok(Expiry::At(at));
    }
    duration("expires", value).map(Expiry::After).map_err(|_| {
        Problem::bad_request(format!(
            "`expires` is a duration such as \"2h\" or a time such as \"2026-11-29T22:00:00Z\", not {value}"
        ))
    })
}

/// An RFC 3339 time.
pub(crate) fn parse_time(text: &str) -> Option<Wall> {
    text.trim().parse::<jiff::Timestamp>().ok().map(|t| Wall(t.as_microsecond()))
}

// === impl Field ===

impl Field {
    /// Whether it can have this value in a body, as far as its kind says that for every route.
    fn check_member(&self, value: &Value) -> Result<(), Problem> {
        match self.kind {
            FieldKind::Within(least, most)
                if !value.is_null() && !value.as_u64().is_some_and(|n| (least..=most).contains(&n)) =>
            {
                Err(wrong(self.name, value, &format!("a whole number from {least} to {most}")))
            }
            _ => Ok(()),
        }
    }

    /// Whether it can have this value in a query, as far as its kind says that for every route.
    fn check(&self, value: &str) -> Result<(), Problem> {
        match self.kind {
            FieldKind::Within(least, most) if value.parse().is_ok_and(|n: u64| !(least..=most).contains(&n)) => {
                Err(Problem::bad_request(format!("`{}` is {least} to {most}, not {value}", self.name)))
            }
            FieldKind::Word(words) | FieldKind::Words(words) => {
                let several = matches!(self.kind, FieldKind::Words(_));
                let mut asked = value.split(|c| several && c == ',').map(str::trim).filter(|word| !word.is_empty());
                let unknown = |asked: &&str| !words.iter().any(|word| word.eq_ignore_ascii_case(asked));
                let Some(unknown) = asked.find(unknown) else { return Ok(()) };
                let problem = Problem::bad_request(format!("`{}` does not know `{unknown}`", self.name));
                Err(problem.meaning(super::nearest(unknown, words.iter().copied())))
            }
            _ => Ok(()),
        }
    }
}

// === impl Params ===

impl<S: Sync> FromRequestParts<S> for Params {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Params, Problem> {
        Params::parse(parts.uri.query().unwrap_or_default())
    }
}

impl Params {
    pub fn parse(query: &str) -> Result<Params, Problem> {
        let uri: axum::http::Uri = format!("/?{query}").parse().map_err(|_| Problem::bad_request("bad query"))?;
        axum::extract::Query::<Vec<(String, String)>>::try_from_uri(&uri)
            .map(|axum::extract::Query(pairs)| Params(pairs))
            .map_err(|error| Problem::bad_request(format!("the query cannot be read: {error}")))
    }

    /// Refuses parameters that are not among `known`, those that come twice, and values that their field does not have.
    pub fn check(&self, known: &[Field]) -> Result<(), Problem> {
        for (at, (name, value)) in self.0.iter().enumerate() {
            let Some(field) = known.iter().find(|f| f.name == name || f.name.is_empty()) else {
                let problem = Problem::bad_request(format!("unknown parameter `{name}`"));
                return Err(problem.meaning(super::nearest(name, known.iter().map(|f| f.name))));
            };
            field.check(value)?;
            if self.0[..at].iter().any(|(other, _)| other == name) {
                return Err(Problem::bad_request(format!("the parameter `{name}` comes twice")));
            }
        }
        Ok(())
    }

    pub fn pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (&name[..], &value[..]))
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| n == name).map(|(_, value)| &value[..])
    }

    pub fn integer(&self, name: &str) -> Result<Option<u64>, Problem> {
        let Some(text) = self.get(name) else { return Ok(None) };
        let parsed =
            text.parse().map_err(|_| Problem::bad_request(format!("`{name}` is a whole number, not `{text}`")));
        parsed.map(Some)
    }

    pub fn flag(&self, name: &str) -> Result<bool, Problem> {
        let Some(text) = self.get(name) else { return Ok(false) };
        flag_word(text).ok_or_else(|| Problem::bad_request(format!("`{name}` is true or false, not `{text}`")))
    }

    pub fn duration(&self, name: &str) -> Result<Option<Duration>, Problem> {
        let Some(text) = self.get(name) else { return Ok(None) };
        // A bare number is seconds here, too.
        let value = text.parse::<f64>().map_or_else(|_| Value::from(text), Value::from);
        duration(name, &value).map(Some)
    }

    /// A time, or a duration back from `now`.
    pub fn time(&self, name: &str, now: Wall) -> Result<Option<Wall>, Problem> {
        let Some(text) = self.get(name) else { return Ok(None) };
        // In a query a bare `+` is a space: `2026-11-29T22:00:00+01:00` arrives with one.
        let time = parse_time(text).or_else(|| parse_time(&text.replace(' ', "+")));
        match time.or_else(|| parse_duration(text).ok().map(|back| now - back)) {
            Some(time) => Ok(Some(time)),
            None => Err(Problem::bad_request(format!(
                "`{name}` is a time such as 2026-11-29T22:00:00Z, or a duration back from now such as 2h, not `{text}`"
            ))),
        }
    }
}

#[cfg(test)]
mod tests;
