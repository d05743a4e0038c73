//! What a backup holds, and whether its names may be trusted.

use std::io::{self, Read, Write};
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{FILES_MOST, TOTAL_MOST, is_of_a_process};

/// Of the format below.
pub(super) const FORMAT: u32 = 1;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Manifest {
    /// [`FORMAT`]
    pub backup: u32,
    /// Of the program that made it.
    pub version: String,
    pub made_at: String,
    /// Of the state; `None`: there was none.
    pub schema: Option<i64>,
    /// The name of FILE.
    pub file: String,
    pub files: Vec<Item>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Item {
    /// `config/certs/www.pem`
    pub name: String,
    pub bytes: u64,
    /// In hex.
    pub sha256: String,
    /// Permissions.
    pub mode: u32,
}

// === impl Manifest ===

impl Manifest {
    /// Errors: in words. `schema_known`: the newest state that this program can read.
    pub fn check(&self, schema_known: i64) -> Result<(), String> {
        if self.backup != FORMAT {
            return Err(format!(
                "it was made by a newer version ({}, format {}; this one knows {FORMAT}): restore it with that version",
                self.version, self.backup
            ));
        }
        if let Some(newer) = self.schema.filter(|schema| *schema > schema_known) {
            return Err(format!(
                "its state is of a newer version ({}, schema {newer}; this one knows {schema_known}): restore it with \
                 that version",
                self.version
            ));
        }
        if self.files.len() > FILES_MOST {
            return Err(format!("it says that it holds more than {FILES_MOST} files"));
        }
        let total = self.files.iter().fold(0_u64, |total, item| total.saturating_add(item.bytes));
        if total > TOTAL_MOST {
            return Err(format!("it says that it holds {total} bytes, and {TOTAL_MOST} is the most"));
        }
        if !is_plain(&self.file) || self.file.contains('/') {
            return Err(format!("`{}` is not the name of a file", self.file));
        }
        let mut seen = std::collections::HashSet::new();
        for item in &self.files {
            if !is_safe(&item.name) {
                return Err(format!("`{}` is not a name that a backup has", item.name));
            }
            if !seen.insert(&item.name) {
                return Err(format!("`{}` is in it twice", item.name));
            }
        }
        if !seen.contains(&format!("config/{}", self.file)) {
            return Err(format!("it is damaged: FILE (`config/{}`) is not in its manifest", self.file));
        }
        Ok(())
    }
}

/// Whether a name stays where it is put: under one of the three folders, and nowhere up; and is none that a process makes
/// for itself.
pub(super) fn is_safe(name: &str) -> bool {
    let under = ["config/", "elsewhere/", "state/"].iter().find_map(|folder| name.strip_prefix(folder));
    let is_made = |inside: &str| inside != "bascule.db" && is_of_a_process(inside);
    under.is_some_and(is_plain) && !name.strip_prefix("state/").is_some_and(is_made)
}

/// Names of folders and a file alone: not empty, no `..`, no `.`, no root, no byte that a name cannot have.
fn is_plain(name: &str) -> bool {
    let path = Path::new(name);
    !name.is_empty()
        && !name.contains('\0')
        && path.components().all(|part| matches!(part, Component::Normal(_)))
        // `a//b` and `a/` have the same parts as `a/b` and `a`: one name for one file.
        && path.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/") == name
}

/// Copies at most `most` bytes and says how many there were, and their SHA-256 in hex.
pub(super) fn copy(from: &mut impl Read, to: &mut impl Write, most: u64) -> io::Result<(u64, String)> {
    let mut hash = Sha256::new();
    let (mut piece, mut bytes) = (vec![0; 256 << 10], 0_u64);
    loop {
        let read = from.read(&mut piece)?;
        if read == 0 {
            return Ok((bytes, hex(&hash.finalize())));
        }
        bytes += read as u64;
        if bytes > most {
            return Err(io::Error::other("it is longer than it may be"));
        }
        hash.update(&piece[..read]);
        to.write_all(&piece[..read])?;
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_would_leave_their_folder_are_no_names() {
        for good in [
            "config/box.toml",
            "config/certs/www.pem",
            "state/bascule.db",
            "elsewhere/etc/ssl/a.pem",
            "config/..a",
            "state/ssl/www.new",
            "state/ssl/bascule.lock",
            "state/a/.restore-1",
        ] {
            assert!(is_safe(good), "{good}");
        }
        let bad = [
            "",
            "/etc/passwd",
            "../x",
            "config/../x",
            "config/a/../../x",
            "config//etc/passwd",
            "config/",
            "config/a/",
            "config/./a",
            "state/a\0b",
            "other/a",
            "config",
            "config/a//b",
            "state/bascule.lock",
            "state/bascule.db-wal",
            "state/bascule.db/x",
            "state/a.new",
            "state/zones/a.new",
        ];
        for bad in bad {
            assert!(!is_safe(bad), "{bad}");
        }
    }

    fn manifest() -> Manifest {
        let item = Item { name: "config/box.toml".into(), bytes: 3, sha256: "ab".into(), mode: 0o600 };
        Manifest {
            backup: FORMAT,
            version: "1".into(),
            made_at: "now".into(),
            schema: Some(4),
            file: "box.toml".into(),
            files: vec![item],
        }
    }

    #[test]
    fn what_is_newer_too_large_or_twice_is_refused_with_what_to_do() {
        assert_eq!(manifest().check(4), Ok(()));
        let refused = |change: &dyn Fn(&mut Manifest)| {
            let mut changed = manifest();
            change(&mut changed);
            changed.check(4).unwrap_err()
        };
        assert!(refused(&|m| m.backup = 2).contains("restore it with that version"));
        assert!(refused(&|m| m.schema = Some(5)).contains("schema 5; this one knows 4"));
        assert!(refused(&|m| m.files[0].bytes = u64::MAX).contains("bytes"));
        assert!(refused(&|m| m.files.push(m.files[0].clone())).contains("twice"));
        assert!(refused(&|m| m.file = "../box.toml".into()).contains("not the name"));
        assert!(refused(&|m| m.file = "other.toml".into()).contains("FILE (`config/other.toml`) is not in"));
        assert!(refused(&|m| m.files[0].name = "state/../../x".into()).contains("not a name"));
    }
}
