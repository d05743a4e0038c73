//! What an act would change, as a dry run tells it: plain data, by names.

use crate::model::id::Name;
use crate::model::scenario::Direction;
use crate::model::time::Wall;

/// What an act would do if it were carried out now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// Commits, in order; those behind a guard as if it passed.
    pub transitions: Vec<PreviewTransition>,
    pub guards: Vec<PreviewGuard>,
    pub triggers: Vec<PreviewTrigger>,
    /// Steered answers that would change.
    pub answers: Vec<PreviewAnswer>,
    /// Services whose share of new clients would change.
    pub load: Vec<PreviewLoad>,
    /// Requests in flight and connections on the services that leave.
    pub connections: u32,
    /// 0: nothing is asked for; 1: a reason; 2: also an expiry and a look at this; 3: also the name of the object.
    pub confirm: u8,
    /// The name that level 3 asks for.
    pub confirm_word: Option<Name>,
    /// For `if_seq` of the act: of a scenario its own, of others a fingerprint of the state that this was computed from.
    pub seq: u64,
    pub computed_at: Wall,
    /// The same in lines.
    pub changes: Vec<String>,
}

/// A commit of a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewTransition {
    pub scenario: Name,
    pub direction: Direction,
    /// `forced`, `condition` or `config`.
    pub cause: Name,
    /// The group that decides.
    pub group: Option<Name>,
    /// A guard has to pass first.
    pub after_guard: bool,
}

/// A guard that would run, or be left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewGuard {
    pub scenario: Name,
    pub direction: Direction,
    /// Its queries and terms.
    pub run: Vec<Name>,
    /// A person has to approve it.
    pub approve: bool,
    pub overridden: bool,
}

/// A trigger of a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewTrigger {
    pub name: Name,
    pub scenario: Name,
    pub direction: Direction,
    /// False: suppressed by the gate, or by a drill.
    pub sent: bool,
}

/// A steered answer, before the selection, which may differ from query to query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewAnswer {
    pub zone: Name,
    /// Absolute.
    pub name: String,
    pub rtype: String,
    pub before: Vec<Name>,
    pub after: Vec<Name>,
    /// Records that would not be answered, and why.
    pub left_out: Vec<(Name, String)>,
    pub sites_before: Vec<Name>,
    pub sites_after: Vec<Name>,
    /// Seconds that caches may keep what is answered now.
    pub ttl: u32,
}

/// New work of a service, per second.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PreviewLoad {
    pub service: Name,
    pub now: u64,
    /// If clients spread by weight over who is left.
    pub after: u64,
}
