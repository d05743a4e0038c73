//! NetScaler's advanced expressions as criteria and groups.
//!
//! An expression goes: text → tree of links ([`parse`](mod@parse)) → tests that a criterion has ([`translate`](mod@translate))
//! → groups of terms ([`Condition`]), as a rule's `when` has them. What no criterion can say is refused with the part that
//! it is about; nothing is approximated in silence.
//!
//! Two things are told apart as NetScaler tells them: `HTTP.REQ.URL` is path and query, `HTTP.REQ.URL.PATH` the path
//! alone. A path is read here in every way a server may read it, so that a test of it is met more often than there.

mod condition;
mod parse;
mod print;
#[cfg(test)]
mod tests;
mod translate;
mod written;

use std::cell::Cell;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

pub use condition::{Condition, Criteria};
pub use parse::{Piece, pieces};
pub use print::print;
pub use written::{is_secret_field, nameable, renamed, without_secrets};

/// Why an expression is not carried over.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refused {
    /// Not an expression at all: whoever wrote it is at fault.
    #[error("`{0}` does not read: {1}")]
    Unreadable(String, String),
    /// A good expression that no criterion says.
    #[error("`{0}`: {1}")]
    Unsupported(String, &'static str),
    /// It names what nobody defined: `kind` is NetScaler's attribute.
    #[error("there is no {0} `{1}`")]
    Unknown(&'static str, String),
    /// More groups than a rule may have.
    #[error("it has more than {0} alternatives")]
    TooWide(usize),
}

/// A tree of tests.
#[derive(Clone, Debug, PartialEq)]
pub enum Expression {
    /// True where one is.
    Or(Vec<Expression>),
    /// True where all are.
    And(Vec<Expression>),
    Not(Box<Expression>),
    Always(bool),
    /// One criterion: the table that `[criterion.NAME]` would be.
    Test(Map<String, Value>),
}

/// What an expression may refer to by name.
pub trait Named {
    /// `add policy patset`, with what is bound to it.
    fn pattern_set(&self, name: &str) -> Option<Vec<String>>;
    /// `add policy expression`.
    fn expression(&self, name: &str) -> Option<String>;
}

/// Nothing has a name.
pub struct Nothing;

/// Named expressions may name others, this deep.
const DEPTH_MOST: usize = 8;

/// Named expressions in one, those that they name included: each is put in where it is named.
const NAMED_MOST: usize = 256;

/// Criteria of an answer.
pub const OF_ANSWER: [&str; 2] = ["status", "response_header"];

/// How much more may be put in.
struct Within<'a> {
    depth: usize,
    left: &'a Cell<usize>,
}

/// Reads an expression of the advanced syntax.
pub fn read(text: &str, named: &dyn Named) -> Result<Expression, Refused> {
    read_within(text, named, &Within { depth: DEPTH_MOST, left: &Cell::new(NAMED_MOST) })
}

fn read_within(text: &str, named: &dyn Named, within: &Within<'_>) -> Result<Expression, Refused> {
    let tree = parse::tree(text)?;
    translate::tree(&tree, named, within)
}

// === impl Expression ===

impl Expression {
    /// The keys of the criteria in it: what it looks at.
    pub fn keys(&self) -> BTreeSet<String> {
        let mut keys = BTreeSet::new();
        self.collect(&mut keys);
        keys
    }

    fn collect(&self, keys: &mut BTreeSet<String>) {
        match self {
            Expression::Or(all) | Expression::And(all) => all.iter().for_each(|one| one.collect(keys)),
            Expression::Not(inner) => inner.collect(keys),
            Expression::Always(_) => {}
            Expression::Test(test) => keys.extend(test.keys().cloned()),
        }
    }

    /// Whether something of the answer is in it.
    pub fn looks_at_answer(&self) -> bool {
        self.keys().iter().any(|key| OF_ANSWER.contains(&&key[..]))
    }
}

// === impl Nothing ===

impl Named for Nothing {
    fn pattern_set(&self, _: &str) -> Option<Vec<String>> {
        None
    }

    fn expression(&self, _: &str) -> Option<String> {
        None
    }
}
