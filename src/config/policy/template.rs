//! Texts that actions put together, as a rule's values have them: `{host}`, `{url}`, ….

use serde_json::{Map, Value, json};

use super::expression::{Piece, Refused, pieces};
use crate::config::resolve::object::header;
use crate::model::filled::Filled;

/// A text with places to fill in, and what is not the same to the letter.
pub(super) struct Template {
    pub text: String,
    pub notes: Vec<String>,
}

pub(super) fn template(text: &str) -> Result<Template, Refused> {
    let mut out = Template { text: String::new(), notes: Vec::new() };
    for piece in pieces(text)? {
        match piece {
            Piece::Text(text) if Filled::find(&text).is_some() => {
                return Err(Refused::Unsupported(text, "what stands in the braces would be filled in"));
            }
            Piece::Text(text) => out.text.push_str(&text),
            Piece::Chain { names, argument, written } => {
                let plain = [".HTTP_URL_SAFE", ".TYPECAST_TEXT_T", ".URL_RESERVED_CHARS_SAFE", ".TYPECAST_STRING_T"]
                    .iter()
                    .fold(&names[..], |names, suffix| names.strip_suffix(suffix).unwrap_or(names));
                out.text += &filled(plain, argument.as_deref())
                    .ok_or(Refused::Unsupported(written, "no rule fills this in"))?;
            }
        }
    }
    Ok(out)
}

/// The braces that stand for a chain of names.
fn filled(names: &str, argument: Option<&str>) -> Option<String> {
    let named = |kind: &str| argument.map(|name| format!("{kind}:{name}"));
    let inner = match names {
        "HTTP.REQ.HOSTNAME.SERVER" => "hostname".to_owned(),
        "HTTP.REQ.HOSTNAME" => "host".to_owned(),
        "HTTP.REQ.URL" | "HTTP.REQ.URL.PATH_AND_QUERY" => "url".to_owned(),
        "HTTP.REQ.URL.PATH" => "path".to_owned(),
        "HTTP.REQ.URL.QUERY" => "query".to_owned(),
        "HTTP.REQ.METHOD" => "method".to_owned(),
        "HTTP.REQ.HEADER()" => named("header")?,
        "HTTP.REQ.COOKIE.VALUE()" => named("cookie")?,
        "HTTP.REQ.URL.QUERY.VALUE()" => named("query")?,
        "CLIENT.IP.SRC" | "CLIENT.IPV6.SRC" => "client".to_owned(),
        "CLIENT.TCP.DSTPORT" => "port".to_owned(),
        "CLIENT.SSL.CLIENT_HELLO.SNI" => "sni".to_owned(),
        _ => return None,
    };
    Filled::parse(&inner)?;
    Some(format!("{{{inner}}}"))
}

/// `respond` of a rule, out of the text of a whole answer.
///
/// Errors: a status line or a field that does not read; why.
pub(super) fn respond(answer: &str) -> Result<Value, String> {
    let (head, body) = answer.split_once("\r\n\r\n").or_else(|| answer.split_once("\n\n")).unwrap_or((answer, ""));
    let mut lines = head.lines();
    let status_line = lines.next().unwrap_or_default();
    let status =
        status_line.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)).and_then(|s| s.parse().ok());
    let Some(status @ 200..=599u16) = status else {
        return Err(format!("`{status_line}` is no status line with a final status"));
    };
    let mut headers = Map::new();
    for line in lines.filter(|line| !line.trim().is_empty()) {
        let Some((name, value)) = line.split_once(':') else { return Err(format!("`{line}` is no field")) };
        // Where the body ends is written by whoever sends it.
        if !["content-length", "connection", "transfer-encoding"].contains(&&name.trim().to_ascii_lowercase()[..]) {
            header(name.trim(), value.trim())?;
            headers.insert(name.trim().to_owned(), value.trim().into());
        }
    }
    let mut respond = Map::from_iter([("status".to_owned(), Value::from(status))]);
    if !headers.is_empty() {
        respond.insert("headers".into(), headers.into());
    }
    if !body.is_empty() {
        respond.insert("body".into(), body.into());
    }
    Ok(json!({ "respond": respond }))
}
