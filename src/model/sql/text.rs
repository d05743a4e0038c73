//! `:name` in a statement becomes what its database calls a parameter; the value goes beside it.
//!
//! Names stand outside of texts, quoted names and comments alone, by the rules of each database. `::` (a cast of
//! PostgreSQL's) and `:=` are no names.

use super::Dialect;

/// A statement in its database's own words, and the values of its parameters.
#[derive(Debug, PartialEq, Eq)]
pub struct Text<'a> {
    pub sql: String,
    /// Parameter by parameter, with names for Oracle.
    pub values: Vec<(String, &'a str)>,
}

/// One part of a statement.
enum Part<'a> {
    /// As it stands: a text, a comment, anything else.
    Plain(&'a str),
    Name(&'a str),
}

/// The names in a statement, in their order, as they are written.
pub fn names(dialect: Dialect, sql: &str) -> Vec<&str> {
    let name = |part| match part {
        Part::Name(name) => Some(name),
        Part::Plain(_) => None,
    };
    parts(dialect, sql).into_iter().filter_map(name).collect()
}

/// Whether the first word is one that reads. Comments and brackets before it are passed over.
pub fn only_reads(sql: &str) -> bool {
    let word = first_word(sql);
    word.eq_ignore_ascii_case("select") || word.eq_ignore_ascii_case("with")
}

fn first_word(sql: &str) -> &str {
    let mut rest = sql;
    loop {
        rest = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
        if rest.starts_with("--") {
            rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
        } else if rest.starts_with("/*") {
            rest = rest.split_once("*/").map_or("", |(_, rest)| rest);
        } else {
            break;
        }
    }
    rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or("")
}

// === impl Text ===

impl<'a> Text<'a> {
    /// Errors: a name that has no value, in words.
    pub fn new(dialect: Dialect, sql: &str, binds: &[(&str, &'a str)]) -> Result<Text<'a>, String> {
        let mut text = Text { sql: String::with_capacity(sql.len()), values: Vec::new() };
        // A block of PL/SQL ends in one, a statement does not.
        let is_block = ["begin", "declare"].iter().any(|word| first_word(sql).eq_ignore_ascii_case(word));
        let sql = if is_block { sql.trim() } else { sql.trim().trim_end_matches(';') };
        if sql.contains('\0') {
            return Err("the statement has a zero byte".to_owned());
        }
        for part in parts(dialect, sql) {
            let name = match part {
                Part::Plain(plain) => {
                    text.sql.push_str(plain);
                    continue;
                }
                Part::Name(name) => name,
            };
            let Some((_, value)) = binds.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)) else {
                let known = binds.iter().map(|(known, _)| format!(":{known}")).collect::<Vec<_>>().join(", ");
                let known = if known.is_empty() { "none".to_owned() } else { known };
                return Err(format!("the statement names :{name}, which has no value; there is {known}"));
            };
            text.push(dialect, name, value);
        }
        Ok(text)
    }

    fn push(&mut self, dialect: Dialect, name: &str, value: &'a str) {
        let name = format!("b_{}", name.to_ascii_lowercase());
        let seen = self.values.iter().position(|(known, _)| *known == name);
        match dialect {
            // One question mark, one value.
            Dialect::Mysql => {
                self.sql.push('?');
                self.values.push((name, value));
                return;
            }
            Dialect::Postgresql => self.sql.push_str(&format!("${}", seen.unwrap_or(self.values.len()) + 1)),
            Dialect::Oracle => self.sql.push_str(&format!(":{name}")),
        }
        if seen.is_none() {
            self.values.push((name, value));
        }
    }
}

fn parts(dialect: Dialect, sql: &str) -> Vec<Part<'_>> {
    let bytes = sql.as_bytes();
    let mut parts = Vec::new();
    let (mut at, mut plain) = (0, 0);
    while at < bytes.len() {
        let rest = &sql[at..];
        let length = protected(dialect, sql, at);
        if length > 0 {
            at += length;
        } else if rest.starts_with("::") || rest.starts_with(":=") {
            at += 2;
        } else if bytes[at] == b':' && rest[1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            let end =
                rest[1..].find(|c: char| !c.is_ascii_alphanumeric() && c != '_').map_or(rest.len(), |end| end + 1);
            parts.push(Part::Plain(&sql[plain..at]));
            parts.push(Part::Name(&rest[1..end]));
            at += end;
            plain = at;
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
    }
    parts.push(Part::Plain(&sql[plain..]));
    parts
}

/// The length of the text, quoted name or comment that begins here; 0: none does. One without an end goes to the end.
fn protected(dialect: Dialect, sql: &str, at: usize) -> usize {
    let rest = &sql[at..];
    let before = sql[..at].chars().next_back();
    let is_word_before = before.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '$');
    let to = |end: &str, from: usize| rest[from..].find(end).map_or(rest.len(), |found| from + found + end.len());
    let first = rest.as_bytes()[0];
    match first {
        b'-' if rest.starts_with("--") => to("\n", 2),
        b'#' if dialect == Dialect::Mysql => to("\n", 1),
        b'/' if rest.starts_with("/*") && dialect == Dialect::Postgresql => nested(rest),
        b'/' if rest.starts_with("/*") => to("*/", 2),
        b'`' if dialect == Dialect::Mysql => quoted(rest, 0, '`', false),
        b'"' => quoted(rest, 0, '"', dialect == Dialect::Mysql),
        b'\'' => quoted(rest, 0, '\'', dialect == Dialect::Mysql),
        b'e' | b'E' if dialect == Dialect::Postgresql && !is_word_before && rest[1..].starts_with('\'') => {
            quoted(rest, 1, '\'', true)
        }
        b'q' | b'Q' if dialect == Dialect::Oracle && !is_word_before && rest[1..].starts_with('\'') => {
            let Some(open) = rest[2..].chars().next() else { return rest.len() };
            let close = match open {
                '[' => ']',
                '{' => '}',
                '(' => ')',
                '<' => '>',
                other => other,
            };
            to(&format!("{close}'"), 2 + open.len_utf8())
        }
        b'$' if dialect == Dialect::Postgresql && !is_word_before => {
            let tag = rest[1..].find('$').map(|end| &rest[..end + 2]);
            let is_tag = |tag: &&str| {
                let inside = &tag[1..tag.len() - 1];
                inside.chars().all(|c| c.is_alphanumeric() || c == '_')
                    && !inside.starts_with(|c: char| c.is_ascii_digit())
            };
            tag.filter(is_tag).map_or(0, |tag| to(tag, tag.len()))
        }
        _ => 0,
    }
}

/// The length of a quoted thing whose quote stands at `from`. A doubled quote needs no care: what follows it is quoted
/// again.
fn quoted(text: &str, from: usize, quote: char, backslash: bool) -> usize {
    let mut is_escaped = false;
    for (at, c) in text.char_indices().filter(|(at, _)| *at > from) {
        match c {
            _ if is_escaped => is_escaped = false,
            '\\' if backslash => is_escaped = true,
            _ if c == quote => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// A comment of PostgreSQL's, in which others may stand.
fn nested(text: &str) -> usize {
    let (mut depth, mut at) = (0_usize, 0);
    let bytes = text.as_bytes();
    while at + 1 < bytes.len() {
        match &bytes[at..at + 2] {
            b"/*" => {
                depth += 1;
                at += 2;
            }
            b"*/" => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINDS: [(&str, &str); 2] = [("seq", "7"), ("cause", "it's; DROP TABLE x")];

    fn text(dialect: Dialect, sql: &str) -> (String, Vec<String>) {
        let text = Text::new(dialect, sql, &BINDS).unwrap();
        (text.sql, text.values.into_iter().map(|(_, value)| value.to_owned()).collect())
    }

    #[test]
    fn each_database_gets_its_own_parameters_and_the_values_apart() {
        let sql = "insert into t values (:seq, :cause, :SEQ);";
        let cause = BINDS[1].1.to_owned();
        let two = vec!["7".to_owned(), cause.clone()];
        assert_eq!(text(Dialect::Postgresql, sql), ("insert into t values ($1, $2, $1)".to_owned(), two.clone()));
        assert_eq!(text(Dialect::Oracle, sql), ("insert into t values (:b_seq, :b_cause, :b_seq)".to_owned(), two));
        let three = vec!["7".to_owned(), cause, "7".to_owned()];
        assert_eq!(text(Dialect::Mysql, sql), ("insert into t values (?, ?, ?)".to_owned(), three));
    }

    #[test]
    fn names_in_texts_quoted_names_and_comments_are_left_alone() {
        for (dialect, sql) in [
            (Dialect::Postgresql, "select ':seq', 'it''s :seq', \":seq\", now()::date /* :a /* :b */ :c */ -- :d\n, 1"),
            (Dialect::Postgresql, "select $$:seq$$, $t$ :a $$ :b $t$, e'\\':seq', 1"),
            (Dialect::Oracle, "begin x := 1; y(q'[it's :seq]', q'!:a'b!', ':seq'); end;"),
            (Dialect::Mysql, "select 'a\\':seq', \"b\\\":seq\", `:seq` # :seq"),
            (Dialect::Mysql, "select ':seq"),
        ] {
            assert_eq!(text(dialect, sql), (sql.to_owned(), vec![]), "{sql}");
        }
        // A backslash is nothing special to standard texts.
        assert_eq!(text(Dialect::Postgresql, "select 'a\\', :seq").0, "select 'a\\', $1");
        assert_eq!(text(Dialect::Postgresql, "select :seq::int").0, "select $1::int");
    }

    #[test]
    fn a_name_without_a_value_is_said() {
        let why = Text::new(Dialect::Oracle, "select :sek from dual", &BINDS).unwrap_err();
        assert_eq!(why, "the statement names :sek, which has no value; there is :seq, :cause");
        assert!(Text::new(Dialect::Oracle, "select :sek from dual", &[]).unwrap_err().ends_with("there is none"));
        assert!(Text::new(Dialect::Oracle, "select \0", &[]).is_err());
        assert_eq!(names(Dialect::Mysql, "select :a, ':b', :C"), ["a", "C"]);
    }

    #[test]
    fn only_statements_that_begin_with_a_reading_word_read() {
        for sql in ["select 1", " /* a */ -- b\n(WITH x as (select 1) select 2", "SELECT*from t"] {
            assert!(only_reads(sql), "{sql}");
        }
        for sql in
            ["", "delete from t", "selection", "begin select 1; end", "/* select", "-- select 1", "create table t"]
        {
            assert!(!only_reads(sql), "{sql}");
        }
    }

    #[test]
    fn no_statement_however_broken_is_read_beyond_its_end() {
        for dialect in [Dialect::Oracle, Dialect::Postgresql, Dialect::Mysql] {
            for sql in
                ["'", "q'", "q'é", "e'\\", "$", "$a", "/*", "/*/", "--", ":", "::", ":é", "\"é", "`", "#", "é:seq"]
            {
                let _ = Text::new(dialect, sql, &BINDS);
            }
        }
    }
}
