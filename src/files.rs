//! Texts on disk: configurations with their includes and zone files, and event scripts. `run`, `check` and the rehearsals
//! read them alike, so that what is checked is what runs.

mod sent;

use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::config::{self, Files, Loaded, Problem, Severity, Source};
use crate::model::scenario::Secret;

pub use sent::{Sent, to_send};

/// Includes and zone files; paths are relative to the folder of the root file.
#[derive(Clone, Debug)]
pub struct DiskFiles {
    folder: PathBuf,
}

/// No configuration and no script is longer; a device or a mistake is. Bytes.
const TEXT_BYTES_MOST: u64 = 64 << 20;

/// Longest database. Bytes.
const DATABASE_BYTES_MOST: u64 = 1 << 30;

/// Files that one glob may match.
const MATCHES_MOST: usize = 10_000;

/// Loads a configuration with everything that it includes, as `run` takes it; `set` replaces values of the text. A file
/// that cannot be read is a problem like any other.
pub fn load(path: &Path, set: &[(String, String)]) -> Result<Loaded, Vec<Problem>> {
    let root = root(path).map_err(|what| vec![root_problem(path, what)])?;
    config::load(root, set, &DiskFiles::beside(path))
}

fn root_problem(path: &Path, what: String) -> Problem {
    Problem {
        file: path.display().to_string().into(),
        line: 0,
        column: 0,
        severity: Severity::Error,
        path: String::new(),
        what,
        did_you_mean: None,
    }
}

/// The root file itself, under the name that the operator gave it. Errors: in words, without the name.
pub fn root(path: &Path) -> Result<Source, String> {
    // What a shell hands over, by its own name: `bascule check /dev/stdin`, `bascule check <(…)`.
    let handed = path.starts_with("/dev") || path.starts_with("/proc");
    let file = if handed { File::open(path).map_err(|e| e.to_string()) } else { open(path) };
    let text = file.and_then(text_of).map_err(|why| format!("cannot be read: {why}"))?;
    Ok(Source { path: path.display().to_string().into(), text: text.into() })
}

/// Opens a file that is one: a pipe that nobody writes into would be waited for without end, and a device has none.
fn open(path: &Path) -> Result<File, String> {
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path).map_err(|e| e.to_string())?;
    match file.metadata().map_err(|e| e.to_string())?.file_type() {
        kind if kind.is_dir() => Err("it is a folder".into()),
        kind if kind.is_file() => Ok(file),
        _ => Err("it is no regular file".into()),
    }
}

/// The whole text of a regular file of at most 64 MiB, in UTF-8. Errors: in words, without the name.
pub fn read_text(path: &Path) -> Result<String, String> {
    text_of(open(path)?)
}

fn text_of(file: File) -> Result<String, String> {
    let mut bytes = Vec::new();
    file.take(TEXT_BYTES_MOST + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    if bytes.len() as u64 > TEXT_BYTES_MOST {
        return Err("it is larger than 64 MiB".into());
    }
    String::from_utf8(bytes).map_err(|e| match e.utf8_error().valid_up_to() {
        0 => "it is no text in UTF-8".to_owned(),
        valid => format!("it is no text in UTF-8 after byte {valid}"),
    })
}

// === impl DiskFiles ===

impl DiskFiles {
    /// For a root file at `path`.
    pub fn beside(path: &Path) -> DiskFiles {
        DiskFiles { folder: path.parent().map(Path::to_owned).unwrap_or_default() }
    }
}

impl Files for DiskFiles {
    fn glob(&self, pattern: &str) -> Result<Vec<String>, String> {
        // The folder is taken literally, whatever characters are in its name.
        let folder = glob::Pattern::escape(&self.folder.to_string_lossy());
        let whole = if Path::new(pattern).is_absolute() || folder.is_empty() {
            pattern.to_owned()
        } else {
            format!("{folder}/{pattern}")
        };
        let mut found = Vec::new();
        for path in glob::glob(&whole).map_err(|e| format!("`{pattern}` is not a pattern: {e}"))? {
            let path = path.map_err(|e| format!("cannot read {}: {}", e.path().display(), e.error()))?;
            if !path.is_file() {
                continue;
            }
            if found.len() == MATCHES_MOST {
                return Err(format!("`{pattern}` matches more than {MATCHES_MOST} files"));
            }
            let shown = path.strip_prefix(&self.folder).unwrap_or(&path);
            found.push(shown.to_string_lossy().into_owned());
        }
        found.sort();
        Ok(found)
    }

    fn read(&self, path: &str) -> Result<String, String> {
        read_text(&self.folder.join(path))
    }

    fn read_database(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        let file = open(&self.folder.join(path))?;
        let mut bytes = Vec::new();
        file.take(DATABASE_BYTES_MOST + 1).read_to_end(&mut bytes).map_err(|e| e.to_string())?;
        if bytes.len() as u64 > DATABASE_BYTES_MOST {
            return Err("it is larger than 1 GiB".into());
        }
        Ok(Some(bytes))
    }

    fn is_private(&self, path: &str) -> Option<bool> {
        let mode = std::fs::metadata(self.folder.join(path)).ok()?.permissions().mode();
        Some(mode & 0o007 == 0)
    }

    fn now(&self) -> Option<i64> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
        i64::try_from(now.as_secs()).ok()
    }

    fn has_secret(&self, secret: &Secret) -> Option<bool> {
        Some(match secret {
            Secret::Env(name) => std::env::var_os(&**name).is_some_and(|value| !value.is_empty()),
            Secret::File(path) => open(&self.folder.join(&**path)).is_ok(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn globs_are_relative_to_the_root_file_and_sorted() {
        let dir = tempfile::tempdir().unwrap();
        let folder = dir.path().join("a[1]");
        std::fs::create_dir_all(folder.join("apps/sub.toml")).unwrap();
        for name in ["b", "a"] {
            std::fs::write(folder.join(format!("apps/{name}.toml")), name).unwrap();
        }
        let files = DiskFiles::beside(&folder.join("box.toml"));
        assert_eq!(files.glob("apps/*.toml").unwrap(), ["apps/a.toml", "apps/b.toml"]);
        assert_eq!(files.read("apps/b.toml").unwrap(), "b");
        assert_eq!(files.read("apps"), Err("it is a folder".into()));
        assert!(files.glob("apps/***").is_err());
    }

    #[test]
    fn secrets_are_looked_for_beside_the_root_file_too() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("hash"), "x").unwrap();
        let files = DiskFiles::beside(&dir.path().join("box.toml"));
        assert_eq!(files.has_secret(&Secret::File("hash".into())), Some(true));
        assert_eq!(files.has_secret(&Secret::File("hush".into())), Some(false));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_a_problem_of_its_own() {
        let problems = load(Path::new("/nonexistent.toml"), &[]).unwrap_err();
        assert_eq!(problems.len(), 1);
        assert!(problems[0].to_string().starts_with("/nonexistent.toml: cannot be read: "));
    }

    #[test]
    fn a_pipe_that_nobody_writes_into_is_refused_and_not_waited_for() {
        let dir = tempfile::tempdir().unwrap();
        let pipe = dir.path().join("pipe");
        nix::unistd::mkfifo(&pipe, nix::sys::stat::Mode::S_IRUSR).unwrap();
        let files = DiskFiles::beside(&dir.path().join("box.toml"));
        let refused = "it is no regular file";
        assert_eq!(files.read("pipe"), Err(refused.into()));
        assert_eq!(files.read_database("pipe"), Err(refused.into()));
        assert_eq!(files.read("/dev/zero"), Err(refused.into()));
        assert_eq!(files.has_secret(&Secret::File("pipe".into())), Some(false));
        assert_eq!(root(&pipe), Err(format!("cannot be read: {refused}")));
    }

    #[test]
    fn what_is_no_text_says_where_it_stops_being_one() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("box.toml");
        std::fs::write(&file, b"schema\xff").unwrap();
        assert_eq!(read_text(&file), Err("it is no text in UTF-8 after byte 6".into()));
    }

    #[test]
    fn an_absent_secret_is_known_to_be_absent() {
        let files = DiskFiles::beside(Path::new("box.toml"));
        assert_eq!(files.has_secret(&Secret::Env("BASCULE_NO_SUCH_VARIABLE".into())), Some(false));
        assert_eq!(files.has_secret(&Secret::File("/nonexistent/secret".into())), Some(false));
        assert_eq!(files.has_secret(&Secret::Env("PATH".into())), Some(true));
    }
}
