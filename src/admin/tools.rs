//! What a process of its own does for the appliance: captures of packets, and archives for whoever is to help. It is
//! this program again (`nstrace`, `support`), so that what one does by hand and what one asks the appliance for is the
//! same; and what it costs, and what may go wrong in it, is not the appliance's.
//!
//! Files lie in folders of their own in the state directory, the newest few are kept, and nothing begins or goes on
//! where the disk has little room left.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use axum::http::StatusCode;
use parking_lot::Mutex;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, BufReader};
use tokio::process::{Child, ChildStdin, Command};

use super::auth::wall;
use super::problem::Problem;
use crate::model::capture::{ARCHIVES, BEGUN, KEEP_FREE, TRACES};
use crate::model::id::Name;
use crate::model::time::Wall;

/// Archives and captures that are kept, of each.
const KEPT: usize = 5;
/// How long a capture may take to begin, and to end once it is told to.
const PATIENCE: Duration = Duration::from_secs(10);
/// An archive asks the appliance for everything.
const ARCHIVE_PATIENCE: Duration = Duration::from_secs(55);
/// Of what a process says of itself. Bytes.
const SAID_MOST: u64 = 16 << 10;

/// Which packets, how long, how much.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Wanted {
    pub vservers: Vec<String>,
    pub services: Vec<String>,
    pub addresses: Vec<std::net::IpAddr>,
    pub ports: Vec<u16>,
    pub time: Duration,
    /// Of the file, in MiB.
    pub size: u64,
    /// Of each packet, in bytes; 0: all.
    pub snap: u64,
}

/// A file that was made.
#[derive(Clone, Debug)]
pub(crate) struct Made {
    pub name: String,
    pub path: PathBuf,
    pub bytes: u64,
    /// When it was last written to.
    pub at: Wall,
}

/// A capture, until the next one.
#[derive(Debug)]
pub(crate) struct Running {
    pub name: String,
    pub started: Wall,
    pub actor: Name,
    pub wanted: Wanted,
    /// It goes on for as long as this is open.
    stop: Option<ChildStdin>,
    /// What it said at its end.
    pub ended: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Tools {
    program: Option<PathBuf>,
    state: Option<PathBuf>,
    trace: Arc<Mutex<Option<Running>>>,
    /// One at a time begins.
    turn: tokio::sync::Mutex<()>,
}

// === impl Tools ===

impl Tools {
    /// `program`: this one, as it lay on the disk at the start; `None`: nothing of this can be had.
    pub fn new(program: Option<PathBuf>, state: Option<PathBuf>) -> Tools {
        Tools { program, state, trace: Arc::default(), turn: tokio::sync::Mutex::new(()) }
    }

    /// Where state is kept.
    pub fn state(&self) -> Option<&Path> {
        self.state.as_deref()
    }

    /// The last capture that was begun, if any was; `look` sees it.
    pub fn last<T>(&self, look: impl FnOnce(&Running) -> T) -> Option<T> {
        self.trace.lock().as_ref().map(look)
    }

    /// Captures on disk, newest first.
    pub fn traces(&self) -> Vec<Made> {
        self.state.as_deref().map(|state| made(&state.join(TRACES))).unwrap_or_default()
    }

    /// Archives on disk, newest first.
    pub fn archives(&self) -> Vec<Made> {
        self.state.as_deref().map(|state| made(&state.join(ARCHIVES))).unwrap_or_default()
    }

    /// Begins a capture. Its name.
    pub async fn start(&self, wanted: &Wanted, actor: &Name) -> Result<String, Problem> {
        let _turn = self.turn.lock().await;
        if let Some(name) = self.last(|trace| trace.ended.is_none().then(|| trace.name.clone())).flatten() {
            let detail = format!("{name} is being written; stop it first");
            return Err(Problem::new(StatusCode::CONFLICT, "already_running", detail));
        }
        let (program, state) = self.places()?;
        let (name, path) = place(state, TRACES, "nstrace", "pcapng")?;
        let mut command = Command::new(program);
        command.arg("nstrace").arg(&path).arg("--attached");
        command.arg(format!("--time={}ms", wanted.time.as_millis())).arg(format!("--size={}", wanted.size));
        command.arg(format!("--snap={}", wanted.snap)).arg("--state").arg(state);
        command.args(wanted.vservers.iter().map(|name| format!("--vserver={name}")));
        command.args(wanted.services.iter().map(|name| format!("--service={name}")));
        command.args(wanted.addresses.iter().map(|address| format!("--address={address}")));
        command.args(wanted.ports.iter().map(|port| format!("--port={port}")));
        let mut child = spawn(&mut command, Stdio::piped())?;
        let stderr = child.stderr.take().ok_or_else(|| not_done("it cannot be heard"))?;
        let mut stderr = BufReader::new(stderr.take(SAID_MOST));
        let mut first = String::new();
        let begun = tokio::time::timeout(PATIENCE, stderr.read_line(&mut first)).await;
        if !matches!(begun, Ok(Ok(_))) || !first.starts_with(BEGUN) {
            let _ = child.kill().await;
            let _ = tokio::fs::remove_file(&path).await;
            let why = first.trim().trim_start_matches("bascule nstrace: ");
            return Err(not_done(if why.is_empty() { "it does not begin" } else { why }));
        }
        evict(state, TRACES, &name);
        let stop = child.stdin.take();
        *self.trace.lock() = Some(Running {
            name: name.clone(),
            started: wall(),
            actor: Name::clone(actor),
            wanted: wanted.clone(),
            stop,
            ended: None,
        });
        let trace = Arc::clone(&self.trace);
        let own = name.clone();
        tokio::spawn(async move {
            let said = said_at_the_end(child).await;
            if let Some(running) = trace.lock().as_mut().filter(|running| running.name == own) {
                running.ended = Some(said);
                running.stop = None;
            }
        });
        Ok(name)
    }

    /// Ends the capture that runs; its name. `None`: none runs.
    pub async fn stop(&self) -> Option<String> {
        let name = {
            let mut trace = self.trace.lock();
            let running = trace.as_mut().filter(|running| running.ended.is_none())?;
            // Closed, and that is the word.
            running.stop = None;
            running.name.clone()
        };
        let ended = || self.last(|trace| trace.name != name || trace.ended.is_some()).unwrap_or(true);
        let until = tokio::time::Instant::now() + PATIENCE;
        while !ended() && tokio::time::Instant::now() < until {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        Some(name)
    }

    /// Makes an archive; what could not be had for it.
    pub async fn archive(&self) -> Result<(Made, Vec<String>), Problem> {
        let _turn = self.turn.lock().await;
        let (program, state) = self.places()?;
        let (name, path) = place(state, ARCHIVES, "bascule-support", "tar.gz")?;
        let mut command = Command::new(program);
        command.arg("support").arg(&path).arg("--state").arg(state);
        let child = spawn(&mut command, Stdio::null())?;
        let done = tokio::time::timeout(ARCHIVE_PATIENCE, child.wait_with_output()).await;
        let done =
            done.map_err(|_| not_done("it does not come to an end"))?.map_err(|error| not_done(&error.to_string()))?;
        if !done.status.success() {
            let _ = tokio::fs::remove_file(&path).await;
            return Err(not_done(String::from_utf8_lossy(&done.stderr).trim().trim_start_matches("bascule support: ")));
        }
        let said = String::from_utf8_lossy(&done.stdout).into_owned();
        let left_out = said.lines().filter_map(|line| line.strip_prefix("left out: ")).map(str::to_owned).collect();
        evict(state, ARCHIVES, &name);
        let made = self.archives().into_iter().find(|made| made.name == name);
        Ok((made.ok_or_else(|| not_done("it is not there"))?, left_out))
    }

    fn places(&self) -> Result<(&Path, &Path), Problem> {
        match (&self.program, &self.state) {
            (Some(program), Some(state)) => Ok((program, state)),
            _ => Err(Problem::new(StatusCode::CONFLICT, "no_place", "there is no state directory to write it into")),
        }
    }
}

// === impl Made ===

impl Made {
    pub fn href(&self, collection: &str) -> String {
        format!("/api/v1/{collection}/{}", self.name)
    }
}

/// A new file's name and place, once there is room for it.
fn place(state: &Path, folder: &str, what: &str, kind: &str) -> Result<(String, PathBuf), Problem> {
    use std::os::unix::fs::DirBuilderExt as _;
    let folder = state.join(folder);
    let said = |error: std::io::Error| not_done(&format!("{}: {error}", folder.display()));
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(said)?;
    let free = super::machine::room(&folder).map_err(said)?.free;
    if free < KEEP_FREE {
        let detail = format!("{} has {} MiB left; make room first", folder.display(), free >> 20);
        return Err(Problem::new(StatusCode::INSUFFICIENT_STORAGE, "disk_full", detail));
    }
    let stem = format!("{what}-{}", jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S.%6fZ"));
    let names =
        (0..10).map(|again| if again == 0 { format!("{stem}.{kind}") } else { format!("{stem}-{again}.{kind}") });
    let free = names.map(|name| (folder.join(&name), name)).find(|(path, _)| !path.exists());
    free.map(|(path, name)| (name, path)).ok_or_else(|| Problem::busy("ten were made within this second"))
}

/// Makes room for `new`, once it is there: what fails costs no older one.
fn evict(state: &Path, folder: &str, new: &str) {
    for old in made(&state.join(folder)).iter().filter(|old| old.name != new).skip(KEPT - 1) {
        if let Err(error) = std::fs::remove_file(&old.path) {
            tracing::warn!(%error, file = %old.path.display(), "it cannot be removed to make room");
        }
    }
}

fn made(folder: &Path) -> Vec<Made> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<Made> = entries
        .filter_map(|entry| {
            let about = entry.metadata().ok().filter(std::fs::Metadata::is_file)?;
            let at = about.modified().unwrap_or(SystemTime::UNIX_EPOCH).duration_since(UNIX_EPOCH).unwrap_or_default();
            let at = Wall(i64::try_from(at.as_micros()).unwrap_or(i64::MAX));
            Some(Made { name: entry.file_name().into_string().ok()?, path: entry.path(), bytes: about.len(), at })
        })
        .collect();
    // The time stands in the name.
    all.sort_by(|a, b| b.name.cmp(&a.name));
    all
}

fn spawn(command: &mut Command, stdin: Stdio) -> Result<Child, Problem> {
    // Where it is told to ask another appliance, or as somebody else, this one is meant all the same.
    for variable in ["BASCULE_URL", "BASCULE_TOKEN", "BASCULE_USER", "BASCULE_PASSWORD"] {
        command.env_remove(variable);
    }
    command.stdin(stdin).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command.spawn().map_err(|error| not_done(&format!("this program cannot be started once more: {error}")))
}

/// The last thing that a capture says: `12 packets, 3456 bytes; the time is over`.
async fn said_at_the_end(mut child: Child) -> String {
    let mut said = String::new();
    if let Some(stdout) = child.stdout.take() {
        let _ = stdout.take(SAID_MOST).read_to_string(&mut said).await;
    }
    let status = child.wait().await;
    let last = said.lines().last().and_then(|line| line.split_once(": ")).map(|(_, last)| last.to_owned());
    last.unwrap_or_else(|| match status {
        Ok(status) => format!("it ended with {status}"),
        Err(error) => format!("it ended: {error}"),
    })
}

fn not_done(why: &str) -> Problem {
    Problem::new(StatusCode::CONFLICT, "not_done", why)
}

// === impl Wanted ===

impl Wanted {
    /// For the journal, and for whoever asks what is captured.
    pub fn document(&self) -> Value {
        serde_json::json!({
            "vservers": self.vservers, "services": self.services, "addresses": self.addresses, "ports": self.ports,
            "seconds": self.time.as_secs(), "size_mib": self.size, "snap": self.snap,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_few_are_kept_and_a_name_is_never_given_twice() {
        let state = tempfile::tempdir().unwrap();
        let mut names = Vec::new();
        for _ in 0..8 {
            let (name, path) = place(state.path(), "support", "bascule-support", "tar.gz").unwrap();
            assert!(!names.contains(&name));
            std::fs::write(path, "x").unwrap();
            evict(state.path(), "support", &name);
            names.push(name);
        }
        assert_eq!(made(&state.path().join("support")).len(), KEPT);
    }

    #[tokio::test]
    async fn without_a_state_directory_nothing_is_begun() {
        let tools = Tools::new(None, None);
        assert_eq!(tools.start(&Wanted::default(), &"admin:a".into()).await.unwrap_err().code, "no_place");
        assert_eq!(tools.archive().await.unwrap_err().code, "no_place");
        assert!(tools.stop().await.is_none() && tools.traces().is_empty());
    }

    #[tokio::test]
    async fn what_a_program_says_instead_of_beginning_is_told_and_no_older_capture_goes_for_it() {
        let state = tempfile::tempdir().unwrap();
        let program = state.path().join("program");
        std::fs::write(&program, "#!/bin/sh\necho 'bascule nstrace: no vserver web' >&2\nexit 1\n").unwrap();
        std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let old: Vec<_> = (1..=KEPT).map(|n| state.path().join(TRACES).join(format!("nstrace-{n}.pcapng"))).collect();
        std::fs::create_dir(state.path().join(TRACES)).unwrap();
        old.iter().for_each(|old| std::fs::write(old, "x").unwrap());
        let tools = Tools::new(Some(program), Some(state.path().to_owned()));
        let problem = tools.start(&Wanted::default(), &"admin:a".into()).await.unwrap_err();
        assert_eq!((problem.code, &*problem.detail), ("not_done", "no vserver web"));
        assert!(tools.last(|_| ()).is_none());
        assert!(old.iter().all(|old| old.exists()), "what does not begin costs no older one");
        assert_eq!(tools.traces().len(), KEPT);
    }
}
