//! A guard that runs: between the wish to commit and the commit.

use super::{Direction, Look, ScenarioMachine, Settled};
use crate::machine::board::Board;
use crate::machine::{Effect, condition};
use crate::model::condition::Truth;
use crate::model::event::{Cause, GuardOutcome, GuardResult, GuardVerdict, Record};
use crate::model::id::Name;
use crate::model::scenario::{Guard, GuardStep, Mode, OnTimeout, Scenario};
use crate::model::state::RefusedView;
use crate::model::time::{Now, Tick, Wall};

#[derive(Clone, Debug)]
pub struct Attempt {
    /// Names the attempt, so that a late result cannot decide a later one.
    pub id: u64,
    pub direction: Direction,
    pub started_at: Wall,
    pub deadline: Tick,
    /// The last thing heard of it.
    pub detail: Name,
    cause: Cause,
    /// Queries and approval have passed (or there are none).
    passed: bool,
}

// === impl ScenarioMachine ===

impl ScenarioMachine {
    /// Takes the result of a guard's queries. A result of another attempt is ignored. `true`: look again.
    pub fn guard_result(
        &mut self,
        now: Now,
        rules: &Scenario,
        result: &GuardResult,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let Some(attempt) = self.attempt.as_mut().filter(|a| a.id == result.attempt) else { return false };
        attempt.detail = Name::clone(&result.detail);
        match result.verdict {
            GuardVerdict::Pass => attempt.passed = true,
            GuardVerdict::Refuse => self.refuse(now, rules, "refused", &Name::clone(&result.detail), effects),
            // Decided by `on_timeout` at the deadline.
            GuardVerdict::CannotTell => {}
        }
        true
    }

    /// Commits for `cause`, through the guard where there is one.
    pub(super) fn pursue(&mut self, look: &Look<'_>, cause: Cause, effects: &mut Vec<Effect>, settled: &mut Settled) {
        let (now, rules) = (look.now, look.rules);
        let out = Direction::out_of(self.active);
        let Some(guard) = &rules.directions[out.index()].guard else {
            return self.commit(look, cause, None, effects, settled);
        };
        if cause == Cause::Forced && self.modes[out.index()].override_guard {
            self.cancel_attempt(rules, "overridden", "the guard was overridden", effects);
            let outcome = GuardOutcome { attempt: 0, outcome: "overridden".into(), detail: "".into() };
            return self.commit(look, cause, Some(outcome), effects, settled);
        }
        if let Some(attempt) = &mut self.attempt {
            // Forced while the automatic attempt of the same direction runs, or no longer forced: it goes on as that.
            attempt.cause = cause;
        } else {
            if self.retry_at.is_some_and(|at| now.tick < at) {
                return;
            }
            self.begin_attempt(now, guard, out, cause, effects);
            if guard.approve {
                // An approval names its attempt: no number is given twice, also where the process is killed.
                effects.push(Effect::SaveScenario(Box::new(self.saved(rules))));
            }
        }
        self.advance_attempt(look, guard, effects, settled);
    }

    /// The condition no longer wants the commit: a pending attempt is abandoned, unless the condition is merely unknown.
    pub(super) fn abandon_unless_waiting(&mut self, now: Now, rules: &Scenario, effects: &mut Vec<Effect>) {
        let out = Direction::out_of(self.active);
        let Some(attempt) = &self.attempt else {
            self.retry_at = None;
            // What is merely unknown may still be wanted.
            if self.modes[out.index()].mode != Mode::Auto || self.value(out) != Truth::Unknown {
                self.refused = None;
            }
            return;
        };
        let automatic = attempt.cause != Cause::Forced;
        let waits = automatic
            && self.modes[out.index()].mode == Mode::Auto
            && self.value(out) == Truth::Unknown
            && now.tick < attempt.deadline;
        if !waits {
            self.cancel_attempt(rules, "abandoned", "the condition is no longer true", effects);
        }
    }

    /// Ends a pending attempt without a commit and records why.
    pub(super) fn cancel_attempt(&mut self, rules: &Scenario, outcome: &str, detail: &str, effects: &mut Vec<Effect>) {
        self.retry_at = None;
        self.refused = None;
        let Some(attempt) = self.attempt.take() else { return };
        effects.push(Effect::CancelGuard { scenario: self.id, attempt: attempt.id });
        effects.push(record(rules, &attempt, outcome, detail));
    }

    fn begin_attempt(
        &mut self,
        now: Now,
        guard: &Guard,
        direction: Direction,
        cause: Cause,
        effects: &mut Vec<Effect>,
    ) {
        self.attempts += 1;
        self.retry_at = None;
        let asks = guard.approve || guard.run.iter().any(|step| matches!(step, GuardStep::Query(_)));
        self.attempt = Some(Attempt {
            id: self.attempts,
            direction,
            started_at: now.wall,
            deadline: now.tick + guard.deadline,
            detail: "running".into(),
            cause,
            passed: !asks,
        });
        if asks {
            effects.push(Effect::Guard { scenario: self.id, direction, attempt: self.attempts });
        }
    }

    fn advance_attempt(&mut self, look: &Look<'_>, guard: &Guard, effects: &mut Vec<Effect>, settled: &mut Settled) {
        let (now, rules) = (look.now, look.rules);
        let Some(attempt) = self.attempt.clone() else { return };
        let checks = self.guard_checks(now.tick, guard, attempt.direction, look.board);
        let outcome = |word: &str| {
            Some(GuardOutcome { attempt: attempt.id, outcome: word.into(), detail: Name::clone(&attempt.detail) })
        };
        if checks.is_false() {
            return self.refuse(now, rules, "refused", &"a check of the guard is not true".into(), effects);
        }
        if checks.is_true() && attempt.passed {
            self.attempt = None;
            return self.commit(look, attempt.cause.clone(), outcome("pass"), effects, settled);
        }
        if now.tick >= attempt.deadline {
            match guard.on_timeout {
                OnTimeout::Proceed => {
                    effects.push(Effect::CancelGuard { scenario: self.id, attempt: attempt.id });
                    self.attempt = None;
                    self.commit(look, attempt.cause.clone(), outcome("proceeded"), effects, settled);
                }
                OnTimeout::Block => self.refuse(now, rules, "blocked", &attempt.detail, effects),
            }
        }
    }

    /// The check steps of a guard together; true where there are none.
    fn guard_checks(&self, now: Tick, guard: &Guard, direction: Direction, board: &Board) -> Truth {
        let rows = &self.directions[direction.index()].guard;
        guard
            .run
            .iter()
            .zip(rows)
            .filter_map(|(step, rows)| match step {
                GuardStep::Query(_) => None,
                GuardStep::Check(term) => Some(condition::evaluate(term, (*rows)?, board, None, now).value),
            })
            .fold(Truth::True, Truth::and)
    }

    fn refuse(&mut self, now: Now, rules: &Scenario, outcome: &str, detail: &Name, effects: &mut Vec<Effect>) {
        let Some(attempt) = self.attempt.take() else { return };
        effects.push(Effect::CancelGuard { scenario: self.id, attempt: attempt.id });
        effects.push(record(rules, &attempt, outcome, detail));
        let before = self.refused.take().filter(|before| before.direction == attempt.direction);
        let since = before.map_or(now.wall, |before| before.since);
        self.refused = Some(RefusedView { direction: attempt.direction, since, detail: Name::clone(detail) });
        if let Some(guard) = &rules.directions[attempt.direction.index()].guard {
            self.retry_at = Some(now.tick + guard.backoff);
        }
    }
}

fn record(rules: &Scenario, attempt: &Attempt, outcome: &str, detail: &str) -> Effect {
    Effect::Record(Record::Attempt {
        scenario: Name::clone(&rules.name),
        direction: attempt.direction,
        attempt: attempt.id,
        outcome: outcome.into(),
        detail: detail.into(),
    })
}
