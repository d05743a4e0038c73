//! `bind responder global` and `bind rewrite global`: policies of every vserver that reads requests.

use serde_json::{Map, Value, json};

use super::words::{Class, class};
use super::{Fate, Pending};
use crate::model::policy::PolicyBank;
use crate::netscaler::document::Document;

/// Takes the lines out; what they bind is carried once all objects are there.
pub(super) fn collect(lines: &mut [Pending]) -> Vec<(usize, PolicyBank)> {
    let mut taken = Vec::new();
    for (at, line) in lines.iter_mut().enumerate().filter(|(_, line)| line.fate.is_none()) {
        if let Class::Everywhere(bank) = class(line) {
            line.fate = Some(Fate::Carried);
            taken.push((at, bank));
        }
    }
    taken
}

pub(super) fn carry(document: &mut Document, lines: &mut [Pending], taken: &[(usize, PolicyBank)]) {
    for (at, bank) in taken {
        if let Err(why) = bind(document, *bank, &lines[*at]) {
            lines[*at].missing(vec![why]);
        }
    }
}

/// What a line says.
struct Said<'l> {
    policy: &'l str,
    priority: Option<u32>,
    goes_on: bool,
    /// `REQ_DEFAULT`, …
    kind: String,
}

fn bind(document: &mut Document, bank: PolicyBank, line: &Pending) -> Result<(), String> {
    let said = read(bank, line)?;
    let of_answer = said.kind.starts_with("RES_");
    document.check_everywhere(bank, said.policy, of_answer).map_err(|error| error.message)?;
    let mut root = std::mem::take(document).into_root();
    let table = root.entry("policy_global").or_insert_with(|| json!({})).as_object_mut();
    let bound = table.map(|table| table.entry(bank.key()).or_insert_with(|| json!({})));
    let done = match bound.and_then(Value::as_object_mut) {
        Some(bound) => enter(bound, &said),
        None => Err("it is bound in another way".into()),
    };
    *document = Document::from_root(root);
    done
}

fn enter(bound: &mut Map<String, Value>, said: &Said<'_>) -> Result<(), String> {
    if bound.contains_key(said.policy) {
        return Err(format!("{} is bound already, and a policy is bound once", said.policy));
    }
    let kind = |entry: &Value| entry.get("type").and_then(Value::as_str).unwrap_or(DEFAULT).to_owned();
    let priority = |entry: &Value| entry.get("priority").unwrap_or(entry).as_u64();
    let same = |entry: &Value| priority(entry) == said.priority.map(u64::from) && kind(entry) == said.kind;
    if let Some((other, _)) = bound.iter().find(|(_, entry)| said.priority.is_some() && same(entry)) {
        return Err(format!("its priority is that of {other}"));
    }
    let mut entry = Map::new();
    entry.extend(said.priority.map(|priority| ("priority".to_owned(), priority.into())));
    entry.extend(said.goes_on.then(|| ("goto".to_owned(), "NEXT".into())));
    entry.extend((said.kind != DEFAULT).then(|| ("type".to_owned(), said.kind.clone().into())));
    let entry = match (entry.len(), said.priority) {
        (1, Some(priority)) => priority.into(),
        _ => Value::Object(entry),
    };
    bound.insert(said.policy.to_owned(), entry);
    Ok(())
}

const DEFAULT: &str = "REQ_DEFAULT";

/// `bind responder global NAME PRIORITY [GOTO] [-type TYPE]`
fn read(bank: PolicyBank, line: &Pending) -> Result<Said<'_>, String> {
    if line.word(0) != "bind" {
        return Err("it is no line of a saved file".into());
    }
    let is_keyword =
        |at: &usize| line.tokens.get(*at).is_some_and(|token| !token.quoted && token.text.starts_with('-'));
    if (3..line.tokens.len()).filter(is_keyword).any(|at| line.word(at) == "-invoke") {
        return Err("policy labels; bind the policies themselves".into());
    }
    let words: Vec<&str> =
        (3..line.tokens.len()).take_while(|at| !is_keyword(at)).filter_map(|at| line.text(at)).collect();
    let policy = *words.first().ok_or("it names no policy")?;
    let priority = match words.get(1).copied().or_else(|| line.value("priority")) {
        None => None,
        Some(text) => match text.parse::<u32>() {
            Ok(number @ 1..=2_147_483_647) => Some(number),
            _ => return Err(format!("`{text}` is no priority")),
        },
    };
    let goto = words.get(2).copied().or_else(|| line.value("gotoPriorityExpression")).unwrap_or("END");
    let goes_on = match &goto.to_ascii_uppercase()[..] {
        "END" => false,
        "NEXT" => true,
        _ => return Err(format!("-gotoPriorityExpression {goto}: END or NEXT")),
    };
    let kind = line.value("type").unwrap_or(DEFAULT).to_ascii_uppercase();
    let known: &[&str] = match bank {
        PolicyBank::Rewrite => &["REQ_DEFAULT", "REQ_OVERRIDE", "RES_DEFAULT", "RES_OVERRIDE"],
        _ => &["REQ_DEFAULT", "REQ_OVERRIDE"],
    };
    match known.contains(&&kind[..]) {
        true => Ok(Said { policy, priority, goes_on, kind }),
        false => Err(format!("-type {kind}: {}", known.join(", "))),
    }
}
