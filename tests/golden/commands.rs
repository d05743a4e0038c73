//! Sessions of commands that change a configuration: every line with its answer, and what comes out.

use std::collections::BTreeSet;

use bascule::netscaler::document::Document;
use bascule::netscaler::error::{NsError, texts};
use bascule::netscaler::line::{self, Parsed};
use bascule::netscaler::resource::{Place, Resource};
use bascule::netscaler::{export, statement::Verb};

/// Told by NITRO alone; 350 needs eleven backups, and 1067 is a warning.
const OTHERS: &[u32] = &[350, 354, 444, 1027, 1067, 1243, 2138];

/// Carries out a line; its answer as the shell prints it, with the number.
fn answer(document: &mut Document, line: &str, told: &mut BTreeSet<u32>) -> String {
    match line {
        "show ns runningConfig" => return export::lines(document, "0.0"),
        "show toml" => return document.to_toml().expect("it is TOML"),
        _ => {}
    }
    let carried_out = |document: &mut Document| -> Result<Vec<String>, NsError> {
        let mut lines = Vec::new();
        match line::parse(line)? {
            Parsed::Nothing => {}
            Parsed::Statements(statements) => {
                for statement in &statements {
                    lines.extend(document.execute(statement)?.into_iter().map(|w| format!("Warning: {}\n", w.message)));
                }
                let act = |act: bascule::netscaler::document::Act| {
                    let what = act.member.map_or(act.name.clone(), |member| format!("{} {member}", act.name));
                    format!("then: disable {} {what}\n", act.resource.said())
                };
                lines.extend(document.take_acts().into_iter().map(act));
            }
            Parsed::Other(_) => panic!("{line}: no command of configuration"),
        }
        Ok(lines)
    };
    match carried_out(document) {
        Ok(lines) => lines.concat() + " Done\n",
        Err(error) => {
            told.insert(error.code);
            format!("ERROR: {} (NSERR {}, HTTP {})\n", error.message, error.code, error.http_status())
        }
    }
}

fn session(text: &str, told: &mut BTreeSet<u32>) -> String {
    let mut document = Document::default();
    let mut out = String::new();
    for line in text.lines() {
        if line.trim().is_empty() || line.starts_with('#') {
            out += &format!("{line}\n");
            continue;
        }
        out += &format!("> {line}\n{}", answer(&mut document, line, told));
    }
    out
}

#[test]
fn every_session_gives_the_answers_that_were_looked_at() {
    let mut told = BTreeSet::new();
    insta::glob!("commands/*.txt", |path| {
        let text = std::fs::read_to_string(path).expect("a session");
        insta::assert_snapshot!(session(&text, &mut told));
    });
}

#[test]
fn every_number_that_a_line_can_lead_to_is_in_a_session() {
    let mut told = BTreeSet::new();
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/commands");
    for entry in std::fs::read_dir(folder).expect("the sessions") {
        session(&std::fs::read_to_string(entry.expect("an entry").path()).expect("a session"), &mut told);
    }
    let absent: Vec<u32> =
        texts().map(|(code, _)| code).filter(|code| !told.contains(code) && !OTHERS.contains(code)).collect();
    assert!(absent.is_empty(), "no session leads to {absent:?}");
}

#[test]
fn the_page_of_the_manual_lists_the_numbers_that_there_are() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/src/manual/commands.rs");
    let page = std::fs::read_to_string(page).expect("the page");
    let (_, table) = page.split_once("| NSERR | text |\n//! |---|---|\n").expect("the table");
    let listed: Vec<String> = table.lines().filter_map(|line| line.strip_prefix("//! ")).map(str::to_owned).collect();
    let known: Vec<String> = texts().map(|(code, text)| format!("| {code} | {text} |")).collect();
    assert_eq!(listed, known);
}

/// Parameters of the page that are commands of their own, not attributes of the object.
fn attribute_of(section: &str, parameter: &str) -> Vec<(&'static str, String)> {
    let owner = match section {
        "lb vserver" => "lbvserver",
        "service" => "service",
        "serviceGroup" => "servicegroup",
        "lb monitor" => "lbmonitor",
        _ => "server",
    };
    let (resource, names) = match parameter.split_once(", ") {
        Some(("bind lb vserver", "serviceGroupName")) => ("lbvserver_servicegroup_binding", "serviceGroupName"),
        Some(("bind lb vserver", names)) => ("lbvserver_service_binding", names),
        Some(("bind service", names)) => ("service_lbmonitor_binding", names),
        Some(("bind serviceGroup", "monitorName")) => ("servicegroup_lbmonitor_binding", "monitorName"),
        Some(("bind serviceGroup", names)) => ("servicegroup_servicegroupmember_binding", names),
        _ => (owner, parameter),
    };
    names.replace(" or ", ", ").split(", ").map(|name| (resource, name.to_owned())).collect()
}

#[test]
fn what_the_manual_says_is_supported_can_be_set_and_what_it_refuses_is_refused_by_name() {
    let page = concat!(env!("CARGO_MANIFEST_DIR"), "/src/manual/netscaler.rs");
    let page = std::fs::read_to_string(page).expect("the page");
    let mut section = String::new();
    let mut wrong = Vec::new();
    for line in page.lines().filter_map(|line| line.strip_prefix("//! ")) {
        if let Some(title) = line.strip_prefix("## ") {
            section = title.to_owned();
        }
        let cells: Vec<&str> = line.trim_matches('|').split(" | ").map(str::trim).collect();
        if !line.starts_with("| ") || cells.len() < 3 || ["parameter", "---"].contains(&cells[0]) {
            continue;
        }
        for (nitro, name) in attribute_of(&section, cells[0]) {
            let resource = Resource::find(nitro).expect("a resource");
            // Acts, objects bound by other resources, and TLS of the service's part.
            let elsewhere =
                ["delay", "graceFul", "sslCertKey bindings", "policyName", "serverAuth", "commonName", "Internal"];
            if elsewhere.contains(&&name[..]) && nitro != "lbmonitor" {
                continue;
            }
            let found = resource
                .attributes()
                .find(|a| a.cli.eq_ignore_ascii_case(&name) || a.nitro.eq_ignore_ascii_case(&name));
            match (cells[1], found.map(|attribute| attribute.place)) {
                (_, None) => wrong.push(format!("{section}: {name} is in no table")),
                ("supported" | "stored", Some(Place::Refused(_) | Place::Only(_))) => {
                    wrong.push(format!("{section}: {name} cannot be set"));
                }
                // The key is refused, and the value stands at another.
                ("refused", Some(Place::With(_))) if name == "resRule" => {}
                ("refused", Some(Place::At(..) | Place::With(_))) => {
                    wrong.push(format!("{section}: {name} is refused in the TOML and taken here"));
                }
                _ => {}
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_attribute_with_a_place_has_one_in_the_schema() {
    use bascule::config::schema::{Kind, ROOT, Schema};
    fn table(kind: &'static Kind) -> Option<&'static Schema> {
        match kind {
            Kind::Table(schema) => Some(schema),
            Kind::Map(kind) => table(kind),
            _ => None,
        }
    }
    for resource in Resource::all().filter(|resource| !resource.is_binding() && resource.nitro != "nsfeature") {
        for attribute in resource.attributes() {
            let Place::At(path, _) = attribute.place else { continue };
            let mut schema = ROOT.key(resource.section()).and_then(|key| table(&key.kind));
            for (at, key) in path.iter().enumerate() {
                let found = schema.and_then(|schema| schema.key(key));
                assert!(found.is_some(), "{} {}: {path:?} at {at}", resource.nitro, attribute.nitro);
                schema = found.and_then(|key| table(&key.kind));
            }
        }
    }
}

#[test]
fn every_verb_is_written_as_the_command_line_has_it() {
    let words: Vec<&str> = Verb::ALL.iter().map(|verb| verb.word()).collect();
    assert_eq!(words, ["add", "set", "unset", "rm", "bind", "unbind", "rename"]);
}
