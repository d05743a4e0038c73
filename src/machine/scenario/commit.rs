//! The commit: the one place where a scenario changes its state.

use std::sync::Arc;

use super::{Direction, Look, ModeRun, ScenarioMachine, Settled};
use crate::machine::{Effect, condition};
use crate::model::condition::{Condition, Truth};
use crate::model::drill::Drill;
use crate::model::event::{Cause, GuardOutcome, Record, Transition, TransitionGroup, TransitionTrigger, admin_cause};
use crate::model::id::Name;
use crate::model::scenario::{Mode, Scenario};
use crate::model::time::Now;

// === impl ScenarioMachine ===

impl ScenarioMachine {
    pub(super) fn commit(
        &mut self,
        look: &Look<'_>,
        cause: Cause,
        guard: Option<GuardOutcome>,
        effects: &mut Vec<Effect>,
        settled: &mut Settled,
    ) {
        let (now, rules) = (look.now, look.rules);
        let direction = Direction::out_of(self.active);
        let forced = cause == Cause::Forced;
        let gate = self.gate(look, direction);
        let drill = self.claimed(look, &cause, direction);
        let person = if forced { self.person(direction, drill) } else { None };
        let transition = Arc::new(Transition {
            scenario: Name::clone(&rules.name),
            seq: self.seq + 1,
            direction,
            evaluated_at: now.wall,
            committed_at: now.wall,
            actor: person.clone().unwrap_or_else(|| "auto".into()),
            reason: if forced { self.forced_for(direction, drill) } else { None },
            act_of: if forced { person.as_ref().map(admin_cause) } else { look.act_of.cloned() },
            cause,
            groups: self.transition_groups(rules),
            gate,
            guard,
            drill: drill.map(|drill| drill.id),
            triggers: match drill {
                Some(drill) => drill_triggers(look, direction, drill),
                None => triggers(look, direction, gate),
            },
        });
        self.seq += 1;
        self.active = direction == Direction::Activate;
        self.entered = now;
        self.dwelt = std::time::Duration::ZERO;
        self.forced = forced;
        self.attempt = None;
        self.retry_at = None;
        self.refused = None;
        self.last_transition = Some(Arc::clone(&transition));
        // Away from where it was, or back.
        self.drill = drill.map(|drill| drill.id).filter(|_| self.drill.is_none());
        self.count_automatic(now, rules, forced);
        self.spend_and_release(rules, direction, settled);
        // After the return of a drill nothing is known that a person had seen and decided about.
        let known = forced && !(drill.is_some() && direction == Direction::Deactivate);
        self.rearm(look, known);
        settled.committed = true;
        effects.push(Effect::Record(Record::Transition(transition)));
        effects.push(Effect::SaveScenario(Box::new(self.saved(rules))));
    }

    fn gate(&self, look: &Look<'_>, direction: Direction) -> Option<Truth> {
        let gate: &Condition = look.rules.directions[direction.index()].gate.as_ref()?;
        let rows = self.directions[direction.index()].gate.as_ref()?;
        Some(gate.evaluate(|g, t| {
            condition::evaluate(&gate.groups[g].terms[t], rows[g][t], look.board, None, look.now.tick).value
        }))
    }

    fn transition_groups(&self, rules: &Scenario) -> Vec<TransitionGroup> {
        let of = |direction: Direction| {
            let rules = &rules.directions[direction.index()].when.groups;
            self.directions[direction.index()].groups.iter().zip(rules).map(move |(run, rule)| TransitionGroup {
                direction,
                name: Name::clone(&run.name),
                value: run.value,
                armed: run.armed,
                terms: run
                    .terms
                    .iter()
                    .zip(&rule.terms)
                    .map(|(t, rule)| (Name::clone(&rule.text), t.value, t.since))
                    .collect(),
            })
        };
        of(Direction::Activate).chain(of(Direction::Deactivate)).collect()
    }

    fn count_automatic(&mut self, now: Now, rules: &Scenario, forced: bool) {
        if forced || rules.oscillation.commits == 0 {
            return;
        }
        self.automatic.push_back(now.wall);
        // Older ones can never count again; so the list is bounded by what the window can hold.
        while self.automatic.front().is_some_and(|&at| at + rules.oscillation.within <= now.wall) {
            self.automatic.pop_front();
        }
        let most = rules.oscillation.commits as usize + 1;
        while self.automatic.len() > most {
            self.automatic.pop_front();
        }
    }

    /// The `on` that has acted is spent; the `on` of the opposite direction is over and falls back to its base mode.
    fn spend_and_release(&mut self, rules: &Scenario, direction: Direction, settled: &mut Settled) {
        let mode = &mut self.modes[direction.index()];
        if mode.mode == Mode::On && !mode.spent {
            mode.spent = true;
            settled.modes_changed[direction.index()] = true;
        }
        let opposite = direction.opposite();
        if self.modes[opposite.index()].mode == Mode::On {
            let base = rules.directions[opposite.index()].base_mode;
            self.modes[opposite.index()] = ModeRun { mode: base, ..ModeRun::default() };
            settled.modes_changed[opposite.index()] = true;
        }
    }

    /// The direction that now leads out begins its holds here. After a forced commit its groups need fresh evidence;
    /// one that is false already has it.
    fn rearm(&mut self, look: &Look<'_>, known: bool) {
        let out = Direction::out_of(self.active);
        for direction in Direction::BOTH {
            let leads_out = direction == out;
            // The other direction's holds are no longer bound to the former commit.
            let floor = leads_out.then_some(look.now.tick);
            let rules = &look.rules.directions[direction.index()].when.groups;
            for (group, rule) in self.directions[direction.index()].groups.iter_mut().zip(rules) {
                group.evaluate(rule, look.board, floor, look.now);
                group.armed = !known || !leads_out || group.value.is_false();
            }
        }
    }
}

/// In a drill those go off that it names; of the scenario's own one sees that they would have.
fn drill_triggers(look: &Look<'_>, direction: Direction, drill: &Drill) -> Vec<TransitionTrigger> {
    let named = drill.notify.iter().filter(|name| look.model.trigger_id(name).is_some());
    let told = named.map(|name| TransitionTrigger { name: Name::clone(name), status: "pending".into() });
    let own = look.rules.directions[direction.index()].triggers.iter();
    let own = own.map(|id| &look.model.triggers[id.index()].name).filter(|name| !drill.notify.contains(name));
    let held = own.map(|name| TransitionTrigger { name: Name::clone(name), status: "suppressed".into() });
    told.chain(held).collect()
}

/// Which triggers go off and which the gate holds back.
fn triggers(look: &Look<'_>, direction: Direction, gate: Option<Truth>) -> Vec<TransitionTrigger> {
    let status: Name = if gate.is_none_or(Truth::is_true) { "pending" } else { "suppressed" }.into();
    let triggers = look.rules.directions[direction.index()].triggers.iter();
    let name = |id: &crate::model::id::TriggerId| Name::clone(&look.model.triggers[id.index()].name);
    triggers.map(|id| TransitionTrigger { name: name(id), status: Name::clone(&status) }).collect()
}
