//! Texts that actions put together, as a rule's values have them: `{host}`, `{url}`, ….

use serde_json::{Map, Value, json};

use super::expression::{Piece, Refused, pieces};
use crate::config::resolve::object::header;

/// A text with places to fill in, and what is not the same to the letter.
pub(super) struct Template {
    pub text: String,
    pub notes: Vec<String>,
}

pub(super) fn template(text: &str) -> Result<Template, Refused> {
    let mut out = Template { text: String::new(), notes: Vec::new() };
    for piece in pieces(text)? {
        match piece {
            Piece::Text(text) => out.text.push_str(&text),
            Piece::Chain(chain) => {
                let plain = [".HTTP_URL_SAFE", ".TYPECAST_TEXT_T", ".URL_RESERVED_CHARS_SAFE"]
                    .iter()
                    .fold(&chain[..], |chain, suffix| chain.strip_suffix(suffix).unwrap_or(chain));
                out.text.push_str(match plain {
                    "HTTP.REQ.HOSTNAME.SERVER" => "{hostname}",
                    "HTTP.REQ.HOSTNAME" => "{host}",
                    "HTTP.REQ.URL" | "HTTP.REQ.URL.PATH_AND_QUERY" => "{url}",
                    "HTTP.REQ.URL.PATH" => "{path}",
                    "HTTP.REQ.URL.QUERY" => "{query}",
                    "CLIENT.IP.SRC" | "CLIENT.IPV6.SRC" => "{client}",
                    _ => return Err(Refused::Unsupported(chain, "no rule fills this in")),
                });
            }
        }
    }
    Ok(out)
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
