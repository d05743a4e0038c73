//! The manual's examples: configurations load, or are answered as the page says; scripts parse; what is listed is there.

use std::path::{Path, PathBuf};

use bascule::config::{Loaded, Problem};
use bascule::rehearse::script;

use super::config::load_text;

/// What an example may lean on: given where the example does not define it.
const AROUND: &[(&str, &str)] = &[
    ("[appliance]", "site = \"dc-b\"\n"),
    ("[check.api-a]", "type = \"HTTP\"\nurl = \"http://192.0.2.10/health\"\n"),
    ("[scenario.a-is-out]", ""),
    ("[scenario.dr]", ""),
    ("[datacenter.dc-b]", "internet = { targets = [\"ping:198.51.100.1\"] }\n"),
    ("[zone.\"example.test\"]", "soa = { mname = \"ns1.example.test.\", rname = \"hostmaster.example.test.\" }\n"),
];

/// A fenced block of a page.
struct Block {
    page: String,
    /// Of its first line in the source.
    line: usize,
    language: String,
    text: String,
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn pages() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("src/manual")).expect("the manual");
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    pages.sort();
    pages
}

fn blocks() -> Vec<Block> {
    let mut blocks: Vec<Block> = Vec::new();
    for page in pages() {
        let name = page.file_name().expect("it has a name").to_string_lossy().into_owned();
        let mut open = false;
        for (at, line) in std::fs::read_to_string(&page).expect("a page").lines().enumerate() {
            let Some(line) = line.strip_prefix("//!") else { continue };
            let line = line.strip_prefix(' ').unwrap_or(line);
            match line.strip_prefix("```") {
                Some(_) if open => open = false,
                Some(language) => {
                    open = true;
                    let (page, language) = (name.clone(), language.to_owned());
                    blocks.push(Block { page, line: at + 2, language, text: String::new() });
                }
                None if open => {
                    let block = blocks.last_mut().expect("one is open");
                    block.text += &format!("{line}\n");
                }
                None => {}
            }
        }
        assert!(!open, "{name}: a block does not end");
    }
    blocks
}

fn of(language: &str) -> Vec<Block> {
    let found: Vec<Block> = blocks().into_iter().filter(|block| block.language == language).collect();
    assert!(!found.is_empty(), "no example in {language}");
    found
}

fn loaded(block: &Block) -> Result<Loaded, Vec<Problem>> {
    let defines = |header: &str| {
        let prefix = header.trim_end_matches(']');
        block.text.lines().any(|line| line.strip_prefix(prefix).is_some_and(|rest| rest.starts_with([']', '.'])))
    };
    let around = AROUND.iter().filter(|(header, _)| !defines(header));
    let around: String = around.map(|(header, body)| format!("{header}\n{body}")).collect();
    let beside = certificates();
    let beside: Vec<(&str, &str)> = beside.iter().map(|(path, text)| (&**path, &**text)).collect();
    load_text(&format!("{}{around}", block.text), &beside)
}

/// Those that the golden configurations have, and keys of DNS cookies, for pages that name some.
fn certificates() -> Vec<(String, String)> {
    let read = |name| std::fs::read_to_string(root().join("tests/golden/config/good").join(name));
    let golden = ["tls.toml", "dnssec.toml", "dns.toml"].map(|name| read(name).expect("the golden one")).concat();
    let parts = golden.split("#%% ").skip(1).filter_map(|part| part.split_once('\n'));
    parts.map(|(path, text)| (path.to_owned(), text.to_owned())).collect()
}

#[test]
fn every_configuration_in_the_manual_loads() {
    for block in of("toml") {
        if let Err(problems) = loaded(&block) {
            panic!("{}:{}: {problems:#?}", block.page, block.line);
        }
    }
}

/// The answer is the `text` block that follows.
#[test]
fn a_bad_configuration_in_the_manual_is_answered_as_the_page_says() {
    let blocks = blocks();
    let bad: Vec<usize> = (0..blocks.len()).filter(|&at| blocks[at].language == "toml,bad").collect();
    assert!(!bad.is_empty());
    for at in bad {
        let Err(problems) = load_text(&blocks[at].text, &[]) else { panic!("{}: it loads", blocks[at].page) };
        let said: String =
            problems.iter().map(|problem| format!("{problem}\n").replace("bascule.toml", "box.toml")).collect();
        assert_eq!(said, blocks[at + 1].text, "{}:{}", blocks[at].page, blocks[at].line);
    }
}

#[test]
fn the_manual_lists_every_ending_and_every_part_of_the_time() {
    use bascule::model::ending::{Phase, Reason, Who};
    use bascule::snapshot::live::Interval;
    let page = std::fs::read_to_string(root().join("src/manual/endings.rs")).expect("a page");
    let rows: Vec<&str> =
        page.lines().filter_map(|l| l.strip_prefix("//! | `")?.split_once('`').map(|(w, _)| w)).collect();
    let reasons = Reason::ALL.iter().map(|reason| reason.word());
    let wanted: Vec<&str> = reasons.chain(Interval::ALL.map(Interval::word)).collect();
    assert_eq!(rows, wanted);
    for word in Who::ALL.map(Who::word).into_iter().chain(Phase::ALL.map(Phase::word)) {
        assert!(page.contains(&format!("`{word}`")), "{word}");
    }
}

#[test]
fn the_manual_lists_every_kind_of_alert() {
    use bascule::model::alert::AlertKind;
    let page = std::fs::read_to_string(root().join("src/manual/alerts.rs")).expect("a page");
    let kinds = page.split("//! ## ").find(|section| section.starts_with("Kinds")).expect("the table");
    let rows = kinds.lines().filter_map(|l| l.strip_prefix("//! | `")?.split_once('`').map(|(word, _)| word));
    assert_eq!(rows.collect::<Vec<_>>(), AlertKind::ALL.map(AlertKind::word));
}

#[test]
fn every_script_in_the_manual_parses() {
    for block in of("events") {
        if let Err(wrong) = script::parse(&block.page, &block.text) {
            panic!("{}:{}: {wrong:#?}", block.page, block.line);
        }
    }
}

#[test]
fn the_drills_of_the_manual_go_as_the_page_says() {
    let page = |language| of(language).into_iter().find(|block| block.page.ends_with("drills.rs")).expect("a block");
    let loaded = load_text(&page("toml").text, &[]).expect("it loads");
    let parsed = script::parse("drills.events", &page("events").text).expect("it parses");
    let walk = bascule::rehearse::walk(&parsed, &loaded.model, &|file| Err(format!("no {file}")), false);
    let failures: Vec<_> = walk.failures().collect();
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn the_manual_lists_every_page_and_every_profile() {
    let front = std::fs::read_to_string(root().join("src/manual.rs")).expect("the front page");
    for page in pages() {
        let name = page.file_stem().expect("it has a name").to_string_lossy().into_owned();
        let listed = [format!("//! - [`{name}`]:"), format!("//! - [`{name}`](mod@{name}):")];
        assert!(listed.iter().any(|line| front.contains(line)), "src/manual.rs does not list {name}");
    }
    let config = std::fs::read_to_string(root().join("src/manual/config.rs")).expect("a page");
    for entry in std::fs::read_dir(root().join("profiles")).expect("the folder of profiles") {
        let profile = entry.expect("an entry").path().with_extension("");
        let name = profile.file_name().expect("it has a name").to_string_lossy().into_owned();
        // Where somebody ran one of them.
        if name == "state" {
            continue;
        }
        let listed = config.contains(&format!("| `{name}` |")) || config.contains(&format!("profiles/{name}.toml"));
        assert!(listed, "src/manual/config.rs does not list the profile {name}");
    }
}
