//! The journal's other end: queries beside the writer.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use rusqlite::{Connection, OpenFlags, ToSql};

use super::sqlite::{COLUMNS, entry_of, error, read_anchor};
use super::{ReadJournal, StoreError};
use crate::control::journal::chain::{Entry, Verified};
use crate::control::journal::{JournalEntry, JournalQuery};

/// Reads beside the writer, on connections of its own.
#[derive(Debug)]
pub(super) struct Reader {
    path: PathBuf,
    /// Opened at the first query. One at a time: queries are bounded, and readers are few.
    db: Mutex<Option<Connection>>,
}

/// Reads the journal of a state directory, also beside a running appliance.
pub fn read_journal(dir: &Path) -> Result<Arc<dyn ReadJournal>, StoreError> {
    let path = dir.join("bascule.db");
    if !path.is_file() {
        return Err(StoreError::new(format!("{} is not a state directory: it has no bascule.db", dir.display())));
    }
    Ok(Arc::new(Reader::new(path)))
}

// === impl Reader ===

impl Reader {
    pub fn new(path: PathBuf) -> Reader {
        Reader { path, db: Mutex::new(None) }
    }

    fn with<T>(&self, read: impl FnOnce(&Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        let fail = |e: rusqlite::Error| error(&self.path.display().to_string(), &e);
        let mut cached = self.db.lock();
        let db = match cached.take() {
            Some(db) => db,
            None => open_for_reading(&self.path).map_err(fail)?,
        };
        let result = read(&db).map_err(fail)?;
        // One of a read-only disk would keep the writer of this process from writing once that is mended.
        *cached = db.is_readonly("main").is_ok_and(|readonly| !readonly).then_some(db);
        Ok(result)
    }
}

fn open_for_reading(path: &Path) -> rusqlite::Result<Connection> {
    // A reader of a write-ahead log writes its shared-memory file, so read-only is the second choice (a copy on a
    // read-only medium).
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .or_else(|_| Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY))?;
    db.busy_timeout(Duration::from_secs(2))?;
    db.pragma_update(None, "query_only", true)?;
    Ok(db)
}

impl ReadJournal for Reader {
    fn query(&self, query: &JournalQuery) -> Result<Vec<JournalEntry>, StoreError> {
        let mut conditions = vec!["1"];
        let mut values: Vec<Box<dyn ToSql>> = Vec::new();
        let mut add = |condition: &'static str, value: Option<Box<dyn ToSql>>| {
            if let Some(value) = value {
                conditions.push(condition);
                values.push(value);
            }
        };
        add("at_us >= ?", query.since.map(|at| Box::new(at.0) as _));
        add("at_us <= ?", query.until.map(|at| Box::new(at.0) as _));
        add("object = ?", query.object().map(|object| Box::new(object) as _));
        add("actor = ?", query.actor.as_ref().map(|actor| Box::new(actor.to_string()) as _));
        add("kind = ?", query.kind.as_ref().map(|kind| Box::new(kind.to_string()) as _));
        add("number > ?", query.after.map(|after| Box::new(i64::try_from(after).unwrap_or(i64::MAX)) as _));
        let sql = format!(
            "SELECT {COLUMNS} FROM journal WHERE {} ORDER BY number {} LIMIT {}",
            conditions.join(" AND "),
            if query.newest_first { "DESC" } else { "ASC" },
            query.bounded_limit(),
        );
        self.with(|db| {
            let mut statement = db.prepare_cached(&sql)?;
            let entries = statement.query_map(rusqlite::params_from_iter(&values), entry_of)?;
            entries.map(|entry| entry.map(|e| e.shown())).collect()
        })
    }

    fn walk(&self, visit: &mut dyn FnMut(Entry) -> bool) -> Result<(), StoreError> {
        self.with(|db| {
            let mut statement = db.prepare(&format!("SELECT {COLUMNS} FROM journal ORDER BY number"))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                if !visit(entry_of(row)?) {
                    break;
                }
            }
            Ok(())
        })
    }

    fn after(&self, number: u64, entries: usize, bytes: usize) -> Result<Vec<Entry>, StoreError> {
        self.with(|db| {
            let sql = format!("SELECT {COLUMNS} FROM journal WHERE number > ?1 ORDER BY number LIMIT ?2");
            let mut statement = db.prepare_cached(&sql)?;
            let mut rows = statement.query((i64::try_from(number).unwrap_or(i64::MAX), entries))?;
            let (mut found, mut size) = (Vec::new(), 0);
            while let Some(row) = rows.next()? {
                let entry = entry_of(row)?;
                size += entry.body.len();
                found.push(entry);
                if size >= bytes {
                    break;
                }
            }
            Ok(found)
        })
    }

    fn verify(&self) -> Result<Verified, StoreError> {
        self.with(|db| {
            // Anchor and entries from one state, whatever is written meanwhile.
            let tx = db.unchecked_transaction()?;
            let anchor = read_anchor(&tx)?;
            let mut verified = Verified { entries: 0, anchor: anchor.number, broken: None };
            let mut head = anchor;
            let mut statement = tx.prepare(&format!("SELECT {COLUMNS} FROM journal ORDER BY number"))?;
            let mut rows = statement.query([])?;
            while let Some(row) = rows.next()? {
                let entry = entry_of(row)?;
                if let Err(broken) = head.check(&entry) {
                    verified.broken = Some(broken);
                    break;
                }
                verified.entries += 1;
                head = entry.head();
            }
            Ok(verified)
        })
    }
}
