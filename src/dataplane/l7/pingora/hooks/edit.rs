//! What rules change in a head, carried out on pingora's heads.

use http::uri::PathAndQuery;
use pingora_error::{Error, ErrorType, OrErr, Result};
use pingora_http::{RequestHeader, ResponseHeader};

use crate::dataplane::ended::Exchange;
use crate::dataplane::l7::policy::answer::Answer;
use crate::dataplane::l7::policy::edits::HeadEdits;
use crate::dataplane::l7::routed::Routed;

pub(super) fn request(request: &mut RequestHeader, edits: &HeadEdits) -> Result<()> {
    if edits.is_empty() {
        return Ok(());
    }
    if let Some(target) = &edits.target {
        let target: PathAndQuery = target.parse().or_err(ErrorType::InternalError, "an edited path is no path")?;
        request.set_uri(http::Uri::from(target));
    }
    for name in names(request.headers.keys(), |name| edits.removes_from_request(name)) {
        request.remove_header(&name);
    }
    let cookies: Vec<Vec<u8>> = request.headers.get_all("cookie").iter().map(|v| v.as_bytes().to_vec()).collect();
    if !cookies.is_empty() {
        request.remove_header("cookie");
        for cookie in cookies.iter().filter_map(|value| edits.cookie(value)) {
            request.append_header("Cookie", &*cookie)?;
        }
    }
    for (name, value) in edits.added() {
        request.append_header(name.to_owned(), value)?;
    }
    Ok(())
}

/// Tells the exchange of the rule that gives the answer another status.
pub(super) fn answer(response: &mut ResponseHeader, routed: &Routed, exchange: Option<&mut Exchange>) -> Result<()> {
    let (edits, by) = {
        let fields: Vec<(&str, &[u8])> =
            response.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        routed.answer_edits(&Answer { status: response.status.as_u16(), fields: &fields })
    };
    if edits.is_empty() {
        return Ok(());
    }
    if let Some(status) = edits.status {
        response.set_status(status).map_err(|_| Error::new(ErrorType::InternalError))?;
    }
    for name in names(response.headers.keys(), |name| edits.removes(name)) {
        response.remove_header(&name);
    }
    let cookies: Vec<Vec<u8>> = response.headers.get_all("set-cookie").iter().map(|v| v.as_bytes().to_vec()).collect();
    if cookies.iter().any(|value| !edits.keeps_set_cookie(value)) {
        response.remove_header("set-cookie");
        for cookie in cookies.iter().filter(|value| edits.keeps_set_cookie(value)) {
            response.append_header("Set-Cookie", &**cookie)?;
        }
    }
    for (name, value) in edits.added() {
        response.append_header(name.to_owned(), value)?;
    }
    if let (Some(rule), Some(exchange)) = (by, exchange) {
        exchange.by_rule(rule);
    }
    Ok(())
}

fn names<'a>(all: impl Iterator<Item = &'a http::HeaderName>, removes: impl Fn(&str) -> bool) -> Vec<http::HeaderName> {
    all.filter(|name| removes(name.as_str())).cloned().collect()
}

/// Request line and fields for a copy: without framing and whatever belongs to one connection.
pub(super) fn copied(request: &RequestHeader) -> Vec<u8> {
    let own = ["content-length", "transfer-encoding", "connection", "upgrade", "expect", "te", "trailer"];
    let mut head = Vec::with_capacity(1024);
    head.extend_from_slice(request.method.as_str().as_bytes());
    head.push(b' ');
    head.extend_from_slice(request.raw_path());
    head.extend_from_slice(b" HTTP/1.1\r\n");
    for (name, value) in request.headers.iter().filter(|(name, _)| !own.contains(&name.as_str())) {
        head.extend_from_slice(name.as_str().as_bytes());
        head.extend_from_slice(b": ");
        head.extend_from_slice(value.as_bytes());
        head.extend_from_slice(b"\r\n");
    }
    head
}
