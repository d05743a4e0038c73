//! What the first sentence of the dashboard says, for rules of alerting.

use super::Page;
use crate::admin::dto::StatusDto;
use crate::control::World;

const SCENARIO_STATES: [&str; 4] = ["inactive", "activating", "active", "deactivating"];

pub(super) fn write(look: &World<'_>, page: &mut Page) {
    let mut family = page.gauge("bascule_scenario_state", "1 for the state that the scenario is in.");
    for (scenario, view) in look.model.scenarios.iter().zip(&look.view.scenarios) {
        for state in SCENARIO_STATES {
            let value = f64::from(u8::from(view.word() == state));
            family.sample(&[("scenario", &scenario.name), ("state", state)], value);
        }
    }
    let status = StatusDto::of(look);
    let mut family = page.gauge("bascule_verdict", "1 for the severity of what /status says first.");
    for severity in ["ok", "info", "warning", "error"] {
        family.sample(&[("severity", severity)], f64::from(u8::from(status.verdict.severity == severity)));
    }
    let mut family = page.gauge("bascule_problems", "What is wrong, by severity.");
    for severity in ["info", "warning", "error"] {
        let count = status.problems.iter().filter(|problem| problem.severity == severity).count();
        family.sample(&[("severity", severity)], count as f64);
    }
    page.gauge("bascule_services_draining", "Services on their way out.").sample(&[], status.draining.len() as f64);
}
