//! Criteria and traffic rules.

use super::check::{headers, plain, statuses};
use super::text::{Text, Value};
use super::{condition, opens_a_table};
use crate::config::units::format_size;
use crate::model::Model;
use crate::model::id::Name;
use crate::model::rule::{Action, CriterionTest, Edit, Phase, Route, Rule, TextTest};

pub(super) fn criteria(out: &mut Text, model: &Model) {
    for criterion in model.criteria.iter().filter(|one| !model.policies.criteria.contains(&one.name)) {
        out.table(&["criterion", &criterion.name]);
        match &criterion.test {
            CriterionTest::Path(test) => out.key("path", Value::Inline(vec![text_test(test)])),
            CriterionTest::Url(test) => out.key("url", Value::Inline(vec![text_test(test)])),
            CriterionTest::QueryString(test) => out.key("query_string", Value::Inline(vec![text_test(test)])),
            CriterionTest::Host(test) => out.key("host", Value::Inline(vec![text_test(test)])),
            CriterionTest::Method(methods) => out.key("method", Value::strs(methods)),
            CriterionTest::Header { name, test } => out.key("header", named(name, test.as_ref())),
            CriterionTest::Cookie { name, test } => out.key("cookie", named(name, test.as_ref())),
            CriterionTest::Query { name, test } => out.key("query", named(name, test.as_ref())),
            CriterionTest::ResponseHeader { name, test } => out.key("response_header", named(name, test.as_ref())),
            CriterionTest::Client(networks) => {
                out.key("client", Value::List(networks.iter().map(Value::show).collect()));
            }
            CriterionTest::Port(ports) => {
                out.key("port", Value::List(ports.iter().map(|port| Value::Int((*port).into())).collect()));
            }
            CriterionTest::Sni(test) => out.key("sni", Value::Inline(vec![text_test(test)])),
            CriterionTest::Tls => out.key("tls", Value::Bool(true)),
            CriterionTest::Status(ranges) => out.key("status", statuses(ranges)),
        }
    }
}

fn named(name: &Name, test: Option<&TextTest>) -> Value {
    let mut entries = vec![("name".into(), Value::str(name))];
    entries.extend(test.map(text_test));
    Value::Inline(entries)
}

fn text_test(test: &TextTest) -> (String, Value) {
    let (key, text) = match test {
        TextTest::Equals(text) => ("equals", text),
        TextTest::StartsWith(text) => ("starts_with", text),
        TextTest::EndsWith(text) => ("ends_with", text),
        TextTest::Contains(text) => ("contains", text),
        TextTest::Regex(text) => ("regex", text),
        TextTest::OneOf(texts) => return ("one_of".into(), Value::strs(texts)),
    };
    (key.into(), Value::str(text))
}

pub(super) fn rules(out: &mut Text, model: &Model) {
    for rule in model.rules.iter().filter(|rule| !model.policies.rules.contains_key(&rule.name)) {
        self::rule(out, model, rule);
    }
}

fn rule(out: &mut Text, model: &Model, rule: &Rule) {
    let path = ["rule", &*rule.name];
    out.table(&path);
    out.key("vserver", Value::str(&model.vserver(rule.vserver).name));
    out.key("priority", Value::Int(rule.priority.into()));
    if rule.phase == Phase::Response {
        out.key("phase", Value::str("response"));
    }
    let always = rule.when.groups.iter().any(|group| group.terms.is_empty());
    if !always && !opens_a_table(&rule.when) {
        condition(out, &path, "when", &rule.when);
    }
    out.key("action", action(model, &rule.action));
    if rule.stop {
        out.key("stop", Value::Bool(true));
    }
    if !always && opens_a_table(&rule.when) {
        condition(out, &path, "when", &rule.when);
    }
}

fn action(model: &Model, action: &Action) -> Value {
    let (key, value) = match action {
        Action::Respond { status, headers: fields, body } => {
            let mut entries = vec![("status".into(), Value::Int((*status).into()))];
            entries.extend(headers(fields).map(|fields| ("headers".into(), fields)));
            entries.push(("body".into(), Value::Str(plain(body))));
            ("respond", Value::Inline(entries))
        }
        Action::Reject => ("reject", Value::Bool(true)),
        Action::Count => ("count", Value::Bool(true)),
        Action::Redirect { status, location } => {
            let entries =
                vec![("status".into(), Value::Int((*status).into())), ("location".into(), Value::str(location))];
            ("redirect", Value::Inline(entries))
        }
        Action::Route(to) => {
            let (key, name) = match to {
                Route::Vserver(id) => ("vserver", &model.vserver(*id).name),
                Route::Service(id) => ("service", &model.service(*id).name),
                Route::Group(id) => ("group", &model.groups[id.index()].name),
            };
            ("route", Value::Inline(vec![(key.into(), Value::str(name))]))
        }
        Action::Edit(edits) => ("edit", Value::List(edits.iter().map(edit).collect())),
        Action::Mirror { to, percent, body_limit } => {
            let entries = vec![
                ("vserver".into(), Value::str(&model.vserver(*to).name)),
                ("percent".into(), Value::Int((*percent).into())),
                ("body_limit".into(), Value::Str(format_size(*body_limit))),
            ];
            ("mirror", Value::Inline(entries))
        }
    };
    Value::Inline(vec![(key.into(), value)])
}

fn edit(edit: &Edit) -> Value {
    let pair = |key: &str, text: &Name| (key.to_owned(), Value::str(text));
    Value::Inline(match edit {
        Edit::Set { name, value } => vec![pair("set", name), pair("value", value)],
        Edit::Add { name, value } => vec![pair("add", name), pair("value", value)],
        Edit::Remove { name } => vec![pair("remove", name)],
        Edit::Path { pattern, to } => vec![pair("path", pattern), pair("to", to)],
        Edit::Url { to, whole } => vec![pair(if *whole { "url" } else { "url_path" }, to)],
        Edit::RemoveCookie { name } => vec![pair("remove_cookie", name)],
        Edit::SetCookie { name, value } => vec![pair("set_cookie", name), pair("value", value)],
        Edit::Status(status) => vec![("status".to_owned(), Value::Int((*status).into()))],
    })
}
