//! A line to tokens, as NetScaler reads its command lines and `ns.conf`.
//!
//! Spaces separate. `q/…/`, `q{…}` and their like quote what stands between, as it is. Inside `'…'` and `"…"` a backslash escapes (`\t \n \r \" \' \\`); outside it is a plain character.
//! Parentheses that are not quoted keep their spaces until they balance. `#` at the start of a line makes a comment.

use crate::model::visible::is_hidden;

/// A word of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub text: String,
    /// A quoted word is never a keyword or an option.
    pub quoted: bool,
}

/// Errors: a quote or a parenthesis that does not end.
pub fn tokens(line: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = line.trim_start();
    if rest.starts_with('#') {
        return Ok(tokens);
    }
    while let Some(first) = rest.chars().next() {
        let (token, after) = match first {
            '"' | '\'' => quoted(rest, first)?,
            'q' => match raw(rest) {
                Some(found) => found?,
                None => bare(rest)?,
            },
            _ => bare(rest)?,
        };
        tokens.push(token);
        rest = after.trim_start();
    }
    Ok(tokens)
}

fn quoted(text: &str, quote: char) -> Result<(Token, &str), String> {
    let mut out = String::new();
    let mut chars = text.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some((_, 't')) => out.push('\t'),
                Some((_, 'n')) => out.push('\n'),
                Some((_, 'r')) => out.push('\r'),
                Some((_, escaped @ ('"' | '\'' | '\\'))) => out.push(escaped),
                Some((at, 'u')) => match hidden(&text[at + 1..]) {
                    Some((c, length)) => {
                        out.push(c);
                        chars.nth(length - 1);
                    }
                    None => out.push_str("\\u"),
                },
                // It begins nothing, and stands for itself.
                Some((_, other)) => out.extend(['\\', other]),
                None => break,
            },
            c if c == quote => return Ok((Token { text: out, quoted: true }, &text[at + c.len_utf8()..])),
            c => out.push(c),
        }
    }
    Err(format!("the quote {quote} does not end"))
}

/// `{1b}` behind `\u`, and its length: what `show ns runningConfig` writes in place of a character that a terminal would
/// obey. Of all others it is text: a pattern may hold it.
fn hidden(text: &str) -> Option<(char, usize)> {
    let (digits, _) = text.strip_prefix('{')?.split_once('}')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let c = char::from_u32(u32::from_str_radix(digits, 16).ok().filter(|_| is_number)?)?;
    is_hidden(c).then_some((c, digits.len() + 2))
}

/// What stands behind a `q` and begins a quote, and what ends it.
const RAW: [(char, char); 14] = [
    ('/', '/'),
    ('{', '}'),
    ('<', '>'),
    ('|', '|'),
    ('~', '~'),
    ('$', '$'),
    ('^', '^'),
    ('+', '+'),
    ('=', '='),
    ('&', '&'),
    ('%', '%'),
    ('@', '@'),
    ('`', '`'),
    ('?', '?'),
];

/// `q/…/`; `None` where it is a word that begins with a q.
fn raw(text: &str) -> Option<Result<(Token, &str), String>> {
    let inside = &text[1..];
    let (_, end) = RAW.into_iter().find(|(begin, _)| inside.starts_with(*begin))?;
    let inside = &inside[1..];
    Some(match inside.split_once(end) {
        Some((inside, after)) => Ok((Token { text: inside.into(), quoted: true }, after)),
        None => Err(format!("the quote {} does not end", &text[..2])),
    })
}

fn bare(text: &str) -> Result<(Token, &str), String> {
    let mut depth = 0usize;
    let mut end = text.len();
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if c.is_whitespace() && depth == 0 => {
                end = at;
                break;
            }
            _ => {}
        }
    }
    if depth > 0 {
        return Err("a parenthesis does not end".into());
    }
    Ok((Token { text: text[..end].into(), quoted: false }, &text[end..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Result<Vec<String>, String> {
        tokens(line).map(|tokens| tokens.into_iter().map(|t| t.text).collect())
    }

    #[test]
    fn words_are_separated_by_spaces_and_kept_together_by_quotes() {
        assert_eq!(words("  show\tservice  web1 ").unwrap(), ["show", "service", "web1"]);
        assert_eq!(words(r#"a "b c" 'd "e"' "f\"g\n""#).unwrap(), ["a", "b c", "d \"e\"", "f\"g\n"]);
        assert_eq!(words(r"a\b").unwrap(), [r"a\b"]);
        assert_eq!(words(r#""w\d" 'a\\b'"#).unwrap(), [r"w\d", r"a\b"]);
        assert_eq!(
            words(r#""\u{1b}[m\u{202E}" "\u{41}\u{zz}\u" \u{1b}"#).unwrap(),
            ["\u{1b}[m\u{202e}", r"\u{41}\u{zz}\u", r"\u{1b}"]
        );
        assert_eq!(words(r#"-reason """#).unwrap(), ["-reason", ""]);
        assert_eq!(words("rule HTTP.REQ(a b).C x").unwrap(), ["rule", "HTTP.REQ(a b).C", "x"]);
    }

    #[test]
    fn a_q_begins_a_quote_in_which_nothing_is_escaped() {
        assert_eq!(
            words(r#"-rule q/HTTP.REQ.URL.EQ("a\b c")/ x"#).unwrap(),
            ["-rule", r#"HTTP.REQ.URL.EQ("a\b c")"#, "x"]
        );
        assert_eq!(words("q{a b} q<c> q~d e~ quit").unwrap(), ["a b", "c", "d e", "quit"]);
        assert!(tokens("q/a b").is_err());
    }

    #[test]
    fn an_empty_line_and_a_comment_hold_no_words() {
        for line in ["", "   ", "# show service"] {
            assert_eq!(tokens(line).unwrap(), []);
        }
    }

    #[test]
    fn what_does_not_end_is_an_error() {
        for line in ["\"a", "'a", "\"a\\", "f(a b"] {
            assert!(tokens(line).is_err(), "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_line_makes_the_reader_panic(line in "\\PC{0,80}") {
            let _ = super::super::parse(&line);
        }
    }
}
