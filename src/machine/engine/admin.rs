//! What people do: overrides, durable before they are published, and what they change in the machines.

use std::sync::Arc;
use std::time::Duration;

use super::Engine;
use super::drill::Plan;
use super::timers::WallTimer;
use crate::machine::Effect;
use crate::machine::scenario::ModeRun;
use crate::machine::service::Level;
use crate::model::Model;
use crate::model::balancing::Shares;
use crate::model::event::{Act, AdminIntent, AdminTarget, Change, Record};
use crate::model::id::{Kind, Name, ObjectRef, ScenarioId, ServiceId, SwitchId, VserverId};
use crate::model::scenario::{Direction, Mode};
use crate::model::state::{Override, OverrideKey, OverrideValue, ServiceState, Slot};

// === impl Engine ===

impl Engine {
    pub(super) fn act(&mut self, act: Act, intent: AdminIntent, effects: &mut Vec<Effect>) {
        let model = Arc::clone(self.model());
        self.act_of = Some(act.as_cause());
        match intent {
            AdminIntent::Disable { target, delay, graceful } => {
                self.disable(&model, target, delay, graceful, act, effects);
            }
            AdminIntent::Enable { target } => self.enable(&model, target, act, effects),
            AdminIntent::SetModes { scenario, activate, deactivate, override_guard } => {
                self.set_modes(&model, scenario, [activate, deactivate], override_guard, act, effects);
            }
            AdminIntent::SetSwitch { switch, value } => {
                let object = ObjectRef::new(Kind::Switch, Name::clone(&model.switches[switch.index()].name));
                // A switch where the configuration has it is no override, unless it is to stay there for a while.
                let differs = value != model.switches[switch.index()].initial || act.expires.is_some();
                let set = differs.then_some(OverrideValue::Switch { value });
                self.override_by(object, Slot::Value, set, act, Change::Switch(value), effects);
                self.flip(&model, switch, value);
            }
            AdminIntent::ForceCheck { check, up } => {
                let object = ObjectRef::new(Kind::Check, Name::clone(&model.check(check).name));
                let value = up.map(|up| OverrideValue::Forced { up });
                self.override_by(object, Slot::Force, value, act, Change::Forced(up), effects);
                let observed = self.checks[check.index()].machine.force(self.now, up);
                self.check_changed(check, observed.state_changed || observed.trofs_changed);
            }
            AdminIntent::ForceService { service, up } => {
                let object = ObjectRef::new(Kind::Service, Name::clone(&model.service(service).name));
                let value = up.map(|up| OverrideValue::Forced { up });
                self.override_by(object, Slot::Force, value, act, Change::Forced(up), effects);
                self.services[service.index()].machine.force(up);
                self.dirty.services.insert(service);
            }
            AdminIntent::DecideGuard { scenario, attempt, approve } => {
                // Recorded before its consequence, which the shell feeds as the result of the guard.
                let object = ObjectRef::new(Kind::Scenario, Name::clone(&model.scenario(scenario).name));
                let change = Change::Decided { attempt, approve };
                effects.push(Effect::Record(Record::Act { object, act, change }));
            }
            AdminIntent::SetSplit { vserver, shares } => {
                let object = ObjectRef::new(Kind::Vserver, Name::clone(&model.vserver(vserver).name));
                let base = &model.vserver(vserver).balancing.split;
                let moved = |shares: &Shares| shares.iter().map(|(_, share)| share).ne(base);
                // A split that equals the configuration's is no override: it follows the configuration again.
                let value = shares.clone().filter(moved).map(|shares| OverrideValue::Split { shares });
                self.override_by(object, Slot::Split, value, act, Change::Split(shares), effects);
                self.refresh_split(&model, vserver);
            }
            AdminIntent::StartDrill { scenario, lasts, ends_at, notify, stop_on, override_guard } => {
                let plan = Plan { scenario, lasts, ends_at, notify, stop_on, override_guard };
                self.start_drill(&model, plan, act, effects);
            }
            AdminIntent::StopDrill { override_guard } => self.stop_drill(&model, act, override_guard, effects),
        }
    }

    /// Takes the split of a vserver over from its override. `false`: the override is of other groups.
    pub(super) fn refresh_split(&mut self, model: &Model, id: VserverId) -> bool {
        let vserver = model.vserver(id);
        let object = ObjectRef::new(Kind::Vserver, Name::clone(&vserver.name));
        let set = self.view.overrides.get(&OverrideKey { object, slot: Slot::Split });
        let split = match set.map(|o| &o.value) {
            // Without a split in the configuration there is nothing that could be moved.
            Some(OverrideValue::Split { shares }) if !vserver.balancing.split.is_empty() => {
                model.split_of(id, shares).ok()
            }
            _ => None,
        };
        let fits = set.is_none() || split.is_some();
        let view = &mut self.view.vservers[id.index()].split;
        self.changed |= *view != split.as_deref().map(Into::into);
        *view = split.map(Into::into);
        fits
    }

    fn disable(
        &mut self,
        model: &Model,
        target: AdminTarget,
        delay: Option<Duration>,
        graceful: bool,
        act: Act,
        effects: &mut Vec<Effect>,
    ) {
        let deadline = delay.filter(|d| !d.is_zero()).map(|d| self.now.wall + d);
        let object = target_object(model, target);
        let key = OverrideKey { object: object.clone(), slot: Slot::Admin };
        let levels = levels(model, target);
        let out = !levels.is_empty() && levels.iter().all(|(s, level)| self.services[s.index()].machine.is_out(*level));
        // What is out of service stays out: a later deadline would bring it back as draining after a restart.
        let value = match self.view.overrides.get(&key) {
            Some(earlier) if out => earlier.value.clone(),
            _ => OverrideValue::Disabled { deadline, graceful },
        };
        // Nor is anything said of a deadline where nobody waits for it.
        let change = match levels.is_empty() || !levels.iter().all(|(s, _)| self.is_out_of_service(*s)) {
            true => Change::Disabled { deadline, graceful },
            false => Change::Disabled { deadline: None, graceful: false },
        };
        self.override_by(object, Slot::Admin, Some(value), act, change, effects);
        if let AdminTarget::Vserver(id) = target {
            self.vservers[id.index()].disabled = true;
            self.dirty.vservers.insert(id);
        }
        if let AdminTarget::Check(id) = target {
            self.refresh_disabled(model, id, effects);
        }
        for (service, level) in levels {
            self.services[service.index()].machine.disable(level, self.now.wall, deadline, graceful);
            self.dirty.services.insert(service);
        }
    }

    fn is_out_of_service(&self, service: ServiceId) -> bool {
        self.services[service.index()].machine.state() == ServiceState::OutOfService
    }

    fn enable(&mut self, model: &Model, target: AdminTarget, act: Act, effects: &mut Vec<Effect>) {
        let object = target_object(model, target);
        self.override_by(object.clone(), Slot::Admin, None, act, Change::Enabled, effects);
        let held = OverrideKey { object, slot: Slot::HeldDown };
        if self.view.overrides.contains_key(&held) {
            self.put_override(held, None, effects);
        }
        self.enabled_again(model, target, effects);
    }

    fn enabled_again(&mut self, model: &Model, target: AdminTarget, effects: &mut Vec<Effect>) {
        if let AdminTarget::Check(id) = target {
            self.refresh_disabled(model, id, effects);
        }
        if let AdminTarget::Vserver(id) = target {
            self.vservers[id.index()].disabled = false;
            self.vservers[id.index()].held_down = false;
            self.dirty.vservers.insert(id);
        }
        for (service, level) in levels(model, target) {
            self.services[service.index()].machine.enable(level);
            self.dirty.services.insert(service);
        }
    }

    fn set_modes(
        &mut self,
        model: &Model,
        id: ScenarioId,
        modes: [Option<Mode>; 2],
        override_guard: bool,
        act: Act,
        effects: &mut Vec<Effect>,
    ) {
        let rules = model.scenario(id);
        let object = ObjectRef::new(Kind::Scenario, Name::clone(&rules.name));
        if self.take_over_drill(model, id, modes, override_guard, &act, effects) {
            let change = Change::Modes { activate: modes[0], deactivate: modes[1], override_guard };
            effects.push(Effect::Record(Record::Act { object, act, change }));
            return;
        }
        for direction in Direction::BOTH {
            let Some(mode) = modes[direction.index()] else { continue };
            let base = rules.directions[direction.index()].base_mode;
            let key = OverrideKey { object: object.clone(), slot: Slot::of_direction(direction) };
            // A mode that equals the configuration's is no override: it follows the configuration again.
            let value = (mode != base).then(|| Override {
                value: OverrideValue::Mode { mode, spent: false, override_guard },
                since: self.now.wall,
                act: act.clone(),
            });
            self.put_override(key, value, effects);
            self.scenarios[id.index()].machine.set_mode(direction, mode_run(mode, false, override_guard, &act));
        }
        self.scenarios[id.index()].machine.forgive_oscillation();
        let change = Change::Modes { activate: modes[0], deactivate: modes[1], override_guard };
        effects.push(Effect::Record(Record::Act { object, act, change }));
        self.touch_scenario(id);
    }

    pub(super) fn flip(&mut self, model: &Model, id: SwitchId, value: bool) {
        self.view.switches[id.index()] = value;
        if let Some(row) = self.switch_rows[id.index()] {
            self.set_row(row, value.into(), None);
        }
        if let Some(datacenter) = model.switches[id.index()].maintenance_of {
            self.refresh_signals(datacenter);
        }
    }

    /// Sets or ends an override by an act, and records the act.
    fn override_by(
        &mut self,
        object: ObjectRef,
        slot: Slot,
        value: Option<OverrideValue>,
        act: Act,
        change: Change,
        effects: &mut Vec<Effect>,
    ) {
        let value = value.map(|value| Override { value, since: self.now.wall, act: act.clone() });
        self.put_override(OverrideKey { object: object.clone(), slot }, value, effects);
        effects.push(Effect::Record(Record::Act { object, act, change }));
    }

    /// Changes the table of overrides, its expiry timer and what is saved.
    pub(super) fn put_override(&mut self, key: OverrideKey, value: Option<Override>, effects: &mut Vec<Effect>) {
        if let Some(at) = self.view.overrides.get(&key).and_then(|o| o.act.expires) {
            self.wall_timers.remove(&(at, WallTimer::Override(key.clone())));
        }
        if let Some(at) = value.as_ref().and_then(|o| o.act.expires) {
            self.wall_timers.insert((at, WallTimer::Override(key.clone())));
        }
        match &value {
            Some(value) => {
                self.view.overrides.insert(key.clone(), value.clone());
            }
            None => {
                self.view.overrides.remove(&key);
            }
        }
        effects.push(Effect::SaveOverride(key, value));
    }

    /// An override's time is over: what it changed goes back by itself.
    pub(super) fn expire(&mut self, key: &OverrideKey, effects: &mut Vec<Effect>) {
        if !self.view.overrides.contains_key(key) {
            return;
        }
        let model = Arc::clone(self.model());
        self.put_override(key.clone(), None, effects);
        let (what, why) = (key.slot.word().into(), "its time was over".into());
        effects.push(Effect::Record(Record::Ended { object: key.object.clone(), what, why }));
        let name = &*key.object.name;
        match key.object.kind {
            Kind::Check if key.slot == Slot::Force => {
                if let Some(id) = model.check_id(name) {
                    let observed = self.checks[id.index()].machine.force(self.now, None);
                    self.check_changed(id, observed.state_changed || observed.trofs_changed);
                }
            }
            Kind::Service if key.slot == Slot::Force => {
                if let Some(id) = model.service_id(name) {
                    self.services[id.index()].machine.force(None);
                    self.dirty.services.insert(id);
                }
            }
            Kind::Vserver if key.slot == Slot::Split => {
                if let Some(id) = model.vserver_id(name) {
                    self.refresh_split(&model, id);
                }
            }
            Kind::Service | Kind::ServiceGroup | Kind::Server | Kind::Vserver | Kind::Check => {
                if let Some(target) = target_of(&model, &key.object) {
                    self.enabled_again(&model, target, effects);
                }
            }
            // Nobody sets anything on them.
            Kind::Peer | Kind::Pair => {}
            Kind::Switch => {
                if let Some(id) = model.switch_id(name) {
                    self.flip(&model, id, model.switches[id.index()].initial);
                }
            }
            Kind::Scenario => {
                if let Some(id) = model.scenario_id(name) {
                    let direction =
                        if key.slot == Slot::Activate { Direction::Activate } else { Direction::Deactivate };
                    let mode = model.scenario(id).directions[direction.index()].base_mode;
                    let run = ModeRun { mode, ..ModeRun::default() };
                    self.scenarios[id.index()].machine.set_mode(direction, run);
                    self.touch_scenario(id);
                }
            }
        }
    }
}

/// A mode as the machine keeps it.
pub(super) fn mode_run(mode: Mode, spent: bool, override_guard: bool, act: &Act) -> ModeRun {
    ModeRun { mode, spent, override_guard, actor: Some(Name::clone(&act.actor)), reason: act.reason.clone() }
}

/// The services that an administrative act on `target` reaches, and at which level.
fn levels(model: &Model, target: AdminTarget) -> Vec<(ServiceId, Level)> {
    match target {
        AdminTarget::Service(id) => vec![(id, Level::Service)],
        AdminTarget::Group(id) => model.groups[id.index()].members.iter().map(|m| (m.service, Level::Group)).collect(),
        AdminTarget::Server(id) => model
            .services
            .iter()
            .enumerate()
            .filter(|(_, service)| service.server == Some(id))
            .map(|(i, _)| (ServiceId::from_index(i), Level::Server))
            .collect(),
        AdminTarget::Vserver(_) | AdminTarget::Check(_) => Vec::new(),
    }
}

fn target_object(model: &Model, target: AdminTarget) -> ObjectRef {
    match target {
        AdminTarget::Service(id) => ObjectRef::new(Kind::Service, Name::clone(&model.service(id).name)),
        AdminTarget::Group(id) => ObjectRef::new(Kind::ServiceGroup, Name::clone(&model.groups[id.index()].name)),
        AdminTarget::Server(id) => ObjectRef::new(Kind::Server, Name::clone(&model.servers[id.index()].name)),
        AdminTarget::Vserver(id) => ObjectRef::new(Kind::Vserver, Name::clone(&model.vserver(id).name)),
        AdminTarget::Check(id) => ObjectRef::new(Kind::Check, Name::clone(&model.check(id).name)),
    }
}

fn target_of(model: &Model, object: &ObjectRef) -> Option<AdminTarget> {
    let name = &*object.name;
    match object.kind {
        Kind::Service => model.service_id(name).map(AdminTarget::Service),
        Kind::ServiceGroup => model.group_id(name).map(AdminTarget::Group),
        Kind::Server => model.server_id(name).map(AdminTarget::Server),
        Kind::Vserver => model.vserver_id(name).map(AdminTarget::Vserver),
        Kind::Check => model.check_id(name).map(AdminTarget::Check),
        Kind::Scenario | Kind::Switch | Kind::Peer | Kind::Pair => None,
    }
}
