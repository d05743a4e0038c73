//! Objects of the ADC that nothing uses, and rules that nothing reaches.

use std::collections::HashSet;

use super::Warnings;
use crate::model::condition::Subject;
use crate::model::id::{CriterionId, MonitorId, ServiceId};
use crate::model::rule::{Action, Phase, Route, Rule};

/// Criteria, monitors and services that are defined and named nowhere.
pub(super) fn unused(cx: &mut Warnings<'_>) {
    let model = cx.model;
    let of_rules = model.rules.iter().flat_map(|rule| rule.when.terms());
    let criteria: HashSet<CriterionId> = of_rules
        .filter_map(|term| match term.subject {
            Subject::Criterion(id) => Some(id),
            _ => None,
        })
        .collect();
    for (index, criterion) in model.criteria.iter().enumerate() {
        if !criteria.contains(&CriterionId::from_index(index)) {
            cx.warn("criterion", &criterion.name, None, "no rule uses it");
        }
    }
    let bound = model.services.iter().flat_map(|service| &service.settings.monitors);
    let in_groups = model.groups.iter().flat_map(|group| &group.settings.monitors);
    let monitors: HashSet<MonitorId> = bound.chain(in_groups).map(|binding| binding.monitor).collect();
    for (index, monitor) in model.monitors.iter().enumerate() {
        if !monitor.builtin && !monitors.contains(&MonitorId::from_index(index)) {
            cx.warn("monitor", &monitor.name, None, "no service is bound to it");
        }
    }
    let members = model.vservers.iter().flat_map(|vserver| &vserver.members).map(|member| member.service);
    let routed = model.rules.iter().filter_map(|rule| match rule.action {
        Action::Route(Route::Service(id)) => Some(id),
        _ => None,
    });
    let mut services: HashSet<ServiceId> = members.chain(routed).collect();
    // A condition that looks at a service uses it.
    let scenarios = model.scenarios.iter().flat_map(|scenario| &scenario.directions);
    let looked_at = scenarios.flat_map(|rules| rules.when.terms()).chain(&model.watched);
    services.extend(looked_at.filter_map(|term| match term.subject {
        Subject::Service(id, _) => Some(id),
        _ => None,
    }));
    for (index, service) in model.services.iter().enumerate() {
        if service.group.is_none() && !services.contains(&ServiceId::from_index(index)) {
            cx.warn("service", &service.name, None, "no vserver has it as a member");
        }
    }
}

/// Rules behind one that always ends the walk, or stops their bank.
pub(super) fn unreached(cx: &mut Warnings<'_>) {
    let model = cx.model;
    let ends = |rule: &Rule| match rule.action {
        // It does not act while none of these is UP.
        Action::Route(Route::Service(_) | Route::Group(_)) => false,
        _ => rule.phase == Phase::Request && rule.action.decides(),
    };
    let always = |rule: &&Rule| rule.when.groups.iter().any(|group| group.terms.is_empty());
    for last in model.rules.iter().filter(|rule| ends(rule) || rule.stop).filter(always) {
        let (place, bank) = ((last.priority, &last.name), model.policies.bank_of(&last.name));
        let behind = model.rules.iter().filter(|rule| {
            let is_behind = (rule.priority, &rule.name) > place;
            is_behind && (rule.vserver, rule.phase) == (last.vserver, last.phase)
        });
        let (behind, what) = match last.stop {
            false => (behind.collect::<Vec<_>>(), "ends the walk"),
            true => (behind.filter(|rule| model.policies.bank_of(&rule.name) == bank).collect(), "stops its bank"),
        };
        for rule in behind {
            let what = format!("is never asked: rule `{}` before it always acts, and {what}", last.name);
            cx.warn("rule", &rule.name, None, &what);
        }
    }
}
