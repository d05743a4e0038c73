//! Values taken from requests.

use super::Context;
use super::object::{self, Object};
use crate::config::document::Value;
use crate::model::balancing::Extract;

/// `"path"`, `{ header = "X-Id" }`, `{ of = "host", regex = "^([a-z]+)" }`.
pub fn extract(cx: &mut Context<'_>, object: &Object<'_>, key: &str) -> Option<Extract> {
    let node = object.get(key)?;
    let Value::Table(table) = &node.value else { return node.text().and_then(word) };
    let inner = Object::new(table, None, object.path.key(key), node.place);
    let places = ["header", "cookie", "query", "path_segment", "of"];
    let said: Vec<&str> = places.into_iter().filter(|key| table.get(key).is_some()).collect();
    let [place] = said[..] else {
        let all = places.map(|key| format!("`{key}`")).join(", ");
        inner.wrong_whole(cx.report, format!("say exactly one of {all}"));
        return None;
    };
    if matches!(place, "header" | "cookie")
        && let Some(Err(why)) = inner.text(place).map(|name| object::header(name, ""))
    {
        inner.wrong(cx.report, place, why);
    }
    let found = match place {
        "header" => Extract::Header(inner.name(place)?),
        "cookie" => Extract::Cookie(inner.name(place)?),
        "query" => Extract::Query(inner.name(place)?),
        "path_segment" => Extract::PathSegment(inner.int(place)?),
        _ => word(inner.text(place)?)?,
    };
    let Some(pattern) = inner.name("regex") else { return Some(found) };
    let brackets = regex::Regex::new(&pattern).map_or(0, |regex| regex.captures_len());
    if brackets == 1 {
        inner.wrong(cx.report, "regex", "has no bracket; the first one says what is taken");
    }
    Some(Extract::Regex { of: Box::new(found), pattern })
}

fn word(text: &str) -> Option<Extract> {
    match text {
        "path" => Some(Extract::Path),
        "url" => Some(Extract::Url),
        "host" => Some(Extract::Host),
        "client_ip" => Some(Extract::ClientIp),
        _ => None,
    }
}
