//! Criteria: named properties of a request or an answer.

use super::Context;
use super::object::{self, Object};
use crate::config::document::{Node, Path, Table, Value};
use crate::config::values;
use crate::model::id::Name;
use crate::model::rule::{Criterion, CriterionTest, TextTest};

const TESTS: [&str; 14] = [
    "path",
    "url",
    "query_string",
    "host",
    "method",
    "header",
    "cookie",
    "query",
    "client",
    "port",
    "sni",
    "tls",
    "status",
    "response_header",
];
const TEXT_TESTS: [&str; 6] = ["equals", "starts_with", "ends_with", "contains", "one_of", "regex"];

pub fn all(cx: &mut Context<'_>) -> Vec<Criterion> {
    let root = Path::Root;
    let section = root.key("criterion");
    let mut criteria = Vec::new();
    for (name, place, table) in cx.section("criterion") {
        let object = Object::new(table, None, section.key(name), place);
        let test = criterion(cx, &object).unwrap_or(CriterionTest::Client(Vec::new()));
        criteria.push(Criterion { name: name.into(), test });
    }
    criteria.sort_by(|a, b| a.name.cmp(&b.name));
    criteria
}

fn criterion(cx: &mut Context<'_>, object: &Object<'_>) -> Option<CriterionTest> {
    let said: Vec<&str> = TESTS.into_iter().filter(|key| object.own(key).is_some()).collect();
    if said.len() != 1 {
        // A test that this build does not know was reported by the walk.
        if !said.is_empty() || object.table.entries.is_empty() {
            let found = if said.is_empty() { "none".to_owned() } else { said.join(" and ") };
            let why = format!("a criterion has exactly one test of {}, found {found}", TESTS.join(", "));
            object.wrong_whole(cx.report, why);
        }
        return None;
    }
    match said[0] {
        "path" => Some(CriterionTest::Path(text_test(cx, object, "path")??)),
        "url" => Some(CriterionTest::Url(text_test(cx, object, "url")??)),
        "query_string" => Some(CriterionTest::QueryString(text_test(cx, object, "query_string")??)),
        "host" => Some(CriterionTest::Host(text_test(cx, object, "host")??)),
        "sni" => Some(CriterionTest::Sni(text_test(cx, object, "sni")??)),
        "header" => {
            let (name, test) = named(cx, object, "header", true)?;
            Some(CriterionTest::Header { name, test })
        }
        "response_header" => {
            let (name, test) = named(cx, object, "response_header", true)?;
            Some(CriterionTest::ResponseHeader { name, test })
        }
        "cookie" => {
            let (name, test) = named(cx, object, "cookie", true)?;
            Some(CriterionTest::Cookie { name, test })
        }
        "query" => {
            let (name, test) = named(cx, object, "query", false)?;
            Some(CriterionTest::Query { name, test })
        }
        "port" => {
            let ports = object.items("port").into_iter().filter_map(|n| values::integer(n, 1, 65_535).ok());
            let ports: Vec<u16> = ports.filter_map(|port| u16::try_from(port).ok()).collect();
            empty_list(cx, object, "port", ports.is_empty());
            Some(CriterionTest::Port(ports))
        }
        "tls" => {
            if object.bool("tls") == Some(false) {
                object.wrong(cx.report, "tls", "say `true`, and negate the criterion where it is used");
            }
            Some(CriterionTest::Tls)
        }
        "status" => {
            let ranges = object.statuses("status").unwrap_or_default();
            empty_list(cx, object, "status", ranges.is_empty());
            Some(CriterionTest::Status(ranges))
        }
        "method" => {
            let methods = object.items("method").into_iter().filter_map(Node::text);
            let methods: Vec<Name> = methods.map(|method| method.to_ascii_uppercase().into()).collect();
            if let Some(why) = methods.iter().find_map(|method| object::method(method).err()) {
                object.wrong(cx.report, "method", why);
            }
            empty_list(cx, object, "method", methods.is_empty());
            Some(CriterionTest::Method(methods))
        }
        _ => {
            let networks = object.items("client").into_iter().filter_map(|n| values::network(n.text()?).ok());
            let networks: Vec<_> = networks.collect();
            empty_list(cx, object, "client", object.items("client").is_empty());
            Some(CriterionTest::Client(networks))
        }
    }
}

fn empty_list(cx: &mut Context<'_>, object: &Object<'_>, key: &str, empty: bool) {
    if empty && matches!(object.own(key).map(|n| &n.value), Some(Value::List(items)) if items.is_empty()) {
        object.wrong(cx.report, key, "an empty list is never met");
    }
}

/// A test of something that has a name, and its name; `token`: names are tokens (RFC 9110 §5.6.2).
fn named(cx: &mut Context<'_>, object: &Object<'_>, key: &str, token: bool) -> Option<(Name, Option<TextTest>)> {
    let name = object.own(key)?.table()?.get("name")?.text()?;
    if let Err(why) = if token { object::header(name, "") } else { Ok(()) } {
        object.wrong(cx.report, key, why);
    }
    Some((name.into(), text_test(cx, object, key)?))
}

/// A plain string is an exact test. The outer `None` is a problem, the inner one something named that must only be there.
fn text_test(cx: &mut Context<'_>, object: &Object<'_>, key: &str) -> Option<Option<TextTest>> {
    let node = object.own(key)?;
    if let Some(text) = node.text() {
        return Some(Some(TextTest::Equals(text.into())));
    }
    let table: &Table = node.table()?;
    let said: Vec<&str> = TEXT_TESTS.into_iter().filter(|test| table.get(test).is_some()).collect();
    match said[..] {
        [] if table.get("name").is_some() => Some(None),
        ["one_of"] => {
            let items = table.get("one_of")?.list()?;
            if items.is_empty() {
                object.wrong(cx.report, key, "`one_of` with an empty list is never met");
            }
            Some(Some(TextTest::OneOf(items.iter().filter_map(|n| n.text().map(Name::from)).collect())))
        }
        [test] => {
            let text: Name = table.get(test)?.text()?.into();
            Some(Some(match test {
                "equals" => TextTest::Equals(text),
                "starts_with" => TextTest::StartsWith(text),
                "ends_with" => TextTest::EndsWith(text),
                "contains" => TextTest::Contains(text),
                _ => TextTest::Regex(text),
            }))
        }
        _ => {
            let found = if said.is_empty() { "none".to_owned() } else { said.join(" and ") };
            object.wrong(cx.report, key, format!("say exactly one of {}, found {found}", TEXT_TESTS.join(", ")));
            None
        }
    }
}
