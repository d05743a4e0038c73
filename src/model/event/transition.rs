//! A commit of a scenario, with everything that decided it.

use crate::model::condition::Truth;
use crate::model::id::Name;
use crate::model::scenario::Direction;
use crate::model::time::Wall;

/// A commit of a scenario, as journal, payload and REST show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Transition {
    pub scenario: Name,
    /// 1 for the first commit.
    pub seq: u64,
    pub direction: Direction,
    /// When the deciding evaluation was made.
    pub evaluated_at: Wall,
    pub committed_at: Wall,
    pub cause: Cause,
    /// `admin:<user>` where it is the immediate consequence of what a person did: a mode, but also a switch, a force or
    /// a disable that a condition looks at.
    pub act_of: Option<Name>,
    /// Who forced it; `auto` otherwise.
    pub actor: Name,
    pub reason: Option<Name>,
    /// Both directions' groups with every term's value at the evaluation.
    pub groups: Vec<TransitionGroup>,
    pub gate: Option<Truth>,
    pub guard: Option<GuardOutcome>,
    /// The drill that it belongs to.
    pub drill: Option<u64>,
    pub triggers: Vec<TransitionTrigger>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The named group became true.
    Condition(Name),
    /// A mode was set `on`.
    Forced,
    /// The first evaluation after a reload.
    Config(Name),
}

#[derive(Clone, Debug, PartialEq)]
pub struct TransitionGroup {
    pub direction: Direction,
    pub name: Name,
    pub value: Truth,
    pub armed: bool,
    /// Text, value, and since when it has it.
    pub terms: Vec<(Name, Truth, Wall)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GuardOutcome {
    pub attempt: u64,
    /// `pass`, `proceeded` (could not tell, `on_timeout = "proceed"`), `overridden`, `standing` (a drill became real: it
    /// is active already).
    pub outcome: Name,
    pub detail: Name,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransitionTrigger {
    pub name: Name,
    /// `pending` (it goes off) or `suppressed` (by the gate, or by a drill).
    pub status: Name,
}

// === impl Transition ===

impl Transition {
    /// `admin:<user>`, `config` (the first evaluation after a reload) or `condition`.
    pub fn cause_text(&self) -> &str {
        self.act_of.as_deref().unwrap_or_else(|| self.cause.word())
    }
}

// === impl Cause ===

impl Cause {
    /// `condition`, `forced`, `config`.
    pub fn word(&self) -> &'static str {
        match self {
            Cause::Condition(_) => "condition",
            Cause::Forced => "forced",
            Cause::Config(_) => "config",
        }
    }

    /// The name of the group that decided.
    pub fn group(&self) -> Option<&Name> {
        match self {
            Cause::Condition(group) | Cause::Config(group) => Some(group),
            Cause::Forced => None,
        }
    }
}
