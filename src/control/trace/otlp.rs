//! Spans as OTLP/JSON (opentelemetry-proto 1, `ExportTraceServiceRequest`), named as OpenTelemetry's conventions for HTTP
//! have it. Numbers of 64 bits are texts, names of traces and spans hexadecimal digits.

use serde_json::{Value, json};

use crate::model::id::Name;
use crate::model::trace::SAMPLED;
use crate::snapshot::live::{Traced, Tried};

/// `SpanKind`
const SERVER: u8 = 2;
const CLIENT: u8 = 3;
/// `StatusCode`
const ERROR: u8 = 2;
/// `SpanFlags`: it is known whether the parent was elsewhere, and it was.
const PARENT_IS_REMOTE: u32 = 0x300;
const PARENT_IS_LOCAL: u32 = 0x100;
/// Methods by their names; others are many, and of clients' choice.
const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"];

/// One request with all spans of these.
pub(super) fn encode(service: &str, appliance: &Name, batch: &[Box<Traced>]) -> Value {
    let spans: Vec<Value> =
        batch.iter().flat_map(|traced| std::iter::once(of_request(traced)).chain(of_tries(traced))).collect();
    json!({ "resourceSpans": [{
        "resource": { "attributes": [
            text("service.name", service),
            text("service.instance.id", appliance),
            text("service.version", env!("CARGO_PKG_VERSION")),
        ]},
        "scopeSpans": [{
            "scope": { "name": "bascule", "version": env!("CARGO_PKG_VERSION") },
            "spans": spans,
        }],
    }]})
}

fn of_request(traced: &Traced) -> Value {
    let mut attributes = common(traced);
    let (host, port) = host_and_port(&traced.host);
    attributes.extend([
        text("url.path", &traced.path),
        text("url.scheme", if traced.tls { "https" } else { "http" }),
        text("client.address", &traced.client.ip().to_canonical().to_string()),
        number("client.port", traced.client.port()),
        text("server.address", host),
        text("user_agent.original", &traced.agent),
        text("bascule.vserver", &traced.vserver),
        text("bascule.rule", traced.rule.as_deref().unwrap_or_default()),
        text("bascule.request_id", &traced.id),
        text("bascule.ending", &traced.ending.to_string()),
        number("http.request.body.size", traced.bytes_in),
        number("http.response.body.size", traced.bytes_out),
    ]);
    attributes.extend(port.map(|port| number("server.port", port)));
    attributes.extend((traced.status > 0).then(|| number("http.response.status_code", traced.status)));
    let error = traced.failed.then(|| traced.ending.to_string());
    let mut span = span(traced, &traced.span, SERVER, (traced.began, traced.ended));
    if let Some(parent) = traced.parent {
        span["parentSpanId"] = hex(&parent).into();
        span["flags"] = (PARENT_IS_REMOTE | u32::from(SAMPLED)).into();
    }
    finished(span, attributes, &traced.moments, error)
}

fn of_tries(traced: &Traced) -> impl Iterator<Item = Value> {
    traced.tries.iter().map(|tried| of_try(traced, tried))
}

fn of_try(traced: &Traced, tried: &Tried) -> Value {
    let mut attributes = common(traced);
    attributes.extend([
        text("server.address", &tried.address.ip().to_canonical().to_string()),
        number("server.port", tried.address.port()),
        text("bascule.service", &tried.service),
        text("bascule.vserver", &tried.vserver),
        json!({ "key": "bascule.connection.reused", "value": { "boolValue": tried.reused } }),
    ]);
    attributes.extend((tried.status > 0).then(|| number("http.response.status_code", tried.status)));
    // Of a client's span every status from 400 on is one.
    let error = tried.failed.clone().or_else(|| (tried.status >= 400).then(String::new));
    let mut span = span(traced, &tried.span, CLIENT, (tried.began, tried.ended));
    span["parentSpanId"] = hex(&traced.span).into();
    finished(span, attributes, &tried.moments, error)
}

fn span(traced: &Traced, id: &[u8], kind: u8, (began, ended): (u64, u64)) -> Value {
    let method = known(&traced.method);
    json!({
        "traceId": hex(&traced.trace),
        "spanId": hex(id),
        "flags": PARENT_IS_LOCAL | u32::from(SAMPLED),
        "name": if method == "_OTHER" { "HTTP" } else { method },
        "kind": kind,
        "startTimeUnixNano": began.to_string(),
        "endTimeUnixNano": ended.max(began).to_string(),
    })
}

/// What both kinds say.
fn common(traced: &Traced) -> Vec<Value> {
    let method = known(&traced.method);
    let original = if method == "_OTHER" { traced.method.as_str() } else { "" };
    vec![
        text("http.request.method", method),
        text("http.request.method_original", original),
        text("network.protocol.version", traced.protocol.strip_prefix("HTTP/").unwrap_or_default()),
    ]
}

fn known(method: &str) -> &str {
    if METHODS.contains(&method) { method } else { "_OTHER" }
}

/// Empty texts are left out.
fn finished(mut span: Value, attributes: Vec<Value>, moments: &[(&'static str, u64)], error: Option<String>) -> Value {
    let said = |attribute: &Value| attribute["value"]["stringValue"] != "";
    span["attributes"] = attributes.into_iter().filter(said).collect();
    if !moments.is_empty() {
        let event = |(name, at): &(&str, u64)| json!({ "timeUnixNano": at.to_string(), "name": name });
        span["events"] = moments.iter().map(event).collect();
    }
    if let Some(message) = error {
        span["status"] =
            if message.is_empty() { json!({ "code": ERROR }) } else { json!({ "code": ERROR, "message": message }) };
    }
    span
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": value } })
}

fn number(key: &str, value: impl Into<u64>) -> Value {
    json!({ "key": key, "value": { "intValue": value.into().to_string() } })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

fn host_and_port(host: &str) -> (&str, Option<u16>) {
    match host.rsplit_once(':') {
        Some((name, port)) if !name.is_empty() && !port.contains(']') => match port.parse() {
            Ok(port) => (name, Some(port)),
            Err(_) => (host, None),
        },
        _ => (host, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::ending::{Ending, Phase, Reason, Who};

    fn traced() -> Traced {
        Traced {
            trace: *b"0123456789abcdef",
            span: *b"requests",
            parent: Some(*b"calledby"),
            began: 1_795_992_617_000_000_000,
            ended: 1_795_992_617_250_000_001,
            client: "[::ffff:192.0.2.7]:40000".parse().unwrap(),
            tls: true,
            method: "GET".into(),
            host: "www.example.test:8443".into(),
            path: "/a".into(),
            protocol: "HTTP/1.1",
            agent: "curl/8.5".into(),
            vserver: "web".into(),
            rule: None,
            id: "6a0b-1-1".into(),
            status: 200,
            failed: false,
            bytes_in: 0,
            bytes_out: 512,
            ending: Ending::new(Who::Server, Phase::Body, Reason::Done),
            moments: vec![("head complete", 1_795_992_617_000_100_000)],
            tries: vec![
                Tried {
                    span: *b"trynum01",
                    vserver: "web".into(),
                    service: "web1".into(),
                    address: "192.0.2.11:80".parse().unwrap(),
                    began: 1_795_992_617_000_200_000,
                    ended: 1_795_992_617_000_300_000,
                    reused: false,
                    status: 0,
                    failed: Some("Connection refused".into()),
                    moments: Vec::new(),
                },
                Tried {
                    span: *b"trynum02",
                    vserver: "web".into(),
                    service: "web2".into(),
                    address: "[2001:db8::2]:80".parse().unwrap(),
                    began: 1_795_992_617_000_400_000,
                    ended: 1_795_992_617_250_000_000,
                    reused: true,
                    status: 200,
                    failed: None,
                    moments: vec![("request sent", 1_795_992_617_000_500_000)],
                },
            ],
        }
    }

    fn spans(traced: Traced) -> Vec<Value> {
        let sent = encode("edge", &"box-a".into(), &[Box::new(traced)]);
        sent["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap().clone()
    }

    fn said<'a>(span: &'a Value, key: &str) -> Option<&'a str> {
        let attributes = span["attributes"].as_array()?;
        let value = &attributes.iter().find(|attribute| attribute["key"] == key)?["value"];
        value["stringValue"].as_str().or(value["intValue"].as_str())
    }

    #[test]
    fn a_request_is_a_span_of_a_server_and_each_try_one_of_a_client_below_it() {
        let spans = spans(traced());
        let ids: Vec<_> = spans.iter().map(|span| (span["kind"].clone(), span["parentSpanId"].clone())).collect();
        let own = hex(b"requests");
        assert_eq!(ids, [(json!(2), json!(hex(b"calledby"))), (json!(3), json!(own)), (json!(3), json!(own)),]);
        assert!(spans.iter().all(|span| span["traceId"] == "30313233343536373839616263646566"));
        assert_eq!(spans[0]["startTimeUnixNano"], "1795992617000000000");
        assert_eq!(spans[0]["endTimeUnixNano"], "1795992617250000001");
        assert_eq!(spans[0]["events"][0]["name"], "head complete");
        for (key, value) in [
            ("http.request.method", "GET"),
            ("http.response.status_code", "200"),
            ("url.path", "/a"),
            ("url.scheme", "https"),
            ("client.address", "192.0.2.7"),
            ("server.address", "www.example.test"),
            ("server.port", "8443"),
            ("network.protocol.version", "1.1"),
            ("user_agent.original", "curl/8.5"),
            ("bascule.vserver", "web"),
            ("bascule.ending", "server/body/done"),
            ("http.response.body.size", "512"),
        ] {
            assert_eq!(said(&spans[0], key), Some(value), "{key}");
        }
        assert_eq!(said(&spans[0], "bascule.rule"), None, "what is not there is left out");
        assert_eq!(
            (said(&spans[2], "server.address"), said(&spans[2], "bascule.service")),
            (Some("2001:db8::2"), Some("web2"))
        );
    }

    #[test]
    fn what_failed_says_so_and_what_did_not_says_nothing() {
        let all = spans(traced());
        assert_eq!(all[1]["status"], json!({ "code": 2, "message": "Connection refused" }));
        assert!(all[0].get("status").is_none() && all[2].get("status").is_none());
        let ending = Ending::new(Who::Appliance, Phase::Queue, Reason::NoMemberUp);
        let refused = Traced { status: 503, failed: true, ending, tries: Vec::new(), parent: None, ..traced() };
        let all = spans(refused);
        assert_eq!(all[0]["status"], json!({ "code": 2, "message": "appliance/queue/no_member_up" }));
        assert!(all.len() == 1 && all[0].get("parentSpanId").is_none());
    }

    #[test]
    fn a_method_of_a_clients_choice_names_no_span() {
        let spans = spans(Traced { method: "BREW".into(), ..traced() });
        assert_eq!(spans[0]["name"], "HTTP");
        assert_eq!(said(&spans[0], "http.request.method"), Some("_OTHER"));
        assert_eq!(said(&spans[0], "http.request.method_original"), Some("BREW"));
    }

    #[test]
    fn a_host_may_be_an_address_of_ipv6() {
        assert_eq!(host_and_port("[::1]:80"), ("[::1]", Some(80)));
        assert_eq!(host_and_port("[::1]"), ("[::1]", None));
        assert_eq!(host_and_port("a.test"), ("a.test", None));
        assert_eq!(host_and_port(""), ("", None));
    }
}
