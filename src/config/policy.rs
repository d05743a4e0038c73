//! Policies: NetScaler's expressions and actions, and the criteria and rules that follow from them.
//!
//! The objects stand in the configuration as they are written there ([`PolicyKind`]); nothing that follows is written
//! down, so that the two cannot disagree. Criteria and rules are laid beside those of the text before the document is
//! looked at, each at the place of the binding that it comes from.
//!
//! NetScaler asks a vserver's responder policies, then those that rewrite requests, then content switching; those that
//! rewrite answers come last. Each bank has priorities of its own and stops at a policy that says END: so does its rule, where its
//! action does not end the walk anyhow. Rules that the text has itself for the vserver are asked before its policies.

pub mod action;
mod books;
pub mod expression;
mod graft;
mod template;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json};

use super::document::{Node, Place, Table, Value};
use super::report::Report;
use crate::model::id::Name;
use crate::model::policy::{PolicyBank, PolicyKind};
use action::Act;
use books::{Books, Policy};
use expression::Criteria;
use graft::{Graft, hint};

/// What was laid beside the text.
#[derive(Debug, Default)]
pub(super) struct Made {
    pub criteria: BTreeSet<Name>,
    pub rules: BTreeMap<Name, (PolicyBank, Name)>,
    /// Of the rules those that come from what holds for every vserver.
    pub global: BTreeSet<Name>,
}

const OF_ANSWER: &str = "policies on answers edit answers, and do nothing else";
/// The priority of a rule, at most.
const PRIORITY_MOST: u32 = 2_147_483_647;
/// Between rules that are numbered anew.
const STEP: u32 = 10;

/// A policy at a vserver.
#[derive(Clone)]
struct Binding<'d> {
    bank: PolicyBank,
    policy: &'d str,
    place: Place,
    priority: Option<u32>,
    target: Option<&'d str>,
    goes_on: bool,
    of_answer: bool,
    from: Turn,
}

/// Whose binding it is, in the order in which they are asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Turn {
    /// Everybody's, before the vserver's own.
    Before,
    Own,
    /// Everybody's, behind them.
    Behind,
}

/// Lays criteria and rules of policies beside those of the text.
pub(super) fn expand(report: &mut Report, document: &mut Table) -> Made {
    let banks = |table: &Table| PolicyBank::ALL.iter().any(|bank| table.get(bank.key()).is_some());
    let has_bound = vservers(document).any(|(_, _, table)| banks(table));
    let global = document.get(GLOBAL).and_then(Node::table);
    if !has_bound && global.is_none() && PolicyKind::ALL.iter().all(|kind| document.get(kind.section()).is_none()) {
        return Made::default();
    }
    let books = Books::read(report, document);
    let mut graft = Graft::beside(document);
    let everywhere: Vec<Binding<'_>> = global
        .into_iter()
        .flat_map(|table| PolicyBank::ALL.map(|bank| bindings(bank, table, true)))
        .flatten()
        .collect();
    check_global(report, &books, &everywhere);
    for (section, name, table) in vservers(document) {
        let path = format!("{section}.{name}");
        let mut bound: Vec<Binding<'_>> =
            PolicyBank::ALL.iter().flat_map(|bank| bindings(*bank, table, false)).collect();
        if is_entry(document, table) {
            bound.extend(everywhere.iter().filter(|one| books.policy(one.bank, one.policy).is_some()).cloned());
        }
        bound.sort_by_key(|one| (rank(one), one.priority.unwrap_or(u32::MAX)));
        rules(report, &books, &mut graft, (name, &path), &bound);
    }
    graft.onto(document)
}

/// The table of what holds for every vserver.
const GLOBAL: &str = "policy_global";

/// Whether requests come to it and not to another first.
fn is_entry(document: &Table, vserver: &Table) -> bool {
    let default = || document.get("defaults")?.table()?.get("vserver")?.table()?.get("type")?.text();
    let kind = vserver.get("type").and_then(Node::text).or_else(default).unwrap_or_default();
    let reads_requests = ["HTTP", "SSL"].iter().any(|word| word.eq_ignore_ascii_case(kind));
    reads_requests && vserver.get("address").is_some()
}

/// What is wrong with it at every vserver is told once.
fn check_global(report: &mut Report, books: &Books<'_>, everywhere: &[Binding<'_>]) {
    for (at, binding) in everywhere.iter().enumerate() {
        let path = format!("{GLOBAL}.{}.{}", binding.bank.key(), binding.policy);
        let mut wrong = |why: &str| report.error(binding.place, &path, format!("{path}: {why}"));
        let same = |other: &&Binding<'_>| {
            other.priority.is_some() && other.priority == binding.priority && rank(other) == rank(binding)
        };
        if let Some(other) = everywhere[..at].iter().find(same) {
            wrong(&format!("its priority is that of `{}` already", other.policy));
        }
        let Some(policy) = books.policy(binding.bank, binding.policy) else {
            wrong(&format!("there is no policy of this name in `{}`", binding.bank.section()));
            continue;
        };
        let act = || books.act(binding.bank, policy.action?);
        let unfit = || act().is_some_and(|act| act.ends() || act.changes_target());
        if binding.of_answer && unfit() {
            wrong(OF_ANSWER);
        }
    }
}

/// Of either role: section, name, table.
fn vservers(document: &Table) -> impl Iterator<Item = (&'static str, &str, &Table)> {
    ["vserver", "cs_vserver"]
        .into_iter()
        .flat_map(move |section| books::section(document, section).map(move |(name, _, table)| (section, name, table)))
}

/// Which are asked first.
fn rank(binding: &Binding<'_>) -> (bool, PolicyBank, Turn) {
    (binding.of_answer, binding.bank, binding.from)
}

/// What a vserver's table says of one bank; what does not read as a binding is the walk's to report.
///
/// `everywhere`: it is the table of what holds for all.
fn bindings(bank: PolicyBank, table: &Table, everywhere: bool) -> Vec<Binding<'_>> {
    let entries = table.get(bank.key()).and_then(Node::table).map_or(&[][..], |table| &table.entries[..]);
    let one = |entry: &super::document::Entry| -> (Option<u32>, bool, bool, Turn) {
        let number = |node: &Node| match node.value {
            Value::Integer(Some(number)) => u32::try_from(number).ok().filter(|n| (1..=PRIORITY_MOST).contains(n)),
            _ => None,
        };
        let inner = entry.node.table();
        let is = |key: &str, word: &str| {
            inner.and_then(|table| table.get(key)?.text()).is_some_and(|text| text.eq_ignore_ascii_case(word))
        };
        let priority = number(&entry.node).or_else(|| number(inner?.get("priority")?));
        let from = match inner.and_then(|table| table.get("type")?.text()).map(str::to_ascii_uppercase).as_deref() {
            Some("REQ_OVERRIDE" | "RES_OVERRIDE") => Turn::Before,
            _ if everywhere => Turn::Behind,
            _ => Turn::Own,
        };
        let of_answer = ["RESPONSE", "RES_DEFAULT", "RES_OVERRIDE"].iter().any(|word| is("type", word));
        (priority, is("goto", "NEXT"), of_answer, from)
    };
    let all = entries.iter().map(|entry| {
        let (priority, goes_on, of_answer, from) = one(entry);
        let target = entry.node.table().and_then(|table| table.get("target")?.text());
        Binding { bank, policy: &entry.key, place: entry.place, priority, target, goes_on, of_answer, from }
    });
    all.collect()
}

/// The rules of one vserver, by its name and its path.
fn rules(
    report: &mut Report,
    books: &Books<'_>,
    graft: &mut Graft,
    (vserver, path): (&str, &str),
    bound: &[Binding<'_>],
) {
    let before = graft.highest(vserver);
    let one_bank = bound.windows(2).all(|pair| rank(&pair[0]) == rank(&pair[1]));
    let keeps_numbers = before == 0 && one_bank && bound.iter().all(|one| one.priority.is_some());
    for (at, binding) in bound.iter().enumerate() {
        let mut wrong = |why: &str| {
            let path = format!("{path}.{}.{}", binding.bank.key(), binding.policy);
            report.error(binding.place, &path, format!("{path}: {why}"));
        };
        let same = |other: &&Binding<'_>| other.priority == binding.priority && rank(other) == rank(binding);
        let is_told = binding.from != Turn::Own;
        if let Some(other) = bound[..at].iter().find(same).filter(|other| other.priority.is_some() && !is_told) {
            wrong(&format!("its priority is that of `{}` already", other.policy));
        }
        let Some(policy) = books.policy(binding.bank, binding.policy) else {
            wrong(&format!("there is no policy of this name in `{}`", binding.bank.section()));
            continue;
        };
        let number = u32::try_from(at + 1).ok().and_then(|rank| rank.checked_mul(STEP)?.checked_add(before));
        let number = if keeps_numbers { binding.priority } else { number };
        let Some(number) = number.filter(|number| *number <= PRIORITY_MOST) else {
            wrong("the rules of this vserver leave no priority behind them");
            continue;
        };
        match rule(books, graft, binding, policy) {
            Ok(None) => {}
            Ok(Some(mut rule)) => {
                rule.insert("vserver".into(), vserver.into());
                rule.insert("priority".into(), number.into());
                let of = (binding.bank, binding.policy.into());
                let global = binding.from != Turn::Own;
                graft.rule(format!("{vserver}/{}", binding.policy), rule, (of, global), binding.place);
            }
            // Of what holds for all it was told.
            Err(_) if binding.from != Turn::Own && binding.of_answer => {}
            Err(why) => wrong(&why),
        }
    }
}

/// What a binding becomes, without its vserver and priority; `None`: it does nothing, or what is wrong with it was told.
fn rule(
    books: &Books<'_>,
    graft: &mut Graft,
    binding: &Binding<'_>,
    policy: &Policy<'_>,
) -> Result<Option<Map<String, Json>>, String> {
    let act = match (binding.target, policy.action) {
        (Some(target), _) => Some(Act::Route(target.to_owned())),
        (None, Some(action)) => books.act(binding.bank, action),
        (None, None) => return Err("it has no action; say a `target`".into()),
    };
    let (Some(when), Some(act)) = (&policy.when, act) else { return Ok(None) };
    let condition = when.condition().map_err(|refused| refused.to_string())?;
    if binding.of_answer && (act.ends() || act.changes_target()) {
        return Err(OF_ANSWER.into());
    }
    let Ok(when) = graft.when(&condition, &hint(binding.policy), binding.place) else { return Ok(None) };
    let mut rule = Map::new();
    if binding.of_answer {
        rule.insert("phase".into(), "response".into());
    }
    if let Some(when) = when {
        rule.insert("when".into(), when);
    }
    rule.insert("action".into(), act.table());
    if !act.ends() && !binding.goes_on {
        rule.insert("stop".into(), true.into());
    }
    Ok(Some(rule))
}
