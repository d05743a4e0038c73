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

fn names(model: &Model, kind: PolicyKind) -> Vec<&str> {
    model.policies.objects.iter().filter(|object| object.kind == kind).map(|object| &*object.name).collect()
}

/// How often a policy acted, at one vserver or at all. What does nothing is not counted.
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
