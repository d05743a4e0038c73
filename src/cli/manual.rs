//! `bascule manual`: the pages of the manual, from the program itself.

use std::process::ExitCode;

use super::{fail, say};

const INDEX: &str = include_str!("../manual.rs");

/// What a page takes in: longer than a file of the program may be.
const KEYS: &str = include_str!("../manual/keys.md");

/// By name, as the index has them.
macro_rules! pages {
    ($($name:literal),* $(,)?) => { [$(($name, include_str!(concat!("../manual/", $name, ".rs")))),*] };
}

const PAGES: &[(&str, &str)] = &pages![
    "access",
    "alerts",
    "appliance",
    "audit",
    "checks",
    "choices",
    "commands",
    "complaints",
    "config",
    "dashboard",
    "dns",
    "dnssec",
    "drills",
    "endings",
    "figures",
    "first_boot",
    "first_steps",
    "http",
    "import",
    "keys",
    "limits",
    "looking_ahead",
    "members",
    "methods",
    "monitors",
    "netscaler",
    "network",
    "nitro",
    "operations",
    "overload",
    "pairs",
    "peers",
    "persistence",
    "policies",
    "records",
    "rest",
    "rules",
    "scenarios",
    "shell",
    "sql",
    "states",
    "tls",
    "traces",
    "transfers",
    "triggers",
    "upkeep",
    "windows",
    "words",
];

pub(super) fn run(page: Option<&str>) -> ExitCode {
    let Some(asked) = page else {
        say(text(INDEX).trim_end());
        say("\n`bascule manual PAGE` prints one.");
        return ExitCode::SUCCESS;
    };
    match PAGES.iter().find(|(name, _)| *name == asked.replace('-', "_")) {
        Some((_, source)) => {
            say(text(source).trim_end());
            ExitCode::SUCCESS
        }
        None => {
            let names: Vec<&str> = PAGES.iter().map(|(name, _)| *name).collect();
            fail(&format!("manual: there is no page `{asked}`; there are {}", names.join(", ")))
        }
    }
}

/// The text of a page without the marks of the language.
fn text(source: &str) -> String {
    if source.contains("include_str!(\"keys.md\")") {
        return KEYS.to_owned();
    }
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    lines.map(|line| format!("{}\n", line.strip_prefix(' ').unwrap_or(line))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_page_is_there_and_in_the_index() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/manual");
        let mut names: Vec<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "rs"))
            .map(|path| path.file_stem().unwrap().to_string_lossy().into_owned())
            .collect();
        names.sort();
        assert_eq!(names, PAGES.iter().map(|(name, _)| (*name).to_owned()).collect::<Vec<_>>());
        for (name, source) in PAGES {
            assert!(text(INDEX).contains(&format!("[`{name}`]")), "{name}");
            assert!(text(source).starts_with("# ") && text(source).lines().count() > 5, "{name}");
        }
    }
}
