//! Opening the file: to write, to read what is saved where nothing can be written, and to look beside a writer.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;

use super::error;
use crate::control::store::{StoreError, schema};

/// SQLite's name of the file system that it takes no locks on.
const WITHOUT_LOCKS: &str = "unix-none";

/// Opens the file for writing; makes it and its tables where they are missing.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    let shown = path.display().to_string();
    let fail = |e: rusqlite::Error| error(&shown, &e);
    let is_new = !path.exists();
    let mut db = Connection::open(path).map_err(fail)?;
    // SQLite is content with that, and would not look again once it is mended.
    if db.is_readonly("main").map_err(fail)? {
        return Err(StoreError::retryable(format!("cannot write {shown}: it is read-only")));
    }
    let _ = std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600));
    db.busy_timeout(Duration::from_millis(1_500)).map_err(fail)?;
    if is_new {
        // Counts before the first table only, and writes the file each time it is said.
        db.pragma_update(None, "auto_vacuum", "INCREMENTAL").map_err(fail)?;
    }
    db.pragma_update(None, "journal_mode", "WAL").map_err(fail)?;
    db.pragma_update(None, "synchronous", "FULL").map_err(fail)?;
    if !is_new {
        keep_before_change(&db, path)?;
    }
    schema::prepare(&mut db, &shown)?;
    Ok(db)
}

/// A file of an older version is copied before its tables are brought forward: `bascule.db.schema-3` is what that version
/// can be started on again. A copy that is there already is of an earlier try, and as good.
fn keep_before_change(db: &Connection, path: &Path) -> Result<(), StoreError> {
    let Some(older) = schema::number(db).filter(|number| (1..schema::SCHEMA).contains(number)) else { return Ok(()) };
    let mut kept = path.as_os_str().to_owned();
    kept.push(format!(".schema-{older}"));
    let kept = Path::new(&kept);
    if kept.exists() {
        return Ok(());
    }
    copy(path, kept)?;
    tracing::info!(kept = %kept.display(), "the state is of an older version: kept before it is brought forward");
    Ok(())
}

/// Copies the file at `path` as it is at one moment; gives the number of its schema. Errors: also where `to` is there.
pub(in crate::control::store) fn copy(path: &Path, to: &Path) -> Result<i64, StoreError> {
    let db = connect_for_looking(path)?;
    let shown = path.display().to_string();
    // To write into another file is a write as well.
    db.pragma_update(None, "query_only", false).map_err(|e| error(&shown, &e))?;
    let copied = db.execute("VACUUM INTO ?1", [to.to_string_lossy()]).and_then(|_| {
        let _ = std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o600));
        let copy = std::fs::File::open(to).and_then(|file| file.sync_all());
        copy.map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))
    });
    if let Err(e) = copied {
        let _ = std::fs::remove_file(to);
        return Err(StoreError { what: format!("cannot copy {shown} to {}: {e}", to.display()), retry: true });
    }
    Ok(schema::number(&db).unwrap_or(0))
}

/// Opens a file that cannot be written, for as long as it takes to read what is saved. With the exclusive lock the index
/// of the write-ahead log is kept in memory, so that no file must grow; where nothing at all may be written not even that
/// lock can be had, and nobody else needs it: the lock of the directory is held. Errors: `why_not`, since it says what to
/// mend.
pub(super) fn connect_for_reading(path: &Path, why_not: &StoreError) -> Result<Connection, StoreError> {
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE;
    let read = |db: rusqlite::Result<Connection>| {
        let db = db.ok()?;
        db.pragma_update(None, "locking_mode", "EXCLUSIVE").ok()?;
        let schema = schema::meta(&db, "schema").ok()??;
        schema.parse().is_ok_and(|schema| (1..=schema::SCHEMA).contains(&schema)).then_some(db)
    };
    read(Connection::open_with_flags(path, flags))
        .or_else(|| read(Connection::open_with_flags_and_vfs(path, flags, WITHOUT_LOCKS)))
        .ok_or_else(|| why_not.clone())
}

/// Opens a file of this version or an older one to read it, beside others that do.
pub(super) fn connect_for_looking(path: &Path) -> Result<Connection, StoreError> {
    let shown = path.display().to_string();
    let fail = |e: rusqlite::Error| error(&shown, &e);
    let db = Connection::open_with_flags(path, rusqlite::OpenFlags::SQLITE_OPEN_READ_WRITE).map_err(fail)?;
    db.busy_timeout(Duration::from_millis(1_500)).map_err(fail)?;
    db.pragma_update(None, "query_only", true).map_err(fail)?;
    schema::known(&db, &shown)?;
    Ok(db)
}
