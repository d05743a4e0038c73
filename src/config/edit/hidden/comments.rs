//! Comments in which settings stand that are not in force: whoever comments a line out does not think of its secret.

/// Stands for such a comment.
const HIDDEN: &str = "# (a setting)";

/// A TOML text in which every comment with a `=`, a `://` or a `@` in it is replaced. Lines keep their numbers.
pub(super) fn without_settings(text: &str) -> String {
    let sets = |comment: &str| ["=", "://", "@"].iter().any(|sign| comment.contains(sign));
    replaced(text, |comment| if sets(comment) { HIDDEN } else { comment })
}

/// A TOML text without any comment. Lines keep their numbers.
pub(super) fn without(text: &str) -> String {
    replaced(text, |_| "")
}

fn replaced(text: &str, shown: impl Fn(&str) -> &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(['#', '"', '\'']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let is_comment = from.starts_with('#');
        let end = if is_comment { from.find('\n').unwrap_or(from.len()) } else { end_of_string(from) };
        let (piece, after) = from.split_at(end);
        out.push_str(if is_comment { shown(piece) } else { piece });
        rest = after;
    }
    out + rest
}

/// Where the string that `text` begins with ends, its quotation marks included.
fn end_of_string(text: &str) -> usize {
    let mark = &text[..1];
    let many = mark.repeat(3);
    let (open, escapes) = (if text.starts_with(&many) { &*many } else { mark }, mark == "\"");
    let mut at = open.len();
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(open) {
            // Of four and five marks at the end the first ones belong to the text.
            let more = if open.len() == 3 {
                rest[3..].bytes().take(2).take_while(|b| *b == mark.as_bytes()[0]).count()
            } else {
                0
            };
            return at + open.len() + more;
        }
        let step = if escapes && rest.starts_with('\\') { 2 } else { 1 };
        at += rest.chars().take(step).map(char::len_utf8).sum::<usize>();
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::without_settings;

    #[test]
    fn comments_in_which_settings_stand_are_hidden_and_nothing_else_changes() {
        for (text, kept) in [
            ("# why\nkey = 1 # because\n", "# why\nkey = 1 # because\n"),
            ("# headers = { A = \"Bearer x\" }\nkey = 1\n", "# (a setting)\nkey = 1\n"),
            ("key = \"a # b = c\" # d = e", "key = \"a # b = c\" # (a setting)"),
            ("key = 'a\\' # d = e", "key = 'a\\' # (a setting)"),
            ("key = \"a\\\" # x = y\" # z", "key = \"a\\\" # x = y\" # z"),
            ("key = \"\" # http://u:p@h/\n", "key = \"\" # (a setting)\n"),
            ("key = \"\"\"\n# a = b \"\"\"\"\" # c = d\n", "key = \"\"\"\n# a = b \"\"\"\"\" # (a setting)\n"),
            ("key = '''\n# a = b'''\n# ops@b.test", "key = '''\n# a = b'''\n# (a setting)"),
            ("\"a#=b\" = 1\n#=", "\"a#=b\" = 1\n# (a setting)"),
        ] {
            assert_eq!(without_settings(text), kept);
            assert_eq!(text.parse::<toml::Table>().unwrap(), without_settings(text).parse::<toml::Table>().unwrap());
        }
    }
}
