//! Keys of the GTM: checks, scenarios, data centres, zones.

use super::monitor::with_dialogue_keys;
use super::tls::{CERTIFICATES, CLIENT_TLS};
use super::{
    DAY, HEADERS, HOUR, Kind, NAMES, NETWORKS, SECOND, SECRET, STATUSES, Schema, TTL, Words, YEAR, aliased, key,
    required, schema, words,
};
use crate::model::syslog::Facility;

/// Groups of terms: plain lists, or a table of named groups.
pub(super) const CONDITION: Kind = Kind::OneOf(&[Kind::List(&NAMES), Kind::Map(&NAMES)]);

const HOLD: Kind = Kind::Duration(0, YEAR);

static CHECK_WORDS: Words = words(&[
    "HTTP",
    "HTTPS",
    "HTTP2",
    "TCP",
    "PING",
    "DNS",
    "DNS-TCP",
    "TCP-ECV",
    "UDP",
    "UDP-ECV",
    "FTP",
    "FTPS",
    "FTP-EXTENDED",
    "SMTP",
    "POP3",
    "NNTP",
    "LDAP",
    "LDAPS",
    "RADIUS",
    "RADIUS_ACCOUNTING",
    "MYSQL",
    "MYSQL-ECV",
    "POSTGRESQL",
    "ORACLE",
    "REDIS",
    "MQTT",
    "GRPC",
    "USER",
    "SCENARIO",
    "DATACENTER",
    "VSERVER",
    "SERVICE",
]);
static DNS_TYPES: Words = words(&["A", "AAAA", "NS", "SOA", "TXT", "MX", "CNAME", "SRV", "PTR"]);

macro_rules! schedule_keys {
    ($($own:expr),* $(,)?) => {
        &[
            $($own,)*
            key("interval", Kind::Duration(20, HOUR)),
            key("timeout", Kind::Duration(1, HOUR)),
            key("rise", Kind::Int(1, 127)),
            key("fall", Kind::Int(1, 127)),
            key("fall_among", Kind::Int(0, 126)),
            key("down_time", Kind::Duration(20, HOUR)),
            key("source", Kind::Ip),
        ]
    };
}

pub(super) static CHECK: Schema = Schema {
    keys: with_dialogue_keys!(
        schedule_keys,
        required("type", Kind::Word(&CHECK_WORDS)),
        key("reverse", Kind::Bool),
        key("url", Kind::Name),
        aliased("address", &["target"], Kind::Name),
        key("targets", NAMES),
        key("quorum", Kind::Int(1, 10_000)),
        key("term", Kind::Name),
        key("method", Kind::Name),
        key("host", Kind::Name),
        key("headers", HEADERS),
        key("body", Kind::Text),
        key("tls", Kind::OneOf(&[Kind::Table(&TLS), Kind::Bool])),
        key("send", Kind::Text),
        aliased("receive", &["recv"], Kind::Text),
        key("query", Kind::Name),
        key("query_type", Kind::Word(&DNS_TYPES)),
        key("expect", Kind::Table(&EXPECT)),
    ),
    later: &["dsn", "command", "region", "about"],
};
pub(super) static CHECK_DEFAULTS: Schema = schema(schedule_keys!());

static TLS: Schema = schema(&[key("server_name", Kind::Name), key("verify", Kind::Bool)]);

static EXPECT: Schema = schema(&[
    key("status", Kind::OneOf(&[STATUSES, Kind::Status])),
    key("headers", HEADERS),
    key("body_contains", Kind::Name),
    key("body_regex", Kind::Pattern),
    key("body_json", Kind::Table(&JSON_MATCH)),
    key("addresses", Kind::List(&Kind::Ip)),
]);
static JSON_MATCH: Schema = schema(&[required("pointer", Kind::Text), key("equals", Kind::Any), key("is", Kind::Name)]);
static BODY_MATCH: Schema =
    schema(&[key("contains", Kind::Name), key("regex", Kind::Pattern), key("json", Kind::Table(&JSON_MATCH))]);

pub(super) static TIME_WINDOW: Schema = Schema {
    keys: &[
        key("days", NAMES),
        key("hours", Kind::OneOf(&[Kind::Name, NAMES])),
        key("zone", Kind::Name),
        key("holidays", Kind::List(&Kind::Day)),
        key("once", Kind::List(&Kind::Table(&ONCE))),
    ],
    later: &["cron", "calendar", "ics"],
};
static ONCE: Schema = schema(&[required("from", Kind::Moment), required("to", Kind::Moment)]);

pub(super) static SWITCH: Schema = schema(&[key("initial", Kind::Bool)]);

static TRIGGER_WORDS: Words = words(&["HTTP", "HTTPS", "ORACLE", "POSTGRESQL", "MYSQL", "SYSLOG"]);
static QUERY_WORDS: Words = words(&["HTTP", "HTTPS", "ORACLE", "POSTGRESQL", "MYSQL"]);
pub(super) static FACILITIES: Words = words(&Facility::WORDS);

pub(super) static TRIGGER: Schema = schema(&[
    required("type", Kind::Word(&TRIGGER_WORDS)),
    key("timeout", Kind::Duration(1, HOUR)),
    key("retry", Kind::Table(&RETRY)),
    aliased("uri", &["url"], Kind::Name),
    key("method", Kind::Name),
    key("headers", HEADERS),
    key("body", Kind::Text),
    key("expect_status", Kind::OneOf(&[STATUSES, Kind::Status])),
    key("expect_body", Kind::Table(&BODY_MATCH)),
    key("secret", Kind::Table(&SECRET)),
    key("dsn", Kind::Name),
    key("user", Kind::Name),
    key("password", Kind::Table(&SECRET)),
    key("sql", Kind::Name),
    key("expect", Kind::Name),
    key("address", Kind::Name),
    key("facility", Kind::Word(&FACILITIES)),
    key("app_name", Kind::Name),
]);
static RETRY: Schema = schema(&[
    key("attempts", Kind::Int(1, 1_000)),
    key("first", Kind::Duration(1, DAY)),
    key("most", Kind::Duration(1, 7 * DAY)),
    key("max_age", Kind::Duration(SECOND, YEAR)),
]);

pub(super) static QUERY: Schema = schema(&[
    required("type", Kind::Word(&QUERY_WORDS)),
    key("timeout", Kind::Duration(1, HOUR)),
    aliased("uri", &["url"], Kind::Name),
    key("method", Kind::Name),
    key("headers", HEADERS),
    key("expect_status", Kind::OneOf(&[STATUSES, Kind::Status])),
    key("expect_body", Kind::Table(&BODY_MATCH)),
    key("dsn", Kind::Name),
    key("user", Kind::Name),
    key("password", Kind::Table(&SECRET)),
    key("sql", Kind::Name),
    key("expect", Kind::Name),
]);

macro_rules! scenario_keys {
    ($($own:expr),* $(,)?) => {
        &[
            $($own,)*
            key("initial", Kind::Word(&INITIAL)),
            key("oscillation", Kind::Table(&OSCILLATION)),
            key("min_dwell", HOLD),
            key("activate", Kind::Table(&DIRECTION)),
            key("deactivate", Kind::Table(&DIRECTION)),
        ]
    };
}
static INITIAL: Words = words(&["inactive", "active"]);
static OSCILLATION: Schema =
    schema(&[key("commits", Kind::Int(0, 10_000)), key("within", Kind::Duration(1, 30 * DAY))]);

pub(super) static SCENARIO: Schema = schema(scenario_keys!(key("about", Kind::Text), key("renamed_from", Kind::Name)));
/// A generated scenario's replaced fields.
static PAIR_SCENARIO: Schema = schema(scenario_keys!(key("about", Kind::Text)));
pub(super) static SCENARIO_DEFAULTS: Schema = schema(scenario_keys!());

/// `on` is known so that the resolver can say that it belongs to run time.
static MODES: Words = words(&["auto", "off", "on"]);
static DIRECTION: Schema = schema(&[
    key("mode", Kind::Word(&MODES)),
    key("when", CONDITION),
    key("gate", CONDITION),
    key("guard", Kind::Table(&GUARD)),
    key("triggers", NAMES),
]);
static GUARD: Schema = schema(&[
    key("run", NAMES),
    key("approve", Kind::Bool),
    key("timeout", Kind::Duration(1, HOUR)),
    key("retries", Kind::Int(0, 1_000)),
    key("backoff", Kind::Duration(1, DAY)),
    key("deadline", Kind::Duration(1, 7 * DAY)),
    required("on_timeout", Kind::Word(&ON_TIMEOUT)),
]);
static ON_TIMEOUT: Words = words(&["block", "proceed"]);

/// When no drill begins, what ends one early, how long one may be.
pub(super) static DRILLS: Schema =
    schema(&[key("blocked", CONDITION), key("stop_on", CONDITION), key("longest", Kind::Duration(SECOND, YEAR))]);

pub(super) static DATACENTER: Schema = Schema {
    keys: &[
        key("wan", Kind::Table(&ACCESS_LIST)),
        key("lan", Kind::Table(&ACCESS_LIST)),
        key("internet", Kind::Table(&ACCESS_LIST)),
        key("networks", NETWORKS),
    ],
    later: &["about", "location"],
};
static ACCESS_LIST: Schema = schema(schedule_keys!(required("targets", NAMES), key("quorum", Kind::Int(1, 10_000))));

pub(super) static DATACENTER_PAIR: Schema = schema(&[
    required("active", Kind::Name),
    required("backup", Kind::Name),
    key("return_hold", HOLD),
    key("loss_hold", HOLD),
    key("return_after_maintenance", Kind::Word(&AFTER_MAINTENANCE)),
    key("access", Kind::Word(&ACCESS)),
    key("witness", Kind::Name),
    key("after", NAMES),
    key("from_active", Kind::Name),
    key("to_backup", Kind::Name),
    key("to_active", Kind::Name),
    key("from_backup", Kind::Name),
    key("from-active", Kind::Table(&PAIR_SCENARIO)),
    key("to-backup", Kind::Table(&PAIR_SCENARIO)),
    key("to-active", Kind::Table(&PAIR_SCENARIO)),
    key("from-backup", Kind::Table(&PAIR_SCENARIO)),
]);
static AFTER_MAINTENANCE: Words = words(&["hold", "now"]);
static ACCESS: Words = words(&["wan", "lan"]);

/// What no other key says of objects that NetScaler's commands made.
pub(super) static GSLB: Schema = schema(&[key("lines", NAMES)]);

pub(super) static DNS: Schema = Schema {
    keys: &[
        key("listen", Kind::OneOf(&[Kind::List(&Kind::Socket), Kind::Socket])),
        key("tcp", Kind::Table(&TCP)),
        key("tls", Kind::Table(&DNS_TLS)),
        key("https", Kind::Table(&DNS_HTTPS)),
        key("nsid", Kind::Name),
        key("extended_errors", Kind::Bool),
        key("cookies", Kind::OneOf(&[Kind::Table(&COOKIES), Kind::Bool])),
        key("rate_limit", Kind::Table(&RATE_LIMIT)),
        key("ecs", Kind::OneOf(&[Kind::Table(&ECS), Kind::Bool])),
        key("geo", Kind::Table(&GEO)),
        key("tsig", Kind::Map(&Kind::Table(&TSIG))),
    ],
    later: &["startup_wait"],
};
static TCP: Schema = schema(&[
    key("connections", Kind::Int(1, 1_000_000)),
    key("connections_per_client", Kind::Int(1, 1_000_000)),
    key("idle_timeout", Kind::Duration(SECOND, HOUR)),
    key("queries_per_connection", Kind::Int(0, 1_000_000_000)),
    key("pipeline", Kind::Int(1, 1_000)),
]);
const SOCKETS: Kind = Kind::OneOf(&[Kind::List(&Kind::Socket), Kind::Socket]);
static DNS_TLS: Schema = schema(&[key("listen", SOCKETS), CERTIFICATES, CLIENT_TLS]);
static DNS_HTTPS: Schema = schema(&[key("listen", SOCKETS), CERTIFICATES, CLIENT_TLS, key("path", Kind::Name)]);
static GEO: Schema = schema(&[required("database", Kind::Name)]);
static COOKIES: Schema = schema(&[required("keys", NAMES)]);
static RATE_LIMIT: Schema = schema(&[
    required("per_second", Kind::Int(1, 1_000_000)),
    key("slip", Kind::Int(0, 100)),
    key("ipv4_prefix", Kind::Int(8, 32)),
    key("ipv6_prefix", Kind::Int(16, 128)),
    key("table", Kind::Int(1_024, 1 << 24)),
    key("exempt", NETWORKS),
]);
static ECS: Schema =
    schema(&[key("ipv4_prefix", Kind::Int(8, 32)), key("ipv6_prefix", Kind::Int(16, 128)), key("from", NETWORKS)]);

pub(super) static ZONE: Schema = Schema {
    keys: &[
        key("ttl", TTL),
        key("degraded_ttl", TTL),
        key("soa", Kind::Table(&SOA)),
        key("static", Kind::Text),
        key("file", Kind::Name),
        key("rrset", Kind::Map(&Kind::Table(&RRSET))),
        key("dnssec", Kind::Table(&DNSSEC)),
        key("transfer", Kind::Table(&TRANSFER)),
    ],
    later: &[],
};
static TSIG: Schema =
    schema(&[key("algorithm", Kind::Word(&TSIG_ALGORITHMS)), required("secret", Kind::Table(&SECRET))]);
static TSIG_ALGORITHMS: Words = words(&["hmac-sha256"]);
static TRANSFER: Schema = schema(&[
    key("from", Kind::OneOf(&[Kind::List(&PRIMARIES), Kind::Table(&PRIMARY), Kind::Socket])),
    key("max_size", Kind::Size(1 << 10, 1 << 30)),
    key("allow", Kind::List(&Kind::Network)),
    key("key", Kind::Name),
    key("notify", Kind::List(&Kind::Socket)),
    key("history", Kind::Int(0, 10_000)),
]);
const PRIMARIES: Kind = Kind::OneOf(&[Kind::Table(&PRIMARY), Kind::Socket]);
static PRIMARY: Schema = schema(&[required("address", Kind::Socket), key("key", Kind::Name)]);
static DNSSEC: Schema = schema(&[
    required("keys", Kind::List(&Kind::OneOf(&[Kind::Table(&ZONE_KEY), Kind::Name]))),
    key("validity", Kind::Duration(DAY, YEAR)),
]);
static ZONE_KEY: Schema =
    schema(&[required("file", Kind::Name), key("role", Kind::Word(&KEY_ROLES)), key("state", Kind::Word(&KEY_STATES))]);
static KEY_ROLES: Words = words(&["ksk", "zsk", "csk"]);
static KEY_STATES: Words = words(&["active", "published"]);
static SOA: Schema = schema(&[
    key("mname", Kind::Name),
    key("rname", Kind::Name),
    key("serial", Kind::Int(0, 4_294_967_295)),
    key("refresh", TTL),
    key("retry", TTL),
    key("expire", TTL),
    key("minimum", TTL),
]);

static RRSET: Schema = Schema {
    keys: &[
        key("ttl", TTL),
        key("degraded_ttl", TTL),
        required("records", Kind::List(&Kind::OneOf(&[Kind::Table(&RECORD), Kind::Name]))),
        key("on_empty", Kind::OneOf(&[Kind::Word(&ON_EMPTY), Kind::Table(&ON_EMPTY_STATIC)])),
        key("select", Kind::Table(&SELECT)),
        key("datacenter", Kind::Name),
        key("gslb_vserver", Kind::Name),
    ],
    later: &["geo", "topology", "persistence"],
};
static RECORD: Schema = Schema {
    keys: &[
        required("data", Kind::Name),
        key("type", Kind::Name),
        key("cond", Kind::Name),
        aliased("drCond", &["dr_cond"], Kind::Name),
        key("check", Kind::Name),
        key("enabled", Kind::Bool),
        key("weight", Kind::Int(0, 65_535)),
        key("datacenter", Kind::Name),
        key("geo", Kind::OneOf(&[NAMES, Kind::Name])),
    ],
    later: &["ttl"],
};
static ON_EMPTY: Words = words(&["serve_all", "other_set", "last_good", "nodata", "servfail"]);
static ON_EMPTY_STATIC: Schema = schema(&[required("static", NAMES)]);
static SELECT: Schema = schema(&[
    key("method", Kind::Word(&SELECT_METHODS)),
    key("answers", Kind::OneOf(&[Kind::Int(1, 65_535), Kind::Word(&ALL)])),
    key("topology", Kind::Bool),
    key("geo", Kind::Bool),
]);
static SELECT_METHODS: Words =
    Words { known: &["ordered", "weighted", "round_robin", "hash"], later: &["geo", "topology", "rtt", "proximity"] };
static ALL: Words = words(&["all"]);
