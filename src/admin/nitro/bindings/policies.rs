//! Where a policy is bound: the way back from a vserver's bindings.

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
            rows.push(row);
        }
    }
    rows
}
