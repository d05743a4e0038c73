//! Configurations and scripts on disk.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::config::{self, Files, Loaded, Source};

/// No text of a configuration or a script is longer; a device or a mistake is. Bytes.
const TEXT_MAX: u64 = 64 << 20;

/// Includes and zone files, relative to the folder of the root file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskFiles {
    folder: PathBuf,
}

/// Loads a configuration as `run` would. Errors: every problem, a line each.
pub fn load(path: &Path) -> Result<Loaded, Vec<String>> {
    let text = read_text(path).map_err(|e| vec![format!("{}: cannot be read: {e}", path.display())])?;
    let root = Source { path: path.display().to_string().into(), text: text.into() };
    config::load(root, &[], &DiskFiles::beside(path))
        .map_err(|problems| problems.iter().map(ToString::to_string).collect())
}

/// The whole text of a file; refuses what is no text and what is too long.
pub fn read_text(path: &Path) -> Result<String, String> {
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|e| e.to_string())?;
    file.take(TEXT_MAX + 1).read_to_string(&mut text).map_err(|e| e.to_string())?;
    if text.len() as u64 > TEXT_MAX {
        return Err("it is longer than 64 MiB".into());
    }
    Ok(text)
}

// === impl DiskFiles ===

impl DiskFiles {
    /// For a root file at `path`.
    pub fn beside(path: &Path) -> DiskFiles {
        let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        DiskFiles { folder: folder.to_owned() }
    }
}

impl Files for DiskFiles {
    fn glob(&self, pattern: &str) -> Result<Vec<String>, String> {
        // The folder is taken literally, whatever characters are in its name.
        let folder = glob::Pattern::escape(&self.folder.to_string_lossy());
        let is_absolute = Path::new(pattern).is_absolute();
        let whole = if is_absolute { pattern.to_owned() } else { format!("{folder}/{pattern}") };
        let mut paths = Vec::new();
        for path in glob::glob(&whole).map_err(|e| format!("`{pattern}` is not a pattern: {e}"))? {
            let path = path.map_err(|e| format!("cannot read {}: {}", e.path().display(), e.error()))?;
            let shown = if is_absolute { &path } else { path.strip_prefix(&self.folder).unwrap_or(&path) };
            paths.push(shown.to_string_lossy().into_owned());
        }
        paths.sort();
        Ok(paths)
    }

    fn read(&self, path: &str) -> Result<String, String> {
        read_text(&self.folder.join(path))
    }
}
