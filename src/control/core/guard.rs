//! Guards that ask: queries go out with the courier, approvals come from people. The terms of a guard are the engine's.
//!
//! An attempt passes when its queries have passed and, where the guard asks for one, a person has approved it; either
//! may come first. What cannot tell is left to `on_timeout` at the deadline, which the engine keeps.

use std::collections::BTreeMap;

use super::{Core, Output, Step};
use crate::control::apply::Prepared;
use crate::control::courier::{Asking, Errand, Returned};
use crate::model::delivery::LastTry;
use crate::model::event::{AdminIntent, GuardResult, GuardVerdict};
use crate::model::id::{Name, ScenarioId};
use crate::model::scenario::{Direction, GuardStep};
use crate::model::time::Now;

/// Attempts that wait for a query or a person, by scenario.
#[derive(Clone, Debug, Default)]
pub(super) struct Guards {
    open: BTreeMap<Name, Open>,
    /// Begun in the step that is being made.
    begun: Vec<Name>,
}

#[derive(Clone, Debug)]
struct Open {
    attempt: u64,
    queries: Option<(GuardVerdict, Name)>,
    /// A person's decision, where one is needed.
    approved: bool,
}

// === impl Core ===

impl Core {
    pub(super) fn begin_guard(&mut self, scenario: ScenarioId, direction: Direction, attempt: u64) {
        let model = self.engine.model();
        let rules = model.scenario(scenario);
        let Some(guard) = &rules.directions[direction.index()].guard else { return };
        let queries: Vec<_> = guard
            .run
            .iter()
            .filter_map(|step| match step {
                GuardStep::Query(id) => Some(model.queries[id.index()].clone()),
                GuardStep::Check(_) => None,
            })
            .collect();
        let nothing = (GuardVerdict::Pass, "nothing is asked".into());
        let open = Open { attempt, queries: queries.is_empty().then_some(nothing), approved: !guard.approve };
        let name = Name::clone(&rules.name);
        let (timeout, retries, backoff) = (guard.timeout, guard.retries, guard.backoff);
        self.guards.open.insert(Name::clone(&name), open);
        self.guards.begun.push(Name::clone(&name));
        if !queries.is_empty() {
            let ask = Asking { scenario: name, attempt, queries, timeout, retries, backoff };
            self.outputs.push(Output::Errand(Errand::Ask(ask)));
        }
    }

    pub(super) fn end_guard(&mut self, scenario: ScenarioId, attempt: u64) {
        let name = Name::clone(&self.engine.model().scenario(scenario).name);
        if self.guards.open.get(&name).is_some_and(|open| open.attempt == attempt) {
            self.guards.open.remove(&name);
            self.outputs.push(Output::Errand(Errand::Drop { scenario: name, attempt }));
        }
    }

    /// Ends what a change of the configuration has left without an attempt.
    pub(super) fn drop_guards(&mut self) {
        let model = self.engine.model();
        let runs = |name: &Name, attempt: u64| {
            let view = model.scenario_id(name).map(|id| &self.engine.view().scenarios[id.index()]);
            view.and_then(|view| view.attempt.as_ref()).is_some_and(|running| running.id == attempt)
        };
        let gone: Vec<(Name, u64)> = self
            .guards
            .open
            .iter()
            .filter(|(name, open)| !runs(name, open.attempt))
            .map(|(name, open)| (Name::clone(name), open.attempt))
            .collect();
        for (scenario, attempt) in gone {
            self.guards.open.remove(&scenario);
            self.outputs.push(Output::Errand(Errand::Drop { scenario, attempt }));
        }
    }

    /// What an errand came back with.
    pub(super) fn returned(&mut self, now: Now, returned: Returned) {
        match returned {
            Returned::Delivered { id, result } => {
                let model = std::sync::Arc::clone(self.engine.model());
                self.outbox.finished(now, id, result, &model);
                self.tell_deliveries(now);
            }
            Returned::Tried { query, verdict, detail, took } => {
                // One that the configuration no longer has would stay for ever.
                if self.engine.model().query_id(&query).is_some() {
                    let counts = self.queries.entry(query).or_default();
                    match verdict {
                        GuardVerdict::Pass => counts.passed += 1,
                        GuardVerdict::Refuse => counts.refused += 1,
                        GuardVerdict::CannotTell => counts.undecided += 1,
                    }
                    counts.last = Some(LastTry { at: now.wall, verdict, said: detail, took });
                }
            }
            Returned::Asked { scenario, attempt, verdict, detail } => {
                if let Some(open) = self.guards.open.get_mut(&scenario).filter(|open| open.attempt == attempt) {
                    open.queries = Some((verdict, detail));
                    self.weigh(now, &scenario);
                }
            }
        }
    }

    /// A person has decided; recorded by now.
    pub(super) fn decided(&mut self, now: Now, prepared: &Prepared) {
        let AdminIntent::DecideGuard { scenario, attempt, approve } = prepared.intent else { return };
        if !approve {
            let reason = prepared.act.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
            let detail = format!("refused by {}{reason}", prepared.act.actor).into();
            self.step(now, Step::Guard(GuardResult { scenario, attempt, verdict: GuardVerdict::Refuse, detail }));
            return;
        }
        let name = Name::clone(&self.engine.model().scenario(scenario).name);
        if let Some(open) = self.guards.open.get_mut(&name).filter(|open| open.attempt == attempt) {
            open.approved = true;
            self.weigh(now, &name);
        }
    }

    /// Says of guards that have just begun what they wait for.
    pub(super) fn weigh_begun(&mut self, now: Now) {
        for name in std::mem::take(&mut self.guards.begun) {
            self.weigh(now, &name);
        }
    }

    /// Tells the engine where an attempt stands.
    fn weigh(&mut self, now: Now, name: &Name) {
        let Some(open) = self.guards.open.get(name) else { return };
        let Some(scenario) = self.engine.model().scenario_id(name) else { return };
        let waits = "waits for the approval of a person";
        let (verdict, detail): (_, Name) = match (&open.queries, open.approved) {
            (Some((GuardVerdict::Pass, detail)), true) => (GuardVerdict::Pass, Name::clone(detail)),
            (Some((GuardVerdict::Pass, detail)), false) => {
                (GuardVerdict::CannotTell, format!("{detail}; {waits}").into())
            }
            (Some((verdict, detail)), _) => (*verdict, Name::clone(detail)),
            (None, true) => (GuardVerdict::CannotTell, "the queries are not through".into()),
            (None, false) => (GuardVerdict::CannotTell, format!("the queries are not through; {waits}").into()),
        };
        let attempt = open.attempt;
        self.step(now, Step::Guard(GuardResult { scenario, attempt, verdict, detail }));
    }
}
