//! A model from the texts that the journal holds.

use std::sync::Arc;

use crate::config::{self, Files, Source};
use crate::control::journal::history::Adopted;
use crate::model::Model;

/// The model of a configuration that was adopted, and what the reader should know about it. Errors: this program cannot
/// load what another one ran, with its problems.
pub fn model(adopted: &Adopted) -> Result<(Arc<Model>, Option<String>), String> {
    let Some(root) = adopted.sources.first() else { return Err("it has no text".into()) };
    let files = Journalled { folder: folder(&root.path), sources: &adopted.sources[1..] };
    let loaded = config::load(root.clone(), &adopted.set, &files).map_err(|problems| {
        let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
        format!("this program cannot load it:\n{}", lines.join("\n"))
    })?;
    // Secrets are not in the journal, so a configuration with some never hashes alike.
    let has_secrets = adopted.sources.iter().any(|source| config::edit::is_redacted(&source.text));
    let is_other = loaded.hash != adopted.hash && !has_secrets;
    let note = is_other.then(|| {
        let hash = adopted.hash.get(..12).unwrap_or(&adopted.hash);
        format!("note: the configuration {hash} means something else to this program than to the one that ran it")
    });
    Ok((loaded.model, note))
}

/// Includes and zone files, as they were.
struct Journalled<'a> {
    /// Of the root file, with its final slash.
    folder: &'a str,
    sources: &'a [Source],
}

// === impl Journalled ===

impl Journalled<'_> {
    fn relative<'s>(&self, source: &'s Source) -> &'s str {
        source.path.strip_prefix(self.folder).unwrap_or(&source.path)
    }
}

impl Files for Journalled<'_> {
    fn glob(&self, pattern: &str) -> Result<Vec<String>, String> {
        let pattern = glob::Pattern::new(pattern).map_err(|e| e.to_string())?;
        // As a file system matches: no star crosses a slash.
        let options = glob::MatchOptions { require_literal_separator: true, ..glob::MatchOptions::new() };
        let matching = self.sources.iter().map(|s| self.relative(s)).filter(|path| pattern.matches_with(path, options));
        let mut paths: Vec<String> = matching.map(str::to_owned).collect();
        paths.sort();
        paths.dedup();
        Ok(paths)
    }

    fn read(&self, path: &str) -> Result<String, String> {
        let source = self.sources.iter().find(|s| self.relative(s) == path || &*s.path == path);
        source.map(|s| s.text.to_string()).ok_or_else(|| format!("the journal does not hold `{path}`"))
    }

    /// Keys are never in the journal.
    fn read_key(&self, _: &str) -> Result<Option<String>, String> {
        Ok(None)
    }
}

fn folder(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..=at])
}
