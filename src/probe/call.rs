//! One call over HTTP for a trigger or a query: one request, one answer, judged. Redirects are not followed, proxies of
//! the environment are not used, certificates are verified against the system's roots. Every step has a time-out, and of
//! the answer's body no more than 64 KiB are read.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::{HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};

use super::http::CONSIDERED_BY_CHECKS;
use super::http::judge;
use super::http::response::{Head, Response};
use super::surroundings::Surroundings;
use super::{Miss, tls};
use crate::model::check::{BodyMatch, HttpExpect};
use crate::model::id::Name;
use crate::model::scenario::Secret;

/// Until the connection stands, its TLS handshake included. A call with a shorter time-out ends sooner.
const CONNECT_MOST: Duration = Duration::from_secs(5);
/// Connections that idle, to one host, and how long.
const IDLE_MOST: usize = 4;
const IDLE_TIME: Duration = Duration::from_secs(30);

/// Makes calls; keeps a few connections.
pub struct Caller {
    /// `https://` needs roots: without any only plain calls can be made.
    client: Result<reqwest::Client, String>,
    plain: reqwest::Client,
    surroundings: Surroundings,
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct HttpCall {
    pub uri: Name,
    pub method: Name,
    pub headers: Vec<(Name, Name)>,
    pub body: Option<String>,
    pub expect: HttpExpect,
    /// From the name to the last byte of the answer.
    pub timeout: Duration,
}

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Called {
    /// The expected answer; its status line.
    Expected(String),
    /// Another one.
    Other {
        status: u16,
        why: String,
        /// The status was expected, and the body not; `shape`: it is not even of the form that could be compared.
        body: bool,
        shape: bool,
        retry_after: Option<Duration>,
    },
    /// None, or none that could be read.
    Silent(String),
}

// === impl Caller ===

impl Caller {
    pub fn new(surroundings: Surroundings) -> Caller {
        let plain = builder().build().unwrap_or_default();
        let client = match tls::verifying() {
            Ok(config) => {
                let mut config = (*config).clone();
                config.alpn_protocols = vec![b"http/1.1".to_vec()];
                builder().tls_backend_preconfigured(config).build().map_err(|error| innermost(&error))
            }
            Err(Miss::Void(why) | Miss::Fail(why)) => Err(why),
        };
        Caller { client, plain, surroundings }
    }

    /// Where secrets are found.
    pub fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// The value of a secret. Errors: in words, without the value.
    pub async fn secret(&self, secret: &Secret) -> Result<String, String> {
        self.surroundings.secret(secret).await.map_err(|(Miss::Void(why) | Miss::Fail(why))| why)
    }

    /// Makes one call. Never longer than its time-out.
    pub async fn call(&self, call: &HttpCall) -> Called {
        match tokio::time::timeout(call.timeout, self.attempt(call)).await {
            Ok(Ok(called)) => called,
            Ok(Err(why)) => Called::Silent(why),
            Err(_) => Called::Silent(format!("no complete answer within {:?}", call.timeout)),
        }
    }

    async fn attempt(&self, call: &HttpCall) -> Result<Called, String> {
        let is_tls = call.uri.get(..8).is_some_and(|scheme| scheme.eq_ignore_ascii_case("https://"));
        let client = if is_tls { self.client.as_ref().map_err(String::clone)? } else { &self.plain };
        let method: reqwest::Method = call.method.parse().map_err(|_| format!("{} is no method", call.method))?;
        let mut headers = HeaderMap::new();
        for (name, value) in &call.headers {
            let name: HeaderName = name.parse().map_err(|_| format!("{name} is not the name of a field"))?;
            // Its value may hold a secret.
            let value = HeaderValue::from_str(value).map_err(|_| format!("the value of {name} is not one of HTTP"))?;
            headers.append(name, value);
        }
        let mut request = client.request(method, &*call.uri).headers(headers);
        if let Some(body) = &call.body {
            request = request.body(body.clone());
        }
        let mut answer = request.send().await.map_err(|error| innermost(&error.without_url()))?;
        let retry_after = answer.headers().get(RETRY_AFTER).and_then(|value| retry_after(value.to_str().ok()?));
        let head = Head {
            status: answer.status().as_u16(),
            reason: answer.status().canonical_reason().unwrap_or_default().to_owned(),
            fields: answer.headers().iter().map(|(n, v)| (n.to_string(), v.as_bytes().to_vec())).collect(),
        };
        let (mut body, mut cut) = (Vec::new(), false);
        while let Some(chunk) = answer.chunk().await.map_err(|error| innermost(&error.without_url()))? {
            let room = CONSIDERED_BY_CHECKS - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                cut = true;
                break;
            }
        }
        Ok(judged(head, body, cut, &call.expect, retry_after))
    }
}

fn builder() -> reqwest::ClientBuilder {
    reqwest::Client::builder()
        .connect_timeout(CONNECT_MOST)
        .pool_max_idle_per_host(IDLE_MOST)
        .pool_idle_timeout(IDLE_TIME)
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("bascule/", env!("CARGO_PKG_VERSION")))
}

fn judged(head: Head, body: Vec<u8>, cut: bool, expect: &HttpExpect, retry_after: Option<Duration>) -> Called {
    let status = head.status;
    let expected_status = expect.status.iter().any(|range| range.contains(status));
    let shape = match &expect.body {
        Some(BodyMatch::Json { pointer, .. }) if expected_status => {
            let value: Option<serde_json::Value> = (!cut).then(|| serde_json::from_slice(&body).ok()).flatten();
            value.as_ref().and_then(|value| value.pointer(pointer)).is_none()
        }
        Some(BodyMatch::JsonIs { pointer, is }) if expected_status => {
            let value: Option<serde_json::Value> = (!cut).then(|| serde_json::from_slice(&body).ok()).flatten();
            let held =
                value.as_ref().and_then(|value| value.pointer(pointer)).map(|value| judge::json_holds(value, is));
            !matches!(held, Some(Ok(Some(_))))
        }
        _ => false,
    };
    match judge::whole(&Response::decoded(head, body, cut), expect) {
        Ok(answer) => Called::Expected(answer.detail),
        Err(why) => Called::Other { status, why, body: expected_status, shape, retry_after },
    }
}

/// Seconds, or a date (RFC 9110 §10.2.3).
fn retry_after(value: &str) -> Option<Duration> {
    if let Ok(seconds) = value.trim().parse::<u32>() {
        return Some(Duration::from_secs(seconds.into()));
    }
    let at = jiff::fmt::rfc2822::parse(value.trim()).ok()?.timestamp();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    let then = Duration::from_secs(u64::try_from(at.as_second()).ok()?);
    Some(then.saturating_sub(now))
}

/// The innermost reason says most: `Connection refused (os error 111)`. A certificate has its own words.
fn innermost(error: &reqwest::Error) -> String {
    if let Some(why) = tls::blame::of(error) {
        return format!("no connection: {why}");
    }
    let mut reason: &dyn std::error::Error = error;
    while let Some(source) = reason.source() {
        reason = source;
    }
    let said = reason.to_string();
    if error.is_connect() { format!("no connection: {said}") } else { said }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::check::StatusRange;

    fn expect(body: Option<BodyMatch>) -> HttpExpect {
        let status = vec![StatusRange { from: 200, to: 299 }];
        HttpExpect { status, headers: Vec::new(), body, trofs_code: None, trofs_body: None }
    }

    fn answer(status: u16, body: &str, wanted: Option<BodyMatch>) -> Called {
        let head = Head { status, reason: String::new(), fields: Vec::new() };
        judged(head, body.as_bytes().to_vec(), false, &expect(wanted), None)
    }

    #[test]
    fn an_answer_of_the_wrong_shape_is_told_from_another_value() {
        let wanted = || Some(BodyMatch::Json { pointer: "/lag".into(), equals: 0.into() });
        assert!(matches!(answer(200, r#"{"lag":0}"#, wanted()), Called::Expected(_)));
        let shape = |called| match called {
            Called::Other { body: true, shape, .. } => shape,
            other => panic!("{other:?}"),
        };
        assert!(!shape(answer(200, r#"{"lag":7}"#, wanted())));
        assert!(shape(answer(200, "{}", wanted())));
        assert!(shape(answer(200, "<html>", wanted())));
        let most = || Some(BodyMatch::JsonIs { pointer: "/lag".into(), is: "<= 60".into() });
        assert!(matches!(answer(200, r#"{"lag":59}"#, most()), Called::Expected(_)));
        assert!(!shape(answer(200, r#"{"lag":61}"#, most())));
        assert!(shape(answer(200, r#"{"lag":"long"}"#, most())));
        assert!(shape(answer(200, r#"{"lag":null}"#, most())));
        assert!(matches!(answer(503, "", wanted()), Called::Other { status: 503, body: false, .. }));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        assert_eq!(retry_after("120"), Some(Duration::from_secs(120)));
        assert_eq!(retry_after("Fri, 31 Dec 1999 23:59:59 GMT"), Some(Duration::ZERO));
        assert_eq!(retry_after("soon"), None);
    }
}
