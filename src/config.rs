//! L1: text ⇄ [`Model`](crate::model::Model). Opens no file: whoever calls it brings the texts ([`Files`]).
//!
//! Loading walks the spanned document first, so that *all* problems are reported at once with file, line and the
//! nearest known spelling; building typed values is the last step.

pub mod condition;
pub mod diff;
pub mod edit;
pub mod pair;
pub mod problem;
pub mod render;
pub mod units;
pub mod zonefile;

use std::sync::Arc;

use crate::model::Model;
use crate::model::id::Name;

pub use problem::{Problem, Severity};

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
}

/// A configuration that loads.
#[derive(Clone, Debug)]
pub struct Loaded {
    pub model: Arc<Model>,
    /// Severity `Warning` only.
    pub warnings: Vec<Problem>,
    /// The root first, then includes and zone files.
    pub sources: Vec<Source>,
    /// SHA-256 over the canonical rendering of the model, in hex.
    pub hash: Name,
}

/// Loads `root` with everything that it includes. `overrides` are `--set PATH=VALUE` pairs, applied to the document.
/// All problems are returned at once, sorted by file and line, warnings included at the end.
pub fn load(root: Source, overrides: &[(String, String)], files: &dyn Files) -> Result<Loaded, Vec<Problem>> {
    let _ = (root, overrides, files);
    todo!()
}
