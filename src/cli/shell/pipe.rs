//! `… | grep [-i] [-v] PATTERN`, as NetScaler's shell has it: lines of an answer that match, or that do not.

use regex::{Regex, RegexBuilder};

use crate::netscaler::line::Token;

/// What an answer goes through.
#[derive(Debug)]
pub(super) struct Grep {
    pattern: Regex,
    invert: bool,
}

/// The command, and what its answer goes through.
pub(super) fn split(tokens: &[Token]) -> Result<(&[Token], Vec<Grep>), String> {
    let mut parts = tokens.split(|token| !token.quoted && token.text == "|");
    let command = parts.next().unwrap_or_default();
    let greps = parts.map(Grep::parse).collect::<Result<_, _>>()?;
    Ok((command, greps))
}

// === impl Grep ===

impl Grep {
    fn parse(tokens: &[Token]) -> Result<Grep, String> {
        let Some((program, rest)) = tokens.split_first() else {
            return Err("Incomplete command; | grep <pattern>".into());
        };
        if program.text != "grep" {
            return Err(format!("No such command: {}; an answer goes through grep alone", program.text));
        }
        let (mut ignore_case, mut invert, mut pattern) = (false, false, None);
        for token in rest {
            let letters = token.text.strip_prefix('-').filter(|l| !token.quoted && pattern.is_none() && !l.is_empty());
            match letters {
                Some(letters) => {
                    for letter in letters.chars() {
                        match letter {
                            'i' => ignore_case = true,
                            'v' => invert = true,
                            'E' | 'e' => {}
                            _ => return Err(format!("No such argument: -{letter}; | grep [-i] [-v] <pattern>")),
                        }
                    }
                }
                None if pattern.is_some() => return Err("Too many arguments; | grep [-i] [-v] <pattern>".into()),
                None => pattern = Some(&token.text),
            }
        }
        let pattern = pattern.ok_or("Too few arguments; | grep [-i] [-v] <pattern>")?;
        let regex = RegexBuilder::new(pattern).case_insensitive(ignore_case).build();
        let pattern = regex.map_err(|_| format!("Invalid value: {pattern} is no pattern"))?;
        Ok(Grep { pattern, invert })
    }

    /// The lines that go through.
    pub fn filter(&self, text: &str) -> String {
        let lines = text.split_inclusive('\n');
        lines.filter(|line| self.pattern.is_match(line.trim_end_matches('\n')) != self.invert).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::netscaler::line::tokens;

    fn through(line: &str, text: &str) -> Result<String, String> {
        let tokens = tokens(line).unwrap();
        let (command, greps) = split(&tokens)?;
        assert_eq!(command.len(), 2);
        Ok(greps.iter().fold(text.to_owned(), |text, grep| grep.filter(&text)))
    }

    #[test]
    fn lines_that_match_go_through() {
        let text = "\ta UP\n\tb DOWN\n\tc up\n";
        assert_eq!(through("show service", text).as_deref(), Ok(text));
        assert_eq!(through("show service | grep UP", text).as_deref(), Ok("\ta UP\n"));
        assert_eq!(through("show service | grep -i up", text).as_deref(), Ok("\ta UP\n\tc up\n"));
        assert_eq!(through("show service | grep -iv 'up$'", text).as_deref(), Ok("\tb DOWN\n"));
        assert_eq!(through("show service | grep -v UP | grep b", text).as_deref(), Ok("\tb DOWN\n"));
        assert!(through("show service | wc", text).unwrap_err().starts_with("No such command: wc"));
        assert!(through("show service | grep", text).is_err() && through("show service |", text).is_err());
        assert!(through("show service | grep -q x", text).unwrap_err().starts_with("No such argument: -q"));
        assert!(through("show service | grep '('", text).is_err());
    }
}
