//! The door without credentials: callers on this machine, and what a web page in one of their browsers could do with it.

use std::net::{IpAddr, SocketAddr};

use axum::http::{Method, header};

use super::super::problem::Problem;
use super::Head;

/// Lets somebody on this machine in, where nobody has a login.
pub(super) fn refuse_others(address: IpAddr, head: Head<'_>) -> Result<(), Problem> {
    if !address.is_loopback() {
        return Err(Problem::forbidden(format!(
            "no users are configured, so only loopback callers are let in, not {address}; define [admin.user.NAME]"
        )));
    }
    for proxied in ["forwarded", "x-forwarded-for"] {
        if head.headers.contains_key(proxied) {
            return Err(Problem::forbidden(
                "no users are configured, and a request that came through a proxy is not a loopback caller's",
            ));
        }
    }
    let named = head.headers.get_all(header::HOST).iter().map(|h| h.to_str().unwrap_or("?"));
    let authority = head.uri.authority().map(|a| a.as_str());
    for host in named.chain(authority) {
        if !is_loopback_host(host) {
            return Err(Problem::forbidden(format!(
                "no users are configured, and `{host}` is not a name of the loopback interface (DNS rebinding?)"
            )));
        }
    }
    Ok(())
}

/// `localhost:9080`, `127.0.0.1`, `[::1]:9080`; an absent or empty Host is what HTTP/1.0 sends.
fn is_loopback_host(host: &str) -> bool {
    if host.is_empty() {
        return true;
    }
    if let Ok(address) = host.parse::<SocketAddr>() {
        return address.ip().to_canonical().is_loopback();
    }
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|b| b.is_ascii_digit()) && !name.contains(':') => name,
        _ => host,
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    match name.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
        Ok(ip) => ip.to_canonical().is_loopback(),
        Err(_) => name == "localhost" || name.ends_with(".localhost"),
    }
}

/// An act that a page of another site makes a browser send: browsers say where a request comes from, programs do not.
pub(crate) fn refuse_cross_site(head: Head<'_>) -> Result<(), Problem> {
    if matches!(*head.method, Method::GET | Method::HEAD | Method::OPTIONS) {
        return Ok(());
    }
    let text = |name: &str| head.headers.get(name).map(|v| v.to_str().unwrap_or("?"));
    let site = text("sec-fetch-site");
    let foreign_site = site.is_some_and(|s| !matches!(s, "same-origin" | "none"));
    let host = text("host").or(head.uri.authority().map(|a| a.as_str())).unwrap_or_default();
    let origin = text("origin");
    let foreign_origin = origin.is_some_and(|origin| {
        origin.split_once("://").is_none_or(|(_, authority)| !authority.eq_ignore_ascii_case(host))
    });
    if foreign_site || foreign_origin {
        return Err(Problem::forbidden("an act that a page of another site asks for is refused"));
    }
    Ok(())
}
