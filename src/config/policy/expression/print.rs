//! A criterion as an expression: the way back.

use serde_json::{Map, Value};

/// The expression that says what `[criterion.NAME]` says; `None` where NetScaler has none that does.
///
/// `table`: as the canonical text of a configuration has it: tests of a text are tables with one test.
pub fn print(table: &Map<String, Value>) -> Option<String> {
    let (key, value) = table.iter().next()?;
    let all_of = |what: &str, operator: &str, values: &Value| {
        let items: Vec<&Value> = values.as_array().map_or_else(|| vec![values], |items| items.iter().collect());
        let one = |item: &&Value| match item {
            Value::String(text) => format!("{what}.{operator}({text})"),
            other => format!("{what}.{operator}({other})"),
        };
        let all: Vec<String> = items.iter().map(one).collect();
        (!all.is_empty()).then(|| if all.len() == 1 { all[0].clone() } else { format!("({})", all.join(" || ")) })
    };
    let named = |before: &str| Some(format!("{before}({})", quote(value.get("name")?.as_str()?)));
    match &key[..] {
        "path" => compared("HTTP.REQ.URL.PATH", value),
        "url" => compared("HTTP.REQ.URL", value),
        "query_string" => compared("HTTP.REQ.URL.QUERY", value),
        "host" => compared("HTTP.REQ.HOSTNAME", value),
        "sni" => compared("CLIENT.SSL.CLIENT_HELLO.SNI", value),
        "header" => compared(&named("HTTP.REQ.HEADER")?, value),
        "response_header" => compared(&named("HTTP.RES.HEADER")?, value),
        "cookie" => compared(&named("HTTP.REQ.COOKIE.VALUE")?, value),
        "query" => compared(&named("HTTP.REQ.URL.QUERY.VALUE")?, value),
        "method" => all_of("HTTP.REQ.METHOD", "EQ", value),
        "client" => all_of("CLIENT.IP.SRC", "IN_SUBNET", value),
        "port" => all_of("CLIENT.TCP.DSTPORT", "EQ", value),
        "tls" => Some("CLIENT.SSL.IS_SSL".to_owned()),
        "status" => {
            let ranges = value.as_array().map_or_else(|| vec![value], |items| items.iter().collect());
            let one = |range: &&Value| {
                let text = range.as_str().map_or_else(|| range.to_string(), str::to_owned);
                match text.split_once('-') {
                    Some((least, most)) => format!("HTTP.RES.STATUS.BETWEEN({least},{most})"),
                    None => format!("HTTP.RES.STATUS.EQ({text})"),
                }
            };
            let all: Vec<String> = ranges.iter().map(one).collect();
            Some(if all.len() == 1 { all[0].clone() } else { format!("({})", all.join(" || ")) })
        }
        _ => None,
    }
}

fn compared(what: &str, value: &Value) -> Option<String> {
    if let Value::String(text) = value {
        return Some(format!("{what}.EQ({})", quote(text)));
    }
    let table = value.as_object()?;
    let Some((test, text)) = table.iter().find(|(key, _)| *key != "name") else {
        return Some(format!("{what}.EXISTS"));
    };
    let operator = match &test[..] {
        "equals" => "EQ",
        "starts_with" => "STARTSWITH",
        "ends_with" => "ENDSWITH",
        "contains" => "CONTAINS",
        "regex" => {
            return Some(format!("{what}.REGEX_MATCH({})", pattern(text.as_str()?)));
        }
        "one_of" => {
            let texts = text.as_array()?.iter().filter_map(Value::as_str);
            let all: Vec<String> = texts.map(|text| format!("{what}.EQ({})", quote(text))).collect();
            return Some(if all.len() == 1 { all[0].clone() } else { format!("({})", all.join(" || ")) });
        }
        _ => return None,
    };
    Some(format!("{what}.{operator}({})", quote(text.as_str()?)))
}

/// `re/…/`, with a delimiter that the pattern has not; one that has all of them escapes its slashes, which means the same.
pub(super) fn pattern(text: &str) -> String {
    if let Some(delimiter) = "/~%@`=&".chars().find(|c| !text.contains(*c)) {
        return format!("re{delimiter}{text}{delimiter}");
    }
    let mut out = String::from("re/");
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' => out.extend(['\\', chars.next().unwrap_or('\\')]),
            '/' => out.push_str("\\/"),
            c => out.push(c),
        }
    }
    out + "/"
}

pub(super) fn quote(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}
