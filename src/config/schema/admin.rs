//! Keys of the ways in for people and programs.

use super::{DAY, Kind, MINUTE, SECRET, Schema, Words, YEAR, key, required, schema, words};

pub(super) static ADMIN: Schema = Schema {
    keys: &[
        key("listen", Kind::Socket),
        key("allow", Kind::List(&Kind::Network)),
        key("sessions", Kind::Table(&SESSIONS)),
        key("user", Kind::Map(&Kind::Table(&USER))),
        key("token", Kind::Map(&Kind::Table(&TOKEN))),
    ],
    later: &["tls", "ldap", "socket", "peers"],
};

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
