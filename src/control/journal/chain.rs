//! The hash chain: whoever changes, drops or inserts an entry breaks every hash after it.

use sha2::{Digest, Sha256};

use super::JournalEntry;
use crate::control::store::Draft;
use crate::model::time::{Tick, Wall};

/// Stands before the first entry.
pub const GENESIS: &str = "0000000000000000000000000000000000000000000000000000000000000000";

/// An entry as it is stored. The body stays the text that was hashed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    pub number: u64,
    pub at: Wall,
    /// Of the process that wrote it: microseconds since its start.
    pub tick: Tick,
    pub kind: String,
    pub object: String,
    pub actor: String,
    pub body: String,
    pub prev: String,
    pub hash: String,
}

/// The end of the chain so far.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    pub number: u64,
    pub hash: String,
}

/// How a check of the chain ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// Entries that were checked.
    pub entries: u64,
    /// Where the oldest part was cut; 0: nothing was.
    pub anchor: u64,
    /// The first break, in words; `None`: the chain holds.
    pub broken: Option<String>,
}

// === impl Entry ===

impl Entry {
    /// Puts `draft` behind `head`.
    pub fn append(head: &Head, draft: &Draft) -> Entry {
        let mut entry = Entry {
            number: head.number + 1,
            at: draft.at,
            tick: draft.tick,
            kind: draft.kind.to_owned(),
            object: draft.object.to_string(),
            actor: draft.actor.to_string(),
            body: draft.body.to_string(),
            prev: head.hash.clone(),
            hash: String::new(),
        };
        entry.hash = entry.computed_hash();
        entry
    }

    /// SHA-256 in hex over all other columns, each preceded by its length, so that no two entries read alike.
    pub fn computed_hash(&self) -> String {
        let mut sha = Sha256::new();
        let mut part = |bytes: &[u8]| {
            sha.update((bytes.len() as u64).to_be_bytes());
            sha.update(bytes);
        };
        part(self.prev.as_bytes());
        part(&self.number.to_be_bytes());
        part(&self.at.0.to_be_bytes());
        part(&self.tick.0.to_be_bytes());
        part(self.kind.as_bytes());
        part(self.object.as_bytes());
        part(self.actor.as_bytes());
        part(self.body.as_bytes());
        hex(&sha.finalize())
    }

    pub fn head(&self) -> Head {
        Head { number: self.number, hash: self.hash.clone() }
    }

    pub fn shown(&self) -> JournalEntry {
        JournalEntry {
            number: self.number,
            at: self.at,
            kind: self.kind.as_str().into(),
            object: self.object.as_str().into(),
            actor: self.actor.as_str().into(),
            body: serde_json::from_str(&self.body).unwrap_or(serde_json::Value::Null),
            hash: self.hash.as_str().into(),
        }
    }
}

// === impl Head ===

impl Head {
    pub fn genesis() -> Head {
        Head { number: 0, hash: GENESIS.to_owned() }
    }

    /// Whether `entry` follows; its break in words where it does not.
    pub fn check(&self, entry: &Entry) -> Result<(), String> {
        if entry.number != self.number + 1 {
            return Err(format!("entry {} is missing (after {} comes {})", self.number + 1, self.number, entry.number));
        }
        if entry.prev != self.hash {
            return Err(format!("entry {} does not follow entry {}", entry.number, self.number));
        }
        if entry.hash != entry.computed_hash() {
            return Err(format!("entry {} was changed after it was written", entry.number));
        }
        Ok(())
    }
}

fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn draft(text: &str) -> Draft {
        Draft {
            at: Wall(7),
            tick: Tick(3),
            kind: "warning",
            object: "scenario a".into(),
            actor: "system".into(),
            body: json!({ "text": text }),
        }
    }

    #[test]
    fn an_entry_follows_the_one_before_and_no_other() {
        let first = Entry::append(&Head::genesis(), &draft("one"));
        let second = Entry::append(&first.head(), &draft("two"));
        assert_eq!(first.head().check(&second), Ok(()));
        assert!(Head::genesis().check(&second).unwrap_err().contains("entry 1 is missing"));
    }

    #[test]
    fn a_changed_entry_is_found() {
        let mut entry = Entry::append(&Head::genesis(), &draft("one"));
        entry.actor = "admin:mallory".to_owned();
        assert!(Head::genesis().check(&entry).unwrap_err().contains("was changed"));
        // Moving a byte from one column to the next does not go unseen either.
        let mut entry = Entry::append(&Head::genesis(), &draft("one"));
        entry.kind = "warnin".to_owned();
        entry.object = "gscenario a".to_owned();
        assert!(Head::genesis().check(&entry).is_err());
    }
}
