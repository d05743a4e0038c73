//! Keys of monitors: NetScaler's parameters with its ranges; and which kind has which.

use super::adc::PORT;
use super::{
    HEADERS, HOUR, Kind, NAMES, SECOND, SECRET, STATUSES, Schema, Words, aliased, key, required, schema, words,
};

/// NetScaler's upper bound of `interval`: 20 940 s; of `resptimeout` and `downTime` one second less.
const INTERVAL: Kind = Kind::Duration(20, 20_940 * SECOND);
const PROBE_TIMEOUT: Kind = Kind::Duration(1, 20_939 * SECOND);
const DOWN_TIME: Kind = Kind::Duration(20, 20_939 * SECOND);

/// Keys of several kinds that not all of them have.
const HTTP_KEYS: &[&str] = &["request", "response_codes", "custom_headers"];
const TLS_KEYS: &[&str] = &["secure", "verify", "server_name"];
const LOGIN_KEYS: &[&str] = &["user_name", "password"];
const SQL_KEYS: &[&str] = &["database", "sql_query", "sql_expect"];

/// A kind of monitor that this build probes, and the groups of keys that it has beside those of all kinds.
type KindKeys = (&'static str, &'static [&'static [&'static str]]);

const KINDS: &[KindKeys] = &[
    ("PING", &[]),
    ("TCP", &[TLS_KEYS]),
    ("HTTP", &[TLS_KEYS, HTTP_KEYS, &["trofs_code"]]),
    ("HTTP2", &[TLS_KEYS, HTTP_KEYS, &["trofs_code"]]),
    ("HTTP-INLINE", &[TLS_KEYS, HTTP_KEYS, &["action"]]),
    ("TCP-ECV", &[TLS_KEYS, &["send", "receive", "trofs_string"]]),
    ("HTTP-ECV", &[TLS_KEYS, &["send", "receive", "response_codes", "custom_headers", "trofs_code", "trofs_string"]]),
    ("UDP-ECV", &[&["send", "receive"]]),
    ("DNS", &[&["query", "query_type", "ip_address"]]),
    ("DNS-TCP", &[&["query", "query_type", "ip_address"]]),
    ("FTP", &[TLS_KEYS, LOGIN_KEYS]),
    ("FTP-EXTENDED", &[TLS_KEYS, LOGIN_KEYS, &["file_name"]]),
    ("SMTP", &[TLS_KEYS]),
    ("POP3", &[TLS_KEYS, LOGIN_KEYS]),
    ("NNTP", &[TLS_KEYS, &["group"]]),
    ("LDAP", &[TLS_KEYS, &["bind_dn", "password", "base_dn", "filter", "attribute"]]),
    ("RADIUS", &[LOGIN_KEYS, &["rad_key", "rad_nas_ip", "rad_codes"]]),
    ("RADIUS_ACCOUNTING", &[&["user_name", "rad_key", "rad_nas_ip"]]),
    ("MYSQL", &[TLS_KEYS, LOGIN_KEYS, SQL_KEYS]),
    ("MYSQL-ECV", &[TLS_KEYS, LOGIN_KEYS, SQL_KEYS]),
    ("POSTGRESQL", &[TLS_KEYS, LOGIN_KEYS, SQL_KEYS]),
    // Of checks alone: NetScaler has ORACLE-ECV.
    ("ORACLE", &[LOGIN_KEYS, SQL_KEYS]),
    ("REDIS", &[TLS_KEYS, LOGIN_KEYS]),
    ("MQTT", &[TLS_KEYS, LOGIN_KEYS, &["mqtt_client_identifier"]]),
    ("GRPC", &[TLS_KEYS, &["grpc_service_name"]]),
    ("LOAD", &[TLS_KEYS, HTTP_KEYS, &["json_pointer", "load_threshold"]]),
    ("USER", &[&["script_name", "script_args", "environment", "memory", "cpu_time", "file_size", "open_files"]]),
];

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
    "POSTGRESQL",
    "REDIS",
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

static STATE_WORDS: Words = words(&["ENABLED", "DISABLED"]);
static ACTION_WORDS: Words = words(&["NONE", "LOG", "DOWN"]);

/// `monitors = { page = { weight = 2, state = "DISABLED", passive = true } }`
pub(super) static BINDING: Schema = schema(&[
    key("weight", Kind::Int(1, 100)),
    aliased("state", &["mon_state"], Kind::Word(&STATE_WORDS)),
    key("passive", Kind::Bool),
]);

/// `[monitors]`
pub(super) static MONITORS: Schema = schema(&[key("scripts", Kind::Name)]);

/// Hands `$list` its own keys and those of application protocols and scripts, which monitors and checks share.
macro_rules! with_dialogue_keys {
    ($list:ident, $($own:expr),* $(,)?) => {
        $list!(
            $($own,)*
            aliased("user_name", &["username", "user"], Kind::Name),
            key("password", Kind::Table(&SECRET)),
            key("database", Kind::Name),
            aliased("sql_query", &["sql"], Kind::Name),
            key("sql_expect", Kind::Text),
            key("base_dn", Kind::Name),
            key("bind_dn", Kind::Name),
            key("filter", Kind::Name),
            key("attribute", Kind::Name),
            aliased("rad_key", &["radkey"], Kind::Table(&SECRET)),
            aliased("rad_nas_ip", &["radnasip"], Kind::Ip),
            key("rad_codes", Kind::OneOf(&[Kind::List(&Kind::Int(1, 255)), Kind::Int(1, 255)])),
            aliased("file_name", &["filename"], Kind::Name),
            key("group", Kind::Name),
            aliased("mqtt_client_identifier", &["client_id"], Kind::Name),
            aliased("grpc_service_name", &["grpc_service"], Kind::Text),
            aliased("script_name", &["script", "scriptname"], Kind::Name),
            aliased("script_args", &["scriptargs"], Kind::OneOf(&[NAMES, Kind::Text])),
            key("environment", Kind::Map(&Kind::OneOf(&[Kind::Table(&SECRET), Kind::Text]))),
            key("memory", Kind::Size(16 << 20, 1 << 40)),
            key("cpu_time", Kind::Duration(SECOND, HOUR)),
            key("file_size", Kind::Size(0, 1 << 40)),
            key("open_files", Kind::Int(8, 65_536)),
        )
    };
}
pub(super) use with_dialogue_keys;

macro_rules! plain_list {
    ($($key:expr),* $(,)?) => { &[$($key),*] };
}

macro_rules! monitor_keys {
    ($type:expr) => {
        with_dialogue_keys!(
            plain_list,
            $type,
            key("interval", INTERVAL),
            aliased("response_timeout", &["resp_timeout", "resptimeout"], PROBE_TIMEOUT),
            aliased("response_timeout_threshold", &["resp_timeout_thresh", "resptimeoutthresh"], Kind::Int(0, 100)),
            key("retries", Kind::Int(1, 127)),
            key("failure_retries", Kind::Int(0, 126)),
            key("alert_retries", Kind::Int(0, 32)),
            key("success_retries", Kind::Int(1, 127)),
            aliased("down_time", &["downtime"], DOWN_TIME),
            key("deviation", Kind::Duration(0, 20_939 * SECOND)),
            key("lrtm", Kind::Bool),
            key("state", Kind::Word(&STATE_WORDS)),
            key("reverse", Kind::Bool),
            key("secure", Kind::Bool),
            key("verify", Kind::Bool),
            aliased("server_name", &["sni", "common_name"], Kind::Name),
            key("dest_ip", Kind::Ip),
            key("dest_port", PORT),
            aliased("request", &["http_request"], Kind::Name),
            aliased("response_codes", &["resp_codes", "resp_code"], Kind::OneOf(&[STATUSES, Kind::Status])),
            key("custom_headers", Kind::OneOf(&[HEADERS, Kind::Text])),
            key("action", Kind::Word(&ACTION_WORDS)),
            key("trofs_code", Kind::Int(100, 599)),
            key("trofs_string", Kind::Name),
            key("send", Kind::Text),
            aliased("receive", &["recv"], Kind::Text),
            key("query", Kind::Name),
            key("query_type", Kind::Word(&DNS_TYPES)),
            key("ip_address", Kind::OneOf(&[Kind::List(&Kind::Ip), Kind::Ip])),
            key("json_pointer", Kind::Text),
            aliased("load_threshold", &["metric_threshold"], Kind::Int(0, 4_294_967_295)),
            super::http::COMMENT,
        )
    };
}

const MONITOR_LATER: &[&str] = &[
    "transparent",
    "ip_tunnel",
    "tos",
    "tos_id",
    "net_profile",
    "ssl_profile",
    "dispatcher_ip",
    "dispatcher_port",
    "secure_args",
    "eval_rule",
    "domain",
    "validate_cred",
    "secondary_password",
    "logon_point_name",
    "las_version",
    "application",
    "site_path",
    "store_name",
    "storefront_acct_service",
    "storefront_check_backend_services",
    "host_name",
    "kcd_account",
    "store_db",
    "oracle_sid",
    "mssql_protocol_version",
    "snmp_oid",
    "snmp_community",
    "snmp_threshold",
    "snmp_version",
    "metric_table",
    "metric",
    "metric_weight",
    "rtsp_request",
    "sip_method",
    "sip_uri",
    "sip_reg_uri",
    "max_forwards",
    "rad_nas_id",
    "rad_account_type",
    "rad_framed_ip",
    "rad_apn",
    "rad_msisdn",
    "rad_account_session",
    "mqtt_version",
    "grpc_health_check",
    "grpc_status_code",
    "origin_host",
    "origin_realm",
    "host_ip_address",
    "vendor_id",
    "product_name",
    "firmware_revision",
    "auth_application_id",
    "acct_application_id",
    "inband_security_id",
    "supported_vendor_ids",
    "vendor_specific_vendor_id",
    "vendor_specific_auth_application_ids",
    "vendor_specific_acct_application_ids",
];

static DNS_TYPES: Words = words(&["A", "AAAA", "NS", "SOA", "TXT", "MX", "CNAME", "SRV", "PTR", "Address", "Zone"]);

pub(super) static MONITOR: Schema =
    Schema { keys: monitor_keys!(required("type", Kind::Word(&MONITOR_WORDS))), later: MONITOR_LATER };
pub(super) static MONITOR_DEFAULTS: Schema =
    Schema { keys: monitor_keys!(key("type", Kind::Word(&MONITOR_WORDS))), later: MONITOR_LATER };

/// Whether this build probes monitors of this kind.
pub fn is_probed(kind: &str) -> bool {
    KINDS.iter().any(|(word, _)| *word == kind)
}

/// Whether a kind of monitor has a key that not all kinds have.
pub fn kind_has_key(kind: &str, key: &str) -> bool {
    let of_kind = KINDS.iter().find(|(word, _)| *word == kind);
    of_kind.is_some_and(|(_, groups)| groups.iter().any(|keys| keys.contains(&key)))
}

/// Every key that only some kinds have.
pub fn keys_of_kinds() -> impl Iterator<Item = &'static str> {
    let mut keys: Vec<&str> = KINDS.iter().flat_map(|(_, groups)| groups.iter().copied().flatten()).copied().collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter()
}
