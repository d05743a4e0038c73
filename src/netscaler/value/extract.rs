//! Values of requests: NetScaler's expressions, as far as they say no more than where a value stands.

use serde_json::{Value, json};

/// Whose value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::netscaler) enum Side {
    Request,
    Response,
}

/// Expressions that are one word of the TOML.
const WORDS: [(&str, &str); 4] = [
    ("HTTP.REQ.URL.PATH", "path"),
    ("HTTP.REQ.URL", "url"),
    ("HTTP.REQ.HOSTNAME", "host"),
    ("CLIENT.IP.SRC", "client_ip"),
];

/// Beginning of the expression, key of the TOML.
const NAMED: [(&str, &str); 3] =
    [("HTTP.REQ.HEADER(", "header"), ("HTTP.REQ.COOKIE.VALUE(", "cookie"), ("HTTP.REQ.URL.QUERY.VALUE(", "query")];
const NAMED_RESPONSE: [(&str, &str); 2] = [("HTTP.RES.HEADER(", "header"), ("HTTP.RES.SET_COOKIE.VALUE(", "cookie")];
const SEGMENT: &str = "HTTP.REQ.URL.PATH.GET(";

/// Where the value of an expression stands, as the TOML says it; `None`: it says more, or something else.
pub(in crate::netscaler) fn extract(text: &str, side: Side) -> Option<Value> {
    let text = text.trim();
    let text = text.strip_suffix(".VALUE(0)").unwrap_or(text);
    if side == Side::Request {
        if let Some((_, word)) = WORDS.iter().find(|(expression, _)| expression.eq_ignore_ascii_case(text)) {
            return Some((*word).into());
        }
        if let Some(number) = inside(text, SEGMENT) {
            let number: u32 = number.trim().parse().ok()?;
            return Some(json!({ "path_segment": number }));
        }
    }
    let named = if side == Side::Request { &NAMED[..] } else { &NAMED_RESPONSE[..] };
    let (name, key) = named.iter().find_map(|(beginning, key)| Some((inside(text, beginning)?, key)))?;
    let name = name.trim().strip_prefix('"')?.strip_suffix('"')?;
    let is_plain = !name.is_empty() && !name.contains(['"', '\\']);
    is_plain.then(|| json!({ *key: name }))
}

/// The expression for where a value stands; `None`: NetScaler's say it in more than one.
pub(in crate::netscaler) fn expression(value: &Value, side: Side) -> Option<String> {
    if let Some(word) = value.as_str() {
        return WORDS.iter().find(|(_, ours)| *ours == word).map(|(expression, _)| (*expression).to_owned());
    }
    let table = value.as_object()?;
    let [(key, value)] = table.iter().collect::<Vec<_>>()[..] else { return None };
    if key == "path_segment" && side == Side::Request {
        return Some(format!("{SEGMENT}{value})"));
    }
    let named = if side == Side::Request { &NAMED[..] } else { &NAMED_RESPONSE[..] };
    let (beginning, _) = named.iter().find(|(_, ours)| ours == key)?;
    let name = value.as_str().filter(|name| !name.contains(['"', '\\']))?;
    Some(format!("{beginning}\"{name}\")"))
}

fn inside<'a>(text: &'a str, beginning: &str) -> Option<&'a str> {
    let start = text.get(..beginning.len())?;
    start.eq_ignore_ascii_case(beginning).then(|| text[beginning.len()..].strip_suffix(')')).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_is_a_place_and_the_place_is_the_expression() {
        for text in [
            "HTTP.REQ.URL.PATH",
            "CLIENT.IP.SRC",
            "HTTP.REQ.HEADER(\"X-User\")",
            "HTTP.REQ.COOKIE.VALUE(\"sid\")",
            "HTTP.REQ.URL.QUERY.VALUE(\"user\")",
            "HTTP.REQ.URL.PATH.GET(2)",
        ] {
            let place = extract(text, Side::Request).unwrap();
            assert_eq!(expression(&place, Side::Request).as_deref(), Some(text));
        }
        assert_eq!(extract("http.req.header(\"X\").VALUE(0)", Side::Request), Some(json!({ "header": "X" })));
        assert_eq!(extract("HTTP.REQ.URL.CONTAINS(\"a\")", Side::Request), None);
        let response = extract("HTTP.RES.HEADER(\"X\")", Side::Response).unwrap();
        assert_eq!(expression(&response, Side::Response).as_deref(), Some("HTTP.RES.HEADER(\"X\")"));
    }
}
