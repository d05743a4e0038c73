//! Keys of `[journal.ship.NAME]`.

use super::{HEADERS, Kind, SECRET, Schema, Words, aliased, key, required, schema, words};
use crate::model::ship::KINDS;

static TYPES: Words = words(&["SYSLOG", "HTTP", "HTTPS"]);
static KIND_WORDS: Words = words(&KINDS);
static TLS: Schema = schema(&[key("ca", Kind::Name), key("server_name", Kind::Name)]);

pub(super) static SHIP: Schema = schema(&[
    required("type", Kind::Word(&TYPES)),
    key("address", Kind::Name),
    key("tls", Kind::Table(&TLS)),
    aliased("uri", &["url"], Kind::Name),
    key("headers", HEADERS),
    key("secret", Kind::Table(&SECRET)),
    key("kinds", Kind::List(&Kind::Word(&KIND_WORDS))),
]);
