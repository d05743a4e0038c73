//! Whether a request meets a criterion.

use regex::Regex;

use super::Request;
use crate::model::rule::{CriterionTest, TextTest};

/// `path`: one reading of the request's.
pub(super) fn met(test: &CriterionTest, regex: Option<&Regex>, request: &Request<'_>, path: &str) -> bool {
    match test {
        CriterionTest::Path(test) => passes(test, regex, path),
        CriterionTest::Host(test) => passes_lower_case(test, regex, &host_name(request.host)),
        CriterionTest::Method(methods) => methods.iter().any(|method| **method == *request.method),
        CriterionTest::Header { name, test } => request
            .fields
            .iter()
            .filter(|(field, _)| field.eq_ignore_ascii_case(name))
            .any(|(_, value)| test.as_ref().is_none_or(|test| passes(test, regex, &String::from_utf8_lossy(value)))),
        CriterionTest::Client(networks) => networks.iter().any(|network| network.contains(request.client)),
        // No configuration makes the others yet.
        _ => false,
    }
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
