//! Policies that cannot be carried out and are bound nowhere: what is missing there changes no traffic.

use std::collections::BTreeSet;

use super::{Fate, Pending};

/// Tells so of their lines, and of the lines that they alone name.
pub(super) fn tell(lines: &mut [Pending]) {
    let binds = |line: &&Pending| line.word(0) == "bind";
    let bound: BTreeSet<String> =
        lines.iter().filter(binds).filter_map(|line| line.value("policyName").map(str::to_owned)).collect();
    // `bind responder global NAME`
    let everywhere: BTreeSet<String> = lines
        .iter()
        .filter(|line| line.word(0) == "bind" && line.word(2) == "global")
        .filter_map(|line| line.text(3).map(str::to_owned))
        .collect();
    let bound: BTreeSet<String> = bound.union(&everywhere).cloned().collect();
    let is_bound = |line: &&Pending| line.text(3).is_some_and(|name| bound.contains(name));
    let in_force = |line: &&Pending| (is_policy(line) && is_bound(line)) || is(line, &["policy"], "expression");
    let used: Vec<String> = lines.iter().filter(in_force).flat_map(words_behind_the_name).collect();
    for line in lines.iter_mut() {
        let name = line.text(3).unwrap_or_default().to_owned();
        let is_free = if is_policy(line) {
            !bound.contains(&name)
        } else if is(line, BANKS, "action") {
            !used.contains(&name)
        } else {
            is(line, &["policy"], "") && !used.iter().any(|text| has_word(text, &name))
        };
        if let Some(Fate::Missing { whole: true, traffic, .. }) = line.fate.as_mut().filter(|_| is_free) {
            *traffic = false;
        }
    }
}

const BANKS: &[&str] = &["cs", "responder", "rewrite"];

fn is_policy(line: &Pending) -> bool {
    is(line, BANKS, "policy")
}

/// A line that adds such an object, or binds something to it; no object: any.
fn is(line: &Pending, groups: &[&str], object: &str) -> bool {
    let verb = line.word(0);
    (verb == "add" || (verb == "bind" && object.is_empty()))
        && groups.contains(&&line.word(1)[..])
        && (object.is_empty() || line.word(2) == object)
}

fn words_behind_the_name(line: &Pending) -> Vec<String> {
    line.tokens.iter().skip(4).map(|token| token.text.clone()).collect()
}

/// Whether a text holds this name as a word of its own.
fn has_word(text: &str, name: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(name).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + name.len()..].starts_with(is_part) && !name.is_empty()
    })
}
