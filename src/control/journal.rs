//! The journal: what happened, append-only, each entry with the hash of the one before.
//!
//! [`chain`] numbers and hashes, [`codec`] turns what the engine reports into JSON and back (so that a journal can be
//! replayed), [`saved`] does the same for what a restart needs.

pub mod chain;
pub mod codec;
pub mod history;
pub mod saved;

use crate::model::id::Name;
use crate::model::time::Wall;

/// One entry as `/journal` shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalEntry {
    /// 1-based, without gaps within a state directory.
    pub number: u64,
    pub at: Wall,
    /// `transition`, `act`, `ended`, `state`, `board`, `attempt`, `warning`, `ejected`, `delivery`, `alert`, `drill`,
    /// `outbox`, `access`, `members`, `zone`, `zone_act`, `caches`, `config`, `start`, `stop`, `anchor`.
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
    /// Entries of this object: `service web1`. Not beside `scenario`.
    pub about: Option<Name>,
    /// Entries after this number.
    pub after: Option<u64>,
    /// 1..=10 000; default 1000.
    pub limit: Option<u32>,
    /// Newest first.
    pub newest_first: bool,
}

// === impl JournalQuery ===

impl JournalQuery {
    /// The limit within its range.
    pub fn bounded_limit(&self) -> u32 {
        self.limit.unwrap_or(1_000).clamp(1, 10_000)
    }

    /// The object that `scenario` stands for, or that is named.
    pub fn object(&self) -> Option<String> {
        let scenario = self.scenario.as_ref().map(|name| format!("scenario {name}"));
        scenario.or_else(|| self.about.as_deref().map(str::to_owned))
    }

    /// Whether an entry passes all conditions but the limit.
    pub fn admits(&self, entry: &JournalEntry) -> bool {
        self.since.is_none_or(|since| entry.at >= since)
            && self.until.is_none_or(|until| entry.at <= until)
            && self.object().is_none_or(|object| *entry.object == *object)
            && self.actor.as_ref().is_none_or(|actor| entry.actor == *actor)
            && self.kind.as_ref().is_none_or(|kind| entry.kind == *kind)
            && self.after.is_none_or(|after| entry.number > after)
    }
}
