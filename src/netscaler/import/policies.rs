//! Policies, actions and bindings as criteria and rules.
//!
//! NetScaler asks a vserver's responder policies, then those that rewrite requests, then content switching; those that
//! rewrite answers come last. Each kind has priorities of its own and stops at a policy that says END. Rules have one
//! order and those that edit never stop the walk, so what comes after such a policy gets its opposite as a term.

mod action;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::super::document::Document;
use super::super::expression::{Criteria, Expression, Named, read};
use super::{Fate, Pending};
use action::{Act, Action};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Responder,
    Rewrite,
    Cs,
}

struct Policy {
    line: usize,
    kind: Kind,
    rule: String,
    /// `-url` and `-domain` of content switching, as an expression.
    also: Vec<Expression>,
    action: Option<String>,
}

struct Binding {
    line: usize,
    vserver: String,
    policy: String,
    /// Absent in old content switching: after all others, in the order of the file.
    priority: Option<u32>,
    target: Option<String>,
    /// NEXT: the ones behind it are asked although it acted.
    goes_on: bool,
    of_answer: bool,
}

#[derive(Default)]
struct Books {
    sets: BTreeMap<String, Vec<String>>,
    expressions: BTreeMap<String, String>,
    /// By kind and name.
    actions: BTreeMap<(Kind, String), (usize, Result<Action, String>)>,
    policies: BTreeMap<String, Policy>,
    bindings: Vec<Binding>,
}

/// Carries policies over, and gives all their lines a fate.
pub(super) fn carry(document: &mut Document, lines: &mut [Pending]) {
    let mut books = Books::default();
    for (at, line) in lines.iter_mut().enumerate() {
        if line.fate.is_none() && line.is_policy() {
            match books.read(at, line) {
                // Until somebody uses it.
                Ok(()) => line.fate = Some(Fate::Irrelevant("nothing that is carried uses it")),
                Err(why) => line.missing(vec![why]),
            }
        }
    }
    let mut root = std::mem::take(document).into_root();
    let tables =
        |root: &Map<String, Value>, key: &str| root.get(key).and_then(Value::as_object).cloned().unwrap_or_default();
    let mut out = Out { criteria: Criteria::of(&tables(&root, "criterion")), rules: tables(&root, "rule") };
    let vservers: BTreeSet<String> = books.bindings.iter().map(|binding| binding.vserver.clone()).collect();
    for vserver in vservers {
        books.vserver(&root, &vserver, lines, &mut out);
    }
    for (section, tables) in [("criterion", out.criteria.tables), ("rule", out.rules)] {
        if !tables.is_empty() {
            root.insert(section.into(), tables.into());
        }
    }
    *document = Document::from_root(root);
    books.uses(lines);
}

struct Out {
    criteria: Criteria,
    rules: Map<String, Value>,
}

// === impl Books ===

impl Named for Books {
    fn pattern_set(&self, name: &str) -> Option<Vec<String>> {
        self.sets.get(name).cloned()
    }

    fn expression(&self, name: &str) -> Option<String> {
        self.expressions.get(name).cloned()
    }
}

impl Books {
    fn read(&mut self, at: usize, line: &Pending) -> Result<(), String> {
        let words = [line.word(0), line.word(1), line.word(2)];
        let text = |index: usize| line.text(index).map(str::to_owned).ok_or("an argument is missing");
        match [&words[0][..], &words[1][..], &words[2][..]] {
            ["add", "policy", "patset"] => {
                self.sets.entry(text(3)?).or_default();
            }
            ["bind", "policy", "patset"] => self.sets.entry(text(3)?).or_default().push(text(4)?),
            ["add", "policy", "expression"] => {
                self.expressions.insert(text(3)?, text(4)?);
            }
            ["add", "cs", "action"] => {
                let target = line.value("targetLBVserver").or(line.value("targetVserver"));
                let action = target.map(|target| Action::of(Act::Route(target.to_owned())));
                let action = action.ok_or_else(|| "only a fixed -targetLBVserver is carried over".to_owned());
                self.actions.insert((Kind::Cs, text(3)?), (at, action));
            }
            ["add", "responder", "action"] => {
                self.actions.insert((Kind::Responder, text(3)?), (at, action::responder(line)));
            }
            ["add", "rewrite", "action"] => {
                self.actions.insert((Kind::Rewrite, text(3)?), (at, action::rewrite(line)));
            }
            ["add", "cs", "policy"] => {
                let also = [("domain", line.value("domain")), ("url", line.value("url"))];
                let also: Vec<Expression> =
                    also.into_iter().filter_map(|(kind, text)| Some(action::classic(kind, text?))).collect();
                let rule = line.value("rule").map(str::to_owned);
                if rule.is_none() && also.is_empty() {
                    return Err("it has no rule".into());
                }
                let rule = rule.unwrap_or_else(|| "true".into());
                let action = line.value("action").map(str::to_owned);
                self.policies.insert(text(3)?, Policy { line: at, kind: Kind::Cs, rule, also, action });
            }
            ["add", "responder" | "rewrite", "policy"] => {
                let kind = if words[1] == "responder" { Kind::Responder } else { Kind::Rewrite };
                let policy = Policy { line: at, kind, rule: text(4)?, also: Vec::new(), action: Some(text(5)?) };
                self.policies.insert(text(3)?, policy);
            }
            ["bind", "cs" | "lb", "vserver"] => {
                if line.value("invoke").is_some() || line.text(line.tokens.len() - 1) == Some("-invoke") {
                    return Err("policy labels are not carried over".into());
                }
                let goes_on = match line.value("gotoPriorityExpression").map(str::to_ascii_uppercase).as_deref() {
                    None | Some("END") => false,
                    Some("NEXT") => true,
                    Some(_) => return Err("of -gotoPriorityExpression END and NEXT are carried over".into()),
                };
                let priority = line.value("priority").map(|text| text.parse().map_err(|_| "-priority is a number"));
                self.bindings.push(Binding {
                    line: at,
                    vserver: text(3)?,
                    policy: line.value("policyName").unwrap_or_default().to_owned(),
                    priority: priority.transpose()?,
                    target: line.value("targetLBVserver").map(str::to_owned),
                    goes_on,
                    of_answer: line.value("type").is_some_and(|kind| kind.eq_ignore_ascii_case("RESPONSE")),
                });
            }
            _ => return Err("this change of a policy is not carried over".into()),
        }
        Ok(())
    }

    /// The rules of one vserver.
    fn vserver(&self, root: &Map<String, Value>, name: &str, lines: &mut [Pending], out: &mut Out) {
        let is_there =
            |name: &str| ["vserver", "cs_vserver"].iter().any(|s| root.get(*s).is_some_and(|t| t.get(name).is_some()));
        let mut bound: Vec<(&Binding, &Policy)> = Vec::new();
        for binding in self.bindings.iter().filter(|binding| binding.vserver == name) {
            match self.policies.get(&binding.policy) {
                _ if !is_there(name) => {
                    lines[binding.line].missing(vec![format!("no vserver `{name}` is carried over")])
                }
                Some(policy) => bound.push((binding, policy)),
                None => lines[binding.line].missing(vec![format!("no policy `{}` is carried over", binding.policy)]),
            }
        }
        let bank = |(binding, policy): &(&Binding, &Policy)| (binding.of_answer, policy.kind);
        bound.sort_by_key(|one| (bank(one), one.0.priority.unwrap_or(u32::MAX), one.0.line));
        let one_bank = bound.windows(2).all(|pair| bank(&pair[0]) == bank(&pair[1]));
        let distinct = bound.windows(2).all(|pair| pair[0].0.priority < pair[1].0.priority);
        let keeps_numbers =
            one_bank && distinct && bound.iter().all(|(b, _)| b.priority.is_some_and(|p| p > 0 && p <= 2_147_483_647));
        // Of the bank at hand: conditions of policies that acted and did not end the walk by themselves.
        let mut ended: (Option<(bool, Kind)>, Vec<Expression>) = (None, Vec::new());
        for (rank, one) in bound.iter().enumerate() {
            let (binding, policy) = *one;
            if ended.0 != Some(bank(one)) {
                ended = (Some(bank(one)), Vec::new());
            }
            let priority = match binding.priority {
                Some(priority) if keeps_numbers => priority,
                _ => (u32::try_from(rank).unwrap_or(u32::MAX - 1) + 1).saturating_mul(10),
            };
            match self.rule(binding, policy, &mut ended.1, out, priority, &is_there) {
                Ok(notes) => {
                    lines[binding.line].fate = Some(Fate::Carried);
                    lines[binding.line].notes = notes;
                }
                Err(why) => lines[binding.line].missing(vec![why]),
            }
        }
    }

    fn rule(
        &self,
        binding: &Binding,
        policy: &Policy,
        ended: &mut Vec<Expression>,
        out: &mut Out,
        priority: u32,
        is_there: &dyn Fn(&str) -> bool,
    ) -> Result<Vec<String>, String> {
        let own = read(&policy.rule, self).map_err(|refused| refused.to_string())?;
        let mut all = vec![own];
        all.extend(policy.also.iter().cloned());
        let own = Expression::And(all);
        let action = match (&binding.target, policy.kind) {
            (Some(target), Kind::Cs) => Action::of(Act::Route(target.clone())),
            _ => self.action(policy)?,
        };
        if let Act::Route(target) = &action.act
            && !is_there(target)
        {
            return Err(format!("no vserver `{target}` is carried over"));
        }
        let mut before: Vec<Expression> = ended.iter().map(|e| Expression::Not(Box::new(e.clone()))).collect();
        before.push(own.clone());
        let condition = Expression::And(before).condition().map_err(|refused| refused.to_string())?;
        if !action.act.ends() && !binding.goes_on {
            ended.push(own);
        }
        let Some(action_table) = action.act.table() else { return Ok(action.notes) };
        if binding.of_answer && action.act.ends() {
            return Err("rules on answers edit, and do nothing else".into());
        }
        let when = out.criteria.when(&condition, &binding.policy)?;
        let mut rule = Map::from_iter([
            ("vserver".to_owned(), Value::from(binding.vserver.clone())),
            ("priority".to_owned(), priority.into()),
        ]);
        if binding.of_answer {
            rule.insert("phase".into(), "response".into());
        }
        if let Some(when) = when {
            rule.insert("when".into(), when);
        }
        rule.insert("action".into(), action_table);
        let mut name = binding.policy.clone();
        let mut number = 2u64;
        while out.rules.contains_key(&name) {
            name = format!("{}-{number}", binding.policy);
            number += 1;
        }
        out.rules.insert(name, rule.into());
        Ok(action.notes)
    }

    fn action(&self, policy: &Policy) -> Result<Action, String> {
        let Some(name) = &policy.action else { return Err("it has no target".into()) };
        match self.actions.get(&(policy.kind, name.clone())) {
            Some((_, action)) => action.clone(),
            None => action::built_in(name).ok_or_else(|| format!("no action `{name}` is carried over")),
        }
    }

    /// What carried bindings use is carried.
    fn uses(&self, lines: &mut [Pending]) {
        let is_carried = |lines: &[Pending], at: usize| lines[at].fate == Some(Fate::Carried);
        let mut words = BTreeSet::new();
        for binding in &self.bindings {
            if !is_carried(lines, binding.line) {
                continue;
            }
            let Some(policy) = self.policies.get(&binding.policy) else { continue };
            lines[policy.line].fate = Some(Fate::Carried);
            words.insert(policy.rule.clone());
            if let Some((line, _)) =
                policy.action.as_ref().and_then(|name| self.actions.get(&(policy.kind, name.clone())))
            {
                lines[*line].fate = Some(Fate::Carried);
            }
        }
        // Named expressions may name sets and one another.
        for _ in 0..8 {
            let more = self.expressions.iter().filter(|(name, _)| words.iter().any(|text| has_word(text, name)));
            let more: Vec<String> = more.map(|(_, text)| text.clone()).collect();
            words.extend(more);
        }
        for line in lines.iter_mut().filter(|line| matches!(line.fate, Some(Fate::Irrelevant(_)))) {
            if line.word(1) == "policy"
                && line.text(3).is_some_and(|name| words.iter().any(|text| has_word(text, name)))
            {
                line.fate = Some(Fate::Carried);
            }
        }
    }
}

/// Whether a text holds this name as a word of its own.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part) && !name.is_empty()
    })
}

/// The value of a test, for actions.
fn test(key: &str, test: &str, value: &str) -> Expression {
    Expression::Test(Map::from_iter([(key.to_owned(), json!({ test: value }))]))
}
