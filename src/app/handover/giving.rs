//! The side of the process that serves.

use std::collections::HashSet;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use super::wire::{self, Line, Said};
use super::{LOADED_WITHIN, READY_WITHIN, VARIABLE};
use crate::app::{RunOptions, supervised};
use crate::config::Problem;
use crate::control::{Handle, World};
use crate::dataplane::handed::Socket;
use crate::files;
use crate::model::state::VserverState;

/// How long deliveries that are under way may take to end: of those that have not the new process sends the same again.
const HUSHED_WITHIN: Duration = Duration::from_secs(2);

/// The new process says again and again what it sees: one that does not stands still. As long as it may take to read a
/// large state.
const SILENT: Duration = Duration::from_secs(20);

/// Vservers that a reason names.
const NAMED_MOST: usize = 10;

/// Between two looks at whether the other process is there still.
const LOOK: Duration = Duration::from_millis(100);

/// What a process needs to hand itself over.
pub(in crate::app) struct Giver {
    /// The program, by the name that it was started by: what lies there now is what is started.
    program: PathBuf,
    /// State is on disk, where the next process finds it.
    keeps: bool,
    /// FILE, and what the command line says in its place: what the next process begins with.
    config: PathBuf,
    set: Vec<(String, String)>,
}

/// The process that serves from now on.
pub(in crate::app) struct Heir {
    child: Child,
}

/// A process that is killed unless it is let go.
struct Started(Option<Child>);

// === impl Giver ===

impl Giver {
    /// To be called at the start: once the program is replaced, its process no longer knows its name.
    pub fn new(options: &RunOptions) -> Giver {
        Giver {
            program: std::env::current_exe().unwrap_or_default(),
            keeps: !options.ephemeral,
            config: options.config.clone(),
            set: options.set.clone(),
        }
    }

    /// Hands over, or says why not; then no other process is there, and the store may be taken back.
    pub async fn give(&self, handle: &Handle, sockets: impl Future<Output = Vec<Socket>>) -> Result<Heir, String> {
        if !self.keeps {
            return Err("state is kept in memory, where no other process finds it".to_owned());
        }
        if std::process::id() == 1 {
            return Err("this is process 1: its end would end the container".to_owned());
        }
        let unsaved = handle.read(|world| world.config.unsaved).await.map_err(|e| e.to_string())?;
        if unsaved {
            return Err("the running configuration is not saved, and the new process begins with FILE: save it first \
                        (`save config`), or take FILE again (`bascule reload`)"
                .to_owned());
        }
        self.means_what_runs(handle).await?;
        let said = |error: io::Error| format!("cannot start {}: {error}", self.program.display());
        let (ours, theirs) = UnixStream::pair().map_err(said)?;
        let mut child = self.start(theirs).map_err(said)?;
        let pid = child.pid();
        tracing::info!(pid, program = %self.program.display(), "handing over");
        let gave = self.converse(handle, ours, pid, sockets.await).await;
        match gave {
            Ok(()) => child.let_go().ok_or_else(|| "there is no process".to_owned()),
            Err(why) => {
                // It must not hold the store when this process takes it again.
                let ended = tokio::task::spawn_blocking(move || child.end()).await.ok().flatten();
                Err(ended.map_or(why.clone(), |status| format!("{why} ({status})")))
            }
        }
    }

    /// A handover changes the program alone: refused where FILE, as it is on the disk now, means another configuration
    /// than the running one.
    async fn means_what_runs(&self, handle: &Handle) -> Result<(), String> {
        let (file, set) = (self.config.clone(), self.set.clone());
        let loading = tokio::task::spawn_blocking(move || files::load(&file, &set));
        let loaded = loading.await.map_err(|e| e.to_string())?;
        let running = handle.read(|world| world.config.hash.clone()).await.map_err(|e| e.to_string())?;
        let file = self.config.display();
        match loaded {
            Ok(loaded) if *loaded.hash == *running => Ok(()),
            Ok(_) => Err(format!(
                "{file}, or a file that it names, was changed since it was read, and a handover changes nothing but the \
                 program: take it first (`bascule reload`), or write what runs over it (`save config`); `bascule diff \
                 {file}` shows what differs"
            )),
            Err(problems) => Err(format!(
                "{} ({file} does not load, and the new process begins with it): mend it, or write what runs over it \
                 (`save config`)",
                problems.first().map(Problem::plain).unwrap_or_default()
            )),
        }
    }

    fn start(&self, stdin: UnixStream) -> io::Result<Started> {
        let child = Command::new(&self.program)
            .args(std::env::args_os().skip(1))
            .env(VARIABLE, std::process::id().to_string())
            // The sign of life is the new one's to give.
            .env_remove("WATCHDOG_PID")
            .stdin(OwnedFd::from(stdin))
            .spawn()?;
        Ok(Started(Some(child)))
    }

    async fn converse(&self, handle: &Handle, ours: UnixStream, pid: u32, sockets: Vec<Socket>) -> Result<(), String> {
        let failed = |error: io::Error| match error.kind() {
            io::ErrorKind::UnexpectedEof | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionReset => {
                "the new process ended".to_owned()
            }
            _ => format!("the new process cannot be understood: {error}"),
        };
        let sending = tokio::task::spawn_blocking(move || wire::send(&ours, &sockets).map(|()| ours));
        let ours = sending.await.map_err(|e| e.to_string())?.map_err(failed)?;
        let mut line = Line::new(ours).map_err(failed)?;
        match within(LOADED_WITHIN, "to load the configuration", line.hear()).await?.map_err(failed)? {
            Said::Loaded => {}
            Said::Failed { why } => return Err(why),
            other => return Err(format!("the new process says {other:?} where it should have loaded")),
        }
        handle.hush(HUSHED_WITHIN).await;
        handle.give_store(pid).await?;
        let ready = async {
            line.say(&Said::Yours).await.map_err(failed)?;
            until_ready(handle, &mut line).await.unwrap_or_else(|error| Err(failed(error)))
        };
        within(READY_WITHIN, "to be ready", ready).await??;
        // From here on there is no way back.
        supervised::name_main_process(pid);
        let _ = line.say(&Said::Named).await;
        Ok(())
    }
}

// === impl Heir ===

impl Heir {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Returns once it has ended of a fault, and with what: then nobody serves. One that ended in peace was stopped, or
    /// has handed over itself.
    pub async fn failed(&mut self) -> ExitStatus {
        let mut looks = tokio::time::interval(LOOK);
        loop {
            looks.tick().await;
            match self.child.try_wait() {
                Ok(None) => {}
                Ok(Some(status)) if !status.success() => return status,
                Ok(Some(_)) | Err(_) => std::future::pending().await,
            }
        }
    }
}

async fn within<T>(limit: Duration, what: &str, future: impl Future<Output = T>) -> Result<T, String> {
    let late = |_| format!("the new process took more than {limit:?} {what}");
    tokio::time::timeout(limit, future).await.map_err(late)
}

async fn until_ready(handle: &Handle, line: &mut Line) -> io::Result<Result<(), String>> {
    loop {
        let Ok(said) = tokio::time::timeout(SILENT, line.hear()).await else {
            return Ok(Err(format!("the new process has said nothing for {SILENT:?}")));
        };
        match said? {
            Said::Sees { settled, down, up } => {
                let Ok(here) = handle.read(up_here).await else { return Ok(Err("the appliance is stopping".into())) };
                let missing = up.map(|up| missing(&here, &down, &up)).unwrap_or_default();
                if !missing.is_empty() {
                    // Waiting does not bring them.
                    return Ok(Err(format!("the new process has no vserver {}, which is UP here", missing.join(", "))));
                }
                if settled && lost(&here, &down).is_empty() {
                    line.say(&Said::Go).await?;
                }
            }
            Said::Serving => return Ok(Ok(())),
            Said::Failed { why } => return Ok(Err(why)),
            Said::Loaded | Said::Yours | Said::Go | Said::Named => {}
        }
    }
}

/// Vservers that are UP, themselves or by their chains.
fn up_here(world: &World<'_>) -> Vec<String> {
    let vservers = world.model.vservers.iter().zip(&world.view.vservers);
    let up = vservers.filter(|(_, view)| view.effective == VserverState::Up);
    up.map(|(vserver, _)| vserver.name.to_string()).collect()
}

/// Vservers that are UP here and that the other side does not have at all, whatever FILE says: who goes on would close
/// them. At most ten, in the order of `up_here`.
fn missing(up_here: &[String], down_there: &[String], up_there: &[String]) -> Vec<String> {
    let there: HashSet<&String> = down_there.iter().chain(up_there).collect();
    up_here.iter().filter(|name| !there.contains(name)).take(NAMED_MOST).cloned().collect()
}

/// Vservers that are UP here and not yet there: who goes on with them would answer for them with errors. One that is DOWN
/// on both sides holds up nothing.
fn lost<'a>(up_here: &'a [String], down_there: &[String]) -> Vec<&'a str> {
    let there: HashSet<&str> = down_there.iter().map(String::as_str).collect();
    up_here.iter().map(String::as_str).filter(|name| there.contains(name)).collect()
}

// === impl Started ===

impl Started {
    fn pid(&self) -> u32 {
        self.0.as_ref().map_or(0, Child::id)
    }

    fn let_go(&mut self) -> Option<Heir> {
        self.0.take().map(|child| Heir { child })
    }

    /// Ends it, and says what it ended with where that was by itself.
    fn end(&mut self) -> Option<String> {
        let mut child = self.0.take()?;
        let by_itself = (0..10).find_map(|_| {
            let ended = child.try_wait().ok().flatten();
            if ended.is_none() {
                std::thread::park_timeout(Duration::from_millis(20));
            }
            ended
        });
        let _ = child.kill();
        let _ = child.wait();
        by_itself.map(|status| status.to_string())
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(|&name| name.to_owned()).collect()
    }

    #[test]
    fn the_next_process_goes_on_once_it_sees_up_what_is_up_here_and_need_not_see_more() {
        let here = names(&["web", "api"]);
        assert_eq!(lost(&here, &names(&["web", "spare"])), ["web"], "not yet probed");
        assert!(lost(&here, &names(&["spare"])).is_empty(), "DOWN on both sides");
        assert!(lost(&here, &[]).is_empty());
        assert!(lost(&[], &names(&["web"])).is_empty(), "nothing is lost where nothing is UP");
    }

    #[test]
    fn a_vserver_that_is_up_here_and_that_the_next_process_does_not_have_is_missing() {
        let here = names(&["web", "api"]);
        assert_eq!(missing(&here, &names(&["api"]), &[]), ["web"]);
        assert!(missing(&here, &names(&["api"]), &names(&["web", "more"])).is_empty(), "it has both");
        assert!(missing(&[], &[], &names(&["web"])).is_empty());
    }

    #[test]
    fn a_new_process_that_does_not_end_is_killed_and_one_that_ended_says_how() {
        let run = |script: &str| {
            let child = Command::new("sh").args(["-c", script]).stdin(std::process::Stdio::null()).spawn();
            Started(Some(child.unwrap()))
        };
        assert_eq!(run("exit 3").end().as_deref(), Some("exit status: 3"));
        assert_eq!(run("sleep 60").end(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn who_took_over_and_fails_is_told_and_who_ends_in_peace_is_not() {
        let ends = async |script: &str| {
            let child = Command::new("sh").args(["-c", script]).stdin(std::process::Stdio::null()).spawn();
            let mut heir = Heir { child: child.unwrap() };
            let _ = heir.child.wait();
            tokio::time::timeout(Duration::from_secs(5), heir.failed()).await.ok().map(|status| status.to_string())
        };
        assert_eq!(ends("exit 70").await.as_deref(), Some("exit status: 70"));
        assert_eq!(ends("kill -KILL $$").await.as_deref(), Some("signal: 9 (SIGKILL)"));
        assert_eq!(ends("exit 0").await, None);
    }
}
