//! What people do.

use std::time::Duration;

use super::World;
use crate::machine::Input;
use crate::machine::drill::{Standing, refused};
use crate::model::event::{self, AdminIntent, AdminTarget, Observation};
use crate::model::id::{Kind, Name, ServiceId};
use crate::model::scenario::{Direction, Mode};
use crate::rehearse::script::Act;

/// Who does what a script says.
const ACTOR: &str = "admin:script";

// === impl World ===

impl World {
    /// Carries out `act`. Errors: it names nothing, or the appliance would refuse it; nothing has happened then.
    pub fn act(&mut self, act: &Act, reason: Option<&Name>, expires: Option<Duration>) -> Result<(), String> {
        let intent = self.intent(act)?;
        if let AdminIntent::Disable { target, graceful: true, .. } = intent {
            // Whether anything is open decides between draining and out at once.
            for service in self.services_of(target) {
                let active = self.active.get(&self.model().service(service).name).copied().unwrap_or(0);
                self.step(Input::Observed(Observation::Active { service, active }));
            }
        }
        let expires = expires.map(|after| self.now.wall + after);
        let act = event::Act { actor: ACTOR.into(), reason: reason.cloned(), expires };
        self.step(Input::Admin { act, intent });
        Ok(())
    }

    fn intent(&self, act: &Act) -> Result<AdminIntent, String> {
        let model = self.model();
        let unknown = |kind: Kind, name: &Name| format!("no {} is named `{name}`", kind.word());
        Ok(match act {
            Act::Disable { kind, name, delay, graceful } => {
                if *kind == Kind::Vserver && (delay.is_some() || *graceful) {
                    return Err("a vserver is disabled at once, without delay or graceful".into());
                }
                let target = self.target(*kind, name).ok_or_else(|| unknown(*kind, name))?;
                AdminIntent::Disable { target, delay: *delay, graceful: *graceful }
            }
            Act::Enable { kind, name } => {
                AdminIntent::Enable { target: self.target(*kind, name).ok_or_else(|| unknown(*kind, name))? }
            }
            Act::Modes { scenario: name, activate, deactivate, override_guard } => {
                let scenario = model.scenario_id(name).ok_or_else(|| unknown(Kind::Scenario, name))?;
                self.refuse_stuck(name, [*activate, *deactivate])?;
                AdminIntent::SetModes {
                    scenario,
                    activate: *activate,
                    deactivate: *deactivate,
                    override_guard: *override_guard,
                }
            }
            Act::StartDrill { scenario: name, lasts, notify, stop_on, override_guard } => {
                let scenario = model.scenario_id(name).ok_or_else(|| unknown(Kind::Scenario, name))?;
                let ends_at = self.now.wall + *lasts;
                let standing = Standing { model, view: self.view(), now: self.now.wall };
                if let Some(why) = refused(standing, scenario, ends_at, stop_on) {
                    return Err(why);
                }
                let (notify, stop_on) = (notify.clone(), stop_on.clone());
                let (lasts, override_guard) = (*lasts, *override_guard);
                AdminIntent::StartDrill { scenario, lasts, ends_at, notify, stop_on, override_guard }
            }
            Act::StopDrill { override_guard } => match self.view().live_drill() {
                Some(_) => AdminIntent::StopDrill { override_guard: *override_guard },
                None => return Err("no drill is running".into()),
            },
            Act::Switch { name, value } => {
                let switch = model.switch_id(name).ok_or_else(|| unknown(Kind::Switch, name))?;
                AdminIntent::SetSwitch { switch, value: *value }
            }
            Act::Force { kind: Kind::Check, name, up } => {
                let check = model.check_id(name).ok_or_else(|| unknown(Kind::Check, name))?;
                AdminIntent::ForceCheck { check, up: *up }
            }
            Act::Force { name, up, .. } => {
                let service = model.service_id(name).ok_or_else(|| unknown(Kind::Service, name))?;
                AdminIntent::ForceService { service, up: *up }
            }
        })
    }

    /// As the appliance refuses it: a direction set `on` beside one that shows an `on` which has acted.
    fn refuse_stuck(&self, scenario: &Name, modes: [Option<Mode>; 2]) -> Result<(), String> {
        if self.view().live_drill().is_some_and(|drill| drill.scenario == *scenario) {
            // Whoever sets a mode takes the drill over.
            return Ok(());
        }
        let Some(id) = self.model().scenario_id(scenario) else { return Ok(()) };
        let view = &self.view().scenarios[id.index()];
        for direction in Direction::BOTH {
            let other = direction.opposite();
            let shows_spent = view.modes[other.index()].mode == Mode::On && view.modes[other.index()].spent;
            if modes[direction.index()] == Some(Mode::On) && modes[other.index()].is_none() && shows_spent {
                let (on, auto) = (direction.word(), other.word());
                return Err(format!(
                    "refused: scenario {scenario} still shows {auto} `on`, which has acted, and {on} `on` beside it \
                     would be stuck; what is meant is `set scenario {scenario} {auto} auto {on} on`"
                ));
            }
        }
        Ok(())
    }

    fn target(&self, kind: Kind, name: &str) -> Option<AdminTarget> {
        let model = self.model();
        match kind {
            Kind::Service => model.service_id(name).map(AdminTarget::Service),
            Kind::ServiceGroup => model.group_id(name).map(AdminTarget::Group),
            Kind::Server => model.server_id(name).map(AdminTarget::Server),
            Kind::Vserver => model.vserver_id(name).map(AdminTarget::Vserver),
            Kind::Check => model.check_id(name).map(AdminTarget::Check),
            Kind::Scenario | Kind::Switch | Kind::Peer | Kind::Pair => None,
        }
    }

    fn services_of(&self, target: AdminTarget) -> Vec<ServiceId> {
        let model = self.model();
        match target {
            AdminTarget::Service(id) => vec![id],
            AdminTarget::Group(id) => model.groups[id.index()].members.iter().map(|m| m.service).collect(),
            AdminTarget::Server(id) => {
                let all = (0..model.services.len()).map(ServiceId::from_index);
                all.filter(|service| model.service(*service).server == Some(id)).collect()
            }
            AdminTarget::Vserver(_) | AdminTarget::Check(_) => Vec::new(),
        }
    }
}
