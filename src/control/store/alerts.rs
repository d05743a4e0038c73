//! Alerts that stand, on disk: a row for each, written with the deliveries that tell of it, gone when it is over.

use rusqlite::Connection;

use crate::control::journal::codec::{Unreadable, decode_alert, encode_alert};
use crate::machine::alert;
use crate::model::alert::RaisedAlert;

pub const TABLE: &str = "
CREATE TABLE alerts (id INTEGER PRIMARY KEY, alert TEXT NOT NULL, object TEXT NOT NULL, body TEXT NOT NULL);
";

pub fn write(db: &Connection, rows: &[alert::Row]) -> rusqlite::Result<()> {
    for (id, alert) in rows {
        match alert {
            Some(alert) => {
                let object = alert.subject.to_string();
                db.prepare_cached("INSERT OR REPLACE INTO alerts VALUES (?1, ?2, ?3, ?4)")?.execute((
                    id,
                    &*alert.alert,
                    object,
                    encode_alert(alert).to_string(),
                ))?
            }
            None => db.prepare_cached("DELETE FROM alerts WHERE id = ?1")?.execute([id])?,
        };
    }
    Ok(())
}

/// The bodies, by id.
pub fn read(db: &Connection) -> rusqlite::Result<Vec<String>> {
    db.prepare("SELECT body FROM alerts ORDER BY id")?.query_map([], |row| row.get(0))?.collect()
}

pub fn alert(body: &str) -> Result<RaisedAlert, Unreadable> {
    decode_alert(&serde_json::from_str(body).map_err(|e| e.to_string())?)
}
