//! Everything that makes an appliance what it is, in one file: `bascule backup`, `bascule restore`.
//!
//! The file is a tar, packed with gzip, so that any tar can list it and take a piece out. First comes the manifest with
//! the size and the SHA-256 of every file that follows; what is not in it, or not as it says, is refused, and a restore
//! moves nothing into its place before all was read and compared.
//!
//! | in the file | what |
//! |---|---|
//! | `bascule-backup.json` | the manifest |
//! | `config/…` | FILE and what it names, relative to its folder: includes, certificates, keys, zone files, databases, secrets, scripts |
//! | `elsewhere/…` | what FILE names by a whole path outside its folder |
//! | `state/…` | the state directory: overrides, scenarios, journal, outbox, alerts, drills, history, keys that were made |
//!
//! The database is copied as one consistent state, also beside a running appliance. The file holds secrets: it is made
//! for its owner alone.

mod backup;
mod fitting;
mod manifest;
mod named;
mod restore;

use std::path::{Component, Path, PathBuf};

pub use backup::backup;
pub use restore::restore;

/// The manifest's name.
const MANIFEST: &str = "bascule-backup.json";

/// Of everything in one file. Bytes.
const TOTAL_MOST: u64 = 64 << 30;
/// Files in one file.
const FILES_MOST: usize = 100_000;
/// Of a manifest. Bytes.
const MANIFEST_MOST: u64 = 64 << 20;

/// What belongs to a process, or is made anew: by the path inside the state directory. Names count at its top alone, since
/// people name what lies in its folders; but half a zone (`zones/….new`) is what the appliance itself is writing.
fn is_of_a_process(inside: &str) -> bool {
    let (top, below) = inside.split_once('/').map_or((inside, None), |(top, below)| (top, Some(below)));
    matches!(
        top,
        "bascule.db"
            | "bascule.db-wal"
            | "bascule.db-shm"
            | "bascule.lock"
            | "bascule.sock"
            | "handover.json"
            | "addresses"
    ) || top.ends_with(".new")
        || top.starts_with("bascule.db.schema-")
        || top.starts_with(".restore-")
        || top == "zones" && below.is_some_and(|below| below.ends_with(".new"))
}

/// Whole, without `.` and `..`, and with links as they are named.
fn absolute(path: &Path) -> Result<PathBuf, String> {
    let whole = std::path::absolute(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut plain = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::ParentDir => drop(plain.pop()),
            Component::CurDir => {}
            part => plain.push(part),
        }
    }
    Ok(plain)
}
