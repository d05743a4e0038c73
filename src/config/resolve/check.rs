//! Checks of three origins in one table: the operator's, monitors bound to services, targets of access lists.

mod http;
mod instance;
mod place;

use std::time::Duration;

use super::Context;
use super::access::AccessLists;
use super::dialogue;
use super::monitor::{bytes, check_schedule, dns_type};
use super::object::Object;
use crate::config::document::{Path, Value};
use crate::config::schema::{keys_of_kinds, kind_has_key};
use crate::config::values;
use crate::model::check::{Check, DnsType, Monitor, Origin, Probe, Schedule, Target, TlsProbe};
use crate::model::id::ServiceId;
use crate::model::service::Service;
use http::http;
use place::{Port, port_of};

pub use http::body_match;
pub use instance::{instance, instance_name, instance_names};
pub use place::leave_from;

/// Keys of a check that belong to some types only, beside those of application protocols.
const KEYS_BY_TYPE: [(&str, &[&str]); 9] = [
    ("url", &["HTTP", "HTTPS", "HTTP2"]),
    ("method", &["HTTP", "HTTPS", "HTTP2"]),
    ("host", &["HTTP", "HTTPS", "HTTP2"]),
    ("headers", &["HTTP", "HTTPS", "HTTP2"]),
    ("body", &["HTTP", "HTTPS", "HTTP2"]),
    ("send", &["TCP-ECV", "UDP", "UDP-ECV"]),
    ("receive", &["TCP-ECV", "UDP", "UDP-ECV"]),
    ("query_type", &["DNS", "DNS-TCP"]),
    ("query", &["DNS", "DNS-TCP"]),
];

/// Types that have no address of their own: the URL holds it.
const BY_URL: [&str; 3] = ["HTTP", "HTTPS", "HTTP2"];

/// Types that speak TLS where they are told to.
const WITHOUT_TLS: [&str; 10] =
    ["TCP", "PING", "DNS", "DNS-TCP", "UDP", "UDP-ECV", "RADIUS", "RADIUS_ACCOUNTING", "ORACLE", "USER"];

/// All checks, sorted.
pub fn all(cx: &mut Context<'_>, monitors: &[Monitor], services: &[Service], lists: &AccessLists) -> Vec<Check> {
    let mut checks = Vec::with_capacity(cx.names.checks.len());
    let root = Path::Root;
    let section = root.key("check");
    for (name, place, table) in cx.section("check") {
        let object = Object::new(table, cx.defaults("check"), section.key(name), place);
        checks.push(check(cx, &object, name));
    }
    for (index, service) in services.iter().enumerate() {
        for binding in &service.monitors {
            let monitor = &monitors[binding.monitor.index()];
            checks.push(instance(service, ServiceId::from_index(index), monitor, binding.monitor));
        }
    }
    checks.extend(lists.checks.iter().cloned());
    checks.sort_by(|a, b| a.name.cmp(&b.name));
    checks
}

fn check(cx: &mut Context<'_>, object: &Object<'_>, name: &str) -> Check {
    let word = object.text("type").unwrap_or("TCP");
    let mut meaningless: Vec<&str> =
        KEYS_BY_TYPE.iter().filter(|(_, types)| !types.contains(&word)).map(|(key, _)| *key).collect();
    meaningless.extend(BY_URL.contains(&word).then_some("address"));
    meaningless.extend(WITHOUT_TLS.contains(&word).then_some("tls"));
    let of_monitors = match word {
        "FTPS" => "FTP",
        "LDAPS" => "LDAP",
        other => other,
    };
    let derived = place::derived_of(word);
    match derived {
        Some(_) => meaningless.extend(["address", "targets", "source", "tls", "timeout", "expect"]),
        None => meaningless.push("term"),
    }
    if object.own("targets").is_none() {
        object.only(cx.report, &["quorum"], "without `targets`");
    }
    let here = |key: &&str| !KEYS_BY_TYPE.iter().any(|(own, _)| own == key);
    meaningless.extend(keys_of_kinds().filter(here).filter(|key| !kind_has_key(of_monitors, key)));
    object.only(cx.report, &meaningless, &format!("for a check of type {word}"));
    let (mut probe, schedule) = match derived {
        Some(of) => (place::derived(cx, object, of), derived_schedule(cx, object)),
        None => {
            let several = place::several(cx, object, word);
            (several.unwrap_or_else(|| probe(cx, object, word, None)), schedule(cx, object))
        }
    };
    if derived.is_none() {
        leave_from(cx, object, &mut probe);
    }
    Check { name: name.into(), origin: Origin::User, probe, schedule }
}

/// Of a check that asks nobody, and so waits for nobody.
fn derived_schedule(cx: &mut Context<'_>, object: &Object<'_>) -> Schedule {
    let schedule = times(object);
    let schedule = Schedule { timeout: schedule.interval / 2, ..schedule };
    check_schedule(cx.report, object, &schedule, "timeout", "fall_among", "fall");
    schedule
}

/// Of checks and access lists: 5 s, 2 s, three in a row either way.
pub fn schedule(cx: &mut Context<'_>, object: &Object<'_>) -> Schedule {
    let schedule = times(object);
    check_schedule(cx.report, object, &schedule, "timeout", "fall_among", "fall");
    schedule
}

fn times(object: &Object<'_>) -> Schedule {
    Schedule {
        interval: object.duration("interval").unwrap_or(Duration::from_secs(5)),
        timeout: object.duration("timeout").unwrap_or(Duration::from_secs(2)),
        rise: object.int("rise").unwrap_or(3),
        fall: object.int("fall").unwrap_or(3),
        fall_among: object.int("fall_among").filter(|&m| m > 0),
        down_time: object.duration("down_time"),
        reverse: object.bool("reverse").unwrap_or(false),
        ..Schedule::default()
    }
}

/// `at`: of several targets the one; `None`: `url` or `address` says it.
fn probe(cx: &mut Context<'_>, object: &Object<'_>, word: &str, at: Option<&str>) -> Probe {
    let expect_path = object.path;
    let expect =
        object.inner("expect").map(|(table, place)| Object::new(table, None, expect_path.key("expect"), place));
    if let Some(expect) = &expect {
        let http = ["status", "headers", "body_contains", "body_regex", "body_json"];
        let because = format!("for a check of type {word}");
        match word {
            "HTTP" | "HTTPS" | "HTTP2" => expect.only(cx.report, &["addresses"], &because),
            "DNS" | "DNS-TCP" => expect.only(cx.report, &http, &because),
            _ => {
                expect.only(cx.report, &http, &because);
                expect.only(cx.report, &["addresses"], &because);
            }
        }
    }
    match word {
        "HTTP" | "HTTPS" | "HTTP2" => http(cx, object, expect.as_ref(), word, at),
        "PING" => Probe::Ping { target: address(cx, object, Port::None, at) },
        "DNS" | "DNS-TCP" => {
            object.require(cx.report, "query");
            let addresses = expect.map_or_else(Vec::new, |expect| expect.items("addresses"));
            Probe::Dns {
                target: address(cx, object, port_of(word, false), at),
                tcp: word == "DNS-TCP",
                query: object.text("query").unwrap_or(".").to_owned(),
                qtype: object.text("query_type").map_or(DnsType::A, dns_type),
                expect: addresses.iter().filter_map(|node| values::ip(node.text()?).ok()).collect(),
            }
        }
        "TCP-ECV" => Probe::TcpEcv {
            target: address(cx, object, Port::Needed, at),
            tls: tls(object),
            send: bytes(cx.report, object, "send"),
            receive: bytes(cx.report, object, "receive"),
            trofs: None,
        },
        "UDP" | "UDP-ECV" => Probe::UdpEcv {
            target: address(cx, object, Port::Needed, at),
            send: bytes(cx.report, object, "send"),
            receive: bytes(cx.report, object, "receive"),
        },
        "USER" => {
            // A script may know by itself where to look.
            let target = match (object.get("address"), at) {
                (Some(_), _) | (_, Some(_)) => address(cx, object, port_of(word, false), at),
                (None, None) => Target::new(([127, 0, 0, 1], 0).into()),
            };
            Probe::User { target, script: dialogue::script(cx, object) }
        }
        _ => application(cx, object, word, at),
    }
}

/// An application protocol at its port, or a bare TCP connection.
fn application(cx: &mut Context<'_>, object: &Object<'_>, word: &str, at: Option<&str>) -> Probe {
    let mut tls = tls(object);
    if matches!(word, "FTPS" | "LDAPS") && tls.is_none() {
        tls = Some(TlsProbe { server_name: None, verify: true });
    }
    let target = address(cx, object, port_of(word, tls.is_some()), at);
    match dialogue::dialogue(cx, object, word) {
        Some(dialogue) => Probe::Dialogue { target, tls, dialogue },
        None => Probe::Tcp { target },
    }
}

/// The target of the text at hand, or of `address`.
fn address(cx: &mut Context<'_>, object: &Object<'_>, port: Port, at: Option<&str>) -> Target {
    if let Some(text) = at {
        // What is wrong with it is said where it stands.
        return place::target(text, port).unwrap_or_else(|_| place::nowhere());
    }
    object.require(cx.report, "address");
    let text = object.text("address").unwrap_or("");
    place::target(text, port).unwrap_or_else(|why| {
        if !text.is_empty() {
            object.wrong(cx.report, "address", why);
        }
        place::nowhere()
    })
}

/// `tls = { server_name, verify }`, or `tls = true`. Checks verify the certificate unless told otherwise.
fn tls(object: &Object<'_>) -> Option<TlsProbe> {
    match object.get("tls").map(|node| &node.value) {
        Some(Value::Bool(true)) => Some(TlsProbe { server_name: None, verify: true }),
        Some(Value::Table(table)) => {
            let inner = Object::new(table, None, object.path, object.place);
            Some(TlsProbe { server_name: inner.name("server_name"), verify: inner.bool("verify").unwrap_or(true) })
        }
        _ => None,
    }
}
