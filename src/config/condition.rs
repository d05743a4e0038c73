//! The text of condition terms: `api-a!{fails:1}`, `dc:dc-a.wan@dc-w`, `vs:web.health>=50{for:15m}`.
//!
//! One grammar for scenarios and traffic rules. Reading yields a [`RawTerm`]; its id is resolved to an object by the
//! loader, which knows the names. [`canonical`] prints the one text that every equal term has: it names groups that
//! have no name of their own, and reading it gives the same term again.
//!
//! ```text
//! term      = id ["!"] ["{" qualifier {"," qualifier} "}"]
//! qualifier = measure | "for:" duration
//! measure   = "fails:" N | "passes:" N | "flaps<" N " in " duration
//!           | "latency." ("avg"|"last"|"p50"|"p95"|"p99") "<" duration [" over " (N " samples" | duration)]
//!             [", leave at " duration]
//! ```
//!
//! At most one measure, then at most one `for`. Spaces may stand between any two words, except inside an id.

mod id;
mod qualifier;

use std::fmt::{self, Write};
use std::time::Duration;

use crate::config::units::format_duration;
use crate::model::condition::{Measure, ServiceFacet, Signal, Statistic, VserverFacet, Window};

pub use id::parse_id;

/// A term as text says it, before its id is resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawTerm {
    /// The text before `!` or `{`, prefix and comparison included.
    pub id: String,
    pub negated: bool,
    pub measure: Option<Measure>,
    pub hold: Option<Duration>,
}

/// What is wrong with a term, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermError {
    /// Bytes from the start of the text that was given.
    pub offset: usize,
    pub what: String,
    /// What to write instead.
    pub did_you_mean: Option<String>,
}

/// An id split into what it speaks of; names are not looked up yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawSubject {
    /// A check, or in traffic rules a criterion. Also every id whose prefix is none of the known ones: monitors on
    /// services are checks named `SERVICE:MONITOR`.
    Plain(String),
    Vserver {
        name: String,
        facet: VserverFacet,
    },
    Service {
        name: String,
        facet: ServiceFacet,
    },
    Scenario(String),
    Datacenter {
        name: String,
        signal: Signal,
        observer: Option<String>,
    },
    TimeWindow(String),
    Switch(String),
}

/// Reads one term. The id is checked for its characters and for what its kind allows; [`parse_id`] splits it.
pub fn parse_term(text: &str) -> Result<RawTerm, TermError> {
    let mut cursor = Cursor::new(text);
    cursor.skip_spaces();
    let id_at = cursor.at;
    if cursor.peek().is_none() {
        return Err(TermError::new(0, "the term is empty"));
    }
    if cursor.peek() == Some('!') {
        let meant = text.trim_start_matches(['!', ' ']).trim_end();
        let meant = (!meant.is_empty() && !meant.contains(['!', '{'])).then(|| format!("{meant}!"));
        return Err(TermError::new(id_at, "`!` stands after the id").meaning(meant));
    }
    let id = cursor.take_while(id::is_id_char);
    if id.is_empty() {
        return Err(cursor.unexpected("an id"));
    }
    cursor.skip_spaces();
    let negated = cursor.eat("!");
    cursor.skip_spaces();
    let qualifiers = if cursor.peek() == Some('{') { qualifier::parse(&mut cursor)? } else { Default::default() };
    cursor.skip_spaces();
    if cursor.peek().is_some() {
        return Err(after_the_term(&cursor, id, negated, qualifiers.at.is_some()));
    }
    qualifier::fit(id, negated, &qualifiers)?;
    parse_id(id).map_err(|e| TermError { offset: id_at + e.offset, ..e })?;
    Ok(RawTerm { id: id.into(), negated, measure: qualifiers.measure, hold: qualifiers.hold })
}

/// The one text of a term: no spaces but those of the grammar, windows written out, durations in their shortest form.
pub fn canonical(term: &RawTerm) -> String {
    let mut text = term.id.clone();
    if term.negated {
        text.push('!');
    }
    let qualifiers: Vec<String> =
        [term.measure.as_ref().map(measure_text), term.hold.map(|hold| format!("for:{}", format_duration(hold)))]
            .into_iter()
            .flatten()
            .collect();
    if !qualifiers.is_empty() {
        let _ = write!(text, "{{{}}}", qualifiers.join(", "));
    }
    text
}

fn measure_text(measure: &Measure) -> String {
    match measure {
        Measure::Fails(n) => format!("fails:{n}"),
        Measure::Passes(n) => format!("passes:{n}"),
        Measure::Flaps { fewer_than, within } => format!("flaps<{fewer_than} in {}", format_duration(*within)),
        Measure::Latency { statistic, below, over, leave_at } => {
            let mut text = format!("latency.{}<{}", statistic_word(*statistic), format_duration(*below));
            let _ = match over {
                Window::Samples(n) => write!(text, " over {n} samples"),
                Window::Span(span) => write!(text, " over {}", format_duration(*span)),
            };
            if let Some(leave) = leave_at {
                let _ = write!(text, ", leave at {}", format_duration(*leave));
            }
            text
        }
    }
}

fn statistic_word(statistic: Statistic) -> &'static str {
    qualifier::STATISTICS.iter().find(|(_, s)| *s == statistic).map(|(word, _)| *word).expect("all are listed")
}

/// What stands where the term should be over: most often a second `!`, a `!` after the braces, or a space in an id.
fn after_the_term(cursor: &Cursor, id: &str, negated: bool, qualified: bool) -> TermError {
    let error = cursor.unexpected("the end of the term");
    match cursor.peek() {
        Some('!') if qualified => TermError::new(cursor.at, "`!` stands between the id and `{`"),
        Some('!') if negated => TermError::new(cursor.at, "`!` stands twice").meaning(Some(format!("{id}!"))),
        Some(c) if !negated && !qualified && id::is_id_char(c) => {
            TermError::new(cursor.at, "an id holds no spaces; terms are separate strings")
        }
        _ => error,
    }
}

/// A reader of one term.
struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

// === impl Cursor ===

impl<'a> Cursor<'a> {
    fn new(text: &'a str) -> Cursor<'a> {
        Cursor { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn skip_spaces(&mut self) {
        self.take_while(char::is_whitespace);
    }

    fn take_while(&mut self, mut wanted: impl FnMut(char) -> bool) -> &'a str {
        let rest = self.rest();
        let end = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn eat(&mut self, what: &str) -> bool {
        let there = self.rest().starts_with(what);
        if there {
            self.at += what.len();
        }
        there
    }

    fn expect(&mut self, what: &str) -> Result<(), TermError> {
        self.skip_spaces();
        if self.eat(what) {
            return Ok(());
        }
        let mut error = self.unexpected(&format!("`{what}`"));
        if what == ":" && self.peek().is_some_and(|c| c.is_ascii_digit()) {
            error.what += "; a colon stands before the value, as in `{for:15s}`";
        }
        Err(error)
    }

    fn unexpected(&self, expected: &str) -> TermError {
        match self.peek() {
            Some(c) => TermError::new(self.at, format!("`{}` where {expected} should be", c.escape_debug())),
            None => TermError::new(self.at, format!("the term ends where {expected} should be")),
        }
    }
}

// === impl TermError ===

impl TermError {
    fn new(offset: usize, what: impl Into<String>) -> TermError {
        TermError { offset, what: what.into(), did_you_mean: None }
    }

    fn meaning(self, did_you_mean: Option<String>) -> TermError {
        TermError { did_you_mean, ..self }
    }
}

impl fmt::Display for TermError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)?;
        match &self.did_you_mean {
            Some(meant) => write!(f, "; did you mean `{meant}`?"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for TermError {}

#[cfg(test)]
mod tests;
