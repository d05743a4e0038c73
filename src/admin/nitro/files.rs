//! `systemfile`: certificates and keys that clients upload before they name them in `sslcertkey`.
//!
//! NetScaler's `/nsconfig/ssl` is the folder `ssl` of the state directory; there is no other. Names are plain, so no
//! path leads out of it. Private keys go in and are never given out.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::answer::{Fault, Object};
use super::live::{date, double, put};
use crate::model::time::Wall;

/// What clients call the folder.
pub(super) const LOCATION: &str = "/nsconfig/ssl";
/// Bytes of one file.
const SIZE_MAX: u64 = 256 << 10;
const FILES_MAX: usize = 1_000;
const NAME_MAX: usize = 63;

/// The folder; `None`: the appliance runs without a state directory.
#[derive(Debug, Clone, Default)]
pub(in crate::admin) struct Files(Option<PathBuf>);

// === impl Files ===

impl Files {
    /// In `state`.
    pub fn in_state(state: Option<&Path>) -> Files {
        // The configuration names its files by their whole path: it has a folder of its own.
        Files(state.map(|state| std::path::absolute(state).unwrap_or_else(|_| state.to_owned()).join("ssl")))
    }

    fn folder(&self, location: Option<&str>) -> Result<&Path, Fault> {
        let location = location.unwrap_or(LOCATION);
        let trimmed = location.trim_end_matches('/');
        if trimmed != LOCATION && trimmed != "/flash/nsconfig/ssl" {
            return Err(Fault::new(257, format!("filelocation: only {LOCATION} is there")));
        }
        let folder = self.0.as_deref();
        folder.ok_or_else(|| Fault::new(301, "the appliance runs without a state directory"))
    }

    /// `POST systemfile`
    pub fn add(&self, asked: &Object) -> Result<(), Fault> {
        let text = |key: &str| match asked.get(key) {
            Some(Value::String(text)) => Ok(Some(&text[..])),
            Some(Value::Null) | None => Ok(None),
            Some(_) => Err(Fault::new(1097, key)),
        };
        if let Some(unknown) =
            asked.keys().find(|key| !["filename", "filecontent", "filelocation", "fileencoding"].contains(&&key[..]))
        {
            return Err(Fault::new(1090, super::target::printable(unknown)));
        }
        let name = checked(text("filename")?.ok_or_else(|| Fault::new(1095, "filename"))?)?;
        let location = text("filelocation")?.ok_or_else(|| Fault::new(1095, "filelocation"))?;
        let folder = self.folder(Some(location))?;
        if text("fileencoding")?.is_some_and(|encoding| !encoding.eq_ignore_ascii_case("BASE64")) {
            return Err(Fault::new(1097, "fileencoding"));
        }
        let content = text("filecontent")?.ok_or_else(|| Fault::new(1095, "filecontent"))?;
        let spaceless: String = content.chars().filter(|c| !c.is_ascii_whitespace()).collect();
        let content = STANDARD.decode(spaceless).map_err(|_| Fault::new(1097, "filecontent"))?;
        if content.len() as u64 > SIZE_MAX {
            return Err(Fault::new(283, format!("{name}, at most {SIZE_MAX} bytes")));
        }
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(|e| failed(&e))?;
        if entries(folder).len() >= FILES_MAX {
            return Err(Fault::new(1072, "systemfile"));
        }
        store(&folder.join(name), &content)
    }

    /// `GET systemfile[/NAME]`
    pub fn list(&self, name: Option<&str>, location: Option<&str>) -> Result<Vec<Object>, Fault> {
        let folder = self.folder(location)?;
        match name {
            None => Ok(entries(folder).iter().filter_map(|name| shown(folder, name, false)).collect()),
            Some(name) => {
                let name = checked(name)?;
                let found = shown(folder, name, true).ok_or_else(|| Fault::no_such("filename", name))?;
                Ok(vec![found])
            }
        }
    }

    /// `DELETE systemfile/NAME`. `in_use`: paths that the configuration names.
    pub fn remove(&self, name: &str, location: Option<&str>, in_use: &[PathBuf]) -> Result<(), Fault> {
        let path = self.folder(location)?.join(checked(name)?);
        if !is_file(&path) {
            return Err(Fault::no_such("filename", name));
        }
        if in_use.contains(&path) {
            return Err(Fault::new(315, format!("filename, {name}")));
        }
        fs::remove_file(&path).map_err(|error| failed(&error))
    }

    /// The path of an uploaded file, as the configuration names it; `None`: it was not uploaded.
    pub fn path_of(&self, said: &str) -> Option<PathBuf> {
        let name = ["/nsconfig/ssl/", "/flash/nsconfig/ssl/"].iter().find_map(|at| said.strip_prefix(at));
        let path = self.0.as_ref()?.join(checked(name.unwrap_or(said)).ok()?);
        is_file(&path).then_some(path)
    }

    /// How clients name the file that stands at `path`.
    pub fn said_of(&self, path: &str) -> Option<String> {
        let name = Path::new(path).strip_prefix(self.0.as_ref()?).ok()?;
        name.to_str().map(str::to_owned)
    }
}

/// Letters, digits and `._-`, not hidden.
fn checked(name: &str) -> Result<&str, Fault> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let fits = (1..=NAME_MAX).contains(&name.len()) && name.chars().all(plain) && !name.starts_with('.');
    if fits { Ok(name) } else { Err(Fault::new(278, "filename")) }
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|meta| meta.is_file())
}

fn entries(folder: &Path) -> Vec<String> {
    let names = fs::read_dir(folder).into_iter().flatten().flatten().take(2 * FILES_MAX);
    let mut names: Vec<String> = names.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| checked(name).is_ok());
    names.sort();
    names
}

fn shown(folder: &Path, name: &str, with_content: bool) -> Option<Object> {
    let path = folder.join(name);
    let meta = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?;
    let mut object = Object::new();
    put(&mut object, "filename", name);
    put(&mut object, "filelocation", LOCATION);
    put(&mut object, "filesize", double(meta.len()));
    put(&mut object, "filemode", Value::from(vec!["-rw-------"]));
    put(&mut object, "filemodifiedtime", date(Wall(meta.mtime().saturating_mul(1_000_000))));
    if with_content && meta.len() <= SIZE_MAX {
        let content = fs::read(&path).ok()?;
        if is_public(&content) {
            put(&mut object, "fileencoding", "BASE64");
            put(&mut object, "filecontent", STANDARD.encode(content));
        }
    }
    Some(object)
}

/// Nothing but certificates, requests for them and parameters, as PEM. A key has many forms: what is not known to be none
/// does not leave.
fn is_public(content: &[u8]) -> bool {
    const LABELS: [&str; 5] =
        ["CERTIFICATE", "TRUSTED CERTIFICATE", "X509 CRL", "CERTIFICATE REQUEST", "DH PARAMETERS"];
    let Ok(text) = std::str::from_utf8(content) else { return false };
    let mut open = None;
    for line in text.lines().map(str::trim).filter(|line| !line.is_empty()) {
        let label = |begin: &str| line.strip_prefix(begin).and_then(|rest| rest.strip_suffix("-----"));
        match (open, label("-----BEGIN "), label("-----END ")) {
            (None, Some(label), _) if LABELS.contains(&label) => open = Some(label),
            (Some(begun), None, Some(label)) if begun == label => open = None,
            (Some(_), None, None) if line.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b)) => {}
            _ => return false,
        }
    }
    open.is_none()
}

fn store(path: &Path, content: &[u8]) -> Result<(), Fault> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let opened = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path);
    let mut file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            return Err(Fault::new(273, format!("filename, {name}")));
        }
        Err(error) => return Err(failed(&error)),
    };
    file.write_all(content).and_then(|()| file.sync_all()).map_err(|error| {
        let _ = fs::remove_file(path);
        failed(&error)
    })
}

fn failed(error: &std::io::Error) -> Fault {
    tracing::error!(%error, "an uploaded file cannot be kept");
    Fault::new(1043, "the file cannot be kept; the log says why")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_to_be_no_key_leaves() {
        let certificate = "-----BEGIN CERTIFICATE-----\nMIIB+/==\n-----END CERTIFICATE-----\n";
        assert!(
            is_public(certificate.as_bytes()) && is_public((certificate.to_owned() + "\n" + certificate).as_bytes())
        );
        let key = "-----BEGIN EC PRIVATE KEY-----\nMIIB\n-----END EC PRIVATE KEY-----\n";
        for kept in [
            key.to_owned(),
            certificate.to_owned() + key,
            format!("key\n{certificate}"),
            certificate.replace("END", "BEGIN"),
        ] {
            assert!(!is_public(kept.as_bytes()), "{kept}");
        }
        assert!(!is_public(&[0x30, 0x82, 0x01, 0xff]) && !is_public(b"-----BEGIN CERTIFICATE-----\nMIIB"));
    }

    fn file(name: &str, location: &str, content: &str) -> Object {
        let mut object = Object::new();
        put(&mut object, "filename", name);
        put(&mut object, "filelocation", location);
        put(&mut object, "filecontent", STANDARD.encode(content));
        object
    }

    #[test]
    fn a_file_goes_in_once_is_read_back_and_goes_unless_it_is_in_use() {
        let state = tempfile::tempdir().unwrap();
        let files = Files::in_state(Some(state.path()));
        let certificate = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";
        files.add(&file("web.pem", "/nsconfig/ssl", certificate)).unwrap();
        assert_eq!(files.add(&file("web.pem", "/nsconfig/ssl/", "another")).unwrap_err().code, 273);
        let listed = files.list(Some("web.pem"), None).unwrap();
        assert_eq!(listed[0]["filecontent"], STANDARD.encode(certificate));
        let path = files.path_of("/nsconfig/ssl/web.pem").unwrap();
        assert_eq!(files.path_of("web.pem").as_ref(), Some(&path));
        assert_eq!(files.said_of(path.to_str().unwrap()).as_deref(), Some("web.pem"));
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
        assert_eq!(files.remove("web.pem", None, std::slice::from_ref(&path)).unwrap_err().code, 315);
        files.remove("web.pem", None, &[]).unwrap();
        assert_eq!(files.remove("web.pem", None, &[]).unwrap_err().code, 258);
    }

    #[test]
    fn no_name_and_no_link_leads_out_of_the_folder() {
        let state = tempfile::tempdir().unwrap();
        let files = Files::in_state(Some(state.path()));
        for name in ["../x", "/etc/passwd", "a/b", ".hidden", "", "a\0b", "..", &"x".repeat(64)] {
            assert!(files.add(&file(name, "/nsconfig/ssl", "x")).is_err(), "{name}");
            assert!(files.list(Some(name), None).is_err() && files.remove(name, None, &[]).is_err(), "{name}");
        }
        for location in ["/etc", "/nsconfig/ssl/../..", "", "/nsconfig/sslx", "/nsconfig/ssl/x"] {
            assert_eq!(files.add(&file("x", location, "x")).unwrap_err().code, 257, "{location}");
        }
        files.add(&file("x", LOCATION, "x")).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", state.path().join("ssl/link")).unwrap();
        assert_eq!(files.list(Some("link"), None).unwrap_err().code, 258);
        assert_eq!(files.list(None, None).unwrap().len(), 1);
    }

    #[test]
    fn a_private_key_is_never_given_out() {
        let state = tempfile::tempdir().unwrap();
        let files = Files::in_state(Some(state.path()));
        files.add(&file("web.key", LOCATION, "-----BEGIN PRIVATE KEY-----\n")).unwrap();
        assert!(files.list(Some("web.key"), None).unwrap()[0].get("filecontent").is_none());
        let large = "x".repeat(SIZE_MAX as usize + 1);
        assert_eq!(files.add(&file("large", LOCATION, &large)).unwrap_err().code, 283);
        assert_eq!(Files::default().add(&file("x", LOCATION, "x")).unwrap_err().code, 301);
    }
}
