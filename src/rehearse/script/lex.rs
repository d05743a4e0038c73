//! Words of a line, read from the left; every error names the word and the nearest one that would do.

use std::net::IpAddr;
use std::time::Duration;

use crate::config::units::parse_duration;
use crate::model::id::Name;

/// The words of one line and how far they have been read.
#[derive(Clone, Debug)]
pub struct Words {
    words: Vec<String>,
    at: usize,
}

/// The nearest of `candidates`, where it is near enough to be a slip.
pub fn nearest<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let most = 1 + word.chars().count() / 3;
    let lower = word.to_lowercase();
    candidates
        .into_iter()
        .map(|candidate| (strsim::damerau_levenshtein(&lower, &candidate.to_lowercase()), candidate))
        .filter(|(distance, _)| *distance <= most)
        .min()
        .map(|(_, candidate)| candidate)
}

/// `WHAT`, and what was probably meant.
pub fn unknown<'a>(what: &str, word: &str, candidates: impl IntoIterator<Item = &'a str>) -> String {
    match nearest(word, candidates) {
        Some(meant) => format!("{what} `{word}`; did you mean `{meant}`?"),
        None => format!("{what} `{word}`"),
    }
}

// === impl Words ===

impl Words {
    /// Splits at blanks. `"two words"` is one word; `#` at the beginning of a word ends the line.
    pub fn split(line: &str) -> Result<Words, String> {
        let mut words = Vec::new();
        let mut chars = line.chars().peekable();
        while let Some(&first) = chars.peek() {
            if first.is_whitespace() {
                chars.next();
            } else if first == '#' {
                break;
            } else {
                words.push(word(&mut chars)?);
            }
        }
        Ok(Words { words, at: 0 })
    }

    pub fn is_done(&self) -> bool {
        self.at == self.words.len()
    }

    pub fn peek(&self) -> Option<&str> {
        self.words.get(self.at).map(String::as_str)
    }

    /// What is left, joined by single blanks.
    pub fn rest(&self) -> String {
        self.words[self.at..].join(" ")
    }

    pub fn next(&mut self) -> Option<String> {
        let word = self.words.get(self.at).cloned();
        self.at += usize::from(word.is_some());
        word
    }

    /// Takes the next word where it is this one.
    pub fn take(&mut self, word: &str) -> bool {
        let is_next = self.peek().is_some_and(|next| next.eq_ignore_ascii_case(word));
        self.at += usize::from(is_next);
        is_next
    }

    /// The next word; `what` says which one is missing.
    pub fn expect(&mut self, what: &str) -> Result<String, String> {
        self.next().ok_or_else(|| format!("{what} is missing at the end of the line"))
    }

    pub fn name(&mut self, what: &str) -> Result<Name, String> {
        Ok(self.expect(what)?.into())
    }

    pub fn duration(&mut self, what: &str) -> Result<Duration, String> {
        let word = self.expect(what)?;
        parse_duration(&word)
    }

    pub fn number(&mut self, what: &str) -> Result<u64, String> {
        let word = self.expect(what)?;
        word.parse().map_err(|_| format!("`{word}` is not a whole number ({what})"))
    }

    pub fn ip(&mut self, what: &str) -> Result<IpAddr, String> {
        let word = self.expect(what)?;
        word.parse().map_err(|_| format!("`{word}` is not an IP address ({what})"))
    }

    /// The next word as one of `choices`, whatever its case.
    pub fn choice<T: Copy>(&mut self, what: &str, choices: &[(&'static str, T)]) -> Result<T, String> {
        let all = || choices.iter().map(|(word, _)| *word).collect::<Vec<_>>().join(", ");
        let Some(word) = self.next() else { return Err(format!("{what} is missing: one of {}", all())) };
        match choices.iter().find(|(choice, _)| choice.eq_ignore_ascii_case(&word)) {
            Some((_, value)) => Ok(*value),
            None => {
                let unknown = unknown(&format!("unknown {what}"), &word, choices.iter().map(|(word, _)| *word));
                Err(if unknown.ends_with('?') { unknown } else { format!("{unknown}: one of {}", all()) })
            }
        }
    }

    /// Nothing may be left.
    pub fn end(&self) -> Result<(), String> {
        match self.peek() {
            None => Ok(()),
            Some(word) => Err(format!("`{word}` is one word too many")),
        }
    }
}

fn word(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) -> Result<String, String> {
    let mut word = String::new();
    if chars.next_if_eq(&'"').is_some() {
        loop {
            match chars.next() {
                None => return Err("a double quote is not closed".into()),
                Some('"') => return Ok(word),
                Some(c) => word.push(c),
            }
        }
    }
    while let Some(c) = chars.next_if(|c| !c.is_whitespace()) {
        word.push(c);
    }
    Ok(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_may_be_quoted_and_a_comment_begins_at_a_word() {
        let mut words = Words::split("  fail dc:a.wan#0 \"two words\" # and so on").unwrap();
        assert_eq!(words.rest(), "fail dc:a.wan#0 two words");
        assert!(words.take("FAIL"));
        assert_eq!(words.next().as_deref(), Some("dc:a.wan#0"));
        assert_eq!(words.next().as_deref(), Some("two words"));
        assert!(words.is_done());
        assert!(Words::split("expect \"x").is_err());
    }

    #[test]
    fn a_slip_gets_the_word_that_was_meant() {
        assert_eq!(nearest("expct", ["expect", "fail"]), Some("expect"));
        assert_eq!(nearest("zzzzzz", ["expect", "fail"]), None);
        let mut words = Words::split("TROSF").unwrap();
        let error = words.choice("state", &[("UP", 1), ("TROFS", 2)]).unwrap_err();
        assert!(error.contains("did you mean `TROFS`?"), "{error}");
    }
}
