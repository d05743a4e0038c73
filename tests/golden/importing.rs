//! A saved `ns.conf` of hundreds of lines: what of it is carried, line by line, and that the result loads.

use bascule::config;
use bascule::netscaler::document::Document;
use bascule::netscaler::export;
use bascule::netscaler::import::{Fate, Line, import};

struct NoFiles;

impl config::Files for NoFiles {
    fn glob(&self, _: &str) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    fn read(&self, path: &str) -> Result<String, String> {
        Err(format!("no file `{path}` here"))
    }
}

fn saved() -> String {
    conf("saved.ns.conf")
}

fn conf(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/nsconf").join(name);
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn a_saved_configuration_of_hundreds_of_lines_is_carried_and_what_is_not_is_told() {
    let imported = import(&saved()).unwrap();
    let told = imported.lines.iter().filter_map(|line| match &line.fate {
        Fate::Missing { what, whole, traffic } => {
            Some(format!("{} whole={whole} traffic={traffic}: {}", line.number, what.join("; ")))
        }
        _ => None,
    });
    let told: Vec<String> = told.collect();
    insta::assert_snapshot!(format!("{:?}\n{}", imported.coverage(), told.join("\n")));
    let text = imported.document.to_toml().unwrap();
    let root = config::Source { path: "imported.toml".into(), text: text.into() };
    let problems = config::load(root, &[], &NoFiles).err().unwrap_or_default();
    let others: Vec<_> = problems
        .iter()
        .filter(|p| p.severity == config::Severity::Error)
        .filter(|p| !p.path.starts_with("certificate.") && !p.path.ends_with(".certificates"))
        .collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn a_saved_configuration_of_gslb_becomes_zones_records_and_scenarios() {
    let imported = import(&conf("gslb.ns.conf")).unwrap();
    let mut told = Vec::new();
    for line in &imported.lines {
        told.extend(line.notes.iter().map(|note| format!("{} note: {note}", line.number)));
        if let Fate::Missing { what, whole, traffic } = &line.fate {
            told.push(format!("{} whole={whole} traffic={traffic}: {}", line.number, what.join("; ")));
        }
    }
    let text = imported.document.to_toml().unwrap();
    insta::assert_snapshot!(format!("{:?}\n{}\n\n{text}", imported.coverage(), told.join("\n")));
    let root = config::Source { path: "imported.toml".into(), text: text.into() };
    let loaded = config::load(root, &[], &NoFiles).map(|loaded| loaded.warnings).unwrap_or_else(|problems| problems);
    let problems: Vec<String> = loaded.iter().map(|problem| problem.what.clone()).collect();
    insta::assert_snapshot!("what_the_loader_says_of_imported_gslb", problems.join("\n"));
}

#[test]
fn what_was_imported_comes_back_from_its_own_export() {
    let first = import(&saved()).unwrap();
    let lines = export::lines(&first.document, "0.0");
    let second = import(&lines).unwrap();
    let faults: Vec<&Line> = second.lines.iter().filter(|line| matches!(line.fate, Fate::Missing { .. })).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let (mut first, second) = (first.document.to_json(), second.document.to_json());
    // On without being said.
    first["features"]["gslb"] = true.into();
    for section in first.as_object().unwrap().keys() {
        assert_eq!(first[section], second[section], "[{section}]");
    }
    assert_eq!(first, second);
    for section in ["cs_policy", "responder_policy", "rewrite_policy", "policy_patset"] {
        assert!(first[section].as_object().is_some_and(|table| !table.is_empty()), "{section}");
    }
}

#[test]
fn the_export_of_the_example_is_carried_back_line_by_line() {
    let example = std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/profiles/example.toml")).unwrap();
    let document = Document::from_toml(&example).unwrap();
    let back = import(&export::lines(&document, "0.0")).unwrap();
    let faults: Vec<&Line> = back.lines.iter().filter(|line| matches!(line.fate, Fate::Missing { .. })).collect();
    assert!(faults.is_empty(), "{faults:#?}");
    let names = |document: &Document, section: &str| -> Vec<String> {
        document.root()[section].as_object().unwrap().keys().cloned().collect()
    };
    for section in ["service", "vserver", "monitor"] {
        let (mut before, mut after) = (names(&document, section), names(&back.document, section));
        before.sort();
        after.sort();
        assert_eq!(before, after, "{section}");
    }
}
