//! Keys of monitors: NetScaler's parameters with its ranges.

use super::adc::PORT;
use super::{HEADERS, Kind, SECOND, STATUSES, Schema, Words, aliased, key, required, words};

/// NetScaler's upper bound of `interval`: 20 940 s; of `resptimeout` and `downTime` one second less.
const INTERVAL: Kind = Kind::Duration(20, 20_940 * SECOND);
const PROBE_TIMEOUT: Kind = Kind::Duration(1, 20_939 * SECOND);
const DOWN_TIME: Kind = Kind::Duration(20, 20_939 * SECOND);
/// Monitors that this build probes, then those that it stores and reports as unknown.
const MONITOR_KINDS: [&str; 7] = ["PING", "TCP", "HTTP", "TCP-ECV", "HTTP-ECV", "UDP-ECV", "DNS"];
static MONITOR_WORDS: Words = words(&[
    "PING",
    "TCP",
    "HTTP",
    "TCP-ECV",
    "HTTP-ECV",
    "UDP-ECV",
    "DNS",
    "DNS-TCP",
    "FTP",
    "FTP-EXTENDED",
    "LDNS-PING",
    "LDNS-TCP",
    "LDNS-DNS",
    "RADIUS",
    "RADIUS_ACCOUNTING",
    "USER",
    "HTTP-INLINE",
    "SIP-UDP",
    "SIP-TCP",
    "LOAD",
    "SMTP",
    "SNMP",
    "NNTP",
    "MYSQL",
    "MYSQL-ECV",
    "MSSQL-ECV",
    "ORACLE-ECV",
    "LDAP",
    "POP3",
    "RTSP",
    "ARP",
    "ND6",
    "DIAMETER",
    "APPC",
    "SMPP",
    "STOREFRONT",
    "CITRIX-XML-SERVICE",
    "CITRIX-WEB-INTERFACE",
    "CITRIX-WI-EXTENDED",
    "CITRIX-AG",
    "CITRIX-AAC-LOGINPAGE",
    "CITRIX-AAC-LAS",
    "CITRIX-XD-DDC",
    "CITRIX-XNC-ECV",
    "CITRIX-XDM",
    "CITRIX-STA-SERVICE",
    "CITRIX-STA-SERVICE-NHOP",
    "HTTP2",
    "MQTT",
    "MQTT-ECV",
    "GRPC",
]);

macro_rules! monitor_keys {
    ($type:expr) => {
        &[
            $type,
            key("interval", INTERVAL),
            aliased("response_timeout", &["resp_timeout", "resptimeout"], PROBE_TIMEOUT),
            key("retries", Kind::Int(1, 127)),
            key("failure_retries", Kind::Int(0, 126)),
            key("success_retries", Kind::Int(1, 127)),
            aliased("down_time", &["downtime"], DOWN_TIME),
            key("reverse", Kind::Bool),
            key("secure", Kind::Bool),
            key("dest_ip", Kind::Ip),
            key("dest_port", PORT),
            aliased("request", &["http_request"], Kind::Name),
            aliased("response_codes", &["resp_codes", "resp_code"], Kind::OneOf(&[STATUSES, Kind::Status])),
            key("custom_headers", Kind::OneOf(&[HEADERS, Kind::Text])),
            key("trofs_code", Kind::Int(100, 599)),
            key("trofs_string", Kind::Name),
            key("send", Kind::Text),
            aliased("receive", &["recv"], Kind::Text),
            key("query", Kind::Name),
            key("query_type", Kind::Word(&DNS_TYPES)),
            key("ip_address", Kind::OneOf(&[Kind::List(&Kind::Ip), Kind::Ip])),
        ]
    };
}

const MONITOR_LATER: &[&str] = &[
    "deviation",
    "resp_timeout_thresh",
    "alert_retries",
    "lrtm",
    "state",
    "transparent",
    "action",
    "script_name",
    "script_args",
    "user_name",
    "password",
    "database",
    "sql_query",
    "eval_rule",
    "tos",
    "dispatcher_ip",
    "net_profile",
    "ssl_profile",
    "domain",
    "base_dn",
    "bind_dn",
    "filter",
    "attribute",
    "snmp_oid",
    "snmp_community",
    "rad_key",
];

static DNS_TYPES: Words = words(&["A", "AAAA", "NS", "SOA", "TXT", "MX", "CNAME", "SRV", "PTR", "Address", "Zone"]);

pub(super) static MONITOR: Schema =
    Schema { keys: monitor_keys!(required("type", Kind::Word(&MONITOR_WORDS))), later: MONITOR_LATER };
pub(super) static MONITOR_DEFAULTS: Schema =
    Schema { keys: monitor_keys!(key("type", Kind::Word(&MONITOR_WORDS))), later: MONITOR_LATER };

/// The kinds of monitors that this build probes.
pub fn monitor_kinds() -> &'static [&'static str] {
    &MONITOR_KINDS
}

/// Keys that a kind of monitor has beside those of all kinds.
pub fn monitor_kind_keys(kind: &str) -> &'static [&'static str] {
    match kind {
        "TCP" => &["secure"],
        "HTTP" => &["secure", "request", "response_codes", "custom_headers", "trofs_code"],
        "HTTP-ECV" => &["secure", "send", "receive", "response_codes", "custom_headers", "trofs_code", "trofs_string"],
        "TCP-ECV" => &["secure", "send", "receive", "trofs_string"],
        "UDP-ECV" => &["send", "receive"],
        "DNS" => &["query", "query_type", "ip_address"],
        _ => &[],
    }
}
