//! What of a line nobody is to read who reads about it: a saved `ns.conf` has passwords in the clear or as hashes
//! that can be guessed at, and what became of its lines is told on screens and over the network.

use super::super::export::quoted;
use super::super::line::Token;

/// What stands in a secret's place.
pub(super) const HIDDEN: &str = "(hidden)";

/// What names of secrets have in them, in lower case.
const MARKS: [&str; 11] = [
    "passw",
    "passcrypt",
    "passphrase",
    "passplain",
    "secret",
    "radkey",
    "community",
    "authkey",
    "privkey",
    "keyvalue",
    "preshared",
];

/// Where a secret stands without a keyword: the words before it, and how many further ones it follows.
const BARE: [(&[&str], usize); 4] =
    [(&["system", "user"], 1), (&["aaa", "user"], 1), (&["snmp", "community"], 0), (&["db", "user"], 1)];

/// Whether an argument of this name holds a secret.
pub(super) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    MARKS.iter().any(|mark| name.contains(mark))
}

/// A line without its secrets; as it is where it has none.
pub(super) fn without(text: String, tokens: &[Token]) -> String {
    let follows = |at: usize| {
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        before.is_some_and(|b| !b.quoted && b.text.strip_prefix('-').is_some_and(is_secret))
    };
    let bare = BARE.iter().find_map(|(words, further)| {
        let is_it = words.iter().zip(tokens.iter().skip(1)).all(|(word, token)| token.text.eq_ignore_ascii_case(word));
        (is_it && tokens.len() > words.len()).then_some(1 + words.len() + further)
    });
    let is_bare = |at: usize| bare == Some(at) && (tokens[at].quoted || !tokens[at].text.starts_with('-'));
    let hidden: Vec<bool> = (0..tokens.len()).map(|at| follows(at) || is_bare(at)).collect();
    if !hidden.contains(&true) {
        return text;
    }
    let words = tokens.iter().zip(hidden).map(|(token, hidden)| match hidden {
        true => HIDDEN.to_owned(),
        // A keyword stays one; what was quoted is again where it needs to be.
        false if !token.quoted => token.text.clone(),
        false => quoted(&token.text),
    });
    words.collect::<Vec<_>>().join(" ")
}
