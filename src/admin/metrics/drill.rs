//! Drills.

use super::Page;
use crate::control::World;
use crate::model::drill::Ending;

pub(super) fn write(look: &World<'_>, page: &mut Page) {
    let live = look.view.live_drill();
    let mut family = page.gauge("bascule_drill_running", "1 while a drill of the scenario is not over.");
    for scenario in &look.model.scenarios {
        let running = live.is_some_and(|drill| drill.scenario == scenario.name);
        family.sample(&[("scenario", &scenario.name)], f64::from(u8::from(running)));
    }
    let mut family = page.gauge("bascule_scenario_by_drill", "1 while the scenario stands where a drill has put it.");
    for (scenario, view) in look.model.scenarios.iter().zip(&look.view.scenarios) {
        family.sample(&[("scenario", &scenario.name)], f64::from(u8::from(view.drill.is_some())));
    }
    let mut family = page.gauge("bascule_drill_reports", "Reports of drills that are kept, by outcome.");
    for outcome in Ending::WORDS {
        let over = look.drills.values().filter(|drill| drill.is_over());
        let count = over.filter(|drill| drill.ending.as_ref().is_some_and(|ending| ending.word() == outcome)).count();
        family.sample(&[("outcome", outcome)], count as f64);
    }
}
