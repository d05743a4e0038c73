//! Keys of policies: NetScaler's objects with its expressions as they are written.

use super::{Kind, NAMES, Schema, Words, key, required, schema, words};

const COMMENT: super::Key = key("comment", Kind::Text);
const PRIORITY: Kind = Kind::Int(1, 2_147_483_647);

pub(super) static PATTERN_SET: Schema =
    schema(&[key("patterns", Kind::OneOf(&[NAMES, Kind::Map(&Kind::Int(1, 2_147_483_647))])), COMMENT]);
pub(super) static EXPRESSION: Schema = schema(&[required("value", Kind::Name), COMMENT]);

pub(super) static CS_ACTION: Schema = schema(&[required("target", Kind::Name), COMMENT]);
pub(super) static CS_POLICY: Schema =
    schema(&[key("rule", Kind::Name), key("url", Kind::Name), key("domain", Kind::Name), key("action", Kind::Name)]);

pub(super) static RESPONDER_ACTION: Schema = schema(&[
    required("type", Kind::Word(&RESPONDER_TYPES)),
    key("target", Kind::Name),
    key("status", Kind::Int(301, 308)),
    COMMENT,
]);
static RESPONDER_TYPES: Words = Words {
    known: &["noop", "redirect", "respondwith"],
    later: &["respondwithhtmlpage", "sqlresponse_ok", "sqlresponse_error"],
};

pub(super) static REWRITE_ACTION: Schema = schema(&[
    required("type", Kind::Word(&REWRITE_TYPES)),
    key("target", Kind::Name),
    key("value", Kind::Name),
    COMMENT,
]);
static REWRITE_TYPES: Words = Words {
    known: &["noop", "insert_http_header", "delete_http_header", "replace", "insert_before", "insert_after"],
    later: &[
        "delete",
        "corrupt_http_header",
        "replace_all",
        "replace_http_res",
        "delete_all",
        "insert_before_all",
        "insert_after_all",
        "clientless_vpn_encode",
        "clientless_vpn_decode",
        "insert_sip_header",
        "delete_sip_header",
        "corrupt_sip_header",
        "replace_sip_res",
        "replace_diameter_header_field",
    ],
};

/// Of the responder and of rewriting.
pub(super) static POLICY: Schema = schema(&[required("rule", Kind::Name), required("action", Kind::Name), COMMENT]);

static BOUND: Schema = schema(&[key("priority", PRIORITY), key("goto", Kind::Word(&GOTO))]);
static BOUND_REWRITE: Schema =
    schema(&[key("priority", PRIORITY), key("goto", Kind::Word(&GOTO)), key("type", Kind::Word(&BIND_POINTS))]);
static BOUND_CS: Schema =
    schema(&[key("priority", PRIORITY), key("goto", Kind::Word(&GOTO)), key("target", Kind::Name)]);
static GOTO: Words = Words { known: &["END", "NEXT"], later: &["USE_INVOCATION_RESULT"] };
static BIND_POINTS: Words = words(&["REQUEST", "RESPONSE"]);

/// What holds for every vserver that reads requests.
pub(super) static GLOBAL: Schema = schema(&[
    key("responder_policies", Kind::Map(&Kind::OneOf(&[PRIORITY, Kind::Table(&BOUND_RESPONDER_EVERYWHERE)]))),
    key("rewrite_policies", Kind::Map(&Kind::OneOf(&[PRIORITY, Kind::Table(&BOUND_REWRITE_EVERYWHERE)]))),
]);
static BOUND_RESPONDER_EVERYWHERE: Schema =
    schema(&[key("priority", PRIORITY), key("goto", Kind::Word(&GOTO)), key("type", Kind::Word(&OF_REQUESTS))]);
static BOUND_REWRITE_EVERYWHERE: Schema =
    schema(&[key("priority", PRIORITY), key("goto", Kind::Word(&GOTO)), key("type", Kind::Word(&OF_BOTH))]);
static OF_REQUESTS: Words = words(&["REQ_DEFAULT", "REQ_OVERRIDE"]);
static OF_BOTH: Words = words(&["REQ_DEFAULT", "REQ_OVERRIDE", "RES_DEFAULT", "RES_OVERRIDE"]);

// What says no more than its priority is that number.
const OF_RESPONDER: Kind = Kind::Map(&Kind::OneOf(&[PRIORITY, Kind::Table(&BOUND)]));
const OF_REWRITE: Kind = Kind::Map(&Kind::OneOf(&[PRIORITY, Kind::Table(&BOUND_REWRITE)]));
const OF_CS: Kind = Kind::Map(&Kind::OneOf(&[PRIORITY, Kind::Table(&BOUND_CS)]));

pub(super) const RESPONDER_POLICIES: super::Key = key("responder_policies", OF_RESPONDER);
pub(super) const REWRITE_POLICIES: super::Key = key("rewrite_policies", OF_REWRITE);
pub(super) const CS_POLICIES: super::Key = key("cs_policies", OF_CS);
