//! Failures that come together.

use super::Found;
use crate::control::World;
use crate::model::alert::{AlertKind, AlertSeverity, AlertSubject};
use crate::model::check::Origin;
use crate::model::condition::Truth;

pub(super) fn correlated(world: &World<'_>, found: &mut Found<'_>) {
    let kind = AlertKind::CorrelatedFailure;
    if !found.wants(kind) {
        return;
    }
    for told in &world.view.correlated {
        let text = told.text.strip_prefix("correlated_failure: ").unwrap_or(&told.text).to_owned();
        let subject = AlertSubject::new(kind, told.kind.word(), &told.name);
        found.is_so(subject, AlertSeverity::Warning, text, Some(told.since));
    }
    // After a restart a check is unknown until enough samples have failed: what stands by it stands until then.
    let standing = world.alerts.raised.values().map(|alert| &alert.subject).filter(|subject| subject.kind == kind);
    for subject in standing {
        if !found.facts.held.contains_key(subject) && is_undecided(world, subject) {
            found.unknown(subject.clone());
        }
    }
}

fn is_undecided(world: &World<'_>, subject: &AlertSubject) -> bool {
    let model = world.model;
    let is_of_it = |check: &crate::model::check::Check| match (&check.origin, &*subject.object_kind) {
        (Origin::Monitor { monitor, .. }, "monitor") => model.monitors[monitor.index()].name == subject.object,
        (Origin::Target { datacenter, signal, .. }, "datacenter") => {
            let list = subject.object.rsplit_once('.');
            list == Some((&*model.datacenters[datacenter.index()].name, signal.word()))
        }
        (Origin::User, "check") => check.name == subject.object,
        _ => false,
    };
    let checks = model.checks.iter().zip(&world.view.checks).filter(|(check, view)| !view.disabled && is_of_it(check));
    let states: Vec<Truth> = checks.map(|(_, view)| view.state).collect();
    // One that passes is enough to know that it does not fail everywhere.
    states.contains(&Truth::Unknown) && !states.contains(&Truth::True)
}
