//! Scenarios, their groups and their transitions.

use super::{NoteDto, text, wall_of};
use crate::control::World;
use crate::model::event::{Transition, TransitionGroup};
use crate::model::id::{Kind, ScenarioId};
use crate::model::scenario::Direction;
use crate::model::state::Slot;

dto! {
    /// A scenario.
    pub struct ScenarioDto {
        pub name: String,
        /// What it is for.
        pub about: String,
        /// `inactive`, `activating`, `active` or `deactivating`.
        pub state: String,
        /// Whether records see it as active.
        pub active: bool,
        /// Number of the last commit; 0: never.
        pub seq: u64,
        /// When the state was entered.
        pub since: String,
        /// The mode of each direction: `auto`, `on` or `off`.
        pub modes: ModesDto,
        /// More on each mode: its base, who set it, whether an `on` has acted.
        pub mode_details: ModeDetailsDto,
        /// What the two modes together mean: empty, `manual out`, `forced`, `forced return`, `pinned`,
        /// `failover disabled`, `maintenance`, `stuck`.
        pub shown: String,
        /// Nothing moves until a person changes something.
        pub stuck: bool,
        /// Why.
        pub stuck_reason: Option<String>,
        /// The condition to return is true, and its mode leaves it to a person.
        pub ready_to_return: bool,
        /// Too many automatic commits: held in its state.
        pub oscillating: bool,
        /// The conditions of each direction as they stand.
        pub groups: DirectionsDto,
        /// A guard that is running.
        pub attempt: Option<AttemptDto>,
        /// The drill by which it is where it is; see `/drills`.
        pub drill: Option<u64>,
        /// The last commit.
        pub last_transition: Option<TransitionDto>,
        /// The data-centre pair it was generated for.
        pub pair: Option<String>,
    }

    /// The mode of each direction.
    pub struct ModesDto {
        /// `auto`, `on` or `off`.
        pub activate: String,
        /// `auto`, `on` or `off`.
        pub deactivate: String,
    }

    /// More on the mode of each direction.
    pub struct ModeDetailsDto {
        pub activate: ModeDto,
        pub deactivate: ModeDto,
    }

    /// A mode and where it comes from.
    pub struct ModeDto {
        /// `auto`, `on` or `off`.
        pub mode: String,
        /// The mode of the configuration.
        pub base: String,
        /// An `on` that has acted.
        pub spent: bool,
        /// Who set it; null where it is the base mode.
        pub actor: Option<String>,
        pub since: Option<String>,
        pub reason: Option<String>,
        pub expires: Option<String>,
    }

    /// Groups by direction.
    pub struct DirectionsDto {
        pub activate: Vec<GroupDto>,
        pub deactivate: Vec<GroupDto>,
    }

    /// Terms that must all be true.
    pub struct GroupDto {
        pub name: String,
        /// `true`, `false` or `unknown`.
        pub value: String,
        /// Whether it counts: false after a forced commit until there is fresh evidence.
        pub armed: bool,
        pub terms: Vec<TermDto>,
    }

    /// A term of a group.
    pub struct TermDto {
        pub text: String,
        pub negated: bool,
        /// `true`, `false` or `unknown`; its hold applied.
        pub value: String,
        /// Since when it has this value.
        pub since: String,
        /// When a hold that is counting ends.
        pub hold_ends: Option<String>,
    }

    /// A guard that is running.
    pub struct AttemptDto {
        pub id: u64,
        /// `activate` or `deactivate`.
        pub direction: String,
        pub started_at: String,
        pub deadline: String,
        pub detail: String,
    }

    /// A commit of a scenario.
    pub struct TransitionDto {
        pub scenario: String,
        /// 1 for the first commit.
        pub seq: u64,
        /// `activate` or `deactivate`.
        pub direction: String,
        /// When the deciding evaluation was made.
        pub evaluated_at: String,
        pub committed_at: String,
        /// When traffic and DNS followed it; null: not yet, or before the start of this process.
        pub published_at: Option<String>,
        /// When caches may have let go of what it replaced, by the TTLs of the answers given before; null: they hold
        /// nothing else, or it is not known.
        pub caches_over_at: Option<String>,
        /// `condition`, `forced` or `config`.
        pub cause: String,
        /// The group that decided.
        pub group: Option<String>,
        /// Who forced it; `auto` otherwise.
        pub actor: String,
        pub reason: Option<String>,
        /// `true`, `false` or `unknown`; null without a gate.
        pub gate: Option<String>,
        /// How the guard went; null where none ran.
        pub guard: Option<GuardDto>,
        /// The drill that it belongs to.
        pub drill: Option<u64>,
        pub triggers: Vec<TransitionTriggerDto>,
        /// Both directions' groups at the evaluation.
        pub groups: Vec<TransitionGroupDto>,
    }

    /// How a guard went.
    pub struct GuardDto {
        pub attempt: u64,
        /// `pass`, `proceeded`, `overridden` or `standing` (a drill became real: it is active already).
        pub outcome: String,
        pub detail: String,
    }

    /// How a trigger of a transition went.
    pub struct TransitionTriggerDto {
        pub name: String,
        /// `pending`, `delivered`, `dead` (given up, see `/outbox`) or `suppressed` (by the gate, or by a
        /// drill, which tells its own list).
        pub status: String,
        pub attempts: u32,
        /// What the last attempt got instead of the expected answer.
        pub last_error: Option<String>,
    }

    /// A group as it stood at a transition.
    pub struct TransitionGroupDto {
        /// `activate` or `deactivate`.
        pub direction: String,
        pub name: String,
        pub value: String,
        pub armed: bool,
        pub terms: Vec<TransitionTermDto>,
    }

    /// A term as it stood at a transition.
    pub struct TransitionTermDto {
        pub text: String,
        pub value: String,
        pub since: String,
    }
}

// === impl ScenarioDto ===

impl ScenarioDto {
    pub fn of(world: &World<'_>, id: ScenarioId) -> ScenarioDto {
        let scenario = world.model.scenario(id);
        let view = &world.view.scenarios[id.index()];
        let details = |direction| ModeDto::of(world, id, direction);
        let (activate, deactivate) = (details(Direction::Activate), details(Direction::Deactivate));
        ScenarioDto {
            name: text(&scenario.name),
            about: text(&scenario.about),
            state: text(view.word()),
            active: view.active,
            seq: view.seq,
            since: view.since.to_string(),
            modes: ModesDto { activate: activate.mode.clone(), deactivate: deactivate.mode.clone() },
            mode_details: ModeDetailsDto { activate, deactivate },
            shown: text(view.shown()),
            stuck: view.stuck,
            stuck_reason: stuck_reason(view),
            ready_to_return: view.ready_to_return,
            oscillating: view.oscillating,
            groups: DirectionsDto {
                activate: groups(world, id, Direction::Activate),
                deactivate: groups(world, id, Direction::Deactivate),
            },
            attempt: view.attempt.as_ref().map(|a| AttemptDto {
                id: a.id,
                direction: text(a.direction.word()),
                started_at: a.started_at.to_string(),
                deadline: wall_of(world, a.deadline).to_string(),
                detail: text(&a.detail),
            }),
            drill: view.drill,
            last_transition: view.last_transition.as_deref().map(|t| TransitionDto::of(t, world)),
            pair: scenario.pair.map(|at| text(&world.model.pairs[at as usize].name)),
        }
    }
}

fn stuck_reason(view: &crate::model::state::ScenarioView) -> Option<String> {
    if view.stuck {
        Some("both directions are on: nothing moves until one of them is changed".into())
    } else if view.oscillating {
        Some("too many automatic commits in a short time: held in its state".into())
    } else {
        None
    }
}

fn groups(world: &World<'_>, id: ScenarioId, direction: Direction) -> Vec<GroupDto> {
    let rules = &world.model.scenario(id).directions[direction.index()];
    let views = &world.view.scenarios[id.index()].groups[direction.index()];
    rules
        .when
        .groups
        .iter()
        .zip(views)
        .map(|(group, view)| GroupDto {
            name: text(&group.name),
            value: text(view.value.word()),
            armed: view.armed,
            terms: group
                .terms
                .iter()
                .zip(&view.terms)
                .map(|(term, view)| TermDto {
                    text: text(&term.text),
                    negated: term.negated,
                    value: text(view.value.word()),
                    since: view.since.to_string(),
                    hold_ends: view.hold_ends.map(|at| wall_of(world, at).to_string()),
                })
                .collect(),
        })
        .collect()
}

// === impl ModeDto ===

impl ModeDto {
    fn of(world: &World<'_>, id: ScenarioId, direction: Direction) -> ModeDto {
        let view = &world.view.scenarios[id.index()].modes[direction.index()];
        let name = &world.model.scenario(id).name;
        let note = NoteDto::find(world, Kind::Scenario, name, Slot::of_direction(direction));
        let (actor, since, reason, expires) = match note {
            Some(note) => (Some(note.actor), Some(note.since), note.reason, note.expires),
            None => (None, None, None, None),
        };
        ModeDto {
            mode: text(view.mode.word()),
            base: text(view.base.word()),
            spent: view.spent,
            actor,
            since,
            reason,
            expires,
        }
    }
}

// === impl TransitionDto ===

impl TransitionDto {
    /// With how its deliveries go, as far as they are kept, and what caches still hold.
    fn of(transition: &Transition, world: &World<'_>) -> TransitionDto {
        let deliveries = world.deliveries;
        let caches = world.status.caches_of(&transition.scenario, transition.seq);
        TransitionDto {
            scenario: text(&transition.scenario),
            seq: transition.seq,
            direction: text(transition.direction.word()),
            evaluated_at: transition.evaluated_at.to_string(),
            committed_at: transition.committed_at.to_string(),
            published_at: caches.map(|caches| caches.published_at.to_string()),
            caches_over_at: caches.and_then(|caches| caches.until).map(|at| at.to_string()),
            cause: text(transition.cause_text()),
            group: transition.cause.group().map(text),
            actor: text(&transition.actor),
            reason: transition.reason.as_deref().map(text),
            gate: transition.gate.map(|value| text(value.word())),
            guard: transition.guard.as_ref().map(|g| GuardDto {
                attempt: g.attempt,
                outcome: text(&g.outcome),
                detail: text(&g.detail),
            }),
            drill: transition.drill,
            triggers: transition
                .triggers
                .iter()
                .map(|t| {
                    let of = (&*transition.scenario, transition.seq, transition.direction);
                    let delivery = deliveries.of_commit(of.0, of.1, of.2, &t.name);
                    TransitionTriggerDto {
                        name: text(&t.name),
                        status: text(delivery.map_or(&*t.status, |d| d.status.word())),
                        attempts: delivery.map_or(0, |d| d.attempts),
                        last_error: delivery.and_then(|d| d.last_error.as_deref().map(text)),
                    }
                })
                .collect(),
            groups: transition.groups.iter().map(TransitionGroupDto::of).collect(),
        }
    }
}

// === impl TransitionGroupDto ===

impl TransitionGroupDto {
    fn of(group: &TransitionGroup) -> TransitionGroupDto {
        TransitionGroupDto {
            direction: text(group.direction.word()),
            name: text(&group.name),
            value: text(group.value.word()),
            armed: group.armed,
            terms: group
                .terms
                .iter()
                .map(|(term, value, since)| TransitionTermDto {
                    text: text(term),
                    value: text(value.word()),
                    since: since.to_string(),
                })
                .collect(),
        }
    }
}
