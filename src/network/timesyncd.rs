//! systemd-timesyncd: `[time]` is written for it, and it begins anew.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use super::networkd::run;
use crate::model::id::Name;
use crate::snapshot::Cell;

/// A drop-in for this boot; one with a larger number would win.
const FOLDER: &str = "/run/systemd/timesyncd.conf.d";
const FILE: &str = "10-bascule.conf";
const UNIT: &str = "systemd-timesyncd.service";
/// What did not work is tried again.
const RETRY: Duration = Duration::from_secs(30);

/// Has the machine ask those that `[time]` names, as long as it names some.
pub(super) async fn keep(cell: Arc<Cell>) {
    let mut published = cell.subscribe();
    // What was carried out; the machine's own settings are left alone until somebody is named.
    let mut applied: Vec<Name> = Vec::new();
    let mut failed = false;
    loop {
        published.borrow_and_update();
        let snapshot = cell.load_full();
        let servers = &snapshot.model.time_servers;
        if failed || *servers != applied {
            let wanted = servers.clone();
            let done = tokio::task::spawn_blocking(move || apply(Path::new(FOLDER), &wanted, failed)).await;
            let why = match done {
                Ok(done) => done.err(),
                Err(_) => Some("the time servers could not be set: a bug; its message stands in the log".to_owned()),
            };
            if let Some(why) = why.as_ref().filter(|_| !failed || *servers != applied) {
                tracing::warn!("time: {why}");
            }
            failed = why.is_some();
            applied.clone_from(servers);
            *snapshot.network.time.lock() = why;
        }
        tokio::select! {
            changed = published.changed() => if changed.is_err() { return },
            () = tokio::time::sleep(RETRY), if failed => {}
        }
    }
}

/// `again`: what was written may not have been read.
fn apply(folder: &Path, servers: &[Name], again: bool) -> Result<(), String> {
    if !servers.is_empty() && run(Command::new("systemctl").args(["is-active", "--quiet", UNIT])).is_err() {
        return Err("time servers are asked by systemd-timesyncd, which does not run here: install it and stop other \
                    time daemons, or leave `[time]` out and configure the one that runs"
            .to_owned());
    }
    if write(folder, servers)? || (again && !servers.is_empty()) {
        run(Command::new("systemctl").args(["try-restart", UNIT]))
            .map_err(|why| format!("systemctl try-restart {UNIT}: {why}"))?;
    }
    Ok(())
}

/// True where something has changed.
fn write(folder: &Path, servers: &[Name]) -> Result<bool, String> {
    let path = folder.join(FILE);
    let said = |error: std::io::Error| {
        let is_right = matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM | libc::EROFS));
        let help = "; this process may not write what systemd-timesyncd reads: give it the right, or leave `[time]` out \
                    and write `NTP=` into /etc/systemd/timesyncd.conf";
        format!("{}: {error}{}", path.display(), if is_right { help } else { "" })
    };
    if servers.is_empty() {
        return match std::fs::remove_file(&path) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(said(error)),
        };
    }
    let text = text(servers);
    if std::fs::read_to_string(&path).is_ok_and(|known| known == text) {
        return Ok(false);
    }
    std::fs::create_dir_all(folder).map_err(said)?;
    let new = folder.join(format!("{FILE}.new"));
    std::fs::write(&new, text).map_err(said)?;
    // It runs as a user of its own.
    std::fs::set_permissions(&new, std::fs::Permissions::from_mode(0o644)).map_err(said)?;
    std::fs::rename(&new, &path).map_err(said)?;
    Ok(true)
}

/// The first line empties what other files name.
fn text(servers: &[Name]) -> String {
    format!("# Written by bascule from [time]; changes here are lost.\n[Time]\nNTP=\nNTP={}\n", servers.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_stand_in_a_file_that_others_can_read_and_go_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("conf.d");
        let servers: Vec<Name> = vec!["ntp.example.com".into(), "192.0.2.123".into()];
        assert_eq!(write(&path, &[]), Ok(false), "nothing was ever there");
        assert_eq!(write(&path, &servers), Ok(true));
        assert_eq!(write(&path, &servers), Ok(false), "nothing has changed");
        let file = path.join(FILE);
        let expected = "# Written by bascule from [time]; changes here are lost.\n[Time]\nNTP=\n\
                        NTP=ntp.example.com 192.0.2.123\n";
        assert_eq!(std::fs::read_to_string(&file).unwrap(), expected);
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o644);
        assert_eq!(write(&path, &[]), Ok(true));
        assert!(!file.exists());
    }
}
