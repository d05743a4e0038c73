//! The tables. Values are JSON, times RFC 3339, so that `sqlite3 bascule.db 'select * from journal'` reads well.

use rusqlite::{Connection, OptionalExtension};

use super::{alerts, deliveries, drills};

/// Of the tables below. A file with a newer one is refused; older ones are brought forward step by step.
pub const SCHEMA: i64 = 4;

const TABLES: &str = "
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE scenarios (
  name TEXT PRIMARY KEY, active INTEGER NOT NULL, seq INTEGER NOT NULL, entered_at TEXT NOT NULL,
  archived INTEGER NOT NULL, body TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE overrides (
  kind TEXT NOT NULL, name TEXT NOT NULL, slot TEXT NOT NULL, since TEXT NOT NULL, actor TEXT NOT NULL,
  value TEXT NOT NULL, PRIMARY KEY (kind, name, slot)
) WITHOUT ROWID;
CREATE TABLE intents (id INTEGER PRIMARY KEY, at TEXT NOT NULL, actor TEXT NOT NULL, body TEXT NOT NULL);
CREATE TABLE journal (
  number INTEGER PRIMARY KEY, at TEXT NOT NULL, at_us INTEGER NOT NULL, tick_us INTEGER NOT NULL, kind TEXT NOT NULL,
  object TEXT NOT NULL, actor TEXT NOT NULL, body TEXT NOT NULL, prev TEXT NOT NULL, hash TEXT NOT NULL
);
CREATE INDEX journal_by_object ON journal (object, number);
CREATE INDEX journal_by_time ON journal (at_us);
";

/// Makes the tables in a new file; checks the number in an old one.
pub fn prepare(db: &mut Connection, path: &str) -> Result<(), super::StoreError> {
    let fail = |e: rusqlite::Error| super::sqlite::error(path, &e);
    let tx = db.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate).map_err(fail)?;
    let exists: Option<i64> = tx
        .query_row("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'meta'", [], |row| row.get(0))
        .optional()
        .map_err(fail)?;
    if exists.is_none() {
        tx.execute_batch(TABLES).map_err(fail)?;
        tx.execute_batch(deliveries::TABLE).map_err(fail)?;
        tx.execute_batch(alerts::TABLE).map_err(fail)?;
        tx.execute_batch(drills::TABLE).map_err(fail)?;
        tx.execute("INSERT INTO meta VALUES ('schema', ?1)", [SCHEMA.to_string()]).map_err(fail)?;
        return tx.commit().map_err(fail);
    }
    let schema = meta(&tx, "schema").map_err(fail)?.and_then(|text| text.parse::<i64>().ok());
    match schema {
        Some(SCHEMA) => tx.commit().map_err(fail),
        Some(older @ 1..=3) => {
            if older == 1 {
                tx.execute_batch(deliveries::TABLE).map_err(fail)?;
            }
            if older <= 2 {
                tx.execute_batch(alerts::TABLE).map_err(fail)?;
            }
            tx.execute_batch(drills::TABLE).map_err(fail)?;
            set_meta(&tx, "schema", &SCHEMA.to_string()).map_err(fail)?;
            tx.commit().map_err(fail)
        }
        other => Err(unknown(other, path)),
    }
}

/// The number in a file; `None`: it has none, or cannot be read.
pub fn number(db: &Connection) -> Option<i64> {
    meta(db, "schema").ok()??.parse().ok()
}

/// Whether a file is of this version, or of an older one. Errors: it is not.
pub fn known(db: &Connection, path: &str) -> Result<(), super::StoreError> {
    let text = meta(db, "schema").map_err(|e| super::sqlite::error(path, &e))?;
    match text.and_then(|text| text.parse::<i64>().ok()) {
        Some(1..=SCHEMA) => Ok(()),
        other => Err(unknown(other, path)),
    }
}

fn unknown(schema: Option<i64>, path: &str) -> super::StoreError {
    super::StoreError::new(match schema {
        Some(newer) if newer > SCHEMA => format!(
            "{path} was written by a newer version (schema {newer}, this one knows {SCHEMA}): install that version \
             again, or start with another --state directory"
        ),
        _ => format!("{path} is not a state file of this program (no schema number)"),
    })
}

pub fn meta(db: &Connection, key: &str) -> rusqlite::Result<Option<String>> {
    db.query_row("SELECT value FROM meta WHERE key = ?1", [key], |row| row.get(0)).optional()
}

pub fn set_meta(db: &Connection, key: &str, value: &str) -> rusqlite::Result<()> {
    db.prepare_cached("INSERT INTO meta VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value")?
        .execute([key, value])?;
    Ok(())
}
