//! Files of uploaded certificates and keys, `certificates/` in the state directory. Only the appliance can read them.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use sha2::{Digest, Sha256};

const FOLDER: &str = "certificates";
/// A file that nothing names is taken away once it is this old; before, it may be about to be named.
const UNNAMED: Duration = Duration::from_secs(3_600);
/// Bytes of a name that stand in a file's.
const NAME_BYTES_MOST: usize = 40;
/// Older versions of FILE that are looked at.
const VERSIONS: u32 = 5;

/// A file that was written, or was there with the same content.
#[derive(Debug, PartialEq)]
pub(super) struct File {
    /// Key of the table.
    pub of: &'static str,
    pub path: PathBuf,
    /// It was not there before.
    new: bool,
}

/// Writes the texts of a certificate named `name`. Files are named after their content, so that none ever changes.
pub(super) fn write(state: &Path, name: &str, uploads: &[(&'static str, String)]) -> io::Result<Vec<File>> {
    let folder = fs::canonicalize(state)?.join(FOLDER);
    match DirBuilder::new().mode(0o700).create(&folder) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let mut files = Vec::new();
    for (of, text) in uploads {
        let path = folder.join(file_name(name, of, text));
        let new = write_new(&path, text)?;
        files.push(File { of, path, new });
    }
    fs::File::open(&folder)?.sync_all()?;
    Ok(files)
}

/// False where it is there already.
fn write_new(path: &Path, text: &str) -> io::Result<bool> {
    let mut file = match OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(false),
        file => file?,
    };
    let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_all());
    if written.is_err() {
        let _ = fs::remove_file(path);
    }
    written.map(|()| true)
}

/// Letters and digits of the name, and a hash of everything.
fn file_name(name: &str, of: &str, text: &str) -> String {
    let mut hasher = Sha256::new();
    for part in [name, of, text] {
        hasher.update(part);
        hasher.update([0]);
    }
    let hash: String = hasher.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let plain: String = name.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(NAME_BYTES_MOST).collect();
    let ending = if of == "key" { "key" } else { "pem" };
    format!("{plain}-{hash}.{ending}")
}

/// Takes files away that neither the running configuration nor FILE nor an older version of it names.
pub(super) fn clean(state: &Path, file: Option<&Path>, running: &[Arc<str>]) {
    // They stand beside the file itself, wherever a link to it is.
    let file = file.map(|file| fs::canonicalize(file).unwrap_or_else(|_| file.to_owned()));
    let versions = file.into_iter().flat_map(|file| {
        let shown = file.display().to_string();
        let old = (1..=VERSIONS).map(move |n| PathBuf::from(format!("{shown}.{n}")));
        std::iter::once(file).chain(old)
    });
    let mut texts: Vec<String> = running.iter().map(ToString::to_string).collect();
    texts.extend(versions.filter_map(|version| fs::read_to_string(version).ok()));
    // What other files say is not known here.
    if texts.iter().any(|text| text.lines().any(includes)) {
        return;
    }
    let Ok(entries) = fs::read_dir(state.join(FOLDER)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let is_old = || {
            let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|at| at.elapsed().ok());
            age.is_some_and(|age| age > UNNAMED)
        };
        if !texts.iter().any(|text| text.contains(&name)) && is_old() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

fn includes(line: &str) -> bool {
    line.trim_start().starts_with("include") && line.contains(['"', '\''])
}

// === impl File ===

impl File {
    /// Takes it away, unless it was there before.
    pub fn forget(&self) {
        if self.new {
            let _ = fs::remove_file(&self.path);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn what_is_kept_is_readable_by_its_owner_alone_and_stays_in_its_folder() {
        let state = tempfile::tempdir().unwrap();
        let files = write(state.path(), "../../etc/x", &[("certificate", "A".into()), ("key", "B".into())]).unwrap();
        for file in &files {
            assert!(file.path.starts_with(fs::canonicalize(state.path()).unwrap().join(FOLDER)), "{file:?}");
            assert_eq!(fs::metadata(&file.path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let folder = state.path().join(FOLDER);
        assert_eq!(fs::metadata(&folder).unwrap().permissions().mode() & 0o777, 0o700);
        let again = write(state.path(), "../../etc/x", &[("key", "B".into())]).unwrap();
        again[0].forget();
        assert_eq!(fs::read_to_string(&files[1].path).unwrap(), "B", "it was there before and may be in use");
        files[1].forget();
        assert!(!files[1].path.exists());
        assert!(file_name(&"n".repeat(300), "key", "B").len() < 100);
    }

    #[test]
    fn what_nothing_names_is_taken_away_once_it_is_old() {
        let state = tempfile::tempdir().unwrap();
        let uploads = [("certificate", "A".to_owned()), ("key", "B".to_owned())];
        let files = write(state.path(), "a", &uploads).unwrap();
        let (config, folder) = (state.path().join("box.toml"), state.path().join("repository"));
        fs::create_dir(&folder).unwrap();
        std::os::unix::fs::symlink(folder.join("real.toml"), &config).unwrap();
        fs::write(&config, "").unwrap();
        fs::write(folder.join("real.toml.3"), format!("key = {:?}", files[1].path)).unwrap();
        let clean = |running: &str| clean(state.path(), Some(&config), &[running.into()]);
        clean("");
        assert!(files[0].path.exists(), "it is new and may be about to be named");
        for file in &files {
            let old = std::time::SystemTime::now() - UNNAMED * 2;
            fs::File::options().write(true).open(&file.path).unwrap().set_modified(old).unwrap();
        }
        clean(&format!("certificate = {:?}", files[0].path));
        assert!(files.iter().all(|file| file.path.exists()));
        clean("include = [\"x\"]");
        assert!(files[0].path.exists(), "nobody knows what other files say");
        clean("");
        assert!(!files[0].path.exists() && files[1].path.exists());
    }
}
