//! A journal read back for a replay: what was restored, which texts were adopted, what people did, how the rows of the
//! board changed, and which commits followed.

use serde_json::Value;

use super::chain::Entry;
use super::codec::{Reader, Unreadable, decode};
use super::saved::decode_saved;
use crate::config::Source;
use crate::control::store::{ReadJournal, StoreError};
use crate::model::event::Record;
use crate::model::id::Name;
use crate::model::state::Saved;
use crate::model::time::Now;

/// One entry.
#[derive(Clone, Debug)]
pub struct Moment {
    pub number: u64,
    /// Ticks count from the start of the process that wrote it; those of one turn are equal.
    pub now: Now,
    pub what: What,
}

#[derive(Clone, Debug)]
pub enum What {
    /// A process began with this. Ticks start anew.
    Start {
        saved: Saved,
    },
    Config(Adopted),
    Record(Record),
    /// FILE was written, a process ended, the oldest part was cut: nothing that an engine would see.
    Other {
        kind: Name,
    },
}

/// A configuration that was taken over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Adopted {
    /// `start`, `apply`, `reload`.
    pub origin: Name,
    pub hash: Name,
    /// `--set PATH=VALUE`
    pub set: Vec<(String, String)>,
    /// The root first, then includes and zone files.
    pub sources: Vec<Source>,
}

/// Why a journal cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    #[error("{0}")]
    Store(#[from] StoreError),
    #[error("entry {number} cannot be read: {why}")]
    Entry { number: u64, why: Unreadable },
}

/// All entries, oldest first. After a cut the first ones may stand before any `Start`.
pub fn read(journal: &dyn ReadJournal) -> Result<Vec<Moment>, HistoryError> {
    let mut moments = Vec::new();
    let mut broken = None;
    journal.walk(&mut |entry| match moment(&entry) {
        Ok(moment) => {
            moments.push(moment);
            true
        }
        Err(why) => {
            broken = Some(HistoryError::Entry { number: entry.number, why });
            false
        }
    })?;
    broken.map_or(Ok(moments), Err)
}

/// One entry, understood.
pub fn moment(entry: &Entry) -> Result<Moment, Unreadable> {
    let body: Value = serde_json::from_str(&entry.body).map_err(|e| e.to_string())?;
    let what = match entry.kind.as_str() {
        "start" => What::Start { saved: decode_saved(Reader { value: &body }.get("saved")?)? },
        "config" if body.get("sources").is_some() => What::Config(adopted(&body)?),
        kind => match decode(kind, &body)? {
            Some(record) => What::Record(record),
            None => What::Other { kind: kind.into() },
        },
    };
    Ok(Moment { number: entry.number, now: Now { tick: entry.tick, wall: entry.at }, what })
}

fn adopted(body: &Value) -> Result<Adopted, Unreadable> {
    let v = Reader { value: body };
    Ok(Adopted {
        origin: v.name("origin")?,
        hash: v.name("hash")?,
        set: v.list("set", |pair| {
            let text = |i: usize| pair.get(i).and_then(Value::as_str).map(str::to_owned);
            text(0).zip(text(1)).ok_or_else(|| "`set` is not a list of pairs".to_owned())
        })?,
        sources: v.list("sources", |value| {
            let source = Reader { value };
            Ok(Source { path: source.name("path")?, text: source.str("text")?.into() })
        })?,
    })
}
