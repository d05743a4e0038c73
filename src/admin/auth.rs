//! Who calls, and what they may do.
//!
//! Three doors. On the Unix socket the kernel says who calls: root and the user that the appliance runs as are
//! superusers, everybody else is refused. Over TCP without configured users only loopback callers are let in, as
//! superuser `admin:local`; because any web page in a local browser could otherwise speak to that door, a foreign Host
//! name (DNS rebinding), a proxied request and a cross-site act are refused. With users: HTTP Basic, checked against
//! argon2 hashes by [`Verifier`].

mod verifier;

use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use base64::Engine as _;

use super::problem::Problem;
use crate::model;
use crate::model::Role;
use crate::model::id::Name;

pub(crate) use verifier::Verifier;

/// The other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    Tcp(SocketAddr),
    /// `own`: root, or the user that this process runs as.
    Unix {
        uid: u32,
        own: bool,
    },
}

/// Who was let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// As the journal shows it.
    pub actor: Name,
    pub role: Role,
}

/// Who may call a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Anybody, without credentials.
    Public,
    /// Every role.
    Read,
    /// Acts on the running appliance: operators and superusers.
    Operate,
    /// The configuration: superusers.
    Configure,
}

/// What of a request says who sent it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head<'a> {
    pub method: &'a Method,
    pub uri: &'a Uri,
    pub headers: &'a HeaderMap,
}

/// Lets a caller in or says why not. Argon2 runs on a blocking thread.
pub(crate) async fn authenticate(
    peer: Peer,
    head: Head<'_>,
    admin: &model::Admin,
    verifier: &Verifier,
) -> Result<Caller, Problem> {
    let address = match peer {
        Peer::Unix { uid, own: true } => {
            return Ok(Caller { actor: format!("uid:{uid}").into(), role: Role::Superuser });
        }
        Peer::Unix { uid, own: false } => {
            return Err(Problem::forbidden(format!(
                "uid {uid} may not use this socket: only root and the user that the appliance runs as may"
            )));
        }
        Peer::Tcp(address) => address.ip().to_canonical(),
    };
    refuse_cross_site(head)?;
    if admin.users.is_empty() {
        return local_caller(address, head);
    }
    let (name, password) = basic_credentials(head.headers)?;
    let user = admin.users.iter().find(|u| *u.name == *name);
    verifier.verify(address, &name, password, user.map(|u| u.password.clone())).await?;
    // A verified name has a user: without one the verifier refuses.
    let user = user.ok_or_else(|| unauthorized("wrong name or password"))?;
    Ok(Caller { actor: format!("admin:{}", user.name).into(), role: user.role })
}

/// Whether `role` reaches `access`.
pub(crate) fn authorize(role: Role, access: Access) -> Result<(), Problem> {
    let needed = match access {
        Access::Public | Access::Read => Role::ReadOnly,
        Access::Operate => Role::Operator,
        Access::Configure => Role::Superuser,
    };
    if role >= needed {
        return Ok(());
    }
    Err(Problem::forbidden(format!("this needs the role {}; yours is {}", role_word(needed), role_word(role))))
}

pub(crate) fn role_word(role: Role) -> &'static str {
    match role {
        Role::ReadOnly => "read-only",
        Role::Operator => "operator",
        Role::Superuser => "superuser",
    }
}

/// 401 with the challenge that makes clients ask for a password.
fn unauthorized(detail: &str) -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail)
        .header(header::WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"bascule\", charset=\"UTF-8\""))
}

fn local_caller(address: IpAddr, head: Head<'_>) -> Result<Caller, Problem> {
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
    Ok(Caller { actor: "admin:local".into(), role: Role::Superuser })
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
fn refuse_cross_site(head: Head<'_>) -> Result<(), Problem> {
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

fn basic_credentials(headers: &HeaderMap) -> Result<(String, Vec<u8>), Problem> {
    let Some(value) = headers.get(header::AUTHORIZATION) else {
        return Err(unauthorized("a name and a password are needed (HTTP Basic)"));
    };
    let malformed = || unauthorized("the Authorization field cannot be read; send HTTP Basic");
    let (scheme, credentials) = value.to_str().ok().and_then(|v| v.split_once(' ')).ok_or_else(malformed)?;
    if scheme.eq_ignore_ascii_case("bearer") {
        return Err(unauthorized("API tokens are not available in this build; use HTTP Basic"));
    }
    if !scheme.eq_ignore_ascii_case("basic") {
        return Err(malformed());
    }
    let decoded = base64::engine::general_purpose::STANDARD.decode(credentials.trim()).map_err(|_| malformed())?;
    let colon = decoded.iter().position(|b| *b == b':').ok_or_else(malformed)?;
    let name = String::from_utf8(decoded[..colon].to_vec()).map_err(|_| malformed())?;
    Ok((name, decoded[colon + 1..].to_vec()))
}

#[cfg(test)]
mod tests {
    use super::verifier::hash_password;
    use super::*;
    use crate::model::{Admin, PasswordHash, User};

    struct Request {
        method: Method,
        uri: Uri,
        headers: HeaderMap,
        peer: Peer,
    }

    fn request(peer: &str, headers: &[(&'static str, &str)]) -> Request {
        let headers = headers.iter().map(|(n, v)| (n.parse().unwrap(), v.parse().unwrap())).collect();
        Request { method: Method::GET, uri: "/".parse().unwrap(), headers, peer: Peer::Tcp(peer.parse().unwrap()) }
    }

    fn admin(users: Vec<User>) -> Admin {
        Admin { listen: "127.0.0.1:9080".parse().unwrap(), users }
    }

    async fn ask(request: &Request, admin: &Admin, verifier: &Verifier) -> Result<Caller, Problem> {
        let head = Head { method: &request.method, uri: &request.uri, headers: &request.headers };
        authenticate(request.peer, head, admin, verifier).await
    }

    async fn status(request: &Request, admin: &Admin) -> u16 {
        ask(request, admin, &Verifier::new()).await.map_or_else(|p| p.status.as_u16(), |_| 200)
    }

    #[tokio::test]
    async fn without_users_only_the_loopback_is_let_in() {
        let nobody = admin(Vec::new());
        let caller = ask(&request("127.0.0.1:1", &[]), &nobody, &Verifier::new()).await.unwrap();
        assert_eq!((&*caller.actor, caller.role), ("admin:local", Role::Superuser));
        assert_eq!(status(&request("[::1]:1", &[("host", "[::1]:9080")]), &nobody).await, 200);
        assert_eq!(status(&request("[::ffff:127.0.0.1]:1", &[]), &nobody).await, 200);
        assert_eq!(status(&request("192.0.2.1:1", &[]), &nobody).await, 403);
    }

    #[tokio::test]
    async fn a_rebound_name_or_a_proxied_request_is_not_local() {
        let nobody = admin(Vec::new());
        for (host, expected) in [
            ("localhost:9080", 200),
            ("LOCALHOST", 200),
            ("127.0.0.1:9080", 200),
            ("evil.example:9080", 403),
            ("127.0.0.1.evil.example", 403),
            ("localhost.evil.example", 403),
        ] {
            assert_eq!(status(&request("127.0.0.1:1", &[("host", host)]), &nobody).await, expected, "{host}");
        }
        assert_eq!(status(&request("127.0.0.1:1", &[("x-forwarded-for", "192.0.2.1")]), &nobody).await, 403);
        let mut twice = request("127.0.0.1:1", &[("host", "localhost")]);
        twice.headers.append("host", "evil.example".parse().unwrap());
        assert_eq!(status(&twice, &nobody).await, 403);
    }

    #[tokio::test]
    async fn an_act_from_a_page_of_another_site_is_refused() {
        let nobody = admin(Vec::new());
        for (headers, expected) in [
            (vec![("host", "localhost:9080"), ("origin", "http://localhost:9080")], 200),
            (vec![("host", "localhost:9080"), ("origin", "https://evil.example")], 403),
            (vec![("host", "localhost:9080"), ("origin", "null")], 403),
            (vec![("host", "localhost:9080"), ("sec-fetch-site", "cross-site")], 403),
            (vec![("host", "localhost:9080"), ("sec-fetch-site", "none")], 200),
        ] {
            let mut act = request("127.0.0.1:1", &headers);
            act.method = Method::POST;
            assert_eq!(status(&act, &nobody).await, expected, "{headers:?}");
        }
    }

    #[tokio::test]
    async fn with_users_a_right_password_is_needed_and_roles_hold() {
        let user = User {
            name: "ops".into(),
            role: Role::Operator,
            password: PasswordHash::Inline(hash_password(b"s3cret").unwrap().into()),
        };
        let (admin, verifier) = (admin(vec![user]), Verifier::new());
        let basic = |pair: &str| {
            let encoded = base64::engine::general_purpose::STANDARD.encode(pair);
            request("192.0.2.1:1", &[("authorization", &format!("Basic {encoded}"))])
        };
        let caller = ask(&basic("ops:s3cret"), &admin, &verifier).await.unwrap();
        assert_eq!((&*caller.actor, caller.role), ("admin:ops", Role::Operator));
        for wrong in [basic("ops:wrong"), basic("nobody:s3cret"), request("127.0.0.1:1", &[])] {
            let problem = ask(&wrong, &admin, &verifier).await.unwrap_err();
            assert_eq!(problem.status, 401);
            assert!(problem.headers.iter().any(|(name, _)| name == header::WWW_AUTHENTICATE));
        }
        let bearer = request("127.0.0.1:1", &[("authorization", "Bearer x")]);
        assert!(ask(&bearer, &admin, &verifier).await.unwrap_err().detail.contains("not available in this build"));
        assert!(authorize(Role::Operator, Access::Operate).is_ok());
        assert!(authorize(Role::ReadOnly, Access::Operate).is_err());
        assert!(authorize(Role::Operator, Access::Configure).is_err());
    }

    #[tokio::test]
    async fn the_kernel_says_who_calls_on_the_unix_socket() {
        let nobody = admin(Vec::new());
        let mut own = request("127.0.0.1:1", &[]);
        own.peer = Peer::Unix { uid: 0, own: true };
        assert_eq!(&*ask(&own, &nobody, &Verifier::new()).await.unwrap().actor, "uid:0");
        own.peer = Peer::Unix { uid: 33, own: false };
        assert_eq!(status(&own, &nobody).await, 403);
    }
}
