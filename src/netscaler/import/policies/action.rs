//! What policies do, as actions of rules.

use serde_json::{Value, json};

use super::super::Pending;
use super::super::template::{respond, template};
use super::test;
use crate::netscaler::expression::Expression;

/// What a policy does, and what of it is not the same to the letter.
#[derive(Clone, Debug)]
pub(super) struct Action {
    pub act: Act,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug)]
pub(super) enum Act {
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

// === impl Act ===

impl Act {
    /// Nothing behind it is asked.
    pub fn ends(&self) -> bool {
        matches!(self, Act::Route(_) | Act::Ends(_))
    }

    /// `action` of a rule; `None` where nothing is done.
    pub fn table(&self) -> Option<Value> {
        match self {
            Act::Nothing => None,
            Act::Route(vserver) => Some(json!({ "route": { "vserver": vserver } })),
            Act::Ends(table) => Some(table.clone()),
            Act::Edit(edit) => Some(json!({ "edit": [edit] })),
        }
    }
}

/// Actions that are there by themselves.
pub(super) fn built_in(name: &str) -> Option<Action> {
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

/// `add responder action NAME TYPE TARGET`
pub(super) fn responder(line: &Pending) -> Result<Action, String> {
    let target = || template(line.text(5).unwrap_or_default()).map_err(|refused| refused.to_string());
    match &line.word(4)[..] {
        "noop" => Ok(Action::of(Act::Nothing)),
        "redirect" => {
            let status = match line.value("responseStatusCode") {
                None => 302,
                Some(text) => text.parse::<u16>().map_err(|_| "-responseStatusCode is a number".to_owned())?,
            };
            if ![301, 302, 303, 307, 308].contains(&status) {
                return Err(format!("{status} is no status of a redirect"));
            }
            let target = target()?;
            let act = Act::Ends(json!({ "redirect": { "status": status, "location": target.text } }));
            Ok(Action { act, notes: target.notes })
        }
        "respondwith" => {
            let target = target()?;
            Ok(Action { act: Act::Ends(respond(&target.text)?), notes: target.notes })
        }
        other => Err(format!("actions of type {other} are not carried over")),
    }
}

/// `add rewrite action NAME TYPE TARGET [TEXT]`
pub(super) fn rewrite(line: &Pending) -> Result<Action, String> {
    let target = line.text(5).unwrap_or_default();
    let text = || template(line.text(6).unwrap_or_default()).map_err(|refused| refused.to_string());
    match &line.word(4)[..] {
        "noop" => Ok(Action::of(Act::Nothing)),
        "insert_http_header" => {
            let text = text()?;
            Ok(Action { act: Act::Edit(json!({ "add": target, "value": text.text })), notes: text.notes })
        }
        "delete_http_header" => Ok(Action::of(Act::Edit(json!({ "remove": target })))),
        "replace" => {
            let text = text()?;
            let edit = match header(target) {
                Some(name) => json!({ "set": name, "value": text.text }),
                None if target.eq_ignore_ascii_case("HTTP.REQ.HOSTNAME") => {
                    json!({ "set": "Host", "value": text.text })
                }
                None if target.eq_ignore_ascii_case("HTTP.REQ.URL.PATH") => {
                    if text.text.contains('{') {
                        return Err("a path that is put together is not carried over".into());
                    }
                    json!({ "path": "^.*$", "to": text.text.replace('$', "$$") })
                }
                None => return Err(format!("`{target}` is not replaced by rules")),
            };
            Ok(Action { act: Act::Edit(edit), notes: text.notes })
        }
        other => Err(format!("actions of type {other} are not carried over")),
    }
}

/// The name in `HTTP.REQ.HEADER("x")`.
fn header(target: &str) -> Option<&str> {
    let upper = target.to_ascii_uppercase();
    let begin = ["HTTP.REQ.HEADER(\"", "HTTP.RES.HEADER(\""].iter().find(|begin| upper.starts_with(**begin))?;
    target[begin.len()..].strip_suffix("\")").filter(|name| !name.contains('"'))
}

/// `-url "/images/*.gif"` and `-domain` of content switching.
pub(super) fn classic(kind: &str, text: &str) -> Expression {
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
