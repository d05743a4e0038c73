//! systemd-networkd: its files are written and read anew.

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use super::unit::{PREFIX, Unit};

/// Files for this boot.
const FOLDER: &str = "/run/systemd/network";
/// systemd answers within this, or does not.
const PATIENCE: Duration = Duration::from_secs(15);
/// Between two looks at whether it has.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Whether it runs. May block.
pub(super) fn runs() -> bool {
    run(Command::new("systemctl").args(["is-active", "--quiet", "systemd-networkd.service"])).is_ok()
}

/// Makes our files those of `units`, and has them read where something has changed, or in any case (`always`). May block.
pub(super) fn apply(units: &[Unit], always: bool) -> Result<(), String> {
    if write(Path::new(FOLDER), units)? || always {
        run(Command::new("networkctl").arg("reload")).map_err(|why| format!("networkctl reload: {why}"))?;
    }
    Ok(())
}

/// Whether some of our files are there. May block.
pub(super) fn has_files() -> bool {
    let mut entries = std::fs::read_dir(FOLDER).into_iter().flatten().flatten();
    entries.any(|entry| entry.file_name().to_string_lossy().starts_with(PREFIX))
}

/// What `path` lacks, and what helps where it is a right.
fn said(path: &Path, error: &std::io::Error) -> String {
    let is_right = matches!(error.raw_os_error(), Some(libc::EACCES | libc::EPERM | libc::EROFS));
    let help = "; interfaces are systemd-networkd's here, and this process may not write its files: give it the right, or \
                say `manager = \"netlink\"`, which sets static addresses without it";
    format!("{}: {error}{}", path.display(), if is_right { help } else { "" })
}

/// True where something has changed. Files of others are left alone.
fn write(folder: &Path, units: &[Unit]) -> Result<bool, String> {
    let mut changed = false;
    if !units.is_empty() {
        std::fs::create_dir_all(folder).map_err(|error| said(folder, &error))?;
    }
    for unit in units {
        let path = folder.join(&unit.file);
        if std::fs::read_to_string(&path).is_ok_and(|text| text == unit.text) {
            continue;
        }
        let new = folder.join(format!("{}.new", unit.file));
        std::fs::write(&new, &unit.text).map_err(|error| said(&new, &error))?;
        std::fs::rename(&new, &path).map_err(|error| said(&path, &error))?;
        changed = true;
    }
    let wanted: HashSet<&str> = units.iter().map(|unit| unit.file.as_str()).collect();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(PREFIX) && !wanted.contains(name.as_str()) {
            std::fs::remove_file(entry.path()).map_err(|error| said(&entry.path(), &error))?;
            changed = true;
        }
    }
    Ok(changed)
}

/// Ends within [`PATIENCE`]; why it failed, by the last line that it says.
#[expect(clippy::disallowed_methods, reason = "on a thread for blocking work, PATIENCE at most")]
pub(super) fn run(command: &mut Command) -> Result<(), String> {
    let quiet = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = quiet.spawn().map_err(|error| format!("cannot be run: {error}"))?;
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(None) if begun.elapsed() < PATIENCE => std::thread::sleep(LOOK_EVERY),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("no answer within {} s", PATIENCE.as_secs()));
            }
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(_)) | Err(_) => break,
        }
    }
    let output = child.wait_with_output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stderr);
    Err(said.trim().lines().next_back().unwrap_or("failed").to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_written_where_they_differ_and_only_our_own_go() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        std::fs::write(folder.join("50-dhcp.network"), "[Match]\n").unwrap();
        let unit = |name: &str, text: &str| Unit { file: format!("{PREFIX}{name}.network"), text: text.to_owned() };
        let there = || {
            let names =
                std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let mut names: Vec<String> = names.collect();
            names.sort();
            names
        };
        assert_eq!(write(folder, &[unit("eth0", "a"), unit("eth1", "b")]), Ok(true));
        assert_eq!(write(folder, &[unit("eth0", "a"), unit("eth1", "b")]), Ok(false), "nothing has changed");
        assert_eq!(write(folder, &[unit("eth0", "c")]), Ok(true));
        assert_eq!(there(), ["10-bascule-eth0.network", "50-dhcp.network"]);
        assert_eq!(std::fs::read_to_string(folder.join("10-bascule-eth0.network")).unwrap(), "c");
        assert_eq!(write(folder, &[]), Ok(true));
        assert_eq!(there(), ["50-dhcp.network"]);
    }

    #[test]
    fn what_systemd_says_is_told_and_a_missing_right_names_what_helps() {
        assert_eq!(run(Command::new("sh").args(["-c", "echo one >&2; echo two >&2; exit 1"])), Err("two".to_owned()));
        assert_eq!(run(Command::new("sh").args(["-c", "exit 0"])), Ok(()));
        let error = std::io::Error::from_raw_os_error(libc::EROFS);
        let told = said(Path::new("/run/systemd/network"), &error);
        assert!(told.starts_with("/run/systemd/network: Read-only file system"), "{told}");
        assert!(told.contains("manager = \"netlink\""), "{told}");
        let told = said(Path::new("/run/systemd/network"), &std::io::Error::from_raw_os_error(libc::ENOSPC));
        assert_eq!(told, "/run/systemd/network: No space left on device (os error 28)");
    }
}
