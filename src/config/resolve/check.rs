//! Checks of three origins in one table: the operator's, monitors bound to services, targets of access lists.

use std::time::Duration;

use super::Context;
use super::access::AccessLists;
use super::binding::{default_monitor, monitor_names};
use super::dialogue;
use super::monitor::{bytes, check_schedule, dns_type};
use super::object::{self, Object};
use super::service::protocol;
use crate::config::document::{Node, Path, Place, Table, Value};
use crate::config::schema::{keys_of_kinds, kind_has_key};
use crate::config::values;
use crate::model::check::{
    BodyMatch, Check, DnsType, HttpExpect, HttpRequest, Monitor, MonitorKind, Origin, Probe, Schedule, StatusRange,
    Target, TlsProbe,
};
use crate::model::id::{Name, ServiceId};
use crate::model::service::Service;

/// Keys of a check that belong to some types only, beside those of application protocols.
const KEYS_BY_TYPE: [(&str, &[&str]); 9] = [
    ("url", &["HTTP", "HTTPS", "HTTP2"]),
    ("method", &["HTTP", "HTTPS", "HTTP2"]),
    ("host", &["HTTP", "HTTPS", "HTTP2"]),
    ("headers", &["HTTP", "HTTPS", "HTTP2"]),
    ("body", &["HTTP", "HTTPS", "HTTP2"]),
    ("send", &["TCP-ECV", "UDP-ECV"]),
    ("receive", &["TCP-ECV", "UDP-ECV"]),
    ("query_type", &["DNS", "DNS-TCP"]),
    ("query", &["DNS", "DNS-TCP"]),
];

/// Types that have no address of their own: the URL holds it.
const BY_URL: [&str; 3] = ["HTTP", "HTTPS", "HTTP2"];

/// Types that speak TLS where they are told to.
const WITHOUT_TLS: [&str; 9] =
    ["TCP", "PING", "DNS", "DNS-TCP", "UDP-ECV", "RADIUS", "RADIUS_ACCOUNTING", "ORACLE", "USER"];

/// `SERVICE:MONITOR`
pub fn instance_name(service: &str, monitor: &str) -> Name {
    format!("{service}:{monitor}").into()
}

/// The names that monitors bound to services will have; the objects are made later.
pub fn instance_names(document: &Table) -> Vec<(Name, Place)> {
    let defaults = document.get("defaults").and_then(Node::table).and_then(|t| t.get("service")).and_then(Node::table);
    let mut known: std::collections::HashSet<&str> = super::monitor::builtin_names().collect();
    known.extend(super::section(document, "monitor").into_iter().map(|(name, ..)| name));
    let mut names = Vec::new();
    let mut add = |service: &str, table: &Table, place: Place| {
        let off = table.get("health_monitor").or_else(|| defaults?.get("health_monitor"));
        if matches!(off, Some(Node { value: Value::Bool(false), .. })) {
            return;
        }
        let mut monitors = monitor_names(table, defaults);
        monitors.retain(|name| known.contains(name));
        monitors.sort_unstable();
        monitors.dedup();
        if monitors.is_empty() {
            let object = Object::new(table, defaults, Path::Root, place);
            monitors.push(default_monitor(protocol(&object)));
        }
        names.extend(monitors.into_iter().map(|monitor| (instance_name(service, monitor), place)));
    };
    for (service, place, table) in super::section(document, "service") {
        add(service, table, place);
    }
    let groups = super::section(document, "service_group").into_iter();
    for (group, _, table) in groups.filter(|(_, _, table)| !super::auto_scale::is_on(table)) {
        let members = table.get("member").and_then(Node::table);
        let entries = members.map_or(&[][..], |members| &members.entries[..]).iter();
        for entry in entries.filter(|entry| entry.node.table().is_some()) {
            add(&format!("{group}/{}", entry.key), table, entry.place);
        }
    }
    names
}

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

/// A monitor at work on a service.
pub fn instance(
    service: &Service,
    service_id: ServiceId,
    monitor: &Monitor,
    monitor_id: crate::model::id::MonitorId,
) -> Check {
    let host = monitor.dest_ip.map_or_else(|| service.host.clone(), crate::model::check::Host::Ip);
    let target = Target { host, port: monitor.dest_port.unwrap_or(service.port) };
    let tls = monitor.tls.clone();
    let probe = match &monitor.kind {
        MonitorKind::Ping => Probe::Ping { target: Target { port: 0, ..target } },
        MonitorKind::Tcp if tls.is_some() => {
            // A handshake and nothing more.
            Probe::TcpEcv { target, tls, send: Vec::new(), receive: Vec::new(), trofs: None }
        }
        MonitorKind::Tcp => Probe::Tcp { target },
        MonitorKind::Http { request, expect } | MonitorKind::HttpEcv { request, expect } => {
            Probe::Http { target, tls, request: request.clone(), expect: expect.clone() }
        }
        MonitorKind::TcpEcv { send, receive, trofs } => {
            Probe::TcpEcv { target, tls, send: send.clone(), receive: receive.clone(), trofs: trofs.clone() }
        }
        MonitorKind::UdpEcv { send, receive } => Probe::UdpEcv { target, send: send.clone(), receive: receive.clone() },
        MonitorKind::Dns { tcp, query, qtype, expect } => {
            Probe::Dns { target, tcp: *tcp, query: query.clone(), qtype: *qtype, expect: expect.clone() }
        }
        MonitorKind::Http2 { request, expect } => {
            Probe::Http2 { target, tls, request: request.clone(), expect: expect.clone() }
        }
        MonitorKind::HttpInline { request, expect, action } => {
            let (request, expect) = (request.clone(), expect.clone());
            Probe::HttpInline { target, tls, request, expect, action: *action }
        }
        MonitorKind::Dialogue(dialogue) => Probe::Dialogue { target, tls, dialogue: dialogue.clone() },
        MonitorKind::Load(query) => Probe::Load { target, tls, query: query.clone() },
        MonitorKind::User(script) => Probe::User { target, script: script.clone() },
        MonitorKind::Unavailable { kind } => Probe::Unavailable { kind: kind.clone() },
    };
    Check {
        name: instance_name(&service.name, &monitor.name),
        origin: Origin::Monitor { monitor: monitor_id, service: service_id },
        probe,
        schedule: monitor.schedule.clone(),
    }
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
    let here = |key: &&str| !KEYS_BY_TYPE.iter().any(|(own, _)| own == key);
    meaningless.extend(keys_of_kinds().filter(here).filter(|key| !kind_has_key(of_monitors, key)));
    object.only(cx.report, &meaningless, &format!("for a check of type {word}"));
    let probe = probe(cx, object, word);
    Check { name: name.into(), origin: Origin::User, probe, schedule: schedule(cx, object) }
}

/// Of checks and access lists: 5 s, 2 s, three in a row either way.
pub fn schedule(cx: &mut Context<'_>, object: &Object<'_>) -> Schedule {
    let schedule = Schedule {
        interval: object.duration("interval").unwrap_or(Duration::from_secs(5)),
        timeout: object.duration("timeout").unwrap_or(Duration::from_secs(2)),
        rise: object.int("rise").unwrap_or(3),
        fall: object.int("fall").unwrap_or(3),
        fall_among: object.int("fall_among").filter(|&m| m > 0),
        down_time: object.duration("down_time"),
        reverse: object.bool("reverse").unwrap_or(false),
        ..Schedule::default()
    };
    check_schedule(cx.report, object, &schedule, "timeout", "fall_among", "fall");
    schedule
}

fn probe(cx: &mut Context<'_>, object: &Object<'_>, word: &str) -> Probe {
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
        "HTTP" | "HTTPS" | "HTTP2" => http(cx, object, expect.as_ref(), word),
        "PING" => Probe::Ping { target: address(cx, object, AddressPort::None) },
        "DNS" | "DNS-TCP" => {
            object.require(cx.report, "query");
            let addresses = expect.map_or_else(Vec::new, |expect| expect.items("addresses"));
            Probe::Dns {
                target: address(cx, object, AddressPort::Default(53)),
                tcp: word == "DNS-TCP",
                query: object.text("query").unwrap_or(".").to_owned(),
                qtype: object.text("query_type").map_or(DnsType::A, dns_type),
                expect: addresses.iter().filter_map(|node| values::ip(node.text()?).ok()).collect(),
            }
        }
        "TCP-ECV" => Probe::TcpEcv {
            target: address(cx, object, AddressPort::Needed),
            tls: tls(object),
            send: bytes(cx.report, object, "send"),
            receive: bytes(cx.report, object, "receive"),
            trofs: None,
        },
        "UDP-ECV" => Probe::UdpEcv {
            target: address(cx, object, AddressPort::Needed),
            send: bytes(cx.report, object, "send"),
            receive: bytes(cx.report, object, "receive"),
        },
        "USER" => {
            // A script may know by itself where to look.
            let target = match object.get("address") {
                Some(_) => address(cx, object, AddressPort::Default(0)),
                None => Target::new(([127, 0, 0, 1], 0).into()),
            };
            Probe::User { target, script: dialogue::script(cx, object) }
        }
        _ => application(cx, object, word),
    }
}

/// An application protocol at its port, or a bare TCP connection.
fn application(cx: &mut Context<'_>, object: &Object<'_>, word: &str) -> Probe {
    let mut tls = tls(object);
    let port = match (word, tls.is_some()) {
        ("FTP" | "FTP-EXTENDED", false) => 21,
        ("FTPS" | "FTP" | "FTP-EXTENDED", _) => 990,
        ("SMTP", false) => 25,
        ("SMTP", true) => 465,
        ("POP3", false) => 110,
        ("POP3", true) => 995,
        ("NNTP", false) => 119,
        ("NNTP", true) => 563,
        ("LDAP", false) => 389,
        ("LDAP" | "LDAPS", _) => 636,
        ("RADIUS", _) => 1812,
        ("RADIUS_ACCOUNTING", _) => 1813,
        ("MYSQL" | "MYSQL-ECV", _) => 3306,
        ("POSTGRESQL", _) => 5432,
        ("ORACLE", _) => 1521,
        ("REDIS", _) => 6379,
        ("MQTT", false) => 1883,
        ("MQTT", true) => 8883,
        _ => 0,
    };
    if matches!(word, "FTPS" | "LDAPS") && tls.is_none() {
        tls = Some(TlsProbe { server_name: None, verify: true });
    }
    let port = if port == 0 { AddressPort::Needed } else { AddressPort::Default(port) };
    let target = address(cx, object, port);
    match dialogue::dialogue(cx, object, word) {
        Some(dialogue) => Probe::Dialogue { target, tls, dialogue },
        None => Probe::Tcp { target },
    }
}

enum AddressPort {
    None,
    Needed,
    Default(u16),
}

fn address(cx: &mut Context<'_>, object: &Object<'_>, port: AddressPort) -> Target {
    object.require(cx.report, "address");
    let text = object.text("address").unwrap_or("");
    let found = match port {
        AddressPort::None => values::host(text).map(|host| Target { host, port: 0 }),
        AddressPort::Default(port) if values::host(text).is_ok() => {
            values::host(text).map(|host| Target { host, port })
        }
        _ => values::host_port(text).map(|(host, port)| Target { host, port }),
    };
    found.unwrap_or_else(|why| {
        if !text.is_empty() {
            object.wrong(cx.report, "address", why);
        }
        Target::new(([0, 0, 0, 0], 0).into())
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

fn http(cx: &mut Context<'_>, object: &Object<'_>, expect: Option<&Object<'_>>, word: &str) -> Probe {
    object.require(cx.report, "url");
    let text = object.text("url").unwrap_or("");
    let url = values::url(text).unwrap_or_else(|why| {
        if !text.is_empty() {
            object.wrong(cx.report, "url", why);
        }
        values::Url {
            tls: word == "HTTPS",
            host: crate::model::check::Host::Ip([0, 0, 0, 0].into()),
            port: 0,
            path: "/".into(),
        }
    });
    if word == "HTTPS" && !url.tls {
        object.wrong(cx.report, "url", "a check of type HTTPS needs a URL that begins with https://");
    }
    let tls_said = object.own("tls").is_some_and(|node| !matches!(node.value, Value::Bool(false)));
    if tls_said && !url.tls {
        object.wrong(cx.report, "tls", "means nothing for a URL that begins with http://");
    }
    let tls = url.tls.then(|| tls(object).unwrap_or(TlsProbe { server_name: None, verify: true }));
    let method: Name = object.name("method").unwrap_or_else(|| "GET".into());
    if let Err(why) = object::method(&method) {
        object.wrong(cx.report, "method", why);
    }
    let mut headers = object.headers(cx.report, "headers");
    let host_at = headers.iter().position(|(name, _)| name.eq_ignore_ascii_case("host"));
    let host_header = host_at.map(|at| headers.remove(at).1);
    let target = Target { host: url.host, port: url.port };
    let request = HttpRequest {
        method,
        path: url.path.into(),
        host: object.name("host").or(host_header),
        headers,
        body: object.text("body").unwrap_or("").as_bytes().to_vec(),
    };
    let expect = expectation(cx, expect);
    match word {
        "HTTP2" => Probe::Http2 { target, tls, request, expect },
        _ => Probe::Http { target, tls, request, expect },
    }
}

/// What a check's answer must be: 200 and any body where nothing is said.
fn expectation(cx: &mut Context<'_>, object: Option<&Object<'_>>) -> HttpExpect {
    let status = object.and_then(|object| object.statuses("status")).unwrap_or_else(|| vec![StatusRange::one(200)]);
    let mut expect = HttpExpect { status, headers: Vec::new(), body: None, trofs_code: None, trofs_body: None };
    let Some(object) = object else { return expect };
    if expect.status.is_empty() && object.own("status").and_then(Node::list).is_some_and(<[Node]>::is_empty) {
        object.wrong(cx.report, "status", "no status is accepted; the check could never pass");
    }
    expect.headers = object.headers(cx.report, "headers");
    expect.body = body_match(cx, object, ["body_contains", "body_regex", "body_json"]);
    expect
}

/// At most one of: text, expression, JSON pointer. The keys are those of the table at hand.
pub fn body_match(cx: &mut Context<'_>, object: &Object<'_>, keys: [&str; 3]) -> Option<BodyMatch> {
    let said: Vec<&str> = keys.into_iter().filter(|key| object.own(key).is_some()).collect();
    if said.len() > 1 {
        object.wrong(cx.report, said[1], format!("say one of {}", keys.map(|key| format!("`{key}`")).join(", ")));
    }
    let [contains, regex, json] = keys;
    if let Some(text) = object.text(contains) {
        return Some(BodyMatch::Contains(text.as_bytes().to_vec()));
    }
    if let Some(pattern) = object.name(regex) {
        return Some(BodyMatch::Regex(pattern));
    }
    let table = object.own(json)?.table()?;
    let pointer: Name = table.get("pointer")?.text()?.into();
    if !pointer.is_empty() && !pointer.starts_with('/') {
        object.wrong(cx.report, json, format!("`{pointer}` is not a JSON pointer such as `/status`"));
    }
    Some(BodyMatch::Json { pointer, equals: json_value(table.get("equals")?) })
}

fn json_value(node: &Node) -> serde_json::Value {
    match &node.value {
        Value::Text(text) | Value::Moment(text) => text.as_str().into(),
        Value::Integer(number) => (*number).into(),
        Value::Float(number) => (*number).into(),
        Value::Bool(value) => (*value).into(),
        Value::List(items) => items.iter().map(json_value).collect(),
        Value::Table(table) => {
            let entries = table.entries.iter().map(|entry| (entry.key.clone(), json_value(&entry.node)));
            serde_json::Value::Object(entries.collect())
        }
    }
}
