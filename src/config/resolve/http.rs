//! What belongs to HTTP in vservers and services: fields about the client, HTTP/2, retries.

use super::Context;
use super::object::Object;
use crate::model::limit::Retry;
use crate::model::service::Protocol;
use crate::model::vserver::Forwarded;

/// Reports keys of the object itself that a type without HTTP has no use for.
fn needs_http(cx: &mut Context<'_>, object: &Object<'_>, protocol: Protocol, keys: &[&str]) {
    if protocol.is_http() {
        return;
    }
    for key in keys.iter().filter(|key| object.own(key).is_some()) {
        object.wrong(
            cx.report,
            key,
            format!("needs HTTP or SSL; type {} has no headers and requests", protocol.word()),
        );
    }
}

/// Fields that tell servers about the client. X-Forwarded-For is on unless it is switched off.
pub fn forwarded(cx: &mut Context<'_>, object: &Object<'_>, protocol: Protocol) -> Forwarded {
    needs_http(cx, object, protocol, &["forwarded_for", "x_forwarded", "forwarded"]);
    let said = |key: &str, default: bool| object.bool(key).unwrap_or(default) && protocol.is_http();
    Forwarded {
        x_forwarded_for: said("forwarded_for", true),
        x_forwarded: said("x_forwarded", false),
        forwarded: said("forwarded", false),
    }
}

/// HTTP/2 to clients (`default` on for SSL), or to servers (off).
pub fn http2(cx: &mut Context<'_>, object: &Object<'_>, protocol: Protocol, default: bool) -> bool {
    needs_http(cx, object, protocol, &["http2"]);
    object.bool("http2").unwrap_or(default) && protocol.is_http()
}

/// Whether a client that closes its sending side has left.
pub fn abort_on_close(cx: &mut Context<'_>, object: &Object<'_>, protocol: Protocol) -> bool {
    needs_http(cx, object, protocol, &["abort_on_close"]);
    object.bool("abort_on_close").unwrap_or(true) && protocol.is_http()
}

pub fn retry(cx: &mut Context<'_>, object: &Object<'_>, protocol: Protocol) -> Retry {
    let defaults = Retry::default();
    needs_http(cx, object, protocol, &["retry"]);
    let Some((table, place)) = object.inner("retry") else { return defaults };
    let inner = Object::new(table, None, object.path.key("retry"), place);
    Retry {
        max: inner.int("max").unwrap_or(defaults.max),
        budget_percent: inner.int("budget_percent").unwrap_or(defaults.budget_percent),
    }
}

/// NetScaler's `maxReq`: requests that one connection to the server carries.
pub fn max_requests(cx: &mut Context<'_>, object: &Object<'_>, protocol: Protocol) -> u32 {
    needs_http(cx, object, protocol, &["max_req"]);
    object.int("max_req").unwrap_or(0)
}
