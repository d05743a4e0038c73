//! `bascule journal` and `bascule timeline`: what happened, asked of the running appliance.

use std::path::Path;
use std::process::ExitCode;

use serde_json::Value;

use super::args::{JournalArgs, Span, TimelineArgs, TimelineFormat};
use super::client::{Client, runtime};
use super::{aside, fail, say, say_json};
use crate::admin::dto::path_segment;
use crate::model::visible::in_json;

pub(super) fn journal(args: &JournalArgs) -> ExitCode {
    let mut query = span(&args.span);
    query.extend([("actor", args.actor.clone()), ("kind", args.kind.clone())]);
    let most = args.limit.unwrap_or(ENTRIES);
    query.extend(newest(most));
    let path =
        if args.shipping { "/api/v1/journal/shipping".to_owned() } else { with_query("/api/v1/journal", &query) };
    let answer = Client::find(&args.target)
        .and_then(|client| Ok((client, runtime()?)))
        .and_then(|(client, runtime)| runtime.block_on(client.get::<Value>(&path)).map_err(|e| e.to_string()));
    match answer {
        Ok(answer) if args.shipping && args.json => say_json(&answer),
        Ok(answer) if args.shipping => say(shipping(&answer).trim_end()),
        Ok(mut answer) => {
            let left_out = newest_last(&mut answer, most);
            if args.newest_first {
                answer["items"].as_array_mut().into_iter().for_each(|items| items.reverse());
            }
            if args.json {
                say_json(&answer)
            } else {
                say(entries(&answer).trim_end())
            }
            if let Some(through) = left_out {
                aside(&earlier(through, "--limit", "--since"));
            }
        }
        Err(error) => return fail(&format!("journal: {error}")),
    }
    ExitCode::SUCCESS
}

pub(super) fn timeline(args: &TimelineArgs) -> ExitCode {
    let (format, media_type) = match args.format {
        TimelineFormat::Md => ("md", "text/markdown"),
        TimelineFormat::Html => ("html", "text/html"),
        TimelineFormat::Json => ("json", "application/json"),
    };
    let mut query = span(&args.span);
    query.push(("format", Some(format.to_owned())));
    let path = with_query("/api/v1/timeline", &query);
    let answer = Client::find(&args.target)
        .and_then(|client| Ok((client, runtime()?)))
        .and_then(|(client, runtime)| runtime.block_on(client.text(&path, media_type)).map_err(|e| e.to_string()));
    let written = answer.and_then(|document| match &args.output {
        Some(file) => write(file, &document),
        None => {
            let document = document.trim_end();
            say(&if matches!(args.format, TimelineFormat::Json) { in_json(document) } else { document.into() });
            Ok(())
        }
    });
    match written {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&format!("timeline: {error}")),
    }
}

fn write(file: &Path, document: &str) -> Result<(), String> {
    std::fs::write(file, document).map_err(|error| format!("cannot write {}: {error}", file.display()))
}

fn span(span: &Span) -> Vec<(&'static str, Option<String>)> {
    vec![("since", span.since.clone()), ("until", span.until.clone()), ("scenario", span.scenario.clone())]
}

pub(super) fn with_query(path: &str, query: &[(&'static str, Option<String>)]) -> String {
    let parts = query.iter().filter_map(|(name, value)| Some(format!("{name}={}", path_segment(value.as_ref()?))));
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { path.to_owned() } else { format!("{path}?{}", parts.join("&")) }
}

/// Entries that are shown where nobody says how many.
const ENTRIES: u32 = 1_000;
/// As many as REST gives at once.
const ENTRIES_MOST: u32 = 10_000;

/// The parameters that ask for the newest entries, and for one more, which tells that there are earlier ones.
pub(super) fn newest(most: u32) -> [(&'static str, Option<String>); 2] {
    let limit = if most < ENTRIES_MOST { most.saturating_add(u32::from(most > 0)) } else { most };
    [("limit", Some(limit.to_string())), ("newest_first", Some("true".to_owned()))]
}

/// Turns what [`newest`] got the other way, so that the newest stands last, and cuts it to `most`. The number of the
/// newest entry that is left out.
pub(super) fn newest_last(answer: &mut Value, most: u32) -> Option<u64> {
    let items = answer["items"].as_array_mut()?;
    let left_out = items.get(most as usize).and_then(|entry| entry["number"].as_u64());
    items.truncate(most as usize);
    items.reverse();
    left_out
}

/// What is said of entries that are left out.
pub(super) fn earlier(through: u64, limit: &str, since: &str) -> String {
    format!("earlier entries, up to number {through}, are left out; {limit} and {since} show more")
}

/// A line for each entry: when, its number, kind, object, who, and the body in short.
pub(super) fn entries(answer: &Value) -> String {
    let text = |entry: &Value, key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let line = |entry: &Value| {
        let object = text(entry, "object");
        let object = if object.is_empty() { "-".to_owned() } else { object };
        let (at, kind, actor) = (text(entry, "at"), text(entry, "kind"), text(entry, "actor"));
        let body = match &kind[..] {
            "config" => configuration(&entry["body"]),
            _ => entry["body"].to_string().chars().take(BODY_CHARS).collect(),
        };
        format!("{at} {} {kind} {object} {actor} {body}\n", entry["number"])
    };
    let items = answer["items"].as_array().map_or(&[][..], Vec::as_slice);
    if items.is_empty() { "no entries\n".to_owned() } else { items.iter().map(line).collect() }
}

/// What became of the configuration: by which door, and each difference in a line of its own. The text is in the JSON.
fn configuration(body: &Value) -> String {
    let mut out = body["origin"].as_str().unwrap_or_default().to_owned();
    if let Some(door) = body["door"].as_str() {
        out += &format!(" by {door}");
    }
    for change in body["changes"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        out += &format!("\n\t{change}");
    }
    match body["changes_left_out"].as_u64() {
        None | Some(0) => out,
        Some(more) => out + &format!("\n\tand {more} more"),
    }
}

/// Characters of a body that are shown; all of it is in the JSON.
const BODY_CHARS: usize = 160;

/// Each destination of the journal and how far it has come.
pub(super) fn shipping(answer: &Value) -> String {
    let text = |value: &Value, key: &str| value[key].as_str().unwrap_or_default().to_owned();
    let one = |ship: &Value| {
        let mut out = format!("{} ({})\n", text(ship, "name"), text(ship, "address"));
        out += &format!(
            "\tHas all up to entry {}\tWaiting: {}\tShipped: {}\tFailures: {}\tLost: {}\n",
            ship["confirmed"], ship["waiting"], ship["shipped_total"], ship["failures_total"], ship["lost_total"]
        );
        if ship["behind_since"].is_string() {
            out += &format!("\tBehind since {}\n", text(ship, "behind_since"));
        }
        if ship["failing_since"].is_string() {
            out += &format!("\tFails since {}: {}\n", text(ship, "failing_since"), text(ship, "last_error"));
        }
        out
    };
    let items = answer["items"].as_array().map_or(&[][..], Vec::as_slice);
    if items.is_empty() { "the journal is shipped nowhere\n".to_owned() } else { items.iter().map(one).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn entries_read_as_lines_and_destinations_say_how_far_they_are() {
        let answer = json!({ "items": [{
            "number": 7, "at": "2027-01-15T08:00:00.000Z", "kind": "act", "object": "switch drill", "actor": "admin:ops",
            "body": { "value": true }, "hash": "00",
        }] });
        assert_eq!(entries(&answer), "2027-01-15T08:00:00.000Z 7 act switch drill admin:ops {\"value\":true}\n");
        let answer = json!({ "items": [{
            "number": 8, "at": "T", "kind": "config", "object": "", "actor": "uid:0",
            "body": { "origin": "apply", "hash": "ab", "door": "socket", "changes": ["service a: added"],
                "changes_left_out": 2, "set": [], "sources": [{ "path": "x", "text": "long" }] },
        }] });
        assert_eq!(entries(&answer), "T 8 config - uid:0 apply by socket\n\tservice a: added\n\tand 2 more\n");
        assert_eq!(entries(&json!({ "items": [] })), "no entries\n");
        let answer = json!({ "items": [{
            "name": "siem", "address": "tls:log:6514", "confirmed": 5, "waiting": 2, "shipped_total": 5,
            "failures_total": 1, "lost_total": 0, "behind_since": "T", "failing_since": "T", "last_error": "refused",
        }] });
        let told = shipping(&answer);
        assert!(told.starts_with("siem (tls:log:6514)\n\tHas all up to entry 5\tWaiting: 2"), "{told}");
        assert!(told.ends_with("\tFails since T: refused\n"), "{told}");
    }

    #[test]
    fn of_many_entries_the_last_are_shown_with_the_newest_at_the_end() {
        assert_eq!(newest(2), [("limit", Some("3".into())), ("newest_first", Some("true".into()))]);
        assert_eq!(newest(10_000)[0].1.as_deref(), Some("10000"), "what REST gives at most");
        assert_eq!(newest(0)[0].1.as_deref(), Some("0"), "REST says what is wrong with it");
        let numbers = |answer: &Value| -> Vec<u64> {
            answer["items"].as_array().unwrap().iter().map(|entry| entry["number"].as_u64().unwrap()).collect()
        };
        let mut more = json!({ "items": [{ "number": 9 }, { "number": 8 }, { "number": 5 }] });
        assert_eq!((newest_last(&mut more, 2), numbers(&more)), (Some(5), vec![8, 9]));
        let mut all = json!({ "items": [{ "number": 9 }, { "number": 8 }] });
        assert_eq!((newest_last(&mut all, 2), numbers(&all)), (None, vec![8, 9]));
        assert!(earlier(5, "-limit", "-since").contains("up to number 5"));
    }

    #[test]
    fn what_is_asked_for_is_encoded() {
        let path = with_query("/p", &[("since", Some("2h".into())), ("actor", None), ("scenario", Some("a/b".into()))]);
        assert_eq!(path, "/p?since=2h&scenario=a%2Fb");
    }
}
