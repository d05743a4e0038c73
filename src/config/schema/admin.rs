//! Keys of the ways in for people and programs.

use super::{DAY, Kind, MINUTE, SECRET, Schema, Words, YEAR, key, required, schema, words};

pub(super) static ADMIN: Schema = Schema {
    keys: &[
        key("listen", Kind::Socket),
        key("allow", Kind::List(&Kind::Network)),
        key("tls", Kind::Table(&TLS)),
        key("plain_text", Kind::Bool),
        key("socket", Kind::Table(&SOCKET)),
        key("sessions", Kind::Table(&SESSIONS)),
        key("user", Kind::Map(&Kind::Table(&USER))),
        key("ldap", Kind::Table(&LDAP)),
        key("token", Kind::Map(&Kind::Table(&TOKEN))),
    ],
    later: &["peers"],
};

/// One of the two.
static TLS: Schema = schema(&[key("certificate", Kind::Name), key("generated", Kind::Bool)]);

/// `{ name = "role" }`
static SOCKET: Schema =
    schema(&[key("users", Kind::Map(&Kind::Word(&ROLES))), key("groups", Kind::Map(&Kind::Word(&ROLES)))]);

static LDAP: Schema = schema(&[
    required("url", Kind::Name),
    key("starttls", Kind::Bool),
    key("ca", Kind::Name),
    key("bind_dn", Kind::Name),
    key("bind_password", Kind::Table(&SECRET)),
    required("base", Kind::Name),
    key("user_filter", Kind::Name),
    key("group_base", Kind::Name),
    key("group_filter", Kind::Name),
    required("roles", Kind::Map(&Kind::Word(&ROLES))),
    key("timeout", Kind::Duration(100, MINUTE)),
]);

static SESSIONS: Schema = schema(&[
    key("idle", Kind::Duration(MINUTE, 7 * DAY)),
    key("absolute", Kind::Duration(MINUTE, YEAR)),
    key("per_user", Kind::Int(1, 1_000)),
    key("most", Kind::Int(1, 100_000)),
]);

static USER: Schema = schema(&[
    key("role", Kind::Word(&ROLES)),
    required("password_hash", Kind::OneOf(&[Kind::Name, Kind::Table(&SECRET)])),
]);

static TOKEN: Schema =
    schema(&[key("role", Kind::Word(&ROLES)), required("hash", Kind::Name), key("expires", Kind::Moment)]);

static ROLES: Words = words(&["superuser", "operator", "read-only"]);
