//! Text for a terminal: what would move its cursor, colour it or turn lines around is written out.
//!
//! A name, a comment or an answer of another machine may hold any character. Who prints it for people prints it through
//! [`visible`]; JSON goes through [`in_json`], TOML through [`config::visible`](crate::config::visible).

use std::borrow::Cow;

use super::id::turns_text;

/// Whether a terminal does something else with it than show it: control characters (C0, DEL, C1) but for the end of a
/// line and the tab, and marks that turn text around.
pub fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t')) || turns_text(c)
}

/// For people: an escape as `\u{1b}`, and its like. Everything else stays as it is.
pub fn visible(text: &str) -> Cow<'_, str> {
    escaped(text, |out, c| out.extend(c.escape_unicode()))
}

/// The same on one line.
pub fn on_one_line(text: &str) -> String {
    visible(text).replace('\n', "\\n").replace('\t', "\\t")
}

/// JSON that says the same: outside of its texts no such character stands.
pub fn in_json(json: &str) -> Cow<'_, str> {
    // All of them are in the first plane.
    escaped(json, |out, c| out.push_str(&format!("\\u{:04x}", u32::from(c))))
}

fn escaped(text: &str, escape: impl Fn(&mut String, char)) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_hidden(c) { escape(&mut out, c) } else { out.push(c) }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown_and_all_else_stays() {
        let evil = "a\u{1b}[31m\0\u{9b}2J\u{202e}\r\u{7f}b";
        assert_eq!(visible(evil), r"a\u{1b}[31m\u{0}\u{9b}2J\u{202e}\u{d}\u{7f}b");
        for plain in ["", "größe\tשלום\n", r"\u{1b}", "日本 🎉"] {
            assert!(matches!(visible(plain), Cow::Borrowed(same) if same == plain), "{plain}");
        }
        assert_eq!(on_one_line("a\n Done\t\u{1b}"), r"a\n Done\t\u{1b}");
    }

    #[test]
    fn json_says_the_same_and_holds_none_of_it() {
        let value = serde_json::json!({ "a\u{9b}": "\u{1b}[0m\u{202e}\u{7f} ü\n" });
        let text = format!("{value:#}");
        let shown = in_json(&text);
        assert!(!shown.contains(is_hidden), "{shown}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).unwrap(), value);
    }
}
