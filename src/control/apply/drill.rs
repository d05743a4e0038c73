//! Beginning and ending drills: what is refused, and what a person should know.

use std::time::Duration;

use super::{Act, AdminIntent, Against, Kind, Name, Prepared, Refusal, unknown};
use crate::config::units::format_duration;
use crate::machine::drill::{Standing, refused};
use crate::model::drill::Drill;
use crate::model::scenario::{Direction, Mode, Scenario};
use crate::model::time::Wall;

/// Who may be told, and how many conditions may end it.
const NAMES_MOST: usize = 32;

/// What is asked for.
#[derive(Clone, Copy)]
pub(super) struct Wish<'a> {
    pub scenario: &'a Name,
    pub lasts: Duration,
    pub notify: &'a [Name],
    pub stop_on: &'a [Name],
    pub override_guard: bool,
}

pub(super) fn start(world: Against<'_>, wish: Wish<'_>, act: Act) -> Result<Prepared, Refusal> {
    let Wish { scenario, lasts, notify, stop_on, override_guard } = wish;
    let model = world.model;
    let id = model.scenario_id(scenario).ok_or_else(|| unknown(Kind::Scenario, scenario))?;
    let ends_at = planned_end(world, lasts, &act)?;
    known(notify, "trigger", |name| model.trigger_id(name).is_some(), model.triggers.iter().map(|t| &t.name))?;
    let conditions = &model.drills.stop_on;
    known(stop_on, "condition of [drills.stop_on]", |name| conditions.names().any(|n| n == name), conditions.names())?;
    if let Some(why) = refused(Standing { model, view: world.view, now: world.now.wall }, id, ends_at, stop_on) {
        return Err(Refusal::Conflict(why));
    }
    let intent = AdminIntent::StartDrill {
        scenario: id,
        lasts,
        ends_at,
        notify: notify.to_vec(),
        stop_on: stop_on.to_vec(),
        override_guard,
    };
    let warnings = warnings(model.scenario(id), override_guard);
    Ok(Prepared { act, intent, services: Vec::new(), warnings })
}

pub(super) fn stop(
    world: Against<'_>,
    drill: Option<u64>,
    override_guard: bool,
    act: Act,
) -> Result<Prepared, Refusal> {
    let Some(running) = world.view.live_drill() else {
        return Err(Refusal::Conflict("no drill is running".to_owned()));
    };
    if let Some(asked) = drill.filter(|asked| *asked != running.id) {
        let text = format!("drill {asked} is not running: drill {} of scenario {} is", running.id, running.scenario);
        return Err(Refusal::Conflict(text));
    }
    let mut warnings = Vec::new();
    let guard = world.model.scenario_id(&running.scenario).and_then(|id| {
        let rules = world.model.scenario(id);
        rules.directions[Direction::Deactivate.index()].guard.as_ref()
    });
    if guard.is_some() && !override_guard {
        warnings.push("the return waits for its guard".to_owned());
    }
    Ok(Prepared { act, intent: AdminIntent::StopDrill { override_guard }, services: Vec::new(), warnings })
}

/// What setting modes does to a drill of that scenario.
pub(super) fn taken_over(drill: &Drill, modes: [Option<Mode>; 2]) -> String {
    let returns = modes[1] == Some(Mode::On) && modes[0] != Some(Mode::On);
    let then =
        if returns { "its return is under way" } else { "the scenario stays where it is, and is no drill any more" };
    format!("drill {} of scenario {} ends with this: {then}", drill.id, drill.scenario)
}

fn planned_end(world: Against<'_>, lasts: Duration, act: &Act) -> Result<Wall, Refusal> {
    if act.reason.as_ref().is_none_or(|reason| reason.trim().is_empty()) {
        return Err(Refusal::Invalid("`reason` is missing: the report names it".to_owned()));
    }
    let Some(ends_at) = act.expires else {
        return Err(Refusal::Invalid("`for` is missing: how long the drill is to last, such as 60m".to_owned()));
    };
    let longest = world.model.drills.longest;
    if lasts > longest {
        let longest = format_duration(longest);
        return Err(Refusal::Invalid(format!("`for` is longer than `longest` of [drills] ({longest})")));
    }
    Ok(ends_at)
}

/// Names that exist, each once.
fn known<'a>(
    names: &[Name],
    what: &str,
    is_known: impl Fn(&Name) -> bool,
    all: impl Iterator<Item = &'a Name>,
) -> Result<(), Refusal> {
    if names.len() > NAMES_MOST {
        return Err(Refusal::Invalid(format!("at most {NAMES_MOST} names of a {what}")));
    }
    for (at, name) in names.iter().enumerate() {
        if names[..at].contains(name) {
            return Err(Refusal::Invalid(format!("{what} `{name}` stands twice")));
        }
        if !is_known(name) {
            let all: Vec<&str> = all.map(|name| &**name).collect();
            let there =
                if all.is_empty() { "there is none".to_owned() } else { format!("there are {}", all.join(", ")) };
            return Err(Refusal::Invalid(format!("no {what} is named `{name}`; {there}")));
        }
    }
    Ok(())
}

fn warnings(rules: &Scenario, override_guard: bool) -> Vec<String> {
    let guard = |direction: Direction| rules.directions[direction.index()].guard.is_some();
    let mut warnings = Vec::new();
    if guard(Direction::Activate) && override_guard {
        warnings.push("the guard of the activation is not asked".to_owned());
    }
    if guard(Direction::Deactivate) {
        warnings.push("the return waits for its guard: the drill may end later than planned".to_owned());
    }
    warnings
}

/// What a drill would do, a line each.
pub(super) fn foreseen(world: Against<'_>, intent: &AdminIntent) -> Vec<String> {
    let AdminIntent::StartDrill { scenario, ends_at, notify, .. } = intent else { return Vec::new() };
    let rules = world.model.scenario(*scenario);
    let name = &rules.name;
    let triggers = Direction::BOTH.iter().flat_map(|d| &rules.directions[d.index()].triggers);
    let mut held: Vec<&str> = triggers.map(|id| &*world.model.triggers[id.index()].name).collect();
    held.sort_unstable();
    held.dedup();
    held.retain(|trigger| !notify.iter().any(|name| **name == **trigger));
    let told: Vec<&str> = notify.iter().map(|name| &**name).collect();
    let or_nobody = |names: Vec<&str>| if names.is_empty() { "nobody".to_owned() } else { names.join(", ") };
    vec![
        format!("a drill of scenario {name}, which would return at {ends_at}"),
        format!("told: {}; not told: {}", or_nobody(told), or_nobody(held)),
    ]
}
