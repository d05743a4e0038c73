//! Keys of choosing a member: methods, weights, orders, splits, passive health, and values taken from requests.

use super::{HOUR, Key, Kind, NAMES, SECOND, Schema, Words, aliased, key, schema, words};

/// 0: no new clients.
pub(super) const WEIGHT: Kind = Kind::Int(0, 100);
const ORDER: Kind = Kind::Int(1, 8192);

static LB_METHODS: Words = Words {
    known: &[
        "LEASTCONNECTION",
        "ROUNDROBIN",
        "LEASTRESPONSETIME",
        "LEASTBANDWIDTH",
        "LEASTPACKETS",
        "LEASTREQUEST",
        "URLHASH",
        "DOMAINHASH",
        "SOURCEIPHASH",
        "DESTINATIONIPHASH",
        "SRCIPDESTIPHASH",
        "SRCIPSRCPORTHASH",
        "CALLIDHASH",
        "TOKEN",
        "CUSTOMLOAD",
        "STATICPROXIMITY",
    ],
    later: &["USER_TOKEN", "LRTM", "AUDITLOGHASH"],
};

/// Methods that do not hang on what a request says.
static BACKUP_LB_METHODS: Words = words(&[
    "ROUNDROBIN",
    "LEASTCONNECTION",
    "LEASTRESPONSETIME",
    "LEASTBANDWIDTH",
    "LEASTPACKETS",
    "LEASTREQUEST",
    "SOURCEIPHASH",
    "DESTINATIONIPHASH",
    "SRCIPDESTIPHASH",
    "SRCIPSRCPORTHASH",
    "CUSTOMLOAD",
]);

pub(super) const LB_METHOD: Key = key("lb_method", Kind::Word(&LB_METHODS));
pub(super) const BACKUP_LB_METHOD: Key = key("backup_lb_method", Kind::Word(&BACKUP_LB_METHODS));
pub(super) const HASH_LENGTH: Key = key("hash_length", Kind::Int(1, 4096));
/// NetScaler's way (255.255.255.0), or the length of the prefix.
pub(super) const NETMASK: Key = key("netmask", Kind::OneOf(&[Kind::Int(1, 32), Kind::Ip]));
pub(super) const V6_NETMASK_LEN: Key = key("v6netmasklen", Kind::Int(1, 128));
pub(super) const SLOW_START: Key = key("slow_start", Kind::Duration(0, 24 * HOUR));

/// What TOKEN and CALLIDHASH hash.
pub(super) const TOKEN: Key = aliased("token", &["rule"], EXTRACT);
pub(super) const SPLIT: Key = key("split", Kind::Map(&Kind::Int(0, 100)));
pub(super) const PROXIMITY: Key = key("proximity", Kind::Map(&Kind::OneOf(&[NAMES, Kind::Name])));

/// A list of names, or names with what they are bound with.
pub(super) const SERVICES: Key = key("services", Kind::OneOf(&[NAMES, Kind::Map(&BOUND)]));
const BOUND: Kind = Kind::OneOf(&[WEIGHT, Kind::Table(&BINDING)]);
static BINDING: Schema = schema(&[key("weight", WEIGHT), key("order", ORDER)]);

pub(super) const HASH_ID: Key = key("hash_id", Kind::Int(1, 4_294_967_295));
pub(super) const CUSTOM_SERVER_ID: Key = key("custom_server_id", Kind::Name);
pub(super) const MEMBER_WEIGHT: Key = key("weight", WEIGHT);
pub(super) const MEMBER_ORDER: Key = key("order", ORDER);

pub(super) const PASSIVE: Key = key("passive", Kind::Table(&PASSIVE_TABLE));
static PASSIVE_TABLE: Schema = schema(&[
    key("connect_failures", Kind::Int(0, 1000)),
    key("server_errors", Kind::Int(0, 1000)),
    key("eject_time", Kind::Duration(SECOND, HOUR)),
    key("max_ejected", Kind::Int(1, 100)),
]);

/// A value of a request: a word, or a table that says where it stands.
pub(super) const EXTRACT: Kind = Kind::OneOf(&[Kind::Word(&EXTRACT_WORDS), Kind::Table(&EXTRACT_TABLE)]);
static EXTRACT_WORDS: Words = words(&["path", "url", "host", "client_ip"]);
static EXTRACT_TABLE: Schema = schema(&[
    key("header", Kind::Name),
    key("cookie", Kind::Name),
    key("query", Kind::Name),
    key("path_segment", Kind::Int(1, 64)),
    key("of", Kind::Word(&EXTRACT_WORDS)),
    key("regex", Kind::Pattern),
]);
