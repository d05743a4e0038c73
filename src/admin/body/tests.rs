//! Bodies and parameters.

use super::*;

const KNOWN: &[Field] = &[
    field("delay", FieldKind::Duration, ""),
    field("graceful", FieldKind::Flag, ""),
    field("reason", FieldKind::Text, ""),
    field("expires", FieldKind::Expiry, ""),
    field("wait", FieldKind::Wait, ""),
];

fn fields(body: &str) -> Result<Fields, Problem> {
    Fields::parse(&HeaderMap::new(), body.as_bytes(), KNOWN)
}

#[test]
fn an_empty_body_is_an_empty_object() {
    for body in ["", " \n", "{}"] {
        assert_eq!(fields(body).unwrap().duration("delay").unwrap(), None);
    }
}

#[test]
fn an_unknown_key_is_refused_with_the_nearest_spelling() {
    let problem = fields(r#"{"gracefull": true}"#).unwrap_err();
    assert_eq!(problem.status, 400);
    assert_eq!(problem.members["did_you_mean"], "graceful");
}

#[test]
fn a_number_outside_its_bounds_is_refused_in_a_body_as_in_a_query() {
    const KNOWN: &[Field] = &[field("size", FieldKind::Within(1, 1_000), "")];
    let body = |value: &str| {
        Fields::parse(&HeaderMap::new(), format!("{{\"size\": {value}}}").as_bytes(), KNOWN)?.integer("size")
    };
    for (value, read) in [("1", Some(1)), ("1000", Some(1_000)), ("null", None)] {
        assert_eq!(body(value).unwrap(), read);
    }
    for value in ["0", "1001", "99999999999", "-1", "1.5", "\"10\""] {
        let problem = body(value).unwrap_err();
        assert_eq!(problem.status, 400);
        assert_eq!(problem.detail, format!("`size` is a whole number from 1 to 1000, not {value}"));
    }
    assert_eq!(Params::parse("size=1001").unwrap().check(KNOWN).unwrap_err().status, 400);
}

#[test]
fn a_key_that_comes_twice_is_refused() {
    assert!(fields(r#"{"delay": 1, "delay": 2}"#).unwrap_err().detail.contains("`delay` is defined twice"));
}

#[test]
fn durations_are_texts_or_seconds_and_flags_are_booleans_or_netscaler_words() {
    let body = fields(r#"{"delay": 30, "graceful": "YES"}"#).unwrap();
    assert_eq!(body.duration("delay").unwrap(), Some(Duration::from_secs(30)));
    assert_eq!(body.flag("graceful").unwrap(), Some(true));
    let body = fields(r#"{"delay": "1m", "graceful": false}"#).unwrap();
    assert_eq!(body.duration("delay").unwrap(), Some(Duration::from_secs(60)));
    assert_eq!(body.flag("graceful").unwrap(), Some(false));
    for bad in [r#"{"delay": -1}"#, r#"{"delay": "soon"}"#, r#"{"delay": []}"#] {
        assert_eq!(fields(bad).unwrap().duration("delay").unwrap_err().status, 400, "{bad}");
    }
    assert_eq!(fields(r#"{"graceful": 1}"#).unwrap().flag("graceful").unwrap_err().status, 400);
}

#[test]
fn an_expiry_is_a_time_or_a_duration() {
    let at = |text: &str| fields(text).unwrap().note().map(|n| n.expires);
    assert_eq!(at(r#"{"expires": "2h"}"#).unwrap(), Some(Expiry::After(Duration::from_secs(7200))));
    assert_eq!(at(r#"{"expires": "2026-11-29T22:50:17Z"}"#).unwrap(), Some(Expiry::At(Wall(1_795_992_617_000_000))));
    assert_eq!(at(r#"{"expires": "tomorrow"}"#).unwrap_err().status, 400);
}

#[test]
fn only_json_is_read_and_curl_may_forget_to_say_so() {
    let with = |media: &str| {
        let mut headers = HeaderMap::new();
        headers.insert(header::CONTENT_TYPE, media.parse().unwrap());
        Fields::parse(&headers, b"{\"delay\": 1}", KNOWN)
    };
    assert!(with("application/json; charset=utf-8").is_ok());
    assert!(with("application/x-www-form-urlencoded").is_ok());
    assert_eq!(with("text/plain").unwrap_err().status, 415);
}

#[test]
fn a_parameter_that_is_unknown_or_comes_twice_is_refused() {
    let known = &[field("limit", FieldKind::Integer, "")];
    assert!(Params::parse("limit=3").unwrap().check(known).is_ok());
    assert_eq!(Params::parse("limits=3").unwrap().check(known).unwrap_err().members["did_you_mean"], "limit");
    assert!(Params::parse("limit=3&limit=4").unwrap().check(known).is_err());
    assert!(Params::parse("limit=x").unwrap().integer("limit").is_err());
}

#[test]
fn a_time_in_a_query_may_have_lost_its_plus_sign() {
    let params = Params::parse("since=2026-11-29T23:50:17+01:00&until=1h").unwrap();
    assert_eq!(params.time("since", Wall(0)).unwrap(), Some(Wall(1_795_992_617_000_000)));
    assert_eq!(params.time("until", Wall(7_200_000_000)).unwrap(), Some(Wall(3_600_000_000)));
}

proptest::proptest! {
    #[test]
    fn no_bytes_make_the_parsers_panic(body in ".{0,200}") {
        let _ = fields(&body).map(|f| (f.note(), f.wait(Duration::ZERO), f.duration("delay"), f.flag("graceful")));
        let _ = Params::parse(&body).map(|p| (p.check(KNOWN), p.time("delay", Wall(0))));
    }
}
