//! A saved `ns.conf` as a configuration.
//!
//! Lines may name what comes later, so they are not carried out in one go: what misses something waits until a line that
//! comes later has brought it ([`objects`](mod@objects)). What a line says beyond what this build does is left out keyword by
//! keyword, so that a service does not vanish for a profile that it names; where what is left would do something else, the
//! whole line is missing.
//!
//! Every line has a fate: carried, carried in part, of no meaning here, or missing; nothing is dropped in silence.

mod global;
mod network;
mod objects;
mod scripts;
mod secrets;
#[cfg(test)]
pub(super) mod tests;
mod unbound;
mod words;

use super::document::Document;
use super::gslb;
use super::line::{Token, tokens};

/// What became of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fate {
    Carried,
    /// It says something that has no meaning here: why.
    Irrelevant(&'static str),
    /// Carried without these parts, or not at all: each part with the reason.
    Missing {
        what: Vec<String>,
        /// Nothing of the line is carried.
        whole: bool,
        /// Traffic would go otherwise than there.
        traffic: bool,
    },
}

/// One line with its fate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// 1-based.
    pub number: usize,
    /// As it stands there, but for secrets, which are hidden.
    pub text: String,
    pub fate: Fate,
    /// Carried, and yet not the same to the letter.
    pub notes: Vec<String>,
}

/// What an `ns.conf` became.
#[derive(Clone, Debug)]
pub struct Imported {
    pub document: Document,
    /// Comments and empty lines left out.
    pub lines: Vec<Line>,
}

/// How many lines became what.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Coverage {
    pub lines: usize,
    pub carried: usize,
    pub irrelevant: usize,
    /// Carried in part.
    pub partly: usize,
    pub missing: usize,
}

/// More bytes are no saved configuration.
pub const BYTES_MOST: usize = 16 << 20;
/// Lines that one file may have, comments left out.
const LINES_MOST: usize = 100_000;

/// A line while it is worked off.
pub(super) struct Pending {
    number: usize,
    text: String,
    pub(super) tokens: Vec<Token>,
    pub(super) fate: Option<Fate>,
    pub(super) notes: Vec<String>,
}

/// Reads a whole file.
///
/// Errors: a text that is too long.
pub fn import(text: &str) -> Result<Imported, String> {
    if text.len() > BYTES_MOST {
        return Err(format!("it has more than {} MiB", BYTES_MOST >> 20));
    }
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if lines.len() == LINES_MOST {
            return Err(format!("it has more than {LINES_MOST} lines"));
        }
        lines.push(Pending::read(at + 1, line));
    }
    let mut document = Document::default();
    let mut root = document.into_root();
    root.insert("schema".into(), 1.into());
    document = Document::from_root(root);
    network::set_aside(&mut lines);
    words::set_aside(&mut lines);
    let gslb = gslb::collect(&mut lines);
    let everywhere = global::collect(&mut lines);
    objects::carry(&mut document, &mut lines);
    global::carry(&mut document, &mut lines, &everywhere);
    gslb.carry(&mut document, &mut lines);
    scripts::name_folder(&mut document, &mut lines);
    unbound::tell(&mut lines);
    let lines = lines.into_iter().map(Pending::done).collect();
    Ok(Imported { document, lines })
}

// === impl Pending ===

impl Pending {
    pub(super) fn read(number: usize, text: &str) -> Pending {
        let mut pending = Pending { number, text: text.to_owned(), tokens: Vec::new(), fate: None, notes: Vec::new() };
        // The output of a session, kept as a file.
        if text.eq_ignore_ascii_case("Done") || text.starts_with("Warning: ") {
            pending.fate = Some(Fate::Irrelevant("it is what a shell says, and no line"));
            return pending;
        }
        match tokens(text) {
            Ok(tokens) => pending.tokens = tokens,
            Err(why) => pending.missing(vec![why]),
        }
        pending
    }

    /// The words of the line in lower case, as far as they are bare.
    pub(super) fn word(&self, at: usize) -> String {
        self.tokens.get(at).filter(|token| !token.quoted).map_or_else(String::new, |t| t.text.to_ascii_lowercase())
    }

    pub(super) fn text(&self, at: usize) -> Option<&str> {
        self.tokens.get(at).map(|token| &token.text[..])
    }

    /// The value behind a keyword, in any case.
    pub(super) fn value(&self, keyword: &str) -> Option<&str> {
        let is_it = |token: &Token| {
            !token.quoted && token.text.strip_prefix('-').is_some_and(|word| word.eq_ignore_ascii_case(keyword))
        };
        let at = self.tokens.iter().position(is_it)?;
        self.text(at + 1)
    }

    /// Nothing of it is carried, and traffic would miss it.
    pub(super) fn missing(&mut self, what: Vec<String>) {
        self.fate = Some(Fate::Missing { what, whole: true, traffic: true });
    }

    fn done(self) -> Line {
        let unknown = || Fate::Missing { what: vec!["not known".into()], whole: true, traffic: true };
        let text = secrets::without(self.text, &self.tokens);
        Line { number: self.number, text, fate: self.fate.unwrap_or_else(unknown), notes: self.notes }
    }
}

// === impl Imported ===

impl Imported {
    pub fn coverage(&self) -> Coverage {
        let mut coverage = Coverage { lines: self.lines.len(), ..Coverage::default() };
        for line in &self.lines {
            match &line.fate {
                Fate::Carried => coverage.carried += 1,
                Fate::Irrelevant(_) => coverage.irrelevant += 1,
                Fate::Missing { whole: false, .. } => coverage.partly += 1,
                Fate::Missing { .. } => coverage.missing += 1,
            }
        }
        coverage
    }

    /// Whether something is missing that changes where traffic goes or what it is answered.
    pub fn changes_traffic(&self) -> bool {
        self.lines.iter().any(|line| matches!(line.fate, Fate::Missing { traffic: true, .. }))
    }
}
