//! `journal.keep` and `journal.size`: the oldest part goes, an anchor keeps the hash that the rest follows.

use rusqlite::{Connection, TransactionBehavior};

use super::{ENTRY_OVERHEAD_BYTES, insert_entry, read_entry};
use crate::control::journal::chain::Head;
use crate::control::store::schema::set_meta;
use crate::control::store::{Draft, Limits};
use crate::model::time::{Tick, Wall};

/// What was cut.
pub(super) struct Cut {
    pub head: Head,
    pub entries: u64,
    /// Bytes, by the estimate.
    pub freed: u64,
    pub added: u64,
}

/// Cuts what is too old or in the way and leaves an anchor with the last hash. `None`: there is nothing to cut.
pub(super) fn cut(
    db: &mut Connection,
    head: &Head,
    bytes: u64,
    now: Wall,
    limits: &Limits,
) -> rusqlite::Result<Option<Cut>> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let Some(last) = last_to_cut(&tx, bytes, now, limits)? else { return Ok(None) };
    let anchor = read_entry(&tx, last)?;
    let freed: i64 = tx.query_row(
        "SELECT COALESCE(SUM(LENGTH(body)), 0) + COUNT(*) * ?2 FROM journal WHERE number <= ?1",
        (last, ENTRY_OVERHEAD_BYTES),
        |row| row.get(0),
    )?;
    let entries = tx.execute("DELETE FROM journal WHERE number <= ?1", [last])? as u64;
    set_meta(&tx, "anchor_number", &anchor.number.to_string())?;
    set_meta(&tx, "anchor_hash", &anchor.hash)?;
    let mut head = head.clone();
    let draft = Draft {
        at: now,
        // No engine stands behind this entry.
        tick: Tick::ZERO,
        kind: "anchor",
        object: "".into(),
        actor: "system".into(),
        body: serde_json::json!({ "cut_through": anchor.number, "hash": anchor.hash }),
    };
    let added = insert_entry(&tx, &mut head, &draft)?;
    tx.commit()?;
    // Gives pages back to the file system, a bounded number at a time. Best effort.
    let _ = db.execute_batch("PRAGMA incremental_vacuum(2000)");
    Ok(Some(Cut { head, entries, freed: freed.unsigned_abs(), added }))
}

/// The newest entry that is too old or in the way; never the newest of all.
fn last_to_cut(db: &Connection, bytes: u64, now: Wall, limits: &Limits) -> rusqlite::Result<Option<u64>> {
    let newest: Option<u64> = db.query_row("SELECT MAX(number) FROM journal", [], |row| row.get(0))?;
    let oldest_kept = now - limits.keep;
    let by_age: Option<u64> =
        db.query_row("SELECT MAX(number) FROM journal WHERE at_us < ?1", [oldest_kept.0], |row| row.get(0))?;
    let mut by_size = None;
    if bytes > limits.size {
        // A tenth more than needed, so that this does not run for every entry.
        let mut excess = bytes - limits.size + limits.size / 10;
        let mut statement = db.prepare("SELECT number, LENGTH(body) FROM journal ORDER BY number")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            by_size = Some(row.get::<_, u64>(0)?);
            let size = row.get::<_, u64>(1)? + ENTRY_OVERHEAD_BYTES;
            if excess <= size {
                break;
            }
            excess -= size;
        }
    }
    Ok(by_age.max(by_size).min(newest.map(|n| n.saturating_sub(1))).filter(|&n| n > 0 && newest.is_some()))
}
