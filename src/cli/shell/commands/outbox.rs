//! Deliveries of triggers, alerts, decisions about guards, and transfers of zones.

use serde_json::Value;

use super::build::{first, note, segment, shown};
use super::{Arguments, Command, Request, View};

pub(super) const SHOW_OUTBOX: Command = Command {
    words: &["show", "outbox"],
    least: 0,
    most: 0,
    options: &[],
    usage: "show outbox",
    names: None,
    build: |arguments| Ok(shown(View::Outbox, arguments, false)),
};

pub(super) const SHOW_ALERTS: Command = Command {
    words: &["show", "alerts"],
    least: 0,
    most: 0,
    options: &[],
    usage: "show alerts",
    names: None,
    build: |arguments| Ok(shown(View::Alerts, arguments, false)),
};

pub(super) const REPLAY: Command = Command {
    words: &["replay", "outbox"],
    least: 1,
    most: 1,
    options: &[],
    usage: "replay outbox <id>",
    names: None,
    build: |arguments| Ok(Request::Send(format!("outbox/{}/replay", segment(&first(arguments))))),
};

pub(super) const DISCARD: Command = Command {
    words: &["rm", "outbox"],
    least: 1,
    most: 1,
    options: &[],
    usage: "rm outbox <id>",
    names: None,
    build: |arguments| Ok(Request::Delete(format!("outbox/{}", segment(&first(arguments))))),
};

pub(super) const TEST: Command = Command {
    words: &["test", "trigger"],
    least: 1,
    most: 1,
    options: &[],
    usage: "test trigger <name>",
    names: Some(View::Trigger),
    build: |arguments| Ok(Request::Send(format!("triggers/{}/test", segment(&first(arguments))))),
};

pub(super) const APPROVE: Command = Command {
    words: &["approve", "scenario"],
    least: 1,
    most: 2,
    options: &["reason"],
    usage: "approve scenario <name> [<attempt>] [-reason <text>]",
    names: Some(View::Scenario),
    build: |arguments| decide("approve", arguments),
};

pub(super) const REFUSE: Command = Command {
    words: &["refuse", "scenario"],
    least: 1,
    most: 2,
    options: &["reason"],
    usage: "refuse scenario <name> [<attempt>] [-reason <text>]",
    names: Some(View::Scenario),
    build: |arguments| decide("refuse", arguments),
};

pub(super) const TRANSFER: Command = Command {
    words: &["transfer", "zone"],
    least: 1,
    most: 1,
    options: &["whole"],
    usage: "transfer zone <name> [-whole YES|NO]",
    names: Some(View::Zone),
    build: |arguments| {
        let mut body = serde_json::json!({});
        if let Some(whole) = arguments.yes_no("whole")? {
            body["whole"] = whole.into();
        }
        Ok(Request::Transfer { path: format!("zones/{}/transfer", segment(&first(arguments))), body })
    },
};

fn decide(decision: &str, arguments: &Arguments) -> Result<Request, String> {
    let mut body = note(arguments)?;
    body["decision"] = decision.into();
    if let Some(attempt) = arguments.positional(1) {
        let number: Result<u64, _> = attempt.parse();
        body["attempt"] = number.map(Value::from).map_err(|_| format!("Invalid value: {attempt} is not an attempt"))?;
    }
    Ok(Request::Act { put: false, path: format!("scenarios/{}/guard", segment(&first(arguments))), body })
}
