//! What a drill asks of a scenario.

use super::{Look, Occasion, ScenarioMachine, Settled};
use crate::machine::Effect;
use crate::machine::board::Board;
use crate::model::Model;
use crate::model::drill::Drill;
use crate::model::event::{Cause, GuardOutcome};
use crate::model::id::Name;
use crate::model::scenario::Direction;
use crate::model::time::Now;

// === impl ScenarioMachine ===

impl ScenarioMachine {
    /// The first group of the activation that is true now, armed or not.
    pub fn fault(&mut self, now: Now, model: &Model, board: &Board) -> Option<Name> {
        let look = self.look(now, model, board, Occasion::default());
        self.evaluate(&look);
        let groups = &self.directions[Direction::Activate.index()].groups;
        groups.iter().find(|group| group.value.is_true()).map(|group| Name::clone(&group.name))
    }

    /// What the guard said when it last refused.
    pub fn refusal(&self) -> Option<&Name> {
        self.refused.as_ref().map(|refused| &refused.detail)
    }

    /// Nobody wants any more what the guard refused.
    pub fn forget_refusal(&mut self) {
        self.refused = None;
    }

    pub fn is_pending(&self) -> bool {
        self.attempt.is_some()
    }

    /// It stands where it stands for a reason of its own.
    pub fn forget_drill(&mut self) {
        self.drill = None;
    }

    /// What the drill had moved is moved for real: the drill's way back and the real commit, in one. Both guards count
    /// as standing: what they would be asked about has happened.
    pub fn hand_over(
        &mut self,
        now: Now,
        model: &Model,
        board: &Board,
        occasion: Occasion<'_>,
        group: Option<Name>,
        effects: &mut Vec<Effect>,
    ) -> Settled {
        let look = self.look(now, model, board, occasion);
        let mut settled = Settled::default();
        let last = self.last_transition.as_ref().and_then(|t| t.cause.group().cloned());
        let cause = group.or(last).map_or(Cause::Forced, Cause::Condition);
        self.evaluate(&look);
        self.cancel_attempt(look.rules, "abandoned", "the drill became real", effects);
        let standing = |rules: &crate::model::scenario::Scenario, direction: Direction| {
            let detail = "the drill became real".into();
            let asks = rules.directions[direction.index()].guard.is_some();
            asks.then(|| GuardOutcome { attempt: 0, outcome: "standing".into(), detail })
        };
        let back = Direction::out_of(self.active);
        self.commit(&look, Cause::Forced, standing(look.rules, back), effects, &mut settled);
        // The real one is nobody's drill.
        let look = Look { drill: None, ..look };
        self.commit(&look, cause, standing(look.rules, back.opposite()), effects, &mut settled);
        settled.wake = self.next_look(now, look.rules);
        settled
    }

    pub(super) fn look<'a>(&self, now: Now, model: &'a Model, board: &'a Board, occasion: Occasion<'a>) -> Look<'a> {
        let (rules, act_of, drill) = (model.scenario(self.id), occasion.act_of, occasion.drill);
        Look { now, model, rules, board, act_of, drill }
    }

    /// The drill that a commit belongs to.
    pub(super) fn claimed<'a>(&self, look: &Look<'a>, cause: &Cause, direction: Direction) -> Option<&'a Drill> {
        let mark = look.drill?;
        let groups = &look.rules.directions[direction.index()].when.groups;
        let decided = cause.group().and_then(|name| groups.iter().find(|group| group.name == *name));
        mark.claims(self.id, decided).then_some(mark.drill)
    }

    /// Who forced a commit: whoever set the mode, or began the drill.
    pub(super) fn person(&self, direction: Direction, drill: Option<&Drill>) -> Option<Name> {
        let set = self.modes[direction.index()].actor.clone();
        set.or_else(|| drill.map(|drill| Name::clone(&drill.act.actor)))
    }

    /// Why a forced commit was made: what was said with the mode, or with the drill.
    pub(super) fn forced_for(&self, direction: Direction, drill: Option<&Drill>) -> Option<Name> {
        let said = self.modes[direction.index()].reason.clone();
        said.or_else(|| drill.and_then(|drill| drill.act.reason.clone()))
    }
}
