//! L1, verbs: the state machines. Pure and synchronous: no I/O, no clock, no randomness. The engine is handed an input
//! and the time, and returns effects; its [`StateView`](crate::model::state::StateView) says how everything stands.
//!
//! Order inside a step is fixed: checks → board → services → vservers → scenarios. No machine calls another;
//! [`engine`] reads top to bottom like the picture in `lib.rs`. Time never runs back. Timers that are due are worked
//! off before the input, so that a step at a later time gives the same result as a punctual wake and then the input.

pub mod alert;
pub mod board;
pub mod check;
pub mod condition;
pub mod datacenter;
pub mod drill;
pub mod engine;
pub mod invariant;
pub mod members;
pub mod names;
pub mod outbox;
pub mod peers;
pub mod scenario;
pub mod service;
pub mod vserver;
pub mod window;

pub use engine::Engine;

use std::sync::Arc;

use crate::model::Model;
use crate::model::condition::Truth;
use crate::model::drill::Drill;
use crate::model::event::{Act, AdminIntent, BoardRecord, GuardResult, Observation, Record, Verdict};
use crate::model::id::{CheckId, Name, ScenarioId};
use crate::model::scenario::Direction;
use crate::model::state::{Override, OverrideKey, Saved, SavedScenario};
use crate::model::time::{Now, Tick};

/// Data centres as a peer sees them.
pub type PeerRows = Arc<[(Name, [Truth; 5])]>;

/// What an engine can be told.
#[derive(Clone, Debug)]
pub enum Input {
    /// What was saved. At most once, before the first `Adopt`.
    Restore(Saved),
    /// A new intention. Rows, drains, holds and counters of what has not changed survive.
    Adopt(Arc<Model>),
    /// The same intention with other members from DNS.
    Populate(Arc<Model>),
    Verdict {
        check: CheckId,
        verdict: Verdict,
    },
    Admin {
        act: Act,
        intent: AdminIntent,
    },
    Observed(Observation),
    /// What a peer sees, by data centre in the order of `Signal::ALL`; `None`: it is not heard.
    Peer {
        peer: Name,
        rows: Option<PeerRows>,
    },
    Guard(GuardResult),
    /// A row of the board as the journal recorded it. An engine that has seen one takes rows from the journal only:
    /// this is how `replay` works.
    Board(BoardRecord),
    /// Time has passed: work off the timers.
    Wake,
}

/// What the engine wants done, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Take the next sample of a check at `due`. Replaces an earlier order for the same check.
    Probe { check: CheckId, due: Tick },
    /// Run a guard and feed its result with this attempt number. `None` of a kind this build can run: answer
    /// `CannotTell`.
    Guard { scenario: ScenarioId, direction: Direction, attempt: u64 },
    /// Stop running a guard: its attempt is over.
    CancelGuard { scenario: ScenarioId, attempt: u64 },
    /// What follows happened at this time: a timer was due earlier than the step that worked it off. The last one of a
    /// step is the time of the step itself.
    At(Now),
    /// Something happened: journal it, send it as an event.
    Record(Record),
    /// Make durable before the next publication.
    SaveScenario(Box<SavedScenario>),
    /// Make durable before the next publication; `None` deletes.
    SaveOverride(OverrideKey, Option<Override>),
    /// Make durable before the next publication.
    SaveDrill(Arc<Drill>),
    /// The view changed in a way that the data plane or an operator can see. Last effect of a step, at most once.
    Publish,
}
