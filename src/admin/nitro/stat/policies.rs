//! How often policies were met: those of content switching, of the responder and of rewriting.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use super::super::answer::Object;
use super::super::live::{double, put};
use crate::control::World;
use crate::model::id::Name;
use crate::model::policy::{PolicyBank, PolicyKind};

/// Requests that met a policy at all vservers together, and how many a second.
#[derive(Clone, Copy, Default)]
struct Met {
    total: u64,
    per_second: u64,
}

/// A policy each, in the order of their names.
pub(super) fn of(world: &World<'_>, bank: PolicyBank) -> Vec<Object> {
    let (kind, key) = match bank {
        PolicyBank::Cs => (PolicyKind::CsPolicy, "policyname"),
        PolicyBank::Responder => (PolicyKind::ResponderPolicy, "name"),
        PolicyBank::Rewrite => (PolicyKind::RewritePolicy, "name"),
    };
    let met = all_met(world, bank);
    let policies = world.model.policies.objects.iter().filter(|object| object.kind == kind);
    let shown = policies.map(|policy| {
        let met = met.get(&policy.name).copied().unwrap_or_default();
        let mut object = Object::new();
        put(&mut object, key, &*policy.name);
        put(&mut object, "pipolicyhits", double(met.total));
        put(&mut object, "pipolicyhitsrate", met.per_second);
        if bank != PolicyBank::Cs {
            // An expression is true or false of every request.
            put(&mut object, "pipolicyundefhits", double(0));
            put(&mut object, "pipolicyundefhitsrate", 0);
        }
        object
    });
    shown.collect()
}

/// Of the policies of a bank that are bound.
fn all_met<'w>(world: &World<'w>, bank: PolicyBank) -> BTreeMap<&'w Name, Met> {
    let mut all: BTreeMap<&Name, Met> = BTreeMap::new();
    // A snapshot of another model says nothing of these positions.
    if world.snapshot.rules.len() != world.model.rules.len() {
        return all;
    }
    for (rule, live) in world.model.rules.iter().zip(&world.snapshot.rules) {
        let Some((_, policy)) = world.model.policies.rules.get(&rule.name).filter(|(of, _)| *of == bank) else {
            continue;
        };
        let total = live.hits_total.load(Ordering::Relaxed);
        let met = all.entry(policy).or_default();
        met.total += total;
        met.per_second += live.rate.per_second(world.now.tick, total);
    }
    all
}
