//! Who calls: a session's token from three places, a name and password in two headers, what REST takes, or the door
//! alone (Unix socket, loopback without users). Everything is decided by [`auth`], so NITRO lets nobody in whom REST
//! would not.

use std::time::Duration;

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;
use tokio::time::Instant;

use super::answer::{Answer, Fault, Object};
use super::payload::Payload;
use super::session::{self, ApiToken, Opener, TIMEOUT, TIMEOUT_MAX};
use super::target::decode;
use crate::admin::App;
use crate::admin::auth::{self, Access, Caller, Head, Peer};
use crate::admin::problem::Problem;
use crate::model::id::Name;

/// Names and passwords may be this long.
const CREDENTIAL_MAX: usize = 1_024;

/// `bascule_` and 256 bits.
const TOKEN_LENGTH: usize = 51;

/// What a request says of who sent it.
struct Asking<'a> {
    peer: Peer,
    method: &'a Method,
    uri: &'a axum::http::Uri,
    headers: HeaderMap,
}

/// Lets a caller in, or says why not. `method`: what the request is let in as. Their door tells the journal that they came by NITRO.
pub(super) async fn admit(app: &App, parts: &Parts, method: &Method) -> Result<Caller, Fault> {
    let caller = identify(app, parts, method).await?;
    let door = format!("NITRO {}", caller.door);
    Ok(Caller { door: door.trim_end().into(), ..caller })
}

async fn identify(app: &App, parts: &Parts, method: &Method) -> Result<Caller, Fault> {
    let mut asking = Asking { method, ..Asking::of(parts)? };
    if let Some(token) = token(&parts.headers) {
        return of_session(app, &asking, &token).await;
    }
    let field = |name: &str| parts.headers.get(name).map(|value| value.as_bytes().to_vec());
    if let Some(name) = field("x-nitro-user") {
        let name = String::from_utf8(name).map_err(|_| Fault::new(354, ""))?;
        let password = field("x-nitro-pass").unwrap_or_default();
        if let Some(token) = api_token(&name, &password) {
            return asking.enter_with(app, &token, 354).await;
        }
        asking.present(&name, &password)?;
        return asking.enter(app, 354).await;
    }
    asking.enter(app, if parts.headers.contains_key(header::AUTHORIZATION) { 354 } else { 1027 }).await
}

/// What is no password but an API token, under the token's own name: many clients have nowhere else to put it.
fn api_token(name: &str, password: &[u8]) -> Option<ApiToken> {
    let text = std::str::from_utf8(password).ok()?;
    let is_token = text.len() == TOKEN_LENGTH && text.starts_with("bascule_");
    is_token.then(|| ApiToken { name: name.to_owned(), text: text.to_owned() })
}

/// Who opened a session may have gone or have another role by now.
async fn of_session(app: &App, asking: &Asking<'_>, token: &str) -> Result<Caller, Fault> {
    let ended = || Fault::new(444, "");
    match app.0.nitro.sessions.find(Instant::now(), token).ok_or_else(ended)? {
        Opener::User(session) => {
            let Peer::Tcp { .. } = asking.peer else { return Err(ended()) };
            auth::refuse_cross_site(asking.head()).map_err(Fault::from)?;
            app.session(&session, asking.peer).await.map_err(Fault::from)?.ok_or_else(ended)
        }
        Opener::Token(token) => {
            let mut asking = Asking { headers: asking.headers.clone(), ..*asking };
            asking.enter_with(app, &token, 444).await
        }
        // The door decides, as it did when the session was opened.
        Opener::Door(opener) => {
            let caller = asking.enter(app, 444).await?;
            if caller.actor == opener.actor { Ok(caller) } else { Err(ended()) }
        }
    }
}

/// `POST config/login`: opens a session.
pub(super) async fn login(app: &App, parts: &Parts, payload: &Payload) -> Result<Answer, Fault> {
    let object = payload.objects.first().ok_or_else(|| Fault::new(1095, "username"))?;
    let known = ["username", "password", "timeout", "tenant", "persistent_session"];
    if let Some(unknown) = object.keys().find(|key| !known.contains(&&key.to_ascii_lowercase()[..])) {
        return Err(Fault::new(1090, super::target::printable(unknown)));
    }
    let text = |key: &'static str| match object.get(key) {
        Some(Value::String(text)) if text.len() <= CREDENTIAL_MAX => Ok(&text[..]),
        Some(Value::Null) | None => Err(Fault::new(1095, key)),
        Some(_) => Err(Fault::new(1097, key)),
    };
    let (name, password, timeout) = (text("username")?, text("password")?, timeout(object)?);
    let asking = Asking::of(parts)?;
    auth::refuse_cross_site(asking.head()).map_err(Fault::from)?;
    let (actor, opener) = if let Some(token) = api_token(name, password.as_bytes()) {
        let caller = Asking::of(parts)?.enter_with(app, &token, 354).await?;
        (caller.actor, Opener::Token(token))
    } else {
        log_in(app, &asking, name, password).await?
    };
    let token = session::token().ok_or_else(|| Fault::new(1043, ""))?;
    app.0.nitro.sessions.open(Instant::now(), &token, actor, opener, timeout);
    let cookie = cookie(Some(&token), asking.peer);
    Ok(Answer::with_status(201).member("sessionid", token.into()).cookie(cookie))
}

/// Who is let in by a name and a password, and what stands behind their session.
async fn log_in(app: &App, asking: &Asking<'_>, name: &str, password: &str) -> Result<(Name, Opener), Fault> {
    match app.log_in(asking.peer, name, password).await {
        Ok((opened, caller)) => Ok((caller.actor, Opener::User(opened.session.id))),
        // There is nothing to log in to: the door decides, whatever was sent.
        Err(problem) if problem.code == "no_login" => {
            let caller = asking.enter(app, 1027).await?;
            Ok((caller.actor.clone(), Opener::Door(caller)))
        }
        Err(problem) => Err(refused(problem, 354)),
    }
}

/// `POST config/logout`: ends the session, if there is one.
pub(super) async fn logout(app: &App, parts: &Parts) -> Answer {
    if let Some(token) = token(&parts.headers) {
        let caller = match Asking::of(parts) {
            Ok(asking) => of_session(app, &asking, &token).await.ok(),
            Err(_) => None,
        };
        if let Some(caller) = caller {
            app.log_out(&caller);
            app.0.nitro.sessions.close(&token);
        }
    }
    let peer = parts.extensions.get::<Peer>().copied();
    peer.map_or_else(|| Answer::with_status(201), |peer| Answer::with_status(201).cookie(cookie(None, peer)))
}

/// Sets the cookie; without a token it is taken away.
fn cookie(token: Option<&str>, peer: Peer) -> String {
    let age = if token.is_some() { "" } else { " Max-Age=0;" };
    let secure = if matches!(peer, Peer::Tcp { tls: true, .. }) { "; Secure" } else { "" };
    let token = token.unwrap_or_default();
    format!("NITRO_AUTH_TOKEN={token}; path=/nitro/v1;{age} HttpOnly; SameSite=Strict{secure}")
}

/// Whether the role reaches `access`; else 2138.
pub(super) fn allow(caller: &Caller, access: Access) -> Result<(), Fault> {
    auth::authorize(caller.role, access).map_err(|problem| Fault::new(2138, problem.detail))
}

fn timeout(login: &Object) -> Result<Duration, Fault> {
    let seconds = match login.get("timeout") {
        None | Some(Value::Null) => return Ok(TIMEOUT),
        Some(Value::Number(number)) => number.as_f64().filter(|n| n.fract() == 0.0 && *n >= 0.0).map(|n| n as u64),
        Some(Value::String(text)) => text.trim().parse().ok(),
        Some(_) => None,
    };
    match seconds.ok_or_else(|| Fault::new(1097, "timeout"))? {
        0 => Ok(TIMEOUT),
        seconds if seconds > TIMEOUT_MAX.as_secs() => Err(Fault::new(1108, "timeout, maximum 86400")),
        seconds => Ok(Duration::from_secs(seconds)),
    }
}

/// In `Cookie` under either name, or in a request header `Set-Cookie`, as PYSDK and GONITRO send it.
fn token(headers: &HeaderMap) -> Option<String> {
    let fields = headers.get_all(header::COOKIE).iter().chain(headers.get_all(header::SET_COOKIE));
    let pairs = fields.filter_map(|field| field.to_str().ok()).flat_map(|field| field.split(';'));
    pairs.filter_map(|pair| pair.trim().split_once('=')).find_map(|(name, value)| {
        let ours = name.eq_ignore_ascii_case("NITRO_AUTH_TOKEN") || name.eq_ignore_ascii_case("sessionid");
        let value = value.trim().trim_matches('"');
        (ours && !value.is_empty()).then(|| decode(value).unwrap_or_default())
    })
}

// === impl Asking ===

impl<'a> Asking<'a> {
    fn of(parts: &'a Parts) -> Result<Asking<'a>, Fault> {
        let peer = parts.extensions.get::<Peer>().copied().ok_or_else(|| Fault::new(257, ""))?;
        Ok(Asking { peer, method: &parts.method, uri: &parts.uri, headers: parts.headers.clone() })
    }

    fn head(&self) -> Head<'_> {
        Head { method: self.method, uri: self.uri, headers: &self.headers }
    }

    /// Puts name and password where REST looks for them.
    fn present(&mut self, name: &str, password: &[u8]) -> Result<(), Fault> {
        if name.is_empty() || name.contains(':') || name.len() + password.len() > 2 * CREDENTIAL_MAX {
            return Err(Fault::new(354, ""));
        }
        let encoded = STANDARD.encode([name.as_bytes(), b":", password].concat());
        let mut value = HeaderValue::from_str(&format!("Basic {encoded}")).map_err(|_| Fault::new(354, ""))?;
        value.set_sensitive(true);
        self.headers.insert(header::AUTHORIZATION, value);
        Ok(())
    }

    /// Lets in whom an API token lets in, if it is named as it is called.
    async fn enter_with(&mut self, app: &App, token: &ApiToken, unknown: u32) -> Result<Caller, Fault> {
        let value = HeaderValue::from_str(&format!("Bearer {}", token.text));
        let mut value = value.map_err(|_| Fault::new(unknown, ""))?;
        value.set_sensitive(true);
        self.headers.insert(header::AUTHORIZATION, value);
        let caller = self.enter(app, unknown).await?;
        let is_named = caller.actor.strip_prefix("token:") == Some(&token.name[..]);
        if is_named { Ok(caller) } else { Err(Fault::new(unknown, "")) }
    }

    /// `unknown`: the number of a caller who is not known.
    async fn enter(&self, app: &App, unknown: u32) -> Result<Caller, Fault> {
        app.authenticate(self.peer, self.head()).await.map_err(|problem| refused(problem, unknown))
    }
}

fn refused(problem: Problem, unknown: u32) -> Fault {
    match problem.status {
        StatusCode::UNAUTHORIZED => Fault::new(unknown, ""),
        StatusCode::TOO_MANY_REQUESTS => locked(&problem),
        _ => problem.into(),
    }
}

/// NetScaler has no number for it; a client that would go on guessing reads the one for a wrong password.
fn locked(problem: &Problem) -> Fault {
    let fault = Fault::new(354, &problem.detail).status(429);
    let left = problem.headers.iter().find(|(name, _)| name == header::RETRY_AFTER);
    match left.and_then(|(_, value)| value.to_str().ok()?.parse().ok()) {
        Some(seconds) => fault.retry_after(seconds),
        None => fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_found_in_all_three_places() {
        for (field, value) in [
            ("cookie", "a=b; NITRO_AUTH_TOKEN=12%33"),
            ("cookie", "sessionid=123"),
            ("set-cookie", "NITRO_AUTH_TOKEN=123;path=/nitro/v1"),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(field, value.parse().unwrap());
            assert_eq!(token(&headers).as_deref(), Some("123"), "{field}: {value}");
        }
        assert_eq!(token(&HeaderMap::new()), None);
    }

    #[test]
    fn a_login_may_say_how_long_it_lasts_as_a_number_or_a_text() {
        let of = |value: Value| {
            let mut login = Object::new();
            login.insert("timeout".into(), value);
            timeout(&login).map(|t| t.as_secs()).map_err(|f| f.code)
        };
        assert_eq!([of(3_600.into()), of("3600".into()), of(30.0.into())], [Ok(3_600), Ok(3_600), Ok(30)]);
        assert_eq!([of(86_401.into()), of("soon".into()), of((-1).into())], [Err(1108), Err(1097), Err(1097)]);
    }
}
