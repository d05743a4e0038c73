//! FILE: written atomically, five older versions kept beside it as `FILE.1` (the newest) to `FILE.5`.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};

const VERSIONS_KEPT: u32 = 5;

/// Replaces the content of `path`; whoever reads it meanwhile sees the old text or the new one, also after a power
/// loss. Mode and owner stay; a symbolic link keeps pointing where it does.
pub fn replace(path: &Path, text: &str) -> io::Result<()> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let directory = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let old = fs::metadata(&path).ok();
    if old.as_ref().is_some_and(|m| m.permissions().readonly()) && !is_root() {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "it is read-only"));
    }
    let new = sibling(&path, "new");
    let result = write_new(&new, text, old.as_ref()).and_then(|()| {
        keep_versions(&path)?;
        fs::rename(&new, &path)?;
        File::open(directory)?.sync_all()
    });
    if result.is_err() {
        let _ = fs::remove_file(&new);
    }
    result
}

fn write_new(new: &Path, text: &str, old: Option<&fs::Metadata>) -> io::Result<()> {
    let mut file = File::create(new)?;
    file.write_all(text.as_bytes())?;
    if let Some(old) = old {
        file.set_permissions(fs::Permissions::from_mode(old.mode() & 0o7777))?;
        // Only root may give files away; where that fails the file is ours, as before.
        let _ = chown(new, Some(old.uid()), Some(old.gid()));
    }
    file.sync_all()
}

/// `FILE.4` becomes `FILE.5`, …, FILE itself becomes `FILE.1` as well, until the new text takes its name. A link is there
/// whole or not at all and needs no room: neither a kill nor a full disk leaves a torn version, or pushes a good one out.
fn keep_versions(path: &Path) -> io::Result<()> {
    for version in (1..VERSIONS_KEPT).rev() {
        let from = sibling(path, &version.to_string());
        if from.exists() {
            fs::rename(from, sibling(path, &(version + 1).to_string()))?;
        }
    }
    if path.exists() {
        let newest = sibling(path, "1");
        fs::hard_link(path, &newest).or_else(|_| copy_whole(path, &newest))?;
    }
    Ok(())
}

/// For file systems without links.
fn copy_whole(from: &Path, to: &Path) -> io::Result<()> {
    let part = sibling(from, "copy");
    let result = fs::copy(from, &part).and_then(|_| File::open(&part)?.sync_all()).and_then(|()| fs::rename(&part, to));
    if result.is_err() {
        let _ = fs::remove_file(&part);
    }
    result
}

fn sibling(path: &Path, extension: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".");
    name.push(extension);
    name.into()
}

fn is_root() -> bool {
    // The owner of our own entry in /proc is the effective user.
    fs::metadata("/proc/self").is_ok_and(|m| m.uid() == 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_older_versions_are_kept_and_the_mode_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("box.toml");
        fs::write(&path, "0").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        for n in 1..=7 {
            replace(&path, &n.to_string()).unwrap();
        }
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        assert_eq!(read("box.toml"), "7");
        assert_eq!((read("box.toml.1"), read("box.toml.5")), ("6".into(), "2".into()));
        assert!(!dir.path().join("box.toml.6").exists());
        assert!(!dir.path().join("box.toml.new").exists());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o640);
    }

    #[test]
    fn a_version_is_there_whole_whether_by_link_or_by_copy() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("box.toml");
        fs::write(&path, "old").unwrap();
        let before = fs::metadata(&path).unwrap().ino();
        replace(&path, "new").unwrap();
        assert_eq!(fs::metadata(sibling(&path, "1")).unwrap().ino(), before, "the file itself, not a copy");
        copy_whole(&path, &sibling(&path, "1")).unwrap();
        assert_eq!(fs::read_to_string(sibling(&path, "1")).unwrap(), "new");
        assert!(!sibling(&path, "copy").exists());
    }
}
