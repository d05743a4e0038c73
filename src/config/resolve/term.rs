//! Conditions: ids become subjects. Where a term may stand decides what it may name: criteria in traffic rules only.

use std::collections::HashSet;
use std::sync::Arc;

use super::Context;
use super::names::PREFIXES;
use crate::config::condition::{self, RawSubject, RawTerm};
use crate::config::document::{Node, Path, Place, Value};
use crate::model::condition::{Condition, Group, Measure, ServiceFacet, Signal, Subject, Term, VserverFacet};
use crate::model::id::{CheckId, CriterionId, DatacenterId, ScenarioId, ServiceId, SwitchId, TimeWindowId, VserverId};

/// Where a condition stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In traffic rules: plain ids are criteria or checks.
    Rule,
    /// Everywhere else: plain ids are checks.
    Board,
}

/// `when` or `gate`: a list of groups, or a table of named groups.
pub fn condition(cx: &mut Context<'_>, node: &Node, path: Path<'_>, scope: Scope) -> Condition {
    let mut groups = Vec::new();
    match &node.value {
        Value::List(lists) => {
            for (index, list) in lists.iter().enumerate() {
                groups.extend(group(cx, None, list, list.place, path.item(index), scope));
            }
        }
        Value::Table(table) => {
            for entry in &table.entries {
                groups.extend(group(cx, Some(&entry.key), &entry.node, entry.place, path.key(&entry.key), scope));
            }
        }
        _ => {}
    }
    let mut seen: HashSet<Vec<Arc<str>>> = HashSet::new();
    for (place, group, whole) in &groups {
        if !whole {
            continue;
        }
        let mut terms: Vec<Arc<str>> = group.terms.iter().map(|term| term.text.clone()).collect();
        terms.sort();
        if !seen.insert(terms) {
            let what = format!("{path}: two groups have the same terms ({})", group.name);
            cx.report.error(*place, path, what);
        }
    }
    Condition { groups: groups.into_iter().map(|(_, group, _)| group).collect() }
}

/// A group, and whether all of its terms could be read.
fn group(
    cx: &mut Context<'_>,
    name: Option<&str>,
    list: &Node,
    place: Place,
    path: Path<'_>,
    scope: Scope,
) -> Option<(Place, Group, bool)> {
    let items = list.list()?;
    if items.is_empty() {
        cx.report.error(place, path, format!("{path}: a group without terms would always be true; leave it out"));
        return None;
    }
    let mut terms: Vec<Term> = Vec::with_capacity(items.len());
    for (index, item) in items.iter().enumerate() {
        let Some(text) = item.text() else { continue };
        let Some(term) = term(cx, text, item.place, path.item(index), scope) else { continue };
        if terms.iter().any(|other| other.text == term.text) {
            cx.report.error(item.place, path, format!("{path}: `{}` stands twice in a group", term.text));
            continue;
        }
        let opposite = |other: &Term| {
            other.subject == term.subject && other.negated != term.negated && plain(other) && plain(&term)
        };
        if let Some(other) = terms.iter().find(|other| opposite(other)) {
            let what = format!("{path}: `{}` and `{}` are never true together", other.text, term.text);
            cx.report.error(item.place, path, what);
        }
        terms.push(term);
    }
    let made: String = terms.iter().map(|term| &*term.text).collect::<Vec<_>>().join(", ");
    let group_name = name.map_or_else(|| made.as_str().into(), |name| name.into());
    let whole = terms.len() == items.len();
    Some((place, Group { name: group_name, named: name.is_some(), terms }, whole))
}

fn plain(term: &Term) -> bool {
    term.measure.is_none() && term.hold.is_none()
}

/// One term; `None` where a problem was reported.
pub fn term(cx: &mut Context<'_>, text: &str, place: Place, path: Path<'_>, scope: Scope) -> Option<Term> {
    let raw = match condition::parse_term(text) {
        Ok(raw) => raw,
        Err(error) => {
            if !text.is_empty() {
                let what = format!("{path}: `{text}`: {}", error.what);
                cx.report.error_meant(place, path, what, error.did_you_mean.filter(|meant| meant != text));
            }
            return None;
        }
    };
    let subject = subject(cx, &raw, place, path, scope)?;
    measurable(cx, &raw, &subject, text, place, path)?;
    let text = condition::canonical(&raw).into();
    Some(Term { text, subject, negated: raw.negated, measure: raw.measure, hold: raw.hold })
}

/// Measures need samples, which only checks have; a request has neither samples nor a past.
fn measurable(
    cx: &mut Context<'_>,
    raw: &RawTerm,
    subject: &Subject,
    text: &str,
    place: Place,
    path: Path<'_>,
) -> Option<()> {
    let measure = match raw.measure {
        Some(Measure::Fails(_)) => "fails",
        Some(Measure::Passes(_)) => "passes",
        Some(Measure::Flaps { .. }) => "flaps",
        Some(Measure::Latency { .. }) => "latency",
        None if raw.hold.is_some() => "for",
        None => return Some(()),
    };
    let what = match subject {
        Subject::Check(_) => return Some(()),
        Subject::Criterion(_) => "a criterion is true or false for one request",
        _ if measure == "for" => return Some(()),
        _ => "only health checks have samples",
    };
    cx.report.error(place, path, format!("{path}: `{text}`: `{measure}` cannot be used here: {what}"));
    None
}

fn subject(cx: &mut Context<'_>, raw: &RawTerm, place: Place, path: Path<'_>, scope: Scope) -> Option<Subject> {
    let id = raw.id.as_str();
    // A name with dots may end like a facet; the whole name comes first.
    if let Some(found) = id.strip_prefix("vs:").and_then(|name| cx.names.vservers.id(name)) {
        return Some(Subject::Vserver(VserverId::from_index(found), VserverFacet::Serves));
    }
    if let Some(found) = id.strip_prefix("svc:").and_then(|name| cx.names.services.id(name)) {
        return Some(Subject::Service(ServiceId::from_index(found), ServiceFacet::Up));
    }
    if !PREFIXES.iter().any(|prefix| id.starts_with(prefix)) || cx.names.checks.has(id) {
        return plain_subject(cx, id, place, path, scope);
    }
    let parsed = match condition::parse_id(id) {
        Ok(parsed) => parsed,
        Err(error) => {
            cx.report.error_meant(place, path, format!("{path}: `{id}`: {}", error.what), error.did_you_mean);
            return None;
        }
    };
    match parsed {
        RawSubject::Plain(name) => plain_subject(cx, &name, place, path, scope),
        RawSubject::Vserver { name, facet } => {
            let id = cx.names.vservers.find(cx.report, &name, place, path)?;
            Some(Subject::Vserver(VserverId::from_index(id), facet))
        }
        RawSubject::Service { name, facet } => {
            let id = cx.names.services.find(cx.report, &name, place, path)?;
            Some(Subject::Service(ServiceId::from_index(id), facet))
        }
        RawSubject::Scenario(name) => {
            let id = cx.names.scenarios.find(cx.report, &name, place, path)?;
            Some(Subject::Scenario(ScenarioId::from_index(id)))
        }
        RawSubject::TimeWindow(name) => {
            let id = cx.names.time_windows.find(cx.report, &name, place, path)?;
            Some(Subject::TimeWindow(TimeWindowId::from_index(id)))
        }
        RawSubject::Switch(name) => {
            let id = cx.names.switches.find(cx.report, &name, place, path)?;
            Some(Subject::Switch(SwitchId::from_index(id)))
        }
        RawSubject::Datacenter { name, signal, observer } => datacenter(cx, &name, signal, observer, place, path),
    }
}

fn datacenter(
    cx: &mut Context<'_>,
    name: &str,
    signal: Signal,
    observer: Option<String>,
    place: Place,
    path: Path<'_>,
) -> Option<Subject> {
    let id = cx.names.datacenters.find(cx.report, name, place, path)?;
    let observer = match observer {
        None => None,
        // This box is the default.
        Some(site) if cx.site.as_deref() == Some(&*site) => None,
        Some(site) => {
            cx.names.sites.find(cx.report, &site, place, path)?;
            Some(site.into())
        }
    };
    Some(Subject::Datacenter { datacenter: DatacenterId::from_index(id), signal, observer })
}

fn plain_subject(cx: &mut Context<'_>, id: &str, place: Place, path: Path<'_>, scope: Scope) -> Option<Subject> {
    if let Some(check) = cx.names.checks.id(id) {
        return Some(Subject::Check(CheckId::from_index(check)));
    }
    if let Some(criterion) = cx.names.criteria.id(id) {
        if scope == Scope::Rule {
            return Some(Subject::Criterion(CriterionId::from_index(criterion)));
        }
        let what = format!("{path}: `{id}` is a request criterion, which only traffic rules know");
        cx.report.error(place, path, what);
        return None;
    }
    unknown(cx, id, place, path, scope);
    None
}

/// An id that nothing bears: another kind's name with the prefix missing, or the nearest spelling.
fn unknown(cx: &mut Context<'_>, id: &str, place: Place, path: Path<'_>, scope: Scope) {
    let names = &cx.names;
    let with_prefix = [
        ("sc:", &names.scenarios),
        ("vs:", &names.vservers),
        ("svc:", &names.services),
        ("tw:", &names.time_windows),
        ("sw:", &names.switches),
    ];
    let prefixed = with_prefix.iter().find(|(_, table)| table.has(id)).map(|(prefix, _)| format!("{prefix}{id}"));
    let meant = prefixed
        .or_else(|| cx.names.checks.nearest(cx.report, id))
        .or_else(|| if scope == Scope::Rule { cx.names.criteria.nearest(cx.report, id) } else { None });
    let what = if scope == Scope::Rule { "check or criterion" } else { "check" };
    cx.dangling(place, path, format!("there is no {what} `{id}`"), meant);
}
