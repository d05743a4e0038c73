//! Policies as they are at work: where they are bound, and how often they acted. What they say is in the configuration.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering::Relaxed;

use super::text;
use crate::control::World;
use crate::model::policy::{PolicyBank, Said};

dto! {
    /// A policy at work.
    pub struct PolicyDto {
        pub name: String,
        /// `responder`, `rewrite` or `cs` (content switching); a name may stand for one of each.
        pub kind: String,
        /// The action that it names; null: its bindings say where it leads.
        pub action: Option<String>,
        /// Requests or answers that met it, since the process started.
        pub hits: u64,
        /// The same per second, over the last 14 s.
        pub hits_per_second: u64,
        /// Where it is bound: to all vservers at once first, then by vserver.
        pub bindings: Vec<PolicyBindingDto>,
    }

    /// A policy at a vserver, or at all of them.
    pub struct PolicyBindingDto {
        /// `global`, and `bank` not null: every vserver of type HTTP and SSL with an address (`[policy_global]`).
        pub vserver: String,
        /// Of a global one: `OVERRIDE` (asked before the vserver's own) or `DEFAULT` (behind them).
        pub bank: Option<String>,
        /// Lower first, within its kind and bind point; null: behind all that have one.
        pub priority: Option<u32>,
        /// `END`: where it acts no later one of its kind is asked; `NEXT`: they are.
        pub goto: String,
        /// `REQUEST` or `RESPONSE`.
        pub bind_point: String,
        /// Where it leads in place of what its action says.
        pub target: Option<String>,
        /// Requests or answers of this vserver, or of all, that met it by this binding, since the process started.
        pub hits: u64,
        /// The same per second, over the last 14 s.
        pub hits_per_second: u64,
    }
}

// === impl PolicyDto ===

impl PolicyDto {
    /// All of them, in the order in which their kinds are asked, by name; `vserver`: only those that are bound to it
    /// alone, and of their bindings only those, in the order in which they are asked there.
    pub fn all(world: &World<'_>, vserver: Option<&str>) -> Vec<PolicyDto> {
        let mut hits: BTreeMap<(PolicyBank, &str, Option<&str>), (u64, u64)> = BTreeMap::new();
        // A snapshot of another model says nothing of these positions.
        let is_of_it = world.snapshot.rules.len() == world.model.rules.len();
        for (rule, live) in world.model.rules.iter().zip(&world.snapshot.rules).filter(|_| is_of_it) {
            if let Some((bank, policy)) = world.model.policies.rules.get(&rule.name) {
                let is_global = world.model.policies.global_rules.contains(&rule.name);
                let at = (!is_global).then(|| &*world.model.vserver(rule.vserver).name);
                let at = (*bank, &**policy, at);
                let total = live.hits_total.load(Relaxed);
                let (all, per_second) = hits.entry(at).or_default();
                *all += total;
                *per_second += live.rate.per_second(world.now.tick, total);
            }
        }
        let mut bound: BTreeMap<(PolicyBank, &str), Vec<PolicyBindingDto>> = BTreeMap::new();
        let wanted = world.model.vservers.iter().filter(|one| vserver.is_none_or(|name| *one.name == *name));
        let own = wanted.flat_map(|one| one.policies.iter().map(move |policy| (Some(&*one.name), policy)));
        let global = world.model.policies.global.iter().filter(|_| vserver.is_none()).map(|policy| (None, policy));
        for (at, policy) in global.chain(own) {
            let (met, per_second) = hits.get(&(policy.bank, &*policy.policy, at)).copied().unwrap_or_default();
            let bank = at.is_none().then(|| if policy.overrides { "OVERRIDE" } else { "DEFAULT" }.into());
            bound.entry((policy.bank, &*policy.policy)).or_default().push(PolicyBindingDto {
                vserver: at.unwrap_or("global").into(),
                bank,
                priority: policy.priority,
                goto: if policy.goes_on { "NEXT" } else { "END" }.into(),
                bind_point: if policy.of_answer { "RESPONSE" } else { "REQUEST" }.into(),
                target: policy.target.as_deref().map(text),
                hits: met,
                hits_per_second: per_second,
            });
        }
        let mut all: Vec<PolicyDto> = Vec::new();
        for bank in PolicyBank::ALL {
            let of_bank = world.model.policies.objects.iter().filter(|object| object.kind.section() == bank.section());
            all.extend(of_bank.filter_map(|object| {
                let bindings = bound.remove(&(bank, &*object.name)).unwrap_or_default();
                let action = object.says.iter().find_map(|(key, said)| match said {
                    Said::Text(action) if *key == "action" => Some(text(action)),
                    _ => None,
                });
                let hits = bindings.iter().map(|one| one.hits).sum();
                let hits_per_second = bindings.iter().map(|one| one.hits_per_second).sum();
                let is_wanted = vserver.is_none() || !bindings.is_empty();
                let name = text(&object.name);
                is_wanted.then(|| PolicyDto { name, kind: word(bank), action, hits, hits_per_second, bindings })
            }));
        }
        if vserver.is_some() {
            let asked = |one: &PolicyDto| {
                let binding = &one.bindings[0];
                let bank = PolicyBank::ALL.into_iter().position(|bank| word(bank) == one.kind);
                (binding.bind_point == "RESPONSE", bank, binding.priority.unwrap_or(u32::MAX))
            };
            all.sort_by_key(asked);
        }
        all
    }
}

fn word(bank: PolicyBank) -> String {
    match bank {
        PolicyBank::Responder => "responder",
        PolicyBank::Rewrite => "rewrite",
        PolicyBank::Cs => "cs",
    }
    .into()
}
