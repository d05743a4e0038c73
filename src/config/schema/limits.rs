//! Keys of persistence, spillover, the surge queue and limits on one client.

use super::balancing::EXTRACT;
use super::{HOUR, Key, Kind, MINUTE, NAMES, Schema, Words, aliased, key, required, schema, words};

pub(super) const PERSISTENCE: Key = key("persistence", Kind::Table(&PERSISTENCE_TABLE));
static PERSISTENCE_TABLE: Schema = Schema {
    keys: &[
        required("type", Kind::Word(&PERSISTENCE_TYPES)),
        key("timeout", Kind::Duration(0, 1440 * MINUTE)),
        aliased("cookie_name", &["cookie"], Kind::Name),
        key("encrypted", Kind::Bool),
        aliased("request", &["rule"], EXTRACT),
        aliased("response", &["res_rule"], EXTRACT),
        key("backup", Kind::Word(&BACKUP_TYPES)),
        key("backup_timeout", Kind::Duration(2 * MINUTE, 1440 * MINUTE)),
        key("prefix_v4", Kind::Int(1, 32)),
        key("prefix_v6", Kind::Int(1, 128)),
    ],
    later: &["persist_mask"],
};
static PERSISTENCE_TYPES: Words = Words {
    known: &[
        "COOKIEINSERT",
        "SOURCEIP",
        "DESTIP",
        "SRCIPDESTIP",
        "SSLSESSION",
        "RULE",
        "URLPASSIVE",
        "CUSTOMSERVERID",
        "NONE",
    ],
    later: &["CALLID", "RTSPSID", "DIAMETER", "FIXSESSION", "USERSESSION"],
};
static BACKUP_TYPES: Words = words(&["SOURCEIP", "NONE"]);

pub(super) static LB_GROUP: Schema =
    schema(&[required("vservers", NAMES), required("persistence", Kind::Table(&PERSISTENCE_TABLE))]);

pub(super) const SKIP_PERSISTENCY: Key =
    aliased("skip_persistency", &["skippersistency"], Kind::Word(&SKIP_PERSISTENCY_WORDS));
static SKIP_PERSISTENCY_WORDS: Words = words(&["NONE", "BYPASS", "RELB"]);

pub(super) const SPILLOVER: Key = key("spillover", Kind::Table(&SPILLOVER_TABLE));
static SPILLOVER_TABLE: Schema = schema(&[
    required("method", Kind::Word(&SPILLOVER_METHODS)),
    key("threshold", Kind::OneOf(&[Kind::Int(1, 4_294_967_287), RATE])),
    key("when", super::gtm::CONDITION),
    key("persistence", Kind::Bool),
    key("persistence_timeout", Kind::Duration(2 * MINUTE, 1440 * MINUTE)),
    key("backup_action", Kind::Word(&BACKUP_ACTIONS)),
]);
static SPILLOVER_METHODS: Words =
    words(&["HEALTH", "CONNECTION", "DYNAMICCONNECTION", "BANDWIDTH", "CONDITION", "NONE"]);
static BACKUP_ACTIONS: Words = words(&["ACCEPT", "DROP", "REDIRECT"]);

pub(super) const REDIRECT_URL: Key = key("redirect_url", Kind::Name);

pub(super) const SURGE: Key = key("surge", Kind::Table(&SURGE_TABLE));
static SURGE_TABLE: Schema = schema(&[key("max", Kind::Int(0, 1_000_000)), key("timeout", Kind::Duration(1, HOUR))]);

pub(super) const CLIENT_LIMITS: Key = key("client_limits", Kind::Map(&CLIENT_LIMIT_KIND));
const CLIENT_LIMIT_KIND: Kind = Kind::Table(&CLIENT_LIMIT);
static CLIENT_LIMIT: Schema = schema(&[
    key("key", EXTRACT),
    key("prefix_v4", Kind::Int(1, 32)),
    key("prefix_v6", Kind::Int(1, 128)),
    key("rate", Kind::Int(1, 1_000_000)),
    key("burst", Kind::Int(1, 1_000_000)),
    key("concurrency", Kind::Int(1, 1_000_000)),
]);

const RATE: Kind = Kind::Rate(1, 10_000_000_000_000);
pub(super) const MAX_BANDWIDTH: Key = key("max_bandwidth", RATE);
