//! Configurations: the good ones load, and every bad one shows all of its problems.

use std::collections::BTreeMap;

use bascule::config::{Files, Loaded, Problem, Source, load};

/// Files beside a configuration: in memory, or the folder `NAME.files` of a golden one.
#[derive(Default)]
pub struct Texts(pub BTreeMap<String, String>);

impl Files for Texts {
    fn glob(&self, pattern: &str) -> Result<Vec<String>, String> {
        let pattern = glob::Pattern::new(pattern).map_err(|error| error.to_string())?;
        Ok(self.0.keys().filter(|path| pattern.matches(path)).cloned().collect())
    }

    fn read(&self, path: &str) -> Result<String, String> {
        self.0.get(path).cloned().ok_or_else(|| "no such file".to_owned())
    }
}

/// Loads a text under the name `bascule.toml`, with files beside it.
pub fn load_text(text: &str, beside: &[(&str, &str)]) -> Result<Loaded, Vec<Problem>> {
    let files = Texts(beside.iter().map(|(path, text)| (path.to_string(), text.to_string())).collect());
    load(Source { path: "bascule.toml".into(), text: text.into() }, &[], &files)
}

/// The lines that `bascule check` prints.
fn rendered(problems: &[Problem]) -> String {
    let mut text = String::new();
    for problem in problems {
        let place = if problem.line > 0 { format!("{}:{}", problem.line, problem.column) } else { "-".into() };
        text.push_str(&format!("{place:<8}{problem}\n"));
    }
    text
}

/// A golden file may carry more files, each after a line `#%% path`.
fn golden(path: &std::path::Path) -> (String, Texts) {
    let text = std::fs::read_to_string(path).unwrap();
    let mut parts = text.split("#%% ");
    let root = parts.next().unwrap_or_default().to_owned();
    let beside = parts.filter_map(|part| part.split_once('\n')).map(|(path, text)| (path.trim().into(), text.into()));
    (root, Texts(beside.collect()))
}

fn load_golden(path: &std::path::Path) -> Result<Loaded, Vec<Problem>> {
    let (text, files) = golden(path);
    load(Source { path: "bascule.toml".into(), text: text.into() }, &[], &files)
}

#[test]
fn every_bad_configuration_shows_all_of_its_problems() {
    insta::glob!("config/bad/*.toml", |path| {
        let problems = load_golden(path).expect_err("this one is bad");
        insta::assert_snapshot!(rendered(&problems));
    });
}

#[test]
fn every_good_configuration_loads_and_shows_its_warnings() {
    insta::glob!("config/good/*.toml", |path| {
        let loaded = load_golden(path).unwrap_or_else(|problems| panic!("{}", rendered(&problems)));
        insta::assert_snapshot!(rendered(&loaded.warnings));
    });
}

#[test]
fn the_example_of_the_manual_loads() {
    let loaded = load_text(include_str!("../../profiles/example.toml"), &[]);
    let loaded = loaded.unwrap_or_else(|problems| panic!("{}", rendered(&problems)));
    insta::assert_snapshot!(rendered(&loaded.warnings));
}
