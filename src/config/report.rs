//! Collects what is wrong while a configuration is read. Every step goes on after a problem, so that the operator sees
//! all of them at once; lines are counted only for places that have one.

use std::collections::HashSet;
use std::fmt::Display;
use std::sync::Arc;

use super::document::Place;
use super::{Problem, Severity, Source};
use crate::model::id::Name;

/// The files read so far and the problems found in them.
#[derive(Debug, Default)]
pub struct Report {
    files: Vec<File>,
    problems: Vec<Problem>,
    errors: usize,
    syntax: bool,
    refused: bool,
    /// Files that are no TOML.
    broken: HashSet<u32>,
    spellings: usize,
}

#[derive(Debug)]
struct File {
    source: Source,
    /// False for a `--set`, which has no lines.
    real: bool,
    /// Byte offsets at which lines begin; counted at the first problem.
    lines: Option<Vec<u32>>,
}

/// Problems beyond this many are counted and not kept.
const PROBLEMS_MOST: usize = 1000;

/// Nearest spellings are looked for this often in one load; the search reads a whole table of names.
const SPELLINGS_MOST: usize = 300;

/// Letters of the longest word that is taken for a slip. The search takes the product of both lengths for each candidate.
const SPELLED_MOST: usize = 100;

/// The nearest of `candidates` by edit distance, where it is near enough to be a slip: at most a third of the letters
/// and one more.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = word.chars().take(SPELLED_MOST + 1).count();
    if length > SPELLED_MOST {
        return None;
    }
    let most = 1 + length / 3;
    let lower = word.to_lowercase();
    candidates
        .into_iter()
        // Each letter more or less is a change.
        .filter(|candidate| candidate.chars().take(length + most + 1).count().abs_diff(length) <= most)
        .filter_map(|candidate| {
            let distance = strsim::damerau_levenshtein(&lower, &candidate.to_lowercase());
            (distance <= most && distance < length.max(candidate.chars().count())).then_some((distance, candidate))
        })
        .min_by_key(|(distance, candidate)| (*distance, *candidate))
        .map(|(_, candidate)| candidate)
}

// === impl Report ===

impl Report {
    pub fn new() -> Report {
        Report::default()
    }

    /// Adds a file; the number is what a [`Place`] names.
    pub fn add(&mut self, path: Name, text: Arc<str>, real: bool) -> u32 {
        self.files.push(File { source: Source { path, text }, real, lines: None });
        (self.files.len() - 1) as u32
    }

    pub fn error(&mut self, place: Place, path: impl Display, what: impl Into<String>) {
        self.push(Severity::Error, place, path.to_string(), what.into(), None);
    }

    /// An error with the spelling that was probably meant.
    pub fn error_meant(&mut self, place: Place, path: impl Display, what: impl Into<String>, meant: Option<String>) {
        self.push(Severity::Error, place, path.to_string(), what.into(), meant);
    }

    pub fn warning(&mut self, place: Place, path: impl Display, what: impl Into<String>) {
        self.push(Severity::Warning, place, path.to_string(), what.into(), None);
    }

    /// A definition that stands twice was left out; a key of it may only seem to be missing.
    pub fn twice(&mut self, place: Place, what: String) {
        self.syntax = true;
        self.push(Severity::Error, place, String::new(), what, None);
    }

    /// The text is no TOML; what else could be said of the whole would only be a guess.
    pub fn syntax(&mut self, place: Place, what: String) {
        self.refuse(place, "", what);
        self.broken.insert(place.file);
    }

    /// Whether the file is no TOML.
    pub fn is_broken(&self, file: u32) -> bool {
        self.broken.contains(&file)
    }

    /// The file is for another program; what else it says would only be noise.
    pub fn refuse(&mut self, place: Place, path: impl Display, what: String) {
        self.refused = true;
        self.error(place, path, what);
    }

    /// A problem of a file that could not be read at all, or of the whole.
    pub fn without_place(&mut self, file: Name, what: String) {
        self.errors += 1;
        let severity = Severity::Error;
        self.problems.push(Problem {
            file,
            line: 0,
            column: 0,
            severity,
            path: String::new(),
            what,
            did_you_mean: None,
        });
    }

    /// A line within a text value: zone text stands in the configuration, and its problems have lines of the file.
    pub fn error_in_text(&mut self, place: Place, path: impl Display, line: u32, column: u32, what: String) {
        let (first_line, first_column, multi_line) = self.text_start(place);
        self.push(Severity::Error, place, path.to_string(), what, None);
        if let Some(problem) = self.problems.last_mut().filter(|problem| problem.line > 0) {
            problem.line = first_line + line.saturating_sub(1);
            problem.column = if multi_line || line > 1 { column } else { first_column + column };
        }
    }

    /// A line of a file that is no configuration: a zone file.
    pub fn error_at(&mut self, file: u32, line: u32, column: u32, path: impl Display, what: String) {
        self.push(Severity::Error, Place { file, start: 0 }, path.to_string(), what, None);
        if let Some(problem) = self.problems.last_mut() {
            (problem.line, problem.column) = (line, column);
        }
    }

    /// A path that a file names: relative to the root file, as [`Files`](super::Files) takes it, and as it is reported.
    pub fn beside(&self, file: u32, path: &str) -> (String, Name) {
        let directory = |path: &str| path.rfind('/').map_or(0, |at| at + 1);
        let Some(root) = self.files.first().map(|file| file.source.path.clone()) else {
            return (path.to_owned(), path.into());
        };
        let root = &root[..directory(&root)];
        let named_in = &self.files[file as usize];
        if path.starts_with('/') {
            return (path.to_owned(), path.into());
        }
        let here = if named_in.real { &named_in.source.path[..directory(&named_in.source.path)] } else { root };
        let shown = format!("{here}{path}");
        (shown.strip_prefix(root).unwrap_or(&shown).to_owned(), shown.into())
    }

    /// Whether another search for a nearest spelling is affordable.
    pub fn may_spell(&mut self) -> bool {
        self.spellings += 1;
        self.spellings <= SPELLINGS_MOST
    }

    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    pub fn is_refused(&self) -> bool {
        self.refused
    }

    pub fn has_syntax_errors(&self) -> bool {
        self.syntax
    }

    pub fn text(&self, file: u32) -> Arc<str> {
        self.files[file as usize].source.text.clone()
    }

    pub fn path(&self, file: u32) -> Name {
        self.files[file as usize].source.path.clone()
    }

    /// `file:line` of a place, for problems that name a second one.
    pub fn describe(&mut self, place: Place) -> String {
        let (line, _) = self.position(place);
        let path = self.path(place.file);
        if line == 0 { path.to_string() } else { format!("{path}:{line}") }
    }

    /// The real files, and the problems by file and line, errors first.
    pub fn finish(mut self) -> (Vec<Source>, Vec<Problem>) {
        if self.problems.len() > PROBLEMS_MOST {
            let left_out = self.problems.len() - PROBLEMS_MOST;
            self.problems.truncate(PROBLEMS_MOST);
            let file = self.files.first().map_or_else(|| Name::from(""), |f| f.source.path.clone());
            self.without_place(file, format!("{left_out} more problems"));
        }
        let order: std::collections::HashMap<Name, usize> =
            self.files.iter().enumerate().rev().map(|(at, file)| (file.source.path.clone(), at)).collect();
        self.problems.sort_by_key(|p| (p.severity, order.get(&p.file).copied(), p.line, p.column, p.what.clone()));
        self.problems.dedup();
        let sources = self.files.into_iter().filter(|file| file.real).map(|file| file.source).collect();
        (sources, self.problems)
    }

    fn push(&mut self, severity: Severity, place: Place, path: String, what: String, did_you_mean: Option<String>) {
        self.errors += usize::from(severity == Severity::Error);
        // A bound on memory: one more is kept so that `finish` knows that some were left out.
        if self.problems.len() > PROBLEMS_MOST * 10 {
            return;
        }
        let (line, column) = self.position(place);
        let file = self.path(place.file);
        self.problems.push(Problem { file, line, column, severity, path, what, did_you_mean });
    }

    /// Line and column (in characters), 1-based; zeros for a `--set`.
    fn position(&mut self, place: Place) -> (u32, u32) {
        let file = &mut self.files[place.file as usize];
        if !file.real {
            return (0, 0);
        }
        let text = &file.source.text;
        let lines = file.lines.get_or_insert_with(|| {
            let ends = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n');
            std::iter::once(0).chain(ends.map(|(at, _)| at as u32 + 1)).collect()
        });
        let line = lines.partition_point(|start| *start <= place.start).max(1);
        let from = lines[line - 1] as usize;
        let to = (place.start as usize).clamp(from, text.len());
        let column = String::from_utf8_lossy(&text.as_bytes()[from..to]).chars().count();
        (line as u32, column as u32 + 1)
    }

    /// Where the text of a string value begins: line, column, and whether it stands on lines of its own.
    fn text_start(&mut self, place: Place) -> (u32, u32, bool) {
        let (line, column) = self.position(place);
        let text = self.text(place.file);
        let rest = text.get(place.start as usize..).unwrap_or("");
        let quoted = rest.strip_prefix("\"\"\"").or_else(|| rest.strip_prefix("'''"));
        match quoted {
            Some(rest) if rest.starts_with('\n') || rest.starts_with("\r\n") => (line + 1, 1, true),
            Some(_) => (line, column + 2, false),
            None => (line, column, false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_spelling_is_offered_only_when_it_is_near() {
        assert_eq!(nearest("prot", ["port", "protocol", "server"]), Some("port"));
        assert_eq!(nearest("intervall", ["interval", "timeout"]), Some("interval"));
        assert_eq!(nearest("xyz", ["port", "server"]), None);
        assert_eq!(nearest("a", ["b"]), None);
        let long = "a".repeat(1 << 20);
        assert_eq!(nearest(&long, [&long[1..], "port"]), None, "nobody slips in a million letters");
        assert_eq!(nearest("port", [&long[..]]), None);
    }

    #[test]
    fn a_problem_inside_zone_text_has_the_line_of_the_file() {
        let mut report = Report::new();
        let file = report.add("a.toml".into(), "x = 1\nstatic = \"\"\"\n@ NS ns1\nbad\n\"\"\"\n".into(), true);
        report.error_in_text(Place { file, start: 15 }, "zone", 2, 1, "nonsense".into());
        let (_, problems) = report.finish();
        assert_eq!((problems[0].line, problems[0].column), (4, 1));
    }
}
