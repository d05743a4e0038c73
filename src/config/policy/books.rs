//! What policies name: pattern sets, named expressions, actions; each looked at once, whether somebody uses it or not.

use std::collections::{BTreeMap, BTreeSet};

use super::action::{self, Act, Action};
use super::expression::{Expression, Named, nameable, read};
use crate::config::document::{Node, Place, Table, Value};
use crate::config::report::Report;
use crate::model::policy::PolicyBank;

pub(super) struct Policy<'d> {
    /// `None`: what is wrong with it was told.
    pub when: Option<Expression>,
    pub action: Option<&'d str>,
}

#[derive(Default)]
pub(super) struct Books<'d> {
    sets: BTreeMap<&'d str, Vec<String>>,
    expressions: BTreeMap<&'d str, &'d str>,
    /// `None`: what is wrong with it was told.
    actions: BTreeMap<PolicyBank, BTreeMap<&'d str, Option<Act>>>,
    policies: BTreeMap<PolicyBank, BTreeMap<&'d str, Policy<'d>>>,
}

/// Of policies that are asked before there is an answer.
const OF_ANSWER: &str = "it looks at the answer, and these policies are asked of the request";

/// The objects of a section: name, place, table.
pub(super) fn section<'d>(
    document: &'d Table,
    name: &str,
) -> impl Iterator<Item = (&'d str, Place, &'d Table)> + use<'d> {
    let entries = document.get(name).and_then(Node::table).map_or(&[][..], |table| &table.entries[..]);
    entries.iter().filter_map(|entry| Some((entry.key.as_str(), entry.place, entry.node.table()?)))
}

fn text<'d>(table: &'d Table, key: &str) -> Option<&'d str> {
    table.get(key)?.text()
}

/// Where the value of a key stands, else the object.
fn place_of(table: &Table, key: &str, object: Place) -> Place {
    table.get(key).map_or(object, |node| node.place)
}

fn wrong(report: &mut Report, place: Place, path: &str, why: &str) {
    report.error(place, path, format!("{path}: {why}"));
}

// === impl Books ===

impl Named for Books<'_> {
    fn pattern_set(&self, name: &str) -> Option<Vec<String>> {
        self.sets.get(name).cloned()
    }

    fn expression(&self, name: &str) -> Option<String> {
        self.expressions.get(name).map(|text| (*text).to_owned())
    }
}

impl<'d> Books<'d> {
    pub fn read(report: &mut Report, document: &'d Table) -> Books<'d> {
        let mut books = Books::default();
        for (name, _, table) in section(document, "policy_patset") {
            books.sets.insert(name, patterns(table));
        }
        for (name, _, table) in section(document, "policy_expression") {
            books.expressions.extend(text(table, "value").map(|value| (name, value)));
        }
        for (name, place, table) in section(document, "policy_expression") {
            if let Err(why) = nameable(name) {
                wrong(report, place, &format!("policy_expression.{name}"), why);
            }
            if let Some(Err(refused)) = text(table, "value").map(|value| read(value, &books)) {
                let place = place_of(table, "value", place);
                wrong(report, place, &format!("policy_expression.{name}.value"), &refused.to_string());
            }
        }
        let vservers: BTreeSet<&str> = section(document, "vserver").map(|(name, ..)| name).collect();
        for bank in PolicyBank::ALL {
            for (name, place, table) in section(document, bank.actions()) {
                let act = books.action(report, bank, (name, place, table), &vservers);
                books.actions.entry(bank).or_default().insert(name, act);
            }
            for (name, place, table) in section(document, bank.section()) {
                let policy = books.read_policy(report, bank, (name, place, table));
                books.policies.entry(bank).or_default().insert(name, policy);
            }
        }
        books
    }

    pub fn policy(&self, bank: PolicyBank, name: &str) -> Option<&Policy<'d>> {
        self.policies.get(&bank)?.get(name)
    }

    fn own(&self, bank: PolicyBank, action: &str) -> Option<&Option<Act>> {
        self.actions.get(&bank)?.get(action)
    }

    /// What an action does; `None`: it is none, which was told.
    pub fn act(&self, bank: PolicyBank, name: &str) -> Option<Act> {
        match self.own(bank, name) {
            Some(act) => act.clone(),
            None => action::built_in(bank, name).map(|action| action.act),
        }
    }

    fn action(
        &self,
        report: &mut Report,
        bank: PolicyBank,
        (name, place, table): (&str, Place, &Table),
        vservers: &BTreeSet<&str>,
    ) -> Option<Act> {
        let path = format!("{}.{name}", bank.actions());
        let said = |key: &str| text(table, key).unwrap_or_default();
        let done = match bank {
            PolicyBank::Cs => {
                let target = text(table, "target")?;
                match vservers.contains(target) {
                    true => Ok(Action::of(Act::Route(target.to_owned()))),
                    false => Err(format!("there is no vserver `{target}` that balances")),
                }
            }
            // What is missing or no word is told by the walk.
            PolicyBank::Responder => {
                let status = match table.get("status").map(|node| &node.value) {
                    Some(Value::Integer(Some(status))) => u16::try_from(*status).ok(),
                    _ => None,
                };
                action::responder(text(table, "type")?, said("target"), status)
            }
            PolicyBank::Rewrite => action::rewrite(text(table, "type")?, said("target"), said("value")),
        };
        done.map(|action| action.act).map_err(|why| wrong(report, place, &path, &why)).ok()
    }

    fn read_policy(
        &self,
        report: &mut Report,
        bank: PolicyBank,
        (name, place, table): (&str, Place, &'d Table),
    ) -> Policy<'d> {
        let path = format!("{}.{name}", bank.section());
        let mut all: Vec<Expression> = Vec::new();
        let mut is_sound = true;
        if let Some(rule) = text(table, "rule") {
            match read(rule, self) {
                Ok(expression) if bank != PolicyBank::Rewrite && expression.looks_at_answer() => {
                    wrong(report, place_of(table, "rule", place), &format!("{path}.rule"), OF_ANSWER);
                    is_sound = false;
                }
                Ok(expression) => all.push(expression),
                Err(refused) => {
                    let place = place_of(table, "rule", place);
                    wrong(report, place, &format!("{path}.rule"), &refused.to_string());
                    is_sound = false;
                }
            }
        }
        all.extend(
            ["domain", "url"]
                .into_iter()
                .filter(|_| bank == PolicyBank::Cs)
                .filter_map(|kind| Some(action::classic(kind, text(table, kind)?))),
        );
        if all.is_empty() && is_sound {
            if bank == PolicyBank::Cs {
                wrong(report, place, &path, "say one of `rule`, `url` and `domain`");
            }
            is_sound = false;
        }
        let action = text(table, "action");
        if let Some(action) = action
            && self.own(bank, action).is_none()
            && action::built_in(bank, action).is_none()
        {
            let place = place_of(table, "action", place);
            wrong(report, place, &format!("{path}.action"), &format!("there is no action `{action}`"));
        }
        Policy { when: is_sound.then_some(Expression::And(all)), action }
    }
}

/// Of a set, in the order of their numbers.
fn patterns(table: &Table) -> Vec<String> {
    match table.get("patterns").map(|node| &node.value) {
        Some(Value::List(items)) => items.iter().filter_map(|item| item.text().map(str::to_owned)).collect(),
        Some(Value::Table(table)) => table.entries.iter().map(|entry| entry.key.clone()).collect(),
        _ => Vec::new(),
    }
}
