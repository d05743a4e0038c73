//! `bascule handover`: asks the running process by a signal, and waits for what becomes of it.

use std::path::Path;
use std::time::{Duration, Instant};

use nix::errno::Errno;
use nix::sys::signal::{Signal, kill};
use nix::unistd::Pid;

use super::{LOADED_WITHIN, Outcome, READY_WITHIN};

const LOOK: Duration = Duration::from_millis(50);
/// More than the process allows itself.
const PATIENCE: Duration = Duration::from_secs(LOADED_WITHIN.as_secs() + READY_WITHIN.as_secs() + 30);

/// Has the process that runs on this state directory hand over to the program as it lies on the disk. Gives a line for
/// the operator. Errors: in words; the process goes on, where it is there.
pub fn ask(dir: &Path) -> Result<Vec<String>, String> {
    asked(dir).map(|line| vec![line])
}

fn asked(dir: &Path) -> Result<String, String> {
    let pid = holder(dir)?;
    if !is_ready_for_it(pid) {
        return Err(format!("process {pid} is of a version that cannot hand over: restart it"));
    }
    Outcome::forget(dir);
    let process = Pid::from_raw(pid.try_into().map_err(|_| format!("{pid} is no process"))?);
    kill(process, Signal::SIGUSR2).map_err(|error| match error {
        Errno::EPERM => format!("process {pid} is another user's: ask as that one, or as root"),
        Errno::ESRCH => format!("process {pid} has ended"),
        error => format!("process {pid}: {error}"),
    })?;
    let begun = Instant::now();
    while begun.elapsed() < PATIENCE {
        if let Some(outcome) = Outcome::read(dir, pid) {
            return match (outcome.to, outcome.why) {
                (Some(to), _) => Ok(format!("process {to} serves in place of {pid}")),
                (None, why) => Err(format!("{}; process {pid} goes on", why.unwrap_or_default())),
            };
        }
        if kill(process, None) == Err(Errno::ESRCH) && Outcome::read(dir, pid).is_none() {
            return Err(format!("process {pid} has ended without a word"));
        }
        std::thread::park_timeout(LOOK);
    }
    Err(format!("process {pid} does not answer"))
}

/// Which process holds the lock of the directory.
fn holder(dir: &Path) -> Result<u32, String> {
    let path = dir.join("bascule.lock");
    let none = || format!("no appliance runs on {}", dir.display());
    let file = std::fs::File::open(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => none(),
        _ => format!("{}: {error}", path.display()),
    })?;
    if file.try_lock_shared().is_ok() {
        return Err(none());
    }
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    text.trim().parse().map_err(|_| format!("{} does not say which process holds it", path.display()))
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
        assert!(asked(dir.path()).unwrap_err().contains("no appliance runs on"));
        std::fs::write(dir.path().join("bascule.lock"), "1\n").unwrap();
        assert!(asked(dir.path()).unwrap_err().contains("no appliance runs on"), "left over");
    }
}
