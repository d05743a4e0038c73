//! The text of condition terms.

use std::time::Duration;

use crate::model::condition::{Measure, ServiceFacet, Signal, VserverFacet};

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
    /// Bytes from the start of the term.
    pub offset: usize,
    pub what: String,
    pub did_you_mean: Option<String>,
}

/// An id split into what it speaks of; names are not looked up yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawSubject {
    /// A check, or in traffic rules a criterion.
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

pub fn parse_term(text: &str) -> Result<RawTerm, TermError> {
    let _ = text;
    todo!()
}

pub fn parse_id(id: &str) -> Result<RawSubject, TermError> {
    let _ = id;
    todo!()
}

pub fn canonical(term: &RawTerm) -> String {
    let _ = term;
    todo!()
}
