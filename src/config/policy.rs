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
}

/// The priority of a rule, at most.
const PRIORITY_MOST: u32 = 2_147_483_647;
/// Between rules that are numbered anew.
const STEP: u32 = 10;

/// A policy at a vserver.
struct Binding<'d> {
    bank: PolicyBank,
    policy: &'d str,
    place: Place,
    priority: Option<u32>,
    target: Option<&'d str>,
    goes_on: bool,
    of_answer: bool,
}

/// Lays criteria and rules of policies beside those of the text.
pub(super) fn expand(report: &mut Report, document: &mut Table) -> Made {
    let banks = |table: &Table| PolicyBank::ALL.iter().any(|bank| table.get(bank.key()).is_some());
    let has_bound = vservers(document).any(|(_, _, table)| banks(table));
    if !has_bound && PolicyKind::ALL.iter().all(|kind| document.get(kind.section()).is_none()) {
        return Made::default();
    }
    let books = Books::read(report, document);
    let mut graft = Graft::beside(document);
    for (section, name, table) in vservers(document) {
        let path = format!("{section}.{name}");
        let mut bound: Vec<Binding<'_>> = PolicyBank::ALL.iter().flat_map(|bank| bindings(*bank, table)).collect();
        bound.sort_by_key(|one| (rank(one), one.priority.unwrap_or(u32::MAX)));
        rules(report, &books, &mut graft, (name, &path), &bound);
    }
    graft.onto(document)
}

/// Of either role: section, name, table.
fn vservers(document: &Table) -> impl Iterator<Item = (&'static str, &str, &Table)> {
    ["vserver", "cs_vserver"]
        .into_iter()
        .flat_map(move |section| books::section(document, section).map(move |(name, _, table)| (section, name, table)))
}

/// Which are asked first.
fn rank(binding: &Binding<'_>) -> (bool, PolicyBank) {
    (binding.of_answer, binding.bank)
}

/// What a vserver's table says of one bank; what does not read as a binding is the walk's to report.
fn bindings(bank: PolicyBank, table: &Table) -> Vec<Binding<'_>> {
    let entries = table.get(bank.key()).and_then(Node::table).map_or(&[][..], |table| &table.entries[..]);
    let one = |entry: &super::document::Entry| -> (Option<u32>, bool, bool) {
        let number = |node: &Node| match node.value {
            Value::Integer(Some(number)) => u32::try_from(number).ok().filter(|n| (1..=PRIORITY_MOST).contains(n)),
            _ => None,
        };
        let inner = entry.node.table();
        let is = |key: &str, word: &str| {
            inner.and_then(|table| table.get(key)?.text()).is_some_and(|text| text.eq_ignore_ascii_case(word))
        };
        let priority = number(&entry.node).or_else(|| number(inner?.get("priority")?));
        (priority, is("goto", "NEXT"), is("type", "RESPONSE"))
    };
    let all = entries.iter().map(|entry| {
        let (priority, goes_on, of_answer) = one(entry);
        let target = entry.node.table().and_then(|table| table.get("target")?.text());
        Binding { bank, policy: &entry.key, place: entry.place, priority, target, goes_on, of_answer }
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
        if let Some(other) = bound[..at].iter().find(same).filter(|other| other.priority.is_some()) {
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
                graft.rule(format!("{vserver}/{}", binding.policy), rule, of, binding.place);
            }
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
        return Err("policies on answers edit answers, and do nothing else".into());
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
