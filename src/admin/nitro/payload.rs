//! Bodies: JSON under any media type, and the form of the old Java SDK.

use axum::http::HeaderMap;
use serde_json::Value;

use super::answer::{Fault, Object};
use super::target::{decode, printable};
use crate::config::edit::parse_json;

/// Objects of one bulk request.
pub(super) const BULK_MAX: usize = 1_000;

/// What a body says.
#[derive(Debug, Default)]
pub(super) struct Payload {
    /// The resource it names, as written.
    pub resource: Option<String>,
    pub objects: Vec<Object>,
    /// The objects came in an array.
    pub is_bulk: bool,
    /// `params.action`, of clients that do not put it into the query.
    pub action: Option<String>,
    pub warning: bool,
    pub onerror: Option<String>,
}

/// What to do when one of several statements fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OnError {
    /// What was done stays, the rest is not tried.
    Exit,
    /// The rest is tried.
    Continue,
    /// Nothing is done.
    Rollback,
}

// === impl Payload ===

impl Payload {
    pub fn parse(body: &[u8]) -> Result<Payload, Fault> {
        let text = std::str::from_utf8(body).map_err(|_| Fault::new(278, "the body is not UTF-8"))?;
        let text = text.trim();
        if text.is_empty() {
            return Ok(Payload::default());
        }
        // curl calls JSON a form; a form never begins with a brace.
        let form = if text.starts_with('{') { None } else { Some(form_object(text)?) };
        match parse_json(form.as_deref().unwrap_or(text)) {
            Ok(Value::Object(root)) => Payload::of(root),
            Ok(_) => Err(Fault::new(278, "the body is not a JSON object")),
            Err(error) => Err(Fault::new(278, format!("the body is not JSON: {}", printable(&error.to_string())))),
        }
    }

    fn of(root: Object) -> Result<Payload, Fault> {
        let mut payload = Payload::default();
        for (key, value) in root {
            match &key[..] {
                "params" => payload.read_params(&value)?,
                "sessionid" => {}
                _ if payload.resource.is_some() => {
                    return Err(Fault::new(278, "the body names more than one resource"));
                }
                _ => payload.read_resource(key, value)?,
            }
        }
        Ok(payload)
    }

    fn read_resource(&mut self, key: String, value: Value) -> Result<(), Fault> {
        let wrong = || Fault::new(278, printable(&key));
        self.objects = match value {
            Value::Object(object) => vec![object],
            Value::Array(items) if items.len() > BULK_MAX => return Err(Fault::new(1072, printable(&key))),
            Value::Array(items) => {
                self.is_bulk = true;
                let object = |item| match item {
                    Value::Object(object) => Ok(object),
                    _ => Err(wrong()),
                };
                items.into_iter().map(object).collect::<Result<_, _>>()?
            }
            Value::Null => Vec::new(),
            _ => return Err(wrong()),
        };
        self.resource = Some(key);
        Ok(())
    }

    fn read_params(&mut self, value: &Value) -> Result<(), Fault> {
        let Value::Object(params) = value else { return Err(Fault::new(278, "params")) };
        let text = |key: &str| params.get(key).and_then(Value::as_str).map(str::to_owned);
        self.action = text("action").filter(|action| !action.is_empty());
        self.onerror = text("onerror");
        self.warning = matches!(params.get("warning"), Some(Value::Bool(true)))
            || text("warning").is_some_and(|word| word.eq_ignore_ascii_case("yes"));
        Ok(())
    }
}

/// `object=<json>` among the fields of a form.
fn form_object(text: &str) -> Result<String, Fault> {
    let field = text.split('&').find_map(|field| field.strip_prefix("object="));
    let field = field.ok_or_else(|| Fault::new(278, "the body is neither JSON nor a form with the field object"))?;
    decode(&field.replace('+', " "))
}

// === impl OnError ===

impl OnError {
    /// From the header, the query, or the body.
    pub fn of(headers: &HeaderMap, query: Option<&str>, body: Option<&str>) -> Result<OnError, Fault> {
        let header = headers.get("x-nitro-onerror").map(|value| value.to_str().unwrap_or("?"));
        let Some(word) = header.or(query).or(body) else { return Ok(OnError::Exit) };
        match &word.trim().to_ascii_lowercase()[..] {
            "exit" | "" => Ok(OnError::Exit),
            "continue" => Ok(OnError::Continue),
            "rollback" => Ok(OnError::Rollback),
            _ => Err(Fault::new(1097, format!("onerror, {}", printable(word)))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_and_the_form_of_the_java_sdk_say_the_same() {
        let json = r#"{"params":{"action":"disable"},"lbvserver":{"name":"a b"}}"#;
        let form = "object=%7B%22params%22%3A%7B%22action%22%3A%22disable%22%7D%2C%22lbvserver%22%3A\
                    %7B%22name%22%3A%22a+b%22%7D%7D";
        for body in [json, form] {
            let payload = Payload::parse(body.as_bytes()).unwrap();
            assert_eq!((payload.resource.as_deref(), payload.action.as_deref()), (Some("lbvserver"), Some("disable")));
            assert_eq!(payload.objects[0]["name"], "a b");
        }
    }

    #[test]
    fn a_body_that_is_none_is_refused() {
        let deep = format!("{{\"a\":{}1{}}}", "[".repeat(10_000), "]".repeat(10_000));
        for body in ["{", "[]", "3", "a=b", "{\"a\":1}", "{\"a\":[1]}", "{\"a\":{},\"b\":{}}", &deep] {
            assert!(Payload::parse(body.as_bytes()).is_err(), "{body:.40}");
        }
        assert!(Payload::parse(b"{\"a\":{\"b\":1,\"b\":2}}").is_err(), "a key that comes twice");
        let many = format!("{{\"a\":[{}]}}", vec!["{}"; BULK_MAX + 1].join(","));
        assert_eq!(Payload::parse(many.as_bytes()).unwrap_err().code, 1072);
    }
}
