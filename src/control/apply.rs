//! What a command means for the running appliance: names become ids, what cannot be meant is refused, and what the
//! operator should know before is said. Pure: reads the model and the view, changes nothing.

pub mod confirm;
mod decision;
mod drill;
mod last;
mod split;

use std::time::Duration;

pub use last::endless_cookies;
use last::{emptied, last_members};
pub use split::outlived;

use super::command::{Command, Expiry, Note, Refusal};
use crate::model::Model;
use crate::model::check::Origin;
use crate::model::condition::Truth;
use crate::model::event::{Act, AdminIntent, AdminTarget};
use crate::model::id::{Kind, Name, ObjectRef, ScenarioId, ServiceId};
use crate::model::scenario::{Direction, Mode};
use crate::model::state::{OverrideKey, Slot, StateView};
use crate::model::time::{Now, Wall};

/// Ten years: no drain and no expiry is meant to last longer, and times stay within what RFC 3339 can write.
const FUTURE_MOST: Duration = Duration::from_secs(10 * 365 * 86_400);

const REASON_BYTES_MOST: usize = 1_024;

/// An act that can be carried out.
#[derive(Clone, Debug, PartialEq)]
pub struct Prepared {
    pub act: Act,
    pub intent: AdminIntent,
    /// Services that a disable takes out.
    pub services: Vec<ServiceId>,
    pub warnings: Vec<String>,
}

/// What an act is judged against.
#[derive(Clone, Copy)]
pub struct Against<'a> {
    pub now: Now,
    pub model: &'a Model,
    pub view: &'a StateView,
    /// Transactions open on a service right now.
    pub active: &'a dyn Fn(ServiceId) -> u32,
}

/// Refuses commands that are no acts.
pub fn prepare(world: Against<'_>, actor: &Name, command: &Command) -> Result<Prepared, Refusal> {
    match command {
        Command::Disable { object, delay, graceful, note, wait: _ } => {
            disable(world, object, *delay, *graceful, act(world.now, actor, note)?)
        }
        Command::Enable { object, note } => {
            let act = act(world.now, actor, &without_expiry(note, "enable")?)?;
            let target = target(world.model, object)?;
            let mut warnings = still_out(world, target);
            warnings.extend(disabled_by_configuration(world.model, target));
            Ok(Prepared { act, intent: AdminIntent::Enable { target }, services: Vec::new(), warnings })
        }
        Command::SetModes { scenario, activate, deactivate, override_guard, if_seq, note } => {
            let act = act(world.now, actor, note)?;
            set_modes(world, scenario, [*activate, *deactivate], *override_guard, *if_seq, act)
        }
        Command::SetSwitch { switch, value, note } => {
            let id = world.model.switch_id(switch).ok_or_else(|| unknown(Kind::Switch, switch))?;
            let intent = AdminIntent::SetSwitch { switch: id, value: *value };
            Ok(Prepared { act: act(world.now, actor, note)?, intent, services: Vec::new(), warnings: Vec::new() })
        }
        Command::Force { object, up, note } => {
            let note = if up.is_none() { without_expiry(note, "the end of a force")? } else { note.clone() };
            let intent = force(world.model, object, *up)?;
            Ok(Prepared { act: act(world.now, actor, &note)?, intent, services: Vec::new(), warnings: Vec::new() })
        }
        Command::SetSplit { vserver, shares, note } => {
            let note = if shares.is_none() { without_expiry(note, "the end of a split")? } else { note.clone() };
            split::set_split(world, vserver, shares.as_ref(), act(world.now, actor, &note)?)
        }
        Command::DecideGuard { scenario, approve, attempt, note } => {
            let act = act(world.now, actor, &without_expiry(note, "a decision about a guard")?)?;
            decision::decide(world, scenario, *approve, *attempt, act)
        }
        Command::StartDrill { scenario, lasts, notify, stop_on, override_guard, note } => {
            let wish = drill::Wish { scenario, lasts: *lasts, notify, stop_on, override_guard: *override_guard };
            drill::start(world, wish, act(world.now, actor, note)?)
        }
        Command::StopDrill { drill, override_guard, note } => {
            let act = act(world.now, actor, &without_expiry(note, "the end of a drill")?)?;
            drill::stop(world, *drill, *override_guard, act)
        }
        Command::DryRun(command) | Command::Careful { command, .. } => prepare(world, actor, command),
        Command::ApplyConfig { .. } | Command::Reload | Command::Save => {
            Err(Refusal::Invalid("a change of the configuration is not an act".to_owned()))
        }
        Command::Replay { .. } | Command::Discard { .. } | Command::TestTrigger { .. } => {
            Err(Refusal::Invalid("what is done to the outbox cannot be rehearsed".to_owned()))
        }
        Command::TransferZone { .. } => Err(Refusal::Invalid("a transfer cannot be rehearsed".to_owned())),
    }
}

/// What an act would change, a line each.
pub fn foreseen(world: Against<'_>, intent: &AdminIntent) -> Vec<String> {
    let mut changes = split::foreseen(world, intent);
    changes.extend(drill::foreseen(world, intent));
    changes
}

fn disable(
    world: Against<'_>,
    object: &ObjectRef,
    delay: Option<Duration>,
    graceful: bool,
    act: Act,
) -> Result<Prepared, Refusal> {
    let delay = delay.filter(|d| !d.is_zero());
    if delay.is_some_and(|d| d > FUTURE_MOST) {
        return Err(Refusal::Invalid("`delay` is longer than ten years".to_owned()));
    }
    let target = target(world.model, object)?;
    if matches!(target, AdminTarget::Check(_)) && (delay.is_some() || graceful) {
        return Err(Refusal::Invalid("a monitor is disabled at once, without delay or graceful".to_owned()));
    }
    if matches!(target, AdminTarget::Vserver(_)) && (delay.is_some() || graceful) {
        return Err(Refusal::Invalid(
            "a vserver is disabled at once, without delay or graceful: disable its services to drain them".to_owned(),
        ));
    }
    let services = services_of(world.model, target);
    let mut warnings = last_members(world, &services, delay.is_some(), graceful);
    if graceful && delay.is_none() {
        warnings.extend(endless_cookies(world.model, &services).map(|name| {
            format!(
                "vserver {name} sets session cookies, which never end by themselves: their clients go on being served \
                 while this drains; give a delay as well"
            )
        }));
    }
    Ok(Prepared { act, intent: AdminIntent::Disable { target, delay, graceful }, services, warnings })
}

/// Services that stay out of service because their server or their group is disabled as well, by its own act.
fn still_out(world: Against<'_>, enabled: AdminTarget) -> Vec<String> {
    let model = world.model;
    let disabled = |kind, name: &Name| {
        let key = OverrideKey { object: ObjectRef { kind, name: Name::clone(name) }, slot: Slot::Admin };
        world.view.overrides.contains_key(&key)
    };
    let why = |id: ServiceId| {
        let service = model.service(id);
        let is_out = |target, kind, name: &Name| target != enabled && disabled(kind, name);
        let server =
            service.server.filter(|&s| is_out(AdminTarget::Server(s), Kind::Server, &model.servers[s.index()].name));
        let group =
            service.group.filter(|&g| is_out(AdminTarget::Group(g), Kind::ServiceGroup, &model.groups[g.index()].name));
        let itself = is_out(AdminTarget::Service(id), Kind::Service, &service.name);
        match (server, group) {
            (Some(s), _) => Some(format!("server {} is disabled", model.servers[s.index()].name)),
            (None, Some(g)) => Some(format!("service group {} is disabled", model.groups[g.index()].name)),
            (None, None) => itself.then(|| "it is disabled itself".to_owned()),
        }
    };
    let lines = services_of(model, enabled)
        .into_iter()
        .filter_map(|id| Some(format!("service {} stays out of service: {}", model.service(id).name, why(id)?)));
    lines.collect()
}

/// A binding that the configuration disables stays so.
fn disabled_by_configuration(model: &Model, enabled: AdminTarget) -> Option<String> {
    let AdminTarget::Check(id) = enabled else { return None };
    let check = model.check(id);
    let Origin::Monitor { service, .. } = check.origin else { return None };
    let binding = model.service(service).monitors.iter().find(|binding| binding.check == id)?;
    (!binding.enabled).then(|| {
        format!(
            "check {} stays disabled: the configuration says so (`state` of the monitor or its binding)",
            check.name
        )
    })
}

fn set_modes(
    world: Against<'_>,
    scenario: &Name,
    modes: [Option<Mode>; 2],
    override_guard: bool,
    if_seq: Option<u64>,
    act: Act,
) -> Result<Prepared, Refusal> {
    let id = world.model.scenario_id(scenario).ok_or_else(|| unknown(Kind::Scenario, scenario))?;
    let view = &world.view.scenarios[id.index()];
    if let Some(seq) = if_seq.filter(|&seq| seq != view.seq) {
        return Err(Refusal::Conflict(format!(
            "scenario {scenario} has moved on: seq is {}, not {seq}; look again before deciding",
            view.seq
        )));
    }
    if modes == [None, None] {
        return Err(Refusal::Invalid("name a mode for `activate`, `deactivate` or both".to_owned()));
    }
    let drilled = world.view.live_drill().filter(|drill| drill.scenario == *scenario);
    if drilled.is_none() {
        refuse_stuck(world, id, modes)?;
    }
    let [activate, deactivate] = modes;
    let intent = AdminIntent::SetModes { scenario: id, activate, deactivate, override_guard };
    let warnings = match drilled {
        Some(drill) => vec![drill::taken_over(drill, modes)],
        None => mode_warnings(world, id, modes),
    };
    Ok(Prepared { act, intent, services: Vec::new(), warnings })
}

/// A direction set `on` while the other still *shows* an `on` that has acted: taken literally, both `on` is stuck, and
/// that is never what was meant.
fn refuse_stuck(world: Against<'_>, scenario: ScenarioId, modes: [Option<Mode>; 2]) -> Result<(), Refusal> {
    let view = &world.view.scenarios[scenario.index()];
    for direction in Direction::BOTH {
        let other = direction.opposite();
        let shows_spent = view.modes[other.index()].mode == Mode::On && view.modes[other.index()].spent;
        if modes[direction.index()] == Some(Mode::On) && modes[other.index()].is_none() && shows_spent {
            let (on, auto) = (direction.word(), other.word());
            return Err(Refusal::WouldBeStuck(format!(
                "scenario {} still shows {auto} `on`, which has acted already; setting {on} `on` beside it would be \
                 stuck. What was meant is one call with both: {{\"{auto}\": \"auto\", \"{on}\": \"on\"}}",
                world.model.scenario(scenario).name
            )));
        }
    }
    Ok(())
}

fn mode_warnings(world: Against<'_>, scenario: ScenarioId, modes: [Option<Mode>; 2]) -> Vec<String> {
    let rules = world.model.scenario(scenario);
    let view = &world.view.scenarios[scenario.index()];
    let after = Direction::BOTH.map(|d| modes[d.index()].unwrap_or(view.modes[d.index()].mode));
    let true_group = || {
        let activation = Direction::Activate.index();
        let groups = &rules.directions[activation].when.groups;
        let is_true = |g: usize| view.groups[activation].get(g).is_some_and(|g| g.value == Truth::True);
        (0..groups.len()).find(|&g| is_true(g)).map(|g| &groups[g].name)
    };
    let mut warnings = Vec::new();
    match after {
        [Mode::On, Mode::On] => warnings.push(format!(
            "scenario {} is stuck: both directions are `on`, nothing moves until one of them changes",
            rules.name
        )),
        [Mode::Off, Mode::Auto | Mode::Off] if modes[0].is_some() && !view.active => {
            if let Some(group) = true_group() {
                warnings.push(format!(
                    "the activation condition is true ({group}) and will not fire while its mode is `off`"
                ));
            }
        }
        _ => {}
    }
    if modes[1] == Some(Mode::On)
        && after[0] != Mode::On
        && view.active
        && let Some(group) = true_group()
    {
        warnings.push(format!(
            "the activation condition is true ({group}): the scenario is deactivated all the same, and that group \
             counts again only after it has been false"
        ));
    }
    warnings
}

fn force(model: &Model, object: &ObjectRef, up: Option<bool>) -> Result<AdminIntent, Refusal> {
    let unknown = || Refusal::Unknown(object.clone());
    match object.kind {
        Kind::Check => Ok(AdminIntent::ForceCheck { check: model.check_id(&object.name).ok_or_else(unknown)?, up }),
        Kind::Service => {
            Ok(AdminIntent::ForceService { service: model.service_id(&object.name).ok_or_else(unknown)?, up })
        }
        Kind::Server | Kind::ServiceGroup | Kind::Vserver | Kind::Scenario | Kind::Switch | Kind::Peer | Kind::Pair => {
            Err(Refusal::Invalid(format!("a {} cannot be forced: force a check or a service", object.kind.word())))
        }
    }
}

fn target(model: &Model, object: &ObjectRef) -> Result<AdminTarget, Refusal> {
    let name = &*object.name;
    let target = match object.kind {
        Kind::Service => model.service_id(name).map(AdminTarget::Service),
        Kind::ServiceGroup => model.group_id(name).map(AdminTarget::Group),
        Kind::Server => model.server_id(name).map(AdminTarget::Server),
        Kind::Vserver => model.vserver_id(name).map(AdminTarget::Vserver),
        Kind::Check => model.check_id(name).map(AdminTarget::Check),
        Kind::Scenario | Kind::Switch | Kind::Peer | Kind::Pair => {
            return Err(Refusal::Invalid(format!("a {} cannot be enabled or disabled", object.kind.word())));
        }
    };
    let target = target.ok_or_else(|| Refusal::Unknown(object.clone()))?;
    match target {
        AdminTarget::Check(id) if !matches!(model.check(id).origin, Origin::Monitor { .. }) => {
            let text = "only a monitor of a service can be enabled or disabled; force this check up or down instead";
            Err(Refusal::Invalid(text.to_owned()))
        }
        target => Ok(target),
    }
}

/// The services that a target stands for; none for a vserver.
fn services_of(model: &Model, target: AdminTarget) -> Vec<ServiceId> {
    match target {
        AdminTarget::Service(id) => vec![id],
        AdminTarget::Group(id) => model.groups[id.index()].members.iter().map(|m| m.service).collect(),
        AdminTarget::Server(id) => (0..model.services.len())
            .map(ServiceId::from_index)
            .filter(|&service| model.service(service).server == Some(id))
            .collect(),
        AdminTarget::Vserver(_) | AdminTarget::Check(_) => Vec::new(),
    }
}

fn act(now: Now, actor: &Name, note: &Note) -> Result<Act, Refusal> {
    if note.reason.as_ref().is_some_and(|reason| reason.len() > REASON_BYTES_MOST) {
        return Err(Refusal::Invalid(format!("`reason` is longer than {REASON_BYTES_MOST} bytes")));
    }
    let expires = match note.expires {
        None => None,
        Some(Expiry::After(after)) => Some(now.wall + after),
        Some(Expiry::At(at)) => Some(at),
    };
    check_expiry(now.wall, expires)?;
    Ok(Act { actor: Name::clone(actor), reason: note.reason.clone(), expires })
}

fn check_expiry(now: Wall, expires: Option<Wall>) -> Result<(), Refusal> {
    match expires {
        Some(at) if at <= now => Err(Refusal::Invalid(format!("`expires` ({at}) is in the past"))),
        Some(at) if at.since(now) > FUTURE_MOST => Err(Refusal::Invalid("`expires` is beyond ten years".to_owned())),
        _ => Ok(()),
    }
}

fn without_expiry(note: &Note, what: &str) -> Result<Note, Refusal> {
    match note.expires {
        None => Ok(note.clone()),
        Some(_) => Err(Refusal::Invalid(format!("`expires` has no meaning for {what}"))),
    }
}

fn unknown(kind: Kind, name: &Name) -> Refusal {
    Refusal::Unknown(ObjectRef { kind, name: Name::clone(name) })
}
