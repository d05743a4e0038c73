//! Two processes on one state directory would each publish states that the other never saw.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{ErrorKind, Read, Seek, Write};
use std::path::Path;
use std::time::Duration;

use super::StoreError;

/// Between two tries for a lock that is about to be free, and how many.
const SOON: Duration = Duration::from_millis(20);
const SOON_TRIES: u32 = 100;

/// Held while the store is open; the kernel lets go of it whenever the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

// === impl Lock ===

impl Lock {
    /// [`take`](Self::take), where whoever holds it is about to let go: a process that it is starting just now may have
    /// it open for a moment longer.
    pub fn take_soon(dir: &Path) -> Result<Lock, StoreError> {
        let mut taken = Lock::take(dir);
        for _ in 0..SOON_TRIES {
            match taken {
                Err(StoreError { retry: true, .. }) => std::thread::park_timeout(SOON),
                taken => return taken,
            }
            taken = Lock::take(dir);
        }
        taken
    }

    pub fn take(dir: &Path) -> Result<Lock, StoreError> {
        let path = dir.join("bascule.lock");
        let mut file = match OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path) {
            // What is saved there is served from all the same.
            Err(e) if e.kind() == ErrorKind::ReadOnlyFilesystem && path.exists() => File::open(&path),
            opened => opened,
        }
        .map_err(|e| StoreError::new(format!("cannot write {}: {e}", path.display())))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(in_use(dir, &mut file)),
            Err(TryLockError::Error(e)) => {
                return Err(StoreError::new(format!("cannot lock {}: {e}", path.display())));
            }
        }
        // The number is for the message of a second process only; the lock itself is the kernel's.
        let _ = file.set_len(0);
        let _ = file.rewind();
        let _ = writeln!(file, "{}", std::process::id());
        Ok(Lock { _file: file })
    }
}

fn in_use(dir: &Path, file: &mut File) -> StoreError {
    let mut text = String::new();
    let _ = file.take(32).read_to_string(&mut text);
    let by = match text.trim().parse::<u32>() {
        Ok(pid) => format!("process {pid}"),
        Err(_) => "another process".to_owned(),
    };
    StoreError::retryable(format!(
        "the state directory {} is in use by {by}: end it first, or give this one another directory with --state",
        dir.display()
    ))
}
