//! Scenarios under a new model.

use std::collections::HashMap;

use super::Former;
use crate::machine::Effect;
use crate::machine::engine::admin::mode_run;
use crate::machine::engine::{Engine, ScenarioRun};
use crate::machine::scenario::{ModeRun, ScenarioMachine, fingerprint};
use crate::model::Model;
use crate::model::id::{Kind, Name, ObjectRef, ScenarioId};
use crate::model::scenario::{Direction, Scenario};
use crate::model::state::{Override, OverrideKey, OverrideValue, PairView, SavedScenario, Slot};

// === impl Engine ===

impl Engine {
    pub(super) fn adopt_scenarios(&mut self, model: &Model, former: &mut Former, effects: &mut Vec<Effect>) {
        let mut rank = vec![0; model.scenarios.len()];
        for (position, id) in model.scenario_order.iter().enumerate() {
            rank[id.index()] = u32::try_from(position).expect("fewer scenarios than 2^32");
        }
        self.scenarios.clear();
        for (i, rules) in model.scenarios.iter().enumerate() {
            let id = ScenarioId::from_index(i);
            let mut machine = self.adopt_scenario(id, model, former, effects);
            for direction in Direction::BOTH {
                self.adopt_mode(&mut machine, rules, direction);
            }
            self.scenarios.push(ScenarioRun { machine, rank: rank[i], row: None, timer: None });
        }
        for saved in former.saved.values().filter(|s| !s.archived && model.scenario_id(&s.name).is_none()) {
            // Removed while the appliance was down.
            effects.push(Effect::SaveScenario(Box::new(SavedScenario { archived: true, ..saved.clone() })));
        }
        let Some(before) = &former.model else { return };
        for (name, machine) in &former.scenarios {
            let Some(rules) = before.scenario_id(name).map(|id| before.scenario(id)) else { continue };
            let saved = SavedScenario { archived: true, ..machine.saved(rules) };
            effects.push(Effect::SaveScenario(Box::new(saved)));
        }
    }

    /// A dispute goes on over a reload.
    pub(super) fn adopt_pairs(&mut self, model: &Model, former: &Former) {
        let before = std::mem::take(&mut self.view.pairs);
        let names = former.model.iter().flat_map(|model| &model.pairs).map(|pair| &pair.name);
        let before: HashMap<&Name, PairView> = names.zip(before).collect();
        let anew = PairView { disputed: false, since: self.now };
        self.view.pairs = model.pairs.iter().map(|pair| before.get(&pair.name).copied().unwrap_or(anew)).collect();
    }

    fn adopt_scenario(
        &mut self,
        id: ScenarioId,
        model: &Model,
        former: &mut Former,
        effects: &mut Vec<Effect>,
    ) -> ScenarioMachine {
        let (now, rules) = (self.now, model.scenario(id));
        if let Some(mut machine) = former.scenarios.remove(&rules.name) {
            let before = former.model.as_ref().and_then(|m| m.scenario_id(&rules.name).map(|id| m.scenario(id)));
            let unchanged = before.is_some_and(|b| fingerprint(b) == fingerprint(rules));
            machine.adopt(id, model, &mut self.board, now, unchanged);
            return machine;
        }
        let renamed = rules.renamed_from.as_ref();
        if let Some((name, mut machine)) = renamed.and_then(|name| former.scenarios.remove_entry(name)) {
            machine.adopt(id, model, &mut self.board, now, false);
            let saved = machine.saved(rules);
            // The former name is free: a scenario that takes it later begins anew.
            let archived = SavedScenario { name, archived: true, ..saved.clone() };
            effects.extend([archived, saved].map(|saved| Effect::SaveScenario(Box::new(saved))));
            return machine;
        }
        let mut machine = ScenarioMachine::new(id, model, &mut self.board, now);
        let kept = |name: &Name| former.saved.get(name).filter(|saved| !saved.archived);
        if let Some(saved) = kept(&rules.name) {
            machine.restore(saved, now);
        } else if let Some(saved) = renamed.and_then(kept) {
            // Renamed while the appliance was down. The former name is archived with those that are gone, so what was
            // taken over must stand under its own.
            machine.restore(saved, now);
            effects.push(Effect::SaveScenario(Box::new(machine.saved(rules))));
        }
        machine
    }

    fn adopt_mode(&self, machine: &mut ScenarioMachine, rules: &Scenario, direction: Direction) {
        let object = ObjectRef::new(Kind::Scenario, Name::clone(&rules.name));
        let key = OverrideKey { object, slot: Slot::of_direction(direction) };
        let run = match self.view.overrides.get(&key) {
            Some(Override { value: OverrideValue::Mode { mode, spent, override_guard }, act, .. }) => {
                mode_run(*mode, *spent, *override_guard, act)
            }
            _ => {
                let mode = rules.directions[direction.index()].base_mode;
                ModeRun { mode, ..ModeRun::default() }
            }
        };
        machine.set_mode(direction, run);
    }
}
