//! Where a policy is bound: the way back from a vserver's bindings.

use std::sync::atomic::Ordering;

use super::super::answer::Object;
use super::super::live::{double, put};
use super::Binding;
use crate::control::World;
use crate::model::Model;
use crate::model::policy::{PolicyBank, PolicyKind};
use crate::model::vserver::Role;

macro_rules! back {
    ($nitro:literal, $owner:literal, $key:literal, $kind:ident, $bank:ident, $is_cs:literal) => {
        Binding {
            nitro: $nitro,
            owner: $owner,
            key: $key,
            owners: |model| names(model, PolicyKind::$kind),
            of: |world, name| places(world, PolicyBank::$bank, $is_cs, $key, name),
        }
    };
}

pub(in crate::admin::nitro) static POLICIES: &[Binding] = &[
    back!("cspolicy_csvserver_binding", "cspolicy", "policyname", CsPolicy, Cs, true),
    back!("responderpolicy_csvserver_binding", "responderpolicy", "name", ResponderPolicy, Responder, true),
    back!("responderpolicy_lbvserver_binding", "responderpolicy", "name", ResponderPolicy, Responder, false),
    back!("rewritepolicy_csvserver_binding", "rewritepolicy", "name", RewritePolicy, Rewrite, true),
    back!("rewritepolicy_lbvserver_binding", "rewritepolicy", "name", RewritePolicy, Rewrite, false),
];

/// Bindings of policies to vservers.
const OF_VSERVERS: [&str; 5] = [
    "csvserver_cspolicy_binding",
    "csvserver_responderpolicy_binding",
    "csvserver_rewritepolicy_binding",
    "lbvserver_responderpolicy_binding",
    "lbvserver_rewritepolicy_binding",
];

fn names(model: &Model, kind: PolicyKind) -> Vec<&str> {
    model.policies.objects.iter().filter(|object| object.kind == kind).map(|object| &*object.name).collect()
}

/// How often a policy was met, at one vserver or at all.
pub(in crate::admin::nitro) fn hits(world: &World<'_>, bank: PolicyBank, policy: &str, vserver: Option<&str>) -> u64 {
    let model = world.model;
    let of = |rule: &crate::model::rule::Rule| {
        let made = model.policies.rules.get(&rule.name);
        made.is_some_and(|(of, name)| *of == bank && **name == *policy)
            && vserver.is_none_or(|vserver| *model.vserver(rule.vserver).name == *vserver)
    };
    let counted = model.rules.iter().zip(&world.snapshot.rules).filter(|(rule, _)| of(rule));
    counted.map(|(_, live)| live.hits_total.load(Ordering::Relaxed)).sum()
}

/// Lays it over a policy, or over a binding of one.
pub(in crate::admin::nitro) fn count(world: &World<'_>, nitro: &str, object: &mut Object) {
    let bank = match nitro {
        "cspolicy" | "csvserver_cspolicy_binding" => PolicyBank::Cs,
        "responderpolicy" | "csvserver_responderpolicy_binding" | "lbvserver_responderpolicy_binding" => {
            PolicyBank::Responder
        }
        "rewritepolicy" | "csvserver_rewritepolicy_binding" | "lbvserver_rewritepolicy_binding" => PolicyBank::Rewrite,
        _ => return,
    };
    let text = |key: &str| object.get(key).and_then(|value| value.as_str()).map(str::to_owned);
    let name = text("name");
    let (policy, vserver) = match (text("policyname"), nitro.ends_with("_binding")) {
        (Some(policy), true) => (policy, name),
        (policy, _) => (policy.or(name).unwrap_or_default(), None),
    };
    put(object, "hits", double(hits(world, bank, &policy, vserver.as_deref())));
    if bank != PolicyBank::Cs && vserver.is_none() {
        // An expression is true or false of every request.
        put(object, "undefhits", double(0));
    }
}

/// Orders the policies of each vserver as they are asked: those on requests before those on answers, each by priority;
/// without a priority they come last. Bindings of anything else stay as they are.
pub(in crate::admin::nitro) fn order(nitro: &str, rows: &mut [Object]) {
    if !OF_VSERVERS.contains(&nitro) {
        return;
    }
    let of_answer = |row: &Object| row.get("bindpoint").is_some_and(|point| point == "RESPONSE");
    let priority = |row: &Object| {
        let said = row.get("priority").and_then(|priority| priority.as_str());
        said.and_then(|said| said.parse::<u64>().ok()).unwrap_or(u64::MAX)
    };
    for of_one in rows.chunk_by_mut(|one, next| one.get("name") == next.get("name")) {
        of_one.sort_by_key(|row| (of_answer(row), priority(row)));
    }
}

fn places(world: &World<'_>, bank: PolicyBank, is_cs: bool, key: &str, name: &str) -> Vec<Object> {
    let mut rows = Vec::new();
    for vserver in world.model.vservers.iter().filter(|vserver| matches!(vserver.role, Role::Cs { .. }) == is_cs) {
        for bound in vserver.policies.iter().filter(|bound| bound.bank == bank && *bound.policy == *name) {
            let mut row = Object::new();
            put(&mut row, key, name);
            put(&mut row, "boundto", &*vserver.name);
            if let Some(priority) = bound.priority {
                put(&mut row, "priority", double(priority));
            }
            put(&mut row, "gotopriorityexpression", if bound.goes_on { "NEXT" } else { "END" });
            put(&mut row, "bindpoint", if bound.of_answer { "RESPONSE" } else { "REQUEST" });
            put(&mut row, "hits", double(hits(world, bank, name, Some(&vserver.name))));
            rows.push(row);
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bindings_of_a_vserver_are_ordered_as_they_are_asked() {
        let row = |name: &str, policy: &str, priority: Option<&str>, point: &str| {
            let mut row = Object::new();
            put(&mut row, "name", name);
            put(&mut row, "policyname", policy);
            put(&mut row, "bindpoint", point);
            row.extend(priority.map(|priority| ("priority".to_owned(), json!(priority))));
            row
        };
        let mut rows = vec![
            row("v", "answer", Some("1"), "RESPONSE"),
            row("v", "unsaid", None, "REQUEST"),
            row("v", "late", Some("100"), "REQUEST"),
            row("v", "early", Some("9"), "REQUEST"),
            row("a", "other", Some("5"), "REQUEST"),
        ];
        order("csvserver_rewritepolicy_binding", &mut rows);
        let names: Vec<&str> = rows.iter().filter_map(|row| row["policyname"].as_str()).collect();
        assert_eq!(names, ["early", "late", "unsaid", "answer", "other"]);
    }
}
