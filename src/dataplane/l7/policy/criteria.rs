//! Whether a request meets a criterion.

use regex::Regex;

use super::Request;
use super::answer::Answer;
use crate::model::rule::{CriterionTest, TextTest};

/// `path`: one reading of the request's. `None` for a criterion of the answer.
pub(super) fn met(test: &CriterionTest, regex: Option<&Regex>, request: &Request<'_>, path: &str) -> Option<bool> {
    Some(match test {
        CriterionTest::Path(test) => passes(test, regex, path),
        CriterionTest::Url(test) => match request.target.split_once('?') {
            Some((_, query)) => passes(test, regex, &format!("{path}?{query}")),
            None => passes(test, regex, path),
        },
        CriterionTest::QueryString(test) => passes(test, regex, query_string(request.target)),
        CriterionTest::Host(test) => passes_lower_case(test, regex, &host_name(request.host)),
        CriterionTest::Method(methods) => methods.iter().any(|method| **method == *request.method),
        CriterionTest::Header { name, test } => field_met(request.fields, name, test.as_ref(), regex),
        CriterionTest::Cookie { name, test } => {
            let mut cookies = fields(request.fields, "cookie").flat_map(|field| field.split(|&b| b == b';'));
            cookies.any(|pair| {
                let pair = String::from_utf8_lossy(pair.trim_ascii());
                let (found, value) = pair.split_once('=').unwrap_or((&pair, ""));
                found == &**name && optional(test.as_ref(), regex, value.trim_matches('"'))
            })
        }
        CriterionTest::Query { name, test } => query_string(request.target).split('&').any(|pair| {
            let (found, value) = pair.split_once('=').unwrap_or((pair, ""));
            parameter(found) == **name && optional(test.as_ref(), regex, &parameter(value))
        }),
        CriterionTest::Client(networks) => networks.iter().any(|network| network.contains(request.client)),
        CriterionTest::Port(ports) => ports.contains(&request.port),
        CriterionTest::Sni(test) => request.server_name.is_some_and(|name| passes_lower_case(test, regex, name)),
        CriterionTest::Tls => request.tls,
        CriterionTest::Status(_) | CriterionTest::ResponseHeader { .. } => return None,
    })
}

/// A criterion of the request is not met by an answer.
pub(super) fn met_by_answer(test: &CriterionTest, regex: Option<&Regex>, answer: &Answer<'_>) -> bool {
    match test {
        CriterionTest::Status(ranges) => ranges.iter().any(|range| range.contains(answer.status)),
        CriterionTest::ResponseHeader { name, test } => field_met(answer.fields, name, test.as_ref(), regex),
        _ => false,
    }
}

pub(super) fn fields<'a>(all: &'a [(&'a str, &'a [u8])], name: &'a str) -> impl Iterator<Item = &'a [u8]> {
    all.iter().filter(move |(field, _)| field.eq_ignore_ascii_case(name)).map(|(_, value)| *value)
}

fn field_met(all: &[(&str, &[u8])], name: &str, test: Option<&TextTest>, regex: Option<&Regex>) -> bool {
    fields(all, name).any(|value| optional(test, regex, &String::from_utf8_lossy(value)))
}

/// Without a test it is enough to be there.
fn optional(test: Option<&TextTest>, regex: Option<&Regex>, text: &str) -> bool {
    test.is_none_or(|test| passes(test, regex, text))
}

/// As sent, without the `?`.
pub(super) fn query_string(target: &str) -> &str {
    target.split_once('?').map_or("", |(_, query)| query)
}

/// A name or value of a query, decoded once; `+` is a space, as forms write it.
pub(super) fn parameter(text: &str) -> String {
    super::path::decode(&text.replace('+', " ")).into_owned()
}

/// The Host field without port and without the dot of a complete name, in lower case.
fn host_name(host: &str) -> String {
    let name = match host.strip_prefix('[') {
        Some(_) => host.split_inclusive(']').next().unwrap_or(host),
        None => host.split(':').next().unwrap_or(host),
    };
    name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase()
}

fn passes(test: &TextTest, regex: Option<&Regex>, text: &str) -> bool {
    match test {
        TextTest::Equals(wanted) => text == &**wanted,
        TextTest::StartsWith(wanted) => text.starts_with(&**wanted),
        TextTest::EndsWith(wanted) => text.ends_with(&**wanted),
        TextTest::Contains(wanted) => text.contains(&**wanted),
        TextTest::OneOf(wanted) => wanted.iter().any(|wanted| text == &**wanted),
        TextTest::Regex(_) => regex.is_some_and(|regex| regex.is_match(text)),
    }
}

/// `text` is in lower case already; what is looked for is brought there.
fn passes_lower_case(test: &TextTest, regex: Option<&Regex>, text: &str) -> bool {
    let lower = |wanted: &str| wanted.to_ascii_lowercase();
    match test {
        TextTest::Equals(wanted) => text == lower(wanted),
        TextTest::StartsWith(wanted) => text.starts_with(&lower(wanted)),
        TextTest::EndsWith(wanted) => text.ends_with(&lower(wanted)),
        TextTest::Contains(wanted) => text.contains(&lower(wanted)),
        TextTest::OneOf(wanted) => wanted.iter().any(|wanted| text == lower(wanted)),
        TextTest::Regex(_) => regex.is_some_and(|regex| regex.is_match(text)),
    }
}
