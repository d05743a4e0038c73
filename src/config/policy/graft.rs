//! What is laid beside the text: criteria and rules under names that the text has not.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value as Json};

use super::expression::Condition;
use super::{Criteria, Made, books::section};
use crate::config::document::{Entry, Node, Place, Table, Value};
use crate::model::id::Name;
use crate::model::policy::PolicyBank;

/// Bytes of a name, with room for a number.
const NAME_MOST: usize = 110;

pub(super) struct Graft {
    criteria: Criteria,
    /// Where each criterion comes from.
    places: BTreeMap<String, Place>,
    rules: Vec<(String, Map<String, Json>, Place)>,
    /// The policy of each rule.
    of: BTreeMap<Name, (PolicyBank, Name)>,
    global: BTreeSet<Name>,
    rule_names: BTreeSet<String>,
    /// The highest priority that the text says, by vserver.
    highest: BTreeMap<String, u32>,
}

/// A name for criteria that conditions can carry.
pub(super) fn hint(policy: &str) -> String {
    let plain = policy.chars().map(|c| if c.is_alphanumeric() || c == '-' { c } else { '_' });
    shortened(plain.collect())
}

fn shortened(mut name: String) -> String {
    while name.len() > NAME_MOST {
        name.pop();
    }
    name
}

fn node(value: &Json, place: Place) -> Node {
    let value = match value {
        Json::Null => Value::Text(String::new()),
        Json::Bool(value) => Value::Bool(*value),
        Json::Number(number) => Value::Integer(number.as_i64()),
        Json::String(text) => Value::Text(text.clone()),
        Json::Array(items) => Value::List(items.iter().map(|item| node(item, place)).collect()),
        Json::Object(entries) => Value::Table(table(entries, place)),
    };
    Node { place, value }
}

fn table(entries: &Map<String, Json>, place: Place) -> Table {
    let entry = |(key, value): (&String, &Json)| Entry { key: key.clone(), place, node: node(value, place) };
    Table { entries: entries.iter().map(entry).collect() }
}

// === impl Graft ===

impl Graft {
    pub fn beside(document: &Table) -> Graft {
        let names = |name: &str| section(document, name).map(|(name, ..)| name.to_owned()).collect::<BTreeSet<_>>();
        let mut highest = BTreeMap::new();
        for (_, _, rule) in section(document, "rule") {
            let number = match rule.get("priority").map(|node| &node.value) {
                Some(Value::Integer(Some(number))) => u32::try_from(*number).unwrap_or(0),
                _ => continue,
            };
            let Some(vserver) = rule.get("vserver").and_then(Node::text) else { continue };
            let most = highest.entry(vserver.to_owned()).or_insert(0);
            *most = number.max(*most);
        }
        // A criterion cannot have the name of a check.
        let mut taken = names("criterion");
        taken.extend(names("check"));
        Graft {
            criteria: Criteria::without(taken),
            places: BTreeMap::new(),
            rules: Vec::new(),
            of: BTreeMap::new(),
            global: BTreeSet::new(),
            rule_names: names("rule"),
            highest,
        }
    }

    /// 0 where the text has no rule for this vserver.
    pub fn highest(&self, vserver: &str) -> u32 {
        self.highest.get(vserver).copied().unwrap_or(0)
    }

    /// `when` of a rule; `None`: always.
    ///
    /// Errors: a condition that is never true, which no rule needs.
    pub fn when(&mut self, condition: &Condition, hint: &str, place: Place) -> Result<Option<Json>, ()> {
        let when = self.criteria.when(condition, hint).map_err(|_| ())?;
        // New ones stand at the end.
        let known = self.places.len();
        self.places.extend(self.criteria.tables.keys().skip(known).map(|name| (name.clone(), place)));
        Ok(when)
    }

    /// A rule under this name, or one like it, with its policy and whether that holds for every vserver.
    pub fn rule(
        &mut self,
        wanted: String,
        rule: Map<String, Json>,
        (of, global): ((PolicyBank, Name), bool),
        place: Place,
    ) {
        let wanted = shortened(wanted);
        let mut name = wanted.clone();
        let mut number = 2u64;
        while !self.rule_names.insert(name.clone()) {
            name = format!("{wanted}-{number}");
            number += 1;
        }
        self.of.insert(name.as_str().into(), of);
        self.global.extend(global.then(|| Name::from(name.as_str())));
        self.rules.push((name, rule, place));
    }

    pub fn onto(self, document: &mut Table) -> Made {
        let place = |name: &str| self.places.get(name).copied().unwrap_or_default();
        let criteria = self.criteria.tables.iter().filter_map(|(name, test)| Some((name.clone(), test.as_object()?)));
        let criteria: Vec<Entry> = criteria
            .map(|(key, test)| {
                let place = place(&key);
                Entry { key, place, node: Node { place, value: Value::Table(table(test, place)) } }
            })
            .collect();
        let rules: Vec<Entry> = self
            .rules
            .iter()
            .map(|(key, rule, place)| {
                let node = Node { place: *place, value: Value::Table(table(rule, *place)) };
                Entry { key: key.clone(), place: *place, node }
            })
            .collect();
        let named = criteria.iter().map(|entry| entry.key.as_str().into()).collect();
        let made = Made { criteria: named, rules: self.of, global: self.global };
        lay(document, "criterion", criteria);
        lay(document, "rule", rules);
        made
    }
}

/// A section that is no table was reported, and nothing is laid beside it.
fn lay(document: &mut Table, section: &str, entries: Vec<Entry>) {
    let Some(first) = entries.first() else { return };
    let place = first.place;
    match document.entry_mut(section).map(|entry| &mut entry.node.value) {
        Some(Value::Table(table)) => table.entries.extend(entries),
        Some(_) => {}
        None => {
            let node = Node { place, value: Value::Table(Table { entries }) };
            document.entries.push(Entry { key: section.to_owned(), place, node });
        }
    }
}
