//! Drills: a scenario is activated for a while, to see that it works, and brought back. State, not configuration; what
//! the configuration says about them (`[drills]`) is [`DrillRules`].

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::condition::{Condition, Truth};
use super::event::Act;
use super::id::{Name, WatchedId};
use super::scenario::Direction;
use super::state::{Override, StateView};
use super::time::Wall;

/// Reports, by id.
pub type DrillBook = BTreeMap<u64, Arc<Drill>>;

/// Commits that a report holds; of more, the first.
pub const COMMITS_MOST: usize = 64;

/// `[drills]`.
#[derive(Clone, Debug, PartialEq)]
pub struct DrillRules {
    /// No drill begins while one of these groups is true, nor where one that only looks at time windows will be before
    /// the planned end.
    pub blocked: Watching,
    /// Named conditions that a drill may be told to end early on.
    pub stop_on: Watching,
    /// The longest that one may be planned for. Default 1 d.
    pub longest: Duration,
}

/// A condition whose terms are on the board.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Watching {
    pub when: Condition,
    /// By group and term.
    pub watched: Vec<Vec<Option<WatchedId>>>,
}

/// A drill, from its beginning to its report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Drill {
    /// 1 for the first on this appliance.
    pub id: u64,
    pub scenario: Name,
    /// Who began it, and why.
    pub act: Act,
    /// Who is told of its commits, in place of the scenario's own triggers. Empty: nobody.
    pub notify: Vec<Name>,
    /// Names in [`DrillRules::stop_on`].
    pub stop_on: Vec<Name>,
    /// The guard of the activation is not asked.
    pub override_guard: bool,
    /// The modes that people had set; `None`: the base mode. They come back with the end.
    pub before: [Option<Override>; 2],
    pub phase: Phase,
    /// As asked for; the writer carries an act out a little after the call.
    pub lasts: Duration,
    pub started_at: Wall,
    /// The planned end.
    pub ends_at: Wall,
    /// When the scenario became active.
    pub activated_at: Option<Wall>,
    /// When the return began: at the planned end, or earlier.
    pub returning_at: Option<Wall>,
    /// When the scenario was inactive again.
    pub returned_at: Option<Wall>,
    pub ended_at: Option<Wall>,
    /// Known from the beginning of the return on.
    pub ending: Option<Ending>,
    /// Who ended it, where somebody did.
    pub ended_by: Option<Act>,
    /// What it moved: its scenario, and those that followed it.
    pub commits: Vec<DrillCommit>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Phase {
    /// The guard of the activation runs.
    Starting,
    /// The scenario is active.
    Running,
    /// The scenario is still active, and the guard of its deactivation runs.
    Returning,
    Over,
}

/// Why a drill ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Its time was over.
    Completed,
    /// Somebody stopped it.
    Stopped,
    /// The named condition became true.
    Condition(Name),
    /// The guard refused the activation, and why.
    Guard(Name),
    /// Its time was over before the guard had passed.
    NotBegun,
    /// The named group of the activation became true: what was a drill is a failover.
    Fault(Name),
    /// Somebody set a mode of the scenario.
    TakenOver,
    /// The configuration no longer has the scenario.
    Removed,
}

/// A commit that belongs to a drill.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrillCommit {
    pub scenario: Name,
    pub seq: u64,
    pub direction: Direction,
    pub at: Wall,
    /// How its guard went, where one ran.
    pub guard: Option<Name>,
    /// Whether it is marked as a drill; false for the failover that a drill became.
    pub marked: bool,
}

// === impl DrillRules ===

impl Default for DrillRules {
    fn default() -> DrillRules {
        DrillRules { blocked: Watching::default(), stop_on: Watching::default(), longest: Duration::from_secs(86_400) }
    }
}

// === impl Watching ===

impl Watching {
    /// The first group of those that `wanted` names that is true; `values` are those of the watched terms.
    pub fn first_true(&self, values: &[Truth], wanted: impl Fn(&Name) -> bool) -> Option<&Name> {
        let value = |ids: &[Option<WatchedId>]| {
            let of = |id: &Option<WatchedId>| id.and_then(|id| values.get(id.index()).copied()).unwrap_or_default();
            ids.iter().map(of).fold(Truth::True, Truth::and)
        };
        let groups = self.when.groups.iter().zip(&self.watched);
        groups.filter(|(group, ids)| wanted(&group.name) && value(ids).is_true()).map(|(group, _)| &group.name).next()
    }

    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.when.groups.iter().map(|group| &group.name)
    }
}

// === impl StateView ===

impl StateView {
    /// The drill that is not over, if any.
    pub fn live_drill(&self) -> Option<&Arc<Drill>> {
        self.drill.as_ref().filter(|drill| !drill.is_over())
    }
}

// === impl Drill ===

impl Drill {
    pub fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }

    /// `running`, …, or how it ended.
    pub fn word(&self) -> &'static str {
        match (&self.phase, &self.ending) {
            (Phase::Over, Some(ending)) => ending.word(),
            (phase, _) => phase.word(),
        }
    }
}

// === impl Phase ===

impl Phase {
    pub const ALL: [Phase; 4] = [Phase::Starting, Phase::Running, Phase::Returning, Phase::Over];

    pub fn word(self) -> &'static str {
        match self {
            Phase::Starting => "starting",
            Phase::Running => "running",
            Phase::Returning => "returning",
            Phase::Over => "over",
        }
    }

    pub fn parse(word: &str) -> Option<Phase> {
        Phase::ALL.into_iter().find(|phase| phase.word() == word)
    }
}

// === impl Ending ===

impl Ending {
    /// Every word, in the order of the variants.
    pub const WORDS: [&str; 8] =
        ["completed", "stopped", "stop_on", "guard_refused", "not_begun", "real_fault", "taken_over", "removed"];

    pub fn word(&self) -> &'static str {
        match self {
            Ending::Completed => "completed",
            Ending::Stopped => "stopped",
            Ending::Condition(_) => "stop_on",
            Ending::Guard(_) => "guard_refused",
            Ending::NotBegun => "not_begun",
            Ending::Fault(_) => "real_fault",
            Ending::TakenOver => "taken_over",
            Ending::Removed => "removed",
        }
    }

    /// The condition, what the guard said, or the group.
    pub fn detail(&self) -> Option<&Name> {
        match self {
            Ending::Condition(detail) | Ending::Guard(detail) | Ending::Fault(detail) => Some(detail),
            _ => None,
        }
    }

    pub fn parse(word: &str, detail: Option<Name>) -> Option<Ending> {
        let named = || detail.clone().unwrap_or_else(|| "".into());
        Some(match word {
            "completed" => Ending::Completed,
            "stopped" => Ending::Stopped,
            "stop_on" => Ending::Condition(named()),
            "guard_refused" => Ending::Guard(named()),
            "not_begun" => Ending::NotBegun,
            "real_fault" => Ending::Fault(named()),
            "taken_over" => Ending::TakenOver,
            "removed" => Ending::Removed,
            _ => return None,
        })
    }

    /// As a sentence goes on: `its time was over`.
    pub fn text(&self) -> String {
        match self {
            Ending::Completed => "its time was over".into(),
            Ending::Stopped => "it was stopped".into(),
            Ending::Condition(name) => format!("the condition \"{name}\" became true"),
            Ending::Guard(why) => format!("the guard refused: {why}"),
            Ending::NotBegun => "its time was over before the guard had passed".into(),
            Ending::Fault(group) => format!("the fault became real ({group})"),
            Ending::TakenOver => "somebody set a mode of the scenario".into(),
            Ending::Removed => "the configuration no longer has the scenario".into(),
        }
    }
}
