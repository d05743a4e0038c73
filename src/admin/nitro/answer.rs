//! What leaves: JSON with `errorcode`, `message` and `severity`, under status lines whose words clients compare.

use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use hyper::ext::ReasonPhrase;
use serde_json::{Map, Value, json};

/// A JSON object on its way out, keys in the order in which they are put in.
pub(super) type Object = Map<String, Value>;

/// A good answer.
#[derive(Debug)]
pub(super) struct Answer {
    status: u16,
    /// After `errorcode`, `message` and `severity`.
    members: Object,
    warning: Option<Warning>,
    cookie: Option<String>,
}

/// Done, and worth knowing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Warning {
    /// 0: none of NetScaler's.
    pub code: u32,
    pub text: String,
}

/// A request that was declined, with NetScaler's number for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub status: u16,
    pub code: u32,
    pub message: String,
    /// Seconds.
    pub retry_after: Option<u64>,
}

/// The words of a status line. GONITRO decides by them; what they are not, it takes for success.
fn reason(status: u16) -> Option<&'static str> {
    match status {
        207 => Some("Multi Status"),
        209 => Some("X-NITRO-WARNING"),
        599 => Some("Netscaler specific error"),
        _ => None,
    }
}

fn respond(status: u16, body: &Object) -> Response {
    let code = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let text = Value::Object(body.clone()).to_string();
    let mut response =
        (code, [(header::CONTENT_TYPE, "application/json; charset=utf-8"), (header::CACHE_CONTROL, "no-store")], text)
            .into_response();
    if let Some(words) = reason(status) {
        response.extensions_mut().insert(ReasonPhrase::from_static(words.as_bytes()));
    }
    response
}

fn envelope(code: u32, message: &str, severity: &str) -> Object {
    let mut body = Object::new();
    body.insert("errorcode".into(), code.into());
    body.insert("message".into(), message.into());
    body.insert("severity".into(), severity.into());
    body
}

// === impl Answer ===

impl Answer {
    /// 200, or whatever success is called here.
    pub fn with_status(status: u16) -> Answer {
        Answer { status, members: Object::new(), warning: None, cookie: None }
    }

    pub fn ok() -> Answer {
        Answer::with_status(200)
    }

    pub fn member(mut self, key: &str, value: Value) -> Answer {
        self.members.insert(key.into(), value);
        self
    }

    pub fn cookie(self, cookie: String) -> Answer {
        Answer { cookie: Some(cookie), ..self }
    }

    /// Says that it is done, but; only for callers that asked for warnings.
    pub fn warning(self, warning: Option<Warning>) -> Answer {
        Answer { warning, ..self }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut body = match &self.warning {
            None => envelope(0, "Done", "NONE"),
            Some(warning) => envelope(warning.code, &warning.text, "WARNING"),
        };
        body.extend(self.members);
        let mut response = respond(if self.warning.is_some() { 209 } else { self.status }, &body);
        if let Some(warning) = &self.warning {
            let text = if warning.code == 0 { warning.text.clone() } else { warning.line() };
            response.headers_mut().insert(HeaderName::from_static("x-nitro-warning"), value(&text));
        }
        if let Some(cookie) = &self.cookie {
            response.headers_mut().insert(header::SET_COOKIE, value(cookie));
        }
        response
    }
}

/// What a header field cannot carry is left out.
fn value(text: &str) -> HeaderValue {
    let printable: String = text.chars().map(|c| if c.is_ascii_graphic() || c == ' ' { c } else { '?' }).collect();
    HeaderValue::from_str(&printable).unwrap_or(HeaderValue::from_static(""))
}

// === impl Warning ===

impl Warning {
    /// `1067 - Feature(s) not enabled [LB]`
    fn line(&self) -> String {
        format!("{} - {}", self.code, self.text)
    }
}

// === impl Fault ===

impl Fault {
    /// NetScaler's text for `code`, with ` [what]` where there is something to say.
    pub fn new(code: u32, what: impl AsRef<str>) -> Fault {
        let what = what.as_ref();
        let base = base_text(code);
        let message = if what.is_empty() { base.to_owned() } else { format!("{base} [{what}]") };
        Fault { status: status_of(code), code, message, retry_after: None }
    }

    /// In words of its own.
    pub fn saying(code: u32, message: impl Into<String>) -> Fault {
        Fault { status: status_of(code), code, message: message.into(), retry_after: None }
    }

    /// No object of this name: `No such resource [name, web9]`.
    pub fn no_such(key: &str, name: &str) -> Fault {
        Fault::new(258, format!("{key}, {name}"))
    }

    pub fn status(self, status: u16) -> Fault {
        Fault { status, ..self }
    }

    pub fn retry_after(self, seconds: u64) -> Fault {
        Fault { retry_after: Some(seconds), ..self }
    }

    /// As an item of a bulk answer.
    pub fn item(&self) -> Value {
        json!({ "errorcode": self.code, "message": self.message, "severity": "ERROR" })
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = respond(self.status, &envelope(self.code, &self.message, "ERROR"));
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        response
    }
}

/// The answer to several statements, of which some failed: an item for each.
pub(super) fn bulk_failed(items: Vec<Value>) -> Response {
    let mut body = envelope(1243, "Bulk operation failed", "ERROR");
    body.insert("response".into(), items.into());
    respond(207, &body)
}

/// An entry of such an answer that was carried out.
pub(super) fn done() -> Value {
    json!({ "errorcode": 0, "message": "Done", "severity": "NONE" })
}

/// Entries of a bulk of which nothing stays: those before the one that failed say so.
pub(super) fn rolled_back(before: Vec<Value>, fault: &Fault) -> Vec<Value> {
    let taken_back = || Fault::new(1243, "rolled back").item();
    before.iter().map(|_| taken_back()).chain([fault.item()]).collect()
}

/// The status that goes with a number; what is NetScaler's own business is 599.
fn status_of(code: u32) -> u16 {
    match code {
        258 | 1088 => 404,
        273 => 409,
        257 | 340 | 2138 => 403,
        352 | 354 | 355 | 444 | 1026 | 1027 => 401,
        278 | 431 | 1074 | 1075 | 1089..=1099 | 1105..=1109 => 400,
        283 | 296 => 413,
        316 => 408,
        291 => 503,
        1043 => 500,
        _ => 599,
    }
}

fn base_text(code: u32) -> &'static str {
    match code {
        257 => "Operation not permitted",
        258 => "No such resource",
        273 => "Resource already exists",
        278 => "Invalid argument",
        283 => "File too large",
        291 => "Resource temporarily unavailable",
        296 => "Message too long",
        301 => "Operation not supported",
        315 => "Resource in use",
        316 => "Operation timed out",
        344 => "No Service",
        350 => "Invalid backup vserver",
        351 => "No such server",
        354 | 355 => "Invalid username or password",
        430 => "No such backup vserver",
        431 => "No arguments to set",
        444 => "Session expired or killed. Please login again",
        451 => "Already in this state",
        461 => "No such Vserver",
        462 => "No such service",
        1027 => "Not logged in or connection timed out",
        1043 => "Internal error",
        1067 => "Feature(s) not enabled",
        1072 => "Maximum resource limit reached",
        1074 => "Invalid value",
        1075 => "Invalid name; names must begin with an alphanumeric character or underscore",
        1088 => "No such command",
        1090 => "No such argument",
        1092 => "Arguments cannot both be specified",
        1093 => "Argument pre-requisite missing",
        1095 => "Required argument missing",
        1097 => "Invalid argument value",
        1243 => "Bulk operation failed",
        1108 => "Integer value exceeds maximum",
        1109 => "Integer value below minimum",
        2138 => "Not authorized to execute this command",
        2144 => "The VIP is already a backup in the chain",
        2164 => "Default monitor cannot be unbound from a service",
        _ => "Operation not possible",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(response: &Response) -> (u16, String) {
        let words = response.extensions().get::<ReasonPhrase>().map(|r| String::from_utf8_lossy(r.as_bytes()).into());
        (response.status().as_u16(), words.unwrap_or_default())
    }

    #[test]
    fn status_lines_carry_the_words_that_clients_compare() {
        assert_eq!(line(&Fault::new(2164, "").into_response()), (599, "Netscaler specific error".into()));
        assert_eq!(line(&bulk_failed(Vec::new())), (207, "Multi Status".into()));
        let warned = Answer::with_status(201).warning(Some(Warning { code: 1067, text: "x".into() }));
        assert_eq!(line(&warned.into_response()), (209, "X-NITRO-WARNING".into()));
        for (code, status) in [(258, 404), (273, 409), (278, 400), (354, 401), (444, 401), (1027, 401), (2138, 403)] {
            assert_eq!(line(&Fault::new(code, "").into_response()), (status, String::new()));
        }
    }

    #[test]
    fn a_message_ends_with_what_it_is_about() {
        assert_eq!(Fault::no_such("name", "t3").message, "No such resource [name, t3]");
        assert_eq!(Fault::new(1027, "").message, "Not logged in or connection timed out");
    }

    #[test]
    fn what_a_caller_wrote_cannot_begin_a_header_of_its_own() {
        let text = "a\r\nset-cookie: NITRO_AUTH_TOKEN=1".to_owned();
        let response = Answer::ok().warning(Some(Warning { code: 0, text })).into_response();
        assert_eq!(response.headers()["x-nitro-warning"], "a??set-cookie: NITRO_AUTH_TOKEN=1");
        assert!(!response.headers().contains_key("set-cookie"));
    }
}
