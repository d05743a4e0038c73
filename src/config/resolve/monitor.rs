//! Monitors: NetScaler's kinds, parameters and defaults; the built-in ones always stand in the table.

use std::time::Duration;

use super::Context;
use super::dialogue;
use super::object::{self, Object};
use crate::config::document::{Node, Path, Value};
use crate::config::report::Report;
use crate::config::schema::{is_probed, keys_of_kinds, kind_has_key};
use crate::config::values;
use crate::model::check::{
    BodyMatch, DnsType, HttpExpect, HttpRequest, Monitor, MonitorKind, Schedule, StatusRange, TlsProbe,
};
use crate::model::dialogue::{Dialogue, InlineAction, LoadQuery};

/// NetScaler's built-in monitors: name, kind, and whether they speak TLS.
const BUILTIN: [(&str, &str, bool); 27] = [
    ("arp", "ARP", false),
    ("dns", "DNS", false),
    ("ftp", "FTP", false),
    ("http", "HTTP", false),
    ("http-ecv", "HTTP-ECV", false),
    ("http2direct", "HTTP2", false),
    ("http2ssl", "HTTP2", true),
    ("https", "HTTP", true),
    ("https-ecv", "HTTP-ECV", true),
    ("ldns-dns", "LDNS-DNS", false),
    ("ldns-ping", "LDNS-PING", false),
    ("ldns-tcp", "LDNS-TCP", false),
    ("mqtt", "MQTT", false),
    ("mqtt-tls", "MQTT", true),
    ("nd6", "ND6", false),
    ("ping", "PING", false),
    ("ping-default", "PING", false),
    ("sta", "CITRIX-STA-SERVICE", false),
    ("stasecure", "CITRIX-STA-SERVICE", true),
    ("tcp", "TCP", false),
    ("tcp-default", "TCP", false),
    ("tcp-ecv", "TCP-ECV", false),
    ("tcps", "TCP", true),
    ("tcps-ecv", "TCP-ECV", true),
    ("udp-ecv", "UDP-ECV", false),
    ("xdm", "CITRIX-XDM", false),
    ("xnc", "CITRIX-XNC-ECV", false),
];

/// Names of the monitors that are always there, sorted.
pub fn builtin_names() -> impl Iterator<Item = &'static str> {
    BUILTIN.iter().map(|(name, ..)| *name)
}

/// All monitors, sorted.
pub fn all(cx: &mut Context<'_>) -> Vec<Monitor> {
    let mut monitors: Vec<Monitor> = BUILTIN.iter().map(builtin).collect();
    let section = Path::Root;
    let section = section.key("monitor");
    for (name, place, table) in cx.section("monitor") {
        if builtin_names().any(|builtin| builtin == name) {
            continue;
        }
        let object = Object::new(table, cx.defaults("monitor"), section.key(name), place);
        monitors.push(monitor(cx, &object, name));
    }
    monitors.sort_by(|a, b| a.name.cmp(&b.name));
    monitors
}

/// `[monitors] scripts`
pub fn scripts(cx: &mut Context<'_>) -> Option<crate::model::id::Name> {
    Some(cx.section_table("monitors")?.get("scripts")?.text()?.into())
}

/// NetScaler's defaults: 5 s, 2 s, 3 failures, 1 success, 30 s while down.
fn netscaler_schedule() -> Schedule {
    Schedule { rise: 1, fall: 3, down_time: Some(Duration::from_secs(30)), ..Schedule::default() }
}

/// Built-in monitors keep NetScaler's values: they cannot be changed, and `[defaults.monitor]` is for one's own.
fn builtin((name, kind, secure): &(&str, &str, bool)) -> Monitor {
    let seconds = Duration::from_secs;
    let mut schedule = netscaler_schedule();
    match *name {
        "ldns-dns" => {
            (schedule.interval, schedule.timeout, schedule.down_time) = (seconds(6), seconds(3), Some(seconds(20)))
        }
        "sta" | "stasecure" => {
            (schedule.interval, schedule.timeout, schedule.down_time) = (seconds(120), seconds(4), Some(seconds(5)));
        }
        _ => {}
    }
    let request = |method: &str| HttpRequest {
        method: method.into(),
        path: "/".into(),
        host: None,
        headers: Vec::new(),
        body: Vec::new(),
    };
    let kind = match *kind {
        "PING" => MonitorKind::Ping,
        "TCP" => MonitorKind::Tcp,
        "HTTP" => MonitorKind::Http { request: request("HEAD"), expect: expect(vec![StatusRange::one(200)]) },
        "HTTP-ECV" => MonitorKind::HttpEcv { request: request("GET"), expect: expect(vec![StatusRange::one(200)]) },
        "TCP-ECV" => MonitorKind::TcpEcv { send: Vec::new(), receive: Vec::new(), trofs: None },
        "UDP-ECV" => MonitorKind::UdpEcv { send: Vec::new(), receive: Vec::new() },
        "DNS" => MonitorKind::Dns { tcp: false, query: ".".into(), qtype: DnsType::Soa, expect: Vec::new() },
        "HTTP2" => MonitorKind::Http2 { request: request("HEAD"), expect: expect(vec![StatusRange::one(200)]) },
        "FTP" => MonitorKind::Dialogue(Dialogue::Ftp { login: None, file: None }),
        "MQTT" => MonitorKind::Dialogue(Dialogue::Mqtt { login: None, client_id: None }),
        other => MonitorKind::Unavailable { kind: other.into() },
    };
    Monitor {
        name: (*name).into(),
        builtin: true,
        kind,
        schedule,
        enabled: true,
        // NetScaler's `secure` monitors do not verify the certificate.
        tls: secure.then_some(TlsProbe { server_name: None, verify: false }),
        dest_ip: None,
        dest_port: None,
        comment: None,
    }
}

fn expect(status: Vec<StatusRange>) -> HttpExpect {
    HttpExpect { status, headers: Vec::new(), body: None, trofs_code: None, trofs_body: None }
}

fn monitor(cx: &mut Context<'_>, object: &Object<'_>, name: &str) -> Monitor {
    let word = object.text("type").unwrap_or("TCP");
    let meaningless: Vec<&str> = keys_of_kinds().filter(|key| !kind_has_key(word, key)).collect();
    let because = if is_probed(word) {
        format!("for a monitor of type {word}")
    } else {
        format!("in this build, which stores monitors of type {word} and does not probe them")
    };
    object.only(cx.report, &meaningless, &because);

    let schedule = schedule(cx.report, object);
    let kind = kind(cx, object, word);
    Monitor {
        name: name.into(),
        builtin: false,
        kind,
        schedule,
        enabled: object.text("state") != Some("DISABLED"),
        tls: if kind_has_key(word, "secure") { tls(cx.report, object) } else { None },
        dest_ip: object.ip("dest_ip"),
        dest_port: object.int("dest_port"),
        comment: object.name("comment"),
    }
}

/// `secure`, and how the certificate is looked at. NetScaler's `secure` monitors do not verify it.
fn tls(report: &mut Report, object: &Object<'_>) -> Option<TlsProbe> {
    if object.bool("secure") != Some(true) {
        object.only(report, &["verify", "server_name"], "for a monitor that is not `secure`");
        return None;
    }
    Some(TlsProbe { server_name: object.name("server_name"), verify: object.bool("verify").unwrap_or(false) })
}

fn schedule(report: &mut Report, object: &Object<'_>) -> Schedule {
    let base = netscaler_schedule();
    let deviation = object.duration("deviation").filter(|deviation| !deviation.is_zero());
    let schedule = Schedule {
        interval: object.duration("interval").unwrap_or(base.interval),
        timeout: object.duration("response_timeout").unwrap_or(base.timeout),
        rise: object.int("success_retries").unwrap_or(base.rise),
        fall: object.int("retries").unwrap_or(base.fall),
        fall_among: object.int("failure_retries").filter(|&m| m > 0),
        down_time: object.duration("down_time").or(base.down_time),
        reverse: object.bool("reverse").unwrap_or(false),
        timeout_threshold: object.int("response_timeout_threshold").unwrap_or(0),
        alert_after: object.int("alert_retries").unwrap_or(0),
        learn: object.bool("lrtm").unwrap_or(false) || deviation.is_some(),
        deviation,
    };
    check_schedule(report, object, &schedule, "response_timeout", "failure_retries", "retries");
    if deviation.is_some() && object.bool("lrtm") == Some(false) {
        object.wrong(report, "deviation", "needs the learned average; leave `lrtm` out, or set it to true");
    }
    if deviation.is_some_and(|deviation| deviation >= schedule.timeout) {
        object.wrong(report, "deviation", "must be less than `response_timeout`, which ends every sample");
    }
    schedule
}

/// What no single value shows: a probe must be over before the next one, and m of n needs m < n.
pub fn check_schedule(
    report: &mut Report,
    object: &Object<'_>,
    schedule: &Schedule,
    timeout: &str,
    among: &str,
    fall: &str,
) {
    use crate::config::units::format_duration;
    if schedule.timeout >= schedule.interval {
        // Reported where it was said: at the one of the two that stands in the object.
        let key = if object.own(timeout).is_some() || object.own("interval").is_none() { timeout } else { "interval" };
        let (out, every) = (format_duration(schedule.timeout), format_duration(schedule.interval));
        object.wrong(report, key, format!("`{timeout}` {out} must be less than `interval` {every}"));
    }
    if let Some(m) = schedule.fall_among
        && m >= schedule.fall
    {
        object.wrong(report, among, format!("{m} must be less than `{fall}` {}", schedule.fall));
    }
}

fn kind(cx: &mut Context<'_>, object: &Object<'_>, word: &str) -> MonitorKind {
    let report = &mut *cx.report;
    match word {
        "PING" => MonitorKind::Ping,
        "TCP" => MonitorKind::Tcp,
        "HTTP" | "HTTP2" | "HTTP-INLINE" => {
            let request = request(report, object, "request", "HEAD /");
            let expect = http_expect(object, statuses(object), None, None);
            match word {
                "HTTP" => MonitorKind::Http { request, expect },
                "HTTP2" => MonitorKind::Http2 { request, expect },
                _ => MonitorKind::HttpInline { request, expect, action: action(object) },
            }
        }
        "HTTP-ECV" => {
            let request = request(report, object, "send", "GET /");
            let receive = bytes(report, object, "receive");
            let trofs = object.get("trofs_string").map(|_| bytes(report, object, "trofs_string"));
            let body = (!receive.is_empty()).then_some(BodyMatch::Contains(receive));
            let any = StatusRange { from: 100, to: 999 };
            let default = if body.is_some() { any } else { StatusRange::one(200) };
            let status = object.statuses("response_codes").unwrap_or_else(|| vec![default]);
            MonitorKind::HttpEcv { request, expect: http_expect(object, status, body, trofs) }
        }
        "TCP-ECV" => MonitorKind::TcpEcv {
            send: bytes(report, object, "send"),
            receive: bytes(report, object, "receive"),
            trofs: object.get("trofs_string").map(|_| bytes(report, object, "trofs_string")),
        },
        "UDP-ECV" => {
            MonitorKind::UdpEcv { send: bytes(report, object, "send"), receive: bytes(report, object, "receive") }
        }
        "DNS" | "DNS-TCP" => {
            object.require(report, "query");
            MonitorKind::Dns {
                tcp: word == "DNS-TCP",
                query: object.text("query").unwrap_or(".").to_owned(),
                qtype: object.text("query_type").map_or(DnsType::A, dns_type),
                expect: object.items("ip_address").iter().filter_map(|n| values::ip(n.text()?).ok()).collect(),
            }
        }
        "LOAD" => MonitorKind::Load(LoadQuery {
            request: request(report, object, "request", "GET /"),
            status: statuses(object),
            pointer: pointer(report, object),
            threshold: object.int("load_threshold"),
        }),
        "USER" => MonitorKind::User(dialogue::script(cx, object)),
        other => match dialogue::dialogue(cx, object, other) {
            Some(dialogue) => MonitorKind::Dialogue(dialogue),
            None => MonitorKind::Unavailable { kind: other.into() },
        },
    }
}

fn statuses(object: &Object<'_>) -> Vec<StatusRange> {
    object.statuses("response_codes").unwrap_or_else(|| vec![StatusRange::one(200)])
}

fn action(object: &Object<'_>) -> InlineAction {
    match object.text("action") {
        Some("NONE") => InlineAction::None,
        Some("LOG") => InlineAction::Log,
        _ => InlineAction::Down,
    }
}

fn pointer(report: &mut Report, object: &Object<'_>) -> Option<crate::model::id::Name> {
    let pointer = object.name("json_pointer")?;
    if !pointer.starts_with('/') {
        object.wrong(report, "json_pointer", format!("`{pointer}` is not a JSON pointer such as `/load`"));
    }
    Some(pointer)
}

fn http_expect(
    object: &Object<'_>,
    status: Vec<StatusRange>,
    body: Option<BodyMatch>,
    trofs_body: Option<Vec<u8>>,
) -> HttpExpect {
    HttpExpect { status, headers: Vec::new(), body, trofs_code: object.int("trofs_code"), trofs_body }
}

/// NetScaler's `GET /path`, and `customHeaders` as a table or as lines.
fn request(report: &mut Report, object: &Object<'_>, key: &str, default: &str) -> HttpRequest {
    let text = object.text(key).unwrap_or(default);
    let (method, path) = text.split_once(' ').map_or((text, "/"), |(method, path)| (method, path.trim()));
    // The version that NetScaler's own lines may carry is not part of the target.
    let path = path.split(" HTTP/").next().unwrap_or(path);
    if let Err(why) = object::method(method) {
        object.wrong(report, key, format!("{why}; write `GET /path`"));
    }
    if !path.starts_with('/') && path != "*" || path.bytes().any(|b| b <= b' ' || b == 0x7f) {
        let shown = values::without_userinfo(path);
        object.wrong(report, key, format!("`{shown}` is not a path; write `GET /path`"));
    }
    let mut headers = match object.get("custom_headers") {
        Some(Node { value: Value::Text(lines), .. }) => header_lines(report, object, lines),
        _ => object.headers(report, "custom_headers"),
    };
    let host_at = headers.iter().position(|(name, _)| name.eq_ignore_ascii_case("host"));
    let host = host_at.map(|at| headers.remove(at).1);
    HttpRequest { method: method.into(), path: path.into(), host, headers, body: Vec::new() }
}

fn header_lines(
    report: &mut Report,
    object: &Object<'_>,
    lines: &str,
) -> Vec<(crate::model::id::Name, crate::model::id::Name)> {
    let lines = lines.replace("\\r", "\r").replace("\\n", "\n");
    let mut headers = Vec::new();
    let lines = lines.split(['\r', '\n']).filter(|line| !line.trim().is_empty());
    for (number, line) in (1..).zip(lines) {
        let parts = line.split_once(':').map(|(name, value)| (name.trim(), value.trim()));
        match parts.filter(|(name, value)| object::header(name, value).is_ok()) {
            Some((name, value)) => headers.push((name.into(), value.into())),
            // Without the line: a token may stand in it.
            None => object.wrong(report, "custom_headers", format!("line {number} is not `Name: value`")),
        }
    }
    headers
}

/// The bytes of a text, `\xHH` and its like replaced.
pub fn bytes(report: &mut Report, object: &Object<'_>, key: &str) -> Vec<u8> {
    match values::octets(object.text(key).unwrap_or("")) {
        Ok(bytes) => bytes,
        Err(why) => {
            object.wrong(report, key, why);
            Vec::new()
        }
    }
}

/// The type by its word; NetScaler calls A `Address` and SOA `Zone`.
pub fn dns_type(word: &str) -> DnsType {
    match word {
        "AAAA" => DnsType::Aaaa,
        "NS" => DnsType::Ns,
        "SOA" | "Zone" => DnsType::Soa,
        "TXT" => DnsType::Txt,
        "MX" => DnsType::Mx,
        "CNAME" => DnsType::Cname,
        "SRV" => DnsType::Srv,
        "PTR" => DnsType::Ptr,
        _ => DnsType::A,
    }
}
