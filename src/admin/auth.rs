//! Who calls, and what they may do.
//!
//! Three doors. On the Unix socket the kernel says who calls: root and the user that the appliance runs as are
//! superusers, [`people`] who have logged in to the machine have their role, others are what `[admin.socket]` says of them.
//! Over TCP without configured users only loopback callers are
//! let in, as superuser `admin:local`; because any web page in a local browser could otherwise speak to that door, a
//! foreign Host name (DNS rebinding), a proxied request and a cross-site act are refused. With users: HTTP Basic, checked
//! against argon2 hashes ([`verifier`]) or by a [`directory`], or the cookie of a session; and API tokens at any time.

mod audit;
mod caller;
mod credentials;
mod directory;
mod guesses;
mod keeper;
mod local;
mod lockout;
mod people;
mod sessions;
mod token;
mod verifier;

#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::time::Duration;

use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};

use super::problem::Problem;
use crate::model::access::Role;
use crate::model::time::Wall;

pub(crate) use caller::{Caller, Proof};
pub(crate) use credentials::{session_cookie, set_cookie, shown_name};
pub(crate) use keeper::Keeper;
pub(crate) use local::refuse_cross_site;
pub(crate) use lockout::Counted;
pub(crate) use sessions::{Hash, Holder, Opened};
pub(crate) use verifier::hash_password;

/// The other end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Peer {
    Tcp {
        address: SocketAddr,
        /// Over TLS.
        tls: bool,
    },
    /// `own`: root, or the user that this process runs as.
    Unix { uid: u32, gid: u32, own: bool },
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

/// A program hears of the end of its token this long before it.
const TOKEN_ENDS_SOON: Duration = Duration::from_secs(7 * 86_400);
/// The field that tells it.
pub(crate) const TOKEN_EXPIRES: &str = "x-token-expires";

/// When the token that the caller came with ends, if that is soon.
pub(crate) fn token_ends_soon(caller: &Caller) -> Option<HeaderValue> {
    let at = caller.expires.filter(|_| caller.actor.starts_with("token:"))?;
    (at.since(wall()) < TOKEN_ENDS_SOON).then(|| HeaderValue::from_str(&at.to_string()).ok()).flatten()
}

/// The time by the wall clock: tokens and sessions are told until when they last.
pub(crate) fn wall() -> Wall {
    Wall(jiff::Timestamp::now().as_microsecond())
}
