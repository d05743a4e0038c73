//! What must hold after every step. An independent look at the view: it recomputes what the engine derives by other
//! means and trusts none of the engine's indexes. The simulation calls it after each of its steps.

use super::engine::Engine;
use crate::model::Model;
use crate::model::drill::Phase;
use crate::model::id::{ScenarioId, VserverId};
use crate::model::scenario::{Direction, Mode};
use crate::model::state::{NewClients, OverrideValue, ServiceState, Slot, StateView, VserverState};
use crate::model::vserver::Role;

/// Everything that is broken, in words; empty where all holds.
pub fn check(engine: &Engine) -> Vec<String> {
    let mut broken = Vec::new();
    let (model, view) = (engine.model(), engine.view());
    if let Some(wake) = engine.wake_at()
        && wake <= engine.now().tick
    {
        broken.push(format!("wake_at {wake:?} is not after {:?}", engine.now().tick));
    }
    services(engine, &mut broken);
    for i in 0..model.vservers.len() {
        vserver(model, view, VserverId::from_index(i), &mut broken);
    }
    for i in 0..model.scenarios.len() {
        scenario(model, view, ScenarioId::from_index(i), &mut broken);
    }
    overrides(engine, &mut broken);
    drill(engine, &mut broken);
    broken
}

fn services(engine: &Engine, broken: &mut Vec<String>) {
    for (service, view) in engine.model().services.iter().zip(&engine.view().services) {
        let mut fail = |what: &str| broken.push(format!("service {}: {what}: {view:?}", service.name));
        if view.enabled && view.state == ServiceState::OutOfService {
            fail("out of service although enabled at every level");
        }
        if !view.enabled && matches!(view.state, ServiceState::Up | ServiceState::Down | ServiceState::Unknown) {
            fail("disabled, and neither draining nor out of service");
        }
        if !view.enabled && view.state.is_draining() != view.drain.is_some() {
            fail("draining without a drain, or the other way round");
        }
        if let Some(deadline) = view.drain.as_ref().and_then(|d| d.deadline)
            && deadline <= engine.now().wall
        {
            fail("a drain outlives its deadline");
        }
        if !service.settings.health_monitor && view.state == ServiceState::TrofsDown && view.forced.is_none() {
            fail("TROFS_DOWN although its health is not monitored");
        }
    }
}

fn vserver(model: &Model, view: &StateView, id: VserverId, broken: &mut Vec<String>) {
    let state = &view.vservers[id.index()];
    let mut fail = |what: &str| broken.push(format!("vserver {}: {what}: {state:?}", model.vserver(id).name));
    let chain_up =
        std::iter::once(id).chain(model.backup_chain(id)).any(|v| view.vservers[v.index()].state == VserverState::Up);
    if (state.effective == VserverState::Up) != chain_up {
        fail("the effective state is not that of the chain");
    }
    let any_up = |v: VserverId| {
        let vserver = model.vserver(v);
        match &vserver.role {
            Role::Lb => vserver.members.iter().any(|m| view.services[m.service.index()].state == ServiceState::Up),
            Role::Cs { targets, .. } => targets.iter().any(|t| view.vservers[t.index()].effective == VserverState::Up),
        }
    };
    match state.new_clients {
        NewClients::Own if !any_up(id) || state.state != VserverState::Up => fail("new clients go to nobody"),
        NewClients::Backup(b) if !any_up(b) || view.vservers[b.index()].state != VserverState::Up => {
            fail("new clients go to a backup that cannot serve");
        }
        NewClients::Backup(b) if !model.backup_chain(id).any(|v| v == b) => {
            fail("new clients go to a vserver outside the chain");
        }
        _ => {}
    }
    if !model.features.lb && state.state == VserverState::Up {
        fail("UP although the feature is off");
    }
}

fn scenario(model: &Model, view: &StateView, id: ScenarioId, broken: &mut Vec<String>) {
    let state = &view.scenarios[id.index()];
    let mut fail = |what: &str| broken.push(format!("scenario {}: {what}: {state:?}", model.scenario(id).name));
    if state.stuck != state.modes.iter().all(|m| m.mode == Mode::On) {
        fail("stuck is not both modes on");
    }
    if state.modes.iter().any(|m| m.spent && m.mode != Mode::On) {
        fail("a mode other than `on` is spent");
    }
    if !state.stuck && state.modes[Direction::out_of(state.active).opposite().index()].mode == Mode::On {
        let mode = &state.modes[Direction::out_of(state.active).opposite().index()];
        if !mode.spent {
            fail("an `on` with nothing to do is not spent");
        }
    }
    if state.attempt.as_ref().is_some_and(|a| a.direction != Direction::out_of(state.active)) {
        fail("a guard runs in a direction that does not lead out");
    }
    if let Some(last) = &state.last_transition {
        if last.seq != state.seq {
            fail("seq is not that of the last transition");
        }
        if (last.direction == Direction::Activate) != state.active {
            fail("the state is not what the last transition made");
        }
    }
    let rules = model.scenario(id);
    for direction in Direction::BOTH {
        let groups = &rules.directions[direction.index()].when.groups;
        for (group, rule) in state.groups[direction.index()].iter().zip(groups) {
            if group.value != rule.evaluate(|t| group.terms[t].value) {
                fail("a group is not the conjunction of its terms");
            }
        }
    }
}

fn drill(engine: &Engine, broken: &mut Vec<String>) {
    let (model, view) = (engine.model(), engine.view());
    for (scenario, state) in model.scenarios.iter().zip(&view.scenarios) {
        if state.drill.is_some() && state.drill != view.drill.as_ref().map(|drill| drill.id) {
            broken.push(format!("scenario {} stands where another drill than the last has put it", scenario.name));
        }
    }
    let Some(drill) = view.live_drill() else { return };
    let mut fail = |what: &str| broken.push(format!("drill {}: {what}: {drill:?}", drill.id));
    let Some(id) = model.scenario_id(&drill.scenario) else { return fail("it goes on without its scenario") };
    let state = &view.scenarios[id.index()];
    let modes = [state.modes[0].mode, state.modes[1].mode];
    match drill.phase {
        Phase::Starting if state.active || modes != [Mode::On, Mode::Off] => fail("it does not wait for its guard"),
        Phase::Running if !state.active || modes != [Mode::On, Mode::Off] => fail("its scenario is not held active"),
        Phase::Returning if !state.active || modes[1] != Mode::On => fail("its scenario is not on its way back"),
        Phase::Starting | Phase::Running if drill.ends_at <= engine.now().wall => fail("it outlives its time"),
        _ => {}
    }
}

fn overrides(engine: &Engine, broken: &mut Vec<String>) {
    let (model, view) = (engine.model(), engine.view());
    for (key, value) in &view.overrides {
        if value.act.expires.is_some_and(|at| at <= engine.now().wall) {
            broken.push(format!("override {key:?} outlives its expiry"));
        }
        let Some(scenario) =
            model.scenario_id(&key.object.name).filter(|_| matches!(key.slot, Slot::Activate | Slot::Deactivate))
        else {
            continue;
        };
        let direction = if key.slot == Slot::Activate { Direction::Activate } else { Direction::Deactivate };
        let mode = &view.scenarios[scenario.index()].modes[direction.index()];
        if let OverrideValue::Mode { mode: set, spent, .. } = value.value
            && (set != mode.mode || spent != mode.spent)
        {
            broken.push(format!("override {key:?} says {set:?}, the scenario {mode:?}"));
        }
    }
}
