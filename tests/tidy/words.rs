//! Words that must not be in what is delivered: unfinished work, and places that only one machine has.

use super::source;

/// In code. Put together from halves so that this file does not contain them.
const UNFINISHED_CODE: &[&str] = &[concat!("todo", "!"), concat!("unimplemented", "!"), concat!("dbg", "!")];

/// In any text of the project, comments included.
const NOWHERE: &[&str] = &[
    concat!("FIX", "ME"),
    concat!("X", "XX"),
    concat!("TO", "DO:"),
    concat!("/wo", "rk/"),
    concat!("iss", "ue #"),
    concat!("../sha", "red"),
    concat!("<<<<", "<<<"),
];

#[test]
fn nothing_unfinished_is_called_done() {
    let mut broken = Vec::new();
    for source in source::rust_files(&["src", "tests", "benches"]) {
        for word in UNFINISHED_CODE {
            for (at, _) in source.code.match_indices(word) {
                broken.push(format!("{}:{}: {word}", source.path, source::line_of(&source.code, at)));
            }
        }
    }
    assert!(broken.is_empty(), "unfinished code:\n{}", broken.join("\n"));
}

#[test]
fn the_text_speaks_of_the_project_alone() {
    let mut broken = Vec::new();
    for (path, text) in source::text_files(source::root()) {
        for word in NOWHERE {
            for (at, _) in text.match_indices(word) {
                broken.push(format!("{path}:{}: {word}", source::line_of(&text, at)));
            }
        }
    }
    assert!(broken.is_empty(), "words that do not belong here:\n{}", broken.join("\n"));
}
