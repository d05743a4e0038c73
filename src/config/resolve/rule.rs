//! Criteria and traffic rules.

use std::collections::HashMap;

use super::Context;
use super::object::{self, Object};
use super::term::{Scope, condition};
use crate::config::document::{Node, Path, Table, Value};
use crate::config::values;
use crate::model::condition::{Condition, Subject};
use crate::model::id::{Name, VserverId, WatchedId};
use crate::model::rule::{Action, Criterion, CriterionTest, Phase, Rule, TextTest};
use crate::model::service::Protocol;
use crate::model::vserver::Vserver;

const TESTS: [&str; 5] = ["path", "host", "method", "header", "client"];
const TEXT_TESTS: [&str; 5] = ["equals", "starts_with", "ends_with", "contains", "regex"];

pub fn criteria(cx: &mut Context<'_>) -> Vec<Criterion> {
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
        "host" => Some(CriterionTest::Host(text_test(cx, object, "host")??)),
        "header" => {
            let name = object.own("header")?.table()?.get("name")?.text()?;
            if let Err(why) = object::header(name, "") {
                object.wrong(cx.report, "header", why);
            }
            Some(CriterionTest::Header { name: name.into(), test: text_test(cx, object, "header")? })
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

/// A plain string is an exact test. The outer `None` is a problem, the inner one a header that must only be there.
fn text_test(cx: &mut Context<'_>, object: &Object<'_>, key: &str) -> Option<Option<TextTest>> {
    let node = object.own(key)?;
    if let Some(text) = node.text() {
        return Some(Some(TextTest::Equals(text.into())));
    }
    let table: &Table = node.table()?;
    let said: Vec<&str> = TEXT_TESTS.into_iter().filter(|test| table.get(test).is_some()).collect();
    match said[..] {
        [] if key == "header" => Some(None),
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

pub fn all(cx: &mut Context<'_>, vservers: &[Vserver]) -> Vec<Rule> {
    let root = Path::Root;
    let section = root.key("rule");
    let mut rules = Vec::new();
    let mut taken: HashMap<(VserverId, u32), &str> = HashMap::new();
    for (name, place, table) in cx.section("rule") {
        let object = Object::new(table, None, section.key(name), place);
        let Some(rule) = rule(cx, &object, name, vservers) else { continue };
        if object.int::<u32>("priority").is_some()
            && let Some(other) = taken.insert((rule.vserver, rule.priority), name)
        {
            let why = format!("{} is the priority of the rule `{other}` of the same vserver already", rule.priority);
            object.wrong(cx.report, "priority", why);
        }
        rules.push(rule);
    }
    rules.sort_by(|a, b| a.name.cmp(&b.name));
    rules
}

fn rule(cx: &mut Context<'_>, object: &Object<'_>, name: &str, vservers: &[Vserver]) -> Option<Rule> {
    let when = object
        .own("when")
        .map_or_else(Condition::default, |node| condition(cx, node, object.path.key("when"), Scope::Rule));
    let action = action(cx, object);
    let vserver = object.text("vserver").and_then(|vserver| {
        let path = object.path.key("vserver");
        cx.names.vservers.find(cx.report, vserver, object.place_of("vserver"), path)
    })?;
    if vservers.get(vserver).is_some_and(|vserver| vserver.protocol == Protocol::Tcp) {
        object.wrong(
            cx.report,
            "vserver",
            "rules are for vservers of type HTTP in this build; this one is of type TCP",
        );
    }
    let watched = watched(cx, &when);
    let priority = object.int("priority").unwrap_or(1);
    Some(Rule {
        name: name.into(),
        vserver: VserverId::from_index(vserver),
        priority,
        phase: Phase::Request,
        when,
        watched,
        action: action?,
    })
}

fn watched(cx: &mut Context<'_>, when: &Condition) -> Vec<Vec<Option<WatchedId>>> {
    let mut all = Vec::with_capacity(when.groups.len());
    for group in &when.groups {
        let mut ids = Vec::with_capacity(group.terms.len());
        for term in &group.terms {
            let criterion = matches!(term.subject, Subject::Criterion(_));
            ids.push(if criterion { None } else { Some(cx.watch(term.clone())) });
        }
        all.push(ids);
    }
    all
}

fn action(cx: &mut Context<'_>, object: &Object<'_>) -> Option<Action> {
    let (table, place) = object.inner("action")?;
    let inner = Object::new(table, None, object.path.key("action"), place);
    let known = ["respond", "reject", "redirect"];
    let said: Vec<&str> = known.into_iter().filter(|key| inner.own(key).is_some()).collect();
    if said.len() != 1 {
        if !said.is_empty() || table.entries.is_empty() {
            let found = if said.is_empty() { "none".to_owned() } else { said.join(" and ") };
            inner.wrong_whole(
                cx.report,
                format!("a rule has exactly one action of {}, found {found}", known.join(", ")),
            );
        }
        return None;
    }
    match said[0] {
        "reject" => {
            if inner.bool("reject") == Some(false) {
                inner.wrong(cx.report, "reject", "false is no action; leave the rule out");
            }
            Some(Action::Reject)
        }
        "respond" => respond(cx, &inner),
        _ => redirect(cx, &inner),
    }
}

fn respond(cx: &mut Context<'_>, action: &Object<'_>) -> Option<Action> {
    let (table, place) = action.inner("respond")?;
    let inner = Object::new(table, None, action.path.key("respond"), place);
    let headers = inner.headers(cx.report, "headers");
    // Length and framing follow from the body; a second opinion would split responses.
    let framing = |name: &str| ["content-length", "transfer-encoding", "connection"].contains(&name);
    if let Some((name, _)) = headers.iter().find(|(name, _)| framing(&name.to_ascii_lowercase())) {
        inner.wrong(cx.report, "headers", format!("`{name}` is set from the body"));
    }
    let status: u16 = inner.int("status")?;
    let body = inner.text("body").unwrap_or("").as_bytes().to_vec();
    if matches!(status, 204 | 304) && !body.is_empty() {
        inner.wrong(cx.report, "body", format!("an answer with status {status} has no body"));
    }
    Some(Action::Respond { status, headers, body })
}

fn redirect(cx: &mut Context<'_>, action: &Object<'_>) -> Option<Action> {
    let (table, place) = action.inner("redirect")?;
    let inner = Object::new(table, None, action.path.key("redirect"), place);
    let status: u16 = inner.int("status").unwrap_or(302);
    if (304..307).contains(&status) {
        inner.wrong(cx.report, "status", format!("{status} is none of 301, 302, 303, 307, 308"));
    }
    let location: Name = inner.text("location")?.into();
    let mut rest = &*location;
    while let Some((_, after)) = rest.split_once('{') {
        let name = after.split_once('}').map(|(name, _)| name);
        if !name.is_some_and(|name| ["path", "query", "host"].contains(&name)) {
            inner.wrong(
                cx.report,
                "location",
                "replaced are `{path}`, `{query}` and `{host}`; other braces are %7B and %7D",
            );
            break;
        }
        rest = after;
    }
    if location.bytes().any(|b| b <= b' ' || b == 0x7f) {
        inner.wrong(cx.report, "location", "a space or control character must be percent-encoded");
    }
    Some(Action::Redirect { status, location })
}
