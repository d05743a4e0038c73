//! What follows from an input, in the fixed order: services → vservers → scenarios → watched terms → pairs.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Engine;
use crate::machine::drill::Mark;
use crate::machine::scenario::{Occasion, Settled};
use crate::machine::service::{MonitorState, aggregate};
use crate::machine::{Effect, condition, vserver};
use crate::model::Model;
use crate::model::condition::{Subject, Truth};
use crate::model::drill::Drill;
use crate::model::event::{Act, Record};
use crate::model::id::{Kind, Name, ObjectRef, ScenarioId, ServiceId, VserverId, WatchedId};
use crate::model::scenario::{Direction, Mode};
use crate::model::state::{
    Drain, DrainKind, Override, OverrideKey, OverrideValue, PairView, ServiceState, ServiceView, Slot, VserverState,
    VserverView,
};
use crate::model::time::Wall;
use crate::model::vserver::Role;

// === impl Engine ===

impl Engine {
    pub(super) fn settle(&mut self, effects: &mut Vec<Effect>) {
        let Some(model) = self.model.clone() else { return };
        while let Some(id) = self.dirty.services.pop_first() {
            self.settle_service(&model, id, effects);
        }
        self.settle_vservers(&model, effects);
        self.record_rows(effects);
        let mut watched = false;
        loop {
            while let Some((_, id)) = self.dirty.scenarios.pop_first() {
                self.settle_scenario(&model, id, effects);
            }
            watched |= !self.dirty.watched.is_empty();
            while let Some(id) = self.dirty.watched.pop_first() {
                self.settle_watched(&model, id);
            }
            // At most once more: what has ended does not end again.
            if !self.look_at_stop_conditions(&model) {
                break;
            }
        }
        self.changed_rows.clear();
        self.reloaded = false;
        if watched {
            self.settle_pairs(&model, effects);
        }
        self.settle_crowds(&model, effects);
        self.settle_turning(&model);
    }

    fn settle_service(&mut self, model: &Model, id: ServiceId, effects: &mut Vec<Effect>) {
        let earlier = self.view.services[id.index()].clone();
        let before = earlier.state;
        self.refresh_service(model, id);
        let view = &self.view.services[id.index()];
        if view.state != before {
            let act = self.act_of.as_ref().map(Name::clone);
            let cause = act.unwrap_or_else(|| service_cause(&earlier, view, self.now.wall).into());
            let (to, real) = (view.state.word().into(), view.real.word().into());
            let object = ObjectRef::new(Kind::Service, Name::clone(&model.service(id).name));
            effects.push(Effect::Record(Record::State { object, from: before.word().into(), to, real, cause }));
            self.changed = true;
            self.count_in_vservers(id, before);
            self.refresh_service_rows(id);
            self.dirty.vservers.extend(&self.services[id.index()].vservers);
        }
    }

    /// Recomputes a service from its monitors and its admin state, and shows it.
    pub(super) fn refresh_service(&mut self, model: &Model, id: ServiceId) {
        let definition = model.service(id);
        self.services[id.index()].machine.advance(self.now.wall);
        if definition.settings.health_monitor {
            // Passive monitors are shown and decide nothing; disabled ones are not even probed.
            let bound = definition.monitors.iter().filter(|binding| !binding.passive);
            let counted = bound.map(|binding| (binding, &self.checks[binding.check.index()].machine));
            let monitors: Vec<MonitorState> = counted
                .filter(|(_, check)| !check.view().disabled && !check.view().joining)
                .map(|(binding, check)| MonitorState {
                    weight: binding.weight,
                    state: check.state(),
                    trofs: check.trofs(),
                })
                .collect();
            let (probe, trofs) = aggregate(&monitors, definition.settings.monitor_threshold);
            self.services[id.index()].machine.set_probe(probe, trofs);
        } else {
            self.services[id.index()].machine.set_probe(Truth::True, false);
        }
        let machine = &self.services[id.index()].machine;
        let before = &self.view.services[id.index()];
        let state = machine.state();
        self.view.services[id.index()] = ServiceView {
            state,
            real: machine.real(),
            since: if state == before.state { before.since } else { self.now },
            probe: machine.probe(),
            forced: machine.forced(),
            enabled: machine.enabled(),
            drain: machine.drain(),
            active: machine.active(),
        };
        let deadline = machine.deadline();
        self.set_service_timer(id, deadline);
    }

    fn settle_vservers(&mut self, model: &Model, effects: &mut Vec<Effect>) {
        if self.dirty.vservers.is_empty() {
            return;
        }
        let mut changed = std::mem::take(&mut self.dirty.vservers);
        // Content switching looks at the effective states of what it hands to, so these are settled first.
        let switching: BTreeSet<VserverId> =
            changed.iter().copied().filter(|&id| model.vserver(id).role != Role::Lb).collect();
        changed.retain(|id| !switching.contains(id));
        self.settle_some_vservers(model, &changed, effects);
        let mut switching = switching;
        switching.extend(std::mem::take(&mut self.dirty.vservers));
        self.settle_some_vservers(model, &switching, effects);
    }

    fn settle_some_vservers(&mut self, model: &Model, changed: &BTreeSet<VserverId>, effects: &mut Vec<Effect>) {
        for &id in changed {
            let &VserverView { state: before, held_down: held_before, .. } = &self.view.vservers[id.index()];
            self.refresh_own_state(model, id);
            self.hold_down(model, id, effects);
            let after = self.view.vservers[id.index()].state;
            if after != before {
                self.view.vservers[id.index()].since = self.now;
                self.changed = true;
                let cause = match (before, after) {
                    (VserverState::OutOfService, _) | (_, VserverState::OutOfService) => "admin",
                    _ if held_before && !self.view.vservers[id.index()].held_down => "admin",
                    _ if model.vserver(id).role != Role::Lb => "targets",
                    _ => "own services",
                };
                let cause = self.act_of.as_deref().unwrap_or(cause);
                effects.push(vserver_record(model, id, before.word(), after.word(), cause));
            }
        }
        let upstream = changed.iter().flat_map(|id| self.vservers[id.index()].upstream.iter().copied());
        let mut affected: BTreeSet<VserverId> = changed.iter().copied().chain(upstream).collect();
        // One whose backup this is has its turn, once, when its targets have had theirs.
        let its_turn = |id: &VserverId| changed.contains(id) || model.vserver(*id).role == Role::Lb;
        self.dirty.vservers.extend(affected.iter().copied().filter(|id| !its_turn(id)));
        affected.retain(its_turn);
        for id in affected {
            let effective = self.view.vservers[id.index()].effective;
            self.refresh_chain(model, id);
            let view = &self.view.vservers[id.index()];
            if view.effective != effective {
                self.dirty.vservers.extend(&self.vservers[id.index()].switched_by);
            }
            // Which members are UP matters to the data plane even where no word changed.
            self.changed = true;
            if view.effective != effective && view.state.word() != view.effective.word() {
                let (from, to) = (effective.word(), view.effective.word());
                effects.push(vserver_record(
                    model,
                    id,
                    &format!("effective {from}"),
                    &format!("effective {to}"),
                    self.act_of.as_deref().unwrap_or("chain"),
                ));
            }
        }
    }

    /// `disable_primary_on_down`: what went DOWN stays out until a person enables it. Only a failure counts: neither
    /// members that nobody has heard of yet (after a reload or a restart), nor the feature being off.
    fn hold_down(&mut self, model: &Model, id: VserverId, effects: &mut Vec<Effect>) {
        let definition = model.vserver(id);
        if !definition.disable_primary_on_down || definition.backup.is_none() || !model.features.lb {
            return;
        }
        let state = self.view.vservers[id.index()].state;
        self.vservers[id.index()].was_up |= state == VserverState::Up;
        let failed = state == VserverState::Down && self.link(model, id).usable.is_false();
        if !failed || !std::mem::take(&mut self.vservers[id.index()].was_up) {
            return;
        }
        self.vservers[id.index()].held_down = true;
        let object = ObjectRef::new(Kind::Vserver, Name::clone(&definition.name));
        let act = Act { actor: "system".into(), reason: Some("disable_primary_on_down".into()), expires: None };
        let value = Override { value: OverrideValue::HeldDown, since: self.now.wall, act };
        self.put_override(OverrideKey { object: object.clone(), slot: Slot::HeldDown }, Some(value), effects);
        let text = "went DOWN and stays out until it is enabled (disable_primary_on_down)".into();
        effects.push(Effect::Record(Record::Warning { object, text }));
        self.refresh_own_state(model, id);
    }

    /// State and health of a vserver by its own members.
    pub(super) fn refresh_own_state(&mut self, model: &Model, id: VserverId) {
        let members = self.member_states(model, id);
        let (state, health) = vserver::own_state(model.vserver(id), &self.vserver_inputs(model, id, &members));
        let view = &mut self.view.vservers[id.index()];
        view.state = state;
        view.health_percent = health;
        view.held_down = self.vservers[id.index()].held_down;
    }

    /// Effective state, the way of new clients, and the rows of a vserver: what depends on its chain.
    pub(super) fn refresh_chain(&mut self, model: &Model, id: VserverId) {
        let chain: Vec<vserver::Link> =
            std::iter::once(id).chain(model.backup_chain(id)).map(|id| self.link(model, id)).collect();
        let members = self.member_states(model, id);
        let inputs = self.vserver_inputs(model, id, &members);
        let values: Vec<_> = self.vservers[id.index()]
            .rows
            .iter()
            .filter_map(|&row| match self.board.get(row).subject {
                Subject::Vserver(_, facet) => Some((row, vserver::facet(facet, model.vserver(id), &inputs, &chain))),
                _ => None,
            })
            .collect();
        let view: &mut VserverView = &mut self.view.vservers[id.index()];
        view.effective = vserver::effective_state(&chain);
        view.new_clients = vserver::new_clients(&chain);
        for (row, value) in values {
            self.set_row(row, value, None);
        }
    }

    fn link(&self, model: &Model, id: VserverId) -> vserver::Link {
        let members = self.member_states(model, id);
        vserver::Link::new(id, model.vserver(id), &self.vserver_inputs(model, id, &members))
    }

    fn member_states(&self, model: &Model, id: VserverId) -> Vec<ServiceState> {
        let vserver = model.vserver(id);
        match &vserver.role {
            Role::Lb => vserver.members.iter().map(|m| self.view.services[m.service.index()].state).collect(),
            Role::Cs { targets, .. } => {
                targets.iter().map(|t| vserver::of_target(self.view.vservers[t.index()].effective)).collect()
            }
        }
    }

    fn vserver_inputs<'a>(&self, model: &Model, id: VserverId, members: &'a [ServiceState]) -> vserver::Inputs<'a> {
        let run = &self.vservers[id.index()];
        vserver::Inputs { members, disabled: run.disabled, feature_on: model.features.lb, held_down: run.held_down }
    }

    /// Tells the journal which rows changed, before anything is decided by them. Rows of scenarios are left out: their
    /// transitions say it.
    fn record_rows(&mut self, effects: &mut Vec<Effect>) {
        if self.replaying {
            return;
        }
        let mut rows = std::mem::take(&mut self.changed_rows);
        rows.sort_unstable();
        rows.dedup();
        for row in rows {
            if !matches!(self.board.get(row).subject, Subject::Scenario(_)) {
                effects.push(Effect::Record(Record::Board(self.board.record(row, self.now))));
            }
        }
    }

    fn settle_scenario(&mut self, model: &Arc<Model>, id: ScenarioId, effects: &mut Vec<Effect>) {
        self.advance_drill(model, id, false, effects);
        let from = effects.len();
        let drill = self.drill_of_commits();
        let moved = std::mem::take(&mut self.moved);
        let drilled = |drill: &Drill| !drill.is_over() && drill.scenario == model.scenario(id).name;
        let mark = drill.as_deref().map(|drill| Mark { drill, drilled: drilled(drill).then_some(id), moved: &moved });
        let occasion = Occasion { reload: self.reloaded, act_of: self.act_of.as_ref(), drill: mark };
        let machine = &mut self.scenarios[id.index()].machine;
        let settled = machine.settle(self.now, model, &self.board, occasion, effects);
        self.moved = moved;
        self.show_settled(model, id, &settled, effects);
        if drill.is_some() {
            self.note_moved(model, id, from, effects);
            self.advance_drill(model, id, true, effects);
        }
    }

    /// What a scenario did is shown, and passed on to whoever looks at it.
    pub(super) fn show_settled(&mut self, model: &Model, id: ScenarioId, settled: &Settled, effects: &mut Vec<Effect>) {
        self.set_scenario_timer(id, settled.wake);
        for direction in Direction::BOTH {
            if settled.modes_changed[direction.index()] {
                self.mode_moved(model, id, direction, effects);
            }
        }
        let machine = &self.scenarios[id.index()].machine;
        machine.show(model.scenario(id), self.now, &mut self.view.scenarios[id.index()]);
        self.mark_turning(id);
        if self.view.live_drill().is_some_and(|drill| drill.scenario == model.scenario(id).name) {
            // The drill brings it back.
            self.view.scenarios[id.index()].ready_to_return = false;
        }
        if settled.committed {
            self.changed = true;
            if let Some(row) = self.scenarios[id.index()].row {
                let active = self.scenarios[id.index()].machine.active;
                self.set_row(row, active.into(), None);
            }
        }
    }

    /// A mode moved by itself: an `on` was spent, or released by the opposite commit.
    fn mode_moved(&mut self, model: &Model, id: ScenarioId, direction: Direction, effects: &mut Vec<Effect>) {
        let object = ObjectRef::new(Kind::Scenario, Name::clone(&model.scenario(id).name));
        let key = OverrideKey { object: object.clone(), slot: Slot::of_direction(direction) };
        let mode = self.scenarios[id.index()].machine.mode(direction).clone();
        if mode.mode == Mode::On {
            if let Some(mut current) = self.view.overrides.get(&key).cloned() {
                current.value =
                    OverrideValue::Mode { mode: Mode::On, spent: mode.spent, override_guard: mode.override_guard };
                self.put_override(key, Some(current), effects);
            }
        } else if self.view.overrides.contains_key(&key) {
            self.put_override(key, None, effects);
            let what = format!("mode {} on", direction.word()).into();
            let why = format!("{} committed", direction.opposite().word()).into();
            effects.push(Effect::Record(Record::Ended { object, what, why }));
        }
    }

    /// Whether the active site of a pair is disputed: it cannot be reached from here, and says that it is well.
    fn settle_pairs(&mut self, model: &Model, effects: &mut Vec<Effect>) {
        for (at, pair) in model.pairs.iter().enumerate() {
            let value = |id: &WatchedId| self.view.watched[id.index()].is_true();
            let disputed = !pair.disputed.is_empty() && pair.disputed.iter().all(value);
            if disputed == self.view.pairs[at].disputed {
                continue;
            }
            self.view.pairs[at] = PairView { disputed, since: self.now };
            self.changed = true;
            let object = ObjectRef::new(Kind::Pair, Name::clone(&pair.name));
            effects.push(Effect::Record(if disputed {
                let active = &model.datacenters[pair.active.index()].name;
                let text =
                    format!("disputed: `{active}` cannot be reached from here and says that it is well; nothing moves");
                Record::Warning { object, text: text.into() }
            } else {
                Record::Ended { object, what: "disputed".into(), why: "the two views agree, or one is unknown".into() }
            }));
        }
    }

    fn settle_watched(&mut self, model: &Model, id: WatchedId) {
        let term = model.watched_term(id);
        let valued = condition::evaluate(term, self.watched[id.index()].rows, &self.board, None, self.now.tick);
        self.set_watched_timer(id, valued.hold_ends);
        if self.view.watched[id.index()] != valued.value {
            self.view.watched[id.index()] = valued.value;
            self.changed = true;
        }
    }
}

fn vserver_record(model: &Model, id: VserverId, from: &str, to: &str, cause: &str) -> Effect {
    let object = ObjectRef::new(Kind::Vserver, Name::clone(&model.vserver(id).name));
    Effect::Record(Record::State { object, from: from.into(), to: to.into(), real: to.into(), cause: cause.into() })
}

/// Why a service has changed: an administrator, the end of a drain, a force, or its probes.
fn service_cause(before: &ServiceView, after: &ServiceView, now: Wall) -> &'static str {
    let over = |drain: &Drain| {
        let idle = matches!(drain.kind, DrainKind::Graceful | DrainKind::TimedGraceful) && after.active == 0;
        idle || drain.deadline.is_some_and(|deadline| deadline <= now)
    };
    if before.enabled != after.enabled {
        return "admin";
    }
    match (before.state, after.state) {
        (_, ServiceState::OutOfService) if before.drain.as_ref().is_some_and(over) => "drained",
        (ServiceState::OutOfService, _) | (_, ServiceState::OutOfService) => "admin",
        _ if before.forced != after.forced || after.forced.is_some() => "forced",
        _ => "probe",
    }
}
