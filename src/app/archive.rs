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
mod manifest;
mod named;
mod restore;

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

/// Files of a state directory that belong to a process, or are made anew.
fn is_of_a_process(name: &str) -> bool {
    matches!(
        name,
        "bascule.db" | "bascule.db-wal" | "bascule.db-shm" | "bascule.lock" | "bascule.sock" | "handover.json"
    ) || name.ends_with(".new")
        || name.starts_with("bascule.db.schema-")
        || name.starts_with(".restore-")
}
