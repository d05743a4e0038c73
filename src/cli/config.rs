//! `bascule diff` and `bascule apply`: a file against the running configuration.

use std::path::Path;
use std::process::ExitCode;

use reqwest::Method;
use serde_json::Value;

use super::args::Target;
use super::client::{Client, Failure, runtime};
use super::{fail, say};
use crate::config::render;
use crate::files;

pub(super) fn diff(file: &Path, target: &Target) -> ExitCode {
    send(file, target, Method::POST, "/api/v1/config/diff", "diff")
}

pub(super) fn apply(file: &Path, target: &Target) -> ExitCode {
    send(file, target, Method::PUT, "/api/v1/config", "apply")
}

fn send(file: &Path, target: &Target, method: Method, path: &str, command: &str) -> ExitCode {
    let text = match text_of(file) {
        Ok(text) => text,
        Err(problems) => {
            for problem in problems {
                say(&problem);
            }
            return fail(&format!("{command}: {} does not load; nothing is changed", file.display()));
        }
    };
    let answer = Client::find(target)
        .and_then(|client| Ok((client, runtime()?)))
        .map(|(client, runtime)| runtime.block_on(client.send_toml(method, path, text)));
    match answer {
        Ok(Ok(answer)) => {
            print_changes(&answer);
            ExitCode::SUCCESS
        }
        Ok(Err(failure)) => {
            print_problems(&failure);
            fail(&format!("{command}: {failure}"))
        }
        Err(error) => fail(&format!("{command}: {error}")),
    }
}

/// The file as it stands; with includes or zone files the whole in one text, because the appliance has its own files.
fn text_of(file: &Path) -> Result<String, Vec<String>> {
    match files::load(file, &[]) {
        Ok(loaded) if loaded.sources.len() == 1 => Ok(loaded.sources[0].text.to_string()),
        Ok(loaded) => Ok(render::render(&loaded.model)),
        Err(problems) => Err(problems.iter().map(ToString::to_string).collect()),
    }
}

fn print_changes(answer: &Value) {
    let lines = |key: &str| {
        answer.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).map(str::to_owned)
    };
    let changes: Vec<String> = lines("changes").collect();
    if changes.is_empty() {
        say("no difference");
    }
    for change in changes {
        say(&change);
    }
    for warning in lines("warnings") {
        say(&format!("warning: {warning}"));
    }
}

/// The list that a 422 carries.
fn print_problems(failure: &Failure) {
    let Failure::Declined { document, .. } = failure else { return };
    for problem in document.get("problems").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| problem.get(key).and_then(Value::as_str).unwrap_or_default();
        let line = problem.get("line").and_then(Value::as_u64).unwrap_or(0);
        let meant = match text("did_you_mean") {
            "" => String::new(),
            meant => format!("; did you mean `{meant}`?"),
        };
        say(&format!("{}:{line}: {}{meant}", text("file"), text("what")));
    }
}
