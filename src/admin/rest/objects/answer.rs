//! What a change of an object is answered, and on which conditions it is made.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::kept::{Place, kind_at};
use super::{Asked, Kept};
use crate::admin::App;
use crate::admin::auth::{Access, Caller, authorize};
use crate::admin::dto::ConfigProblemDto;
use crate::admin::problem::Problem;
use crate::config::schema::{Kind, Schema};
use crate::config::{self, Severity, edit};
use crate::model::id::Name;

/// An object that was changed.
pub(super) struct Shown {
    pub place: Place,
    /// After the change; where it was deleted, before.
    pub object: Value,
    pub created: bool,
    pub deleted: bool,
}

/// If-Match and If-None-Match.
#[derive(Clone, Debug, Default)]
pub(super) struct Conditions {
    /// Hashes of the whole configuration, where If-Match names the running one.
    pub whole: Option<Vec<Name>>,
    /// ETags of the object, of which it must have one.
    tags: Option<Vec<String>>,
    /// If-Match: the object must be there.
    there: bool,
    /// If-None-Match: *, which says that it must not be there.
    absent: bool,
}

/// The configuration as JSON: as the caller may see it, and whole.
pub(super) async fn read(
    app: &App,
    caller: &Caller,
) -> Result<(Arc<Map<String, Value>>, Arc<Map<String, Value>>), Problem> {
    let running = app.running_json().await?;
    let whole = Arc::clone(&running.whole);
    if authorize(caller.role, Access::Configure).is_ok() {
        return Ok((Arc::clone(&whole), whole));
    }
    Ok((Arc::clone(&running.shown), whole))
}

/// A hash of what the object says: the same however its keys are ordered where order means nothing.
pub(super) fn etag(object: &Value, kind: Option<&'static Kind>) -> String {
    let mut hasher = Sha256::new();
    let schema = kind.and_then(|kind| if let Kind::Table(schema) = kind { Some(*schema) } else { None });
    digest(&mut hasher, object, schema, false);
    let hash = hasher.finalize();
    hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

fn digest(hasher: &mut Sha256, value: &Value, schema: Option<&'static Schema>, ordered: bool) {
    match value {
        Value::Object(map) => {
            let name = |key: &str| match schema {
                Some(schema) => {
                    schema.keys.iter().find(|k| k.aliases.contains(&key)).map_or(key.to_owned(), |k| k.name.into())
                }
                None => key.to_owned(),
            };
            let mut entries: Vec<(String, &Value)> = map.iter().map(|(key, value)| (name(key), value)).collect();
            if !ordered {
                entries.sort_by(|a, b| a.0.cmp(&b.0));
            }
            hasher.update(b"{");
            for (key, value) in entries {
                hasher.update(Value::String(key.clone()).to_string());
                digest(hasher, value, None, edit::is_ordered(&key));
            }
            hasher.update(b"}");
        }
        Value::Array(items) => {
            hasher.update(b"[");
            items.iter().for_each(|item| digest(hasher, item, None, false));
            hasher.update(b"]");
        }
        other => {
            hasher.update(other.to_string());
            hasher.update(b",");
        }
    }
}

pub(super) fn answer(status: StatusCode, body: Value, tag: Option<&str>, location: Option<&str>) -> Response {
    let mut response = (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response();
    let mut set = |name: HeaderName, value: Option<String>| {
        if let Some(value) = value.and_then(|value| HeaderValue::try_from(value).ok()) {
            response.headers_mut().insert(name, value);
        }
    };
    set(header::ETAG, tag.map(|tag| format!("\"{tag}\"")));
    set(header::LOCATION, location.map(str::to_owned));
    response
}

/// One thing that does not fit, at a JSON pointer into the body.
pub(in crate::admin::rest) fn misfit(pointer: &str, what: String) -> Problem {
    let problem = json!({ "severity": "error", "pointer": pointer, "what": what });
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_config", what).member("problems", json!([problem]))
}

/// The problems of a configuration, those of the object at one of `places` with pointers into the body.
pub(super) fn misfits(found: &[config::Problem], places: &[Place], sent: &Map<String, Value>) -> Problem {
    let errors: Vec<&config::Problem> = found.iter().filter(|p| p.severity == Severity::Error).collect();
    let shown = errors.iter().map(|problem| {
        let mut shown = serde_json::to_value(ConfigProblemDto::of(problem)).unwrap_or_default();
        let within = places.iter().find_map(|place| within(&problem.path, place));
        if let (Some(keys), Some(shown)) = (within, shown.as_object_mut()) {
            shown.insert("pointer".into(), pointer(&keys, places, sent).into());
        }
        shown
    });
    let shown: Vec<Value> = shown.collect();
    let first = errors.first().map_or_else(String::new, |p| {
        let meant = p.did_you_mean.as_ref().map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
        format!(": {}{meant}", p.what)
    });
    let count = if errors.len() == 1 { "1 problem".to_owned() } else { format!("{} problems", errors.len()) };
    let detail = format!("the change has {count} and changes nothing{first}");
    Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "bad_config", detail).member("problems", json!(shown))
}

/// Why an object cannot go: who names it.
pub(super) fn in_use(kept: &Kept, name: &str, found: &[config::Problem]) -> Problem {
    let mut users: Vec<String> = Vec::new();
    for problem in found.iter().filter(|p| p.severity == Severity::Error) {
        let keys = keys(&problem.path);
        let user = match &keys[..] {
            [kind, name, ..] => format!("{kind} {name}"),
            [one] => one.clone(),
            [] => problem.what.clone(),
        };
        if !users.contains(&user) {
            users.push(user);
        }
    }
    let noun = kept.noun;
    let detail = format!("the {noun} `{name}` is in use by {}; nothing was changed", users.join(", "));
    let problem = misfits(found, &[], &Map::new());
    let problems = problem.members.get("problems").cloned().unwrap_or_default();
    Problem::new(StatusCode::CONFLICT, "in_use", detail).member("used_by", json!(users)).member("problems", problems)
}

/// The keys of a path, `zone."example.test".rrset."www A".records[0].cond`.
pub(super) fn keys(path: &str) -> Vec<String> {
    let mut keys = Vec::new();
    let mut key = String::new();
    let mut chars = path.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if key.is_empty() => {
                while let Some(c) = chars.next() {
                    match c {
                        '"' => break,
                        '\\' => key.extend(chars.next()),
                        c => key.push(c),
                    }
                }
            }
            '.' => keys.push(std::mem::take(&mut key)),
            '[' => keys.push(std::mem::take(&mut key)),
            ']' => {}
            c => key.push(c),
        }
    }
    if !key.is_empty() {
        keys.push(key);
    }
    keys
}

/// The keys of a path below a place; `None` where it is elsewhere.
fn within(path: &str, place: &Place) -> Option<Vec<String>> {
    let keys = keys(path);
    keys.strip_prefix(&place.0[..]).map(<[String]>::to_vec)
}

/// RFC 6901; keys as the body spells them.
fn pointer(keys: &[String], places: &[Place], sent: &Map<String, Value>) -> String {
    let schema = places
        .iter()
        .find_map(kind_at)
        .and_then(|kind| if let Kind::Table(schema) = kind { Some(schema) } else { None });
    let spelled = |at: usize, key: &String| -> String {
        if at > 0 || sent.contains_key(key) {
            return key.clone();
        }
        let aliases = schema.and_then(|schema| schema.key(key)).map_or(&[][..], |key| key.aliases);
        aliases.iter().find(|alias| sent.contains_key(**alias)).map_or_else(|| key.clone(), ToString::to_string)
    };
    let escaped = |key: String| key.replace('~', "~0").replace('/', "~1");
    keys.iter().enumerate().map(|(at, key)| format!("/{}", escaped(spelled(at, key)))).collect()
}

// === impl Shown ===

impl Shown {
    pub fn new(place: Place, object: Value) -> Shown {
        Shown { place, object, created: false, deleted: false }
    }
}

// === impl Conditions ===

impl Conditions {
    /// Errors: the appliance does not answer.
    pub async fn of(asked: &Asked) -> Result<Conditions, Problem> {
        let absent = tags(&asked.headers, header::IF_NONE_MATCH).is_some_and(|tags| tags.iter().any(|tag| tag == "*"));
        let Some(tags) = tags(&asked.headers, header::IF_MATCH) else {
            return Ok(Conditions { absent, ..Conditions::default() });
        };
        if tags.iter().any(|tag| tag == "*") {
            return Ok(Conditions { there: true, absent, ..Conditions::default() });
        }
        let hash = asked.app.read(|world| world.config.hash.clone()).await?;
        if tags.contains(&hash) {
            return Ok(Conditions { whole: Some(vec![hash.as_str().into()]), there: true, absent, tags: None });
        }
        Ok(Conditions { whole: None, tags: Some(tags), there: true, absent })
    }

    /// Whether the object must be there.
    pub fn needs_one(&self) -> bool {
        self.there
    }

    /// Errors: 412, the object is not the one that the caller looked at.
    pub fn check(&self, tag: Option<&str>) -> Result<(), Problem> {
        let stale = |detail: String| Problem::new(StatusCode::PRECONDITION_FAILED, "changed_meanwhile", detail);
        match (tag, &self.tags) {
            (Some(_), _) if self.absent => Err(stale("it is there already; nothing was changed".into())),
            (Some(tag), Some(tags)) if !tags.iter().any(|wanted| wanted == tag) => {
                Err(stale(format!("the object is \"{tag}\" by now; nothing was changed")))
            }
            _ => Ok(()),
        }
    }
}

/// The tags of a header, without their quotes; weak ones match nothing.
fn tags(headers: &HeaderMap, name: HeaderName) -> Option<Vec<String>> {
    headers.contains_key(&name).then(|| {
        let lists = headers.get_all(&name).iter().filter_map(|value| value.to_str().ok());
        lists.flat_map(|list| list.split(',')).map(|tag| tag.trim().trim_matches('"').to_owned()).collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(keys: &[&str]) -> Place {
        Place(keys.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn a_problem_of_the_object_points_into_the_body_as_it_is_spelled() {
        let at = [place(&["zone", "example.test", "rrset", "www A"])];
        let sent = json!({"records": [{"data": "x"}]});
        let of = |path: &str| within(path, &at[0]).map(|keys| pointer(&keys, &at, sent.as_object().unwrap()));
        assert_eq!(of("zone.\"example.test\".rrset.\"www A\".records[0].cond").unwrap(), "/records/0/cond");
        assert_eq!(of("zone.\"example.test\".rrset.\"www A\"").unwrap(), "");
        assert_eq!(of("zone.\"example.test\".ttl"), None);
        let at = [place(&["server", "a"])];
        let sent = json!({"ip_address": 3});
        assert_eq!(pointer(&["address".into()], &at, sent.as_object().unwrap()), "/ip_address");
        assert_eq!(pointer(&["a/b~".into()], &at, &Map::new()), "/a~1b~0");
    }

    #[test]
    fn an_etag_tells_what_means_the_same_from_what_does_not() {
        let of = |value: Value| etag(&value, kind_at(&place(&["vserver", "web"])));
        assert_eq!(of(json!({"type": "HTTP", "backup": "b"})), of(json!({"backup_vserver": "b", "type": "HTTP"})));
        assert_ne!(
            of(json!({"services": {"a": 1, "b": 1}})),
            of(json!({"services": {"b": 1, "a": 1}})),
            "order is meant"
        );
        assert_ne!(of(json!({"type": "HTTP"})), of(json!({"type": "TCP"})));
        assert_ne!(of(json!({"groups": ["a", "b"]})), of(json!({"groups": ["ab"]})));
    }

    #[test]
    fn conditions_hold_or_answer_412() {
        let of = |tags: &[&str]| Conditions {
            tags: Some(tags.iter().map(ToString::to_string).collect()),
            there: true,
            ..Conditions::default()
        };
        assert!(of(&["a", "b"]).check(Some("b")).is_ok());
        assert_eq!(of(&["a"]).check(Some("b")).unwrap_err().status, 412);
        assert!(Conditions::default().check(Some("b")).is_ok());
        let absent = Conditions { absent: true, ..Conditions::default() };
        assert_eq!(absent.check(Some("b")).unwrap_err().status, 412);
        assert!(absent.check(None).is_ok());
    }
}
