//! Where a seed is looked for, and which instance of the machine this is.

use std::ffi::OsStr;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::path::{Path, PathBuf};
use std::process::Command;

use nix::unistd::{Gid, Uid, geteuid, setegid, seteuid};

use crate::files;
use crate::model::first_boot::SeedSource;

/// Labels of the drive, as NoCloud has them.
const LABELS: [&str; 2] = ["CIDATA", "cidata"];
/// What a hypervisor calls the machine.
const MACHINE_UUID: &str = "/sys/class/dmi/id/product_uuid";
const MACHINE_ID: &str = "/etc/machine-id";
/// Where a drive is mounted while it is read.
const MOUNTED_AT: &str = "/run/bascule-seed";
/// Files beside a seed: certificates, keys, zones.
const FILES_MOST: usize = 256;
const FILE_BYTES_MOST: u64 = 4 << 20;
/// Of an instance's name.
const INSTANCE_MOST: usize = 256;

/// Where to look.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// `appliance.config` in the service manager's credentials, and beside it `appliance.instance`.
    pub credential: Option<PathBuf>,
    /// A folder or a block device with `user-data`, `meta-data` and a folder `files`; `None`: the drive with the label.
    pub drive: Option<PathBuf>,
    /// The instance, where neither of them says it; `None`: as the machine is called.
    pub instance: Option<String>,
}

/// What was found.
pub(super) struct Found {
    pub seed: Option<String>,
    pub source: SeedSource,
    pub instance: String,
    /// Files that the seed names, at these paths below it.
    pub folder: Option<PathBuf>,
    /// Keeps the drive mounted.
    pub mounted: Option<Mounted>,
    /// A seed that is there and cannot be read.
    pub problems: Vec<String>,
}

/// A drive, until this is dropped.
pub(super) struct Mounted(PathBuf);

// === impl Places ===

impl Places {
    /// The first seed: a credential, then a drive.
    pub(super) fn find(&self) -> Found {
        let mut found = Found {
            seed: None,
            source: SeedSource::None,
            instance: String::new(),
            folder: None,
            mounted: None,
            problems: Vec::new(),
        };
        let mut instance = None;
        if let Some(file) = self.credential.as_deref().filter(|file| file.exists()) {
            found.take(SeedSource::Credential, file);
            instance = line_of(&file.with_file_name("appliance.instance"));
        }
        if found.seed.is_none()
            && found.problems.is_empty()
            && let Some(folder) = self.drive_folder(&mut found)
        {
            let file = folder.join("user-data");
            if file.exists() {
                found.take(SeedSource::Drive, &file);
                instance = files::read_text(&folder.join("meta-data")).ok().as_deref().and_then(instance_of);
                found.folder = Some(folder.join("files")).filter(|folder| folder.is_dir());
            }
        }
        let named = instance.or_else(|| self.instance.clone()).or_else(machine);
        found.instance = named.unwrap_or_else(|| "unnamed".into()).chars().take(INSTANCE_MOST).collect();
        found
    }

    fn drive_folder(&self, found: &mut Found) -> Option<PathBuf> {
        let by_label = || {
            let all = LABELS.iter().map(|label| PathBuf::from("/dev/disk/by-label").join(label));
            all.into_iter().find(|path| path.exists())
        };
        let drive = self.drive.clone().or_else(by_label)?;
        if drive.is_dir() {
            return Some(drive);
        }
        match Mounted::new(&drive) {
            Ok(mounted) => {
                let folder = mounted.0.clone();
                found.mounted = Some(mounted);
                Some(folder)
            }
            Err(why) => {
                found.problems.push(format!("the drive {} cannot be read: {why}", drive.display()));
                None
            }
        }
    }
}

// === impl Found ===

impl Found {
    fn take(&mut self, source: SeedSource, file: &Path) {
        match files::read_text(file) {
            Ok(text) if text.trim().is_empty() => {}
            Ok(text) => (self.seed, self.source) = (Some(text), source),
            Err(why) => self.problems.push(format!("{}: {why}", file.display())),
        }
    }
}

// === impl Mounted ===

impl Mounted {
    fn new(device: &Path) -> Result<Mounted, String> {
        let folder = PathBuf::from(MOUNTED_AT);
        std::fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        let done = Command::new("mount")
            .args([OsStr::new("-o"), OsStr::new("ro,nosuid,nodev,noexec"), device.as_os_str(), folder.as_os_str()])
            .output()
            .map_err(|error| error.to_string())?;
        match done.status.success() {
            true => Ok(Mounted(folder)),
            false => Err(String::from_utf8_lossy(&done.stderr).trim().to_owned()),
        }
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        // A failure leaves a folder that nobody looks into, read-only.
        let _ = Command::new("umount").arg(&self.0).status();
    }
}

/// `instance-id` of NoCloud's `meta-data`, as YAML or JSON has it.
pub(super) fn instance_of(meta_data: &str) -> Option<String> {
    if let Ok(json) = serde_json::from_str::<serde_json::Value>(meta_data) {
        return json["instance-id"].as_str().filter(|id| !id.is_empty()).map(str::to_owned);
    }
    let value = meta_data.lines().find_map(|line| line.strip_prefix("instance-id:"))?;
    Some(value.trim().trim_matches(['"', '\'']).to_owned()).filter(|id| !id.is_empty())
}

fn machine() -> Option<String> {
    let is_told = |id: &String| id.chars().any(|c| c.is_ascii_alphanumeric() && c != '0');
    line_of(Path::new(MACHINE_UUID)).filter(is_told).or_else(|| line_of(Path::new(MACHINE_ID)))
}

fn line_of(file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    Some(text.lines().next()?.trim().to_owned()).filter(|line| !line.is_empty())
}

/// Copies what lies beside a seed to where FILE lies: regular files alone, each for its owner's eyes.
///
/// Errors: too many, one too large, a disk that does not take them.
pub(super) fn copy_files(from: &Path, config: &Path, to: &Path) -> Result<(), String> {
    // All is looked at before anything is written.
    for writes in [false, true] {
        let mut left = FILES_MOST;
        copy_folder(from, config, to, writes, &mut left)?;
    }
    Ok(())
}

fn copy_folder(from: &Path, config: &Path, to: &Path, writes: bool, left: &mut usize) -> Result<(), String> {
    for entry in std::fs::read_dir(from).map_err(|error| said(from, error))? {
        let entry = entry.map_err(|error| said(from, error))?;
        let (source, target) = (entry.path(), to.join(entry.file_name()));
        let about = std::fs::symlink_metadata(&source).map_err(|error| said(&source, error))?;
        if about.is_dir() {
            if writes && !target.is_dir() {
                std::fs::create_dir(&target).map_err(|error| said(&target, error))?;
            }
            copy_folder(&source, config, &target, writes, left)?;
        } else if about.is_file() {
            *left = left.checked_sub(1).ok_or_else(|| format!("more than {FILES_MOST} files lie beside the seed"))?;
            if about.len() > FILE_BYTES_MOST {
                return Err(format!("{} has more than {} MiB", source.display(), FILE_BYTES_MOST >> 20));
            }
            // A link or a pipe of that name would lead elsewhere, or hold the boot up.
            let is_taken = std::fs::symlink_metadata(&target).is_ok_and(|about| !about.is_file());
            let is_configuration = target.to_string_lossy().starts_with(&*config.to_string_lossy());
            if is_taken || is_configuration {
                return Err(format!("{}: a file beside the seed may not take its place", target.display()));
            }
            if writes {
                std::fs::copy(&source, &target).map_err(|error| said(&target, error))?;
                make_private(&target).map_err(|error| said(&target, error))?;
            }
        }
    }
    Ok(())
}

/// The state directory, for whoever owns `folder`.
pub(super) fn make_state(state: &Path, folder: &Path) -> Result<(), String> {
    if state.is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(state).map_err(|error| said(state, error))?;
    let owner = std::fs::metadata(folder).map_err(|error| said(folder, error))?;
    // Only root may; anybody else's folder is their own already.
    let _ = chown(state, Some(owner.uid()), Some(owner.gid()));
    Ok(())
}

fn said(path: &Path, error: std::io::Error) -> String {
    format!("{}: {error}", path.display())
}

/// While it lives, root acts with the rights of another user.
pub(super) struct Lowered(());

// === impl Lowered ===

impl Lowered {
    /// `None`: this process is not root's, or the folder is.
    pub fn to_owner_of(folder: &Path) -> Result<Option<Lowered>, String> {
        let owner = std::fs::metadata(folder).map_err(|error| said(folder, error))?;
        if !geteuid().is_root() || owner.uid() == 0 {
            return Ok(None);
        }
        let said = |error: nix::errno::Errno| format!("cannot act as the owner of {}: {error}", folder.display());
        setegid(Gid::from_raw(owner.gid())).map_err(said)?;
        let lowered = Lowered(());
        seteuid(Uid::from_raw(owner.uid())).map_err(said)?;
        Ok(Some(lowered))
    }
}

impl Drop for Lowered {
    fn drop(&mut self) {
        let _ = seteuid(Uid::from_raw(0));
        let _ = setegid(Gid::from_raw(0));
    }
}

pub(super) fn make_private(file: &Path) -> std::io::Result<()> {
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600))
}
