//! Traffic rules: what an ADC vserver does with a request before it balances it.

use super::condition::Condition;
use super::id::{Name, VserverId};
use super::net::Network;

/// A named property of a request, referred to by id in the conditions of rules.
#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    pub name: Name,
    pub test: CriterionTest,
}

#[derive(Clone, Debug, PartialEq)]
pub enum CriterionTest {
    /// The path of the target without query, percent-decoded once.
    Path(TextTest),
    /// The Host field without port, lower-cased; the test is case-insensitive.
    Host(TextTest),
    /// One of these methods.
    Method(Vec<Name>),
    /// A field with this name whose value passes the test (`None`: is present).
    Header { name: Name, test: Option<TextTest> },
    /// The client's address is in one of these networks.
    Client(Vec<Network>),
}

/// Exactly one test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextTest {
    Equals(Name),
    StartsWith(Name),
    EndsWith(Name),
    Contains(Name),
    /// Syntax of the crate `regex`; unanchored; linear time.
    Regex(Name),
}

/// The first rule by priority (then by name) whose condition is true acts. Terms are criteria and, with prefix or as
/// checks, board terms.
#[derive(Clone, Debug, PartialEq)]
pub struct Rule {
    /// Appears in log, `explain` and counters.
    pub name: Name,
    pub vserver: VserverId,
    /// Lower first. 1..=2147483647, unique within a vserver.
    pub priority: u32,
    pub when: Condition,
    /// For each group and term of `when`: where its board value stands (`None` for criteria).
    pub watched: Vec<Vec<Option<super::id::WatchedId>>>,
    pub action: Action,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// An answer of our own.
    Respond { status: u16, headers: Vec<(Name, Name)>, body: Vec<u8> },
    /// The connection is reset without an answer.
    Reject,
    /// 301, 302, 303, 307 or 308. `{path}`, `{query}` and `{host}` in the location are replaced.
    Redirect { status: u16, location: Name },
}
