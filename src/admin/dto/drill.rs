//! Drills and their reports.

use std::time::Duration;

use super::text;
use crate::config::units::format_duration;
use crate::control::World;
use crate::model::drill::{Drill, DrillCommit, Ending};
use crate::model::scenario::Direction;
use crate::model::state::OverrideValue;
use crate::model::time::Wall;

dto! {
    /// A drill; once it is over, its report.
    pub struct DrillDto {
        /// 1 for the first on this appliance.
        pub id: u64,
        pub scenario: String,
        /// `starting` (the guard of the activation runs), `running`, `returning` (the guard of the return runs) or `over`.
        pub state: String,
        /// Null until its end is known. `completed`, `stopped`, `stop_on`, `guard_refused`, `not_begun`, `real_fault` (it
        /// became a failover), `taken_over` (somebody set a mode) or `removed` (the scenario is gone).
        pub outcome: Option<String>,
        /// The condition that ended it, what the guard said, or the group that became true.
        pub outcome_detail: Option<String>,
        /// Who began it.
        pub actor: String,
        pub reason: Option<String>,
        /// Who ended it, where somebody did.
        pub ended_by: Option<String>,
        pub ended_reason: Option<String>,
        /// The planned end.
        pub ends_at: String,
        /// How long, as asked for; it counts from the call.
        pub planned: String,
        /// Until the planned end; null where that has come, or the drill is over.
        pub remaining: Option<String>,
        pub started_at: String,
        /// When the scenario became active.
        pub activated_at: Option<String>,
        /// When the return began.
        pub returning_at: Option<String>,
        /// When the scenario was inactive again.
        pub returned_at: Option<String>,
        pub ended_at: Option<String>,
        /// From the call to the activation: what the guard took.
        pub activated_after: Option<String>,
        /// How long the scenario was active.
        pub lasted: Option<String>,
        /// How much later than planned it ended; null where it did not.
        pub overrun: Option<String>,
        /// Triggers that are told in place of the scenario's own.
        pub notify: Vec<String>,
        /// Conditions that would end it early.
        pub stop_on: Vec<String>,
        /// The guard of the activation was not asked.
        pub r#override: bool,
        /// The modes before it, which come back with its end.
        pub modes_before: DrillModesDto,
        /// What it moved, in order: its scenario, and those that followed.
        pub commits: Vec<DrillCommitDto>,
    }

    /// The modes of a scenario before a drill.
    pub struct DrillModesDto {
        /// What somebody had set: `auto`, `on` or `off`; null: the base mode.
        pub activate: Option<String>,
        pub deactivate: Option<String>,
    }

    /// A commit that belongs to a drill.
    pub struct DrillCommitDto {
        pub scenario: String,
        pub seq: u64,
        /// `activate` or `deactivate`.
        pub direction: String,
        pub at: String,
        /// `pass`, `proceeded`, `overridden` or `standing`; null where no guard ran.
        pub guard: Option<String>,
        /// Whether it is marked as a drill; false for the failover that a drill became.
        pub drill: bool,
        /// Those who were told.
        pub triggers: Vec<DrillTriggerDto>,
    }

    /// Who was told of a commit of a drill, and how it went.
    pub struct DrillTriggerDto {
        pub name: String,
        /// `pending`, `delivered` or `dead`; null where the delivery is no longer kept.
        pub status: Option<String>,
        pub attempts: u32,
        pub last_error: Option<String>,
    }
}

// === impl DrillDto ===

impl DrillDto {
    pub fn of(world: &World<'_>, drill: &Drill) -> DrillDto {
        let at = |at: Option<Wall>| at.map(|at| at.to_string());
        let names = |names: &[crate::model::id::Name]| names.iter().map(text).collect();
        let between = |from: Option<Wall>, to: Option<Wall>| Some(coarse(to?.since(from?)));
        let live = !drill.is_over();
        let left = drill.ends_at.since(world.now.wall);
        let late = drill.returned_at.filter(|at| *at > drill.ends_at);
        let mode = |direction: Direction| {
            let set = drill.before[direction.index()].as_ref()?;
            match &set.value {
                OverrideValue::Mode { mode, .. } => Some(text(mode.word())),
                _ => None,
            }
        };
        DrillDto {
            id: drill.id,
            scenario: text(&drill.scenario),
            state: text(drill.phase.word()),
            outcome: drill.ending.as_ref().map(|ending| text(ending.word())),
            outcome_detail: drill.ending.as_ref().and_then(Ending::detail).map(text),
            actor: text(&drill.act.actor),
            reason: drill.act.reason.as_ref().map(text),
            ended_by: drill.ended_by.as_ref().map(|act| text(&act.actor)),
            ended_reason: drill.ended_by.as_ref().and_then(|act| act.reason.as_ref()).map(text),
            ends_at: drill.ends_at.to_string(),
            planned: format_duration(drill.lasts),
            remaining: (live && !left.is_zero()).then(|| coarse(left)),
            started_at: drill.started_at.to_string(),
            activated_at: at(drill.activated_at),
            returning_at: at(drill.returning_at),
            returned_at: at(drill.returned_at),
            ended_at: at(drill.ended_at),
            activated_after: between(Some(drill.started_at), drill.activated_at),
            lasted: between(drill.activated_at, drill.returned_at),
            overrun: between(Some(drill.ends_at), late),
            notify: names(&drill.notify),
            stop_on: names(&drill.stop_on),
            r#override: drill.override_guard,
            modes_before: DrillModesDto {
                activate: mode(Direction::Activate),
                deactivate: mode(Direction::Deactivate),
            },
            commits: drill.commits.iter().map(|commit| DrillCommitDto::of(world, drill, commit)).collect(),
        }
    }
}

/// As people tell a time: milliseconds up to ten seconds, then seconds.
fn coarse(time: Duration) -> String {
    let ms = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
    format_duration(Duration::from_millis(if ms < 10_000 { ms } else { ms.saturating_add(500) / 1_000 * 1_000 }))
}

// === impl DrillCommitDto ===

impl DrillCommitDto {
    fn of(world: &World<'_>, drill: &Drill, commit: &DrillCommit) -> DrillCommitDto {
        let told = drill.notify.iter().filter(|_| commit.marked).map(|name| {
            let delivery = world.deliveries.of_commit(&commit.scenario, commit.seq, commit.direction, name);
            DrillTriggerDto {
                name: text(name),
                status: delivery.map(|d| text(d.status.word())),
                attempts: delivery.map_or(0, |d| d.attempts),
                last_error: delivery.and_then(|d| d.last_error.as_deref().map(text)),
            }
        });
        DrillCommitDto {
            scenario: text(&commit.scenario),
            seq: commit.seq,
            direction: text(commit.direction.word()),
            at: commit.at.to_string(),
            guard: commit.guard.as_ref().map(text),
            drill: commit.marked,
            triggers: told.collect(),
        }
    }
}
