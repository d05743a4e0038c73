//! What the rules made of one request, kept while it is served: whose members serve it, what changes in its head and in
//! the head of its answer, and what is copied. By names, as a later try may find another snapshot.

use std::sync::Arc;

use super::mirror::Copies;
use super::policy::answer::{Answer, AnswerRules};
use super::policy::edits::HeadEdits;
use super::policy::{self, Decision, Verdict};
use crate::dataplane::member::Only;
use crate::model::id::Name;
use crate::model::rule::Route;
use crate::snapshot::Snapshot;

#[derive(Debug)]
pub(crate) struct Routed {
    /// Whose members serve it.
    pub vserver: Name,
    only: Option<OnlyNamed>,
    /// Changes of the request's head.
    pub edits: HeadEdits,
    answer: AnswerRules,
    pub copies: Copies,
    /// On which it was decided.
    snapshot: Arc<Snapshot>,
}

#[derive(Debug)]
enum OnlyNamed {
    Service(Name),
    Group(Name),
}

// === impl Routed ===

impl Routed {
    /// Of a request that is to be balanced.
    pub fn of(snapshot: &Arc<Snapshot>, decision: Decision) -> Routed {
        let model = &snapshot.model;
        let only = match decision.verdict {
            Verdict::Balance { only: Some(Route::Service(id)) } => {
                Some(OnlyNamed::Service(model.service(id).name.clone()))
            }
            Verdict::Balance { only: Some(Route::Group(id)) } => {
                Some(OnlyNamed::Group(model.groups[id.index()].name.clone()))
            }
            _ => None,
        };
        let copies = Copies::of(snapshot, &decision);
        Routed {
            vserver: model.vserver(decision.vserver).name.clone(),
            only,
            edits: decision.edits,
            answer: decision.answer,
            copies,
            snapshot: Arc::clone(snapshot),
        }
    }

    /// The part of the members that a rule left.
    pub fn only(&self) -> Option<Only<'_>> {
        self.only.as_ref().map(|only| match only {
            OnlyNamed::Service(name) => Only::Service(name),
            OnlyNamed::Group(name) => Only::Group(name),
        })
    }

    /// Whether the answer's head has to be looked at.
    pub fn edits_answer(&self) -> bool {
        !self.answer.is_empty()
    }

    /// Changes of a final answer's head; counts the rules that make them, and names the one that gives it another status.
    /// An answer that has no body by its status keeps that, as another status would change where it ends.
    pub fn answer_edits(&self, answer: &Answer<'_>) -> (HeadEdits, Option<&Name>) {
        let (mut edits, acted) = self.answer.ask(&self.snapshot, answer);
        policy::count_rules(&self.snapshot, &acted);
        if matches!(answer.status, 204 | 304) {
            edits.status = None;
        }
        let rules = acted.iter().rev().map(|rule| &self.snapshot.model.rules[rule.index()]);
        let by = edits.status.and_then(|_| rules.into_iter().find(|rule| rule.action.sets_status()));
        (edits, by.map(|rule| &rule.name))
    }
}
