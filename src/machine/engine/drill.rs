//! The drill in the engine: its timer, what it is told, what is saved of it.

mod modes;

use std::sync::Arc;
use std::time::Duration;

use super::Engine;
use super::timers::WallTimer;
use crate::machine::Effect;
use crate::machine::drill::{Mark, Next, Seen, next};
use crate::machine::scenario::Occasion;
use crate::model::Model;
use crate::model::drill::{COMMITS_MOST, Drill, DrillCommit, Ending, Phase};
use crate::model::event::{Act, Change, Record};
use crate::model::id::{Kind, Name, ObjectRef, ScenarioId};
use crate::model::scenario::{Direction, Mode};
use crate::model::state::OverrideValue;
use crate::model::time::Wall;
use modes::{mode_key, mode_set};

/// What a drill is begun with.
pub(super) struct Plan {
    pub scenario: ScenarioId,
    pub lasts: Duration,
    pub ends_at: Wall,
    pub notify: Vec<Name>,
    pub stop_on: Vec<Name>,
    pub override_guard: bool,
}

// === impl Engine ===

impl Engine {
    pub(super) fn start_drill(&mut self, model: &Model, plan: Plan, act: Act, effects: &mut Vec<Effect>) {
        if self.view.live_drill().is_some() {
            return;
        }
        let Plan { scenario, lasts, ends_at, notify, stop_on, override_guard } = plan;
        let name = Name::clone(&model.scenario(scenario).name);
        let id = self.view.drill.as_ref().map_or(0, |drill| drill.id) + 1;
        let before = Direction::BOTH.map(|d| self.view.overrides.get(&mode_key(&name, d)).cloned());
        let change = Change::DrillStarted {
            id,
            lasts,
            ends_at,
            notify: notify.clone(),
            stop_on: stop_on.clone(),
            override_guard,
        };
        let object = ObjectRef::new(Kind::Scenario, Name::clone(&name));
        effects.push(Effect::Record(Record::Act { object, act: act.clone(), change }));
        self.forget_moved(model, effects);
        self.put_mode(model, scenario, Direction::Activate, (Mode::On, override_guard), &act, effects);
        self.put_mode(model, scenario, Direction::Deactivate, (Mode::Off, false), &act, effects);
        self.wall_timers.insert((ends_at, WallTimer::Drill));
        let (started_at, phase) = (self.now.wall, Phase::Starting);
        let drill = Drill {
            id,
            scenario: name,
            act,
            notify,
            stop_on,
            override_guard,
            before,
            phase,
            lasts,
            started_at,
            ends_at,
            activated_at: None,
            returning_at: None,
            returned_at: None,
            ended_at: None,
            ending: None,
            ended_by: None,
            commits: Vec::new(),
        };
        self.keep_drill(drill, false, effects);
        self.touch_scenario(scenario);
    }

    pub(super) fn stop_drill(&mut self, model: &Model, act: Act, override_guard: bool, effects: &mut Vec<Effect>) {
        let Some(drill) = self.view.live_drill().map(|drill| Drill::clone(drill)) else { return };
        let object = ObjectRef::new(Kind::Scenario, Name::clone(&drill.scenario));
        let change = Change::DrillStopped { id: drill.id, override_guard };
        effects.push(Effect::Record(Record::Act { object, act: act.clone(), change }));
        match drill.phase {
            Phase::Starting => self.finish_drill(model, drill, Ending::Stopped, Some(act), effects),
            Phase::Running => self.begin_return(model, drill, Ending::Stopped, Some((act, override_guard)), effects),
            // It is on its way: what is new is that the guard need not be asked.
            Phase::Returning if override_guard => {
                if let Some(id) = model.scenario_id(&drill.scenario) {
                    self.put_mode(model, id, Direction::Deactivate, (Mode::On, true), &act, effects);
                    self.keep_drill(Drill { ended_by: Some(act), ..drill }, false, effects);
                    self.touch_scenario(id);
                }
            }
            Phase::Returning | Phase::Over => {}
        }
    }

    /// A person sets modes of a scenario that is drilled: the drill is over. `true`: what was asked for is its return,
    /// which is under way; else the modes are to be set as without a drill.
    pub(super) fn take_over_drill(
        &mut self,
        model: &Model,
        id: ScenarioId,
        modes: [Option<Mode>; 2],
        override_guard: bool,
        act: &Act,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let name = &model.scenario(id).name;
        let Some(mut drill) = self.view.live_drill().filter(|d| d.scenario == *name).map(|d| Drill::clone(d)) else {
            return false;
        };
        let returns = modes[1] == Some(Mode::On) && modes[0] != Some(Mode::On) && drill.phase != Phase::Starting;
        if !returns {
            self.finish_drill(model, drill, Ending::TakenOver, Some(act.clone()), effects);
            self.forget_moved(model, effects);
            return false;
        }
        let base = |d: Direction| model.scenario(id).directions[d.index()].base_mode;
        if let Some(mode) = modes[0] {
            drill.before[0] = (mode != base(Direction::Activate)).then(|| mode_set(mode, false, act, self.now.wall));
        }
        // What the person set is what stays shown.
        drill.before[1] = Some(mode_set(Mode::On, true, act, self.now.wall));
        self.begin_return(model, drill, Ending::TakenOver, Some((act.clone(), override_guard)), effects);
        true
    }

    /// Goes on with the drill of a scenario that is looked at.
    pub(super) fn advance_drill(
        &mut self,
        model: &Arc<Model>,
        id: ScenarioId,
        settled: bool,
        effects: &mut Vec<Effect>,
    ) {
        let name = &model.scenario(id).name;
        let Some(drill) = self.view.live_drill().filter(|drill| drill.scenario == *name).map(Arc::clone) else {
            return;
        };
        let machine = &mut self.scenarios[id.index()].machine;
        let fault = if settled { None } else { machine.fault(self.now, model, &self.board) };
        let machine = &self.scenarios[id.index()].machine;
        let seen = Seen {
            now: self.now.wall,
            settled,
            active: machine.active,
            pending: machine.is_pending(),
            refusal: machine.refusal(),
            fault: fault.as_ref(),
            resumes: self.resumes(model, id, &drill),
            stop: model.drills.stop_on.first_true(&self.view.watched, |name| drill.stop_on.contains(name)),
        };
        let Some(next) = next(&drill, seen) else { return };
        let mut drill = Drill::clone(&drill);
        match next {
            Next::Run => {
                (drill.phase, drill.activated_at) = (Phase::Running, Some(self.now.wall));
                self.keep_drill(drill, true, effects);
            }
            Next::Return(ending) => self.begin_return(model, drill, ending, None, effects),
            Next::Finish(ending) => self.finish_drill(model, drill, ending, None, effects),
            Next::HandOver(group) => self.hand_over(model, id, drill, group, effects),
        }
    }

    /// Whether a condition that became true asks for an end. `true`: scenarios must be looked at again.
    pub(super) fn look_at_stop_conditions(&mut self, model: &Model) -> bool {
        let Some(drill) = self.view.live_drill().filter(|d| matches!(d.phase, Phase::Starting | Phase::Running)) else {
            return false;
        };
        let wanted = |name: &Name| drill.stop_on.contains(name);
        if model.drills.stop_on.first_true(&self.view.watched, wanted).is_none() {
            return false;
        }
        self.touch_drilled(model)
    }

    /// Looks at the drilled scenario; `false`: there is none.
    pub(super) fn touch_drilled(&mut self, model: &Model) -> bool {
        let id = self.view.live_drill().and_then(|drill| model.scenario_id(&drill.scenario));
        if let Some(id) = id {
            self.touch_scenario(id);
        }
        id.is_some()
    }

    /// After a reload or a restart: the scenario may have another name, or none; the planned end may have passed.
    pub(super) fn adopt_drill(&mut self, model: &Arc<Model>, effects: &mut Vec<Effect>) {
        let Some(drill) = self.view.drill.clone() else { return };
        let by_drill = |i: &usize| self.scenarios[*i].machine.drill == Some(drill.id);
        self.moved = (0..self.scenarios.len()).filter(by_drill).map(ScenarioId::from_index).collect();
        if drill.is_over() {
            return;
        }
        if model.scenario_id(&drill.scenario).is_none() {
            let renamed = model.scenarios.iter().find(|s| s.renamed_from.as_ref() == Some(&drill.scenario));
            let mut drill = Drill::clone(&drill);
            let Some(renamed) = renamed else {
                return self.finish_drill(model, drill, Ending::Removed, None, effects);
            };
            drill.scenario = Name::clone(&renamed.name);
            self.keep_drill(drill, false, effects);
        }
        if drill.ends_at > self.now.wall {
            self.wall_timers.insert((drill.ends_at, WallTimer::Drill));
        }
    }

    /// What marks the commits of `id`, with the set that the mark looks into.
    pub(super) fn drill_of_commits(&self) -> Option<Arc<Drill>> {
        let drill = self.view.drill.as_ref()?;
        (!drill.is_over() || !self.moved.is_empty()).then(|| Arc::clone(drill))
    }

    /// Notes what the drill has moved, for its report and for what follows.
    pub(super) fn note_moved(&mut self, model: &Model, id: ScenarioId, from: usize, effects: &mut Vec<Effect>) {
        if self.scenarios[id.index()].machine.drill.is_some() {
            self.moved.insert(id);
        } else {
            self.moved.remove(&id);
        }
        let Some(drill) = &self.view.drill else { return };
        let drilled = model.scenario(id).name == drill.scenario && !drill.is_over();
        let commits = effects[from..].iter().filter_map(|effect| match effect {
            Effect::Record(Record::Transition(t)) if t.drill == Some(drill.id) || drilled => Some(DrillCommit {
                scenario: Name::clone(&t.scenario),
                seq: t.seq,
                direction: t.direction,
                at: t.committed_at,
                guard: t.guard.as_ref().map(|guard| Name::clone(&guard.outcome)),
                marked: t.drill.is_some(),
            }),
            _ => None,
        });
        let commits: Vec<DrillCommit> = commits.collect();
        if !commits.is_empty() {
            let mut drill = Drill::clone(drill);
            drill.commits.extend(commits);
            drill.commits.truncate(COMMITS_MOST);
            self.keep_drill(drill, false, effects);
        }
    }

    /// The scenario would fire by itself, were it not for the drill.
    fn resumes(&self, model: &Model, id: ScenarioId, drill: &Drill) -> bool {
        let base = model.scenario(id).directions[Direction::Activate.index()].base_mode;
        let mode = match self.still_set(drill, Direction::Activate).map(|set| set.value) {
            Some(OverrideValue::Mode { mode, .. }) => mode,
            _ => base,
        };
        mode == Mode::Auto
    }

    fn begin_return(
        &mut self,
        model: &Model,
        mut drill: Drill,
        ending: Ending,
        by: Option<(Act, bool)>,
        effects: &mut Vec<Effect>,
    ) {
        let Some(id) = model.scenario_id(&drill.scenario) else { return };
        let (act, override_guard) = by.clone().unwrap_or_else(|| (drill.act.clone(), false));
        self.restore_mode(model, id, &drill, Direction::Activate, effects);
        self.put_mode(model, id, Direction::Deactivate, (Mode::On, override_guard), &act, effects);
        drill.phase = Phase::Returning;
        drill.returning_at = drill.returning_at.or(Some(self.now.wall));
        (drill.ending, drill.ended_by) = (Some(ending), by.map(|(act, _)| act));
        self.keep_drill(drill, true, effects);
        self.touch_scenario(id);
    }

    /// The end: modes as before, and the report.
    fn finish_drill(
        &mut self,
        model: &Model,
        mut drill: Drill,
        ending: Ending,
        by: Option<Act>,
        effects: &mut Vec<Effect>,
    ) {
        if let Some(id) = model.scenario_id(&drill.scenario) {
            self.restore_mode(model, id, &drill, Direction::Activate, effects);
            self.restore_mode(model, id, &drill, Direction::Deactivate, effects);
            self.scenarios[id.index()].machine.forget_refusal();
            if drill.phase == Phase::Returning && !self.scenarios[id.index()].machine.active {
                drill.returned_at = Some(self.now.wall);
            }
            self.touch_scenario(id);
        }
        self.wall_timers.remove(&(drill.ends_at, WallTimer::Drill));
        drill.phase = Phase::Over;
        drill.ended_at = Some(self.now.wall);
        drill.ending = Some(ending);
        drill.ended_by = by.or(drill.ended_by);
        self.keep_drill(drill, true, effects);
    }

    fn hand_over(
        &mut self,
        model: &Arc<Model>,
        id: ScenarioId,
        mut drill: Drill,
        group: Name,
        effects: &mut Vec<Effect>,
    ) {
        for direction in Direction::BOTH {
            self.restore_mode(model, id, &drill, direction, effects);
        }
        let mut order: Vec<ScenarioId> = self.moved.iter().copied().filter(|other| *other != id).collect();
        order.sort_by_key(|id| self.scenarios[id.index()].rank);
        for other in std::iter::once(id).chain(order) {
            let from = effects.len();
            let moved = std::mem::take(&mut self.moved);
            let mark = Mark { drill: &drill, drilled: Some(id), moved: &moved };
            let occasion = Occasion { reload: false, act_of: self.act_of.as_ref(), drill: Some(mark) };
            let group = (other == id).then(|| Name::clone(&group));
            let machine = &mut self.scenarios[other.index()].machine;
            let settled = machine.hand_over(self.now, model, &self.board, occasion, group, effects);
            self.moved = moved;
            self.note_moved(model, other, from, effects);
            self.show_settled(model, other, &settled, effects);
            self.touch_scenario(other);
        }
        // With the commits that were just noted.
        if let Some(noted) = &self.view.drill {
            drill.commits.clone_from(&noted.commits);
        }
        self.finish_drill(model, drill, Ending::Fault(group), None, effects);
    }

    /// What the last drill had moved stands where it stands.
    fn forget_moved(&mut self, model: &Model, effects: &mut Vec<Effect>) {
        for id in std::mem::take(&mut self.moved) {
            let machine = &mut self.scenarios[id.index()].machine;
            machine.forget_drill();
            effects.push(Effect::SaveScenario(Box::new(machine.saved(model.scenario(id)))));
            self.touch_scenario(id);
        }
    }

    fn keep_drill(&mut self, drill: Drill, told: bool, effects: &mut Vec<Effect>) {
        let drill = Arc::new(drill);
        if told {
            effects.push(Effect::Record(Record::Drill(Arc::clone(&drill))));
        }
        effects.push(Effect::SaveDrill(Arc::clone(&drill)));
        self.view.drill = Some(drill);
        self.changed = true;
    }
}
