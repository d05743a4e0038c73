//! Captures of packets, and the archive for whoever is to help.

use serde_json::{Value, json};

use super::{Arguments, Command, Request};
use crate::netscaler::capture::Filter;

pub(super) const SHOW_TECHSUPPORT: Command = Command {
    words: &["show", "techsupport"],
    least: 0,
    most: 0,
    options: &[],
    usage: "show techsupport",
    names: None,
    build: |_| Ok(Request::Techsupport),
};

pub(super) const SHOW_TRACE: Command = Command {
    words: &["show", "nstrace"],
    least: 0,
    most: 0,
    options: &[],
    usage: "show nstrace",
    names: None,
    build: |_| Ok(Request::Traces),
};

pub(super) const START_TRACE: Command = Command {
    words: &["start", "nstrace"],
    least: 0,
    most: 0,
    options: &["size", "filter", "time", "filesize"],
    usage: "start nstrace [-size <bytes of a packet>] [-filter <expression>] [-time <seconds>] [-filesize <MB>]",
    names: None,
    build: |arguments| start(arguments).map(Request::StartTrace),
};

pub(super) const STOP_TRACE: Command = Command {
    words: &["stop", "nstrace"],
    least: 0,
    most: 0,
    options: &[],
    usage: "stop nstrace",
    names: None,
    build: |_| Ok(Request::StopTrace),
};

fn start(arguments: &Arguments) -> Result<Value, String> {
    let filter = Filter::parse(arguments.value("filter")?.unwrap_or_default())?;
    let mut body = json!({
        "vservers": filter.vservers,
        "services": filter.services,
        "addresses": filter.addresses,
        "ports": filter.ports.iter().map(ToString::to_string).collect::<Vec<_>>(),
    });
    for (option, member) in [("size", "snap"), ("time", "time"), ("filesize", "size")] {
        let Some(text) = arguments.value(option)? else { continue };
        let number: u64 = text.parse().map_err(|_| format!("Invalid value: -{option} is a number, not {text}"))?;
        body[member] = number.into();
    }
    Ok(body)
}
