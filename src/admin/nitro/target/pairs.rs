//! `key:value,key:value` of `args` and `filter`.

use regex::{Regex, RegexBuilder};
use serde_json::Value;

use super::super::answer::{Fault, Object};

/// Pairs of one parameter; more are refused.
const PAIRS_MAX: usize = 64;
const PATTERN_MAX: usize = 512;
/// Of a compiled pattern, in bytes.
const PATTERN_MEMORY: usize = 1 << 20;

/// Raw keys and values, in order.
pub(super) struct Pairs(Vec<(String, String)>);

/// A condition on one attribute of an object.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    pub key: String,
    test: Test,
}

#[derive(Clone, Debug)]
enum Test {
    /// One of these spellings, in any case.
    Equal(Vec<String>),
    Matches(Regex),
}

// === impl Pairs ===

impl Pairs {
    /// Splits before it decodes, so that escaped commas belong to values. Where even the colons are escaped, the whole
    /// was escaped once more than its values.
    pub fn parse(raw: &str) -> Result<Pairs, Fault> {
        let outer = if raw.contains(':') { raw.to_owned() } else { decode(raw)? };
        let mut pairs = Vec::new();
        let mut rest = &outer[..];
        while !rest.is_empty() {
            let (key, value) = rest.split_once(':').unwrap_or((rest, ""));
            let end = end_of(value);
            pairs.push((decoded(key.trim())?, value[..end].to_owned()));
            rest = value[end..].strip_prefix(',').unwrap_or("");
            if pairs.len() > PAIRS_MAX {
                return Err(Fault::new(278, "too many"));
            }
        }
        Ok(Pairs(pairs))
    }

    /// Values decoded: twice where they were escaped twice.
    pub fn plain(self) -> Vec<(String, String)> {
        let twice = |value: &str| decoded(value).and_then(|once| decoded(&once));
        self.0.into_iter().map(|(key, value)| Ok((key, twice(&value)?))).filter_map(Result::<_, Fault>::ok).collect()
    }

    pub fn filters(self) -> Result<Vec<Filter>, Fault> {
        self.0.into_iter().map(|(key, value)| Filter::new(key, &value)).collect()
    }
}

/// Where a value ends: at the next comma, of a pattern after the slash that closes it.
fn end_of(value: &str) -> usize {
    let slash = |at: usize| {
        let rest = &value[at..];
        if rest.starts_with('/') {
            Some(1)
        } else {
            rest.get(..3).filter(|three| three.eq_ignore_ascii_case("%2f")).map(|three| three.len())
        }
    };
    let comma = || value.find(',').unwrap_or(value.len());
    let Some(opening) = slash(0) else { return comma() };
    let closing = value.char_indices().skip_while(|(at, _)| *at < opening).find_map(|(at, _)| {
        let end = at + slash(at)?;
        (end == value.len() || value[end..].starts_with(',')).then_some(end)
    });
    closing.unwrap_or_else(comma)
}

/// One round of percent decoding; a `%` that escapes nothing stands for itself.
pub(crate) fn decode(text: &str) -> Result<String, Fault> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = |offset: usize| bytes.get(at + offset).and_then(|b| char::from(*b).to_digit(16));
        match (bytes[at], hex(1), hex(2)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                at += 3;
            }
            (byte, ..) => {
                out.push(byte);
                at += 1;
            }
        }
    }
    String::from_utf8(out).map_err(|_| Fault::new(278, "not UTF-8"))
}

/// The same, without control characters.
pub(super) fn decoded(text: &str) -> Result<String, Fault> {
    let text = decode(text)?;
    if text.chars().any(char::is_control) { Err(Fault::new(278, "control character")) } else { Ok(text) }
}

// === impl Filter ===

impl Filter {
    fn new(key: String, raw: &str) -> Result<Filter, Fault> {
        let once = decoded(raw)?;
        let pattern = once.strip_prefix('/').and_then(|rest| rest.strip_suffix('/'));
        let test = match pattern {
            Some(pattern) if pattern.len() > PATTERN_MAX => return Err(Fault::new(278, "filter")),
            Some(pattern) => {
                let built = RegexBuilder::new(pattern).size_limit(PATTERN_MEMORY).build();
                Test::Matches(built.map_err(|_| Fault::new(278, format!("filter, {key}")))?)
            }
            None => {
                let twice = decoded(&once)?;
                Test::Equal(vec![once, twice])
            }
        };
        Ok(Filter { key, test })
    }

    /// An attribute that is not there fits nothing.
    pub fn takes(&self, object: &Object) -> bool {
        let value = object.iter().find(|(key, _)| key.eq_ignore_ascii_case(&self.key)).map(|(_, value)| value);
        value.is_some_and(|value| match value {
            Value::Array(items) => items.iter().any(|item| self.fits(&plain(item))),
            value => self.fits(&plain(value)),
        })
    }

    fn fits(&self, text: &str) -> bool {
        match &self.test {
            Test::Equal(spelt) => spelt.iter().any(|wanted| wanted.eq_ignore_ascii_case(text)),
            Test::Matches(pattern) => pattern.is_match(text),
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn takes(raw: &str, object: Value) -> bool {
        let filters = Pairs::parse(raw).unwrap().filters().unwrap();
        let Value::Object(object) = object else { panic!("an object") };
        filters.iter().all(|filter| filter.takes(&object))
    }

    #[test]
    fn a_filter_compares_text_in_any_case_and_patterns_between_slashes() {
        let web = || serde_json::json!({ "name": "k8s-web,1", "port": 80, "state": "ENABLED" });
        assert!(takes("name:K8S-web%2C1,port:80", web()));
        assert!(takes("name:%2f^k8s%2f", web()));
        assert!(takes("name:/^k8s-[a-z]{2,3},1$/,state:enabled", web()));
        assert!(!takes("name:/^web/", web()));
        assert!(!takes("servername:/.*/", web()));
        assert!(takes("name%3A%2f%5Ek8s%2f", web()));
    }

    #[test]
    fn a_pattern_that_costs_too_much_is_refused() {
        let nested = format!("name:/{}/", "(a{1,500}){1,500}");
        assert!(Pairs::parse(&nested).unwrap().filters().is_err());
        let long = format!("name:/{}/", "a".repeat(PATTERN_MAX + 1));
        assert!(Pairs::parse(&long).unwrap().filters().is_err());
    }
}
