//! What a request shows: a password, a token, or the cookie of a session.

use axum::http::{HeaderMap, header};
use base64::Engine as _;

use super::super::problem::Problem;
use super::unauthorized;

/// The cookie that carries a session's token.
pub(crate) const COOKIE: &str = "bascule_session";
/// The field that acts carry beside the cookie.
pub(crate) const CSRF: &str = "x-csrf-token";
/// Longer ones are no tokens of ours.
const TOKEN_MAX: usize = 256;

/// Of one request; the Authorization field counts before the cookie.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Shown {
    Nothing,
    Password { name: String, password: Vec<u8> },
    Bearer(String),
    Cookie(String),
}

// === impl Shown ===

impl Shown {
    pub fn of(headers: &HeaderMap) -> Result<Shown, Problem> {
        let Some(value) = headers.get(header::AUTHORIZATION) else {
            return Ok(session_cookie(headers).map_or(Shown::Nothing, |token| Shown::Cookie(token.to_owned())));
        };
        let malformed = || unauthorized(headers, "the Authorization field cannot be read; send HTTP Basic or a token");
        let (scheme, credentials) = value.to_str().ok().and_then(|v| v.split_once(' ')).ok_or_else(malformed)?;
        let credentials = credentials.trim();
        if scheme.eq_ignore_ascii_case("bearer") {
            return match credentials.len() {
                1..=TOKEN_MAX => Ok(Shown::Bearer(credentials.to_owned())),
                _ => Err(malformed()),
            };
        }
        if !scheme.eq_ignore_ascii_case("basic") {
            return Err(malformed());
        }
        let decoded = base64::engine::general_purpose::STANDARD.decode(credentials).map_err(|_| malformed())?;
        let colon = decoded.iter().position(|b| *b == b':').ok_or_else(malformed)?;
        let name = String::from_utf8(decoded[..colon].to_vec()).map_err(|_| malformed())?;
        Ok(Shown::Password { name, password: decoded[colon + 1..].to_vec() })
    }
}

/// The name that stands beside a password; `None` where something else is shown.
pub(crate) fn shown_name(headers: &HeaderMap) -> Option<String> {
    match Shown::of(headers) {
        Ok(Shown::Password { name, .. }) => Some(name),
        _ => None,
    }
}

/// The session's token, if a cookie carries one.
pub(crate) fn session_cookie(headers: &HeaderMap) -> Option<&str> {
    let fields = headers.get_all(header::COOKIE).iter().filter_map(|field| field.to_str().ok());
    let mut pairs = fields.flat_map(|field| field.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(name, _)| *name == COOKIE).map(|(_, value)| value.trim_matches('"')).filter(|v| !v.is_empty())
}

/// Sets the cookie; without a token it is taken away.
pub(crate) fn set_cookie(token: Option<&str>, tls: bool) -> String {
    let secure = if tls { "; Secure" } else { "" };
    let age = if token.is_some() { "" } else { "; Max-Age=0" };
    format!("{COOKIE}={}; Path=/; HttpOnly; SameSite=Strict{secure}{age}", token.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect()
    }

    #[test]
    fn a_cookie_is_found_among_others_and_counts_after_the_authorization_field() {
        let cookie = |text: &str| session_cookie(&headers(&[("cookie", text)])).map(str::to_owned);
        assert_eq!(cookie("a=b; bascule_session=x; c=d").as_deref(), Some("x"));
        assert_eq!(cookie("xbascule_session=x"), None);
        assert_eq!(cookie("bascule_session="), None);
        let both = headers(&[("cookie", "bascule_session=x"), ("authorization", "Bearer t")]);
        assert!(Shown::of(&both).is_ok_and(|shown| shown == Shown::Bearer("t".into())));
    }

    #[test]
    fn what_cannot_be_read_is_refused_with_what_to_send() {
        for value in ["Bearer", "Basic", "Basic !", "Digest x", "Basic bm9jb2xvbg=="] {
            let problem = Shown::of(&headers(&[("authorization", value)])).err().unwrap();
            assert_eq!(problem.status, 401, "{value}");
        }
    }

    #[test]
    fn the_cookie_is_out_of_reach_of_scripts_and_other_sites() {
        assert_eq!(set_cookie(Some("t"), true), "bascule_session=t; Path=/; HttpOnly; SameSite=Strict; Secure");
        assert_eq!(set_cookie(None, false), "bascule_session=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0");
    }
}
