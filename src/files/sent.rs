//! A configuration that is sent to a running appliance: its includes are carried along, and other files that it names are
//! the appliance's own.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use super::{DiskFiles, root, root_problem};
use crate::config::{self, Files, Problem, render};
use crate::model::scenario::Secret;

/// What is sent, and what is not.
#[derive(Clone, Debug)]
pub struct Sent {
    /// FILE as it stands; with includes the whole in one text.
    pub text: String,
    /// Files that the text names and does not hold: relative to the folder of FILE, or whole paths.
    pub named: Vec<String>,
    pub warnings: Vec<Problem>,
}

/// Files that are looked at where they are here, and not missed where they are not.
struct Carried {
    disk: DiskFiles,
    /// What is part of the text.
    included: RefCell<BTreeSet<String>>,
    has_includes: RefCell<bool>,
    named: RefCell<BTreeSet<String>>,
}

/// Reads FILE to be sent. Errors: what is wrong with it as far as that can be said without the appliance's files.
pub fn to_send(path: &Path) -> Result<Sent, Vec<Problem>> {
    let root = root(path).map_err(|what| vec![root_problem(path, what)])?;
    let text = root.text.to_string();
    let files = Carried {
        disk: DiskFiles::beside(path),
        included: RefCell::default(),
        has_includes: RefCell::new(false),
        named: RefCell::default(),
    };
    let loaded = config::load(root, &[], &files)?;
    let text = if files.has_includes.take() { render::render(&loaded.model) } else { text };
    Ok(Sent { text, named: files.named.take().into_iter().collect(), warnings: loaded.warnings })
}

// === impl Carried ===

impl Carried {
    fn name(&self, path: &str) {
        self.named.borrow_mut().insert(path.to_owned());
    }
}

impl Files for Carried {
    fn glob(&self, pattern: &str) -> Result<Vec<String>, String> {
        let found = self.disk.glob(pattern)?;
        *self.has_includes.borrow_mut() = true;
        self.included.borrow_mut().extend(found.iter().cloned());
        Ok(found)
    }

    fn read(&self, path: &str) -> Result<String, String> {
        if !self.included.borrow().contains(path) {
            self.name(path);
        }
        self.disk.read(path)
    }

    fn read_named(&self, path: &str) -> Result<Option<String>, String> {
        self.name(path);
        Ok(self.disk.read(path).ok())
    }

    fn read_key(&self, path: &str) -> Result<Option<String>, String> {
        self.name(path);
        Ok(self.disk.read(path).ok())
    }

    fn read_database(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        self.name(path);
        Ok(None)
    }

    fn now(&self) -> Option<i64> {
        self.disk.now()
    }

    /// Whether it is there is the appliance's affair.
    fn has_secret(&self, secret: &Secret) -> Option<bool> {
        if let Secret::File(path) = secret {
            self.name(path);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        dir
    }

    const WITH_FILES: &str = "schema = 1\n# kept\n[certificate.www]\ncertificate = \"certs/www.pem\"\n\
        key = \"/etc/certs/www.key\"\n[zone.\"example.test\"]\nfile = \"example.zone\"\n\
        [trigger.t]\ntype = \"http\"\nurl = \"http://127.0.0.1:1/\"\nsecret = { file = \"t.secret\" }\n";

    #[test]
    fn files_that_are_named_are_told_and_not_missed() {
        let dir = folder(&[("box.toml", WITH_FILES)]);
        let sent = to_send(&dir.path().join("box.toml")).unwrap();
        assert_eq!(sent.text, WITH_FILES, "as it stands");
        for file in ["certs/www.pem", "/etc/certs/www.key", "example.zone"] {
            assert!(sent.named.contains(&file.to_owned()), "{file}: {:?}", sent.named);
        }
    }

    #[test]
    fn includes_are_carried_and_what_they_name_counts_from_the_folder_of_the_root() {
        let inner = "[certificate.www]\ncertificate = \"www.pem\"\n";
        let dir = folder(&[("box.toml", "schema = 1\ninclude = [\"apps/*.toml\"]\n"), ("apps/a.toml", inner)]);
        let sent = to_send(&dir.path().join("box.toml")).unwrap();
        assert!(sent.text.contains("apps/www.pem") && !sent.text.contains("include"), "{}", sent.text);
        assert_eq!(sent.named, ["apps/www.pem"]);
    }

    #[test]
    fn what_is_wrong_with_the_text_is_still_said_before_anything_is_sent() {
        let dir = folder(&[("box.toml", "schema = 1\n[vserver.a]\nprot = 1\n")]);
        let problems = to_send(&dir.path().join("box.toml")).unwrap_err();
        assert!(problems.iter().any(|problem| problem.what.contains("prot")));
        assert!(to_send(&dir.path().join("none.toml")).unwrap_err()[0].what.contains("cannot be read"));
    }
}
