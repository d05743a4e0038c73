//! `bascule check`: loads exactly as `run` would, offline, and prints everything that is wrong.

use std::path::Path;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::args::{CheckArgs, CheckFormat};
use super::{aside, say, say_json};
use crate::admin::dto::ConfigProblemDto;
use crate::config::{Problem, Severity};
use crate::files;

pub(super) fn run(args: &CheckArgs) -> ExitCode {
    let mut failed = false;
    let mut documents = Vec::new();
    for file in &args.files {
        let (problems, warnings) = match files::load(file, &args.set) {
            Ok(loaded) => (Vec::new(), loaded.warnings),
            Err(found) => found.into_iter().partition(|p| p.severity == Severity::Error),
        };
        failed |= !problems.is_empty();
        match args.format {
            CheckFormat::Text => print_text(file, &problems, &warnings),
            CheckFormat::Json => documents.push(document(file, &problems, &warnings)),
        }
    }
    if args.format == CheckFormat::Json {
        say_json(&json!({ "ok": !failed, "files": documents }));
    }
    if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Problems, then warnings; on stderr one line that says how it stands.
fn print_text(file: &Path, problems: &[Problem], warnings: &[Problem]) {
    for problem in problems.iter().chain(warnings) {
        say(&problem.to_string());
    }
    aside(&summary(file, problems.len(), warnings.len()));
}

fn summary(file: &Path, problems: usize, warnings: usize) -> String {
    let count = |n: usize, what: &str| match n {
        1 => format!("1 {what}"),
        n => format!("{n} {what}s"),
    };
    let file = file.display();
    match (problems, warnings) {
        (0, 0) => format!("{file}: ok"),
        (0, w) => format!("{file}: ok, {}", count(w, "warning")),
        (p, 0) => format!("{file}: {}", count(p, "problem")),
        (p, w) => format!("{file}: {}, {}", count(p, "problem"), count(w, "warning")),
    }
}

fn document(file: &Path, problems: &[Problem], warnings: &[Problem]) -> Value {
    let list = |problems: &[Problem]| problems.iter().map(ConfigProblemDto::of).collect::<Vec<_>>();
    json!({
        "file": file.display().to_string(),
        "ok": problems.is_empty(),
        "problems": list(problems),
        "warnings": list(warnings),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_says_how_it_stands() {
        let file = Path::new("f.toml");
        assert_eq!(summary(file, 0, 0), "f.toml: ok");
        assert_eq!(summary(file, 0, 2), "f.toml: ok, 2 warnings");
        assert_eq!(summary(file, 1, 0), "f.toml: 1 problem");
        assert_eq!(summary(file, 3, 1), "f.toml: 3 problems, 1 warning");
    }
}
