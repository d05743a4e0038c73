//! Keys of `[log]` and `[trace]`: what is told of the work to somebody else.

use super::gtm::FACILITIES;
use super::{HEADERS, Kind, MINUTE, NETWORKS, SECOND, Schema, Words, key, required, schema, words};
use crate::model::LogFormat;

pub(super) static LOG: Schema =
    schema(&[key("access", Kind::Name), key("format", Kind::Word(&LOG_FORMATS)), key("syslog", Kind::Table(&SYSLOG))]);
static LOG_FORMATS: Words = words(&LogFormat::WORDS);
static SYSLOG: Schema =
    schema(&[required("address", Kind::Name), key("facility", Kind::Word(&FACILITIES)), key("app_name", Kind::Name)]);

pub(super) static TRACE: Schema = schema(&[
    required("endpoint", Kind::Name),
    key("headers", HEADERS),
    key("one_in", Kind::Int(0, 1_000_000_000)),
    key("accept", NETWORKS),
    key("service_name", Kind::Name),
    key("timeout", Kind::Duration(SECOND, MINUTE)),
]);
