//! One file, `bascule.db`, with write-ahead log and `synchronous = FULL`: a commit that returned survives a power loss.

mod connecting;
mod cutting;

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::{Connection, Row, TransactionBehavior};

pub(super) use self::connecting::copy;
use self::connecting::{connect, connect_for_looking, connect_for_reading};
use super::lock::Lock;
use super::reader::Reader;
use super::schema::{meta, set_meta};
use super::{Batch, Draft, Found, Intent, Limits, Places, ReadJournal, Reopen, Store, StoreError};
use super::{alerts, deliveries, drills};
use crate::control::journal::chain::{Entry, Head};
use crate::control::journal::codec::{parse_wall, wall_text};
use crate::control::journal::saved;
use crate::model::time::{Tick, Wall};

/// What an entry costs on disk beside its body, index rows included; an estimate for `journal.size`.
const ENTRY_OVERHEAD_BYTES: u64 = 400;

/// The writer.
#[derive(Debug)]
pub struct Sqlite {
    /// `None`: it could not be opened for writing yet.
    db: Option<Connection>,
    path: PathBuf,
    /// The file that was opened. A name that means another file by now, or none, says that what is written is lost.
    file: FileId,
    head: Head,
    /// Estimated size of the journal.
    bytes: u64,
    waits: bool,
    _lock: Lock,
}

/// Device and inode.
type FileId = (u64, u64);

// === impl Sqlite ===

impl Sqlite {
    /// What is saved is read also where nothing can be written, as on a full disk: a box that answered from its saved
    /// state before a power loss does so after it. Writing is then tried again with every commit.
    pub fn open(dir: &Path) -> Result<(Sqlite, Found), StoreError> {
        make_private(dir)?;
        let lock = Lock::take(dir)?;
        let path = dir.join("bascule.db");
        let is_new = !path.exists();
        let (db, why_not) = match connect(&path) {
            Ok(db) => (db, None),
            Err(error) if error.retry && !is_new => (connect_for_reading(&path, &error)?, Some(error)),
            Err(error) => return Err(error),
        };
        Sqlite::of(db, path, why_not, lock)
    }

    /// Opens what is there, of this version or an older one, and writes nothing: also no newer tables.
    pub fn open_waiting(dir: &Path) -> Result<(Sqlite, Found), StoreError> {
        let lock = Lock::take_soon(dir)?;
        let path = dir.join("bascule.db");
        let db = connect_for_looking(&path)?;
        let (mut store, mut found) = Sqlite::of(db, path, None, lock)?;
        // Opened for writing with the first commit, which brings the tables forward.
        (store.db, store.waits, found.waits) = (None, true, true);
        Ok((store, found))
    }

    fn of(
        db: Connection,
        path: PathBuf,
        why_not: Option<StoreError>,
        lock: Lock,
    ) -> Result<(Sqlite, Found), StoreError> {
        let shown = path.display().to_string();
        let fail = |e: rusqlite::Error| error(&shown, &e);
        let head = read_head(&db).map_err(fail)?;
        let found = read_found(&db, &head).map_err(|e| match e {
            Unloadable::Sql(e) => error(&shown, &e),
            Unloadable::Value(what) => StoreError::new(format!(
                "{shown} holds a value that this version cannot read: {what}. Move the file away to start afresh"
            )),
        })?;
        let bytes: i64 = db
            .query_row(
                "SELECT COALESCE(SUM(LENGTH(body)), 0) + COUNT(*) * ?1 FROM journal",
                [ENTRY_OVERHEAD_BYTES],
                |row| row.get(0),
            )
            .map_err(fail)?;
        let file = file_id(&path)?;
        if let Some(error) = &why_not {
            tracing::error!(%error, "starting from what is saved; what happens now is not saved until this is mended");
        }
        let db = why_not.is_none().then_some(db);
        Ok((Sqlite { db, path, file, head, bytes: bytes.unsigned_abs(), waits: false, _lock: lock }, found))
    }

    /// The connection for writing, and that it still is the one to the file at `path`.
    fn ready(&mut self) -> Result<(), StoreError> {
        if file_id(&self.path).ok() != Some(self.file) {
            return Err(StoreError::retryable(format!(
                "{} was removed or replaced while it was in use, so what is written would be lost: put it back, or \
                 restart to begin with what is there",
                self.path.display()
            )));
        }
        if self.db.is_none() {
            self.db = Some(connect(&self.path)?);
        }
        Ok(())
    }

    fn fail(&self, e: &rusqlite::Error) -> StoreError {
        error(&self.path.display().to_string(), e)
    }
}

impl Store for Sqlite {
    fn commit(&mut self, batches: &[&Batch]) -> Result<u64, StoreError> {
        self.ready()?;
        let Some(db) = &mut self.db else { return Ok(self.head.number) };
        match write(db, &self.head, batches) {
            Ok((head, bytes)) => {
                self.head = head;
                self.bytes += bytes;
                Ok(self.head.number)
            }
            Err(e) => Err(self.fail(&e)),
        }
    }

    fn cut(&mut self, now: Wall, limits: &Limits) -> Result<u64, StoreError> {
        self.ready()?;
        let Some(db) = &mut self.db else { return Ok(0) };
        match cutting::cut(db, &self.head, self.bytes, now, limits) {
            Ok(Some(cut)) => {
                self.head = cut.head;
                self.bytes = (self.bytes + cut.added).saturating_sub(cut.freed);
                Ok(cut.entries)
            }
            Ok(None) => Ok(0),
            Err(e) => Err(self.fail(&e)),
        }
    }

    fn reader(&self) -> Arc<dyn ReadJournal> {
        Arc::new(Reader::new(self.path.clone()))
    }

    fn waits(&self) -> bool {
        self.waits
    }

    fn reopen(&self) -> Option<Reopen> {
        let dir = self.path.parent()?.to_owned();
        Some(Box::new(move || Ok(Box::new(Sqlite::open(&dir)?.0) as Box<dyn Store>)))
    }

    fn places(&self) -> Arc<Places> {
        Arc::new(Places::of(self.path.parent().unwrap_or(Path::new("."))))
    }
}

fn file_id(path: &Path) -> Result<FileId, StoreError> {
    use std::os::unix::fs::MetadataExt;
    let read = std::fs::metadata(path).map(|m| (m.dev(), m.ino()));
    read.map_err(|e| StoreError::retryable(format!("cannot use {}: {e}", path.display())))
}

fn write(db: &mut Connection, head: &Head, batches: &[&Batch]) -> rusqlite::Result<(Head, u64)> {
    let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let mut head = head.clone();
    let mut bytes = 0;
    for batch in batches {
        for draft in &batch.entries {
            bytes += insert_entry(&tx, &mut head, draft)?;
        }
        for scenario in &batch.scenarios {
            tx.prepare_cached("INSERT OR REPLACE INTO scenarios VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?.execute((
                &*scenario.name,
                scenario.active,
                scenario.seq,
                wall_text(scenario.entered_at),
                scenario.archived,
                saved::encode_scenario(scenario).to_string(),
            ))?;
        }
        for (key, value) in &batch.overrides {
            let id = (key.object.kind.word(), &*key.object.name, key.slot.word());
            match value {
                Some(o) => {
                    tx.prepare_cached("INSERT OR REPLACE INTO overrides VALUES (?1, ?2, ?3, ?4, ?5, ?6)")?.execute((
                        id.0,
                        id.1,
                        id.2,
                        wall_text(o.since),
                        &*o.act.actor,
                        saved::encode_override(key, o).to_string(),
                    ))?
                }
                None => tx
                    .prepare_cached("DELETE FROM overrides WHERE kind = ?1 AND name = ?2 AND slot = ?3")?
                    .execute(id)?,
            };
        }
        for intent in &batch.intents {
            tx.prepare_cached("INSERT INTO intents VALUES (?1, ?2, ?3, ?4)")?.execute((
                intent.id,
                wall_text(intent.at),
                &*intent.actor,
                intent.body.to_string(),
            ))?;
        }
        for id in &batch.settled {
            tx.prepare_cached("DELETE FROM intents WHERE id = ?1")?.execute([id])?;
        }
        deliveries::write(&tx, &batch.deliveries)?;
        alerts::write(&tx, &batch.alerts)?;
        drills::write(&tx, &batch.drills)?;
        if let Some(answers) = &batch.answers {
            set_meta(&tx, "answers", &answers.to_string())?;
        }
        if batch.served {
            set_meta(&tx, "served", "1")?;
        }
    }
    tx.commit()?;
    Ok((head, bytes))
}

/// Appends one entry and moves `head`; gives its estimated size.
fn insert_entry(db: &Connection, head: &mut Head, draft: &Draft) -> rusqlite::Result<u64> {
    let entry = Entry::append(head, draft);
    db.prepare_cached("INSERT INTO journal VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")?.execute((
        entry.number,
        wall_text(entry.at),
        entry.at.0,
        entry.tick.0,
        &entry.kind,
        &entry.object,
        &entry.actor,
        &entry.body,
        &entry.prev,
        &entry.hash,
    ))?;
    *head = entry.head();
    Ok(entry.body.len() as u64 + ENTRY_OVERHEAD_BYTES)
}

fn read_head(db: &Connection) -> rusqlite::Result<Head> {
    let newest: Option<u64> = db.query_row("SELECT MAX(number) FROM journal", [], |row| row.get(0))?;
    match newest {
        Some(number) => Ok(read_entry(db, number)?.head()),
        None => read_anchor(db),
    }
}

pub(super) fn read_anchor(db: &Connection) -> rusqlite::Result<Head> {
    let number = meta(db, "anchor_number")?.and_then(|text| text.parse().ok());
    Ok(match (number, meta(db, "anchor_hash")?) {
        (Some(number), Some(hash)) => Head { number, hash },
        _ => Head::genesis(),
    })
}

pub(super) const COLUMNS: &str = "number, at_us, tick_us, kind, object, actor, body, prev, hash";

fn read_entry(db: &Connection, number: u64) -> rusqlite::Result<Entry> {
    db.query_row(&format!("SELECT {COLUMNS} FROM journal WHERE number = ?1"), [number], entry_of)
}

pub(super) fn entry_of(row: &Row<'_>) -> rusqlite::Result<Entry> {
    Ok(Entry {
        number: row.get(0)?,
        at: Wall(row.get(1)?),
        tick: Tick(row.get(2)?),
        kind: row.get(3)?,
        object: row.get(4)?,
        actor: row.get(5)?,
        body: row.get(6)?,
        prev: row.get(7)?,
        hash: row.get(8)?,
    })
}

enum Unloadable {
    Sql(rusqlite::Error),
    Value(String),
}

impl From<rusqlite::Error> for Unloadable {
    fn from(e: rusqlite::Error) -> Unloadable {
        Unloadable::Sql(e)
    }
}

fn read_found(db: &Connection, head: &Head) -> Result<Found, Unloadable> {
    let mut found = Found { journal_head: head.number, served: meta(db, "served")?.is_some(), ..Found::default() };
    if let Some(text) = meta(db, "answers")? {
        found.answers = saved::decode_answers(&json(&text)?).map_err(Unloadable::Value)?;
    }
    for text in texts(db, "SELECT body FROM scenarios ORDER BY name")? {
        found.saved.scenarios.push(saved::decode_scenario(&json(&text)?).map_err(Unloadable::Value)?);
    }
    for text in texts(db, "SELECT value FROM overrides")? {
        let (key, value) = saved::decode_override(&json(&text)?).map_err(Unloadable::Value)?;
        found.saved.overrides.insert(key, value);
    }
    let mut statement = db.prepare("SELECT id, at, actor, body FROM intents ORDER BY id")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        found.intents.push(Intent {
            id: row.get(0)?,
            at: parse_wall(&row.get::<_, String>(1)?).map_err(Unloadable::Value)?,
            actor: row.get::<_, String>(2)?.into(),
            body: json(&row.get::<_, String>(3)?)?,
        });
    }
    // A file of an older version that cannot be written has none.
    if db.table_exists(None, "outbox")? {
        let read = deliveries::read(db)?.into_iter().map(deliveries::Raw::delivery);
        found.deliveries = read.collect::<Result<_, _>>().map_err(Unloadable::Value)?;
    }
    if db.table_exists(None, "alerts")? {
        let read = alerts::read(db)?;
        found.alerts =
            read.iter().map(|body| alerts::alert(body)).collect::<Result<_, _>>().map_err(Unloadable::Value)?;
    }
    if db.table_exists(None, "drills")? {
        let read = drills::read(db)?;
        found.drills =
            read.iter().map(|text| drills::drill(text)).collect::<Result<_, _>>().map_err(Unloadable::Value)?;
        found.saved.drill = found.drills.last().cloned();
    }
    Ok(found)
}

fn texts(db: &Connection, sql: &str) -> rusqlite::Result<Vec<String>> {
    db.prepare(sql)?.query_map([], |row| row.get(0))?.collect()
}

fn json(text: &str) -> Result<serde_json::Value, Unloadable> {
    serde_json::from_str(text).map_err(|e| Unloadable::Value(e.to_string()))
}

/// Makes the directory where it is missing, for this user only.
pub(super) fn make_private(dir: &Path) -> Result<(), StoreError> {
    let fail = |e: std::io::Error| StoreError::new(format!("cannot use the state directory {}: {e}", dir.display()));
    if !dir.exists() {
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir).map_err(fail)?;
    }
    if !dir.is_dir() {
        return Err(fail(std::io::ErrorKind::NotADirectory.into()));
    }
    Ok(())
}

/// Whether the index of the write-ahead log could not grow: on a full disk the first thing that fails.
fn has_no_room(e: &rusqlite::Error) -> bool {
    e.sqlite_error().is_some_and(|e| e.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE)
}

/// A failure of SQLite in the operator's words.
pub(super) fn error(path: &str, e: &rusqlite::Error) -> StoreError {
    use rusqlite::ErrorCode;
    let (what, retry) = match e.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => (format!("cannot write {path}: the disk is full; make room"), true),
        Some(ErrorCode::ReadOnly) => (format!("cannot write {path}: it is read-only"), true),
        Some(ErrorCode::SystemIoFailure) if has_no_room(e) => {
            (format!("cannot write {path}: there is no room beside it; make room"), true)
        }
        Some(ErrorCode::CannotOpen) => (format!("cannot open {path}: {e}"), true),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            (format!("cannot write {path}: another program holds its lock"), true)
        }
        Some(ErrorCode::NotADatabase | ErrorCode::DatabaseCorrupt) => {
            (format!("{path} is damaged: {e}. Restore it from a backup, or move it away to start afresh"), false)
        }
        _ => (format!("cannot use {path}: {e}"), true),
    };
    StoreError { what, retry }
}
