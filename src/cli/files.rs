//! The texts of a configuration on disk: the root file, includes, zone files. `check` and `run` read them alike.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::config::{Files, Source};
use crate::model::scenario::Secret;

/// Paths are relative to the folder of the root file.
#[derive(Clone, Debug)]
pub struct DiskFiles {
    folder: PathBuf,
}

/// No configuration is longer; a device or a mistake is. Bytes.
const TEXT_BYTES_MOST: u64 = 64 << 20;

/// Files that one glob may match.
const MATCHES_MOST: usize = 10_000;

/// The root file itself, under the name that the operator gave it. Errors: in words, without the name.
pub fn root(path: &Path) -> Result<Source, String> {
    let text = read_text(path).map_err(|e| format!("cannot be read: {e}"))?;
    Ok(Source { path: path.display().to_string().into(), text: text.into() })
}

/// A regular file of at most 64 MiB, in UTF-8.
fn read_text(path: &Path) -> std::io::Result<String> {
    let file = std::fs::File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(std::io::ErrorKind::IsADirectory.into());
    }
    let mut text = String::new();
    file.take(TEXT_BYTES_MOST + 1).read_to_string(&mut text)?;
    if text.len() as u64 > TEXT_BYTES_MOST {
        return Err(std::io::Error::new(std::io::ErrorKind::FileTooLarge, "it is larger than 64 MiB"));
    }
    Ok(text)
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
        read_text(&self.folder.join(path)).map_err(|e| e.to_string())
    }

    fn has_secret(&self, secret: &Secret) -> Option<bool> {
        Some(match secret {
            Secret::Env(name) => std::env::var_os(&**name).is_some_and(|value| !value.is_empty()),
            // Like whoever reads it later: from the working directory.
            Secret::File(path) => std::fs::File::open(&**path).is_ok(),
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
        assert!(files.read("apps").is_err(), "a folder is no text");
        assert!(files.glob("apps/***").is_err());
    }

    #[test]
    fn an_absent_secret_is_known_to_be_absent() {
        let files = DiskFiles::beside(Path::new("box.toml"));
        assert_eq!(files.has_secret(&Secret::Env("BASCULE_NO_SUCH_VARIABLE".into())), Some(false));
        assert_eq!(files.has_secret(&Secret::File("/nonexistent/secret".into())), Some(false));
        assert_eq!(files.has_secret(&Secret::Env("PATH".into())), Some(true));
    }
}
