//! What policies do, as actions of rules.

use serde_json::{Map, Value, json};

use super::expression::Expression;
use super::template::{respond, template};
use crate::config::resolve::object::header as header_field;
use crate::config::resolve::rule::action::{changeable, fillable, target_text};
use crate::model::policy::PolicyBank;

/// What an action does, and what of it is not the same to the letter.
#[derive(Clone, Debug)]
pub struct Action {
    pub act: Act,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug)]
pub enum Act {
    /// It is counted.
    Nothing,
    /// To a vserver.
    Route(String),
    /// An action of a rule that ends the walk.
    Ends(Value),
    Edit(Value),
}

// === impl Action ===

impl Action {
    pub fn of(act: Act) -> Action {
        Action { act, notes: Vec::new() }
    }
}

// === impl Part ===

impl Part {
    /// As it was sent.
    fn own(self) -> &'static str {
        match self {
            Part::Host => "{host}",
            Part::Path => "{path}",
            Part::Url => "{url}",
        }
    }

    /// The edit that makes it this text.
    fn becomes(self, text: &str) -> Result<Value, String> {
        Ok(match self {
            Part::Host => {
                value(text)?;
                json!({ "set": "Host", "value": text })
            }
            Part::Path => {
                target_text(text, false)?;
                json!({ "url_path": text })
            }
            Part::Url => {
                target_text(text, true)?;
                json!({ "url": text })
            }
        })
    }
}

// === impl Act ===

impl Act {
    /// Nothing behind it is asked.
    pub fn ends(&self) -> bool {
        matches!(self, Act::Route(_) | Act::Ends(_))
    }

    /// It changes where a request goes at its server: nothing that could be done to an answer.
    pub fn changes_target(&self) -> bool {
        matches!(self, Act::Edit(edit) if ["path", "url", "url_path"].iter().any(|key| edit.get(key).is_some()))
    }

    /// `action` of a rule.
    pub fn table(&self) -> Value {
        match self {
            Act::Nothing => json!({ "count": true }),
            Act::Route(vserver) => json!({ "route": { "vserver": vserver } }),
            Act::Ends(table) => table.clone(),
            Act::Edit(edit) => json!({ "edit": [edit] }),
        }
    }
}

/// Actions that are there by themselves.
pub fn built_in(bank: PolicyBank, name: &str) -> Option<Action> {
    if bank == PolicyBank::Cs {
        return None;
    }
    match &name.to_ascii_uppercase()[..] {
        "NOOP" | "NOREWRITE" => Some(Action::of(Act::Nothing)),
        "RESET" => Some(Action::of(Act::Ends(json!({ "reject": true })))),
        "DROP" => Some(Action {
            act: Act::Ends(json!({ "reject": true })),
            notes: vec!["the connection is reset where DROP lets the client wait".into()],
        }),
        _ => None,
    }
}

/// `responder action NAME TYPE TARGET -responseStatusCode STATUS`
///
/// Errors: a type, a status or a target that no rule has; why.
pub fn responder(kind: &str, target: &str, status: Option<u16>) -> Result<Action, String> {
    let template = || match target {
        "" => Err("it has no target".to_owned()),
        target => template(target).map_err(|refused| refused.to_string()),
    };
    match &kind.to_ascii_lowercase()[..] {
        "noop" => Ok(Action::of(Act::Nothing)),
        "redirect" => {
            let status = status.unwrap_or(302);
            if ![301, 302, 303, 307, 308].contains(&status) {
                return Err(format!("{status} is no status of a redirect"));
            }
            let target = template()?;
            let act = Act::Ends(json!({ "redirect": { "status": status, "location": target.text } }));
            Ok(Action { act, notes: target.notes })
        }
        "respondwith" if status.is_some() => Err("the status stands in the answer that is given".into()),
        "respondwith" => {
            let target = template()?;
            Ok(Action { act: Act::Ends(respond(&target.text)?), notes: target.notes })
        }
        other => Err(format!("actions of type {other} are not carried over")),
    }
}

/// `rewrite action NAME TYPE TARGET [TEXT]`
///
/// Errors: a type, a target or a text that no rule has; why.
pub fn rewrite(kind: &str, target: &str, text: &str) -> Result<Action, String> {
    let kind = kind.to_ascii_lowercase();
    if target.is_empty() && kind != "noop" {
        return Err("it has no target".into());
    }
    let text = || match text {
        "" => Err("it has no text to write".to_owned()),
        text => template(text).map_err(|refused| refused.to_string()),
    };
    match &kind[..] {
        "noop" => Ok(Action::of(Act::Nothing)),
        "insert_http_header" => {
            changeable(target, false)?;
            let text = text()?;
            value(&text.text)?;
            Ok(Action { act: Act::Edit(json!({ "add": target, "value": text.text })), notes: text.notes })
        }
        "delete_http_header" => {
            changeable(target, false)?;
            Ok(Action::of(Act::Edit(json!({ "remove": target }))))
        }
        "replace" => {
            let text = text()?;
            let edit = match (header(target), target_of(target)) {
                (Some(name), _) => {
                    changeable(name, target.to_ascii_uppercase().starts_with("HTTP.REQ."))?;
                    value(&text.text)?;
                    json!({ "set": name, "value": text.text })
                }
                (None, Some(part)) => part.becomes(&text.text)?,
                (None, None) => return Err(format!("`{target}` is not replaced by rules")),
            };
            Ok(Action { act: Act::Edit(edit), notes: text.notes })
        }
        "insert_before" | "insert_after" => {
            let text = text()?;
            let part = target_of(target).ok_or_else(|| format!("nothing is inserted into `{target}` by rules"))?;
            let joined = match &kind[..] {
                "insert_before" => text.text + part.own(),
                _ => part.own().to_owned() + &text.text,
            };
            Ok(Action { act: Act::Edit(part.becomes(&joined)?), notes: text.notes })
        }
        other => Err(format!("actions of type {other} are not carried over")),
    }
}

/// A part of each request that is changed as a text.
#[derive(Clone, Copy)]
enum Part {
    Host,
    Path,
    /// Path and query.
    Url,
}

fn target_of(target: &str) -> Option<Part> {
    Some(match &target.to_ascii_uppercase()[..] {
        "HTTP.REQ.HOSTNAME" => Part::Host,
        "HTTP.REQ.URL.PATH" => Part::Path,
        "HTTP.REQ.URL" | "HTTP.REQ.URL.PATH_AND_QUERY" => Part::Url,
        _ => return None,
    })
}

/// Whether a field can have this value.
fn value(text: &str) -> Result<(), String> {
    header_field("value", text)?;
    fillable(text)
}

/// The name in `HTTP.REQ.HEADER("x")`.
fn header(target: &str) -> Option<&str> {
    let upper = target.to_ascii_uppercase();
    let begin = ["HTTP.REQ.HEADER(\"", "HTTP.RES.HEADER(\""].iter().find(|begin| upper.starts_with(**begin))?;
    target[begin.len()..].strip_suffix("\")").filter(|name| !name.contains('"'))
}

/// `-url "/images/*.gif"` and `-domain` of content switching.
pub fn classic(kind: &str, text: &str) -> Expression {
    if kind == "domain" {
        return match text.strip_prefix('*') {
            Some(ending) => test("host", "ends_with", ending),
            None => test("host", "equals", text),
        };
    }
    match text.split_once('*') {
        None => test("path", "equals", text),
        Some(("/", "")) => Expression::Always(true),
        Some((start, "")) => test("path", "starts_with", start),
        Some((start, end)) => {
            let ending = test("path", "ends_with", end);
            if start.is_empty() || start == "/" {
                ending
            } else {
                Expression::And(vec![test("path", "starts_with", start), ending])
            }
        }
    }
}

/// One criterion on a text. An empty text is in everything.
fn test(key: &str, test: &str, value: &str) -> Expression {
    if value.is_empty() && test != "equals" {
        return Expression::Always(true);
    }
    Expression::Test(Map::from_iter([(key.to_owned(), json!({ test: value }))]))
}
