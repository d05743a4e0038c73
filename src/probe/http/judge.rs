//! Whether an answer is the one that the check expects. Pure; the order is: drain code, drain text, status, fields, body.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use parking_lot::Mutex;
use regex::bytes::{Regex, RegexBuilder};

use super::super::{Answer, contains, quoted};
use super::response::{Head, Response};
use crate::model::check::{BodyMatch, HttpExpect, StatusRange};
use crate::model::id::Name;
use crate::model::sql::Expectation;

/// Largest compiled regular expression, and its largest lazy DFA. Bytes.
const REGEX_SIZE_MAX: usize = 1 << 20;

/// Most compiled regular expressions that are kept.
const REGEXES_MAX: usize = 512;

pub(in crate::probe) type Judgement = Result<Answer, String>;

/// A regular expression, or why it cannot be used.
type Compiled = Result<Regex, Arc<str>>;

/// What the head decides without the body; `None` where the body has a say, or its completeness.
pub(in crate::probe) fn head_alone(head: &Head, expect: &HttpExpect) -> Option<Judgement> {
    if expect.trofs_code == Some(head.status) {
        return Some(Ok(Answer::trofs(format!("{}, which asks to be drained", head.line()))));
    }
    // A drain text may stand under any status, so with one the body is read.
    if expect.trofs_body.is_some() {
        return None;
    }
    fields_and_status(head, expect).err().map(Err)
}

/// The judgement of a complete answer.
pub(in crate::probe) fn whole(response: &Response, expect: &HttpExpect) -> Judgement {
    let Some(head) = response.head() else {
        return Err("no answer".to_owned());
    };
    if expect.trofs_code == Some(head.status) {
        return Ok(Answer::trofs(format!("{}, which asks to be drained", head.line())));
    }
    if let Some(text) = expect.trofs_body.as_deref().filter(|text| contains(response.body(), text, 0)) {
        return Ok(Answer::trofs(format!("{}, body with {} asks to be drained", head.line(), quoted(text))));
    }
    fields_and_status(head, expect)?;
    if let Some(wanted) = &expect.body {
        body(response, wanted).map_err(|why| format!("{}, but {why}", head.line()))?;
    }
    Ok(Answer::pass(head.line()))
}

fn fields_and_status(head: &Head, expect: &HttpExpect) -> Result<(), String> {
    if !expect.status.iter().any(|range| range.contains(head.status)) {
        return Err(format!("{}, expected {}", head.line(), in_words(&expect.status)));
    }
    for (name, wanted) in &expect.headers {
        let mut got = head.all(name).peekable();
        let Some(&first) = got.peek() else {
            return Err(format!("{}, but without the field {name}", head.line()));
        };
        if !got.any(|value| value == wanted.trim().as_bytes()) {
            return Err(format!(
                "{}, but {name} is {}, expected {}",
                head.line(),
                quoted(first),
                quoted(wanted.trim().as_bytes())
            ));
        }
    }
    Ok(())
}

fn body(response: &Response, wanted: &BodyMatch) -> Result<(), String> {
    let bytes = response.body();
    let looked_at = || match response.is_cut() {
        true => format!("the first {} bytes of the body", bytes.len()),
        false => format!("the body of {} bytes", bytes.len()),
    };
    match wanted {
        BodyMatch::Contains(text) if contains(bytes, text, 0) => Ok(()),
        BodyMatch::Contains(text) => Err(format!("no {} in {}", quoted(text), looked_at())),
        BodyMatch::Regex(pattern) => match compiled(pattern)?.is_match(bytes) {
            true => Ok(()),
            false => Err(format!("no match of {} in {}", quoted(pattern.as_bytes()), looked_at())),
        },
        BodyMatch::Json { pointer, equals } => {
            let got = found(response, pointer)?;
            if same_json(&got, equals) {
                return Ok(());
            }
            let (got, wanted) = (got.to_string(), equals.to_string());
            Err(format!("{pointer} is {}, expected {}", quoted(got.as_bytes()), quoted(wanted.as_bytes())))
        }
        BodyMatch::JsonIs { pointer, is } => {
            let got = found(response, pointer)?;
            let shown = quoted(got.to_string().as_bytes());
            match json_holds(&got, is)? {
                Some(true) => Ok(()),
                Some(false) => Err(format!("{pointer} is {shown}, expected `{is}`")),
                None => Err(format!("{pointer} is {shown}, which `{is}` cannot be compared with")),
            }
        }
    }
}

/// What stands at `pointer` in a body of JSON.
fn found(response: &Response, pointer: &str) -> Result<serde_json::Value, String> {
    let bytes = response.body();
    if response.is_cut() {
        return Err(format!("the body is larger than the {} KiB that are read as JSON", bytes.len() / 1024));
    }
    let mut value: serde_json::Value =
        serde_json::from_slice(bytes).map_err(|error| format!("the body is not JSON: {error}"))?;
    let at = value.pointer_mut(pointer).map(serde_json::Value::take);
    at.ok_or_else(|| format!("the body has nothing at {pointer}"))
}

/// Whether the comparison holds; `None`: the value is none that it can be compared with. Errors: it is no comparison.
pub(in crate::probe) fn json_holds(value: &serde_json::Value, is: &str) -> Result<Option<bool>, String> {
    let comparison = Expectation::parse(is)?;
    Ok(match value {
        serde_json::Value::String(text) => comparison.holds(text),
        serde_json::Value::Number(_) | serde_json::Value::Bool(_) => comparison.holds(&value.to_string()),
        _ => None,
    })
}

/// Equal as JSON; numbers by value, so that `1` is `1.0`.
fn same_json(a: &serde_json::Value, b: &serde_json::Value) -> bool {
    match (a, b) {
        (serde_json::Value::Number(x), serde_json::Value::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        _ => a == b,
    }
}

/// Regular expressions are compiled once, not once a sample: compiling costs far more than the match.
fn compiled(pattern: &Name) -> Result<Regex, String> {
    static CACHE: LazyLock<Mutex<HashMap<Name, Compiled>>> = LazyLock::new(Mutex::default);
    let mut cache = CACHE.lock();
    if !cache.contains_key(pattern) && cache.len() >= REGEXES_MAX {
        cache.clear();
    }
    let entry = cache.entry(pattern.clone()).or_insert_with(|| {
        let regex = RegexBuilder::new(pattern).size_limit(REGEX_SIZE_MAX).dfa_size_limit(REGEX_SIZE_MAX).build();
        regex.map_err(|error| error.to_string().into())
    });
    entry.clone().map_err(|why| format!("the regular expression cannot be used: {why}"))
}

pub(in crate::probe) fn in_words(ranges: &[StatusRange]) -> String {
    let words: Vec<String> = ranges
        .iter()
        .map(|range| match range.from == range.to {
            true => range.from.to_string(),
            false => format!("{}-{}", range.from, range.to),
        })
        .collect();
    if words.is_empty() { "no status at all".to_owned() } else { words.join(" ") }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in super::super) fn expect_200() -> HttpExpect {
        HttpExpect {
            status: vec![StatusRange::one(200)],
            headers: Vec::new(),
            body: None,
            trofs_code: None,
            trofs_body: None,
        }
    }

    fn judge(bytes: &[u8], expect: &HttpExpect) -> Judgement {
        let mut response = Response::new(false, 64);
        response.push(bytes)?;
        response.end()?;
        whole(&response, expect)
    }

    fn body_200(body: &str, wanted: BodyMatch) -> Judgement {
        let text = format!("HTTP/1.1 200 OK\r\nX-Version: 2\r\n\r\n{body}");
        judge(text.as_bytes(), &HttpExpect { body: Some(wanted), ..expect_200() })
    }

    #[test]
    fn a_wrong_status_names_what_came_and_what_was_expected() {
        let expect =
            HttpExpect { status: vec![StatusRange { from: 200, to: 204 }, StatusRange::one(301)], ..expect_200() };
        assert_eq!(judge(b"HTTP/1.1 500 Oops\r\n\r\n", &expect), Err("500 Oops, expected 200-204 301".to_owned()));
        assert_eq!(judge(b"HTTP/1.1 301\r\n\r\n", &expect), Ok(Answer::pass("301")));
    }

    #[test]
    fn a_field_must_be_there_with_its_value() {
        let with = |name: &str, value: &str| HttpExpect { headers: vec![(name.into(), value.into())], ..expect_200() };
        let answer = b"HTTP/1.1 200 OK\r\nX-Version:  2 \r\n\r\n";
        assert!(judge(answer, &with("x-version", "2")).is_ok());
        assert!(judge(answer, &with("x-version", "3")).unwrap_err().contains("is \"2\", expected \"3\""));
        assert!(judge(answer, &with("x-other", "3")).unwrap_err().contains("without the field x-other"));
    }

    #[test]
    fn a_body_is_matched_by_text_by_pattern_and_by_json_pointer() {
        assert!(body_200("all ok", BodyMatch::Contains(b"ok".to_vec())).is_ok());
        assert!(
            body_200("all bad", BodyMatch::Contains(b"ok".to_vec()))
                .unwrap_err()
                .contains("no \"ok\" in the body of 7 bytes")
        );
        assert!(body_200("v17", BodyMatch::Regex("^v[0-9]+$".into())).is_ok());
        assert!(body_200("v", BodyMatch::Regex("^v[0-9]+$".into())).is_err());
        let json = |equals: serde_json::Value| BodyMatch::Json { pointer: "/db/lag".into(), equals };
        assert!(body_200(r#"{"db":{"lag":1}}"#, json(1.0.into())).is_ok());
        assert!(
            body_200(r#"{"db":{"lag":7}}"#, json(1.into())).unwrap_err().contains("/db/lag is \"7\", expected \"1\"")
        );
        assert!(body_200(r#"{"db":{}}"#, json(1.into())).unwrap_err().contains("nothing at /db/lag"));
        assert!(body_200("{", json(1.into())).unwrap_err().contains("not JSON"));
        assert!(body_200(&"[".repeat(80), json(1.into())).unwrap_err().contains("larger"));
        let is = |is: &str| BodyMatch::JsonIs { pointer: "/lag".into(), is: is.into() };
        for (body, wanted) in [("59.5", "<= 60"), ("\"YES\"", "= 'YES'"), ("true", "= 'true'"), ("\"7\"", "> 6")] {
            assert!(body_200(&format!("{{\"lag\":{body}}}"), is(wanted)).is_ok(), "{body} {wanted}");
        }
        assert!(body_200(r#"{"lag":61}"#, is("<= 60")).unwrap_err().contains("/lag is \"61\", expected `<= 60`"));
        for body in ["null", "[]", "{}", "\"many\""] {
            let said = body_200(&format!("{{\"lag\":{body}}}"), is("<= 60")).unwrap_err();
            assert!(said.contains("cannot be compared"), "{said}");
        }
    }

    #[test]
    fn a_drain_text_counts_under_any_status() {
        let expect = HttpExpect { trofs_body: Some(b"draining".to_vec()), ..expect_200() };
        assert!(judge(b"HTTP/1.1 503 Busy\r\n\r\nis draining now", &expect).unwrap().trofs);
        assert!(!judge(b"HTTP/1.1 200 OK\r\n\r\nfine", &expect).unwrap().trofs);
        assert!(judge(b"HTTP/1.1 503 Busy\r\n\r\nfine", &expect).is_err());
    }

    #[test]
    fn a_pattern_that_would_grow_too_large_fails_with_its_reason() {
        let said = body_200("x", BodyMatch::Regex("(?:a{1000}){1000}".into())).unwrap_err();
        assert!(said.contains("cannot be used"), "{said}");
    }
}
