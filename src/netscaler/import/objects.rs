//! Lines that the tables know, in whatever order they stand.

use serde_json::Value;

use super::super::document::{Document, notes as notes_of};
use super::super::error::NsError;
use super::super::export::quoted;
use super::super::line::{Parsed, Token, parse_tokens};
use super::super::statement::{Statement, Verb};
use super::{Fate, Pending, secrets};
use crate::model::policy::PolicyBank;

/// Errors of a line that names what a later line may bring.
const WAITS: [u32; 8] = [258, 344, 351, 430, 461, 462, 1540, 2171];

/// What a line may leave out without a difference to where traffic goes.
const HARMLESS: [&str; 35] = [
    "mgmtaccess",
    "minpoll",
    "maxpoll",
    "autokey",
    "key",
    "appflowlog",
    "feature",
    "icmpvsrresponse",
    "rhistate",
    "tcpprofilename",
    "httpprofilename",
    "netprofile",
    "comment",
    "devno",
    "td",
    "cachetype",
    "cacheable",
    "cmp",
    "tcpb",
    "cka",
    "sp",
    "sc",
    "alertretries",
    "snmpalertretries",
    "lrtm",
    "expirymonitor",
    "notificationperiod",
    "newservicerequestincrementinterval",
    "probeprotocol",
    "hashid",
    "logaction",
    "appflowaction",
    "undefaction",
    "charset",
    "indextype",
];

/// Without it the line would do something else than what it says.
const ESSENTIAL: [&str; 9] = [
    "invoke",
    "labeltype",
    "labelname",
    "gotopriorityexpression",
    "pattern",
    "search",
    "refinesearch",
    "targetvserver",
    "targetvserverexpr",
];

/// Carries out every line that the tables know.
pub(super) fn carry(document: &mut Document, lines: &mut [Pending]) {
    // What the line still has to do, with what was left out of it.
    let mut waiting: Vec<(usize, Vec<Statement>, Vec<String>)> = Vec::new();
    for (at, line) in lines.iter_mut().enumerate() {
        if line.fate.is_some() {
            continue;
        }
        let (statements, left_out) = read(line);
        if let Some(statements) = statements {
            waiting.push((at, statements, left_out));
        }
    }
    // Whether all has been carried out that says everything itself: only then it is known which numbers are free.
    let mut settled = false;
    loop {
        let mut progress = false;
        let mut later = Vec::new();
        for (at, statements, mut left_out) in waiting {
            match attempt(document, &statements, &mut left_out, settled) {
                Attempt::Done(given) => {
                    progress = true;
                    lines[at].notes.extend(given);
                    let notes = statements.iter().filter(|statement| statement.verb == Verb::Add);
                    lines[at].notes.extend(notes.flat_map(|one| notes_of(document, one.resource, &one.arguments)));
                    finish(document, &mut lines[at], left_out);
                }
                Attempt::Waits => later.push((at, statements, left_out)),
                Attempt::Refused(error) => {
                    let what = left_out.into_iter().chain([error.message]).collect();
                    lines[at].missing(what);
                }
            }
        }
        waiting = later;
        if waiting.is_empty() || (settled && !progress) {
            break;
        }
        settled |= !progress;
    }
    for (at, statements, _) in waiting {
        let error = statements.iter().find_map(|statement| document.clone().execute(statement).err());
        lines[at].missing(vec![error.map_or_else(|| "it waits for another line".to_owned(), |e| e.message)]);
    }
}

enum Attempt {
    /// With what was given to it that it does not say.
    Done(Vec<String>),
    Waits,
    Refused(NsError),
}

/// The statements of a line; keywords that this build does not know are left out.
fn read(line: &mut Pending) -> (Option<Vec<Statement>>, Vec<String>) {
    let mut tokens = line.tokens.clone();
    let mut left_out = Vec::new();
    loop {
        match parse_tokens(&tokens) {
            Ok(Parsed::Statements(statements)) => return (Some(statements), left_out),
            Ok(Parsed::Nothing | Parsed::Other(_)) => {
                line.missing(vec!["it is no command of configuration here".into()]);
                return (None, left_out);
            }
            Err(error) => match unknown(&error).filter(may_go).and_then(|keyword| without(&tokens, keyword)) {
                Some((rest, removed)) => {
                    left_out.push(format!("{removed}: {}", error.message));
                    tokens = rest;
                }
                None => {
                    line.missing(vec![error.message]);
                    return (None, left_out);
                }
            },
        }
    }
}

/// Whether a line says the same without it, or a part of it.
fn may_go(keyword: &&str) -> bool {
    !ESSENTIAL.iter().any(|essential| essential.eq_ignore_ascii_case(keyword))
}

/// What an error names in brackets.
fn unknown(error: &NsError) -> Option<&str> {
    let (_, meant) = error.message.split_once('[')?;
    meant.split([',', ']']).next().map(str::trim)
}

/// The tokens without a keyword and its values, and what was taken out.
fn without(tokens: &[Token], keyword: &str) -> Option<(Vec<Token>, String)> {
    let is_keyword = |token: &Token| !token.quoted && token.text.len() > 1 && token.text.starts_with('-');
    let begin = tokens.iter().position(|token| is_keyword(token) && token.text[1..].eq_ignore_ascii_case(keyword))?;
    let length = tokens[begin + 1..].iter().take_while(|token| !is_keyword(token)).count();
    let hidden = secrets::is_secret(keyword) && length > 0;
    let removed = match hidden {
        true => format!("{} {}", tokens[begin].text, secrets::HIDDEN),
        false => tokens[begin..=begin + length].iter().map(|token| &token.text[..]).collect::<Vec<_>>().join(" "),
    };
    let rest = tokens[..begin].iter().chain(&tokens[begin + length + 1..]).cloned().collect();
    Some((rest, removed))
}

/// All statements or none; arguments that are refused by name are left out.
fn attempt(document: &mut Document, statements: &[Statement], left_out: &mut Vec<String>, settled: bool) -> Attempt {
    let mut next = document.clone();
    let mut given = Vec::new();
    let mut dropped = left_out.clone();
    for statement in statements {
        let mut statement = statement.clone();
        loop {
            match next.execute(&statement) {
                Ok(warnings) => {
                    // Of features: what is missing is told as if it had stood alone.
                    let absent = warnings.iter().filter_map(|warning| warning.message.split(['[', ']']).nth(1));
                    if statement.resource.nitro == "nsfeature" {
                        dropped.extend(
                            absent
                                .map(|name| format!("-feature {}", NsError::unsupported("feature", name, "").message)),
                        );
                    }
                    break;
                }
                Err(error) if error.code == 1095 && !statement.arguments.contains_key("priority") => {
                    match next_priority(&next, &statement) {
                        Some(_) if !settled => return Attempt::Waits,
                        Some(number) => {
                            statement.arguments.insert("priority".to_owned(), number.into());
                            given.push(format!("it has no priority: {number}, behind all others, is given to it"));
                        }
                        None => return Attempt::Refused(error),
                    }
                }
                Err(error) if WAITS.contains(&error.code) => return Attempt::Waits,
                Err(error) if take_feature(&mut statement, &error, &mut dropped) => {}
                Err(error) => match named(&statement, &error, &dropped) {
                    Some(attribute) => {
                        let value = statement.arguments.shift_remove(&attribute);
                        let value =
                            value.map_or_else(String::new, |v| v.as_str().map_or_else(|| v.to_string(), Into::into));
                        let value = if secrets::is_secret(&attribute) { secrets::HIDDEN.into() } else { value };
                        dropped.push(format!("-{attribute} {value}: {}", error.message));
                    }
                    None => {
                        *left_out = dropped;
                        return Attempt::Refused(error);
                    }
                },
            }
        }
    }
    *document = next;
    *left_out = dropped;
    Attempt::Done(given)
}

/// The number behind those of all policies of its kind at a vserver, for one that is bound there without any.
fn next_priority(document: &Document, statement: &Statement) -> Option<u64> {
    let owner = statement.resource.owner().filter(|_| statement.verb == Verb::Bind)?;
    let said = |nitro: &str| statement.arguments.get(nitro).and_then(Value::as_str);
    let (vserver, policy) = (said(statement.resource.key)?, said("policyname")?);
    let bank = [PolicyBank::Responder, PolicyBank::Rewrite];
    let bank = bank.into_iter().find(|bank| document.table(bank.section(), policy).is_some())?;
    let bound = document.table(owner.section(), vserver)?.get(bank.key()).and_then(Value::as_object);
    let numbers = bound.into_iter().flatten().filter_map(|(_, entry)| entry.get("priority").unwrap_or(entry).as_u64());
    Some(numbers.max().unwrap_or(0) / 10 * 10 + 10)
}

/// Leaves out the feature that an error is about; its own lines tell what is missing.
fn take_feature(statement: &mut Statement, error: &NsError, dropped: &mut Vec<String>) -> bool {
    if statement.resource.nitro != "nsfeature" {
        return false;
    }
    let Some(meant) = error.message.split_once('[').and_then(|(_, meant)| meant.split(']').next()) else {
        return false;
    };
    let Some(Value::Array(features)) = statement.arguments.get_mut("feature") else { return false };
    let before = features.len();
    features.retain(|feature| !meant.split(',').any(|word| feature.as_str() == Some(word.trim())));
    dropped.push(format!("-feature {}", error.message));
    features.len() < before && !features.is_empty()
}

/// The argument that an error is about, where the line means something without it. What needs another argument that was
/// left out goes with it.
fn named(statement: &Statement, error: &NsError, dropped: &[String]) -> Option<String> {
    let resource = statement.resource;
    let is_meant = |nitro: &str, meant: &str| {
        nitro.eq_ignore_ascii_case(meant)
            || resource.attribute(nitro).is_some_and(|attribute| attribute.cli.eq_ignore_ascii_case(meant))
    };
    let find = |meant: &str| statement.arguments.keys().find(|key| is_meant(key, meant));
    let inside = error.message.split_once('[').and_then(|(_, rest)| rest.split(']').next())?;
    let mut meant = inside.split(',').map(str::trim);
    let first = meant.next()?;
    let was_dropped = || {
        dropped.iter().any(|part| {
            let keyword = part.trim_start_matches('-').split([' ', ':']).next().unwrap_or_default();
            is_meant(keyword, first)
        })
    };
    let found = match find(first) {
        None if error.code == 1093 && was_dropped() => find(meant.next()?)?,
        found => found?,
    };
    if ESSENTIAL.contains(&&found[..]) {
        return None;
    }
    let needed = |list: &[&str]| list.iter().flat_map(|one| one.split('|')).any(|one| one == found);
    (found != resource.key && !needed(resource.required) && !needed(resource.positional)).then(|| found.clone())
}

fn finish(document: &mut Document, line: &mut Pending, left_out: Vec<String>) {
    let acts = document.take_acts();
    let mut what = left_out;
    let mut traffic = what.iter().any(|part| !is_harmless(part));
    for act in acts.iter().filter(|act| !act.enable) {
        traffic = true;
        what.push(format!(
            "whether it is disabled is state, no configuration: `disable {} {}{}` once it runs",
            act.resource.said(),
            quoted(&act.name),
            act.member.as_deref().map(by_server_and_port).unwrap_or_default()
        ));
    }
    line.fate = Some(if what.is_empty() { Fate::Carried } else { Fate::Missing { what, whole: false, traffic } });
}

/// A member, ` app1 8001`, as a command has it.
fn by_server_and_port(member: &str) -> String {
    let (host, port) = member.rsplit_once(':').filter(|(host, _)| !host.ends_with(':')).unwrap_or((member, ""));
    let host = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    format!(" {} {port}", quoted(host)).trim_end().to_owned()
}

fn is_harmless(part: &str) -> bool {
    let keyword = part.trim_start_matches('-').split([' ', ':']).next().unwrap_or_default();
    HARMLESS.contains(&&keyword.to_ascii_lowercase()[..])
}
