//! The outbox on disk: a row for each delivery, written in the transaction of its commit and again when it changes.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::{Connection, Row};
use serde_json::{Value, json};

use crate::control::journal::codec::{Reader, Unreadable, parse_wall, wall_text};
use crate::machine::outbox;
use crate::model::delivery::{Delivery, DeliveryStatus, Tried};
use crate::model::scenario::Direction;

pub const TABLE: &str = "
CREATE TABLE outbox (
  id INTEGER PRIMARY KEY, key TEXT NOT NULL, status TEXT NOT NULL, attempts INTEGER NOT NULL, changed TEXT NOT NULL,
  about TEXT NOT NULL, payload TEXT NOT NULL
);
";

pub fn write(db: &Connection, rows: &[outbox::Row]) -> rusqlite::Result<()> {
    for (id, delivery) in rows {
        match delivery {
            Some(d) => {
                db.prepare_cached("INSERT OR REPLACE INTO outbox VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")?.execute((
                    id,
                    &*d.key,
                    d.status.word(),
                    d.attempts,
                    wall_text(d.changed),
                    about(d).to_string(),
                    &*d.payload,
                ))?
            }
            None => db.prepare_cached("DELETE FROM outbox WHERE id = ?1")?.execute([id])?,
        };
    }
    Ok(())
}

/// A row before its values are looked at.
pub struct Raw {
    id: u64,
    key: String,
    status: String,
    attempts: u32,
    changed: String,
    about: String,
    payload: String,
}

pub fn read(db: &Connection) -> rusqlite::Result<Vec<Raw>> {
    let raw = |row: &Row<'_>| {
        Ok(Raw {
            id: row.get(0)?,
            key: row.get(1)?,
            status: row.get(2)?,
            attempts: row.get(3)?,
            changed: row.get(4)?,
            about: row.get(5)?,
            payload: row.get(6)?,
        })
    };
    let mut statement =
        db.prepare("SELECT id, key, status, attempts, changed, about, payload FROM outbox ORDER BY id")?;
    statement.query_map([], raw)?.collect()
}

fn about(d: &Delivery) -> Value {
    let next = outbox::next_attempt(d).map(wall_text);
    let tries: Vec<Value> =
        d.tries.iter().map(|t| json!([wall_text(t.at), t.took.as_millis() as u64, t.outcome])).collect();
    json!({
        "trigger": d.trigger, "scenario": d.scenario, "seq": d.seq, "direction": d.direction.word(), "test": d.test,
        "alert": d.alert, "since": wall_text(d.since), "next": next, "last_error": d.last_error,
        "tries": tries,
    })
}

/// `[[begun, milliseconds, outcome], …]`; absent in rows of older programs.
fn tries(value: &Value) -> Result<Arc<[Tried]>, Unreadable> {
    let one = |value: &Value| match (value[0].as_str(), value[1].as_u64(), value[2].as_str()) {
        (Some(at), Some(took), Some(outcome)) => {
            Ok(Tried { at: parse_wall(at)?, took: Duration::from_millis(took), outcome: outcome.into() })
        }
        _ => Err(format!("`{value}` is no attempt of a delivery")),
    };
    value.as_array().into_iter().flatten().map(one).collect()
}

// === impl Raw ===

impl Raw {
    pub fn delivery(self) -> Result<Delivery, Unreadable> {
        let about: Value = serde_json::from_str(&self.about).map_err(|e| e.to_string())?;
        let v = Reader { value: &about };
        let status = match &*self.status {
            "pending" => DeliveryStatus::Pending { next: v.wall("next")? },
            "delivered" => DeliveryStatus::Delivered,
            "dead" => DeliveryStatus::Dead,
            other => return Err(format!("`{other}` is not the status of a delivery")),
        };
        Ok(Delivery {
            id: self.id,
            key: self.key.into(),
            trigger: v.name("trigger")?,
            scenario: v.name("scenario")?,
            seq: v.u64("seq")?,
            direction: v.word("direction", Direction::parse)?,
            alert: v.optional("alert", |r, k| r.name(k))?,
            test: v.bool("test")?,
            since: v.wall("since")?,
            payload: self.payload.into(),
            attempts: self.attempts,
            last_error: v.optional("last_error", |r, k| r.name(k))?,
            tries: tries(&about["tries"])?,
            status,
            changed: parse_wall(&self.changed)?,
        })
    }
}
