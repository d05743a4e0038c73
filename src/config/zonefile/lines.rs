//! Logical lines of a zone text (RFC 1035 §5.1): parentheses join lines, `;` begins a comment, quotes hold spaces.

use super::ZoneProblem;

/// The words of one entry.
pub(super) struct Line<'a> {
    /// Whether it begins with a space: such a record takes the owner of the one before.
    pub indented: bool,
    /// Never empty.
    pub tokens: Vec<Token<'a>>,
}

/// One word as written, escapes kept.
pub(super) struct Token<'a> {
    /// Quotes included.
    pub text: &'a str,
    pub quoted: bool,
    /// Stands against the word before it without a space: `alpn="h2"`.
    pub joined: bool,
    pub line: u32,
    pub column: u32,
}

pub(super) struct Cut<'a> {
    pub lines: Vec<Line<'a>>,
    pub problems: Vec<ZoneProblem>,
    /// Line and column of the first comment.
    pub comment: Option<(u32, u32)>,
}

/// Cuts a text into its logical lines; empty ones and comments are left out. A quoted string that is still open at the
/// end of its line, and parentheses that do not match, are problems; reading goes on with the next line.
pub(super) fn cut(text: &str) -> Cut<'_> {
    let mut cutter = Cutter {
        text,
        at: 0,
        line: 1,
        line_start: 0,
        open: Vec::new(),
        indented: false,
        tokens: Vec::new(),
        cut: Cut { lines: Vec::new(), problems: Vec::new(), comment: None },
    };
    // A byte order mark is no character of the text.
    if text.starts_with('\u{feff}') {
        cutter.at = '\u{feff}'.len_utf8();
        cutter.line_start = cutter.at;
    }
    cutter.begin_line();
    while cutter.step() {}
    cutter.finish_line();
    if let Some((line, column)) = cutter.open.first().copied() {
        cutter.cut.problems.push(ZoneProblem { line, column, what: "`(` is never closed".into() });
    }
    cutter.cut
}

struct Cutter<'a> {
    text: &'a str,
    at: usize,
    line: u32,
    /// Where the physical line begins.
    line_start: usize,
    /// Places of the parentheses that are open.
    open: Vec<(u32, u32)>,
    indented: bool,
    tokens: Vec<Token<'a>>,
    cut: Cut<'a>,
}

// === impl Token ===

impl Token<'_> {
    pub fn problem(&self, what: String) -> ZoneProblem {
        ZoneProblem { line: self.line, column: self.column, what }
    }
}

// === impl Cutter ===

impl<'a> Cutter<'a> {
    fn byte(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn column(&self, at: usize) -> u32 {
        self.text[self.line_start..at].chars().count() as u32 + 1
    }

    fn step(&mut self) -> bool {
        let Some(byte) = self.byte() else { return false };
        match byte {
            b'\n' => {
                self.at += 1;
                self.line += 1;
                self.line_start = self.at;
                if self.open.is_empty() {
                    self.finish_line();
                    self.begin_line();
                }
            }
            b' ' | b'\t' | b'\r' => self.at += 1,
            b';' => {
                self.cut.comment.get_or_insert((self.line, self.column(self.at)));
                self.at = self.text[self.at..].find('\n').map_or(self.text.len(), |n| self.at + n);
            }
            b'(' => {
                self.open.push((self.line, self.column(self.at)));
                self.at += 1;
            }
            b')' => {
                if self.open.pop().is_none() {
                    let column = self.column(self.at);
                    let what = "`)` closes nothing".into();
                    self.cut.problems.push(ZoneProblem { line: self.line, column, what });
                }
                self.at += 1;
            }
            b'"' => self.quoted(),
            _ => self.word(),
        }
        true
    }

    fn begin_line(&mut self) {
        self.indented = matches!(self.byte(), Some(b' ' | b'\t'));
    }

    fn finish_line(&mut self) {
        let tokens = std::mem::take(&mut self.tokens);
        if !tokens.is_empty() {
            self.cut.lines.push(Line { indented: self.indented, tokens });
        }
    }

    fn quoted(&mut self) {
        let start = self.at;
        self.at += 1;
        loop {
            match self.byte() {
                None | Some(b'\n') => {
                    let column = self.column(start);
                    let what = "the quoted string is not closed on its line".into();
                    self.cut.problems.push(ZoneProblem { line: self.line, column, what });
                    return;
                }
                Some(b'"') => {
                    self.at += 1;
                    break;
                }
                Some(b'\\') => self.skip_escaped(),
                Some(_) => self.at += 1,
            }
        }
        self.push(start, true);
    }

    fn word(&mut self) {
        let start = self.at;
        while let Some(byte) = self.byte() {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' | b'(' | b')' | b';' | b'"' => break,
                b'\\' => self.skip_escaped(),
                _ => self.at += 1,
            }
        }
        self.push(start, false);
    }

    /// Past the backslash and the character it escapes; never past the end of the line.
    fn skip_escaped(&mut self) {
        self.at += 1;
        match self.text[self.at..].chars().next() {
            None | Some('\n') => {}
            Some(c) => self.at += c.len_utf8(),
        }
    }

    fn push(&mut self, start: usize, quoted: bool) {
        let (line, column) = (self.line, self.column(start));
        let joined =
            start > 0 && !matches!(self.text.as_bytes()[start - 1], b' ' | b'\t' | b'\r' | b'\n' | b'(' | b')');
        self.tokens.push(Token { text: &self.text[start..self.at], quoted, joined, line, column });
    }
}
