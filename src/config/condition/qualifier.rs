//! What stands in the braces of a term.

use std::time::Duration;

use super::{Cursor, RawTerm, TermError, canonical, id};
use crate::config::units::parse_duration;
use crate::model::condition::{Measure, Statistic, Window};

pub(super) const STATISTICS: [(&str, Statistic); 5] = [
    ("avg", Statistic::Average),
    ("last", Statistic::Last),
    ("p50", Statistic::P50),
    ("p95", Statistic::P95),
    ("p99", Statistic::P99),
];

/// Counts of samples, and of state changes: what is kept for a check is bounded by it.
const COUNT: std::ops::RangeInclusive<u32> = 1..=1000;
const LONGEST_WINDOW: Duration = Duration::from_secs(3_600);
/// Holds and the span of `flaps`; far from where tick arithmetic would saturate.
const LONGEST_HOLD: Duration = Duration::from_secs(400 * 86_400);
const DEFAULT_WINDOW: Window = Window::Samples(20);
const WORDS: [&str; 5] = ["fails", "passes", "flaps", "latency", "for"];

/// The braces of a term.
#[derive(Default)]
pub(super) struct Qualifiers {
    /// Where the brace opens; `None`: no braces.
    pub at: Option<usize>,
    pub measure: Option<Measure>,
    pub hold: Option<Duration>,
    /// Set where `for` stood before the measure.
    out_of_order: Option<usize>,
}

/// Reads from `{` to `}`.
pub(super) fn parse(cursor: &mut Cursor) -> Result<Qualifiers, TermError> {
    let mut found = Qualifiers { at: Some(cursor.at), ..Qualifiers::default() };
    cursor.expect("{")?;
    cursor.skip_spaces();
    if cursor.peek() == Some('}') {
        return Err(TermError::new(cursor.at, "the braces are empty; leave them out or say what must hold"));
    }
    loop {
        qualifier(cursor, &mut found)?;
        cursor.skip_spaces();
        if cursor.eat("}") {
            return Ok(found);
        }
        if !cursor.eat(",") {
            return Err(cursor.unexpected("`,` or `}`"));
        }
    }
}

/// Whether the qualifiers suit the id and its `!`.
pub(super) fn fit(id: &str, negated: bool, found: &Qualifiers) -> Result<(), TermError> {
    let at = found.at.unwrap_or(0);
    let as_written = RawTerm { id: id.into(), negated, measure: found.measure, hold: found.hold };
    if let Some((prefix, what)) = id::prefix(id)
        && found.measure.is_some()
    {
        let what = format!("`{prefix}:` names {what}, which has no samples to measure; `for` is what it can take");
        return Err(TermError::new(at, what));
    }
    if let Some(at) = found.out_of_order {
        return Err(TermError::new(at, "the measure stands before `for`").meaning(Some(canonical(&as_written))));
    }
    let other = || Some(canonical(&RawTerm { negated: !negated, ..as_written.clone() }));
    match (found.measure, negated) {
        (Some(Measure::Fails(_)), false) => {
            Err(TermError::new(at, "`fails` counts failed samples and needs the `!` of a check that is down")
                .meaning(other()))
        }
        (Some(Measure::Passes(_)), true) => {
            Err(TermError::new(at, "`passes` counts passed samples and stands without `!`").meaning(other()))
        }
        (Some(Measure::Latency { .. }), true) => {
            Err(TermError::new(at, "`latency` stands without `!`").meaning(other()))
        }
        _ => Ok(()),
    }
}

/// The known word nearest to a misspelt one, if any is near.
pub(super) fn nearest<'a>(word: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|k| (strsim::damerau_levenshtein(word, k), k))
        .filter(|(distance, k)| *distance <= 1 + k.len() / 3)
        .min()
        .map(|(_, k)| k)
}

fn qualifier(cursor: &mut Cursor, found: &mut Qualifiers) -> Result<(), TermError> {
    cursor.skip_spaces();
    let at = cursor.at;
    let word = cursor.take_while(|c| c.is_alphanumeric() || c == '_' || c == '-');
    if word == "for" {
        cursor.expect(":")?;
        let hold = duration(cursor, LONGEST_HOLD)?;
        if found.hold.replace(hold).is_some() {
            return Err(TermError::new(at, "`for` stands twice"));
        }
        return Ok(());
    }
    let measure = match word {
        "fails" => {
            cursor.expect(":")?;
            Measure::Fails(count(cursor)?)
        }
        "passes" => {
            cursor.expect(":")?;
            Measure::Passes(count(cursor)?)
        }
        "flaps" => flaps(cursor)?,
        "latency" => latency(cursor)?,
        "" => return Err(cursor.unexpected("a qualifier")),
        _ => {
            let what = format!("unknown qualifier `{word}`; known: {}", WORDS.join(", "));
            return Err(TermError::new(at, what).meaning(nearest(word, WORDS).map(Into::into)));
        }
    };
    if found.measure.replace(measure).is_some() {
        return Err(TermError::new(at, "a term takes one measure; write two terms in the group"));
    }
    if found.hold.is_some() {
        found.out_of_order = Some(at);
    }
    Ok(())
}

fn flaps(cursor: &mut Cursor) -> Result<Measure, TermError> {
    cursor.expect("<")?;
    let fewer_than = count(cursor)?;
    cursor.expect("in")?;
    Ok(Measure::Flaps { fewer_than, within: duration(cursor, LONGEST_HOLD)? })
}

fn latency(cursor: &mut Cursor) -> Result<Measure, TermError> {
    if !cursor.eat(".") {
        let known = STATISTICS.map(|(known, _)| known).join(", ");
        return Err(TermError::new(cursor.at, format!("`latency` needs a statistic, as in `latency.p95`: {known}")));
    }
    cursor.skip_spaces();
    let at = cursor.at;
    let word = cursor.take_while(char::is_alphanumeric);
    let Some(&(_, statistic)) = STATISTICS.iter().find(|(known, _)| *known == word) else {
        let known = STATISTICS.map(|(known, _)| known);
        let what = format!("unknown statistic `{word}` of latency; known: {}", known.join(", "));
        return Err(TermError::new(at, what).meaning(nearest(word, known).map(|k| format!("latency.{k}"))));
    };
    cursor.expect("<")?;
    let below = duration(cursor, LONGEST_WINDOW)?;
    // The last sample needs no window; asking for twenty before it counts would surprise.
    let mut over = if statistic == Statistic::Last { Window::Samples(1) } else { DEFAULT_WINDOW };
    if word_follows(cursor, "over") {
        over = window(cursor)?;
    }
    let leave_at = leave_at(cursor, below)?;
    Ok(Measure::Latency { statistic, below, over, leave_at })
}

fn window(cursor: &mut Cursor) -> Result<Window, TermError> {
    cursor.skip_spaces();
    let at = cursor.at;
    let digits = cursor.take_while(|c| c.is_ascii_digit());
    cursor.skip_spaces();
    if !digits.is_empty() && (cursor.eat("samples") || cursor.eat("sample")) {
        return number(digits, at).map(Window::Samples);
    }
    cursor.at = at;
    duration(cursor, LONGEST_WINDOW).map(Window::Span)
}

/// `, leave at 100ms`, if it follows. The comma may as well begin the next qualifier, so it is put back otherwise.
fn leave_at(cursor: &mut Cursor, below: Duration) -> Result<Option<Duration>, TermError> {
    let before = cursor.at;
    cursor.skip_spaces();
    if !(cursor.eat(",") && word_follows(cursor, "leave")) {
        cursor.at = before;
        return Ok(None);
    }
    cursor.expect("at")?;
    cursor.skip_spaces();
    let at = cursor.at;
    let leave = duration(cursor, LONGEST_WINDOW)?;
    if leave <= below {
        return Err(TermError::new(at, "`leave at` must be above the latency that it leaves"));
    }
    Ok(Some(leave))
}

fn word_follows(cursor: &mut Cursor, word: &str) -> bool {
    let before = cursor.at;
    cursor.skip_spaces();
    if cursor.take_while(char::is_alphanumeric) == word {
        return true;
    }
    cursor.at = before;
    false
}

fn count(cursor: &mut Cursor) -> Result<u32, TermError> {
    cursor.skip_spaces();
    let at = cursor.at;
    let digits = cursor.take_while(|c| c.is_ascii_digit());
    if digits.is_empty() {
        return Err(cursor.unexpected("a number"));
    }
    number(digits, at)
}

fn number(digits: &str, at: usize) -> Result<u32, TermError> {
    digits
        .parse()
        .ok()
        .filter(|n| COUNT.contains(n))
        .ok_or_else(|| TermError::new(at, format!("{digits} is outside {}..={}", COUNT.start(), COUNT.end())))
}

fn duration(cursor: &mut Cursor, longest: Duration) -> Result<Duration, TermError> {
    cursor.skip_spaces();
    let at = cursor.at;
    let text = cursor.take_while(|c| c.is_alphanumeric() || c == '.' || c == '-');
    if text.is_empty() {
        return Err(cursor.unexpected("a duration"));
    }
    let duration = parse_duration(text).map_err(|what| TermError::new(at, what))?;
    if duration.is_zero() {
        return Err(TermError::new(at, "a duration of zero says nothing; leave the qualifier out"));
    }
    if duration > longest {
        let longest = crate::config::units::format_duration(longest);
        return Err(TermError::new(at, format!("`{text}` is longer than {longest}")));
    }
    Ok(duration)
}
