//! Policies: what they name, whether they can be carried out, and where they are bound.

mod patterns;

pub(super) use patterns::patterns;

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::bind::{Ends, number};
use super::{Document, name_of};
use crate::config::policy::action::{self, Act, Action};
use crate::config::policy::expression::{Expression, Named, OF_ANSWER, Refused, nameable, read};
use crate::model::policy::PolicyBank;
use crate::netscaler::error::NsError;
use crate::netscaler::resource::{Attribute, Place, Resource, Shape};
use crate::netscaler::value::{shortened, text_of, typed};

/// Criteria that a connection meets before any request is read.
const OF_CONNECTION: [&str; 4] = ["client", "port", "sni", "tls"];

/// Which policies a resource is about: objects, actions and bindings.
pub(super) fn bank_of(resource: &Resource) -> Option<PolicyBank> {
    let word = match resource.shape {
        Shape::Binding { to, .. } => to,
        _ => resource.nitro,
    };
    match word {
        "cspolicy" | "csaction" => Some(PolicyBank::Cs),
        "responderpolicy" | "responderaction" => Some(PolicyBank::Responder),
        "rewritepolicy" | "rewriteaction" => Some(PolicyBank::Rewrite),
        _ => None,
    }
}

/// Keeps the names that an expression asks for.
struct Recorded<'a> {
    document: &'a Document,
    asked: RefCell<BTreeSet<(&'static str, String)>>,
}

// === impl Recorded ===

impl Named for Recorded<'_> {
    fn pattern_set(&self, name: &str) -> Option<Vec<String>> {
        self.asked.borrow_mut().insert(("policy_patset", name.to_owned()));
        self.document.pattern_set(name)
    }

    fn expression(&self, name: &str) -> Option<String> {
        self.asked.borrow_mut().insert(("policy_expression", name.to_owned()));
        self.document.expression(name)
    }
}

// === impl Document ===

impl Named for Document {
    fn pattern_set(&self, name: &str) -> Option<Vec<String>> {
        let table = self.table("policy_patset", name)?;
        Some(patterns(table).into_iter().map(|(pattern, _)| pattern).collect())
    }

    fn expression(&self, name: &str) -> Option<String> {
        self.table("policy_expression", name)?.get("value")?.as_str().map(str::to_owned)
    }
}

impl Document {
    /// Whether an object of policies can be carried out.
    pub(super) fn check_policy(
        &self,
        resource: &'static Resource,
        name: &str,
        table: &Map<String, Value>,
    ) -> Result<(), NsError> {
        let text = |key: &str| table.get(key).and_then(Value::as_str).unwrap_or_default();
        match resource.nitro {
            "policyexpression" => {
                nameable(name).map_err(|why| NsError::bad_value("name", name).because(why))?;
                self.readable("value", text("value")).map(drop)
            }
            "csaction" => {
                let target = text("target");
                let is_there = self.table("vserver", target).is_some();
                if is_there { Ok(()) } else { Err(NsError::no_such_resource("targetLBVserver", target)) }
            }
            "responderaction" | "rewriteaction" => {
                let refused = |why: String| NsError::unsupported("target", text("target"), &why);
                action_of(resource, table).map(drop).map_err(refused)
            }
            _ => {
                let bank = bank_of(resource);
                if !text("rule").is_empty() {
                    let expression = self.readable("rule", text("rule"))?;
                    if bank != Some(PolicyBank::Rewrite) && expression.looks_at_answer() {
                        let why = "it looks at the answer, and these policies are asked of the request";
                        return Err(NsError::unsupported("rule", text("rule"), why));
                    }
                }
                let Some(bank) = bank.filter(|_| !text("action").is_empty()) else { return Ok(()) };
                match self.act(bank, text("action")) {
                    Some(_) => Ok(()),
                    None => Err(NsError::no_such_resource("action", text("action"))),
                }
            }
        }
    }

    fn readable(&self, argument: &str, text: &str) -> Result<Expression, NsError> {
        let expression = read(text, self).map_err(|refused| match refused {
            Refused::Unknown(kind, name) => NsError::no_such_resource(kind, &name),
            Refused::Unreadable(text, why) => NsError::bad_value(argument, &text).because(&why),
            Refused::Unsupported(part, why) => NsError::unsupported(argument, &part, why),
            Refused::TooWide(_) => NsError::unsupported(argument, text, "it has too many alternatives"),
        })?;
        let wide = |_| NsError::unsupported(argument, text, "it has too many alternatives");
        expression.condition().map_err(wide)?;
        Ok(expression)
    }

    /// What an action does; `None`: there is none of this name.
    fn act(&self, bank: PolicyBank, name: &str) -> Option<Act> {
        let Some(table) = self.table(bank.actions(), name) else {
            return action::built_in(bank, name).map(|action| action.act);
        };
        match bank {
            PolicyBank::Cs => Some(Act::Route(table.get("target")?.as_str()?.to_owned())),
            PolicyBank::Responder => action_of(Resource::find("responderaction")?, table).ok().map(|a| a.act),
            PolicyBank::Rewrite => action_of(Resource::find("rewriteaction")?, table).ok().map(|a| a.act),
        }
    }

    /// Which policy or expression names a pattern set or an expression.
    pub(super) fn names_in_text(&self, section: &str, name: &str) -> Option<String> {
        let texts = [
            ("policy_expression", "value", "policy expression"),
            ("cs_policy", "rule", "cs policy"),
            ("responder_policy", "rule", "responder policy"),
            ("rewrite_policy", "rule", "rewrite policy"),
        ];
        for (owner, key, said) in texts {
            for (user, table) in self.section(owner) {
                let Some(text) = table.get(key).and_then(Value::as_str) else { continue };
                let recorded = Recorded { document: self, asked: RefCell::default() };
                let _ = read(text, &recorded);
                if recorded.asked.borrow().iter().any(|(kind, asked)| *kind == section && asked == name) {
                    return Some(format!("{said} {user}"));
                }
            }
        }
        None
    }

    /// Where a line names a policy of another bank, that is meant: `bind lb vserver v -policyName p`.
    pub(super) fn bank_meant(
        &self,
        resource: &'static Resource,
        arguments: &Map<String, Value>,
    ) -> Option<&'static Resource> {
        let (bank, Shape::Binding { owner, .. }) = (bank_of(resource)?, resource.shape) else { return None };
        let name = arguments.get("policyname").map(text_of).unwrap_or_default();
        let has = |bank: PolicyBank| self.table(bank.section(), &name).is_some();
        if has(bank) {
            return None;
        }
        Resource::find(owner)?.bindings().find(|other| bank_of(other).is_some_and(has))
    }

    /// The policy of a bank that is to be bound to an owner, or where the one of this name is bound instead.
    pub(super) fn policy_of(
        &self,
        bank: PolicyBank,
        owner: &Resource,
        name: &str,
    ) -> Result<&Map<String, Value>, NsError> {
        let of = |bank: PolicyBank| self.table(bank.section(), name);
        let unknown = || NsError::no_such_resource("policyName", name);
        let elsewhere = || match of(PolicyBank::Cs) {
            Some(_) => {
                unknown().because(&format!("it is a cs policy, which a cs vserver takes and no {}", owner.said()))
            }
            None => unknown(),
        };
        of(bank).ok_or_else(elsewhere)
    }

    pub(super) fn bind_policy(&mut self, bank: PolicyBank, ends: Ends) -> Result<(), NsError> {
        let Ends { owner, name, mut table, other, given } = ends;
        let text =
            |nitro: &str| given.iter().find(|(a, _)| a.nitro == nitro).and_then(|(a, v)| Some((*a, v.as_deref()?)));
        let said = |nitro: &str| text(nitro).filter(|(_, text)| !text.is_empty());
        let policy = self.policy_of(bank, owner, &other)?;
        let mut bound = table.get(bank.key()).and_then(Value::as_object).cloned().unwrap_or_default();
        if bound.contains_key(&other) {
            return Err(NsError::exists("policyName", &other));
        }
        let priority = number(&given, "priority", 1, 2_147_483_647)?;
        if priority.is_none() && bank != PolicyBank::Cs {
            return Err(NsError::missing("priority"));
        }
        let one_of = |nitro: &str, known: [&'static str; 2]| match said(nitro) {
            None => Ok(None),
            Some((attribute, text)) => match shortened(known.into_iter(), text) {
                Ok(Some(word)) => Ok(Some(word)),
                _ => Err(NsError::unsupported(attribute.cli, text, "")),
            },
        };
        let goes_on = one_of("gotopriorityexpression", ["END", "NEXT"])? == Some("NEXT");
        let of_answer =
            bank == PolicyBank::Rewrite && one_of("bindpoint", ["REQUEST", "RESPONSE"])? == Some("RESPONSE");
        let target = if bank == PolicyBank::Cs { said("targetlbvserver").map(|(_, text)| text) } else { None };
        let same = |(_, entry): &(&String, &Value)| {
            priority.is_some() && priority_of(entry) == priority && (text_at(entry, "type") == "RESPONSE") == of_answer
        };
        if let (Some(priority), Some((taken, _))) = (priority, bound.iter().find(same)) {
            return Err(NsError::exists("priority", &priority.to_string()).because(&format!("it is that of {taken}")));
        }
        if let Some(target) = target {
            self.check_target(&table, target)?;
        }
        let action = policy.get("action").and_then(Value::as_str).unwrap_or_default();
        if target.is_none() && action.is_empty() {
            return Err(NsError::prerequisite("targetLBVserver", "policyName"));
        }
        let act = if target.is_some() { None } else { self.act(bank, action) };
        if of_answer && act.is_some_and(|act| act.ends() || act.changes_target()) {
            return Err(NsError::unsupported(
                "type",
                "RESPONSE",
                "policies on answers edit answers, and do nothing else",
            ));
        }
        self.check_tests(&table, owner, policy, of_answer)?;
        let mut entry = Map::new();
        entry.extend(priority.map(|priority| ("priority".to_owned(), priority.into())));
        entry.extend(goes_on.then(|| ("goto".to_owned(), "NEXT".into())));
        entry.extend(of_answer.then(|| ("type".to_owned(), "RESPONSE".into())));
        entry.extend(target.map(|target| ("target".to_owned(), target.into())));
        let entry = match (entry.len(), priority) {
            (1, Some(priority)) => priority.into(),
            _ => Value::Object(entry),
        };
        bound.insert(other, entry);
        table.insert(bank.key().to_owned(), Value::Object(bound));
        self.store(owner.section(), &name, table);
        Ok(())
    }

    /// Whether a policy can hold for every vserver that reads requests.
    pub(in crate::netscaler) fn check_everywhere(
        &self,
        bank: PolicyBank,
        name: &str,
        of_answer: bool,
    ) -> Result<(), NsError> {
        let policy = self.table(bank.section(), name).ok_or_else(|| NsError::no_such_resource("policyName", name))?;
        let text = |key: &str| policy.get(key).and_then(Value::as_str).unwrap_or_default();
        if of_answer && self.act(bank, text("action")).is_some_and(|act| act.ends() || act.changes_target()) {
            let why = "policies on answers edit answers, and do nothing else";
            return Err(NsError::unsupported("type", "RES_DEFAULT", why));
        }
        let keys = self.readable("rule", text("rule"))?.keys();
        match !of_answer && keys.iter().any(|key| OF_ANSWER.contains(&&key[..])) {
            true => {
                Err(NsError::unsupported("rule", text("rule"), "it looks at the answer, and is bound to the request"))
            }
            false => Ok(()),
        }
    }

    /// Whether what a policy looks at is there where it is bound.
    fn check_tests(
        &self,
        vserver: &Map<String, Value>,
        owner: &'static Resource,
        policy: &Map<String, Value>,
        of_answer: bool,
    ) -> Result<(), NsError> {
        let Some(rule) = policy.get("rule").and_then(Value::as_str) else { return Ok(()) };
        let keys = self.readable("rule", rule)?.keys();
        let is_http = self.protocol(owner, vserver).is_none_or(|protocol| protocol.is_http());
        for key in keys {
            let why = if !is_http && !OF_CONNECTION.contains(&&key[..]) {
                "the vserver's type does not read requests"
            } else if !of_answer && OF_ANSWER.contains(&&key[..]) {
                "it looks at the answer, and is bound to the request"
            } else {
                continue;
            };
            return Err(NsError::unsupported("rule", rule, why));
        }
        Ok(())
    }

    pub(super) fn unbind_policy(&mut self, bank: PolicyBank, ends: Ends) -> Result<(), NsError> {
        let Ends { owner, name, mut table, other, given } = ends;
        let priority = number(&given, "priority", 1, 2_147_483_647)?;
        let unknown = || NsError::no_such_resource("policyName", &other);
        let bound = table.get_mut(bank.key()).and_then(Value::as_object_mut).ok_or_else(unknown)?;
        let is_it = bound.get(&other).is_some_and(|entry| priority.is_none() || priority_of(entry) == priority);
        if !is_it {
            return Err(unknown());
        }
        bound.shift_remove(&other);
        if bound.is_empty() {
            table.shift_remove(bank.key());
        }
        self.store(owner.section(), &name, table);
        Ok(())
    }

    /// The policies of one bank at a vserver, as bindings.
    pub(super) fn policies_of(
        &self,
        resource: &'static Resource,
        bank: PolicyBank,
        owner: &str,
        table: &Map<String, Value>,
    ) -> Vec<Map<String, Value>> {
        let bound = table.get(bank.key()).and_then(Value::as_object).into_iter().flatten();
        let row = |(policy, entry): (&String, &Value)| {
            let mut row =
                Map::from_iter([("name".to_owned(), owner.into()), ("policyname".to_owned(), policy.as_str().into())]);
            let mut put = |attribute: Option<&Attribute>, text: &str| {
                if let Some(attribute) = attribute.filter(|_| !text.is_empty()) {
                    row.insert(attribute.nitro.to_owned(), typed(attribute.kind, text));
                }
            };
            let or = |text: String, default: &str| if text.is_empty() { default.to_owned() } else { text };
            let priority = priority_of(entry).map(|priority| priority.to_string()).unwrap_or_default();
            put(resource.attribute("priority"), &priority);
            put(resource.attribute("gotopriorityexpression"), &or(text_at(entry, "goto"), "END"));
            put(resource.attribute("bindpoint"), &or(text_at(entry, "type"), "REQUEST"));
            put(resource.attribute("targetlbvserver"), &text_at(entry, "target"));
            let rule = self.table(bank.section(), policy).and_then(|table| table.get("rule"));
            row.extend(rule.map(|rule| ("rule".to_owned(), rule.clone())));
            row
        };
        bound.map(row).collect()
    }

    /// What must be said, and not with nothing.
    pub(super) fn check_says(&self, resource: &'static Resource, table: &Map<String, Value>) -> Result<(), NsError> {
        let says = |nitro: &str| match resource.attribute(nitro).map(|attribute| attribute.place) {
            Some(Place::At([key], _)) => table.contains_key(*key),
            _ => true,
        };
        for needed in resource.required {
            if !needed.split('|').any(says) {
                let first = needed.split('|').next().and_then(|one| resource.attribute(one));
                return Err(NsError::missing(first.map_or(needed, |attribute| attribute.cli)));
            }
        }
        Ok(())
    }
}

/// What the table of an action says it does.
pub(in crate::netscaler) fn action_of(resource: &Resource, table: &Map<String, Value>) -> Result<Action, String> {
    let text = |key: &str| table.get(key).map(text_of).unwrap_or_default();
    let status = table.get("status").and_then(Value::as_u64).and_then(|status| u16::try_from(status).ok());
    match resource.nitro {
        "rewriteaction" => action::rewrite(&text("type"), &text("target"), &text("value")),
        _ => action::responder(&text("type"), &text("target"), status),
    }
}

/// What is carried out and yet not the same to the letter.
pub(in crate::netscaler) fn notes(
    document: &Document,
    resource: &'static Resource,
    arguments: &Map<String, Value>,
) -> Vec<String> {
    let Ok(name) = name_of(resource, arguments) else { return Vec::new() };
    let (Some(bank), Some(table)) = (bank_of(resource), document.table(resource.section(), &name)) else {
        return Vec::new();
    };
    if resource.section() == bank.actions() {
        return action_of(resource, table).map(|action| action.notes).unwrap_or_default();
    }
    let action = table.get("action").and_then(Value::as_str).unwrap_or_default();
    if document.table(bank.actions(), action).is_some() {
        return Vec::new();
    }
    action::built_in(bank, action).map(|action| action.notes).unwrap_or_default()
}

fn priority_of(entry: &Value) -> Option<i64> {
    entry.get("priority").unwrap_or(entry).as_i64()
}

fn text_at(entry: &Value, key: &str) -> String {
    entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}
