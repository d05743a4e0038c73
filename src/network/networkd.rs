//! systemd-networkd: its files are written and read anew.

use std::collections::HashSet;
use std::path::Path;
use std::process::{Command, Stdio};

use super::unit::{PREFIX, Unit};

/// Files for this boot.
const FOLDER: &str = "/run/systemd/network";

/// Whether it runs. May block.
pub(super) fn runs() -> bool {
    let asked = Command::new("systemctl")
        .args(["is-active", "--quiet", "systemd-networkd.service"])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    asked.is_ok_and(|status| status.success())
}

/// Makes our files those of `units`, and has them read where something has changed. May block.
pub(super) fn apply(units: &[Unit]) -> Result<(), String> {
    if write(Path::new(FOLDER), units)? {
        reload()?;
    }
    Ok(())
}

/// True where something has changed. Files of others are left alone.
fn write(folder: &Path, units: &[Unit]) -> Result<bool, String> {
    let said = |path: &Path, error: std::io::Error| format!("{}: {error}", path.display());
    let mut changed = false;
    if !units.is_empty() {
        std::fs::create_dir_all(folder).map_err(|error| said(folder, error))?;
    }
    for unit in units {
        let path = folder.join(&unit.file);
        if std::fs::read_to_string(&path).is_ok_and(|text| text == unit.text) {
            continue;
        }
        let new = folder.join(format!("{}.new", unit.file));
        std::fs::write(&new, &unit.text).map_err(|error| said(&new, error))?;
        std::fs::rename(&new, &path).map_err(|error| said(&path, error))?;
        changed = true;
    }
    let wanted: HashSet<&str> = units.iter().map(|unit| unit.file.as_str()).collect();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(PREFIX) && !wanted.contains(name.as_str()) {
            std::fs::remove_file(entry.path()).map_err(|error| said(&entry.path(), error))?;
            changed = true;
        }
    }
    Ok(changed)
}

fn reload() -> Result<(), String> {
    let done = Command::new("networkctl").arg("reload").stdin(Stdio::null()).output();
    let output = done.map_err(|error| format!("networkctl cannot be run: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("networkctl reload: {}", said.trim().lines().next_back().unwrap_or("failed")))
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
}
