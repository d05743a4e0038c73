//! L1: text ⇄ [`Model`](crate::model::Model). Opens no file: whoever calls it brings the texts ([`Files`]).
//!
//! Loading walks the spanned document first, so that *all* problems are reported at once with file, line and the
//! nearest known spelling; building typed values is the last step.

pub mod condition;
pub mod diff;
mod document;
pub mod edit;
mod include;
mod order;
pub mod pair;
pub mod policy;
pub mod problem;
pub mod render;
mod report;
mod resolve;
pub mod schema;
pub mod units;
pub mod values;
pub mod visible;
mod walk;
mod warnings;
pub mod zonefile;

pub use resolve::builtin_monitors;
pub use resolve::populate::populate;

use std::fmt::Write;
use std::sync::Arc;

use sha2::{Digest, Sha256};

use crate::model::Model;
use crate::model::id::Name;
use crate::model::scenario::Secret;
use crate::model::zone::ZoneText;

pub use problem::{Problem, Severity};
pub use report::nearest;

/// One text with the name it is reported under.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// The path as the operator would write it.
    pub path: Name,
    pub text: Arc<str>,
}

/// Where includes and zone files come from. Paths are relative to the root file.
pub trait Files {
    /// Paths that a glob matches, sorted.
    fn glob(&self, pattern: &str) -> Result<Vec<String>, String>;
    fn read(&self, path: &str) -> Result<String, String>;
    /// The text of a certificate, a zone file or a public key that a text names. `None`: it is not to be had here, and the
    /// configuration is good without it.
    fn read_named(&self, path: &str) -> Result<Option<String>, String> {
        self.read(path).map(Some)
    }
    /// The text of a private key. `None`: it is not to be had here, and the configuration is good without it.
    fn read_key(&self, path: &str) -> Result<Option<String>, String> {
        self.read(path).map(Some)
    }
    /// Whether nobody but its owner and group can read a file; `None` where that is not known here.
    fn is_private(&self, path: &str) -> Option<bool> {
        let _ = path;
        None
    }
    /// The bytes of a database. `None`: it is not to be had here, and the configuration is good without it.
    fn read_database(&self, path: &str) -> Result<Option<Vec<u8>>, String> {
        let _ = path;
        Ok(None)
    }
    /// Seconds since 1970, for what is about to expire; `None` where the time does not matter.
    fn now(&self) -> Option<i64> {
        None
    }
    /// Whether a secret is there; `None` where that is not known here. An absent one is a warning at load.
    fn has_secret(&self, secret: &Secret) -> Option<bool> {
        let _ = secret;
        None
    }
}

/// A configuration that loads.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub model: Arc<Model>,
    /// Severity `Warning` only.
    pub warnings: Vec<Problem>,
    /// The root first, then includes, certificates and zone files; never a key.
    pub sources: Vec<Source>,
    /// SHA-256 over the canonical rendering of the model, in hex.
    pub hash: Name,
}

/// Loads `root` with everything that it includes. `overrides` are `--set PATH=VALUE` pairs, applied to the document.
/// All problems are returned at once, sorted by file and line, warnings included at the end.
pub fn load(root: Source, overrides: &[(String, String)], files: &dyn Files) -> Result<Loaded, Vec<Problem>> {
    let mut report = report::Report::new();
    let mut document = include::read(&mut report, root, files);
    if report.is_refused() {
        return Err(report.finish().1);
    }
    include::apply(&mut report, &mut document, overrides);
    let made = policy::expand(&mut report, &mut document);
    walk::document(&mut report, &mut document);
    let mut model = resolve::resolve(&mut report, &document, files);
    (model.policies.criteria, model.policies.rules) = (made.criteria, made.rules);
    model.policies.global_rules = made.global;
    if report.has_errors() {
        return Err(report.finish().1);
    }
    warnings::all(&mut report, &document, &model);
    let (sources, warnings) = report.finish();
    let hash = hash(&model);
    Ok(Loaded { model: Arc::new(model), warnings, sources, hash })
}

/// Of the canonical text, and of the zone files and certificates that it names: two configurations that mean the same have the same hash,
/// however they are written.
pub fn hash(model: &Model) -> Name {
    let mut hasher = Sha256::new_with_prefix(render::render(model));
    for zone in &model.zones {
        if let Some(ZoneText::File { text, .. }) = &zone.text {
            hasher.update(text.as_bytes());
        }
    }
    for certificate in &model.certificates {
        hasher.update(certificate.chain.text.as_bytes());
    }
    for tls in model.peers.iter().filter_map(|peer| peer.tls.as_ref()).chain(&model.peer_link.tls) {
        hasher.update(tls.certificate.text.as_bytes());
        hasher.update(tls.ca.text.as_bytes());
    }
    hex(hasher)
}

/// Of each table that boxes of a cluster have in common, as [`hash`].
pub fn shared_hashes(model: &Model) -> Vec<(Name, Name)> {
    let hashed = |(table, text): (&'static str, String)| {
        let mut hasher = Sha256::new_with_prefix(text);
        for zone in model.zones.iter().filter(|_| table == "zone") {
            if let Some(ZoneText::File { text, .. }) = &zone.text {
                hasher.update(text.as_bytes());
            }
        }
        (table.into(), hex(hasher))
    };
    render::shared(model).into_iter().map(hashed).collect()
}

fn hex(hasher: Sha256) -> Name {
    let mut hex = String::with_capacity(64);
    for byte in hasher.finalize() {
        let _ = write!(hex, "{byte:02x}");
    }
    hex.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    struct NoFiles;

    impl Files for NoFiles {
        fn glob(&self, _: &str) -> Result<Vec<String>, String> {
            Ok(Vec::new())
        }

        fn read(&self, path: &str) -> Result<String, String> {
            Err(format!("no file `{path}` here"))
        }
    }

    /// A text that loads.
    pub(in crate::config) fn loaded(text: &str) -> Loaded {
        let root = Source { path: "test.toml".into(), text: text.into() };
        load(root, &[], &NoFiles).unwrap_or_else(|problems| {
            panic!("{}", problems.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n"))
        })
    }
}
