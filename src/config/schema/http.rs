//! Keys of HTTP: what servers learn about clients, HTTP/2, retries; and the comment.

use super::{Key, Kind, Schema, aliased, key, schema};

pub(super) const FORWARDED_FOR: Key = key("forwarded_for", Kind::Bool);
pub(super) const X_FORWARDED: Key = key("x_forwarded", Kind::Bool);
pub(super) const FORWARDED: Key = key("forwarded", Kind::Bool);
pub(super) const HTTP2: Key = key("http2", Kind::Bool);
pub(super) const ABORT_ON_CLOSE: Key = key("abort_on_close", Kind::Bool);
pub(super) const RETRY: Key = key("retry", Kind::Table(&RETRY_KEYS));
pub(super) const MAX_REQUESTS: Key = aliased("max_req", &["max_requests"], Kind::Int(0, 4_294_967_295));
pub(super) const COMMENT: Key = key("comment", Kind::Text);
pub(super) const APP_FLOW_LOG: Key = key("app_flow_log", Kind::Bool);

static RETRY_KEYS: Schema = schema(&[key("max", Kind::Int(0, 10)), key("budget_percent", Kind::Int(1, 100))]);
