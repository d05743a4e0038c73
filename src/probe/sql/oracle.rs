//! Oracle, through a process of its own for each statement: its driver has no time-out for a server that takes the
//! connection and says nothing, and panics on some answers. Whatever it does, its process ends at the deadline.
//!
//! | what the process may do | what bounds it |
//! |---|---|
//! | hang | the deadlines: it is killed |
//! | use memory, CPU | 1 GiB of address space, 60 s of CPU, set before it begins |
//! | say much | 64 KiB, then it is killed |
//! | be many | 8 at once; what would have to wait longer than its time is not asked |
//! | outlive this one | it ends itself a second after its time |
//!
//! What to ask goes over its standard input: arguments and environment of a process can be read by others.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::Command;
use tokio::sync::Semaphore;

use super::helper::{Line, Request};
use super::{Access, Clock, Credentials, Failed, Said, Statement, Trouble, tame};
use crate::model::sql::Text;

const HELPERS_MAX: usize = 8;
const OUTPUT_MAX: u64 = 64 * 1024;
/// KiB and seconds.
const LIMITS: &str =
    "ulimit -c 0 2>/dev/null; ulimit -t 60 2>/dev/null; ulimit -v 1048576 2>/dev/null; exec \"$0\" sql-probe";

static RUNNING: Semaphore = Semaphore::const_new(HELPERS_MAX);

pub(super) async fn ask(
    statement: &Statement<'_>,
    text: &Text<'_>,
    login: &Credentials,
    program: Option<PathBuf>,
    clock: Clock,
) -> Result<Said, Failed> {
    let here = |why: String| (Trouble::Here, why);
    if !cfg!(feature = "oracle") {
        return Err(here("this build has no driver for ORACLE; build it with `--features oracle`".to_owned()));
    }
    let waited = tokio::time::timeout_at(clock.total(), RUNNING.acquire()).await;
    let Ok(Ok(_permit)) = waited else {
        return Err(here(format!("{HELPERS_MAX} statements for ORACLE are running already")));
    };
    // The file that this process runs, whatever stands at its path by now.
    let program = program.unwrap_or_else(|| format!("/proc/{}/exe", std::process::id()).into());
    let times = statement.times;
    let request = Request {
        dsn: statement.database.dsn.to_string(),
        user: login.user.clone(),
        password: login.password.clone(),
        sql: text.sql.clone(),
        binds: text.values.iter().map(|(name, value)| (name.clone(), (*value).to_owned())).collect(),
        commits: statement.access == Access::Act,
        // It shall break the call off by itself before it is killed: only then does the database hear of it.
        call_ms: millis(times.statement.min(times.total) * 9 / 10),
        life_ms: millis(times.total + Duration::from_secs(1)),
    };
    let request = serde_json::to_vec(&request).map_err(|error| here(error.to_string()))?;
    let mut child = Command::new("/bin/sh")
        .arg("-c")
        .arg(LIMITS)
        .arg(&program)
        .env_clear()
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| here(format!("the process for ORACLE cannot be started: {error}")))?;
    let (Some(mut input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(here("the process for ORACLE has no pipes".to_owned()));
    };
    let mut lines = BufReader::new(output.take(OUTPUT_MAX)).lines();
    let connecting = async {
        // One that does not listen will not answer either.
        let _ = input.write_all(&request).await;
        drop(input);
        next(&mut lines).await
    };
    match clock.connecting(connecting).await? {
        Some(Line::Connected) => {}
        Some(Line::Trouble(trouble, why)) => return Err((trouble, tame(&why))),
        _ => return Err((Trouble::Connect, "the process for ORACLE ended while it logged in".to_owned())),
    }
    match clock.asking(next(&mut lines)).await? {
        Some(Line::Value(value)) => Ok(Said::Value(value)),
        Some(Line::NoRow) => Ok(Said::NoRow),
        Some(Line::Count(count)) => Ok(Said::Count(count)),
        Some(Line::Trouble(trouble, why)) => Err((trouble, tame(&why))),
        _ => Err((Trouble::Database, "the process for ORACLE ended within the statement".to_owned())),
    }
}

async fn next<R: tokio::io::AsyncBufRead + Unpin>(lines: &mut tokio::io::Lines<R>) -> Option<Line> {
    serde_json::from_str(&lines.next_line().await.ok()??).ok()
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX).max(1)
}
