//! Rules of the response phase: what the request says of them is settled with the request, as its head is gone when the
//! answer comes; what the answer says is asked then.

use super::edits::HeadEdits;
use super::{Path, Request, criteria, term_value};
use crate::model::condition::{Subject, Truth};
use crate::model::id::{CriterionId, RuleId, VserverId};
use crate::model::rule::{Action, CriterionTest};
use crate::model::tls::Hsts;
use crate::snapshot::Snapshot;

/// The head of a server's answer, as the rules see it.
#[derive(Clone, Copy, Debug)]
pub struct Answer<'a> {
    pub status: u16,
    pub fields: &'a [(&'a str, &'a [u8])],
}

/// What waits for the answer. Empty for nearly every request.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerRules {
    waiting: Vec<Waiting>,
    /// What the vserver that was addressed tells its clients, before any rule.
    hsts: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
struct Waiting {
    rule: RuleId,
    /// How many behind it are not asked once it acted.
    left_out: usize,
    /// For each reading of the path: groups of terms.
    readings: Vec<Vec<Vec<Term>>>,
    /// With the request's values filled in.
    edits: HeadEdits,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Term {
    Known(Truth),
    OfAnswer { criterion: CriterionId, negated: bool },
}

// === impl AnswerRules ===

impl AnswerRules {
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.hsts.is_none()
    }

    /// What answers of the vserver that is addressed say without a rule.
    pub(super) fn begin(&mut self, snapshot: &Snapshot, addressed: VserverId) {
        let tls = snapshot.model.vserver(addressed).tls.as_ref();
        self.hsts = tls.and_then(|tls| tls.hsts.as_ref()).map(Hsts::value);
    }

    /// Prepares the rules of one more vserver that the request comes through; `addressed`: it is the first.
    pub(super) fn add(
        &mut self,
        snapshot: &Snapshot,
        (vserver, addressed): (VserverId, bool),
        request: &Request<'_>,
        path: &Path,
    ) {
        let rules = snapshot.routing.answer_rules_of(vserver);
        let is_asked = |rule: &&RuleId| addressed || !snapshot.routing.is_of_entry(**rule);
        for (place, rule) in rules.iter().enumerate().filter(|(_, rule)| is_asked(rule)) {
            let mut folded = HeadEdits::default();
            if let Action::Edit(edits) = &snapshot.model.rules[rule.index()].action {
                folded.fold(edits, |_| None, request);
            }
            let mut readings: Vec<_> = path.readings().iter().map(|r| terms(snapshot, *rule, request, r)).collect();
            readings.dedup();
            let left_out = rules[place + 1..].iter().take(snapshot.routing.left_out(*rule)).filter(is_asked).count();
            self.waiting.push(Waiting { rule: *rule, left_out, readings, edits: folded });
        }
    }

    /// The changes of this answer, and the rules that make them.
    pub fn ask(&self, snapshot: &Snapshot, answer: &Answer<'_>) -> (HeadEdits, Vec<RuleId>) {
        let (mut edits, mut acted) = (HeadEdits::default(), Vec::new());
        if let Some(value) = &self.hsts {
            edits.set(Hsts::NAME, value);
        }
        let mut place = 0;
        while let Some(waiting) = self.waiting.get(place) {
            place += 1;
            let is_true = |groups: &Vec<Vec<Term>>| {
                groups.iter().any(|group| group.iter().all(|term| value(snapshot, term, answer).is_true()))
            };
            if waiting.readings.iter().any(is_true) {
                edits.join(&waiting.edits);
                acted.push(waiting.rule);
                place += waiting.left_out;
            }
        }
        (edits, acted)
    }
}

fn terms(snapshot: &Snapshot, rule: RuleId, request: &Request<'_>, path: &str) -> Vec<Vec<Term>> {
    let groups = &snapshot.model.rules[rule.index()].when.groups;
    let term = |group: usize, at: usize| {
        let term = &groups[group].terms[at];
        match term.subject {
            Subject::Criterion(criterion) if is_of_answer(snapshot, criterion) => {
                Term::OfAnswer { criterion, negated: term.negated }
            }
            _ => Term::Known(term_value(snapshot, rule, (group, at), request, path)),
        }
    };
    groups.iter().enumerate().map(|(g, group)| (0..group.terms.len()).map(|t| term(g, t)).collect()).collect()
}

fn is_of_answer(snapshot: &Snapshot, criterion: CriterionId) -> bool {
    matches!(
        snapshot.model.criteria[criterion.index()].test,
        CriterionTest::Status(_) | CriterionTest::ResponseHeader { .. }
    )
}

/// `snapshot` is the one the rules were prepared on.
fn value(snapshot: &Snapshot, term: &Term, answer: &Answer<'_>) -> Truth {
    match term {
        Term::Known(value) => *value,
        Term::OfAnswer { criterion, negated } => {
            let test = &snapshot.model.criteria[criterion.index()].test;
            Truth::from(criteria::met_by_answer(test, snapshot.routing.regex_of(*criterion), answer) != *negated)
        }
    }
}
