//! What stands between a condition and its consequences: gate, guard, triggers, and the attempt that runs.

use super::super::{text, wall_of};
use super::groups::reading;
use crate::config::units::format_duration;
use crate::control::World;
use crate::model::condition::{Condition, Subject, Term, Truth};
use crate::model::event::GuardVerdict;
use crate::model::id::ScenarioId;
use crate::model::scenario::{Direction, GuardStep, OnTimeout};
use crate::model::time::Wall;

dto! {
    /// The gate of each direction.
    pub struct GatesDto {
        pub activate: Option<GateDto>,
        pub deactivate: Option<GateDto>,
    }

    /// A condition that decides whether triggers are sent.
    pub struct GateDto {
        /// `true`, or what keeps the triggers back: `false`, `unknown`. Holds and measures are told by the commit alone:
        /// where it has some, `unknown`.
        pub value: String,
        /// Its groups: terms joined by ` and `.
        pub groups: Vec<String>,
    }

    /// The guard of each direction.
    pub struct GuardsDto {
        pub activate: Option<GuardRulesDto>,
        pub deactivate: Option<GuardRulesDto>,
    }

    /// What has to pass before a commit.
    pub struct GuardRulesDto {
        /// Queries and terms, in order.
        pub run: Vec<String>,
        /// A person has to approve it.
        pub approve: bool,
        /// All tries together.
        pub deadline: String,
        /// What it means when nothing could be told by then: `block` or `proceed`.
        pub on_timeout: String,
    }

    /// Names of triggers by direction.
    pub struct TriggerNamesDto {
        pub activate: Vec<String>,
        pub deactivate: Vec<String>,
    }

    /// A guard that is running.
    pub struct AttemptDto {
        pub id: u64,
        /// `activate` or `deactivate`.
        pub direction: String,
        pub started_at: String,
        pub deadline: String,
        pub detail: String,
        /// It waits for a person: `POST /scenarios/N/guard`.
        pub awaiting_approval: bool,
        /// What it asks, in order.
        pub runs: Vec<RunDto>,
    }

    /// A query or a term of a guard.
    pub struct RunDto {
        pub name: String,
        /// `running`, `pass`, `refuse`, `cannot_tell`.
        pub outcome: String,
        /// What it said in this attempt.
        pub value: Option<String>,
        /// What passes.
        pub expect: Option<String>,
        /// When it said so.
        pub at: Option<String>,
        /// How long the try took, in whole milliseconds; null: not known.
        pub took: Option<String>,
    }
}

// === impl GatesDto ===

impl GatesDto {
    pub(super) fn of(world: &World<'_>, id: ScenarioId) -> GatesDto {
        let of = |direction: Direction| {
            let gate = world.model.scenario(id).directions[direction.index()].gate.as_ref()?;
            let terms = |group: &crate::model::condition::Group| {
                group.terms.iter().map(|term| text(&term.text)).collect::<Vec<_>>().join(" and ")
            };
            let value = gate_value(world, gate);
            Some(GateDto { value: text(value.word()), groups: gate.groups.iter().map(terms).collect() })
        };
        GatesDto { activate: of(Direction::Activate), deactivate: of(Direction::Deactivate) }
    }
}

/// What a gate says now, as far as states alone can tell.
pub(crate) fn gate_value(world: &World<'_>, gate: &Condition) -> Truth {
    gate.evaluate(|group, term| value(world, &gate.groups[group].terms[term]))
}

fn value(world: &World<'_>, term: &Term) -> Truth {
    if term.hold.is_some() || term.measure.is_some() {
        return Truth::Unknown;
    }
    let view = world.view;
    let plain = match &term.subject {
        Subject::Check(id) => view.checks[id.index()].state,
        Subject::Scenario(id) => view.scenarios[id.index()].active.into(),
        Subject::Datacenter { datacenter, signal, observer: None } => {
            view.signals[datacenter.index()][*signal as usize]
        }
        Subject::TimeWindow(id) => view.time_windows[id.index()],
        Subject::Switch(id) => view.switches[id.index()].into(),
        Subject::Service(id, crate::model::condition::ServiceFacet::Up) => {
            use crate::model::state::ServiceState as S;
            match view.services[id.index()].state {
                S::Unknown => Truth::Unknown,
                state => (state == S::Up).into(),
            }
        }
        _ => Truth::Unknown,
    };
    if term.negated { !plain } else { plain }
}

// === impl GuardsDto ===

impl GuardsDto {
    pub(super) fn of(world: &World<'_>, id: ScenarioId) -> GuardsDto {
        let of = |direction: Direction| {
            let guard = world.model.scenario(id).directions[direction.index()].guard.as_ref()?;
            Some(GuardRulesDto {
                run: guard.run.iter().map(|step| step_name(world, step)).collect(),
                approve: guard.approve,
                deadline: format_duration(guard.deadline),
                on_timeout: match guard.on_timeout {
                    OnTimeout::Block => "block",
                    OnTimeout::Proceed => "proceed",
                }
                .into(),
            })
        };
        GuardsDto { activate: of(Direction::Activate), deactivate: of(Direction::Deactivate) }
    }
}

fn step_name(world: &World<'_>, step: &GuardStep) -> String {
    match step {
        GuardStep::Query(query) => text(&world.model.queries[query.index()].name),
        GuardStep::Check(term) => text(&term.text),
    }
}

// === impl TriggerNamesDto ===

impl TriggerNamesDto {
    pub(super) fn of(world: &World<'_>, id: ScenarioId) -> TriggerNamesDto {
        let of = |direction: Direction| {
            let triggers = &world.model.scenario(id).directions[direction.index()].triggers;
            triggers.iter().map(|trigger| text(&world.model.triggers[trigger.index()].name)).collect()
        };
        TriggerNamesDto { activate: of(Direction::Activate), deactivate: of(Direction::Deactivate) }
    }
}

// === impl AttemptDto ===

impl AttemptDto {
    pub(super) fn of(world: &World<'_>, id: ScenarioId) -> Option<AttemptDto> {
        let attempt = world.view.scenarios[id.index()].attempt.as_ref()?;
        let guard = world.model.scenario(id).directions[attempt.direction.index()].guard.as_ref();
        let run = |step: &GuardStep| RunDto::of(world, step, attempt.started_at);
        Some(AttemptDto {
            id: attempt.id,
            direction: text(attempt.direction.word()),
            started_at: attempt.started_at.to_string(),
            deadline: wall_of(world, attempt.deadline).to_string(),
            detail: text(&attempt.detail),
            awaiting_approval: guard.is_some_and(|guard| guard.approve),
            runs: guard.iter().flat_map(|guard| &guard.run).map(run).collect(),
        })
    }
}

// === impl RunDto ===

impl RunDto {
    fn of(world: &World<'_>, step: &GuardStep, started: Wall) -> RunDto {
        let name = step_name(world, step);
        match step {
            GuardStep::Query(query) => {
                let query = &world.model.queries[query.index()];
                let last = world.queries.get(&query.name).and_then(|counts| counts.last.as_ref());
                let said = last.filter(|last| started <= last.at);
                RunDto {
                    name,
                    outcome: said
                        .map_or("running", |last| match last.verdict {
                            GuardVerdict::Pass => "pass",
                            GuardVerdict::Refuse => "refuse",
                            GuardVerdict::CannotTell => "cannot_tell",
                        })
                        .into(),
                    value: said.map(|last| text(&last.said)),
                    expect: query.expect.as_deref().map(text),
                    at: said.map(|last| last.at.to_string()),
                    took: said.map(|last| format!("{}ms", last.took.as_millis())),
                }
            }
            GuardStep::Check(term) => {
                let outcome = match value(world, term) {
                    Truth::True => "pass",
                    Truth::False => "refuse",
                    Truth::Unknown => "cannot_tell",
                };
                let value = Some(reading(world, &term.subject));
                RunDto { name, outcome: outcome.into(), value, expect: Some("true".into()), at: None, took: None }
            }
        }
    }
}
