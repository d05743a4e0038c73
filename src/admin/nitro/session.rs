//! How long the sessions of NITRO's clients last, because a login may say so, and those that a door alone opens (the
//! Unix socket; loopback without users). Who may log in, and whether they still may, is [`auth`](crate::admin::auth)'s.
//!
//! Bounded in number and time; a token is kept as its hash alone.

use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

use parking_lot::Mutex;
use ring::rand::{SecureRandom, SystemRandom};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::admin::auth::{self, Caller};
use crate::model::id::Name;

/// Sessions at once; one more ends the one that was used least lately.
const MOST: usize = 1_024;
/// Of one caller; one more ends their own that was used least lately, and nobody else's.
const PER_CALLER: usize = 64;
/// How long a session may lie idle where the login does not say, as with NetScaler.
pub(super) const TIMEOUT: Duration = Duration::from_secs(900);
/// The most that a login may ask for.
pub(super) const TIMEOUT_MAX: Duration = Duration::from_secs(86_400);
const TOKEN_BYTES: usize = 32;
/// Longer ones are no tokens of ours.
const TOKEN_MAX: usize = 256;

type Hash = [u8; 32];

/// All sessions that were opened by NITRO.
#[derive(Debug, Default)]
pub(in crate::admin) struct Sessions(Mutex<HashMap<Hash, Session>>);

#[derive(Debug, Clone)]
struct Session {
    /// Who opened it, as the journal shows them.
    actor: Name,
    opener: Opener,
    timeout: Duration,
    used: Instant,
}

/// Who stands behind a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Opener {
    /// Whoever holds this session. The token is NITRO's own: in REST's cookie it is nobody's.
    User(auth::Hash),
    /// This caller, as long as they come in by the same door.
    Door(Caller),
    /// Whoever the API token lets in, as long as it does.
    Token(ApiToken),
}

/// The text of an API token; it is in no log.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct ApiToken {
    pub name: String,
    pub text: String,
}

// === impl Sessions ===

impl Sessions {
    pub fn open(&self, now: Instant, token: &str, actor: Name, opener: Opener, timeout: Duration) {
        let mut table = self.0.lock();
        table.retain(|_, session| session.is_open(now));
        if table.values().filter(|session| session.actor == actor).count() >= PER_CALLER {
            drop_oldest(&mut table, |session| session.actor == actor);
        }
        if table.len() >= MOST {
            drop_oldest(&mut table, |_| true);
        }
        table.insert(hash(token), Session { actor, opener, timeout, used: now });
    }

    /// Who opened it; it counts as used now.
    pub fn find(&self, now: Instant, token: &str) -> Option<Opener> {
        if token.len() > TOKEN_MAX {
            return None;
        }
        let mut table = self.0.lock();
        let key = hash(token);
        let session = table.get_mut(&key)?;
        if !session.is_open(now) {
            table.remove(&key);
            return None;
        }
        session.used = now;
        Some(session.opener.clone())
    }

    pub fn close(&self, token: &str) {
        self.0.lock().remove(&hash(token));
    }
}

/// The one that was used least lately.
fn drop_oldest(table: &mut HashMap<Hash, Session>, among: impl Fn(&Session) -> bool) {
    let oldest = table.iter().filter(|(_, session)| among(session)).min_by_key(|(_, session)| session.used);
    if let Some(oldest) = oldest.map(|(key, _)| *key) {
        table.remove(&oldest);
    }
}

/// A new token; `None`: the system has no random numbers.
pub(super) fn token() -> Option<String> {
    let mut bytes = [0; TOKEN_BYTES];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02X}")).collect())
}

fn hash(token: &str) -> Hash {
    Sha256::digest(token.as_bytes()).into()
}

// === impl ApiToken ===

impl fmt::Debug for ApiToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the token {}", self.name)
    }
}

// === impl Session ===

impl Session {
    fn is_open(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.used) < self.timeout
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USER: Opener = Opener::User([7; 32]);

    #[tokio::test(start_paused = true)]
    async fn a_session_ends_when_it_lay_idle_for_as_long_as_its_login_said_or_is_closed() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let later = |seconds| start + Duration::from_secs(seconds);
        sessions.open(start, "a", "x".into(), USER, Duration::from_secs(60));
        assert_eq!(sessions.find(later(59), "a"), Some(USER));
        assert_eq!(sessions.find(later(118), "a"), Some(USER));
        assert_eq!(sessions.find(later(178), "a"), None);
        sessions.open(start, "b", "x".into(), USER, TIMEOUT);
        sessions.close("b");
        assert_eq!((sessions.find(start, "b"), sessions.find(start, &"c".repeat(999))), (None, None));
    }

    #[tokio::test(start_paused = true)]
    async fn one_session_too_many_ends_the_one_that_was_used_least_lately() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        for at in 0..=MOST as u64 {
            let actor = format!("admin:{}", at % 20).into();
            sessions.open(start + Duration::from_millis(at), &at.to_string(), actor, USER, TIMEOUT);
        }
        assert_eq!((sessions.find(start, "0"), sessions.find(start, "1")), (None, Some(USER)));
        assert_eq!(token().map(|token| token.len()), Some(64));
    }

    #[tokio::test(start_paused = true)]
    async fn a_caller_who_logs_in_again_and_again_ends_nobody_elses_session() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        sessions.open(start, "other", "admin:b".into(), USER, TIMEOUT);
        for at in 1..=2 * MOST as u64 {
            sessions.open(start + Duration::from_millis(at), &at.to_string(), "admin:a".into(), USER, TIMEOUT);
        }
        assert_eq!((sessions.find(start, "other"), sessions.0.lock().len()), (Some(USER), PER_CALLER + 1));
    }
}
