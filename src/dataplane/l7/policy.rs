//! What becomes of a request: a rule answers it, or it is balanced. Pure: a request head and a snapshot in, a decision
//! out, so that the data plane and `explain` cannot disagree.
//!
//! The rules of a vserver are asked by priority, then by name; the first whose condition is *true* acts (unknown is not
//! true). Terms of a condition are request criteria, evaluated here, and board terms, whose values the snapshot holds.
//! A path that servers read in different ways meets a condition where any of its readings does ([`Path`]).
//! A request that no rule takes is balanced: [`choose`] says to whom.

mod criteria;
mod path;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::model::condition::{Subject, Truth};
use crate::model::id::{Name, RuleId, VserverId};
use crate::model::rule::Action;
use crate::snapshot::Snapshot;

pub use crate::dataplane::member::{Choice, Wanted, choose};
pub use path::Path;

/// A request head that passed [`head`](super::head), as the rules see it.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub method: &'a str,
    /// In origin form, with query: `/a/b?c`.
    pub target: &'a str,
    /// The Host field as sent; empty where HTTP/1.0 had none.
    pub host: &'a str,
    /// Names in any case.
    pub fields: &'a [(&'a str, &'a [u8])],
    pub client: IpAddr,
}

/// What a rule answers, or that none did.
#[derive(Clone, Debug, PartialEq)]
pub enum Decision {
    Respond {
        rule: RuleId,
        status: u16,
        headers: Vec<(Name, Name)>,
        body: Vec<u8>,
    },
    /// The connection is reset without an answer.
    Reject {
        rule: RuleId,
    },
    Redirect {
        rule: RuleId,
        status: u16,
        location: String,
    },
    Balance,
}

/// How one rule was evaluated, for `explain`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluated {
    pub rule: RuleId,
    pub value: Truth,
    /// By group and term of its condition.
    pub terms: Vec<Vec<Truth>>,
}

/// Asks the rules of `vserver`. Counts nothing: see [`count`].
pub fn decide(snapshot: &Snapshot, vserver: VserverId, request: &Request<'_>) -> Decision {
    let rules = snapshot.routing.rules_of(vserver);
    if rules.is_empty() {
        return Decision::Balance;
    }
    let path = Path::new(request.target);
    let acts = |rule| path.readings().iter().any(|reading| value_of(snapshot, rule, request, reading).is_true());
    match rules.iter().find(|&&rule| acts(rule)) {
        Some(&rule) => act(rule, &snapshot.model.rules[rule.index()].action, request),
        None => Decision::Balance,
    }
}

/// Every rule up to the one that acts, with the value of each term.
pub fn evaluate(snapshot: &Snapshot, vserver: VserverId, request: &Request<'_>) -> Vec<Evaluated> {
    let path = Path::new(request.target);
    let mut evaluated = Vec::new();
    for &rule in snapshot.routing.rules_of(vserver) {
        let groups = &snapshot.model.rules[rule.index()].when.groups;
        // That under which the rule acts, else the path as it stands.
        let acts = |reading: &&String| value_of(snapshot, rule, request, reading).is_true();
        let reading = path.readings().iter().find(acts).unwrap_or(&path.readings()[0]);
        let term = |group, term| term_value(snapshot, rule, (group, term), request, reading);
        let terms =
            groups.iter().enumerate().map(|(g, group)| (0..group.terms.len()).map(|t| term(g, t)).collect()).collect();
        let value = value_of(snapshot, rule, request, reading);
        evaluated.push(Evaluated { rule, value, terms });
        if value.is_true() {
            break;
        }
    }
    evaluated
}

/// The rule that decided.
pub fn rule_of(decision: &Decision) -> Option<RuleId> {
    match decision {
        Decision::Respond { rule, .. } | Decision::Reject { rule } | Decision::Redirect { rule, .. } => Some(*rule),
        Decision::Balance => None,
    }
}

/// Counts the rule that decided.
pub fn count(snapshot: &Snapshot, decision: &Decision) {
    if let Some(rule) = rule_of(decision) {
        snapshot.rules[rule.index()].hits_total.fetch_add(1, Ordering::Relaxed);
    }
}

fn value_of(snapshot: &Snapshot, rule: RuleId, request: &Request<'_>, path: &str) -> Truth {
    snapshot.model.rules[rule.index()].when.evaluate(|g, t| term_value(snapshot, rule, (g, t), request, path))
}

/// Board terms stand in the snapshot with their `!` applied; criteria are negated here.
fn term_value(snapshot: &Snapshot, rule: RuleId, at: (usize, usize), request: &Request<'_>, path: &str) -> Truth {
    let rule = &snapshot.model.rules[rule.index()];
    let (group, term) = at;
    if let Some(watched) = rule.watched.get(group).and_then(|terms| terms.get(term)).copied().flatten() {
        return snapshot.watched.get(watched.index()).copied().unwrap_or_default();
    }
    let term = &rule.when.groups[group].terms[term];
    let Subject::Criterion(criterion) = term.subject else { return Truth::Unknown };
    let test = &snapshot.model.criteria[criterion.index()].test;
    let met = criteria::met(test, snapshot.routing.regex_of(criterion), request, path);
    Truth::from(met != term.negated)
}

fn act(rule: RuleId, action: &Action, request: &Request<'_>) -> Decision {
    match action {
        Action::Respond { status, headers, body } => {
            Decision::Respond { rule, status: *status, headers: headers.clone(), body: body.clone() }
        }
        Action::Reject => Decision::Reject { rule },
        Action::Redirect { status, location } => {
            Decision::Redirect { rule, status: *status, location: fill_in(location, request) }
        }
        // No configuration makes the others yet.
        Action::Route(_) | Action::Edit(_) | Action::Mirror { .. } => Decision::Balance,
    }
}

/// Replaces `{path}` (as sent, without query), `{query}` (without `?`) and `{host}` (as sent, with port). One pass, so
/// that a brace in what is put in is not replaced again.
fn fill_in(template: &Arc<str>, request: &Request<'_>) -> String {
    let (path, query) = request.target.split_once('?').unwrap_or((request.target, ""));
    let mut location = String::with_capacity(template.len() + request.target.len());
    let mut rest: &str = template;
    while let Some(open) = rest.find('{') {
        location.push_str(&rest[..open]);
        rest = &rest[open..];
        let known = [("{path}", path), ("{query}", query), ("{host}", request.host)];
        match known.iter().find(|(name, _)| rest.starts_with(name)) {
            Some((name, value)) => {
                location.push_str(value);
                rest = &rest[name.len()..];
            }
            None => {
                location.push('{');
                rest = &rest[1..];
            }
        }
    }
    location.push_str(rest);
    location
}

#[cfg(test)]
mod tests;
