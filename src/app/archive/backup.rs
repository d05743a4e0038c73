//! `bascule backup`

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;

use super::manifest::{FORMAT, Item, Manifest, copy};
use super::named::named;
use super::{FILES_MOST, MANIFEST, TOTAL_MOST, absolute, is_of_a_process};
use crate::control::store;
use crate::model::capture::{ARCHIVES, TRACES};

/// A file to be kept: where it lies, and its name in the backup.
struct Source {
    path: PathBuf,
    name: String,
}

/// Writes everything of `config` and `state` into `archive`, which must not be there yet. Gives lines for the operator.
/// Errors: in words; then there is no archive.
pub fn backup(archive: &Path, config: &Path, state: &Path) -> Result<Vec<String>, String> {
    let mut told = Vec::new();
    let (files, doubt) = named(config)?;
    told.extend(doubt);
    let mut sources = vec![Source { path: config.to_owned(), name: format!("config/{}", file_name(config)?) }];
    let folder = config.parent().map(Path::to_owned).unwrap_or_default();
    for name in &files {
        let path = folder.join(name);
        match path.is_file() {
            // What was uploaded lies in the state directory, and is kept with it.
            true if absolute(&path)?.starts_with(absolute(state)?) => {}
            true => sources.push(Source { name: kept_as(&folder, &path)?, path }),
            false => told.push(format!("{} is named and not there: left out", path.display())),
        }
    }
    // Named twice: by a relative and by a whole path.
    sources.sort_by(|a, b| a.name.cmp(&b.name));
    sources.dedup_by(|a, b| a.name == b.name);
    let copied = tempfile_beside(archive)?;
    let schema = match state.join("bascule.db").is_file() {
        true => {
            let schema = store::copy(state, &copied).map_err(|e| e.what)?;
            sources.push(Source { path: copied.clone(), name: "state/bascule.db".to_owned() });
            Some(schema)
        }
        false => {
            told.push(format!("{} holds no state: the configuration alone is kept", state.display()));
            None
        }
    };
    let kept = walk(state, state, &mut sources).and_then(|()| write(archive, config, schema, &sources));
    let _ = fs::remove_file(&copied);
    let manifest = kept.inspect_err(|_| _ = fs::remove_file(partial(archive)))?;
    let bytes: u64 = manifest.files.iter().map(|item| item.bytes).sum();
    told.push(format!("{}: {} files, {bytes} bytes before packing", archive.display(), manifest.files.len()));
    Ok(told)
}

fn write(archive: &Path, config: &Path, schema: Option<i64>, sources: &[Source]) -> Result<Manifest, String> {
    if archive.exists() {
        return Err(format!("{} is there already", archive.display()));
    }
    let mut files = Vec::with_capacity(sources.len());
    for source in sources {
        files.push(item(source).map_err(|error| format!("{}: {error}", source.path.display()))?);
    }
    let manifest = Manifest {
        backup: FORMAT,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        made_at: jiff::Timestamp::now().to_string(),
        schema,
        file: file_name(config)?,
        files,
    };
    if manifest.files.len() > FILES_MOST || manifest.files.iter().map(|item| item.bytes).sum::<u64>() > TOTAL_MOST {
        return Err(format!("it would hold more than {FILES_MOST} files, or {TOTAL_MOST} bytes"));
    }
    let new = partial(archive);
    let packed = || -> io::Result<()> {
        let file = File::options().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
        let packer = GzEncoder::new(BufWriter::new(file), Compression::default());
        let mut tar = tar::Builder::new(packer);
        let text = serde_json::to_vec_pretty(&manifest)?;
        add(&mut tar, MANIFEST, text.len() as u64, 0o600, &mut text.as_slice())?;
        for (source, item) in sources.iter().zip(&manifest.files) {
            // What grows meanwhile is kept as it was; what shrank is an error.
            let mut file = io::Read::take(File::open(&source.path)?, item.bytes);
            add(&mut tar, &item.name, item.bytes, item.mode, &mut file)?;
        }
        let mut file = tar.into_inner()?.finish()?;
        file.flush()?;
        file.get_ref().sync_all()?;
        fs::rename(&new, archive)
    };
    packed().map_err(|error| format!("cannot write {}: {error}", archive.display()))?;
    Ok(manifest)
}

fn add(
    tar: &mut tar::Builder<impl io::Write>,
    name: &str,
    bytes: u64,
    mode: u32,
    content: &mut dyn io::Read,
) -> io::Result<()> {
    let mut header = tar::Header::new_gnu();
    header.set_size(bytes);
    header.set_mode(mode);
    header.set_mtime(u64::try_from(jiff::Timestamp::now().as_second()).unwrap_or(0));
    tar.append_data(&mut header, name, content)
}

fn item(source: &Source) -> io::Result<Item> {
    let mut file = File::open(&source.path)?;
    let mode = file.metadata()?.permissions().mode() & 0o777;
    let (bytes, sha256) = copy(&mut file, &mut io::sink(), TOTAL_MOST)?;
    Ok(Item { name: source.name.clone(), bytes, sha256, mode })
}

/// Regular files of the state directory, but for those of a process; links are not followed.
fn walk(root: &Path, folder: &Path, into: &mut Vec<Source>) -> Result<(), String> {
    let failed = |error: io::Error| format!("{}: {error}", folder.display());
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        entries => entries.map_err(failed)?,
    };
    for entry in entries {
        let entry = entry.map_err(failed)?;
        let (kind, path) = (entry.file_type().map_err(failed)?, entry.path());
        let inside = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().into_owned();
        if is_of_a_process(&inside) || [TRACES, ARCHIVES].contains(&&*inside) {
            continue;
        }
        if kind.is_dir() {
            walk(root, &path, into)?;
        } else if kind.is_file() && into.len() <= FILES_MOST {
            into.push(Source { name: format!("state/{inside}"), path });
        }
    }
    Ok(())
}

/// The name of a file of the configuration: beside FILE, or elsewhere.
fn kept_as(folder: &Path, path: &Path) -> Result<String, String> {
    let folder = absolute(folder)?;
    let path = absolute(path)?;
    Ok(match path.strip_prefix(&folder) {
        Ok(inside) => format!("config/{}", inside.display()),
        Err(_) => format!("elsewhere/{}", path.strip_prefix("/").unwrap_or(&path).display()),
    })
}

fn file_name(path: &Path) -> Result<String, String> {
    let name = path.file_name().and_then(|name| name.to_str());
    name.map(str::to_owned).ok_or_else(|| format!("{} is not the name of a file", path.display()))
}

fn partial(archive: &Path) -> PathBuf {
    let mut name = archive.as_os_str().to_owned();
    name.push(".new");
    name.into()
}

/// Where the copy of the database lies while it is packed: there is room beside the archive, or there is none for it.
fn tempfile_beside(archive: &Path) -> Result<PathBuf, String> {
    let mut name = archive.as_os_str().to_owned();
    name.push(".db.new");
    let path = PathBuf::from(name);
    match fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(format!("{}: {error}", path.display())),
        _ => Ok(path),
    }
}
