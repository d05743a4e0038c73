//! Values as a line holds them.

use crate::model::visible::is_hidden;

/// As it is where it is one plain word, else in double quotes.
pub fn quoted(text: &str) -> String {
    // What could be a keyword, a comment, a range or a quote is quoted.
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_.:/@=,+*%!-".contains(c);
    let begins = |c: char| c.is_ascii_alphanumeric() || "_./*:".contains(c);
    let is_quote = text.starts_with('q') && text[1..].starts_with(|c: char| !c.is_ascii_alphanumeric());
    if text.starts_with(begins) && text.chars().all(is_plain) && !is_quote {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if is_hidden(c) => out.push_str(&c.escape_unicode().to_string()),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
