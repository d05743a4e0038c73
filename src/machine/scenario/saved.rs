//! A scenario as it is saved, restored and shown.

use super::{Direction, ScenarioMachine};
use crate::model::id::Name;
use crate::model::scenario::{Mode, Scenario};
use crate::model::state::{AttemptView, GroupView, ModeView, SavedScenario, ScenarioView, TermView};
use crate::model::time::Now;

// === impl ScenarioMachine ===

impl ScenarioMachine {
    /// Takes over what was saved. Holds start anew: time on the monotonic clock did not survive.
    pub fn restore(&mut self, saved: &SavedScenario, now: Now) {
        self.active = saved.active;
        self.seq = saved.seq;
        self.entered = Now::new(now.tick, saved.entered_at);
        self.dwelt = now.wall.since(saved.entered_at);
        self.forced = saved.forced;
        self.automatic = saved.automatic_commits.iter().copied().collect();
        self.last_transition.clone_from(&saved.last_transition);
        self.attempts = saved.attempts;
        self.drill = saved.drill;
        let out = Direction::out_of(self.active);
        for group in &mut self.directions[out.index()].groups {
            group.armed = !saved.disarmed.contains(&group.name);
        }
    }

    pub fn saved(&self, rules: &Scenario) -> SavedScenario {
        let out = Direction::out_of(self.active);
        SavedScenario {
            name: Name::clone(&rules.name),
            active: self.active,
            seq: self.seq,
            entered_at: self.entered.wall,
            forced: self.forced,
            disarmed: self.directions[out.index()]
                .groups
                .iter()
                .filter(|g| !g.armed)
                .map(|g| Name::clone(&g.name))
                .collect(),
            automatic_commits: self.automatic.iter().copied().collect(),
            definition: self.definition,
            last_transition: self.last_transition.clone(),
            attempts: self.attempts,
            drill: self.drill,
            archived: false,
        }
    }

    /// Shows the scenario in `view`, whose vectors are used again: this runs at every look.
    pub fn show(&self, rules: &Scenario, now: Now, view: &mut ScenarioView) {
        view.active = self.active;
        view.attempt = self.attempt.as_ref().map(|a| AttemptView {
            id: a.id,
            direction: a.direction,
            started_at: a.started_at,
            deadline: a.deadline,
            detail: Name::clone(&a.detail),
        });
        view.refused.clone_from(&self.refused);
        view.seq = self.seq;
        view.since = self.entered.wall;
        view.modes = Direction::BOTH.map(|d| ModeView {
            mode: self.modes[d.index()].mode,
            base: rules.directions[d.index()].base_mode,
            spent: self.modes[d.index()].spent,
        });
        view.stuck = self.stuck;
        view.ready_to_return = self.active
            && self.modes[Direction::Deactivate.index()].mode == Mode::Off
            && self.value(Direction::Deactivate).is_true();
        view.oscillating = self.is_oscillating(now.wall, rules);
        for (run, shown) in self.directions.iter().zip(&mut view.groups) {
            shown.resize_with(run.groups.len(), GroupView::default);
            for (group, shown) in run.groups.iter().zip(shown) {
                (shown.value, shown.armed) = (group.value, group.armed);
                shown.terms.clear();
                let terms = group.terms.iter();
                shown.terms.extend(terms.map(|t| TermView { value: t.value, since: t.since, hold_ends: t.hold_ends }));
            }
        }
        view.drill = self.drill;
        view.last_transition.clone_from(&self.last_transition);
    }
}

/// Equal for equal definitions (FNV-1a over the whole of it); saved beside the state.
pub fn fingerprint(rules: &Scenario) -> u64 {
    format!("{rules:?}")
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3))
}
