//! How much an act asks of the person who does it, and what it was decided on.
//!
//! | level | acts | asks for |
//! |---|---|---|
//! | 1 | enable; drain while others stay UP; the end of a force | a reason |
//! | 2 | mode, switch, split, force, disable at once, a decision about a guard | also an expiry and a dry run |
//! | 3 | the last UP member; a forced return against a true group; past a guard; a force that hides a failing probe; both sites out | also the name of the object |

use std::hash::{DefaultHasher, Hash, Hasher};

use super::{Against, emptied, services_of, target};
use crate::control::command::Command;
use crate::model::Model;
use crate::model::event::{AdminIntent, AdminTarget};
use crate::model::id::{DatacenterId, Kind, Name, ObjectRef, ScenarioId, ServiceId};
use crate::model::scenario::{Direction, Mode, PairPlace};
use crate::model::state::{ServiceState, StateView};

/// Numbers that every reader of JSON keeps exact.
const SEQ_BITS: u64 = (1 << 53) - 1;

/// The level of an act, 1 to 3.
pub fn level(world: Against<'_>, intent: &AdminIntent) -> u8 {
    let view = world.view;
    let or_two = |three: bool| if three { 3 } else { 2 };
    match intent {
        AdminIntent::Enable { .. } => 1,
        AdminIntent::ForceCheck { up: None, .. } | AdminIntent::ForceService { up: None, .. } => 1,
        AdminIntent::Disable { target, delay, graceful } => {
            let services = services_of(world.model, *target);
            if emptied(world, &services).next().is_some() {
                return 3;
            }
            let at_once = delay.is_none() && !graceful;
            if at_once || matches!(target, AdminTarget::Vserver(_) | AdminTarget::Check(_)) { 2 } else { 1 }
        }
        AdminIntent::ForceCheck { check, up: Some(up) } => or_two(*up && view.checks[check.index()].real.is_false()),
        AdminIntent::ForceService { service, up: Some(true) } => {
            or_two(matches!(view.services[service.index()].real, ServiceState::Down | ServiceState::TrofsDown))
        }
        AdminIntent::ForceService { service, up: Some(false) } => or_two(emptied(world, &[*service]).next().is_some()),
        AdminIntent::SetModes { scenario, activate, deactivate, override_guard } => {
            let forced = [*activate, *deactivate].contains(&Some(Mode::On));
            let returns = *deactivate == Some(Mode::On) && view.scenarios[scenario.index()].active;
            or_two(
                (*override_guard && forced)
                    || (returns && has_true_group(view, *scenario))
                    || (*activate == Some(Mode::On) && takes_the_other_site(world, *scenario)),
            )
        }
        AdminIntent::SetSwitch { switch, value } => {
            let site = world.model.switches[switch.index()].maintenance_of;
            or_two(*value && site.is_some_and(|site| other_site_is_out(world, site)))
        }
        AdminIntent::SetSplit { .. } | AdminIntent::DecideGuard { .. } => 2,
        AdminIntent::StartDrill { override_guard, .. } | AdminIntent::StopDrill { override_guard } => {
            or_two(*override_guard)
        }
    }
}

/// The reason for what is undone is still there.
fn has_true_group(view: &StateView, scenario: ScenarioId) -> bool {
    view.scenarios[scenario.index()].groups[Direction::Activate.index()].iter().any(|group| group.value.is_true())
}

fn takes_the_other_site(world: Against<'_>, scenario: ScenarioId) -> bool {
    world.model.pairs.iter().any(|pair| {
        let place = pair.scenarios.iter().find(|place| place.scenario == scenario).map(|place| place.place);
        match place {
            Some(PairPlace::FromActive) => other_site_is_out(world, pair.active),
            Some(PairPlace::FromBackup) => other_site_is_out(world, pair.backup),
            _ => false,
        }
    })
}

/// A pair of this site has its other site out of the answers, or in maintenance.
fn other_site_is_out(world: Against<'_>, site: DatacenterId) -> bool {
    let active = |pair: &crate::model::scenario::Pair, place: PairPlace| {
        let found = pair.scenarios.iter().find(|s| s.place == place);
        found.is_some_and(|s| world.view.scenarios[s.scenario.index()].active)
    };
    let in_maintenance = |site: DatacenterId| {
        let switch = world.model.datacenters[site.index()].maintenance;
        world.view.switches[switch.index()]
    };
    world.model.pairs.iter().any(|pair| {
        (pair.active == site && (active(pair, PairPlace::FromBackup) || in_maintenance(pair.backup)))
            || (pair.backup == site && (active(pair, PairPlace::FromActive) || in_maintenance(pair.active)))
    })
}

/// What an act is done to; `None` for what is no act.
pub fn object_of(command: &Command) -> Option<ObjectRef> {
    Some(match command {
        Command::Disable { object, .. } | Command::Enable { object, .. } | Command::Force { object, .. } => {
            object.clone()
        }
        Command::SetModes { scenario, .. }
        | Command::DecideGuard { scenario, .. }
        | Command::StartDrill { scenario, .. } => ObjectRef::new(Kind::Scenario, Name::clone(scenario)),
        Command::SetSwitch { switch, .. } => ObjectRef::new(Kind::Switch, Name::clone(switch)),
        Command::SetSplit { vserver, .. } => ObjectRef::new(Kind::Vserver, Name::clone(vserver)),
        Command::DryRun(command) | Command::Careful { command, .. } => return object_of(command),
        _ => return None,
    })
}

/// What an act on `object` would be decided on, as one number: of a scenario its seq, of others a fingerprint of their
/// state, what people set on them, and who else is UP beside them. Equal only within one process.
pub fn seq_of(model: &Model, view: &StateView, object: &ObjectRef) -> u64 {
    let mut hasher = DefaultHasher::new();
    match object.kind {
        Kind::Scenario => return model.scenario_id(&object.name).map_or(0, |id| view.scenarios[id.index()].seq),
        Kind::Service | Kind::ServiceGroup | Kind::Server => {
            let Ok(target) = target(model, object) else { return 0 };
            services(model, view, &services_of(model, target), &mut hasher);
        }
        Kind::Vserver => {
            let Some(id) = model.vserver_id(&object.name) else { return 0 };
            let seen = &view.vservers[id.index()];
            (seen.state, seen.effective, seen.new_clients, seen.held_down, &seen.split).hash(&mut hasher);
        }
        Kind::Check => {
            let Some(id) = model.check_id(&object.name) else { return 0 };
            let seen = &view.checks[id.index()];
            (seen.state, seen.real, seen.forced, seen.disabled).hash(&mut hasher);
        }
        Kind::Switch => {
            let Some(id) = model.switch_id(&object.name) else { return 0 };
            view.switches[id.index()].hash(&mut hasher);
        }
        Kind::Peer | Kind::Pair => return 0,
    }
    hasher.finish() & SEQ_BITS
}

fn services(model: &Model, view: &StateView, services: &[ServiceId], hasher: &mut DefaultHasher) {
    let state = |id: ServiceId| view.services[id.index()].state;
    for &id in services {
        let seen = &view.services[id.index()];
        (seen.state, seen.enabled, seen.forced, seen.drain.as_ref().map(|d| (d.kind, d.deadline))).hash(hasher);
    }
    for vserver in &model.vservers {
        if vserver.members.iter().any(|member| services.contains(&member.service)) {
            let up = vserver.members.iter().filter(|member| state(member.service) == ServiceState::Up);
            for member in up {
                model.service(member.service).name.hash(hasher);
            }
        }
    }
}
