//! The modes of a drilled scenario: set for the drill, and as they were before it.

use crate::machine::Effect;
use crate::machine::engine::Engine;
use crate::machine::engine::admin::mode_run;
use crate::machine::scenario::ModeRun;
use crate::model::Model;
use crate::model::drill::Drill;
use crate::model::event::Act;
use crate::model::id::{Kind, Name, ObjectRef, ScenarioId};
use crate::model::scenario::{Direction, Mode};
use crate::model::state::{Override, OverrideKey, OverrideValue, Slot};
use crate::model::time::Wall;

// === impl Engine ===

impl Engine {
    pub(super) fn put_mode(
        &mut self,
        model: &Model,
        id: ScenarioId,
        direction: Direction,
        (mode, override_guard): (Mode, bool),
        act: &Act,
        effects: &mut Vec<Effect>,
    ) {
        let key = mode_key(&model.scenario(id).name, direction);
        // The drill itself ends it.
        let act = Act { expires: None, ..act.clone() };
        let mut value = mode_set(mode, false, &act, self.now.wall);
        value.value = OverrideValue::Mode { mode, spent: false, override_guard };
        self.put_override(key, Some(value), effects);
        self.scenarios[id.index()].machine.set_mode(direction, mode_run(mode, false, override_guard, &act));
    }

    pub(super) fn restore_mode(
        &mut self,
        model: &Model,
        id: ScenarioId,
        drill: &Drill,
        direction: Direction,
        effects: &mut Vec<Effect>,
    ) {
        let rules = model.scenario(id);
        let before = self.still_set(drill, direction);
        let run = match &before {
            Some(Override { value: OverrideValue::Mode { mode, spent, override_guard }, act, .. }) => {
                mode_run(*mode, *spent, *override_guard, act)
            }
            _ => ModeRun { mode: rules.directions[direction.index()].base_mode, ..ModeRun::default() },
        };
        self.put_override(mode_key(&rules.name, direction), before, effects);
        self.scenarios[id.index()].machine.set_mode(direction, run);
    }

    /// What a person had set before the drill, unless its time is over.
    pub(super) fn still_set(&self, drill: &Drill, direction: Direction) -> Option<Override> {
        let before = drill.before[direction.index()].as_ref();
        before.filter(|set| set.act.expires.is_none_or(|at| at > self.now.wall)).cloned()
    }
}

pub(super) fn mode_key(scenario: &Name, direction: Direction) -> OverrideKey {
    let object = ObjectRef::new(Kind::Scenario, Name::clone(scenario));
    OverrideKey { object, slot: Slot::of_direction(direction) }
}

pub(super) fn mode_set(mode: Mode, spent: bool, act: &Act, since: Wall) -> Override {
    Override { value: OverrideValue::Mode { mode, spent, override_guard: false }, since, act: act.clone() }
}
