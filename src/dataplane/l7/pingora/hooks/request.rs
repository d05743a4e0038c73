//! A request on its way: what is asked of one that came over HTTP/2, and what is made of it for the server.

use http::header::{COOKIE, EXPECT, HOST, HeaderValue, TE};
use pingora_error::{ErrorType, OrErr, Result};
use pingora_http::RequestHeader;
use pingora_proxy::Session;

use super::ctx::Ctx;
use crate::dataplane::l7::forward::{self, About, is_look_alike};
use crate::dataplane::l7::head::{Refusal, http2};
use crate::dataplane::l7::link::Link;
use crate::dataplane::l7::policy::{self, Decision, Request};
use crate::model::id::VserverId;
use crate::snapshot::Snapshot;

/// Judges the head, and gives it a Host, which is what rules, policy and servers of HTTP/1.1 read.
pub fn admit_http2(session: &mut Session, link: &Link) -> std::result::Result<(), Refusal> {
    let ends = session.as_downstream_mut().is_body_empty();
    let head = session.req_header();
    let request = http2::Request {
        method: head.method.as_str(),
        scheme: head.uri.scheme_str(),
        authority: head.uri.authority().map(http::uri::Authority::as_str),
        path: head.raw_path(),
        ends,
    };
    let fields = head.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes()));
    http2::judge(request, fields)?;
    link.owes_body(!ends);
    let head = session.req_header_mut();
    // Interim answers do not reach a client of HTTP/2 through this engine, so none may be waited for.
    head.remove_header(&EXPECT);
    if !head.headers.contains_key(HOST)
        && let Some(host) = head.uri.authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok())
        && head.insert_header(HOST, host).is_err()
    {
        return Err(Refusal { status: 400, why: "malformed authority" });
    }
    Ok(())
}

/// One Cookie field: HTTP/2 clients may cut it into crumbs (RFC 9113 §8.2.3), which a server of HTTP/1.1 need not know.
pub fn join_cookies(request: &mut RequestHeader) -> Result<()> {
    let crumbs: Vec<&[u8]> = request.headers.get_all(COOKIE).iter().map(HeaderValue::as_bytes).collect();
    if crumbs.len() < 2 {
        return Ok(());
    }
    let joined = HeaderValue::from_bytes(&crumbs.join(&b"; "[..]));
    request.insert_header(COOKIE, joined.or_err(ErrorType::InvalidHTTPHeader, "joining cookies")?)
}

/// What every server is told: who asks, in which trace, one Cookie field, a Host.
pub fn for_server(asked: &RequestHeader, request: &mut RequestHeader, link: &Link, ctx: &Ctx) -> Result<()> {
    let Some(chosen) = &ctx.chosen else { return Ok(()) };
    let service = chosen.snapshot.model.service(chosen.choice.service);
    let Some(vserver) = chosen.snapshot.model.vserver_id(&link.vserver) else { return Ok(()) };
    let vserver = chosen.snapshot.model.vserver(vserver);
    let about = About {
        client: link.client.ip(),
        port: link.info.local.port(),
        tls: link.info.is_tls(),
        host: asked.headers.get("host").and_then(|host| host.to_str().ok()).unwrap_or(""),
    };
    let sent = |name| asked.headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    let mut said = forward::fields(vserver, service, &about, sent);
    if let Some(exchange) = &ctx.exchange {
        exchange.tell_trace(&mut said, || sent("tracestate").next().is_some());
    }
    for (name, value) in said {
        say(request, &name, value)?;
    }
    join_cookies(request)?;
    if request.version == http::Version::HTTP_2 && sent("te").any(says_trailers) {
        // Servers of gRPC want to know that it gets through (RFC 9113 §8.2.2); the engine takes it off.
        request.insert_header(TE, "trailers")?;
    }
    if !request.headers.contains_key("host") {
        // HTTP/1.0 needs none, but goes on as HTTP/1.1.
        request.insert_header("Host", chosen.choice.address.to_string())?;
    }
    Ok(())
}

fn says_trailers(te: &str) -> bool {
    te.split(',').any(|coding| coding.trim().eq_ignore_ascii_case("trailers"))
}

/// Sets a field, so that no other can be taken for it.
fn say(request: &mut RequestHeader, name: &str, value: String) -> Result<()> {
    let forged: Vec<_> = request.headers.keys().filter(|field| is_look_alike(field.as_str(), name)).cloned().collect();
    for field in &forged {
        request.remove_header(field);
    }
    request.insert_header(name.to_owned(), value)
}

/// What the rules make of it.
pub fn decide(snapshot: &Snapshot, vserver: VserverId, session: &Session, link: &Link) -> Decision {
    let head = session.req_header();
    let fields: Vec<(&str, &[u8])> =
        head.headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
    let tls = link.info.tls.as_ref();
    let request = Request {
        method: head.method.as_str(),
        // Visible ASCII: the head passed the guard.
        target: std::str::from_utf8(head.raw_path()).unwrap_or("/"),
        host: head.headers.get("host").and_then(|v| v.to_str().ok()).unwrap_or(""),
        fields: &fields,
        client: link.client.ip(),
        port: link.info.local.port(),
        tls: tls.is_some(),
        server_name: tls.and_then(|tls| tls.server_name.as_deref()),
    };
    policy::decide(snapshot, vserver, &request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crumbs_of_a_cookie_become_one_field() {
        let mut request = RequestHeader::build("GET", b"/", None).unwrap();
        for crumb in ["a=1", "b=2", "c=3"] {
            request.append_header("cookie", crumb).unwrap();
        }
        join_cookies(&mut request).unwrap();
        let cookies: Vec<_> = request.headers.get_all(COOKIE).iter().collect();
        assert_eq!(cookies, ["a=1; b=2; c=3"]);
    }
}
