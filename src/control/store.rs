//! Durable state: scenarios, overrides, the journal, the outbox (deliveries of triggers), alerts that stand, and intents
//! (acts that are on their way).
//!
//! Why one small trait: the rules of durability (what is written together, what waits for the disk) live in
//! [`core`](super::core) and must not depend on what the disk is. [`Sqlite`] is one file that operators can read with
//! `sqlite3`; [`Memory`] is the same without a disk, for `--ephemeral` and for tests.
//!
//! A [`Batch`] is written whole or not at all. What belongs together (a commit of a scenario, its saved state, its
//! journal entry and the deliveries of its triggers) is in one batch, so a `kill -9` between two writes cannot tear it. The store numbers and chains the
//! journal entries itself: a batch that could not be written leaves no gap.

mod alerts;
mod deliveries;
mod drills;
mod lock;
mod memory;
mod places;
mod reader;
mod schema;
mod sqlite;

use std::path::Path;
use std::sync::Arc;

use super::journal::chain::{Entry, Verified};
use super::journal::{JournalEntry, JournalQuery};
use crate::machine::{alert, outbox};
use crate::model::alert::RaisedAlert;
use crate::model::delivery::Delivery;
use crate::model::drill::Drill;
use crate::model::id::Name;
use crate::model::lookup::{Answer, Question};
use crate::model::state::{Override, OverrideKey, Saved, SavedScenario};
use crate::model::time::{Tick, Wall};
use crate::model::zone::Received;
use crate::snapshot::live::CookieKey;

pub use drills::KEPT as DRILLS_KEPT;
pub use lock::Lock;
pub use memory::Memory;
pub use places::{Place, Places};
pub use reader::read_journal;
pub use schema::SCHEMA;
pub use sqlite::Sqlite;

/// What is kept of the journal.
pub type Limits = crate::model::Journal;

/// Opens a store again that was let go of.
pub type Reopen = Box<dyn FnMut() -> Result<Box<dyn Store>, StoreError> + Send>;

pub trait Store: Send {
    /// Writes all batches in one transaction. On return it is durable. Gives the number of the newest journal entry.
    fn commit(&mut self, batches: &[&Batch]) -> Result<u64, StoreError>;

    /// Drops the oldest entries beyond `limits` and leaves an anchor with the last hash. Gives how many were cut.
    fn cut(&mut self, now: Wall, limits: &Limits) -> Result<u64, StoreError>;

    /// Reads beside the writer.
    fn reader(&self) -> Arc<dyn ReadJournal>;

    /// Another process writes: nothing is to be written until it has said that it does not.
    fn waits(&self) -> bool {
        false
    }

    /// How it is opened again once another process has had it; `None`: it ends with this one.
    fn reopen(&self) -> Option<Reopen> {
        None
    }

    /// How far the journal was shipped; forgotten with the process where nothing is kept.
    fn places(&self) -> Arc<Places> {
        Arc::default()
    }
}

/// The journal's other end: never on the reactor's thread.
pub trait ReadJournal: Send + Sync {
    fn query(&self, query: &JournalQuery) -> Result<Vec<JournalEntry>, StoreError>;

    /// Entries as they are stored, oldest first, from one consistent state; `visit` may end the walk with `false`.
    fn walk(&self, visit: &mut dyn FnMut(Entry) -> bool) -> Result<(), StoreError>;

    /// At most `entries` (at least one) that follow entry `number`, oldest first, with bodies of about `bytes` together.
    fn after(&self, number: u64, entries: usize, bytes: usize) -> Result<Vec<Entry>, StoreError>;

    /// Checks the hash chain from the anchor to the newest entry.
    fn verify(&self) -> Result<Verified, StoreError>;
}

/// What is written together.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    pub entries: Vec<Draft>,
    pub scenarios: Vec<SavedScenario>,
    /// `None` deletes.
    pub overrides: Vec<(OverrideKey, Option<Override>)>,
    pub intents: Vec<Intent>,
    /// Intents that were carried out, or given up.
    pub settled: Vec<u64>,
    /// What the outbox has to keep or to forget.
    pub deliveries: Vec<outbox::Row>,
    /// Alerts that stand, or are over.
    pub alerts: Vec<alert::Row>,
    /// Drills in their newest phases.
    pub drills: Vec<Arc<Drill>>,
    /// The last answer of every name of a server, whole.
    pub answers: Option<serde_json::Value>,
    /// From now on a start is a restart: traffic has been answered from this state.
    pub served: bool,
}

/// A journal entry before the store has numbered it.
#[derive(Clone, Debug, PartialEq)]
pub struct Draft {
    pub at: Wall,
    pub tick: Tick,
    pub kind: &'static str,
    /// `scenario a-is-out`; empty where none.
    pub object: Name,
    pub actor: Name,
    pub body: serde_json::Value,
}

/// An act that is durable before the engine sees it, so that "could not be written" always means "was not done", and
/// "was answered" always means "survives". Removed in the transaction that writes what it did; one that is still there
/// at a start is carried out then.
#[derive(Clone, Debug, PartialEq)]
pub struct Intent {
    pub id: u64,
    pub at: Wall,
    pub actor: Name,
    pub body: serde_json::Value,
}

/// What a start finds.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub saved: Saved,
    /// In the order they were made.
    pub intents: Vec<Intent>,
    /// The outbox, by id.
    pub deliveries: Vec<Delivery>,
    /// Alerts that stood, by id.
    pub alerts: Vec<RaisedAlert>,
    /// By id; the last may be under way.
    pub drills: Vec<Arc<Drill>>,
    /// The last answers to names of servers, and when they came.
    pub answers: Vec<(Question, Answer, Wall)>,
    /// A former process has served from this state: this start is a restart.
    pub served: bool,
    /// A former process serves still, and has let go of the store: nothing is written until it says so.
    pub waits: bool,
    /// Number of the newest journal entry; 0: none.
    pub journal_head: u64,
    /// Zones that come from primaries, as they were left.
    pub zones: Vec<Received>,
    /// What encrypted cookies are sealed with; `None`: a key that is forgotten with the process.
    pub cookie_key: Option<Arc<CookieKey>>,
}

/// The disk or what is on it.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{what}")]
pub struct StoreError {
    /// With the path and what to do.
    pub what: String,
    /// The same attempt may succeed later.
    pub retry: bool,
}

/// Opens `dir/bascule.db`, or makes it. One process at a time.
pub fn open(dir: &Path) -> Result<(Sqlite, Found), StoreError> {
    Sqlite::open(dir)
}

/// Holds a state directory, which is made where it is missing, so that nobody starts on it. Errors: somebody has.
pub fn lock(dir: &Path) -> Result<Lock, StoreError> {
    sqlite::make_private(dir)?;
    Lock::take(dir)
}

/// Copies `dir/bascule.db`, in use or not, as it is at one moment, to a file that is not there yet. Gives the number of
/// its schema.
pub fn copy(dir: &Path, to: &Path) -> Result<i64, StoreError> {
    sqlite::copy(&dir.join("bascule.db"), to)
}

/// [`open`], beside a process that serves still and has let go of the store: only looks, so that it can take it again
/// as it was. What is written waits for [`Handle::begin_writing`](super::Handle::begin_writing).
pub fn open_waiting(dir: &Path) -> Result<(Sqlite, Found), StoreError> {
    Sqlite::open_waiting(dir)
}

// === impl Batch ===

impl Batch {
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
            && self.scenarios.is_empty()
            && self.overrides.is_empty()
            && self.intents.is_empty()
            && self.settled.is_empty()
            && self.deliveries.is_empty()
            && self.alerts.is_empty()
            && self.drills.is_empty()
            && self.answers.is_none()
            && !self.served
    }
}

// === impl StoreError ===

impl StoreError {
    pub fn new(what: impl Into<String>) -> StoreError {
        StoreError { what: what.into(), retry: false }
    }

    pub fn retryable(what: impl Into<String>) -> StoreError {
        StoreError { what: what.into(), retry: true }
    }
}

#[cfg(test)]
mod tests;
