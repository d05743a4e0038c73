//! Text to a tree of links: `A.B("x").C && !(D || E)`.

use super::Refused;

/// What operators join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Tree {
    Or(Vec<Tree>),
    And(Vec<Tree>),
    Not(Box<Tree>),
    Chain(Vec<Link>),
}

/// One part of `HTTP.REQ.HEADER("x")`: its name in upper case, and what stands in its parentheses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub name: String,
    /// As it was written, for messages and for names that are no keyword.
    pub written: String,
    /// `None`: no parentheses.
    pub arguments: Option<Vec<Argument>>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Argument {
    Text(String),
    /// `re/…/`
    Pattern(String),
    /// `GET`, `10.0.0.0/8`, `500`.
    Word(String),
}

/// Parentheses and negations in each other.
const DEPTH_MOST: usize = 64;

struct Reader<'a> {
    whole: &'a str,
    rest: &'a str,
    depth: usize,
}

/// Whether names have this character.
pub(super) fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '-'
}

pub(super) fn tree(text: &str) -> Result<Tree, Refused> {
    let mut reader = Reader { whole: text, rest: text.trim_start(), depth: 0 };
    let tree = reader.any()?;
    if reader.rest.is_empty() { Ok(tree) } else { Err(reader.wrong("an operator is missing")) }
}

/// One part of a text that is put together: `"https://" + HTTP.REQ.HOSTNAME`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    Chain {
        /// In upper case, joined by dots; the name whose parentheses hold something has `()` behind it.
        names: String,
        /// What they hold: one text.
        argument: Option<String>,
        written: String,
    },
}

/// Takes a text apart that is put together by `+`.
pub fn pieces(text: &str) -> Result<Vec<Piece>, Refused> {
    let mut reader = Reader { whole: text, rest: text.trim_start(), depth: 0 };
    let mut pieces = Vec::new();
    loop {
        pieces.push(if reader.rest.starts_with('"') {
            Piece::Text(reader.quoted()?)
        } else {
            let begin = reader.rest;
            let links = reader.chain()?;
            let written = begin[..begin.len() - reader.rest.len()].trim_end().to_owned();
            let mut argument = None;
            let mut names = Vec::new();
            for link in links {
                match (&link.arguments.unwrap_or_default()[..], argument.is_some()) {
                    ([], _) => names.push(link.name),
                    ([Argument::Text(text)], false) => {
                        argument = Some(text.clone());
                        names.push(format!("{}()", link.name));
                    }
                    _ => return Err(Refused::Unsupported(written, "no rule fills this in")),
                }
            }
            Piece::Chain { names: names.join("."), argument, written }
        });
        if reader.rest.is_empty() {
            return Ok(pieces);
        }
        if !reader.take("+") {
            return Err(reader.wrong("`+` is missing"));
        }
    }
}

// === impl Reader ===

impl Reader<'_> {
    fn wrong(&self, why: &str) -> Refused {
        let at = self.whole.chars().count() - self.rest.chars().count() + 1;
        Refused::Unreadable(self.whole.to_owned(), format!("{why} (character {at})"))
    }

    /// Takes `token` if it comes next, and the space behind it.
    fn take(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn any(&mut self) -> Result<Tree, Refused> {
        let mut all = vec![self.both()?];
        while self.take("||") {
            all.push(self.both()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Tree::Or(all) })
    }

    fn both(&mut self) -> Result<Tree, Refused> {
        let mut all = vec![self.one()?];
        while self.take("&&") {
            all.push(self.one()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Tree::And(all) })
    }

    fn one(&mut self) -> Result<Tree, Refused> {
        self.depth += 1;
        if self.depth > DEPTH_MOST {
            return Err(self.wrong("it is nested too deep"));
        }
        let tree = if self.take("!") {
            Tree::Not(Box::new(self.one()?))
        } else if self.take("(") {
            let inner = self.any()?;
            if !self.take(")") {
                return Err(self.wrong("a parenthesis does not end"));
            }
            inner
        } else {
            Tree::Chain(self.chain()?)
        };
        self.depth -= 1;
        Ok(tree)
    }

    fn chain(&mut self) -> Result<Vec<Link>, Refused> {
        let mut links = vec![self.link()?];
        while self.take(".") {
            links.push(self.link()?);
        }
        Ok(links)
    }

    fn link(&mut self) -> Result<Link, Refused> {
        let end = self.rest.find(|c| !is_of_name(c)).unwrap_or(self.rest.len());
        if end == 0 {
            return Err(self.wrong("a name is missing"));
        }
        let written = self.rest[..end].to_owned();
        self.rest = self.rest[end..].trim_start();
        let arguments = if self.take("(") { Some(self.arguments()?) } else { None };
        Ok(Link { name: written.to_ascii_uppercase(), written, arguments })
    }

    fn arguments(&mut self) -> Result<Vec<Argument>, Refused> {
        let mut arguments = Vec::new();
        if self.take(")") {
            return Ok(arguments);
        }
        loop {
            arguments.push(self.argument()?);
            if self.take(")") {
                return Ok(arguments);
            }
            if !self.take(",") {
                return Err(self.wrong("`,` or `)` is missing"));
            }
        }
    }

    fn argument(&mut self) -> Result<Argument, Refused> {
        match self.rest.chars().next() {
            Some('"') => self.quoted().map(Argument::Text),
            Some('r' | 'R') if self.pattern_begins() => self.pattern().map(Argument::Pattern),
            _ => {
                let end = self.rest.find([',', ')', '(', '"']).unwrap_or(self.rest.len());
                let word = self.rest[..end].trim();
                if word.is_empty() {
                    return Err(self.wrong("an argument is missing"));
                }
                if self.rest[end..].starts_with(['(', '"']) {
                    return Err(self.wrong("an expression as argument is not carried over"));
                }
                self.rest = &self.rest[end..];
                Ok(Argument::Word(word.to_owned()))
            }
        }
    }

    fn quoted(&mut self) -> Result<String, Refused> {
        let mut text = String::new();
        let mut chars = self.rest.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.rest = self.rest[at + 1..].trim_start();
                    return Ok(text);
                }
                '\\' => match chars.next() {
                    Some((_, 't')) => text.push('\t'),
                    Some((_, 'n')) => text.push('\n'),
                    Some((_, 'r')) => text.push('\r'),
                    Some((_, escaped)) => text.push(escaped),
                    None => break,
                },
                c => text.push(c),
            }
        }
        Err(self.wrong("a quote does not end"))
    }

    /// `re` and a delimiter that no word has.
    fn pattern_begins(&self) -> bool {
        let after =
            self.rest.get(..2).filter(|re| re.eq_ignore_ascii_case("re")).and_then(|_| self.rest[2..].chars().next());
        after.is_some_and(|c| "/{<|~$^+=&%@`?#!".contains(c))
    }

    fn pattern(&mut self) -> Result<String, Refused> {
        let inner = &self.rest[2..];
        let opening = inner.chars().next().unwrap_or('/');
        let closing = match opening {
            '{' => '}',
            '<' => '>',
            other => other,
        };
        let mut pattern = String::new();
        let mut nested = 0;
        let mut chars = inner.char_indices().skip(1);
        while let Some((at, c)) = chars.next() {
            match c {
                // The delimiter itself; every other escape is the pattern's own.
                '\\' => match chars.next() {
                    Some((_, escaped)) if escaped == closing && !"^$+?.|{}".contains(closing) => pattern.push(escaped),
                    Some((_, escaped)) => pattern.extend(['\\', escaped]),
                    None => break,
                },
                c if c == closing && nested == 0 => {
                    self.rest = inner[at + c.len_utf8()..].trim_start();
                    return Ok(pattern);
                }
                c => {
                    if opening != closing {
                        nested += i32::from(c == opening) - i32::from(c == closing);
                    }
                    pattern.push(c);
                }
            }
        }
        Err(self.wrong("a pattern does not end"))
    }
}
