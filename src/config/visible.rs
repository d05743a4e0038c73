//! TOML that a terminal shows as it is, and that still says the same.
//!
//! A basic string has escapes. A literal one has none, so it becomes a basic one where it holds what a terminal would obey;
//! in a comment it is written out. Nowhere else can such a character stand.

use std::borrow::Cow;

use crate::model::visible::{is_hidden, visible};

/// `text` is TOML; of what is none the like is made, of which nothing is promised but that it can be printed.
pub fn toml(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    // The two ends of a line mean the same everywhere in TOML.
    let text = text.replace("\r\n", "\n");
    let mut out = String::with_capacity(text.len() + 64);
    let mut rest = &text[..];
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '#' => rest.find('\n').unwrap_or(rest.len()),
            '"' | '\'' => string(rest, first),
            _ => first.len_utf8(),
        };
        let (token, after) = rest.split_at(length);
        match first {
            '"' if token.contains(is_hidden) => push_escaped(&mut out, token),
            '\'' if token.contains(is_hidden) => push_basic(&mut out, token),
            _ => out.push_str(&visible(token)),
        }
        rest = after;
    }
    Cow::Owned(out)
}

/// Bytes of the string that `text` begins with, its quotes included.
fn string(text: &str, quote: char) -> usize {
    let is_long = text.starts_with("\"\"\"") || text.starts_with("'''");
    let begin = if is_long { 3 } else { 1 };
    let mut quotes = 0;
    let mut chars = text[begin..].char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' if quote == '"' => {
                chars.next();
                quotes = 0;
            }
            c if c == quote => {
                quotes += 1;
                // Up to two quotes may stand before the three that end a long one.
                let goes_on = text[begin + at + 1..].starts_with(quote) && quotes < 5;
                if !is_long || (quotes >= 3 && !goes_on) {
                    return begin + at + 1;
                }
            }
            _ => quotes = 0,
        }
    }
    text.len()
}

fn push_escaped(out: &mut String, text: &str) {
    for c in text.chars() {
        if is_hidden(c) { out.push_str(&format!("\\u{:04X}", u32::from(c))) } else { out.push(c) }
    }
}

/// A literal string as a basic one.
fn push_basic(out: &mut String, literal: &str) {
    let marks = if literal.starts_with("'''") { 3 } else { 1 };
    let quotes = &"\"\"\""[..marks];
    let inside = literal.get(marks..literal.len().saturating_sub(marks)).unwrap_or_default();
    out.push_str(quotes);
    push_escaped(out, &inside.replace('\\', "\\\\").replace('"', "\\\""));
    out.push_str(quotes);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::edit::to_json;

    const ALL: &str = "# \u{9b}31m \"'\na = \"x\u{202e}\\u001b \\\" ' # y\" # \u{9b}\r\nb = 'a\\b\"\u{9b}'\nc = '''\nq'\u{202e}''x\\'''\n\
                       d = \"\"\"\n\"\"\u{202e}\\\"\"\"\"\" # z\n\"e\u{2066}\" = ''\nf = \"\"\n'g' = ['\u{85}', \"'\"]\n";

    #[test]
    fn what_a_terminal_would_obey_is_escaped_and_the_configuration_is_the_same() {
        let shown = toml(ALL);
        assert!(!shown.contains(is_hidden), "{shown}");
        assert_eq!(to_json(&shown).unwrap(), to_json(ALL).unwrap(), "{shown}");
        assert!(shown.starts_with("# \\u{9b}31m \"'\na = \"x\\u202E\\u001b"), "{shown}");
        assert!(matches!(toml("a = 'ü' # ok\n"), Cow::Borrowed(_)));
    }

    proptest::proptest! {
        #[test]
        fn a_text_of_any_kind_keeps_what_it_says_and_holds_nothing_hidden(
            text in "(#|\"|'|\"\"\"|'''|\\\\|a = |\n|\u{1b}|\u{202e}|\u{9b}|[a-z ]){0,24}",
        ) {
            let shown = toml(&text);
            proptest::prop_assert!(!shown.contains(is_hidden));
            if let Ok(said) = to_json(&text) {
                proptest::prop_assert_eq!(to_json(&shown).ok(), Some(said));
            }
        }
    }
}
