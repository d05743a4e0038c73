//! `bascule import`: a saved `ns.conf` as TOML, on stdout; what became of its lines, on stderr.

use std::io::Read as _;
use std::path::Path;
use std::process::ExitCode;

use super::{aside, fail, say};
use crate::config::{self, Files, Problem, Severity, Source, visible};
use crate::netscaler::import::{BYTES_MOST, Coverage, Fate, Imported, Line, import};

/// Something that changes traffic is missing.
const INCOMPLETE: u8 = 2;

/// Certificates and their keys come later; one text has no others.
struct NoFiles;

pub(super) fn run(file: &Path, strict: bool, all: bool) -> ExitCode {
    let name = file.display().to_string();
    let imported = read(file).and_then(|text| import(&text));
    let imported = match imported {
        Ok(imported) => imported,
        Err(why) => return fail(&format!("import: {name}: {why}")),
    };
    let text = match imported.document.to_toml() {
        Ok(text) => text,
        Err(why) => return fail(&format!("import: {name}: {why}")),
    };
    let coverage = imported.coverage();
    say(&format!("# Imported from {name}: {}", summary(&coverage)));
    say(visible::toml(&text).trim_end());
    for line in &imported.lines {
        for told in tell(&name, line, all) {
            aside(&told);
        }
    }
    let problems = problems(&text);
    for problem in &problems {
        aside(&format!("the TOML: {problem}"));
    }
    aside(&format!("{name}: {}", summary(&coverage)));
    if !imported.document.root().contains_key("certificate") && problems.is_empty() {
        aside(&format!("{name}: the TOML loads"));
    } else if problems.is_empty() {
        aside(&format!(
            "{name}: the TOML loads once the files of its certificates are there; paths are relative to it"
        ));
    }
    if is_whole(&imported, &problems, strict) { ExitCode::SUCCESS } else { ExitCode::from(INCOMPLETE) }
}

/// `-` is the standard input.
fn read(file: &Path) -> Result<String, String> {
    let limit = BYTES_MOST as u64 + 1;
    let mut bytes = Vec::new();
    let read = if file == Path::new("-") {
        std::io::stdin().lock().take(limit).read_to_end(&mut bytes)
    } else {
        std::fs::File::open(file).and_then(|file| file.take(limit).read_to_end(&mut bytes))
    };
    read.map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|_| "it is not UTF-8".into())
}

fn is_whole(imported: &Imported, problems: &[Problem], strict: bool) -> bool {
    let coverage = imported.coverage();
    let is_complete = coverage.partly + coverage.missing == 0;
    problems.is_empty() && !imported.changes_traffic() && (is_complete || !strict)
}

/// What keeps the result from loading, but for files that it names.
fn problems(text: &str) -> Vec<Problem> {
    let root = Source { path: "imported".into(), text: text.into() };
    let found = config::load(root, &[], &NoFiles).err().unwrap_or_default();
    // Without its files a certificate does not read, nor is it anything that a vserver could show.
    let of_files = |p: &Problem| p.path.starts_with("certificate.") || p.path.ends_with(".certificates");
    found.into_iter().filter(|p| p.severity == Severity::Error && !of_files(p)).collect()
}

fn summary(coverage: &Coverage) -> String {
    let Coverage { lines, carried, irrelevant, partly, missing } = coverage;
    format!("{carried} of {lines} lines carried, {partly} in part, {irrelevant} of no meaning here, {missing} missing")
}

/// What a person should know about a line; `all`: also that it means nothing here.
fn tell(name: &str, line: &Line, all: bool) -> Vec<String> {
    let place = format!("{name}:{}", line.number);
    let mut out: Vec<String> = line.notes.iter().map(|note| format!("{place}: note: {note}")).collect();
    match &line.fate {
        Fate::Carried => {}
        Fate::Irrelevant(why) if all => out.push(format!("{place}: of no meaning here, {why}: {}", line.text)),
        Fate::Irrelevant(_) => {}
        Fate::Missing { what, whole, traffic } => {
            let word = match (whole, traffic) {
                (true, true) => "missing",
                (true, false) => "missing, without effect on traffic",
                (false, true) => "carried in part",
                (false, false) => "carried but for what does not change traffic",
            };
            out.extend(what.iter().map(|what| format!("{place}: {word}: {what}")));
            if *whole {
                out.push(format!("{place}:   {}", line.text));
            }
        }
    }
    out
}

// === impl NoFiles ===

impl Files for NoFiles {
    fn glob(&self, _: &str) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    fn read(&self, path: &str) -> Result<String, String> {
        Err(format!("{path} is not here"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changes_traffic_makes_an_import_incomplete() {
        let whole = |text: &str, strict| {
            let imported = import(text).unwrap();
            is_whole(&imported, &problems(&imported.document.to_toml().unwrap()), strict)
        };
        assert!(whole("add server s 10.0.0.1\nset ns config -IPAddress 10.0.0.5\n", true));
        assert!(whole("add cmp policy p -rule true -resAction COMPRESS\n", false));
        assert!(!whole("add cmp policy p -rule true -resAction COMPRESS\n", true));
        assert!(!whole("add appfw profile p\n", false));
    }

    #[test]
    fn every_line_that_is_not_carried_is_told_with_its_place() {
        let imported = import("add server s 10.0.0.1\nadd appfw profile p\n").unwrap();
        let told: Vec<String> = imported.lines.iter().flat_map(|line| tell("ns.conf", line, false)).collect();
        assert_eq!(told, ["ns.conf:2: missing: application firewall", "ns.conf:2:   add appfw profile p"]);
        assert_eq!(summary(&imported.coverage()), "1 of 2 lines carried, 0 in part, 0 of no meaning here, 1 missing");
    }
}
