//! Whether the kernel's clock is synchronised. The kernel tells it by `adjtimex`, for which no safe call is at hand here;
//! systemd's time service passes it on (`NTPSynchronized`: what the kernel says, whichever daemon sets the clock), so that
//! service is asked. Where there is none, as in most containers, nobody can tell, and nothing is warned of.

use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::mpsc;

/// The kernel counts a clock as unsynchronised hours after its last correction: more often would tell nothing more.
const ASK_EVERY: Duration = Duration::from_secs(600);
const PATIENCE: Duration = Duration::from_secs(10);

const PROGRAM: &str = "timedatectl";

/// Asks again and again, until nobody listens.
pub async fn watch(tell: mpsc::Sender<Option<bool>>) {
    loop {
        if tell.send(ask(PROGRAM).await).await.is_err() {
            return;
        }
        tokio::select! {
            () = tokio::time::sleep(ASK_EVERY) => {}
            () = tell.closed() => return,
        }
    }
}

/// `None`: it could not be asked, or did not answer with yes or no in time.
async fn ask(program: &str) -> Option<bool> {
    let mut command = Command::new(program);
    command.args(["show", "--property=NTPSynchronized", "--value"]).env_clear().env("LC_ALL", "C");
    command.env("PATH", "/usr/bin:/bin").stdin(Stdio::null()).stderr(Stdio::null()).kill_on_drop(true);
    let output = tokio::time::timeout(PATIENCE, command.output()).await.ok()?.ok()?;
    match output.stdout.trim_ascii() {
        b"yes" if output.status.success() => Some(true),
        b"no" if output.status.success() => Some(false),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    /// A program that says this.
    fn program(dir: &tempfile::TempDir, script: &str) -> String {
        let path = dir.path().join("says");
        std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    }

    #[tokio::test]
    async fn the_answer_is_yes_or_no_and_everything_else_is_not_known() {
        for (script, answer) in [
            ("echo yes", Some(true)),
            ("echo no", Some(false)),
            ("echo maybe", None),
            ("echo yes; exit 1", None),
            ("test \"$2\" = --property=NTPSynchronized && echo no", Some(false)),
        ] {
            let dir = tempfile::tempdir().unwrap();
            assert_eq!(ask(&program(&dir, script)).await, answer, "{script}");
        }
        assert_eq!(ask("/nonexistent/timedatectl").await, None);
    }
}
