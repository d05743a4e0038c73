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

    fn is_private(&self, path: &str) -> Option<bool> {
        Some(!path.contains("open"))
    }

    /// A file of this name says so.
    fn now(&self) -> Option<i64> {
        self.0.get("now")?.trim().parse().ok()
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

#[test]
fn every_profile_loads_and_comes_back_from_its_rendering() {
    insta::glob!("../../profiles", "*.toml", |path| {
        let loaded = load_golden(path).unwrap_or_else(|problems| panic!("{}", rendered(&problems)));
        comes_back(&loaded, &Texts::default());
    });
}

/// Rendering and loading again gives an equal model, and rendering that gives the same text.
fn comes_back(loaded: &Loaded, files: &Texts) {
    let text = bascule::config::render::render(&loaded.model);
    let again = load(Source { path: "bascule.toml".into(), text: text.as_str().into() }, &[], files)
        .unwrap_or_else(|problems| panic!("{}\n{text}", rendered(&problems)));
    similar(&text, &bascule::config::render::render(&again.model));
    if *again.model != *loaded.model {
        similar(&format!("{:#?}", loaded.model), &format!("{:#?}", again.model));
    }
    assert_eq!(again.hash, loaded.hash);
}

fn similar(left: &str, right: &str) {
    if let Some((at, (a, b))) = left.lines().zip(right.lines()).enumerate().find(|(_, (a, b))| a != b) {
        panic!("line {} was `{a}` and became `{b}`", at + 1);
    }
    assert_eq!(left.lines().count(), right.lines().count());
}

#[test]
fn rendering_and_loading_again_changes_nothing() {
    let example = load_text(include_str!("../../profiles/example.toml"), &[]).unwrap();
    comes_back(&example, &Texts::default());
    insta::glob!("config/good/*.toml", |path| {
        comes_back(&load_golden(path).unwrap(), &golden(path).1);
    });
}

/// Loads the example with `--set PATH=VALUE` pairs.
fn with_overrides(overrides: &[(&str, &str)]) -> Result<Loaded, Vec<Problem>> {
    let overrides: Vec<_> = overrides.iter().map(|(path, value)| (path.to_string(), value.to_string())).collect();
    let root = Source { path: "example.toml".into(), text: include_str!("../../profiles/example.toml").into() };
    load(root, &overrides, &Texts::default())
}

#[test]
fn overrides_replace_add_and_are_checked_like_the_text() {
    let loaded = with_overrides(&[
        ("admin.listen", "127.0.0.1:0"),
        ("vserver.web.address", "127.0.0.1:0"),
        ("dns.listen", "[\"127.0.0.1:0\"]"),
        ("features.gslb", "false"),
        ("zone.\"example.test\".ttl", "5s"),
        ("service.extra", "{ address = \"192.0.2.1:80\" }"),
    ])
    .unwrap();
    let model = &loaded.model;
    assert_eq!(model.admin.listen.port(), 0);
    assert_eq!(model.dns.listen[0].port(), 0);
    assert!(!model.features.gslb);
    assert_eq!(model.zones[0].ttl.as_secs(), 5);
    assert!(model.service_id("extra").is_some());
    assert_eq!(loaded.sources.len(), 1, "an override is no file");

    let problems = with_overrides(&[
        ("admin.lisen", "127.0.0.1:0"),
        ("vserver.web.services.web1.x", "1"),
        ("a..b", "1"),
        ("include", "[\"more.toml\"]"),
        ("vserver.web.backup", "nobody"),
    ])
    .unwrap_err();
    insta::assert_snapshot!(rendered(&problems));
}

#[test]
fn files_are_included_once_and_not_without_end() {
    let chain: Vec<(String, String)> =
        (1..=10).map(|n| (format!("{n}.toml"), format!("include = [\"{}.toml\"]\n[switch.s{n}]\n", n + 1))).collect();
    let beside = |depth: usize| -> Vec<(&str, &str)> {
        let mut files: Vec<(&str, &str)> = chain[..depth].iter().map(|(p, t)| (p.as_str(), t.as_str())).collect();
        files[depth - 1].1 = "[switch.last]\n";
        files
    };
    let root = "include = [\"1.toml\", \"*.toml\"]\n";
    let loaded = load_text(root, &beside(8)).unwrap_or_else(|problems| panic!("{}", rendered(&problems)));
    assert_eq!((loaded.model.switches.len(), loaded.sources.len()), (8, 9), "each file counts once");
    let problems = load_text(root, &beside(9)).unwrap_err();
    assert!(problems[0].what.contains("more than 8 deep"), "{}", rendered(&problems));

    let missing = load_text("include = [\"*.none\"]\n", &[]).map(|loaded| loaded.sources.len());
    assert_eq!(missing.unwrap(), 1, "a glob may match nothing");
}

#[test]
fn a_secret_that_is_known_to_be_absent_is_a_warning() {
    struct Absent;
    impl Files for Absent {
        fn glob(&self, _: &str) -> Result<Vec<String>, String> {
            Ok(Vec::new())
        }
        fn read(&self, _: &str) -> Result<String, String> {
            Err("no such file".into())
        }
        fn has_secret(&self, _: &bascule::model::scenario::Secret) -> Option<bool> {
            Some(false)
        }
    }
    let root = Source { path: "a.toml".into(), text: include_str!("../../profiles/example.toml").into() };
    let warnings = load(root, &[], &Absent).unwrap().warnings;
    assert!(warnings.iter().any(|w| w.what.contains("`GTM_ORACLE_PASSWORD` is not set")), "{}", rendered(&warnings));
}

#[test]
fn a_model_is_sorted_and_its_ids_fit() {
    let example = load_text(include_str!("../../profiles/example.toml"), &[]).unwrap();
    let model = &example.model;
    macro_rules! sorted {
        ($($table:ident),+) => {$(
            assert!(model.$table.is_sorted_by(|a, b| a.name < b.name), stringify!($table));
        )+};
    }
    sorted!(monitors, checks, servers, services, groups, vservers, criteria, rules, time_windows, switches, triggers);
    sorted!(queries, scenarios, datacenters, pairs, zones);
    for (index, service) in model.services.iter().enumerate() {
        for binding in &service.monitors {
            let check = model.check(binding.check);
            let expected = format!("{}:{}", service.name, model.monitors[binding.monitor.index()].name);
            assert_eq!(*check.name, *expected);
            assert!(
                matches!(check.origin, bascule::model::check::Origin::Monitor { service, .. } if service.index() == index)
            );
        }
    }
    let web = model.vserver(model.vserver_id("web").unwrap());
    let members: Vec<_> = web.members.iter().map(|m| (&*model.service(m.service).name, m.weight)).collect();
    assert_eq!(members, [("web1", 3), ("web2", 1)]);
    let position = |name: &str| {
        let id = model.scenario_id(name).unwrap();
        model.scenario_order.iter().position(|&other| other == id).unwrap()
    };
    assert_eq!(model.scenario_order.len(), model.scenarios.len());
    assert!(position("a-is-out") < position("dr"));
    assert!(position("main/from-active") < position("main/to-backup"));
    assert!(model.switch_id("dc-a.maintenance").is_some() && model.check_id("dc:dc-b.internet#2").is_some());
}

/// Many objects: names are found through maps and no table is read once for every object.
fn large(services: usize, records: usize) -> String {
    use std::fmt::Write;
    let mut text =
        String::from("[defaults.service]\ntype = \"HTTP\"\n[check.c]\ntype = \"PING\"\naddress = \"192.0.2.1\"\n");
    let mut bound = String::new();
    for n in 0..services {
        let _ = write!(
            text,
            "[service.s{n}]\naddress = \"192.0.2.1:80\"\n[check.c{n}]\ntype = \"PING\"\naddress = \"192.0.2.1\"\n"
        );
        let _ = write!(bound, "\"s{n}\", ");
    }
    let _ =
        write!(text, "[vserver.v]\ntype = \"HTTP\"\nservices = [{bound}]\n[scenario.s.activate]\nwhen = [[\"c\"]]\n");
    text.push_str("[zone.\"a.test\"]\nstatic = \"@ NS ns\"\n");
    for n in 0..records / 10 {
        let _ = write!(text, "[zone.\"a.test\".rrset.\"h{n} A\"]\nrecords = [\n");
        for m in 0..10 {
            let _ =
                writeln!(text, "  {{ data = \"192.0.2.{m}\", cond = \"s\", check = \"c{}\" }},", (n + m) % services);
        }
        text.push_str("]\n");
    }
    text
}

#[test]
fn the_time_to_load_grows_with_the_size_and_not_with_its_square() {
    let time = |services, records| {
        let text = large(services, records);
        let start = std::time::Instant::now();
        let loaded = load_text(&text, &[]).unwrap();
        assert_eq!(loaded.model.services.len(), services);
        start.elapsed()
    };
    let small = time(250, 2_500);
    let big = time(2_000, 20_000);
    assert!(big < small * 40 + std::time::Duration::from_secs(1), "8 times the size took {small:?} and {big:?}");
}

mod fuzz {
    use proptest::prelude::*;

    use super::*;

    const EXAMPLE: &str = include_str!("../../profiles/example.toml");

    /// Loading either works or says why; a model that loads can be printed and read back.
    fn survives(text: &str) {
        if let Ok(loaded) = load_text(text, &[("example.test.zone", "@ NS ns\n")]) {
            comes_back(&loaded, &Texts([("example.test.zone".to_owned(), "@ NS ns\n".to_owned())].into()));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(96) })]

        #[test]
        fn random_text_never_panics(text: String) {
            survives(&text);
        }

        #[test]
        fn lines_that_are_left_out_or_stand_twice_never_panic(seed: Vec<(prop::sample::Index, bool)>) {
            let mut lines: Vec<&str> = EXAMPLE.lines().collect();
            for (at, twice) in seed.into_iter().take(12) {
                let at = at.index(lines.len());
                if twice {
                    lines.insert(at, lines[at]);
                } else {
                    lines.remove(at);
                }
            }
            survives(&lines.join("\n"));
        }

        #[test]
        fn values_in_wrong_places_never_panic(swaps: Vec<(prop::sample::Index, prop::sample::Index)>) {
            // Whole values change places, so that types and names are plausible and wrong.
            let mut lines: Vec<String> = EXAMPLE.lines().map(str::to_owned).collect();
            let values: Vec<usize> = (0..lines.len()).filter(|&n| lines[n].contains(" = ")).collect();
            for (a, b) in swaps.into_iter().take(6) {
                let (a, b) = (values[a.index(values.len())], values[b.index(values.len())]);
                let value = |line: &str| line.split_once('=').map(|(k, v)| (k.to_owned(), v.to_owned())).unwrap();
                let ((ka, va), (kb, vb)) = (value(&lines[a]), value(&lines[b]));
                lines[a] = format!("{ka}={vb}");
                if a != b {
                    lines[b] = format!("{kb}={va}");
                }
            }
            survives(&lines.join("\n"));
        }

        #[test]
        fn bytes_in_wrong_places_never_panic(edits: Vec<(prop::sample::Index, char)>) {
            let mut text: Vec<char> = EXAMPLE.chars().collect();
            for (at, c) in edits.into_iter().take(8) {
                let at = at.index(text.len());
                text[at] = c;
            }
            survives(&text.into_iter().collect::<String>());
        }
    }
}
