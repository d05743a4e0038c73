//! Ids: prefix, name, facet. Facets are suffixes and names may hold dots, so known facets are taken from the right.

use super::{RawSubject, TermError};
use crate::model::condition::{ServiceFacet, Signal, VserverFacet};

/// Prefixes of everything that is not a plain check or criterion, with what they stand for.
const PREFIXES: [(&str, &str); 6] = [
    ("vs", "a vserver"),
    ("svc", "a service"),
    ("sc", "a scenario"),
    ("dc", "a data centre"),
    ("tw", "a time window"),
    ("sw", "a switch"),
];

/// Letters, digits and `_ - : . / @`, and the signs of a comparison.
pub(super) fn is_id_char(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '_' | '-' | ':' | '.' | '/' | '@' | '>' | '<' | '=')
}

/// The known prefix of an id, without its colon.
pub(super) fn prefix(id: &str) -> Option<(&'static str, &'static str)> {
    let (prefix, _) = id.split_once(':')?;
    PREFIXES.into_iter().find(|(known, _)| *known == prefix)
}

/// Splits an id. Names are not looked up: that a name exists is the loader's to say.
///
/// Errors: characters that no id holds, a prefix without a name, a comparison where none can be, an unknown signal.
pub fn parse_id(id: &str) -> Result<RawSubject, TermError> {
    if id.is_empty() {
        return Err(TermError::new(0, "the id is empty"));
    }
    if let Some((at, c)) = id.char_indices().find(|(_, c)| !is_id_char(*c)) {
        return Err(TermError::new(at, format!("`{}` cannot stand in an id", c.escape_debug())));
    }
    let Some((prefix, what)) = prefix(id) else {
        no_comparison(id, 0)?;
        return Ok(RawSubject::Plain(id.into()));
    };
    let start = prefix.len() + 1;
    let rest = &id[start..];
    if rest.is_empty() {
        return Err(TermError::new(start, format!("`{prefix}:` needs the name of {what}")));
    }
    if prefix != "vs" {
        no_comparison(rest, start)?;
    }
    let subject = match prefix {
        "vs" => return vserver(rest, start),
        "svc" => service(rest),
        "dc" => return datacenter(rest, start),
        "sc" => RawSubject::Scenario(rest.into()),
        "tw" => RawSubject::TimeWindow(rest.into()),
        _ => RawSubject::Switch(rest.into()),
    };
    Ok(subject)
}

fn vserver(rest: &str, start: usize) -> Result<RawSubject, TermError> {
    let of = |name: &str, facet| Ok(RawSubject::Vserver { name: name.into(), facet });
    if let Some(at) = rest.find(['<', '>', '=']) {
        let (left, comparison) = rest.split_at(at);
        let Some(name) = left.strip_suffix(".health").filter(|name| !name.is_empty()) else {
            return Err(TermError::new(start + at, "only `.health` of a vserver can be compared"));
        };
        let bad = |what: &str| {
            let number: String = comparison.chars().filter(char::is_ascii_digit).take(3).collect();
            let number = if number.is_empty() { "50".into() } else { number };
            Err(TermError::new(start + at, what).meaning(Some(format!("vs:{name}.health>={number}"))))
        };
        let Some(number) = comparison.strip_prefix(">=") else {
            return bad("health is compared with `>=`");
        };
        return match number.parse::<u8>().ok().filter(|n| *n <= 100 && number.bytes().all(|b| b.is_ascii_digit())) {
            Some(percent) => of(name, VserverFacet::HealthAtLeast(percent)),
            None => bad("health is compared with a percentage, 0..=100"),
        };
    }
    let facets = [
        (".primary", VserverFacet::Primary),
        (".admin", VserverFacet::Admin),
        (".fault", VserverFacet::Fault),
        ("", VserverFacet::Serves),
    ];
    if let Some(name) = rest.strip_suffix(".health").filter(|name| !name.is_empty()) {
        return Err(TermError::new(start + name.len(), "`.health` needs a comparison")
            .meaning(Some(format!("vs:{name}.health>=50"))));
    }
    let (name, facet) = facets
        .into_iter()
        .find_map(|(suffix, facet)| Some((rest.strip_suffix(suffix).filter(|name| !name.is_empty())?, facet)))
        .expect("the empty suffix fits all");
    of(name, facet)
}

fn service(rest: &str) -> RawSubject {
    [(".serving", ServiceFacet::Serving), (".fault", ServiceFacet::Fault), ("", ServiceFacet::Up)]
        .into_iter()
        .find_map(|(suffix, facet)| {
            let name = rest.strip_suffix(suffix).filter(|name| !name.is_empty())?;
            Some(RawSubject::Service { name: name.into(), facet })
        })
        .expect("the empty suffix fits all")
}

fn datacenter(rest: &str, start: usize) -> Result<RawSubject, TermError> {
    if let Some((name, signal)) = signal_suffix(rest) {
        return Ok(RawSubject::Datacenter { name: name.into(), signal, observer: None });
    }
    // Site names may hold dots and `@` too: the observer begins at the `@` that a signal stands before.
    for (at, _) in rest.rmatch_indices('@') {
        let observer = &rest[at + 1..];
        if let Some((name, signal)) = signal_suffix(&rest[..at]) {
            if observer.is_empty() {
                return Err(TermError::new(start + at, "`@` needs the name of the observing site"));
            }
            return Ok(RawSubject::Datacenter { name: name.into(), signal, observer: Some(observer.into()) });
        }
    }
    let words = Signal::ALL.map(Signal::word);
    let (before, observer) = rest.split_once('@').map_or((rest, None), |(b, o)| (b, Some(o)));
    let meant = before.rsplit_once('.').and_then(|(name, word)| {
        let near = super::qualifier::nearest(word, words)?;
        let observer = observer.map(|o| format!("@{o}")).unwrap_or_default();
        Some(format!("dc:{name}.{near}{observer}"))
    });
    let what = format!("a data centre is named with a signal: `dc:NAME.` and one of {}", words.join(", "));
    Err(TermError::new(start, what).meaning(meant))
}

fn signal_suffix(text: &str) -> Option<(&str, Signal)> {
    let (name, word) = text.rsplit_once('.')?;
    let signal = Signal::ALL.into_iter().find(|s| s.word() == word)?;
    (!name.is_empty()).then_some((name, signal))
}

fn no_comparison(id: &str, start: usize) -> Result<(), TermError> {
    match id.find(['<', '>', '=']) {
        Some(at) => Err(TermError::new(start + at, "only `vs:NAME.health` can be compared")),
        None => Ok(()),
    }
}
