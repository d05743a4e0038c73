//! How long the sessions of NITRO's clients last, because a login may say so, and those that a door alone opens (the
//! Unix socket; loopback without users). Who may log in, and whether they still may, is [`auth`](crate::admin::auth)'s.
//!
//! Bounded in number and time; a token is kept as its hash alone.

use std::collections::HashMap;
use std::time::Duration;

use parking_lot::Mutex;
use ring::rand::{SecureRandom, SystemRandom};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use crate::admin::auth::Caller;

/// Sessions at once; one more ends the one that was used least lately.
const MOST: usize = 1_024;
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
    opener: Opener,
    timeout: Duration,
    used: Instant,
}

/// Who stands behind a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Opener {
    /// Whoever REST knows by the same token.
    User,
    /// This caller, as long as they come in by the same door.
    Door(Caller),
}

// === impl Sessions ===

impl Sessions {
    pub fn open(&self, now: Instant, token: &str, opener: Opener, timeout: Duration) {
        let mut table = self.0.lock();
        table.retain(|_, session| session.is_open(now));
        if table.len() >= MOST {
            let oldest = table.iter().min_by_key(|(_, session)| session.used).map(|(key, _)| *key);
            oldest.and_then(|oldest| table.remove(&oldest));
        }
        table.insert(hash(token), Session { opener, timeout, used: now });
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

/// A token for a door; `None`: the system has no random numbers.
pub(super) fn token() -> Option<String> {
    let mut bytes = [0; TOKEN_BYTES];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(bytes.iter().map(|byte| format!("{byte:02X}")).collect())
}

fn hash(token: &str) -> Hash {
    Sha256::digest(token.as_bytes()).into()
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

    #[tokio::test(start_paused = true)]
    async fn a_session_ends_when_it_lay_idle_for_as_long_as_its_login_said_or_is_closed() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        let later = |seconds| start + Duration::from_secs(seconds);
        sessions.open(start, "a", Opener::User, Duration::from_secs(60));
        assert_eq!(sessions.find(later(59), "a"), Some(Opener::User));
        assert_eq!(sessions.find(later(118), "a"), Some(Opener::User));
        assert_eq!(sessions.find(later(178), "a"), None);
        sessions.open(start, "b", Opener::User, TIMEOUT);
        sessions.close("b");
        assert_eq!((sessions.find(start, "b"), sessions.find(start, &"c".repeat(999))), (None, None));
    }

    #[tokio::test(start_paused = true)]
    async fn one_session_too_many_ends_the_one_that_was_used_least_lately() {
        let (sessions, start) = (Sessions::default(), Instant::now());
        for at in 0..=MOST as u64 {
            sessions.open(start + Duration::from_millis(at), &at.to_string(), Opener::User, TIMEOUT);
        }
        assert_eq!((sessions.find(start, "0"), sessions.find(start, "1")), (None, Some(Opener::User)));
        assert_eq!(token().map(|token| token.len()), Some(64));
    }
}
