//! The journal: what happened, append-only, each entry with the hash of the one before.

use crate::model::id::Name;
use crate::model::time::Wall;

/// One entry as `/journal` shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalEntry {
    /// 1-based, without gaps within a state directory.
    pub number: u64,
    pub at: Wall,
    /// `transition`, `act`, `ended`, `state`, `board`, `attempt`, `warning`, `config`, `start`, `stop`, `anchor`.
    pub kind: Name,
    /// `scenario a-is-out`, `service web1`; empty where none.
    pub object: Name,
    pub actor: Name,
    /// The whole, as JSON.
    pub body: serde_json::Value,
    pub hash: Name,
}

/// All conditions must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JournalQuery {
    pub since: Option<Wall>,
    pub until: Option<Wall>,
    pub scenario: Option<Name>,
    pub actor: Option<Name>,
    pub kind: Option<Name>,
    /// Entries after this number.
    pub after: Option<u64>,
    /// 1..=10 000; default 1000.
    pub limit: Option<u32>,
    /// Newest first.
    pub newest_first: bool,
}
