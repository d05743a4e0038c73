//! Every profile loads, prints as a text that means the same, and behaves as the script beside it says.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use bascule::config::{Source, load, render};
use bascule::files::{self, DiskFiles};
use bascule::rehearse::{TestOptions, prepare, test, walk};

fn profiles() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles");
    let entries = std::fs::read_dir(folder).expect("the folder of profiles");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

#[test]
fn every_profile_loads_and_its_canonical_text_means_the_same() {
    for path in profiles() {
        let loaded = files::load(&path, &[]).unwrap_or_else(|problems| panic!("{problems:#?}"));
        let text = render::render(&loaded.model);
        let root = Source { path: "rendered.toml".into(), text: text.into() };
        let again = load(root, &[], &DiskFiles::beside(&path))
            .unwrap_or_else(|problems| panic!("{}, rendered: {problems:#?}", path.display()));
        assert_eq!(again.model, loaded.model, "{}", path.display());
        assert_eq!(again.hash, loaded.hash);
    }
}

#[test]
fn every_profile_behaves_as_the_script_beside_it_says() {
    for path in profiles() {
        let events = path.with_extension("events");
        let prepared = prepare(&events, None).unwrap_or_else(|lines| panic!("{}", lines.join("\n")));
        let walk = walk(&prepared.script, &prepared.model, &|file| prepared.reload(file), false);
        let failures: Vec<_> = walk.failures().collect();
        assert!(failures.is_empty(), "{}: {failures:#?}", events.display());
        assert!(walk.verdicts.len() >= 5, "{}: a script that expects little shows little", events.display());
    }
}

#[test]
fn the_whole_folder_passes_as_one_test_run() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("profiles");
    assert_eq!(format!("{:?}", test(&[folder], &TestOptions::default())), format!("{:?}", ExitCode::SUCCESS));
}
