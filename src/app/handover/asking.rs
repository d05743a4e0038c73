//! `bascule handover`: asks the running process by a signal, and waits for what becomes of it.

use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{LOADED_WITHIN, Outcome, READY_WITHIN};

const LOOK: Duration = Duration::from_millis(50);
/// More than the process allows itself.
const PATIENCE: Duration = Duration::from_secs(LOADED_WITHIN.as_secs() + READY_WITHIN.as_secs() + 30);
/// For so long nobody may hold the lock while one process gives it to the next.
const GAP: Duration = Duration::from_secs(2);

/// Why no new process serves. In words for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotHanded {
    /// The process that serves goes on.
    Refused(String),
    /// There is nobody who could be asked: no process, or one of a version that knows nothing of it. A start or a restart
    /// is what helps.
    Nobody(String),
}

// === impl NotHanded ===

impl std::fmt::Display for NotHanded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            NotHanded::Refused(why) | NotHanded::Nobody(why) => f.write_str(why),
        }
    }
}

/// Has the process that runs on this state directory hand over to the program as it lies on the disk. Gives a line for
/// the operator. Errors: nothing has changed.
pub fn ask(dir: &Path) -> Result<Vec<String>, NotHanded> {
    asked(dir).map(|line| vec![line])
}

fn asked(dir: &Path) -> Result<String, NotHanded> {
    use NotHanded::{Nobody, Refused};
    let begun = Instant::now();
    let pid = loop {
        match holder(dir)? {
            Some(pid) => break pid,
            None if begun.elapsed() < GAP => std::thread::park_timeout(LOOK),
            None => return Err(Nobody(format!("no appliance runs on {}", dir.display()))),
        }
    };
    if !is_ready_for_it(pid) {
        return Err(Nobody(format!("process {pid} is of a version that cannot hand over: restart it")));
    }
    let process = Pid::from_raw(pid.try_into().map_err(|_| Refused(format!("{pid} is no process")))?);
    Outcome::make_room(dir)
        .map_err(|error| Refused(format!("{}: {error}; process {pid} goes on", Outcome::path(dir).display())))?;
    let before = Outcome::read(dir, pid);
    kill(process, Signal::SIGUSR2).map_err(|error| match error {
        Errno::EPERM => Refused(format!("process {pid} is another user's: ask as that one, or as root")),
        Errno::ESRCH => Nobody(format!("process {pid} has ended")),
        error => Refused(format!("process {pid}: {error}")),
    })?;
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        let is_there = kill(process, None) != Err(Errno::ESRCH);
        if let Some(outcome) = Outcome::read(dir, pid) {
            let is_new = before.as_ref() != Some(&outcome);
            match outcome.to {
                // Somebody else may have asked it a moment before; then it has nothing more to say.
                Some(to) if is_new || holder(dir)? == Some(to) => {
                    return Ok(format!("process {to} serves in place of {pid}"));
                }
                None if is_new => {
                    let why = outcome.why.unwrap_or_default();
                    return Err(Refused(format!("{why}; process {pid} goes on")));
                }
                _ => {}
            }
        }
        if !is_there {
            return Err(Refused(format!("process {pid} has ended without a word")));
        }
        std::thread::park_timeout(LOOK);
    }
    Err(Refused(format!("process {pid} does not answer")))
}

/// Which process holds the lock of the directory; `None`: at the moment no one that would say so.
fn holder(dir: &Path) -> Result<Option<u32>, NotHanded> {
    let path = dir.join("bascule.lock");
    let failed = |error: std::io::Error| NotHanded::Refused(format!("{}: {error}", path.display()));
    let mut file = match std::fs::File::open(&path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        file => file.map_err(failed)?,
    };
    if file.try_lock_shared().is_ok() {
        return Ok(None);
    }
    let mut text = String::new();
    (&mut file).take(32).read_to_string(&mut text).map_err(failed)?;
    let about = file.metadata().map_err(failed)?;
    // On a read-only disk the number is that of a process before.
    Ok(text.trim().parse().ok().filter(|pid| has_open(*pid, (about.dev(), about.ino()))))
}

/// Whether the process has the file open; also where that is not to be seen.
fn has_open(pid: u32, file: (u64, u64)) -> bool {
    let Ok(open) = std::fs::read_dir(format!("/proc/{pid}/fd")) else { return true };
    open.flatten().any(|fd| std::fs::metadata(fd.path()).is_ok_and(|about| (about.dev(), about.ino()) == file))
}

/// Whether it takes the signal: one that does not would end of it.
fn is_ready_for_it(pid: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    catches(&status, Signal::SIGUSR2)
}

/// Whether `/proc/PID/status` says that the process catches the signal.
fn catches(status: &str, signal: Signal) -> bool {
    let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal as u32 - 1) & 1 == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_process_that_takes_the_signal_is_sent_it() {
        let status = "Name:\tbascule\nSigIgn:\t0000000000001000\nSigCgt:\t0000000000000c43\n";
        assert!(catches(status, Signal::SIGUSR2));
        assert!(!catches("SigCgt:\t0000000000000443\n", Signal::SIGUSR2));
        assert!(!catches("", Signal::SIGUSR2), "it has ended");
    }

    #[test]
    fn a_directory_that_nobody_holds_says_so() {
        let dir = tempfile::tempdir().unwrap();
        let nobody = |why: &str| {
            let NotHanded::Nobody(said) = asked(dir.path()).unwrap_err() else { panic!("{why}") };
            assert!(said.contains("no appliance runs on"), "{why}: {said}");
        };
        nobody("no file");
        std::fs::write(dir.path().join("bascule.lock"), "1\n").unwrap();
        nobody("left over");
    }
}
