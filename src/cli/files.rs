//! The files of a configuration on disk: includes and zone files, relative to the root file's folder.

use std::path::{Path, PathBuf};

use crate::config::{Files, Source};
use crate::model::id::Name;

/// No part of a configuration is longer; a device or a mistake is. Bytes.
const TEXT_MAX: u64 = 64 << 20;

/// The folder that paths are relative to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disk {
    folder: PathBuf,
}

/// The text of `path` under the name that the operator wrote.
pub fn read_root(path: &Path) -> Result<Source, String> {
    let name: Name = path.display().to_string().into();
    Ok(Source { path: name, text: read_text(path)?.into() })
}

fn read_text(path: &Path) -> Result<String, String> {
    use std::io::Read as _;
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    file.take(TEXT_MAX + 1).read_to_string(&mut text).map_err(|error| error.to_string())?;
    if text.len() as u64 > TEXT_MAX {
        return Err("it is longer than 64 MiB".into());
    }
    Ok(text)
}

// === impl Disk ===

impl Disk {
    /// Beside the root file.
    pub fn beside(root: &Path) -> Disk {
        let folder = root.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
        Disk { folder: folder.to_owned() }
    }
}

impl Files for Disk {
    fn glob(&self, pattern: &str) -> Result<Vec<String>, String> {
        // The folder itself may hold characters that mean something in a pattern.
        let folder = glob::Pattern::escape(&self.folder.to_string_lossy());
        let is_absolute = Path::new(pattern).is_absolute();
        let whole = if is_absolute { pattern.to_owned() } else { format!("{folder}/{pattern}") };
        let found = glob::glob(&whole).map_err(|error| error.to_string())?;
        let mut paths = Vec::new();
        for path in found {
            let path = path.map_err(|error| error.to_string())?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_relative_to_the_root_files_folder_and_sorted() {
        let folder = tempfile::tempdir().unwrap();
        let strange = folder.path().join("a[b]");
        std::fs::create_dir_all(strange.join("apps")).unwrap();
        for name in ["apps/two.toml", "apps/one.toml", "apps/readme.md"] {
            std::fs::write(strange.join(name), name).unwrap();
        }
        let disk = Disk::beside(&strange.join("root.toml"));
        assert_eq!(disk.glob("apps/*.toml").unwrap(), ["apps/one.toml", "apps/two.toml"]);
        assert_eq!(disk.read("apps/one.toml").unwrap(), "apps/one.toml");
        assert!(disk.read("apps/three.toml").is_err());
        assert_eq!(Disk::beside(Path::new("root.toml")), Disk { folder: ".".into() });
    }
}
