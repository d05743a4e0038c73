//! Traffic rules: which vserver, when, what.

pub(in crate::config) mod action;

use std::collections::HashMap;

use super::Context;
use super::object::Object;
use super::term::{Scope, condition};
use crate::config::document::Path;
use crate::model::condition::{Condition, Group, Subject};
use crate::model::id::{VserverId, WatchedId};
use crate::model::rule::{Action, Criterion, CriterionTest, Phase, Rule};
use crate::model::service::Service;
use crate::model::vserver::{Role, Vserver};

/// What rules refer to.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    pub vservers: &'a [Vserver],
    pub services: &'a [Service],
    pub criteria: &'a [Criterion],
}

pub fn all(cx: &mut Context<'_>, known: Known<'_>) -> Vec<Rule> {
    let root = Path::Root;
    let section = root.key("rule");
    let mut rules = Vec::new();
    let mut taken: HashMap<(VserverId, u32), &str> = HashMap::new();
    for (name, place, table) in cx.section("rule") {
        let object = Object::new(table, None, section.key(name), place);
        let Some(rule) = rule(cx, &object, name, known) else { continue };
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

fn rule(cx: &mut Context<'_>, object: &Object<'_>, name: &str, known: Known<'_>) -> Option<Rule> {
    let when = match object.own("when") {
        Some(node) => condition(cx, node, object.path.key("when"), Scope::Rule),
        None => always(),
    };
    let vserver = object.text("vserver").and_then(|vserver| {
        let path = object.path.key("vserver");
        cx.names.vservers.find(cx.report, vserver, object.place_of("vserver"), path)
    });
    let phase = if object.text("phase") == Some("response") { Phase::Response } else { Phase::Request };
    let action = action::action(cx, object, phase, vserver.and_then(|id| known.vservers.get(id)), known);
    let vserver = VserverId::from_index(vserver?);
    let of = known.vservers.get(vserver.index())?;
    fits(cx, object, of, phase, &when, action.as_ref(), known);
    let watched = watched(cx, &when);
    let priority = object.int("priority").unwrap_or(1);
    let (action, stop) = (action?, object.bool("stop").unwrap_or(false));
    if stop && action.decides() {
        object.wrong(cx.report, "stop", "nothing behind a rule that answers, refuses or routes is asked; leave it out");
    }
    Some(Rule { name: name.into(), vserver, priority, phase, when, watched, action, stop })
}

/// One group without terms.
fn always() -> Condition {
    Condition { groups: vec![Group { name: "always".into(), named: false, terms: Vec::new() }] }
}

/// Whether the vserver, the phase, the action and every criterion go together.
fn fits(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    vserver: &Vserver,
    phase: Phase,
    when: &Condition,
    action: Option<&Action>,
    known: Known<'_>,
) {
    let protocol = vserver.protocol;
    if protocol.is_datagram() && !protocol.is_stream() {
        let why = format!("rules are for connections and requests; `{}` is of type {}", vserver.name, protocol.word());
        object.wrong(cx.report, "vserver", why);
        return;
    }
    if !protocol.is_http() {
        if phase == Phase::Response {
            object.wrong(
                cx.report,
                "phase",
                format!("a vserver of type {} has no answers to look at", protocol.word()),
            );
        }
        if !matches!(action, None | Some(Action::Reject | Action::Route(_) | Action::Count)) {
            let why = format!("on a vserver of type {} a rule can `reject`, `route` and `count` only", protocol.word());
            object.wrong(cx.report, "action", why);
        }
    }
    if vserver.role != Role::Lb
        && let Some(Action::Route(route)) = action
        && !matches!(route, crate::model::rule::Route::Vserver(_))
    {
        object.wrong(cx.report, "action", "a content-switching vserver has no members; route to a vserver");
    }
    let criteria = when.groups.iter().flat_map(|group| &group.terms).filter_map(|term| match term.subject {
        Subject::Criterion(id) => known.criteria.get(id.index()),
        _ => None,
    });
    for criterion in criteria {
        let of_connection = matches!(
            criterion.test,
            CriterionTest::Client(_) | CriterionTest::Port(_) | CriterionTest::Sni(_) | CriterionTest::Tls
        );
        let of_answer = matches!(criterion.test, CriterionTest::Status(_) | CriterionTest::ResponseHeader { .. });
        if !protocol.is_http() && !of_connection {
            let why = format!(
                "the criterion `{}` looks at a request, which a vserver of type {} does not read",
                criterion.name,
                protocol.word()
            );
            object.wrong(cx.report, "when", why);
        } else if of_answer && phase == Phase::Request {
            let why = format!("the criterion `{}` looks at the answer; add `phase = \"response\"`", criterion.name);
            object.wrong(cx.report, "when", why);
        }
    }
}

/// Puts the board terms of a condition on the board.
pub(super) fn watched(cx: &mut Context<'_>, when: &Condition) -> Vec<Vec<Option<WatchedId>>> {
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
