//! Writing what runs to FILE, so that FILE loads as what runs.

use std::path::PathBuf;
use std::sync::Arc;

use super::FileAccess;
use crate::config::{Loaded, Source, edit, load, render::render};
use crate::control::command::Refusal;
use crate::control::{delta, save};
use crate::files;
use crate::model::Model;
use crate::model::id::Name;

/// Makes FILE mean `running`.
pub struct SaveJob {
    /// FILE.
    pub path: PathBuf,
    /// What runs, as one text.
    pub text: String,
    /// It was given so, and is not a print of the model.
    pub in_one_text: bool,
    pub running: Arc<Model>,
    pub hash: String,
    /// What FILE meant when it was read.
    pub saved: Arc<Model>,
    pub saved_hash: String,
    pub overrides: Vec<(String, String)>,
    pub files: FileAccess,
}

// === impl SaveJob ===

impl SaveJob {
    /// The new text of FILE, and what to tell.
    pub fn run(self) -> Result<(String, Vec<String>), Refusal> {
        let mut warnings = Vec::new();
        let file = self.path.display();
        let old = files::read_text(&self.path).ok();
        let means = old.as_deref().and_then(|old| self.load(old)).map(|loaded| loaded.hash);
        if let Some(old) = &old
            && means.as_deref() == Some(&*self.hash)
        {
            // Somebody wrote it already; or nothing was changed.
            return Ok((old.clone(), warnings));
        }
        if old.is_some() && means.as_deref() != Some(&*self.saved_hash) {
            warnings.push(format!("{file} was changed since it was read; that version is now {file}.1"));
        }
        let Some((text, note)) = self.candidates(old.as_deref()).find(|(text, _)| self.means_what_runs(text)) else {
            return Err(Refusal::Conflict(format!(
                "what runs cannot be written to {file} so that it loads the same: is a file that it includes changed?"
            )));
        };
        warnings.extend(note.map(|note| format!("{file} {note}")));
        if old.as_deref().is_some_and(includes) && !includes(&text) {
            warnings.push(format!("{file} no longer includes other files: everything stands in it now"));
        }
        save::replace(&self.path, &text).map_err(|e| Refusal::Disk(format!("cannot write {file}: {e}")))?;
        Ok((text, warnings))
    }

    /// Texts from the most careful one to the one that always works, with what they cost.
    fn candidates<'a>(&'a self, old: Option<&'a str>) -> impl Iterator<Item = (String, Option<&'static str>)> + 'a {
        let merged = move || edit::merge(old?, &self.text).ok();
        let spelled = |text| (text, Some("was changed in more places than somebody edited: defaults are spelled out"));
        let whole = |text| (text, Some("was written anew: comments, defaults and includes are spelled out or gone"));
        self.careful(old)
            .into_iter()
            .map(|text| (text, None))
            .chain(std::iter::once_with(merged).flatten().map(spelled))
            .chain(std::iter::once_with(move || whole(self.text.clone())))
            .chain(std::iter::once_with(move || whole(render(&self.running))))
    }

    /// FILE changed by what differs in the model, and FILE made to say what the text that runs says. Both mean the same;
    /// first the shorter one, because the other spells defaults out.
    fn careful(&self, old: Option<&str>) -> Vec<String> {
        let Some(old) = old else { return Vec::new() };
        let carried = delta::carry(old, &render(&self.saved), &render(&self.running)).ok();
        // Only the former leaves it to other files what stands in them.
        let is_print = || self.text == render(&self.running);
        let as_given =
            (self.in_one_text && !includes(old) && !is_print()).then(|| edit::merge(old, &self.text).ok()).flatten();
        let mut texts: Vec<String> = carried.into_iter().chain(as_given).collect();
        texts.sort_by_key(String::len);
        texts
    }

    fn means_what_runs(&self, text: &str) -> bool {
        self.load(text).is_some_and(|loaded| *loaded.hash == *self.hash)
    }

    fn load(&self, text: &str) -> Option<Loaded> {
        let name: Name = self.path.display().to_string().into();
        load(Source { path: name, text: text.into() }, &self.overrides, &*self.files).ok()
    }
}

fn includes(text: &str) -> bool {
    let table: Option<toml::Table> = text.parse().ok();
    let list = table.as_ref().and_then(|table| table.get("include")?.as_array());
    list.is_some_and(|list| !list.is_empty())
}
