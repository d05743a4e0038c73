//! What became of the last handover: a small file in the state directory, for whoever asked for it.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// What the file takes on disk, so that on a full one there is room for what became of it.
const ROOM: usize = 4096;

/// `handover.json`
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::app) struct Outcome {
    /// The process that was asked.
    pub from: u32,
    /// The one that serves now; `None`: the same, since nothing was handed over.
    pub to: Option<u32>,
    /// Why nothing was.
    pub why: Option<String>,
    /// When. One of earlier is known by it: numbers of processes come again.
    #[serde(default)]
    pub at: String,
}

// === impl Outcome ===

impl Outcome {
    pub fn of_now(from: u32, to: Option<u32>, why: Option<String>) -> Outcome {
        Outcome { from, to, why, at: jiff::Timestamp::now().to_string() }
    }

    pub fn path(dir: &Path) -> PathBuf {
        dir.join("handover.json")
    }

    /// In its place: whoever reads half of it reads again.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        let mut text = serde_json::to_string(self)?.into_bytes();
        text.resize(text.len().max(ROOM), b' ');
        let file = File::options().write(true).create(true).truncate(false).mode(0o600).open(Outcome::path(dir))?;
        file.write_all_at(&text, 0)?;
        file.set_len(text.len() as u64)
    }

    /// That of process `from`; `None`: there is none yet.
    pub fn read(dir: &Path, from: u32) -> Option<Outcome> {
        let text = fs::read_to_string(Outcome::path(dir)).ok()?;
        serde_json::from_str::<Outcome>(&text).ok().filter(|outcome| outcome.from == from)
    }

    /// Makes the file where it is missing, for the owner of the directory, so that on a full disk it is there. Errors: as
    /// the system says.
    pub fn make_room(dir: &Path) -> io::Result<()> {
        let made = File::options().write(true).create_new(true).mode(0o600).open(Outcome::path(dir));
        let file = match made {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
            made => made?,
        };
        let about = fs::metadata(dir)?;
        std::os::unix::fs::fchown(&file, Some(about.uid()), Some(about.gid()))?;
        let filled = file.write_all_at(&[b' '; ROOM], 0).and_then(|()| file.sync_all());
        // Half of a file would be taken for enough the next time.
        filled.inspect_err(|_| drop(fs::remove_file(Outcome::path(dir))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_became_of_it_is_read_by_whoever_asked_that_process_also_after_a_longer_one() {
        let dir = tempfile::tempdir().unwrap();
        Outcome::make_room(dir.path()).unwrap();
        assert_eq!(Outcome::read(dir.path(), 7), None);
        let long = Outcome::of_now(7, None, Some("a reason ".repeat(1000)));
        long.write(dir.path()).unwrap();
        assert_eq!(Outcome::read(dir.path(), 7), Some(long));
        let short = Outcome::of_now(7, Some(8), None);
        short.write(dir.path()).unwrap();
        assert_eq!(Outcome::read(dir.path(), 7), Some(short.clone()));
        assert_eq!(Outcome::read(dir.path(), 8), None, "another one's");
        Outcome::make_room(dir.path()).unwrap();
        assert_eq!(Outcome::read(dir.path(), 7), Some(short), "it has its room");
    }

    #[test]
    fn room_is_never_made_behind_a_link() {
        let dir = tempfile::tempdir().unwrap();
        let other = dir.path().join("other");
        std::os::unix::fs::symlink(&other, Outcome::path(dir.path())).unwrap();
        Outcome::make_room(dir.path()).unwrap();
        assert!(!other.exists());
    }
}
