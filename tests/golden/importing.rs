//! A saved `ns.conf` of hundreds of lines: what of it is carried, line by line, and that the result loads.

use bascule::config;
use bascule::netscaler::document::Document;
use bascule::netscaler::export;
use bascule::netscaler::import::{Fate, Line, import};
use bascule::netscaler::line::{self, Parsed};

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

/// Carries out lines one by one, as a shell does.
fn built(lines: &[&str]) -> Document {
    let mut document = Document::default();
    for line in lines {
        let Ok(Parsed::Statements(statements)) = line::parse(line) else { panic!("{line}") };
        for statement in &statements {
            document.execute(statement).unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }
    document
}

/// Its sections, as far as an import writes them too.
fn of_gslb(document: &Document) -> serde_json::Value {
    let sections =
        ["gslb", "datacenter", "appliance", "service", "check", "scenario", "zone", "dns", "server", "vserver"];
    let root = document.root();
    sections.iter().filter_map(|section| Some(((*section).to_owned(), root.get(*section)?.clone()))).collect()
}

fn faults(lines: &[Line]) -> Vec<&Line> {
    lines.iter().filter(|line| matches!(line.fate, Fate::Missing { .. })).collect()
}

#[test]
fn imported_gslb_comes_back_from_its_own_export() {
    let first = import(&conf("gslb.ns.conf")).unwrap();
    let lines = export::lines(&first.document, "0.0");
    let second = import(&lines).unwrap();
    assert!(faults(&second.lines).is_empty(), "{lines}\n{:#?}", faults(&second.lines));
    assert_eq!(of_gslb(&first.document), of_gslb(&second.document), "{lines}");
}

const MADE: [&str; 22] = [
    "add lb vserver lb-here HTTP 192.0.2.10 80",
    "add server there 198.51.100.9",
    "add gslb site east LOCAL 192.0.2.6",
    "add gslb site west 198.51.100.6",
    "add gslb service gs-here 192.0.2.10 HTTP 80 -publicIP 192.0.2.11 -siteName east",
    "add gslb service gs-there there HTTP 80 -siteName west",
    "add gslb service gs-spare 198.51.100.20 TCP 443 -siteName west",
    "add gslb service gs-idle 198.51.100.30 HTTP 80 -siteName west",
    "add gslb service gs-alias -cnameEntry cdn.example.net -siteName west",
    "bind gslb service gs-there -monitorName http",
    "add gslb vserver gv HTTP -lbMethod ROUNDROBIN -MIR ENABLED -EDR ENABLED",
    "add gslb vserver gv-dr HTTP",
    "add gslb vserver gv-idle HTTP -lbMethod SOURCEIPHASH",
    "add gslb vserver gv-alias HTTP -lbMethod ROUNDROBIN -dnsRecordType CNAME",
    "set gslb vserver gv -backupVServer gv-dr -disablePrimaryOnDown ENABLED",
    "bind gslb vserver gv -serviceName gs-here -weight 5",
    "bind gslb vserver gv -serviceName gs-there",
    "bind gslb vserver gv-dr -serviceName gs-spare",
    "bind gslb vserver gv-alias -serviceName gs-alias",
    "bind gslb vserver gv-alias -domainName img.example.test -TTL 60",
    "bind gslb vserver gv -domainName www.example.test -TTL 5",
    "add dns soaRec example.test -originServer ns1.example.test -contact admin.example.test",
];

#[test]
fn gslb_that_was_made_step_by_step_is_what_an_import_of_the_same_lines_makes() {
    let made = built(&MADE);
    let imported = import(&MADE.join("\n")).unwrap();
    assert!(faults(&imported.lines).is_empty(), "{:#?}", faults(&imported.lines));
    // A name that came before its zone has one of its own until that is said again.
    let zones = |document: &Document| document.root()["zone"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(zones(&imported.document), ["example.test"]);
    let made_again = import(&export::lines(&made, "0.0")).unwrap();
    assert!(faults(&made_again.lines).is_empty(), "{:#?}", faults(&made_again.lines));
    let (mut ours, again) = (of_gslb(&made), of_gslb(&made_again.document));
    // Lines may remember what tables say as well.
    let said = |of: &serde_json::Value| of["gslb"]["lines"].as_array().cloned().unwrap_or_default();
    assert!(said(&again).iter().all(|line| said(&ours).contains(line)));
    ours["gslb"] = again["gslb"].clone();
    assert_eq!(ours, again, "{}", export::lines(&made, "0.0"));
    let mut order = MADE;
    order[4..]
        .sort_by_key(|line| (!line.starts_with("add dns"), !line.starts_with("add gslb"), line.starts_with("set")));
    let other = built(&order);
    assert_eq!(of_gslb(&other)["scenario"], of_gslb(&imported.document)["scenario"]);
    assert_eq!(zones(&other), ["example.test"]);
}

#[test]
fn what_commands_made_of_gslb_they_take_away_again_and_nothing_is_left() {
    let mut document = built(&MADE);
    let before = built(&MADE[..2]);
    for line in [
        "rm gslb service gs-there",
        "rm gslb vserver gv",
        "rm gslb vserver gv-dr",
        "rm gslb vserver gv-idle",
        "rm gslb vserver gv-alias",
        "rm gslb service gs-here",
        "rm gslb service gs-spare",
        "rm gslb service gs-idle",
        "rm gslb service gs-alias",
        "rm gslb site east",
        "rm gslb site west",
        "rm dns soaRec example.test",
        "rm dns zone example.test",
    ] {
        let Ok(Parsed::Statements(statements)) = line::parse(line) else { panic!("{line}") };
        document.execute(&statements[0]).unwrap_or_else(|error| panic!("{line}: {error}"));
    }
    assert_eq!(document.to_json(), before.to_json());
}
