//! Who calls, and what they may do.
//!
//! Three doors. On the Unix socket the kernel says who calls: root and the user that the appliance runs as are
//! superusers, everybody else is refused. Over TCP without configured users only loopback callers are let in, as
//! superuser `admin:local`; because any web page in a local browser could otherwise speak to that door, a foreign Host
//! name (DNS rebinding), a proxied request and a cross-site act are refused. With users: HTTP Basic, checked against
//! argon2 hashes by [`Verifier`], or the cookie of a session; and API tokens at any time.

mod audit;
mod credentials;
mod local;
mod lockout;
mod sessions;
mod token;
mod verifier;

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use parking_lot::Mutex;
use tokio::time::Instant;

use super::problem::Problem;
use crate::model::access::{Admin, ApiToken, Role, SessionRules, User};
use crate::model::id::Name;
use crate::model::time::Wall;
use credentials::{CSRF, Shown};
use sessions::{Holder, Session};
use token::Refused;

pub(crate) use credentials::{session_cookie, set_cookie, shown_name};
pub(crate) use local::refuse_cross_site;
pub(crate) use sessions::{Opened, Sessions};
pub(crate) use verifier::Verifier;

/// The other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    Tcp {
        address: SocketAddr,
        /// Over TLS.
        tls: bool,
    },
    /// `own`: root, or the user that this process runs as.
    Unix { uid: u32, own: bool },
}

/// Who was let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Caller {
    /// As the journal shows it.
    pub actor: Name,
    pub role: Role,
    /// How they came in: `socket`, `tcp 192.0.2.1`, `session 4 from 192.0.2.1`, `token ci from 192.0.2.1`. Empty where
    /// nothing but the actor is known.
    pub door: Name,
    /// The session they came with.
    pub session: Option<sessions::Hash>,
    /// When what they came with ends: of a session if nothing more is asked with it, of a token its expiry.
    pub expires: Option<Wall>,
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

/// Everything that is remembered of callers.
#[derive(Debug)]
pub(crate) struct Keeper {
    pub verifier: Verifier,
    pub sessions: Sessions,
    pub audit: audit::Audit,
    /// When each API token last let somebody in.
    pub used: Mutex<HashMap<Name, Wall>>,
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
    Err(Problem::forbidden(format!("this needs the role {}; yours is {}", needed.word(), role.word())))
}

/// 401 with the challenge that makes clients ask for a password. A script of a page gets none: its browser would open a
/// window of its own over the page's login.
fn unauthorized(headers: &HeaderMap, detail: &str) -> Problem {
    let problem = Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", detail);
    let by_script = headers.get("sec-fetch-mode").is_some_and(|mode| mode != "navigate");
    let challenge = if by_script { "Bearer realm=\"bascule\"" } else { "Basic realm=\"bascule\", charset=\"UTF-8\"" };
    problem.header(header::WWW_AUTHENTICATE, HeaderValue::from_static(challenge))
}

/// The time by the wall clock: tokens and sessions are told until when they last.
pub(crate) fn wall() -> Wall {
    Wall(jiff::Timestamp::now().as_microsecond())
}

// === impl Keeper ===

impl Keeper {
    pub fn new() -> Keeper {
        Keeper {
            verifier: Verifier::new(),
            sessions: Sessions::new(),
            audit: audit::Audit::default(),
            used: Mutex::default(),
        }
    }

    /// Lets a caller in or says why not. Argon2 runs on a blocking thread.
    pub async fn authenticate(&self, peer: Peer, head: Head<'_>, admin: &Admin) -> Result<Caller, Problem> {
        let address = match peer {
            Peer::Unix { uid, own: true } => {
                return Ok(Caller::new(format!("uid:{uid}"), Role::Superuser).through("socket".into()));
            }
            Peer::Unix { uid, own: false } => {
                return Err(Problem::forbidden(format!(
                    "uid {uid} may not use this socket: only root and the user that the appliance runs as may"
                )));
            }
            Peer::Tcp { address, .. } => address.ip().to_canonical(),
        };
        local::refuse_cross_site(head)?;
        match Shown::of(head.headers)? {
            Shown::Bearer(token) => self.token(head.headers, &admin.tokens, &token, address),
            _ if admin.users.is_empty() => Ok(local::local_caller(address, head)?.through(format!("tcp {address}"))),
            Shown::Password { name, password } => {
                let user = self.check_password(address, &name, password, admin).await;
                let (user, _) = user.map_err(|problem| with_challenge(problem, head.headers))?;
                let caller = Caller::new(format!("admin:{}", user.name), user.role);
                Ok(caller.through(format!("tcp {address}")))
            }
            Shown::Cookie(token) => {
                let Some(caller) = self.session(&token, admin, address).await? else {
                    return Err(unauthorized(head.headers, "the session has ended; log in again"));
                };
                let is_act = !matches!(*head.method, Method::GET | Method::HEAD | Method::OPTIONS);
                let sent = head.headers.get(CSRF).map_or(&b""[..], HeaderValue::as_bytes);
                if is_act && !self.sessions.is_csrf(&token, sent) {
                    let detail = "an act with a session's cookie carries the field X-CSRF-Token; its value came with \
                                  the login, and stands in /api/v1/whoami";
                    return Err(Problem::new(StatusCode::FORBIDDEN, "csrf", detail));
                }
                Ok(caller)
            }
            Shown::Nothing => {
                let what = "a name and a password are needed (HTTP Basic), or a token (Bearer)";
                Err(unauthorized(head.headers, what))
            }
        }
    }

    /// Opens a session for a name and a password.
    pub async fn log_in(
        &self,
        peer: Peer,
        name: &str,
        password: Vec<u8>,
        admin: &Admin,
    ) -> Result<(Opened, Caller), Problem> {
        let Peer::Tcp { address, .. } = peer else {
            return Err(Problem::new(
                StatusCode::CONFLICT,
                "no_login",
                "on the Unix socket the kernel says who calls; there is nothing to log in to",
            ));
        };
        if admin.users.is_empty() {
            return Err(Problem::new(
                StatusCode::CONFLICT,
                "no_login",
                "no users are configured: callers on this machine are let in as they are; define [admin.user.NAME]",
            ));
        }
        let from = address.ip().to_canonical();
        let (user, hash) = self.check_password(from, name, password, admin).await?;
        let holder = self.holder(user, &hash);
        let now = Instant::now();
        let Some(opened) = self.sessions.open(now, &admin.sessions, holder) else {
            return Err(Problem::busy("the system has no random numbers for a session"));
        };
        let caller = Caller::of_session(&opened.session, &admin.sessions, now, from);
        Ok((opened, caller))
    }

    /// Who calls with a session's token; `None`: it has ended, or its holder is not who they were.
    pub async fn session(&self, token: &str, admin: &Admin, from: IpAddr) -> Result<Option<Caller>, Problem> {
        let now = Instant::now();
        let Some(session) = self.sessions.find(now, &admin.sessions, token) else { return Ok(None) };
        if let Some(user) = admin.users.iter().find(|user| user.name == session.holder.user) {
            let hash = self.verifier.read(&user.password).await?;
            if self.holder(user, &hash) == session.holder {
                return Ok(Some(Caller::of_session(&session, &admin.sessions, now, from)));
            }
        }
        self.sessions.close(&session.id);
        Ok(None)
    }

    fn token(&self, headers: &HeaderMap, tokens: &[ApiToken], token: &str, from: IpAddr) -> Result<Caller, Problem> {
        let now = wall();
        match token::find(tokens, token, now) {
            Ok(found) => {
                let mut used = self.used.lock();
                if used.len() > tokens.len() {
                    used.retain(|name, _| tokens.iter().any(|token| token.name == *name));
                }
                used.insert(Name::clone(&found.name), now);
                let caller = Caller::new(format!("token:{}", found.name), found.role);
                let door = format!("token {} from {from}", found.name);
                Ok(Caller { expires: found.expires, ..caller.through(door) })
            }
            Err(Refused::Unknown) => {
                let what = "this token is not known; it may have been revoked. Make one with `bascule token create`";
                Err(unauthorized(headers, what))
            }
            Err(Refused::Expired(token, at)) => {
                let what =
                    format!("the token `{}` expired at {at}; make another with `bascule token create`", token.name);
                Err(unauthorized(headers, &what))
            }
        }
    }

    fn holder(&self, user: &User, hash: &str) -> Holder {
        Holder {
            actor: format!("admin:{}", user.name).into(),
            user: Name::clone(&user.name),
            role: user.role,
            stamp: self.sessions.stamp(&[user.name.as_bytes(), user.role.word().as_bytes(), hash.as_bytes()]),
        }
    }

    /// The user whose password it is, with its hash.
    async fn check_password<'a>(
        &self,
        from: IpAddr,
        name: &str,
        password: Vec<u8>,
        admin: &'a Admin,
    ) -> Result<(&'a User, String), Problem> {
        let user = admin.users.iter().find(|u| *u.name == *name);
        let hash = match user {
            Some(user) => Some(self.verifier.read(&user.password).await?),
            None => None,
        };
        self.verifier.verify(from, name, password, hash.clone()).await?;
        // A verified name has a user: without one the verifier refuses.
        user.zip(hash).ok_or_else(verifier::wrong)
    }
}

/// A refusal of a password over HTTP Basic asks for another.
fn with_challenge(problem: Problem, headers: &HeaderMap) -> Problem {
    if problem.status != StatusCode::UNAUTHORIZED {
        return problem;
    }
    unauthorized(headers, &problem.detail)
}

// === impl Caller ===

impl Caller {
    pub fn new(actor: impl Into<Name>, role: Role) -> Caller {
        Caller { actor: actor.into(), role, door: "".into(), session: None, expires: None }
    }

    fn through(self, door: String) -> Caller {
        Caller { door: door.into(), ..self }
    }

    fn of_session(session: &Session, rules: &SessionRules, now: Instant, from: IpAddr) -> Caller {
        Caller {
            actor: Name::clone(&session.holder.actor),
            role: session.holder.role,
            door: format!("session {} from {from}", session.number).into(),
            session: Some(session.id),
            expires: Some(wall() + session.left(now, rules)),
        }
    }
}
