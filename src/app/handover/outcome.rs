//! What became of the last handover: a small file in the state directory, for whoever asked for it.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// `handover.json`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::app) struct Outcome {
    /// The process that was asked.
    pub from: u32,
    /// The one that serves now; `None`: the same, since nothing was handed over.
    pub to: Option<u32>,
    /// Why nothing was.
    pub why: Option<String>,
}

// === impl Outcome ===

impl Outcome {
    pub fn path(dir: &Path) -> PathBuf {
        dir.join("handover.json")
    }

    /// Whoever sees it sees all of it.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        let path = Outcome::path(dir);
        let new = path.with_extension("json.new");
        std::fs::write(&new, serde_json::to_string(self)?)?;
        std::fs::rename(new, path)
    }

    /// That of process `from`; `None`: there is none yet.
    pub fn read(dir: &Path, from: u32) -> Option<Outcome> {
        let text = std::fs::read_to_string(Outcome::path(dir)).ok()?;
        serde_json::from_str::<Outcome>(&text).ok().filter(|outcome| outcome.from == from)
    }

    /// Forgets the last one.
    pub fn forget(dir: &Path) {
        let _ = std::fs::remove_file(Outcome::path(dir));
    }
}
