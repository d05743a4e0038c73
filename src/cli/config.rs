//! `bascule diff` and `bascule apply`: a file against the running configuration.

use std::path::Path;
use std::process::ExitCode;

use reqwest::Method;
use serde_json::Value;

use super::args::Target;
use super::client::{Client, Failure, runtime};
use super::{fail, say};
use crate::config::{Loaded, Problem, render};
use crate::files;

pub(super) fn diff(file: &Path, target: &Target) -> ExitCode {
    send(file, target, Method::POST, "/api/v1/config/diff", "diff")
}

pub(super) fn apply(file: &Path, target: &Target) -> ExitCode {
    send(file, target, Method::PUT, "/api/v1/config", "apply")
}

fn send(file: &Path, target: &Target, method: Method, path: &str, command: &str) -> ExitCode {
    let loaded = match files::load(file, &[]) {
        Ok(loaded) => loaded,
        Err(problems) => {
            for problem in problems {
                say(&problem.to_string());
            }
            return fail(&format!("{command}: {} does not load; nothing is changed", file.display()));
        }
    };
    let is_apply = method == Method::PUT;
    let answer = Client::find(target)
        .and_then(|client| Ok((client, runtime()?)))
        .map(|(client, runtime)| runtime.block_on(client.send_toml(method, path, text_of(&loaded))));
    match answer {
        Ok(Ok(answer)) => {
            print_changes(&answer, &loaded.warnings);
            if is_apply {
                eprintln!("applied; `save config` in the shell writes it to the appliance's file");
            }
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
fn text_of(loaded: &Loaded) -> String {
    match &loaded.sources[..] {
        [only] => only.text.to_string(),
        _ => render::render(&loaded.model),
    }
}

/// `of_text`: the warnings about the file, which the appliance repeats under the name of its own.
fn print_changes(answer: &Value, of_text: &[Problem]) {
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
    for warning in of_text {
        say(&warning.to_string());
    }
    let path = answer.pointer("/config/path").and_then(Value::as_str).map(|path| format!("{path}:"));
    let repeated = |warning: &str| path.as_deref().is_some_and(|path| warning.starts_with(path));
    for warning in lines("warnings").filter(|warning| !repeated(warning)) {
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
