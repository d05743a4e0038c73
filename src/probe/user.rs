//! USER: a script of the operator's, in a process group of its own.
//!
//! | what a script may do | what bounds it |
//! |---|---|
//! | run on, ignore SIGTERM | the time-out of the monitor: the whole group is killed (SIGKILL) |
//! | leave processes behind | the group is killed when the script ends, too |
//! | print for ever | 64 KiB, then it has failed |
//! | use memory, CPU, files | limits of the kernel for each process, set before the script begins |
//! | be many | 64 scripts at once; what would have to wait longer than its time-out is void |
//!
//! It gets no shell words, no input, and of the environment PATH and what is its own. Exit status 0 is up, 126 and 127
//! (cannot be executed) say nothing, everything else is down. The first line it prints is shown.
//!
//! The limits are set by `/bin/sh` in the child, with `ulimit`, and not between fork and exec: that way the standard
//! library uses `posix_spawn`, which does not copy the page tables of a large process while its threads wait.

use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use nix::sys::signal::{Signal, killpg};
use nix::unistd::Pid;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;

use super::{Answer, Deadline, Found, Miss, Surroundings, quoted};
use crate::model::check::Target;
use crate::model::dialogue::{Script, ScriptLimits, Value};

/// Scripts that run at once.
const SCRIPTS_MAX: usize = 64;

/// What a script may print. Bytes.
const OUTPUT_MAX: usize = 64 * 1024;

/// How long the output of a script that has ended is waited for: what it left behind may hold the pipe.
const REST: Duration = Duration::from_millis(50);

const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

static RUNNING: Semaphore = Semaphore::const_new(SCRIPTS_MAX);

/// The processes of a script; killed when this is dropped, however the sample ends.
struct Group(Option<Pid>);

pub(super) async fn probe(
    target: &Target,
    address: SocketAddr,
    script: &Script,
    check: &str,
    around: &Surroundings,
    deadline: Deadline,
) -> Found {
    let program = program(script, around).await?;
    let mut environment = Vec::new();
    for (name, value) in &script.environment {
        let value = match value {
            Value::Plain(text) => text.to_string(),
            Value::Secret(secret) => around.secret(secret).await?,
        };
        environment.push((&**name, value));
    }
    let waited = tokio::time::timeout_at(deadline.at, RUNNING.acquire()).await;
    let Ok(Ok(_permit)) = waited else {
        return Err(Miss::Void(format!("{SCRIPTS_MAX} scripts are running already")));
    };

    let left = deadline.at.saturating_duration_since(tokio::time::Instant::now());
    let mut command = Command::new("/bin/sh");
    command
        .arg("-c")
        .arg(limits(&script.limits, deadline.timeout))
        .arg(&program)
        .arg(address.ip().to_string())
        .arg(address.port().to_string())
        .args(script.arguments.iter().map(|argument| &**argument))
        .env_clear()
        .envs(environment)
        .env("PATH", PATH)
        .env("BASCULE_CHECK", check)
        .env("BASCULE_HOST", target.host.to_string())
        .env("BASCULE_ADDRESS", address.ip().to_string())
        .env("BASCULE_PORT", address.port().to_string())
        .env("BASCULE_TIMEOUT_MS", left.as_millis().to_string())
        .envs(target.source.map(|source| ("BASCULE_SOURCE", source.to_string())))
        .current_dir(program.parent().unwrap_or(Path::new("/")))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    let child = command.spawn().map_err(|error| Miss::Void(format!("the script cannot be started: {error}")))?;
    let group = Group(child.id().and_then(|id| i32::try_from(id).ok()).map(Pid::from_raw));
    let ended = watch(child, deadline).await;
    drop(group);
    let (status, output) = ended?;
    judge(status, &output)
}

/// The script as it lies in the directory, links resolved: none leads out of it, and nobody else may change it.
async fn program(script: &Script, around: &Surroundings) -> Result<PathBuf, Miss> {
    let directory = around.folder.join(&*script.directory);
    let void = |why: String| Miss::Void(format!("the script {}: {why}", script.name));
    let real = |path: PathBuf| async move { tokio::fs::canonicalize(path).await };
    let directory = real(directory).await.map_err(|error| void(format!("its folder cannot be read: {error}")))?;
    let program = real(directory.join(&*script.name)).await.map_err(|error| void(error.to_string()))?;
    if program.parent() != Some(&*directory) {
        return Err(void("it is a link out of the folder for scripts".to_owned()));
    }
    let about = tokio::fs::metadata(&program).await.map_err(|error| void(error.to_string()))?;
    let mode = about.permissions().mode();
    if !about.is_file() || mode & 0o111 == 0 {
        return Err(void("it is no executable file".to_owned()));
    }
    if mode & 0o002 != 0 {
        return Err(void("everybody may change it (mode o+w)".to_owned()));
    }
    Ok(program)
}

/// What the shell in the child does before it becomes the script. A limit that cannot be raised is lower already.
fn limits(limits: &ScriptLimits, timeout: Duration) -> String {
    let cpu = limits.cpu.unwrap_or(timeout).as_secs_f64().ceil().max(1.0);
    let (memory, file) = (limits.memory / 1024, limits.file_size.div_ceil(512));
    let files = limits.open_files;
    format!(
        "for l in '-c 0' '-t {cpu}' '-v {memory}' '-f {file}' '-n {files}'; do ulimit $l 2>/dev/null; done; exec \"$0\" \"$@\""
    )
}

/// Waits for the end of the script and takes its output; whichever bound is met first ends it.
async fn watch(mut child: Child, deadline: Deadline) -> Result<(ExitStatus, Vec<u8>), Miss> {
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let mut output = Vec::new();
    let mut errors = Vec::new();
    let status = {
        let reading = async {
            tokio::join!(read(stdout, &mut output), read(stderr, &mut errors));
        };
        tokio::pin!(reading);
        let mut is_read = false;
        let ended = loop {
            tokio::select! {
                status = child.wait() => break status,
                () = &mut reading, if !is_read => is_read = true,
                () = tokio::time::sleep_until(deadline.at) => {
                    return Err(Miss::Fail(format!(
                        "timed out after {} ms; the script and what it started were killed",
                        deadline.timeout.as_millis()
                    )));
                }
            }
        };
        if !is_read {
            let _ = tokio::time::timeout(REST, &mut reading).await;
        }
        ended.map_err(|error| Miss::Void(format!("the end of the script cannot be waited for: {error}")))?
    };
    if output.len() > OUTPUT_MAX || errors.len() > OUTPUT_MAX {
        return Err(Miss::Fail(format!("the script printed more than {} KiB", OUTPUT_MAX / 1024)));
    }
    if output.trim_ascii().is_empty() {
        output = errors;
    }
    Ok((status, output))
}

/// Reads to the end, or to one byte more than the bound: then the pipe is closed, and who goes on printing gets EPIPE.
async fn read(pipe: Option<impl AsyncRead + Unpin>, into: &mut Vec<u8>) {
    if let Some(pipe) = pipe {
        let _ = pipe.take(OUTPUT_MAX as u64 + 1).read_to_end(into).await;
    }
}

fn judge(status: ExitStatus, output: &[u8]) -> Found {
    let line = output.split(|&b| b == b'\n').map(<[u8]>::trim_ascii).find(|line| !line.is_empty());
    let said = line.map_or_else(String::new, |line| format!(": {}", quoted(line)));
    match (status.code(), status.signal()) {
        (Some(0), _) => Ok(Answer::pass(format!("the script passed{said}"))),
        (Some(code @ (126 | 127)), _) => Err(Miss::Void(format!("the script cannot be executed ({code}){said}"))),
        (Some(code), _) => Err(Miss::Fail(format!("the script ended with {code}{said}"))),
        (None, signal) => {
            let name = signal.and_then(|number| Signal::try_from(number).ok());
            let name = name.map_or_else(|| "a signal".to_owned(), |signal| signal.to_string());
            Err(Miss::Fail(format!("the script was ended by {name}{said}")))
        }
    }
}

// === impl Group ===

impl Drop for Group {
    fn drop(&mut self) {
        // The leader may have been reaped by now. Its number is not given out again while others are in the group, and
        // where nobody is, the kernel would have to have gone through all its numbers within this moment.
        if let Some(leader) = self.0 {
            let _ = killpg(leader, Signal::SIGKILL);
        }
    }
}
