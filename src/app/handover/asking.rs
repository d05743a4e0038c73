//! `bascule handover`: asks the running process by a signal, and waits for what becomes of it.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
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
/// For so long nobody may hold the lock after a process that was asked has ended: the next one loads FILE, or a service
/// manager starts one.
const STARTED_ANEW: Duration = Duration::from_secs(10);
/// For an answer on the socket.
const ANSWERED: Duration = Duration::from_secs(2);

/// Why no new process serves. In words for the operator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotHanded {
    /// The process that serves goes on.
    Refused(String),
    /// There is nobody who could be asked: no process, or one of a version that knows nothing of it, or it has ended
    /// meanwhile and no other one serves. A start or a restart is what helps.
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
/// the operator. Errors: nothing has changed, or nobody serves.
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
        let is_there = is_alive(process);
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
            return followed(dir, pid);
        }
        std::thread::park_timeout(LOOK);
    }
    Err(Refused(format!("process {pid} does not answer")))
}

/// The process that was asked has ended before it said anything: waits for the one that serves in its place, which it had
/// started already or which a service manager starts.
fn followed(dir: &Path, pid: u32) -> Result<String, NotHanded> {
    let begun = Instant::now();
    let mut held = begun;
    while begun.elapsed() < PATIENCE && held.elapsed() < STARTED_ANEW {
        if let Some(to) = named(dir).filter(|to| *to != pid) {
            if answers(dir) {
                return Ok(format!("process {pid} has ended meanwhile: process {to} serves in its place"));
            }
            held = Instant::now();
        }
        std::thread::park_timeout(LOOK);
    }
    Err(NotHanded::Nobody(format!("process {pid} has ended without a word, and no other one serves: start it")))
}

/// Whether somebody answers on the socket in the directory.
fn answers(dir: &Path) -> bool {
    let asked = || -> std::io::Result<bool> {
        let mut stream = UnixStream::connect(dir.join("bascule.sock"))?;
        stream.set_read_timeout(Some(ANSWERED))?;
        stream.set_write_timeout(Some(ANSWERED))?;
        stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
        let mut line = [0; 12];
        stream.read_exact(&mut line)?;
        Ok(line == *b"HTTP/1.1 200")
    };
    asked().unwrap_or(false)
}

/// One that has ended and that nobody has taken notice of yet is none that could hand over.
fn is_alive(process: Pid) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    kill(process, None) != Err(Errno::ESRCH) && !has_ended(&status)
}

/// Whether `/proc/PID/status` says that the process has ended.
fn has_ended(status: &str) -> bool {
    let state = status.lines().find_map(|line| line.strip_prefix("State:"));
    state.is_some_and(|state| state.trim_start().starts_with(['Z', 'X']))
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

/// Which living process the lock of the directory names; found without taking it, which could get into the way of a
/// process that is starting.
fn named(dir: &Path) -> Option<u32> {
    let mut file = std::fs::File::open(dir.join("bascule.lock")).ok()?;
    let mut text = String::new();
    (&mut file).take(32).read_to_string(&mut text).ok()?;
    let about = file.metadata().ok()?;
    let pid: u32 = text.trim().parse().ok()?;
    let process = Pid::from_raw(pid.try_into().ok()?);
    (is_alive(process) && has_open(pid, (about.dev(), about.ino()))).then_some(pid)
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
    fn a_process_that_nobody_has_taken_notice_of_is_no_longer_there() {
        assert!(has_ended("Name:\tbascule\nState:\tZ (zombie)\n"));
        assert!(!has_ended("Name:\tbascule\nState:\tS (sleeping)\n"));
        assert!(!has_ended(""), "not to be seen");
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
