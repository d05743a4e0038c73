//! Checks of the operator's own, and the parts that monitors, triggers and queries share with them.

use super::text::{Text, Value};
use crate::model::Model;
use crate::model::check::{
    BodyMatch, Check, DnsType, HttpExpect, HttpRequest, Origin, Probe, Schedule, StatusRange, TlsProbe,
};
use crate::model::id::Name;

pub(super) fn checks(out: &mut Text, model: &Model) {
    for check in model.checks.iter().filter(|check| check.origin == Origin::User) {
        one(out, check);
    }
}

fn one(out: &mut Text, check: &Check) {
    out.table(&["check", &check.name]);
    out.key("type", Value::str(check.word()));
    place(out, &check.probe);
    match check.probe.parts().first().unwrap_or(&check.probe) {
        Probe::Tcp { .. } | Probe::Ping { .. } => {}
        Probe::Http { tls, request, expect, .. } | Probe::Http2 { tls, request, expect, .. } => {
            http(out, tls.as_ref(), request, expect);
        }
        Probe::Dns { target: _, tcp: _, query, qtype, expect } => {
            out.key("query", Value::str(query));
            out.key("query_type", Value::str(dns_type_word(*qtype)));
            if !expect.is_empty() {
                let addresses = Value::List(expect.iter().map(Value::show).collect());
                out.key("expect", Value::Inline(vec![("addresses".into(), addresses)]));
            }
        }
        Probe::TcpEcv { target: _, tls, send, receive, trofs: _ } => {
            out.maybe("tls", tls.as_ref().map(tls_value));
            out.maybe("send", octets_if_any(send));
            out.maybe("receive", octets_if_any(receive));
        }
        Probe::UdpEcv { target: _, send, receive } => {
            out.maybe("send", octets_if_any(send));
            out.maybe("receive", octets_if_any(receive));
        }
        Probe::Dialogue { target: _, tls, dialogue } => {
            out.maybe("tls", tls.as_ref().map(tls_value));
            super::dialogue::dialogue(out, dialogue);
        }
        Probe::User { target: _, script } => super::dialogue::script(out, script),
        Probe::Derived { of: _, term } => out.key("term", Value::str(term)),
        // Kinds that are monitors only: the loader refuses them for a user's check.
        Probe::HttpInline { .. } | Probe::Load { .. } | Probe::Several { .. } | Probe::Unavailable { .. } => {}
    }
    match check.probe {
        Probe::Derived { .. } => derived_schedule(out, &check.schedule),
        _ => schedule(out, &check.schedule),
    }
    out.maybe("source", source(&check.probe));
    out.key("reverse", Value::Bool(check.schedule.reverse));
}

/// `url`, `address`, or `targets` and `quorum`.
fn place(out: &mut Text, probe: &Probe) {
    let texts: Vec<(&str, String)> = probe.parts().iter().filter_map(target).collect();
    match (probe, &texts[..]) {
        (Probe::Several { quorum, .. }, texts) => {
            out.key("targets", Value::strs(texts.iter().map(|(_, text)| text)));
            out.key("quorum", Value::Int((*quorum).into()));
        }
        (_, [(key, text)]) => out.key(key, Value::Str(text.clone())),
        _ => {}
    }
}

fn target(probe: &Probe) -> Option<(&'static str, String)> {
    let target = probe.target()?;
    Some(match probe {
        Probe::Http { tls, request, .. } | Probe::Http2 { tls, request, .. } => {
            let scheme = if tls.is_some() { "https" } else { "http" };
            ("url", format!("{scheme}://{target}{}", request.path))
        }
        _ => ("address", target.to_string()),
    })
}

/// Of all its targets alike.
pub(super) fn source(probe: &Probe) -> Option<Value> {
    probe.parts().first()?.target()?.source.map(Value::show)
}

fn http(out: &mut Text, tls: Option<&TlsProbe>, request: &HttpRequest, expect: &HttpExpect) {
    out.maybe("tls", tls.map(tls_value));
    out.key("method", Value::str(&request.method));
    out.maybe("host", request.host.as_ref().map(Value::str));
    out.maybe("headers", headers(&request.headers));
    out.maybe("body", (!request.body.is_empty()).then(|| Value::Str(plain(&request.body))));
    let mut expected = vec![("status".into(), statuses(&expect.status))];
    expected.extend(headers(&expect.headers).map(|headers| ("headers".into(), headers)));
    expected.extend(expect.body.as_ref().map(|body| {
        let (kind, value) = body_match(body);
        (format!("body_{kind}"), value)
    }));
    out.key("expect", Value::Inline(expected));
}

/// Of checks and access lists.
pub(super) fn schedule(out: &mut Text, schedule: &Schedule) {
    out.key("interval", Value::duration(schedule.interval));
    out.key("timeout", Value::duration(schedule.timeout));
    counts(out, schedule);
}

/// Of what asks nobody: without a time-out.
fn derived_schedule(out: &mut Text, schedule: &Schedule) {
    out.key("interval", Value::duration(schedule.interval));
    counts(out, schedule);
}

fn counts(out: &mut Text, schedule: &Schedule) {
    out.key("rise", Value::Int(schedule.rise.into()));
    out.key("fall", Value::Int(schedule.fall.into()));
    out.maybe("fall_among", schedule.fall_among.map(|m| Value::Int(m.into())));
    out.maybe("down_time", schedule.down_time.map(Value::duration));
}

pub(super) fn headers(headers: &[(Name, Name)]) -> Option<Value> {
    let entries = headers.iter().map(|(name, value)| (name.to_string(), Value::str(value)));
    (!headers.is_empty()).then(|| Value::Inline(entries.collect()))
}

pub(super) fn statuses(ranges: &[StatusRange]) -> Value {
    Value::List(
        ranges
            .iter()
            .map(|range| match range.from == range.to {
                true => Value::show(range.from),
                false => Value::Str(format!("{}-{}", range.from, range.to)),
            })
            .collect(),
    )
}

/// The last part of the key, and its value.
pub(super) fn body_match(body: &BodyMatch) -> (&'static str, Value) {
    match body {
        BodyMatch::Contains(bytes) => ("contains", Value::Str(plain(bytes))),
        BodyMatch::Regex(pattern) => ("regex", Value::str(pattern)),
        BodyMatch::Json { pointer, equals } => {
            let entries = vec![("pointer".into(), Value::str(pointer)), ("equals".into(), Value::json(equals))];
            ("json", Value::Inline(entries))
        }
        BodyMatch::JsonIs { pointer, is } => {
            let entries = vec![("pointer".into(), Value::str(pointer)), ("is".into(), Value::str(is))];
            ("json", Value::Inline(entries))
        }
    }
}

/// Bytes that come from a text of the configuration as it stands.
pub(super) fn plain(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Bytes that the configuration writes with `\xHH`.
pub(super) fn octets(bytes: &[u8]) -> Value {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        text.push_str(&chunk.valid().replace('\\', "\\\\"));
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    Value::Str(text)
}

pub(super) fn octets_if_any(bytes: &[u8]) -> Option<Value> {
    (!bytes.is_empty()).then(|| octets(bytes))
}

pub(super) fn dns_type_word(qtype: DnsType) -> &'static str {
    match qtype {
        DnsType::A => "A",
        DnsType::Aaaa => "AAAA",
        DnsType::Ns => "NS",
        DnsType::Soa => "SOA",
        DnsType::Txt => "TXT",
        DnsType::Mx => "MX",
        DnsType::Cname => "CNAME",
        DnsType::Srv => "SRV",
        DnsType::Ptr => "PTR",
    }
}

fn tls_value(tls: &TlsProbe) -> Value {
    let mut entries = Vec::new();
    entries.extend(tls.server_name.as_ref().map(|name| ("server_name".into(), Value::str(name))));
    entries.push(("verify".into(), Value::Bool(tls.verify)));
    Value::Inline(entries)
}
