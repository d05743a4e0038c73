//! Whether a drill may begin: with its scenario at rest and nothing wrong, nothing else away from its place, and no
//! condition of `[drills]` against it.

use crate::machine::window;
use crate::model::Model;
use crate::model::condition::{Group, Subject, Term, Truth};
use crate::model::id::{Name, ScenarioId};
use crate::model::scenario::{Direction, Mode, PairPlace, TimeWindow};
use crate::model::state::StateView;
use crate::model::time::Wall;

/// Changes of time windows that are looked at between now and the planned end.
const CHANGES_MOST: usize = 256;

/// How everything stands.
#[derive(Clone, Copy)]
pub struct Standing<'a> {
    pub model: &'a Model,
    pub view: &'a StateView,
    pub now: Wall,
}

/// Why a drill of this scenario may not begin now; `None`: it may. The names are known.
pub fn refused(at: Standing<'_>, scenario: ScenarioId, ends_at: Wall, stop_on: &[Name]) -> Option<String> {
    let by_conditions = || by_conditions(at, ends_at, stop_on);
    by_drill(at).or_else(|| by_itself(at, scenario)).or_else(|| by_others(at, scenario)).or_else(by_conditions)
}

fn by_drill(at: Standing<'_>) -> Option<String> {
    let drill = at.view.live_drill()?;
    let (id, scenario, phase, end) = (drill.id, &drill.scenario, drill.phase.word(), drill.ends_at);
    Some(format!("drill {id} of scenario {scenario} is {phase}, planned until {end}; one at a time"))
}

fn by_itself(at: Standing<'_>, id: ScenarioId) -> Option<String> {
    let (rules, view) = (at.model.scenario(id), &at.view.scenarios[id.index()]);
    let name = &rules.name;
    if view.stuck {
        return Some(format!("scenario {name} is stuck: both directions are `on`"));
    }
    if view.active || view.attempt.is_some() {
        return Some(format!("scenario {name} is {}: a drill begins with it inactive", view.word()));
    }
    if view.modes[Direction::Activate.index()].mode == Mode::On {
        return Some(format!("scenario {name} is about to activate: somebody has set activate `on`"));
    }
    let groups = &rules.directions[Direction::Activate.index()].when.groups;
    let values = &view.groups[Direction::Activate.index()];
    let (group, _) = groups.iter().zip(values).find(|(_, value)| value.value == Truth::True)?;
    Some(format!("the activation condition of scenario {name} is true ({}): this would be no drill", group.name))
}

/// The permission of a pair to return does not count: it is active while all is well.
fn by_others(at: Standing<'_>, id: ScenarioId) -> Option<String> {
    let permission = |id: ScenarioId| {
        let places = at.model.pairs.iter().flat_map(|pair| &pair.scenarios);
        places.filter(|at| at.place == PairPlace::ToActive).any(|at| at.scenario == id)
    };
    let others = at.view.scenarios.iter().enumerate().map(|(i, view)| (ScenarioId::from_index(i), view));
    let away = others.filter(|(other, view)| *other != id && (view.active || view.attempt.is_some()));
    let away: Vec<String> = away
        .filter(|(other, _)| !permission(*other))
        .map(|(other, view)| format!("{} is {}", at.model.scenario(other).name, view.word()))
        .collect();
    (!away.is_empty()).then(|| format!("no drill while another scenario is away: {}", away.join(", ")))
}

fn by_conditions(at: Standing<'_>, ends_at: Wall, stop_on: &[Name]) -> Option<String> {
    let (rules, values) = (&at.model.drills, &at.view.watched);
    if let Some(name) = rules.blocked.first_true(values, |_| true) {
        return Some(format!("drills are blocked now: {name} ([drills] blocked)"));
    }
    if let Some((name, from)) = blocked_later(at.model, at.now, ends_at) {
        return Some(format!("the drill would run into a blocked window: {name} from {from} on ([drills] blocked)"));
    }
    let name = rules.stop_on.first_true(values, |name| stop_on.contains(name))?;
    Some(format!("the condition to stop on is true already: {name}"))
}

/// The first moment before `until` at which a blocking group that only looks at time windows becomes true.
fn blocked_later(model: &Model, now: Wall, until: Wall) -> Option<(&Name, Wall)> {
    let window_of = |term: &Term| -> Option<&TimeWindow> {
        match term.subject {
            Subject::TimeWindow(id) if term.hold.is_none() => Some(&model.time_windows[id.index()]),
            _ => None,
        }
    };
    let by_time = |group: &&Group| group.terms.iter().all(|term| window_of(term).is_some());
    let groups: Vec<&Group> = model.drills.blocked.when.groups.iter().filter(by_time).collect();
    let mut at = now;
    for _ in 0..CHANGES_MOST {
        let windows = groups.iter().flat_map(|group| &group.terms).filter_map(window_of);
        at = windows.filter_map(|window| window::next_change(window, at)).min().filter(|at| *at < until)?;
        let holds = |term: &Term| window_of(term).is_some_and(|window| window::is_open(window, at) != term.negated);
        if let Some(group) = groups.iter().find(|group| group.terms.iter().all(holds)) {
            return Some((&group.name, at));
        }
    }
    None
}
