//! Which files a configuration is made of.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use crate::config::{self, Files};
use crate::files::{self, DiskFiles};
use crate::model::check::Probe;
use crate::model::scenario::Secret;

/// Reads like the disk, and notes what.
struct Noting {
    disk: DiskFiles,
    named: RefCell<BTreeSet<String>>,
}

/// All files that FILE names, as it names them, without itself; sorted. One that does not load names what its parts name
/// as far as they were read. The sentence, where there is one, says that.
pub(super) fn named(file: &Path) -> Result<(Vec<String>, Option<String>), String> {
    let root = files::root(file).map_err(|why| format!("{} {why}", file.display()))?;
    let text = Arc::clone(&root.text);
    let noting = Noting { disk: DiskFiles::beside(file), named: RefCell::default() };
    let loaded = config::load(root, &[], &noting);
    let mut named = noting.named.into_inner();
    let doubt = match loaded {
        Ok(loaded) => {
            let scripts = loaded.model.checks.iter().filter_map(|check| match &check.probe {
                Probe::User { script, .. } => Some(format!("{}/{}", script.directory, script.name)),
                _ => None,
            });
            named.extend(scripts);
            None
        }
        Err(_) if text.parse::<toml::Table>().is_err() => {
            Some(format!("{} is no TOML: nothing restores this backup, make another once it is mended", file.display()))
        }
        Err(_) => Some(format!("{} does not load: files that it names may be missing", file.display())),
    };
    Ok((named.into_iter().collect(), doubt))
}

// === impl Noting ===

impl Noting {
    fn note(&self, path: &str) {
        self.named.borrow_mut().insert(path.to_owned());
    }
}

impl Files for Noting {
    fn glob(&self, pattern: &str) -> Result<Vec<String>, String> {
        self.disk.glob(pattern)
    }

    fn read(&self, path: &str) -> Result<String, String> {
        self.note(path);
        self.disk.read(path)
    }

    fn read_database(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        self.note(path);
        self.disk.read_database(path)
    }

    fn is_private(&self, path: &str) -> Option<bool> {
        self.disk.is_private(path)
    }

    fn has_secret(&self, secret: &Secret) -> Option<bool> {
        if let Secret::File(path) = secret {
            self.note(path);
        }
        self.disk.has_secret(secret)
    }
}
