//! What happens next to a scenario: when it could move by itself, and what it needs. Pure; read from the state.

use crate::model::Model;
use crate::model::condition::{Subject, Term, Truth};
use crate::model::id::ScenarioId;
use crate::model::scenario::{Direction, Mode};
use crate::model::state::{ScenarioView, StateView, TermView};
use crate::model::time::{Now, Wall};

/// Scenarios that follow from others, one within the other. They form no cycles; this only bounds the work.
const DEPTH_MOST: usize = 16;

/// What happens next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Next {
    /// A sentence without its subject and final stop: `returns by itself if its checks keep passing`.
    pub what: String,
    /// When, at the earliest; `None`: nobody can tell.
    pub at: Option<Wall>,
    /// Who or what is waited for, besides the checks.
    pub needs: Option<String>,
}

/// State and time that are asked.
#[derive(Clone, Copy)]
pub(crate) struct Ahead<'a> {
    pub model: &'a Model,
    pub view: &'a StateView,
    pub now: Now,
}

// === impl Ahead ===

impl Ahead<'_> {
    /// What happens next to `id`.
    pub fn next(&self, id: ScenarioId) -> Next {
        let view = self.of(id);
        let out = Direction::out_of(view.active);
        let goes = if view.active { "returns" } else { "activates" };
        if view.stuck {
            let needs = Some("a person sets one direction to auto or off".into());
            return Next { what: "nothing moves: both directions are on".into(), at: None, needs };
        }
        if let Some(attempt) = &view.attempt {
            let deadline = Some(self.now.wall + attempt.deadline.since(self.now.tick));
            let guard = self.model.scenario(id).directions[attempt.direction.index()].guard.as_ref();
            let asks = guard.is_some_and(|guard| guard.approve);
            let what = format!("wants to {}; {}", attempt.direction.word(), attempt.detail);
            return Next { what, at: deadline, needs: asks.then(|| "a person approves it".into()) };
        }
        if let Some(refused) = &view.refused {
            let what = format!("wants to {}, and its guard keeps it: {}", refused.direction.word(), refused.detail);
            return Next { what, at: None, needs: None };
        }
        if view.oscillating {
            let needs = Some("a person sets a mode".into());
            return Next { what: "held in its state after too many automatic commits".into(), at: None, needs };
        }
        let drill = self.view.live_drill().filter(|drill| view.drill == Some(drill.id));
        if let Some(drill) = drill {
            return Next { what: "returns when the drill ends".into(), at: Some(drill.ends_at), needs: None };
        }
        let rules = &self.model.scenario(id).directions[out.index()];
        let person = Some(if view.active { "a person returns it" } else { "a person activates it" }.to_owned());
        if rules.when.groups.is_empty() {
            return Next { what: format!("has no condition under which it {goes}"), at: None, needs: person };
        }
        match (view.modes[out.index()].mode, self.earliest(id, out)) {
            (Mode::Off, _) if view.ready_to_return => Next { what: "ready to return".into(), at: None, needs: person },
            (Mode::Off, at) if view.active => {
                Next { what: "can be ready to return if its checks keep passing".into(), at, needs: person }
            }
            (Mode::Off, _) => Next { what: format!("never {goes} by itself"), at: None, needs: person },
            (_, at @ Some(_)) => Next { what: format!("{goes} by itself if its checks stay so"), at, needs: None },
            (_, None) => Next { what: self.once(id, out), at: None, needs: None },
        }
    }

    /// When the condition of `direction` could be true at the earliest, if nothing changes but what is counting; `None`:
    /// something has to change first, or a person has to.
    pub fn earliest(&self, id: ScenarioId, direction: Direction) -> Option<Wall> {
        self.earliest_within(id, direction, DEPTH_MOST)
    }

    fn earliest_within(&self, id: ScenarioId, direction: Direction, depth: usize) -> Option<Wall> {
        let depth = depth.checked_sub(1)?;
        let view = self.of(id);
        let opposite = direction.opposite().index();
        if view.stuck || view.oscillating {
            return None;
        }
        let scenario = self.model.scenario(id);
        // Activation wins; a direction that is off asks for nothing.
        let mut not_before = if view.seq == 0 { self.now.wall } else { view.since + scenario.min_dwell };
        if direction == Direction::Deactivate && view.modes[opposite].mode != Mode::Off {
            let groups = scenario.directions[opposite].when.groups.iter().zip(&view.groups[opposite]);
            for (group, _) in groups.filter(|(_, seen)| seen.value.is_true()) {
                not_before = not_before.max(self.over(&group.terms, depth)?);
            }
        }
        let groups = scenario.directions[direction.index()].when.groups.iter().zip(&view.groups[direction.index()]);
        let soonest = groups.filter_map(|(group, seen)| {
            let counting = seen.terms.iter().any(|term| term.hold_ends.is_some());
            if !seen.armed && !counting {
                return None;
            }
            let terms = group.terms.iter().zip(&seen.terms);
            terms
                .map(|(term, seen)| self.term(term, seen, depth))
                .try_fold(self.now.wall, |at, term| Some(at.max(term?)))
        });
        soonest.min().map(|at| at.max(not_before))
    }

    /// When a group that is true could be over, because a scenario that it follows moves.
    fn over(&self, terms: &[Term], depth: usize) -> Option<Wall> {
        let moves = terms.iter().filter_map(|term| {
            let Subject::Scenario(other) = term.subject else { return None };
            let away = if term.negated { Direction::Activate } else { Direction::Deactivate };
            let by_itself = self.of(other).modes[away.index()].mode != Mode::Off;
            by_itself.then(|| self.earliest_within(other, away, depth)).flatten()
        });
        moves.min()
    }

    /// When a term could be true.
    fn term(&self, term: &Term, seen: &TermView, depth: usize) -> Option<Wall> {
        if seen.value.is_true() {
            return Some(self.now.wall);
        }
        if let Some(ends) = seen.hold_ends {
            return Some(self.now.wall + ends.since(self.now.tick));
        }
        let Subject::Scenario(other) = &term.subject else { return None };
        let toward = if term.negated { Direction::Deactivate } else { Direction::Activate };
        if self.of(*other).modes[toward.index()].mode == Mode::Off {
            return None;
        }
        Some(self.earliest_within(*other, toward, depth)? + term.hold.unwrap_or_default())
    }

    /// What has to come true first.
    fn once(&self, id: ScenarioId, direction: Direction) -> String {
        let view = self.of(id);
        let goes = if direction == Direction::Deactivate { "returns" } else { "activates" };
        let names: Vec<String> = self.model.scenario(id).directions[direction.index()]
            .when
            .groups
            .iter()
            .map(|group| format!("'{}'", group.name))
            .collect();
        let groups = super::status::verdict::listed(&names, "or");
        let waits = view.groups[direction.index()].iter().any(|group| !group.armed && group.value == Truth::True);
        if waits {
            format!("{goes} by itself once {groups} was false and is true again")
        } else {
            format!("{goes} by itself once {groups} is true")
        }
    }

    fn of(&self, id: ScenarioId) -> &ScenarioView {
        &self.view.scenarios[id.index()]
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::config::{Files, Source};
    use crate::model::state::{GroupView, ModeView};
    use crate::model::time::Tick;

    struct NoFiles;

    impl Files for NoFiles {
        fn glob(&self, _: &str) -> Result<Vec<String>, String> {
            Ok(Vec::new())
        }

        fn read(&self, path: &str) -> Result<String, String> {
            Err(format!("{path}: no such file"))
        }
    }

    const CONFIG: &str = r#"
        schema = 1
        [appliance]
        name = "box"
        [switch.out]
        [switch.back]
        [scenario.follows]
        activate = { when = [["sc:gone"]] }
        deactivate = { when = [["sc:gone!{for:1m}"]] }
        [scenario.gone]
        activate = { when = [["sw:out"]] }
        deactivate = { when = { back = ["sw:back{for:15m}", "sw:out!"] } }
    "#;

    const NOW: Now = Now { tick: Tick(1_000_000), wall: Wall(1_767_607_200_000_000) };

    fn secs(s: u64) -> Duration {
        Duration::from_secs(s)
    }

    /// Both scenarios active; every term false.
    fn world() -> (std::sync::Arc<Model>, StateView) {
        let root = Source { path: "test.toml".into(), text: CONFIG.into() };
        let model = crate::config::load(root, &[], &NoFiles).map_err(|p| format!("{p:?}")).expect("it loads").model;
        let view = |scenario: &crate::model::scenario::Scenario| ScenarioView {
            active: true,
            seq: 1,
            since: NOW.wall - secs(600),
            groups: Direction::BOTH.map(|direction| {
                let groups = scenario.directions[direction.index()].when.groups.iter();
                let term = || TermView { value: Truth::False, ..TermView::default() };
                let view = |group: &crate::model::condition::Group| GroupView {
                    value: Truth::False,
                    armed: true,
                    terms: group.terms.iter().map(|_| term()).collect(),
                };
                groups.map(view).collect()
            }),
            ..ScenarioView::default()
        };
        let scenarios = model.scenarios.iter().map(view).collect();
        (model, StateView { scenarios, ..StateView::default() })
    }

    fn next(model: &Model, view: &StateView, name: &str) -> Next {
        Ahead { model, view, now: NOW }.next(model.scenario_id(name).expect("it is there"))
    }

    /// The way back of `gone` counts its hold: 5 min to go.
    fn on_the_way_back(model: &Model, view: &mut StateView) {
        let gone = model.scenario_id("gone").expect("it is there").index();
        let terms = &mut view.scenarios[gone].groups[1][0].terms;
        terms[0].hold_ends = Some(NOW.tick + secs(300));
        terms[1].value = Truth::True;
        let follows = model.scenario_id("follows").expect("it is there").index();
        view.scenarios[follows].groups[0][0].value = Truth::True;
        view.scenarios[follows].groups[0][0].terms[0].value = Truth::True;
    }

    #[test]
    fn a_return_is_foreseen_through_holds_and_the_scenarios_it_follows() {
        let (model, mut view) = world();
        let gone = next(&model, &view, "gone");
        assert_eq!((&*gone.what, gone.at), ("returns by itself once 'back' is true", None));
        on_the_way_back(&model, &mut view);
        let gone = next(&model, &view, "gone");
        assert_eq!((&*gone.what, gone.at), ("returns by itself if its checks stay so", Some(NOW.wall + secs(300))));
        // Its own activation is true only as long as the scenario that it follows is active.
        assert_eq!(next(&model, &view, "follows").at, Some(NOW.wall + secs(360)));
    }

    #[test]
    fn nothing_is_foreseen_while_the_reason_is_still_there_or_a_person_has_to_move() {
        let (model, mut view) = world();
        on_the_way_back(&model, &mut view);
        let gone = model.scenario_id("gone").expect("it is there").index();
        view.scenarios[gone].groups[0][0].value = Truth::True;
        assert_eq!(next(&model, &view, "gone").at, None);
        view.scenarios[gone].groups[0][0].value = Truth::False;
        view.scenarios[gone].modes[1] = ModeView { mode: Mode::Off, ..ModeView::default() };
        let by_hand = next(&model, &view, "gone");
        assert_eq!((by_hand.at, by_hand.needs.as_deref()), (Some(NOW.wall + secs(300)), Some("a person returns it")));
        assert_eq!(next(&model, &view, "follows").at, None, "what it follows waits for a person");
        view.scenarios[gone].ready_to_return = true;
        assert_eq!(next(&model, &view, "gone").what, "ready to return");
        view.scenarios[gone].stuck = true;
        let stuck = next(&model, &view, "gone");
        assert_eq!((&*stuck.what, stuck.needs.is_some()), ("nothing moves: both directions are on", true));
    }
}
