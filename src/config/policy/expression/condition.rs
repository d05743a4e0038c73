//! A tree of tests as groups of terms, and names for the criteria that they need.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::{Expression, Refused};

/// Groups that one condition may have.
const GROUPS_MOST: usize = 64;

/// When a rule acts.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    Always,
    Never,
    /// One true group is enough; a group is true where all its terms are.
    Groups(Vec<Vec<Term>>),
}

/// A criterion, or that it is not met.
#[derive(Clone, Debug, PartialEq)]
pub struct Term {
    pub test: Map<String, Value>,
    pub negated: bool,
}

/// Criteria with their names: the same test has one name, whoever asks for it.
#[derive(Clone, Debug, Default)]
pub struct Criteria {
    names: BTreeMap<String, String>,
    taken: BTreeSet<String>,
    /// As `[criterion]` has them, in the order in which they came.
    pub tables: Map<String, Value>,
}

// === impl Expression ===

impl Expression {
    /// As a rule's `when` has it.
    ///
    /// Errors: more than 64 groups.
    pub fn condition(&self) -> Result<Condition, Refused> {
        let mut groups = self.groups(false)?;
        if groups.iter().any(Vec::is_empty) {
            return Ok(Condition::Always);
        }
        // A group that another one is part of says nothing of its own.
        let all = groups.clone();
        let mut kept = 0;
        groups.retain(|group| {
            let position = kept;
            kept += 1;
            let is_wider = |(at, other): (usize, &Vec<Term>)| {
                at != position
                    && other.iter().all(|term| group.contains(term))
                    && (other.len() < group.len() || at < position)
            };
            !all.iter().enumerate().any(is_wider)
        });
        Ok(if groups.is_empty() { Condition::Never } else { Condition::Groups(groups) })
    }

    /// Groups of the expression, or of its opposite. An empty group is always true, no group never.
    fn groups(&self, negated: bool) -> Result<Vec<Vec<Term>>, Refused> {
        match (self, negated) {
            (Expression::Always(value), _) => Ok(if *value == negated { Vec::new() } else { vec![Vec::new()] }),
            (Expression::Not(inner), _) => inner.groups(!negated),
            (Expression::Test(test), _) => Ok(vec![vec![Term { test: test.clone(), negated }]]),
            (Expression::Or(all), false) | (Expression::And(all), true) => {
                let mut groups = Vec::new();
                for one in all {
                    groups.extend(one.groups(negated)?);
                    bounded(&groups)?;
                }
                Ok(groups)
            }
            (Expression::And(all), false) | (Expression::Or(all), true) => {
                let mut groups = vec![Vec::new()];
                for one in all {
                    let more = one.groups(negated)?;
                    let mut joined = Vec::new();
                    for group in &groups {
                        for other in &more {
                            joined.extend(both(group, other));
                        }
                        bounded(&joined)?;
                    }
                    groups = joined;
                }
                Ok(groups)
            }
        }
    }
}

fn bounded(groups: &[Vec<Term>]) -> Result<(), Refused> {
    if groups.len() > GROUPS_MOST { Err(Refused::TooWide(GROUPS_MOST)) } else { Ok(()) }
}

/// Both groups at once; `None` where they contradict each other.
fn both(group: &[Term], other: &[Term]) -> Option<Vec<Term>> {
    let mut all = group.to_vec();
    for term in other {
        if all.iter().any(|t| t.test == term.test && t.negated != term.negated) {
            return None;
        }
        if !all.contains(term) {
            all.push(term.clone());
        }
    }
    Some(all)
}

// === impl Criteria ===

impl Criteria {
    /// None yet, and none of these names.
    pub fn without(taken: BTreeSet<String>) -> Criteria {
        Criteria { taken, ..Criteria::default() }
    }

    /// `when` of a rule, with a name for each criterion that has none: `hint`, `hint-2`, … `None`: always.
    ///
    /// Errors: a condition that is never true, which no rule can say.
    pub fn when(&mut self, condition: &Condition, hint: &str) -> Result<Option<Value>, &'static str> {
        let groups = match condition {
            Condition::Always => return Ok(None),
            Condition::Never => return Err("it is never true"),
            Condition::Groups(groups) => groups,
        };
        let mut out = Vec::new();
        for group in groups {
            let mut terms = Vec::new();
            for term in group {
                let name = self.name(&term.test, hint);
                terms.push(Value::from(if term.negated { format!("{name}!") } else { name }));
            }
            out.push(Value::Array(terms));
        }
        Ok(Some(out.into()))
    }

    /// The name of a criterion with this test.
    fn name(&mut self, test: &Map<String, Value>, hint: &str) -> String {
        let test = Value::Object(test.clone());
        let key = test.to_string();
        if let Some(name) = self.names.get(&key) {
            return name.clone();
        }
        let mut name = hint.to_owned();
        let mut number = 2u64;
        while self.tables.contains_key(&name) || self.taken.contains(&name) {
            name = format!("{hint}-{number}");
            number += 1;
        }
        self.names.insert(key, name.clone());
        self.tables.insert(name.clone(), test);
        name
    }
}
