//! Entries of the journal in words.

use serde_json::Value;

use super::text;
use crate::control::JournalEntry;
use crate::control::journal::codec;
use crate::model::event::Record;

/// A sentence, and more on it. `None`: nothing that a reader needs to see.
pub(super) fn of(entry: &JournalEntry) -> Option<(String, Vec<String>)> {
    let body = &entry.body;
    let plain = |text: String| Some((text, Vec::new()));
    match &*entry.kind {
        "transition" => Some(transition(body)),
        "caches" => Some(caches(body)),
        "resolvers" => Some(resolvers(body)),
        "config" => {
            let hash: String = text(&body["hash"]).chars().take(12).collect();
            let changes = body["changes"].as_array().into_iter().flatten().map(text).map(|line| line.to_string());
            Some((format!("configuration {hash} taken ({})", text(&body["origin"])), changes.collect()))
        }
        "start" => {
            let again = if body["restart"] == true { "again" } else { "for the first time" };
            plain(format!("the appliance started {again}, version {}", text(&body["version"])))
        }
        "handover" if body["phase"] == "failed" => {
            plain(format!("the handover to a new process failed: {}", text(&body["why"])))
        }
        "handover" => plain(format!("the appliance is handed over to process {}", body["to"])),
        "stop" => plain("the appliance stopped".into()),
        "anchor" => plain(format!("the journal was cut up to entry {}", body["cut_through"])),
        kind => match codec::decode(kind, body).ok().flatten() {
            Some(record) => self::record(&record),
            // Of another version, or without a form of its own.
            None => plain(format!("{kind} {}", entry.object).trim_end().to_owned()),
        },
    }
}

/// `activated`, `deactivated`.
pub(super) fn participle(direction: &Value) -> String {
    format!("{}d", text(direction))
}

fn record(record: &Record) -> Option<(String, Vec<String>)> {
    let (said, details) = match record {
        Record::Act { object, act, change } => {
            let reason = act.reason.as_ref().map(|reason| format!("reason: {reason}"));
            let expires = act.expires.map(|at| format!("until {at}"));
            (format!("{object}: {change}"), reason.into_iter().chain(expires).collect())
        }
        Record::Ended { object, what, why } => (format!("{object}: {what} ended, {why}"), Vec::new()),
        Record::State { object, from, to, real, cause } => {
            let forced = if real == to { String::new() } else { format!(", in truth {real}") };
            (format!("{object} went from {from} to {to} ({cause}{forced})"), Vec::new())
        }
        Record::Board(row) => (format!("{} is {}", row.row, row.value.word()), Vec::new()),
        Record::Attempt { scenario, direction, attempt, outcome, detail } => {
            let direction = direction.word();
            let said = format!("the guard of scenario {scenario} to {direction} {outcome} (attempt {attempt})");
            (said, vec![detail.to_string()])
        }
        Record::Ejected { service, cause, until, .. } => {
            (format!("service {service} ejected until {until}, {cause}"), Vec::new())
        }
        Record::Delivery(d) => {
            let error = d.error.as_ref().map(|error| error.to_string());
            let said = format!("trigger {} {} (seq {}, attempts: {})", d.trigger, d.status, d.seq, d.attempts);
            (said, error.into_iter().collect())
        }
        Record::Warning { object, text } => (format!("{object}: {text}"), Vec::new()),
        Record::Alert(a) => {
            let why = Some(a.why.to_string()).filter(|why| !why.is_empty());
            let (what, alert) = (a.what.word(), &a.alert);
            let said = format!("alert {} {what}: {}: {}", alert.alert, alert.subject, alert.text);
            (said, why.into_iter().collect())
        }
        Record::Address { vserver, address, what, detail } => {
            let whose = vserver.as_ref().map_or_else(String::new, |vserver| format!(" of vserver {vserver}"));
            (format!("address {address}{whose}: {what}"), vec![detail.to_string()])
        }
        Record::Zone { zone, what, serial, detail } => {
            let serial = serial.map_or_else(String::new, |serial| format!(", serial {serial}"));
            (format!("zone {zone} {what}{serial}"), vec![detail.to_string()])
        }
        Record::Drill(drill) => {
            let (id, scenario, phase) = (drill.id, &drill.scenario, drill.phase.word());
            let why = drill.ending.iter().map(|ending| ending.text()).collect();
            (format!("drill {id} of scenario {scenario} is {phase}"), why)
        }
        // Told from its body, which holds more.
        Record::Transition(_) => return None,
    };
    Some((said, details))
}

fn transition(body: &Value) -> (String, Vec<String>) {
    let group = match &body["group"] {
        Value::String(group) => format!(" by group \"{group}\""),
        _ => String::new(),
    };
    let (scenario, seq, cause) = (text(&body["scenario"]), &body["seq"], text(&body["cause"]));
    let said = format!("scenario {scenario} {} (seq {seq}), {cause}{group}", participle(&body["direction"]));
    let mut details = Vec::new();
    if let Value::String(reason) = &body["reason"] {
        details.push(format!("reason: {reason}"));
    }
    if body["drill"].is_u64() {
        details.push(format!("drill: {}", body["drill"]));
    }
    for group in body["groups"].as_array().into_iter().flatten() {
        let terms: Vec<String> = group["terms"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|term| format!("{} is {} since {}", text(&term["text"]), text(&term["value"]), text(&term["since"])))
            .collect();
        let (direction, name, value) = (text(&group["direction"]), text(&group["name"]), text(&group["value"]));
        details.push(format!("to {direction}, group \"{name}\" is {value}: {}", terms.join("; ")));
    }
    if let Value::String(gate) = &body["gate"] {
        details.push(format!("gate: {gate}"));
    }
    if body["guard"].is_object() {
        details.push(format!("guard: {} {}", text(&body["guard"]["outcome"]), text(&body["guard"]["detail"])));
    }
    for trigger in body["triggers"].as_array().into_iter().flatten() {
        details.push(format!("trigger {}: {}", text(&trigger["name"]), text(&trigger["status"])));
    }
    (said, details)
}

fn caches(body: &Value) -> (String, Vec<String>) {
    let (scenario, seq) = (text(&body["scenario"]), &body["seq"]);
    let rrsets: Vec<String> =
        body["rrsets"].as_array().into_iter().flatten().map(|rrset| format!("changed: {}", text(rrset))).collect();
    let said = match &body["caches_over_at"] {
        Value::String(at) => {
            format!("answers follow scenario {scenario} (seq {seq}); caches may hold the former ones until {at}")
        }
        _ if rrsets.is_empty() => format!("no answer changed by scenario {scenario} (seq {seq})"),
        _ => format!("answers follow scenario {scenario} (seq {seq}); no cache holds a former one"),
    };
    (said, rrsets)
}

fn resolvers(body: &Value) -> (String, Vec<String>) {
    let (scenario, seq, told) = (text(&body["scenario"]), &body["seq"], &body["resolvers"]);
    let first = match &body["first_answer_at"] {
        Value::String(at) => format!("the first new answer was given at {at}"),
        _ => "no new answer was given yet".to_owned(),
    };
    let (before, again) = (&told["asked_before"], &told["asked_again"]);
    let missing = told["missing"].as_array().into_iter().flatten();
    let details = missing.map(|ip| format!("has not asked again: {}", text(ip))).collect();
    let of = format!("after scenario {scenario} (seq {seq})");
    (format!("{of} {first}; {again} of {before} resolvers that held a former one have asked again"), details)
}
