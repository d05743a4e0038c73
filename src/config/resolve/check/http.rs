//! HTTP: the request, and what its answer must be.

use super::tls;
use crate::config::document::{Node, Value};
use crate::config::resolve::Context;
use crate::config::resolve::object::{self, Object};
use crate::config::values;
use crate::model::check::{BodyMatch, Host, HttpExpect, HttpRequest, Probe, StatusRange, Target, TlsProbe};
use crate::model::id::Name;
use crate::model::sql::Expectation;

pub(super) fn http(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    expect: Option<&Object<'_>>,
    word: &str,
    at: Option<&str>,
) -> Probe {
    let key = if at.is_some() { "targets" } else { "url" };
    if at.is_none() {
        object.require(cx.report, "url");
    }
    let text = at.or_else(|| object.text("url")).unwrap_or("");
    let url = values::url(text).unwrap_or_else(|why| {
        // One of several is told where it stands.
        if !text.is_empty() && at.is_none() {
            object.wrong(cx.report, key, why);
        }
        values::Url { tls: word == "HTTPS", host: Host::Ip([0, 0, 0, 0].into()), port: 0, path: "/".into() }
    });
    if word == "HTTPS" && !url.tls {
        object.wrong(cx.report, key, "a check of type HTTPS needs a URL that begins with https://");
    }
    let tls_said = object.own("tls").is_some_and(|node| !matches!(node.value, Value::Bool(false)));
    if tls_said && !url.tls {
        object.wrong(cx.report, "tls", "means nothing for a URL that begins with http://");
    }
    let tls = url.tls.then(|| tls(object).unwrap_or(TlsProbe { server_name: None, verify: true }));
    let method: Name = object.name("method").unwrap_or_else(|| "GET".into());
    if let Err(why) = object::method(&method) {
        object.wrong(cx.report, "method", why);
    }
    let mut headers = object.headers(cx.report, "headers");
    let host_at = headers.iter().position(|(name, _)| name.eq_ignore_ascii_case("host"));
    let host_header = host_at.map(|at| headers.remove(at).1);
    let target = Target::at(url.host, url.port);
    let request = HttpRequest {
        method,
        path: url.path.into(),
        host: object.name("host").or(host_header),
        headers,
        body: object.text("body").unwrap_or("").as_bytes().to_vec(),
    };
    let expect = expectation(cx, expect);
    match word {
        "HTTP2" => Probe::Http2 { target, tls, request, expect },
        _ => Probe::Http { target, tls, request, expect },
    }
}

/// What a check's answer must be: 200 and any body where nothing is said.
fn expectation(cx: &mut Context<'_>, object: Option<&Object<'_>>) -> HttpExpect {
    let status = object.and_then(|object| object.statuses("status")).unwrap_or_else(|| vec![StatusRange::one(200)]);
    let mut expect = HttpExpect { status, headers: Vec::new(), body: None, trofs_code: None, trofs_body: None };
    let Some(object) = object else { return expect };
    if expect.status.is_empty() && object.own("status").and_then(Node::list).is_some_and(<[Node]>::is_empty) {
        object.wrong(cx.report, "status", "no status is accepted; the check could never pass");
    }
    expect.headers = object.headers(cx.report, "headers");
    expect.body = body_match(cx, object, ["body_contains", "body_regex", "body_json"]);
    expect
}

/// At most one of: text, expression, JSON pointer. The keys are those of the table at hand.
pub fn body_match(cx: &mut Context<'_>, object: &Object<'_>, keys: [&str; 3]) -> Option<BodyMatch> {
    let said: Vec<&str> = keys.into_iter().filter(|key| object.own(key).is_some()).collect();
    if said.len() > 1 {
        object.wrong(cx.report, said[1], format!("say one of {}", keys.map(|key| format!("`{key}`")).join(", ")));
    }
    let [contains, regex, json] = keys;
    if let Some(text) = object.text(contains) {
        return Some(BodyMatch::Contains(text.as_bytes().to_vec()));
    }
    if let Some(pattern) = object.name(regex) {
        return Some(BodyMatch::Regex(pattern));
    }
    let table = object.own(json)?.table()?;
    let pointer: Name = table.get("pointer")?.text()?.into();
    if !pointer.is_empty() && !pointer.starts_with('/') {
        object.wrong(cx.report, json, format!("`{pointer}` is not a JSON pointer such as `/status`"));
    }
    match (table.get("equals"), table.get("is").and_then(Node::text)) {
        (Some(equals), None) => Some(BodyMatch::Json { pointer, equals: json_value(equals) }),
        (None, Some(is)) => {
            if let Err(why) = Expectation::parse(is) {
                object.wrong(cx.report, json, why);
            }
            Some(BodyMatch::JsonIs { pointer, is: is.into() })
        }
        _ => {
            object.wrong(cx.report, json, "say either `equals` or `is`");
            None
        }
    }
}

fn json_value(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Text(text) | Value::Moment(text) => text.as_str().into(),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Bool(value) => (*value).into(),
        Value::List(items) => items.iter().map(json_value).collect(),
        Value::Table(table) => {
            let entries = table.entries.iter().map(|entry| (entry.key.clone(), json_value(&entry.node)));
            serde_json::Value::Object(entries.collect())
        }
    }
}
