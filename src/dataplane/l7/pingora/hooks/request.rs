//! A request on its way: what is asked of one that came over HTTP/2, and what is made of it for the server.

use http::header::{COOKIE, EXPECT, HOST, HeaderValue};
use pingora_error::{ErrorType, OrErr, Result};
use pingora_http::RequestHeader;
use pingora_proxy::Session;

use crate::dataplane::l7::head::{Refusal, http2};
use crate::dataplane::l7::link::Link;

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
