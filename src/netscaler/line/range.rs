//! Ranges: `svc[1-3]`.

use super::Token;
use crate::netscaler::error::NsError;

/// A line makes at most so many statements.
const MOST: u32 = 1000;

/// The line once for each value of its ranges.
pub(super) fn expanded(tokens: &[Token]) -> Result<Vec<Vec<Token>>, NsError> {
    // Values of keywords hold brackets of their own: expressions, requests, IPv6.
    let plain = tokens.iter().position(|token| !token.quoted && token.text.starts_with('-')).unwrap_or(tokens.len());
    let mut most: Option<u32> = None;
    for token in tokens[..plain].iter().filter(|token| !token.quoted) {
        let Some(range) = range(&token.text) else { continue };
        let count = range.to - range.from + 1;
        if count > MOST {
            return Err(NsError::bad_value("range", &token.text).because(&format!("at most {MOST}")));
        }
        if most.is_some_and(|most| most != count) {
            return Err(NsError::new(278).because("the ranges of a line must be as long as each other"));
        }
        most = Some(count);
    }
    let Some(count) = most else { return Ok(vec![tokens.to_vec()]) };
    let nth = |at: u32| {
        let one = |(index, token): (usize, &Token)| match range(&token.text).filter(|_| index < plain && !token.quoted)
        {
            Some(range) => Token { text: range.value(at), quoted: false },
            None => token.clone(),
        };
        tokens.iter().enumerate().map(one).collect()
    };
    Ok((0..count).map(nth).collect())
}

struct Range<'a> {
    before: &'a str,
    from: u32,
    to: u32,
    /// Digits, where the first number begins with a zero.
    width: usize,
    after: &'a str,
}

fn range(text: &str) -> Option<Range<'_>> {
    let (before, rest) = text.split_once('[')?;
    let (inside, after) = rest.split_once(']')?;
    let (from, to) = inside.split_once('-')?;
    let digits = |text: &str| !text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit());
    if !digits(from) || !digits(to) {
        return None;
    }
    let width = if from.starts_with('0') && from.len() > 1 { from.len() } else { 0 };
    let (from, to) = (from.parse().ok()?, to.parse().ok()?);
    (from <= to).then_some(Range { before, from, to, width, after })
}

// === impl Range ===

impl Range<'_> {
    fn value(&self, at: u32) -> String {
        format!("{}{:0width$}{}", self.before, self.from + at, self.after, width = self.width)
    }
}
