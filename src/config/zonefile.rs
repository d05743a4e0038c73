//! Zone text ⇄ records, RDATA included.
//!
//! The crate `domain` reads and prints RDATA; everything before it (logical lines, directives, owners, TTLs, classes)
//! is read here. Why: `domain`'s reader stops at the first error and must not be asked again, and it refuses TTLs such
//! as `1h30m`; an operator with ten mistakes wants to hear of ten, each with its line. So the text is cut into logical
//! lines first, and each record's data goes through a reader of its own.
//!
//! What RFC 1035 allows and Bascule does not, each a problem and never a silence: `$INCLUDE` and `$GENERATE`, classes
//! other than IN, signatures (`RRSIG`, `NSEC…`: zones are not signed beforehand), a quoted string over several lines.

mod lines;
mod rdata;
mod rules;

use crate::model::zone::{DnsName, RecordType, StaticRecord};
use lines::{Line, Token, cut};

pub use rdata::{presentation, rdata};

/// What is wrong with a zone text, and where; lines and columns start at 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ZoneProblem {
    pub line: u32,
    pub column: u32,
    pub what: String,
}

/// Largest TTL (RFC 2181 §8).
const TTL_MOST: u64 = 0x7fff_ffff;

/// Reads a zone text. `origin` is the apex of the zone and the first `$ORIGIN`; `default_ttl` (seconds) is the first
/// `$TTL`. Owners come out in lower case, RDATA in uncompressed wire form with the case of its names kept.
///
/// All problems are returned, in the order of the text: what cannot be read, records outside the zone, a CNAME beside
/// other data, two TTLs in one RRset, a record that stands twice, a SOA elsewhere than once at the apex.
pub fn read(text: &str, origin: &DnsName, default_ttl: u32) -> (Vec<StaticRecord>, Vec<ZoneProblem>) {
    let Reader { records, mut problems, .. } = Reader::through(text, origin, default_ttl);
    let records = rules::judge(records, origin, &mut problems);
    problems.sort();
    (records, problems)
}

/// What can be read of a text, each record with the line that it begins on; lines start at 1.
pub fn places(text: &str, origin: &DnsName, default_ttl: u32) -> Vec<(u32, StaticRecord)> {
    let placed = Reader::through(text, origin, default_ttl).records.into_iter();
    placed.map(|placed| (placed.line, placed.record)).collect()
}

/// Seconds: plain, or in BIND's form (`1h30m`, `2W`; units w, d, h, m, s in either case).
fn parse_ttl(text: &str) -> Option<u32> {
    let mut total: u64 = 0;
    let mut number: Option<u64> = None;
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => {
                number = Some(number.unwrap_or(0).checked_mul(10)?.checked_add(u64::from(byte - b'0'))?);
            }
            _ => {
                let unit = match byte.to_ascii_lowercase() {
                    b's' => 1,
                    b'm' => 60,
                    b'h' => 3_600,
                    b'd' => 86_400,
                    b'w' => 604_800,
                    _ => return None,
                };
                total = total.checked_add(number.take()?.checked_mul(unit)?)?;
            }
        }
    }
    match number {
        Some(plain) if total == 0 => total = plain,
        Some(_) => return None,
        None if text.is_empty() => return None,
        None => {}
    }
    u32::try_from(total).ok().filter(|ttl| u64::from(*ttl) <= TTL_MOST)
}

/// A record with its place in the text.
struct Placed {
    record: StaticRecord,
    line: u32,
    column: u32,
}

/// The owner that an indented record takes.
enum LastOwner {
    /// No record yet.
    None,
    /// The last one could not be read; what follows it is not judged for its owner again.
    Unreadable,
    Known(DnsName),
}

struct Reader {
    origin: DnsName,
    ttl: u32,
    last_owner: LastOwner,
    records: Vec<Placed>,
    problems: Vec<ZoneProblem>,
}

// === impl Reader ===

impl Reader {
    fn through(text: &str, origin: &DnsName, ttl: u32) -> Reader {
        let cut = cut(text);
        let (records, last_owner) = (Vec::new(), LastOwner::None);
        let mut reader = Reader { origin: origin.clone(), ttl, last_owner, records, problems: cut.problems };
        for line in &cut.lines {
            reader.line(line);
        }
        reader
    }

    fn line(&mut self, line: &Line) {
        let first = &line.tokens[0];
        if !line.indented && !first.quoted && first.text.starts_with('$') {
            self.directive(first, &line.tokens[1..]);
            return;
        }
        let (owner, rest) = if line.indented {
            (self.inherited_owner(first), &line.tokens[..])
        } else {
            (self.own_owner(first), &line.tokens[1..])
        };
        if let Some((ttl, rtype, data)) = self.ttl_class_type(first, rest)
            && let Some(rdata) = self.keep(rdata::from_tokens(rtype, data, &self.origin, rest.last().unwrap_or(first)))
            && let Some(owner) = owner
        {
            let record = StaticRecord { owner, rtype, ttl: ttl.unwrap_or(self.ttl), rdata };
            self.records.push(Placed { record, line: first.line, column: first.column });
        }
    }

    fn directive(&mut self, word: &Token, arguments: &[Token]) {
        let upper = word.text.to_ascii_uppercase();
        match (upper.as_str(), arguments) {
            ("$ORIGIN", [name]) => match DnsName::parse(name.text, &self.origin) {
                Some(origin) if !name.quoted && name.text.is_ascii() => self.origin = origin,
                _ => self.problem(name, format!("`{}` is not a domain name", name.text)),
            },
            ("$TTL", [ttl]) => match parse_ttl(ttl.text) {
                Some(ttl) => self.ttl = ttl,
                None => self.problem(ttl, not_a_ttl(ttl.text)),
            },
            ("$ORIGIN" | "$TTL", _) => self.problem(word, format!("{upper} takes one word")),
            ("$INCLUDE", _) => self.problem(word, "$INCLUDE is not followed; put the records into this text".into()),
            ("$GENERATE", _) => self.problem(word, "$GENERATE is not expanded; write the records out".into()),
            _ => self.problem(word, format!("unknown directive `{}`; known: $ORIGIN, $TTL", word.text)),
        }
    }

    fn inherited_owner(&mut self, first: &Token) -> Option<DnsName> {
        match &self.last_owner {
            LastOwner::Known(owner) => Some(owner.clone()),
            LastOwner::Unreadable => None,
            LastOwner::None => {
                self.problem(first, "the line is indented, but no record stands before it to take the owner of".into());
                self.last_owner = LastOwner::Unreadable;
                None
            }
        }
    }

    fn own_owner(&mut self, token: &Token) -> Option<DnsName> {
        let owner = DnsName::parse(token.text, &self.origin).filter(|_| !token.quoted && token.text.is_ascii());
        self.last_owner = owner.clone().map_or(LastOwner::Unreadable, LastOwner::Known);
        if owner.is_none() {
            let hint = if token.text.is_ascii() { "" } else { "; write its ASCII form (`xn--…`)" };
            self.problem(token, format!("`{}` is not a domain name{hint}", token.text));
        }
        owner
    }

    /// `[TTL] [class] type` or `[class] [TTL] type`, and the tokens of the data.
    fn ttl_class_type<'a, 'b>(
        &mut self,
        first: &Token,
        tokens: &'b [Token<'a>],
    ) -> Option<(Option<u32>, RecordType, &'b [Token<'a>])> {
        let (mut ttl, mut class) = (None, false);
        for (at, token) in tokens.iter().enumerate() {
            let word = if token.quoted { "" } else { token.text };
            if let (None, Some(seconds)) = (ttl, parse_ttl(word)) {
                ttl = Some(seconds);
            } else if !class && word.eq_ignore_ascii_case("IN") {
                class = true;
            } else if !class && is_foreign_class(word) {
                self.problem(token, format!("class {word}: only IN is served"));
                return None;
            } else if let Some(rtype) = rdata::parse_type(word) {
                return Some((ttl, rtype, &tokens[at + 1..]));
            } else {
                let what = match word.bytes().all(|b| b.is_ascii_digit()) && !word.is_empty() {
                    true => not_a_ttl(word),
                    false => format!("`{}` is neither a record type nor a TTL nor a class", token.text),
                };
                self.problem(token, what);
                return None;
            }
        }
        self.problem(tokens.last().unwrap_or(first), "the line ends before the record type".into());
        None
    }

    fn keep<T>(&mut self, result: Result<T, ZoneProblem>) -> Option<T> {
        result.map_err(|problem| self.problems.push(problem)).ok()
    }

    fn problem(&mut self, at: &Token, what: String) {
        self.problems.push(at.problem(what));
    }
}

fn not_a_ttl(text: &str) -> String {
    format!("`{text}` is not a TTL; write seconds up to {TTL_MOST}, or `1h30m`")
}

fn is_foreign_class(word: &str) -> bool {
    ["CH", "HS", "CS", "NONE"].iter().any(|class| class.eq_ignore_ascii_case(word))
        || word.get(..5).is_some_and(|start| start.eq_ignore_ascii_case("CLASS") && word.len() > 5)
}

#[cfg(test)]
mod tests;
