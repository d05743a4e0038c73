//! The groups of one direction: values, and whether they may act.

use crate::machine::board::{Board, TermRows};
use crate::machine::condition;
use crate::model::condition::{Group, Truth};
use crate::model::id::Name;
use crate::model::time::{Now, Tick, Wall};

#[derive(Clone, Debug)]
pub(super) struct GroupRun {
    pub name: Name,
    pub value: Truth,
    /// False after a forced commit until there is fresh evidence.
    pub armed: bool,
    pub terms: Vec<TermRun>,
}

#[derive(Clone, Debug)]
pub(super) struct TermRun {
    rows: TermRows,
    pub value: Truth,
    pub since: Wall,
    pub hold_ends: Option<Tick>,
}

// === impl GroupRun ===

impl GroupRun {
    pub fn new(group: &Group, rows: Vec<TermRows>, now: Wall) -> GroupRun {
        let terms =
            rows.into_iter().map(|rows| TermRun { rows, value: Truth::Unknown, since: now, hold_ends: None }).collect();
        GroupRun { name: Name::clone(&group.name), value: Truth::Unknown, armed: true, terms }
    }

    /// Carries over a reload what a person would expect to last: armed or not, and since when the terms have their
    /// values.
    pub fn keep(&mut self, before: &GroupRun) {
        self.armed = before.armed;
        if self.terms.len() == before.terms.len() {
            for (term, before) in self.terms.iter_mut().zip(&before.terms) {
                (term.value, term.since) = (before.value, before.since);
            }
        }
    }

    pub fn evaluate(&mut self, rule: &Group, board: &Board, floor: Option<Tick>, now: Now) {
        for (term, rule) in self.terms.iter_mut().zip(&rule.terms) {
            let valued = condition::evaluate(rule, term.rows, board, floor, now.tick);
            if valued.value != term.value {
                (term.value, term.since) = (valued.value, now.wall);
            }
            term.hold_ends = valued.hold_ends;
        }
        self.value = rule.evaluate(|t| self.terms[t].value);
    }

    /// Arms the group once it has been false since the commit, or once a hold in it has completed that counted from the
    /// commit (holds of the direction leading out never begin earlier).
    pub fn take_evidence(&mut self, rule: &Group) {
        let held = || self.terms.iter().zip(&rule.terms).any(|(t, rule)| rule.hold.is_some() && t.value.is_true());
        self.armed = self.armed || self.value.is_false() || held();
    }
}
