//! Files stay small enough to be read in one sitting, and every file is part of the program.

use std::collections::BTreeSet;

use super::source::{self, folder_of_children};

/// No file is longer. Lines.
const LINES_MAX: usize = 600;

/// Longer files stand in the list below. Lines.
const LINES_COMFORTABLE: usize = 400;

/// Files beyond the comfortable length and how long they may be. The list may only shrink: split a file rather than add
/// one, and take out what is short again.
const LONG: &[(&str, usize)] = &[];

#[test]
fn files_are_short_and_the_list_of_long_ones_only_shrinks() {
    let mut broken = Vec::new();
    let sources = source::rust_files(&["src", "tests", "benches"]);
    for source in &sources {
        let lines = source.text.lines().count();
        match LONG.iter().find(|(path, _)| *path == source.path) {
            _ if lines > LINES_MAX => broken.push(format!("{}: {lines} lines, at most {LINES_MAX}", source.path)),
            Some((_, allowed)) if lines > *allowed => {
                broken.push(format!("{}: {lines} lines, it had {allowed}: split it", source.path));
            }
            Some(_) if lines <= LINES_COMFORTABLE => broken.push(format!("{}: short again, unlist it", source.path)),
            None if lines > LINES_COMFORTABLE => {
                broken.push(format!("{}: {lines} lines, more than {LINES_COMFORTABLE}: split it", source.path));
            }
            _ => {}
        }
    }
    for (path, _) in LONG {
        if !sources.iter().any(|source| source.path == *path) {
            broken.push(format!("{path}: gone, unlist it"));
        }
    }
    assert!(broken.is_empty(), "files of the wrong size:\n{}", broken.join("\n"));
}

#[test]
fn every_file_is_a_module_of_the_program_or_of_a_test() {
    let sources = source::rust_files(&["src", "tests", "benches"]);
    let is_root = |path: &str| {
        matches!(path, "src/lib.rs" | "src/main.rs")
            || path.strip_prefix("tests/").or(path.strip_prefix("benches/")).is_some_and(|rest| !rest.contains('/'))
            || (path.starts_with("tests/") || path.starts_with("benches/")) && path.ends_with("/main.rs")
    };
    let mut reached: BTreeSet<String> = sources.iter().map(|s| s.path.clone()).filter(|path| is_root(path)).collect();
    let mut open: Vec<String> = reached.iter().cloned().collect();
    while let Some(path) = open.pop() {
        let Some(source) = sources.iter().find(|source| source.path == path) else { continue };
        for child in children(source) {
            if reached.insert(child.clone()) {
                open.push(child);
            }
        }
    }
    let orphans: Vec<&str> =
        sources.iter().map(|source| &*source.path).filter(|path| !reached.contains(*path)).collect();
    assert!(orphans.is_empty(), "no `mod` names these files:\n{}", orphans.join("\n"));
}

/// The files that `source` may declare: `mod name;` in either layout, nested inline modules and `#[path]` included.
fn children(source: &source::Source) -> Vec<String> {
    let mut files = Vec::new();
    let folder = folder_of_children(&source.path);
    let own_folder = source.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    for (line, code) in source.text.lines().zip(source.code.lines()) {
        if let Some(path) = line.trim().strip_prefix("#[path = \"").and_then(|rest| rest.strip_suffix("\"]")) {
            files.push(format!("{own_folder}/{path}"));
        }
        let Some(name) = code.trim().strip_suffix(';').and_then(|code| code.split("mod ").nth(1)) else { continue };
        files.push(format!("{folder}/{}.rs", name.trim()));
        files.push(format!("{folder}/{}/mod.rs", name.trim()));
    }
    files
}
