//! `bascule diff` and `bascule apply`: a file against the running configuration.

use std::path::Path;
use std::process::ExitCode;

use reqwest::Method;
use serde_json::Value;

use super::args::{ApplyArgs, Target};
use super::client::{Client, Failure, runtime};
use super::named::{doubts, of_the_box};
use super::{aside, fail, say};
use crate::config::Problem;
use crate::files;

pub(super) fn diff(args: &ApplyArgs) -> ExitCode {
    send(args, Method::POST, "/api/v1/config/diff", "diff")
}

pub(super) fn apply(args: &ApplyArgs) -> ExitCode {
    send(args, Method::PUT, "/api/v1/config", "apply")
}

pub(super) fn reload(target: &Target) -> ExitCode {
    let (client, runtime) = match Client::find(target).and_then(|client| Ok((client, runtime()?))) {
        Ok(both) => both,
        Err(error) => return fail(&format!("reload: {error}")),
    };
    match runtime.block_on(client.call(Method::POST, "/api/v1/config/reload", None)) {
        Ok(answer) => {
            print_changes(&answer, &[]);
            ExitCode::SUCCESS
        }
        Err(failure) => {
            print_problems(&failure);
            fail(&format!("reload: {failure}; nothing is changed"))
        }
    }
}

fn send(args: &ApplyArgs, method: Method, path: &str, command: &str) -> ExitCode {
    let file = &args.file;
    let sent = match files::to_send(file) {
        Ok(sent) => sent,
        Err(problems) => {
            for problem in problems {
                say(&problem.to_string());
            }
            return fail(&format!("{command}: {} does not load; nothing is changed", file.display()));
        }
    };
    let is_apply = method == Method::PUT;
    let (client, runtime) = match Client::find(&args.target).and_then(|client| Ok((client, runtime()?))) {
        Ok(both) => both,
        Err(error) => return fail(&format!("{command}: {error}")),
    };
    let mut folder = None;
    if !sent.named.is_empty() {
        match runtime.block_on(client.get::<Value>("/api/v1/status")) {
            Ok(status) => {
                folder = status.pointer("/config/folder").and_then(Value::as_str).map(str::to_owned);
            }
            Err(failure) => return fail(&format!("{command}: {failure}")),
        }
        let there = folder.as_deref().map(Path::new).filter(|_| client.is_here());
        let doubts = if args.box_files { Vec::new() } else { doubts(&sent.named, file, there) };
        for doubt in &doubts {
            aside(doubt);
        }
        if is_apply && !doubts.is_empty() {
            return fail(
                "apply: files that FILE names are the appliance's own, and they are not those beside FILE; nothing is \
                 changed. Copy them to the appliance, or name them by whole paths; or say --box-files where the \
                 appliance's are meant",
            );
        }
    }
    match runtime.block_on(client.send_toml(method, path, sent.text)) {
        Ok(answer) => {
            print_changes(&answer, &sent.warnings);
            if is_apply {
                eprintln!("applied; `save config` in the shell writes it to the appliance's file");
                if let Some(note) = of_the_box(&sent.named, folder.as_deref()) {
                    aside(&note);
                }
            }
            ExitCode::SUCCESS
        }
        Err(failure) => {
            // Its sentence names them once more.
            if print_problems(&failure) {
                return fail(&format!("{command}: {} does not load there; nothing is changed", file.display()));
            }
            fail(&format!("{command}: {failure}"))
        }
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
    let repeated = |warning: &str| {
        let is_of_text = path.as_deref().is_some_and(|path| warning.starts_with(path));
        is_of_text && of_text.iter().any(|known| warning.contains(&known.what))
    };
    for warning in lines("warnings").filter(|warning| !repeated(warning)) {
        say(&format!("warning: {warning}"));
    }
}

/// The list that a 422 carries; whether there is one.
fn print_problems(failure: &Failure) -> bool {
    let Failure::Declined { document, .. } = failure else { return false };
    let problems = document.get("problems").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    for problem in problems {
        let text = |key: &str| problem.get(key).and_then(Value::as_str).unwrap_or_default();
        let line = problem.get("line").and_then(Value::as_u64).unwrap_or(0);
        let meant = match text("did_you_mean") {
            "" => String::new(),
            meant => format!("; did you mean `{meant}`?"),
        };
        say(&format!("{}:{line}: {}{meant}", text("file"), text("what")));
    }
    !problems.is_empty()
}
