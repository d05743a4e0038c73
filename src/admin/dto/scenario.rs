//! Scenarios, their groups and their transitions.

mod groups;
mod rules;
mod transition;
mod uses;

use std::ops::Range;

use super::ahead::Ahead;
use super::{NoteDto, text};
use crate::control::World;
use crate::model::id::{Kind, ScenarioId};
use crate::model::scenario::Direction;
use crate::model::state::Slot;

pub use groups::{DirectionsDto, GroupDto, HoldDto, MeasureDto, TermDto};
pub use rules::{AttemptDto, GateDto, GatesDto, GuardRulesDto, GuardsDto, RunDto, TriggerNamesDto};
pub use transition::{
    GuardDto, ResolversDto, TransitionDto, TransitionGroupDto, TransitionTermDto, TransitionTriggerDto,
};
pub use uses::AffectedDto;
pub(crate) use uses::Uses;

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
        /// What happens next by itself, or what is waited for.
        pub next: NextDto,
        /// When the condition that leads out of the active state could be true, if its checks stay so; null while it is
        /// inactive, and where something has to change first.
        pub earliest_return: Option<String>,
        /// The conditions of each direction as they stand.
        pub groups: DirectionsDto,
        /// Conditions that decide about the triggers of each direction; null where there is none.
        pub gate: GatesDto,
        /// What has to pass before each direction commits; null where nothing has to.
        pub guard: GuardsDto,
        /// Triggers that each direction sends off.
        pub triggers: TriggerNamesDto,
        /// A guard that is running.
        pub attempt: Option<AttemptDto>,
        /// The drill by which it is where it is; see `/drills`.
        pub drill: Option<u64>,
        /// The last commit.
        pub last_transition: Option<TransitionDto>,
        /// The data-centre pair it was generated for.
        pub pair: Option<String>,
        /// The steered records that it decides about.
        pub affected: Vec<AffectedDto>,
        /// What else reads it: `scenario NAME`, `rule NAME`, `datacenter_pair NAME`.
        pub used_by: Vec<String>,
    }

    /// What happens next to a scenario.
    pub struct NextDto {
        /// A sentence without its subject: `returns by itself if its checks stay so`.
        pub what: String,
        /// When, at the earliest; null: nobody can tell.
        pub at: Option<String>,
        /// Whom or what it waits for besides its checks: `a person returns it`.
        pub needs: Option<String>,
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
}

// === impl ScenarioDto ===

impl ScenarioDto {
    pub fn of(world: &World<'_>, id: ScenarioId) -> ScenarioDto {
        ScenarioDto::used(world, id, Uses::of_one(world.model, id))
    }

    /// Those at these places of the model; what uses them is found in one walk.
    pub fn many(world: &World<'_>, range: Range<usize>) -> Vec<ScenarioDto> {
        if range.len() == 1 {
            return range.map(|at| ScenarioDto::of(world, ScenarioId::from_index(at))).collect();
        }
        let mut uses = Uses::of_all(world.model);
        range.map(|at| ScenarioDto::used(world, ScenarioId::from_index(at), std::mem::take(&mut uses[at]))).collect()
    }

    fn used(world: &World<'_>, id: ScenarioId, uses: Uses) -> ScenarioDto {
        let ahead = Ahead { model: world.model, view: world.view, now: world.now };
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
            next: NextDto::of(ahead.next(id)),
            earliest_return: view
                .active
                .then(|| ahead.earliest(id, Direction::Deactivate))
                .flatten()
                .map(|at| at.to_string()),
            groups: DirectionsDto::of(world, id),
            gate: GatesDto::of(world, id),
            guard: GuardsDto::of(world, id),
            triggers: TriggerNamesDto::of(world, id),
            attempt: AttemptDto::of(world, id),
            drill: view.drill,
            last_transition: view.last_transition.as_deref().map(|t| TransitionDto::of(t, world)),
            pair: scenario.pair.map(|at| text(&world.model.pairs[at as usize].name)),
            affected: uses.affected,
            used_by: uses.by,
        }
    }
}

// === impl NextDto ===

impl NextDto {
    fn of(next: super::ahead::Next) -> NextDto {
        NextDto { what: next.what, at: next.at.map(|at| at.to_string()), needs: next.needs }
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
