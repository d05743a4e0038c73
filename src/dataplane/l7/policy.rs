//! What becomes of a request: rules change it, answer it or send it elsewhere, or it is balanced. Pure: a request head and
//! a snapshot in, a decision out, so that the data plane and `explain` cannot disagree.
//!
//! The rules of a vserver are asked by priority, then by name; each whose condition is *true* acts (unknown is not true).
//! Edits, mirrors and rules that only count go on to the next rule, or where the rule says `stop` behind the last of its
//! bank; the first that answers, refuses or routes ends the walk. Terms of a condition
//! are criteria, evaluated here, and board terms, whose values the snapshot holds. A path that servers read in different
//! ways meets a condition where any of its readings does ([`Path`]).
//!
//! A rule that routes to another vserver hands the request over: the rules of that one are asked next. What no rule of a
//! content-switching vserver takes goes to its default. While content switching is not UP itself, nothing is handed over
//! and its backup chain decides. A route to a service or group holds while a member there is UP; otherwise its rule does
//! not act and the next is asked.
//!
//! Rules of the response phase are prepared with the request ([`answer::AnswerRules`]) and asked when the answer's head is
//! there.

pub mod answer;
mod criteria;
pub mod edits;
pub mod explain;
mod fill;
mod path;

use std::net::IpAddr;
use std::sync::atomic::Ordering;

use crate::model::condition::{Subject, Truth};
use crate::model::id::{Name, RuleId, ServiceId, VserverId};
use crate::model::rule::{Action, Route};
use crate::model::state::{ServiceState, VserverState};
use crate::model::vserver::Role;
use crate::snapshot::Snapshot;

pub use crate::dataplane::member::{Choice, Wanted, choose};
use answer::AnswerRules;
use edits::HeadEdits;
use fill::{fill_body, fill_in, fill_in_with};
pub use path::Path;

/// Hand-overs from vserver to vserver at most: more is a circle.
const HOPS_MAX: usize = 8;

/// A request head that passed [`head`](super::head), as the rules see it. Of a connection that is not read as HTTP:
/// [`Request::connection`].
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
    /// Of the address that the client connected to.
    pub port: u16,
    /// The connection is TLS.
    pub tls: bool,
    /// The server name of its handshake.
    pub server_name: Option<&'a str>,
}

/// What the rules made of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Whose members serve it: the vserver that was addressed, or the one that rules handed it to.
    pub vserver: VserverId,
    pub verdict: Verdict,
    /// Rules that acted, in their order.
    pub acted: Vec<RuleId>,
    /// Changes of the request's head.
    pub edits: HeadEdits,
    /// Rules among `acted` that mirror.
    pub mirrors: Vec<RuleId>,
    pub answer: AnswerRules,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Respond {
        status: u16,
        headers: Vec<(Name, Name)>,
        body: Vec<u8>,
    },
    /// The connection is reset without an answer.
    Reject,
    Redirect {
        status: u16,
        location: String,
    },
    /// Over the members of `Decision::vserver`, or only over a service or group of them.
    Balance {
        only: Option<Route>,
    },
}

/// How one rule was evaluated, for `explain`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Evaluated {
    pub rule: RuleId,
    pub value: Truth,
    /// By group and term of its condition.
    pub terms: Vec<Vec<Truth>>,
}

/// Asks the rules, beginning with those of the vserver that was addressed. Counts nothing: see [`count`].
pub fn decide(snapshot: &Snapshot, addressed: VserverId, request: &Request<'_>) -> Decision {
    let mut decision = Decision::balance(addressed);
    decision.answer.begin(snapshot, addressed);
    walk(snapshot, request, &mut decision, &mut |_, _, _| {});
    decision
}

/// Every rule that [`decide`] asks, with the value of each term.
pub fn evaluate(snapshot: &Snapshot, addressed: VserverId, request: &Request<'_>) -> Vec<Evaluated> {
    let mut evaluated = Vec::new();
    walk(snapshot, request, &mut Decision::balance(addressed), &mut |rule, value, reading| {
        let groups = &snapshot.model.rules[rule.index()].when.groups;
        let term = |group, term| term_value(snapshot, rule, (group, term), request, reading);
        let terms =
            groups.iter().enumerate().map(|(g, group)| (0..group.terms.len()).map(|t| term(g, t)).collect()).collect();
        evaluated.push(Evaluated { rule, value, terms });
    });
    evaluated
}

/// Counts the rules that acted.
pub fn count(snapshot: &Snapshot, decision: &Decision) {
    count_rules(snapshot, &decision.acted);
}

/// Counts these rules.
pub fn count_rules(snapshot: &Snapshot, rules: &[RuleId]) {
    for rule in rules {
        snapshot.rules[rule.index()].hits_total.fetch_add(1, Ordering::Relaxed);
    }
}

/// `seen`: each rule asked, its value, and the reading of the path under which it has it.
fn walk(
    snapshot: &Snapshot,
    request: &Request<'_>,
    decision: &mut Decision,
    seen: &mut dyn FnMut(RuleId, Truth, &str),
) {
    let mut path: Option<Path> = None;
    let addressed = decision.vserver;
    for _ in 0..=HOPS_MAX {
        let at = decision.vserver;
        let mut next = None;
        let asked = !(snapshot.routing.rules_of(at).is_empty() && snapshot.routing.answer_rules_of(at).is_empty());
        if asked && path.get_or_insert_with(|| Path::new(request.target)).is_refused() {
            decision.verdict = Verdict::Respond { status: 400, headers: Vec::new(), body: Vec::new() };
            return;
        }
        let rules = snapshot.routing.rules_of(at);
        let mut place = 0;
        while let Some(&rule) = rules.get(place) {
            place += 1;
            if at != addressed && snapshot.routing.is_of_entry(rule) {
                continue;
            }
            let path = path.get_or_insert_with(|| Path::new(request.target));
            let acts = |reading: &&String| value_of(snapshot, rule, request, reading).is_true();
            let Some(reading) = path.readings().iter().find(acts) else {
                let first = &path.readings()[0];
                seen(rule, value_of(snapshot, rule, request, first), first);
                continue;
            };
            seen(rule, Truth::True, reading);
            match act(snapshot, rule, request, decision) {
                Act::Nothing => {}
                Act::Goes => place += snapshot.routing.left_out(rule),
                Act::Ends => break,
                Act::To(vserver) => {
                    next = Some(vserver);
                    break;
                }
                Act::Decided => return,
            }
        }
        if !snapshot.routing.answer_rules_of(at).is_empty() {
            let path = path.get_or_insert_with(|| Path::new(request.target));
            decision.answer.add(snapshot, (at, at == addressed), request, path);
        }
        if let Verdict::Balance { only: Some(_) } = decision.verdict {
            return;
        }
        let switching = match snapshot.model.vserver(at).role {
            Role::Lb => None,
            Role::Cs { default, .. } => Some(default),
        };
        if switching.is_some() && snapshot.vservers[at.index()].state != VserverState::Up {
            return;
        }
        match next.or(switching.flatten()) {
            Some(to) => decision.vserver = to,
            None => return,
        }
    }
}

/// What follows from a rule that acted.
enum Act {
    /// Nothing: the next rule is asked.
    Nothing,
    /// The next rule is asked that it does not leave out.
    Goes,
    /// The walk over this vserver's rules ends.
    Ends,
    To(VserverId),
    /// There is nothing more to ask.
    Decided,
}

fn act(snapshot: &Snapshot, rule: RuleId, request: &Request<'_>, decision: &mut Decision) -> Act {
    let mut acted = |act: Act| {
        decision.acted.push(rule);
        act
    };
    match &snapshot.model.rules[rule.index()].action {
        Action::Respond { status, headers, body } => {
            let act = acted(Act::Decided);
            let media_type = headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
            decision.verdict = Verdict::Respond {
                status: *status,
                headers: headers.iter().map(|(name, value)| (name.clone(), fill_in(value, request).into())).collect(),
                body: fill_body(body, media_type.map_or("", |(_, value)| value), request),
            };
            act
        }
        Action::Reject => {
            let act = acted(Act::Decided);
            decision.verdict = Verdict::Reject;
            act
        }
        Action::Redirect { status, location } => {
            let act = acted(Act::Decided);
            decision.verdict = Verdict::Redirect { status: *status, location: fill_in(location, request) };
            act
        }
        Action::Edit(edits) => {
            let act = acted(Act::Goes);
            decision.edits.fold(edits, |nth| snapshot.routing.path_of(rule, nth), request);
            act
        }
        Action::Mirror { .. } => {
            let act = acted(Act::Goes);
            decision.mirrors.push(rule);
            act
        }
        Action::Count => acted(Act::Goes),
        Action::Route(Route::Vserver(to)) => acted(Act::To(*to)),
        Action::Route(only) => {
            if !is_served(snapshot, decision.vserver, *only) {
                return Act::Nothing;
            }
            let act = acted(Act::Ends);
            decision.verdict = Verdict::Balance { only: Some(*only) };
            act
        }
    }
}

/// Whether a member of `vserver` that is meant by `only` is UP.
fn is_served(snapshot: &Snapshot, vserver: VserverId, only: Route) -> bool {
    let members = &snapshot.model.vserver(vserver).members;
    let is_meant = |service: ServiceId| match only {
        Route::Service(wanted) => service == wanted,
        Route::Group(group) => snapshot.model.service(service).group == Some(group),
        Route::Vserver(_) => false,
    };
    let is_up = |service: ServiceId| snapshot.services[service.index()].state == ServiceState::Up;
    members.iter().any(|member| is_meant(member.service) && is_up(member.service))
}

/// `path`: one reading of it.
fn value_of(snapshot: &Snapshot, rule: RuleId, request: &Request<'_>, path: &str) -> Truth {
    snapshot.model.rules[rule.index()].when.evaluate(|g, t| term_value(snapshot, rule, (g, t), request, path))
}

/// Board terms stand in the snapshot with their `!` applied; criteria are negated here. A criterion of the answer is
/// unknown.
fn term_value(snapshot: &Snapshot, rule: RuleId, at: (usize, usize), request: &Request<'_>, path: &str) -> Truth {
    let rule = &snapshot.model.rules[rule.index()];
    let (group, term) = at;
    if let Some(watched) = rule.watched.get(group).and_then(|terms| terms.get(term)).copied().flatten() {
        return snapshot.watched.get(watched.index()).copied().unwrap_or_default();
    }
    let term = &rule.when.groups[group].terms[term];
    let Subject::Criterion(criterion) = term.subject else { return Truth::Unknown };
    let test = &snapshot.model.criteria[criterion.index()].test;
    match criteria::met(test, snapshot.routing.regex_of(criterion), request, path) {
        Some(met) => Truth::from(met != term.negated),
        None => Truth::Unknown,
    }
}

// === impl Decision ===

impl Decision {
    /// No rule acted.
    pub fn balance(vserver: VserverId) -> Decision {
        Decision {
            vserver,
            verdict: Verdict::Balance { only: None },
            acted: Vec::new(),
            edits: HeadEdits::default(),
            mirrors: Vec::new(),
            answer: AnswerRules::default(),
        }
    }

    /// The rule that answered, refused or routed last.
    pub fn rule(&self, snapshot: &Snapshot) -> Option<RuleId> {
        self.acted.iter().rev().copied().find(|rule| snapshot.model.rules[rule.index()].action.decides())
    }
}

// === impl Request ===

impl<'a> Request<'a> {
    /// A connection that carries something other than HTTP: criteria of a request are not met by it.
    pub fn connection(client: IpAddr, port: u16, server_name: Option<&'a str>, tls: bool) -> Request<'a> {
        Request { method: "", target: "", host: "", fields: &[], client, port, tls, server_name }
    }
}

#[cfg(test)]
mod tests;
