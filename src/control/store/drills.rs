//! Drills on disk: a row for each, written in the transaction of what it did. The last one may be under way.

use std::sync::Arc;

use rusqlite::Connection;
use serde_json::Value;

use crate::control::journal::codec::{Unreadable, decode_drill, encode_drill, wall_text};
use crate::model::drill::Drill;

/// Reports kept; of more, the oldest go. The journal has them as long as it keeps its entries.
pub const KEPT: u64 = 1_000;

pub const TABLE: &str = "
CREATE TABLE drills (
  id INTEGER PRIMARY KEY, scenario TEXT NOT NULL, phase TEXT NOT NULL, started_at TEXT NOT NULL, ended_at TEXT,
  body TEXT NOT NULL
);
";

pub fn write(db: &Connection, drills: &[Arc<Drill>]) -> rusqlite::Result<()> {
    for drill in drills {
        db.prepare_cached("INSERT OR REPLACE INTO drills VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?.execute((
            drill.id,
            &*drill.scenario,
            drill.phase.word(),
            wall_text(drill.started_at),
            drill.ended_at.map(wall_text),
            encode_drill(drill).to_string(),
        ))?;
        db.prepare_cached("DELETE FROM drills WHERE id <= ?1")?.execute([drill.id.saturating_sub(KEPT)])?;
    }
    Ok(())
}

/// By id.
pub fn read(db: &Connection) -> rusqlite::Result<Vec<String>> {
    db.prepare("SELECT body FROM drills ORDER BY id")?.query_map([], |row| row.get(0))?.collect()
}

pub fn drill(text: &str) -> Result<Arc<Drill>, Unreadable> {
    let value: Value = serde_json::from_str(text).map_err(|e| e.to_string())?;
    decode_drill(&value).map(Arc::new)
}
