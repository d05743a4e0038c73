//! `bascule restore`
//!
//! Everything is unpacked beside where it goes, compared with the manifest, and only then moved into its place, the
//! database last: a restore that fails or is interrupted leaves a state directory that is still empty.

use std::cell::Cell;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use flate2::read::GzDecoder;

use super::manifest::{Item, Manifest, copy};
use super::{MANIFEST, MANIFEST_MOST, fitting, is_of_a_process};
use crate::control::store;

/// Between two files: the headers of the next one, with a long name. Bytes.
const HEADERS_MOST: u64 = 1 << 20;

/// A folder that is gone when this is, with all that is left in it.
struct Staging(PathBuf);

/// Restores `archive`: the configuration to `config` and beside it, the state into `state`, which must be empty.
/// `replace`: over a configuration that is there. `elsewhere`: also what lay outside the folder of FILE. Gives lines for
/// the operator. Errors: in words; then nothing was changed.
pub fn restore(
    archive: &Path,
    config: &Path,
    state: &Path,
    replace: bool,
    elsewhere: bool,
) -> Result<Vec<String>, String> {
    let shown = archive.display().to_string();
    let damaged = |error: io::Error| format!("{shown} is no backup, or damaged: {error}");
    let file = File::open(archive).map_err(|error| format!("{shown}: {error}"))?;
    let allowed = Rc::new(Cell::new(MANIFEST_MOST));
    let unpacked = Bounded { from: GzDecoder::new(io::BufReader::new(file)), left: Rc::clone(&allowed) };
    let mut tar = tar::Archive::new(unpacked);
    let mut entries = tar.entries().map_err(damaged)?;
    let manifest = manifest(entries.next().transpose().map_err(damaged)?).map_err(damaged)?;
    manifest.check(store::SCHEMA).map_err(|why| format!("{shown}: {why}"))?;
    // The lock is held to the end: nobody starts on half a state.
    let _lock = store::lock(state).map_err(|e| e.what)?;
    is_empty(state)?;
    let folder =
        config.parent().filter(|p| !p.as_os_str().is_empty()).map_or_else(|| PathBuf::from("."), Path::to_owned);
    let staged_config = Staging::new(&folder, "config")?;
    let staged_state = Staging::new(state, "state")?;
    let mut moves =
        Moves { config, folder: &folder, state, file: &manifest.file, elsewhere, left_out: 0, all: Vec::new() };
    let mut expected: HashMap<&str, &Item> = manifest.files.iter().map(|item| (item.name.as_str(), item)).collect();
    let mut left_out = 0;
    loop {
        allowed.set(HEADERS_MOST.saturating_add(left_out));
        let Some(entry) = entries.next() else { break };
        let mut entry = entry.map_err(damaged)?;
        let name = String::from_utf8(entry.path_bytes().into_owned()).unwrap_or_default();
        let Some(item) = expected.remove(name.as_str()) else {
            return Err(format!("{shown} is damaged: `{name}` is in it and not in its manifest, or twice"));
        };
        if !entry.header().entry_type().is_file() {
            return Err(format!("{shown} is damaged: `{name}` is not a regular file"));
        }
        allowed.set(HEADERS_MOST.saturating_add(item.bytes));
        let Some(to) = moves.place(&item.name) else {
            left_out = item.bytes;
            continue;
        };
        left_out = 0;
        let staged = match item.name.starts_with("state/") {
            true => staged_state.0.join(moves.all.len().to_string()),
            false => staged_config.0.join(moves.all.len().to_string()),
        };
        unpack(&mut entry, item, &staged).map_err(|error| format!("{shown}: `{name}`: {error}"))?;
        moves.all.push((staged, to));
    }
    if let Some(missing) = expected.keys().next() {
        return Err(format!("{shown} is damaged: `{missing}` is missing, and {} more", expected.len() - 1));
    }
    fitting::check(&moves.all, config, state).map_err(|why| format!("{shown}: {why}"))?;
    if !replace && let Some((_, there)) = moves.all.iter().find(|(_, to)| to.exists()) {
        return Err(format!("{} is there already: move it away, or say --replace", there.display()));
    }
    moves.carry_out()?;
    let mut told = vec![format!(
        "restored {} files of {} (version {}): {} and {}",
        moves.all.len(),
        manifest.made_at,
        manifest.version,
        config.display(),
        state.display()
    )];
    if moves.left_out > 0 {
        told.push(format!(
            "{} files lay outside the folder of FILE: left out; --elsewhere restores them",
            moves.left_out
        ));
    }
    Ok(told)
}

/// Ends with an error where more comes out of an archive than it has to: a few bytes may unpack to more than memory holds.
struct Bounded<R> {
    from: R,
    left: Rc<Cell<u64>>,
}

// === impl Bounded ===

impl<R: Read> Read for Bounded<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.from.read(into)?;
        let left = self.left.get().checked_sub(read as u64);
        self.left.set(left.ok_or_else(|| io::Error::other("it unpacks to more than it says"))?);
        Ok(read)
    }
}

/// Where everything goes.
struct Moves<'a> {
    config: &'a Path,
    folder: &'a Path,
    state: &'a Path,
    /// The name of FILE in the backup.
    file: &'a str,
    elsewhere: bool,
    left_out: usize,
    all: Vec<(PathBuf, PathBuf)>,
}

// === impl Moves ===

impl Moves<'_> {
    /// Names were checked: they stay under their folders. `None`: not restored.
    fn place(&mut self, name: &str) -> Option<PathBuf> {
        if let Some(inside) = name.strip_prefix("state/") {
            return Some(self.state.join(inside));
        }
        if let Some(inside) = name.strip_prefix("config/") {
            return Some(if inside == self.file { self.config.to_owned() } else { self.folder.join(inside) });
        }
        if !self.elsewhere {
            self.left_out += 1;
            return None;
        }
        name.strip_prefix("elsewhere/").map(|inside| Path::new("/").join(inside))
    }

    /// The database last, since it is what makes a state.
    fn carry_out(&mut self) -> Result<(), String> {
        let database = self.state.join("bascule.db");
        self.all.sort_by_key(|(_, to)| *to == database);
        for (staged, to) in &self.all {
            let moved = || -> io::Result<()> {
                let above = to.parent().unwrap_or(Path::new("/"));
                let private = to.starts_with(self.state);
                let owner = make_folders(above, if private { 0o700 } else { 0o755 })?;
                // As root, for the user that the folder belongs to; else there is only one user that it can be.
                let _ = chown(staged, Some(owner.0), Some(owner.1));
                if staged.parent().is_some_and(|from| same_disk(from, above)) {
                    return fs::rename(staged, to);
                }
                let beside = above.join(format!(".restore-{}-file", std::process::id()));
                fs::copy(staged, &beside)?;
                let _ = chown(&beside, Some(owner.0), Some(owner.1));
                fs::rename(beside, to)
            };
            moved().map_err(|error| format!("{}: {error}; what was moved before it is in its place", to.display()))?;
        }
        Ok(())
    }
}

/// Makes what is missing, each for the owner of the one above; says who that is.
fn make_folders(folder: &Path, mode: u32) -> io::Result<(u32, u32)> {
    if let Ok(there) = fs::metadata(folder) {
        return Ok((there.uid(), there.gid()));
    }
    let above = folder.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let owner = make_folders(above, mode)?;
    fs::DirBuilder::new().mode(mode).create(folder)?;
    let _ = chown(folder, Some(owner.0), Some(owner.1));
    Ok(owner)
}

fn same_disk(a: &Path, b: &Path) -> bool {
    let device = |path: &Path| fs::metadata(path).map(|there| there.dev()).ok();
    device(a) == device(b)
}

fn manifest(first: Option<tar::Entry<'_, impl Read>>) -> io::Result<Manifest> {
    let entry = first.ok_or(io::ErrorKind::UnexpectedEof)?;
    if &*entry.path_bytes() != MANIFEST.as_bytes() {
        return Err(io::Error::other(format!("it does not begin with {MANIFEST}")));
    }
    let mut text = Vec::new();
    entry.take(MANIFEST_MOST).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

fn unpack(entry: &mut impl Read, item: &Item, to: &Path) -> io::Result<()> {
    let mode = item.mode & 0o777;
    let mut file = File::options().write(true).create_new(true).mode(0o600).open(to)?;
    let (bytes, sha256) = copy(entry, &mut file, item.bytes)?;
    if (bytes, &sha256) != (item.bytes, &item.sha256) {
        return Err(io::Error::other("it is not what the manifest says"));
    }
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    file.sync_all()
}

/// Whether nobody would lose a state. Errors: what is there.
fn is_empty(state: &Path) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", state.display());
    for entry in fs::read_dir(state).map_err(failed)? {
        let name = entry.map_err(failed)?.file_name().to_string_lossy().into_owned();
        if name == "bascule.db" || !is_of_a_process(&name) {
            return Err(format!(
                "{} holds a state already ({name}): move it away, or restore into another directory",
                state.display()
            ));
        }
    }
    Ok(())
}

// === impl Staging ===

impl Staging {
    fn new(beside: &Path, what: &str) -> Result<Staging, String> {
        let path = beside.join(format!(".restore-{}-{what}", std::process::id()));
        let made = make_folders(beside, 0o755).and_then(|_| {
            let _ = fs::remove_dir_all(&path);
            fs::DirBuilder::new().mode(0o700).create(&path)
        });
        made.map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Staging(path))
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests;
