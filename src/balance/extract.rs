//! Values taken out of requests and answers: what hash methods hash, persistence remembers and limits count by.
//!
//! An engine shows its head as [`Parts`] and gives [`value`] of everything that needs no regular expression; these are
//! compiled once for each model ([`Patterns`]) and applied around it.

use std::collections::HashMap;
use std::net::IpAddr;

use regex::{Regex, RegexBuilder};

use crate::model::balancing::Extract;
use crate::model::id::Name;

/// Bytes that one compiled expression may take.
const REGEX_SIZE_MAX_BYTES: usize = 1 << 20;

/// A head, as extracts see it.
pub trait Parts {
    /// The value of the `nth` field (from 0) of this name, in any case.
    fn field(&self, name: &str, nth: usize) -> Option<&str>;
    /// In origin form, with query: `/a/b?c`. Empty for an answer.
    fn target(&self) -> &str;
    fn client(&self) -> IpAddr;
}

/// Compiled expressions by their text.
#[derive(Debug, Default)]
pub struct Patterns(HashMap<Name, Regex>);

/// The value of an extract; `None` where the head has no such thing, or it takes a regular expression
/// ([`Patterns::value`] applies these).
///
/// Fields and parameters that are there several times with different values count as not there: which of them a server
/// takes is not known, and a client could be counted under one and served under another. Of cookies with one name the
/// first counts, as browsers send that of the longest path first (RFC 6265 §5.4).
///
/// In an answer a cookie is what `Set-Cookie` gives out.
pub fn value(parts: &(impl Parts + ?Sized), extract: &Extract) -> Option<String> {
    let (path, query) = parts.target().split_once('?').unwrap_or((parts.target(), ""));
    let present = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    match extract {
        Extract::Header(name) => sole(fields(parts, name).map(str::to_owned)),
        Extract::Cookie(name) => {
            let sent = fields(parts, "cookie").find_map(|field| cookie(field, name));
            sent.or_else(|| fields(parts, "set-cookie").find_map(|field| given(field, name))).map(str::to_owned)
        }
        Extract::Query(name) => sole(query.split('&').filter_map(|pair| {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decoded(key) == **name).then(|| decoded(value))
        })),
        Extract::PathSegment(nth) => {
            let nth = usize::try_from(*nth).ok()?.checked_sub(1)?;
            path.split('/').filter(|segment| !segment.is_empty()).nth(nth).map(decoded)
        }
        Extract::Path => present(path),
        Extract::Url => present(parts.target()),
        Extract::Host => parts.field("host", 0).map(|host| host.to_ascii_lowercase()),
        Extract::ClientIp => Some(parts.client().to_canonical().to_string()),
        Extract::Regex { .. } => None,
    }
}

fn sole(mut values: impl Iterator<Item = String>) -> Option<String> {
    let first = values.next()?;
    values.all(|other| other == first).then_some(first)
}

fn fields<'a>(parts: &'a (impl Parts + ?Sized), name: &'a str) -> impl Iterator<Item = &'a str> {
    (0..).map_while(move |nth| parts.field(name, nth))
}

/// The value of the cookie called `name` in one `Cookie` field; the first where there are several.
pub fn cookie<'a>(field: &'a str, name: &str) -> Option<&'a str> {
    let mut rest = field;
    loop {
        let end = memchr::memchr(b';', rest.as_bytes());
        let pair = &rest[..end.unwrap_or(rest.len())];
        let value = memchr::memchr(b'=', pair.as_bytes()).filter(|&at| pair[..at].trim() == name);
        if let Some(at) = value {
            return Some(pair[at + 1..].trim().trim_matches('"'));
        }
        rest = &rest[end? + 1..];
    }
}

/// The value that one `Set-Cookie` field gives to the cookie called `name`.
fn given<'a>(field: &'a str, name: &str) -> Option<&'a str> {
    let (key, value) = field.split(';').next()?.split_once('=')?;
    (key.trim() == name).then(|| value.trim().trim_matches('"'))
}

/// Percent-decoded once; what is no encoding stays as it stands. Bytes that are no UTF-8 become U+FFFD.
fn decoded(text: &str) -> String {
    if !text.contains('%') {
        return text.to_owned();
    }
    let (bytes, mut out, mut at) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    let hex = |b: u8| char::from(b).to_digit(16).and_then(|d| u8::try_from(d).ok());
    while let Some(&byte) = bytes.get(at) {
        let pair = (byte == b'%').then(|| Some((hex(*bytes.get(at + 1)?)?, hex(*bytes.get(at + 2)?)?))).flatten();
        out.push(pair.map_or(byte, |(high, low)| high * 16 + low));
        at += if pair.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// An expression as all extracts compile it.
///
/// Errors: what the crate `regex` says of the text.
pub fn compile(pattern: &str) -> Result<Regex, regex::Error> {
    RegexBuilder::new(pattern).size_limit(REGEX_SIZE_MAX_BYTES).dfa_size_limit(REGEX_SIZE_MAX_BYTES).build()
}

// === impl Patterns ===

impl Patterns {
    /// Compiles every expression in these extracts. One that does not compile, which the configuration refuses, finds
    /// nothing.
    pub fn of<'a>(extracts: impl Iterator<Item = &'a Extract>) -> Patterns {
        let mut patterns = Patterns::default();
        for extract in extracts {
            let mut extract = extract;
            while let Extract::Regex { of, pattern } = extract {
                if !patterns.0.contains_key(pattern)
                    && let Ok(regex) = compile(pattern)
                {
                    patterns.0.insert(Name::clone(pattern), regex);
                }
                extract = of;
            }
        }
        patterns
    }

    /// The value of any extract, given those that need no expression. Of an expression it is the first bracket, or all
    /// that matches where it has none.
    pub fn value(&self, extract: &Extract, plain: &dyn Fn(&Extract) -> Option<String>) -> Option<String> {
        let Extract::Regex { of, pattern } = extract else { return plain(extract) };
        let text = self.value(of, plain)?;
        let found = self.0.get(pattern)?.captures(&text)?;
        found.get(1).or_else(|| found.get(0).filter(|_| found.len() == 1)).map(|m| m.as_str().to_owned())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    struct Head(&'static str, &'static [(&'static str, &'static str)]);

    impl Parts for Head {
        fn field(&self, name: &str, nth: usize) -> Option<&str> {
            self.1.iter().filter(|(n, _)| n.eq_ignore_ascii_case(name)).nth(nth).map(|(_, v)| *v)
        }

        fn target(&self) -> &str {
            self.0
        }

        fn client(&self) -> IpAddr {
            "::ffff:192.0.2.1".parse().unwrap()
        }
    }

    #[test]
    fn every_part_of_a_request_can_be_taken() {
        let head = Head(
            "/a//b%20c/d?x=1&y=%32&z",
            &[("Host", "App.test:80"), ("X-Id", "7"), ("X-ID", "7"), ("Cookie", "a=1"), ("cookie", "b=\"2\"; c=3")],
        );
        let of = |extract: Extract| value(&head, &extract);
        assert_eq!(of(Extract::Header("x-id".into())).as_deref(), Some("7"));
        assert_eq!(of(Extract::Query("x".into())).as_deref(), Some("1"));
        assert_eq!(of(Extract::Cookie("b".into())).as_deref(), Some("2"));
        assert_eq!(of(Extract::Query("y".into())).as_deref(), Some("2"));
        assert_eq!(of(Extract::Query("z".into())).as_deref(), Some(""));
        assert_eq!(of(Extract::Query("q".into())), None);
        assert_eq!(of(Extract::PathSegment(2)).as_deref(), Some("b c"));
        assert_eq!(of(Extract::PathSegment(4)), None);
        assert_eq!(of(Extract::PathSegment(0)), None);
        assert_eq!(of(Extract::Path).as_deref(), Some("/a//b%20c/d"));
        assert_eq!(of(Extract::Url).as_deref(), Some("/a//b%20c/d?x=1&y=%32&z"));
        assert_eq!(of(Extract::Host).as_deref(), Some("app.test:80"));
        assert_eq!(of(Extract::ClientIp).as_deref(), Some("192.0.2.1"));
    }

    #[test]
    fn what_is_said_twice_in_different_ways_is_not_said() {
        let head = Head("/?k=1&a=2&k=%31&a=3", &[("X-Key", "a"), ("x-key", "b"), ("Y", "c"), ("y", "c")]);
        let of = |extract: Extract| value(&head, &extract);
        assert_eq!(of(Extract::Header("X-Key".into())), None);
        assert_eq!(of(Extract::Header("Y".into())).as_deref(), Some("c"));
        assert_eq!(of(Extract::Query("k".into())).as_deref(), Some("1"), "the same, written in two ways");
        assert_eq!(of(Extract::Query("a".into())), None);
    }

    #[test]
    fn an_answer_gives_out_cookies() {
        let head = Head("", &[("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "sid=abc; b=2")]);
        assert_eq!(value(&head, &Extract::Cookie("sid".into())).as_deref(), Some("abc"));
        assert_eq!(value(&head, &Extract::Cookie("b".into())), None);
    }

    #[test]
    fn an_expression_takes_its_first_bracket_of_another_extract() {
        let head = Head("/a?sid=node7-xyz", &[]);
        let of = Box::new(Extract::Query("sid".into()));
        let nested = Extract::Regex { of, pattern: "^([a-z0-9]+)-".into() };
        let digits = Extract::Regex { of: Box::new(nested.clone()), pattern: "[0-9]".into() };
        let broken = Extract::Regex { of: Box::new(Extract::Path), pattern: "(".into() };
        let patterns = Patterns::of([&nested, &digits, &broken].into_iter());
        let plain = |e: &Extract| value(&head, e);
        assert_eq!(patterns.value(&nested, &plain).as_deref(), Some("node7"));
        assert_eq!(patterns.value(&digits, &plain).as_deref(), Some("7"));
        assert_eq!(patterns.value(&broken, &plain), None);
        assert_eq!(patterns.value(&Extract::Path, &plain).as_deref(), Some("/a"));
    }

    #[test]
    fn a_cookie_is_found_among_others_and_only_by_its_whole_name() {
        assert_eq!(cookie("a=1; NSC_x=ff ;b=2", "NSC_x"), Some("ff"));
        assert_eq!(cookie("xNSC_x=1; NSC_xx=2", "NSC_x"), None);
        assert_eq!(cookie("", "NSC_x"), None);
        assert_eq!(cookie(";;=;NSC_x", "NSC_x"), None);
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "\\PC*", name in "\\PC*") {
            let _ = cookie(&text, &name);
            let _ = given(&text, &name);
            let _ = decoded(&text);
            let _ = decoded(&format!("{text}%"));
        }
    }
}
