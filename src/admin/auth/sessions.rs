//! Logins that last: a table of sessions, bounded in time and number. Only a keyed hash of a token is kept, so whoever
//! reads this process's memory or a core of it gains no token, and a look-up tells nothing by its timing.
//!
//! A session is bound to what it was opened with ([`Holder::stamp`]: role and password hash); it ends with the first
//! request after any of that has changed.

use std::collections::HashMap;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use parking_lot::Mutex;
use ring::rand::{SecureRandom, SystemRandom};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use tokio::time::Instant;

use crate::model::access::{Role, SessionRules};
use crate::model::id::Name;

/// A hash under the key of this process.
pub(crate) type Hash = [u8; 32];

/// Bytes of a token; as text 43 letters.
const TOKEN_BYTES: usize = 32;

/// Whose session it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    /// As the journal shows it.
    pub actor: Name,
    /// As they log in.
    pub user: Name,
    pub role: Role,
    /// Of everything that lets them in; see [`Sessions::stamp`].
    pub stamp: Hash,
}

#[derive(Clone, Debug)]
pub(crate) struct Session {
    /// Counts up; names the session in the journal.
    pub number: u64,
    pub holder: Holder,
    opened: Instant,
    used: Instant,
    /// Names it to [`Sessions::close`].
    pub id: Hash,
}

/// What the one who logged in is told, once.
#[derive(Clone)]
pub(crate) struct Opened {
    pub token: String,
    /// To be sent in `X-CSRF-Token` with every act where the cookie says who calls.
    pub csrf: String,
    pub session: Session,
}

/// All sessions of the appliance.
pub(crate) struct Sessions {
    key: Hash,
    table: Mutex<Table>,
}

#[derive(Default)]
struct Table {
    open: HashMap<Hash, Session>,
    opened_total: u64,
}

// === impl Sessions ===

impl Sessions {
    pub fn new() -> Sessions {
        // Without random numbers nobody gets a token either, see `open`.
        Sessions { key: random().unwrap_or_default(), table: Mutex::default() }
    }

    /// A new session. `None`: the system has no random numbers.
    pub fn open(&self, now: Instant, rules: &SessionRules, holder: Holder) -> Option<Opened> {
        let token = URL_SAFE_NO_PAD.encode(random()?);
        let id = self.hash("session", &[token.as_bytes()]);
        let session = self.table.lock().open(now, rules, id, holder);
        Some(Opened { csrf: self.csrf(&token), token, session })
    }

    /// The session of a token, which has been used now. Whether its holder is still who they were is the caller's to ask.
    pub fn find(&self, now: Instant, rules: &SessionRules, token: &str) -> Option<Session> {
        if token.len() != (TOKEN_BYTES * 4).div_ceil(3) {
            return None;
        }
        let id = self.hash("session", &[token.as_bytes()]);
        self.table.lock().find(now, rules, &id)
    }

    /// As [`Sessions::find`], for who was found before and has stayed.
    pub fn stay(&self, now: Instant, rules: &SessionRules, id: &Hash) -> Option<Session> {
        self.table.lock().find(now, rules, id)
    }

    /// Ends it; `false`: there is none.
    pub fn close(&self, id: &Hash) -> bool {
        self.table.lock().open.remove(id).is_some()
    }

    /// Who has sessions that have not ended, and how many; in no order.
    pub fn held(&self, now: Instant, rules: &SessionRules) -> Vec<(Holder, usize)> {
        let mut held: Vec<(Holder, usize)> = Vec::new();
        let table = self.table.lock();
        for session in table.open.values().filter(|session| !session.left(now, rules).is_zero()) {
            match held.iter_mut().find(|(holder, _)| holder.actor == session.holder.actor) {
                Some((_, count)) => *count += 1,
                None => held.push((session.holder.clone(), 1)),
            }
        }
        held
    }

    /// The token that acts carry beside the cookie: it follows from the session's, so nothing more is kept.
    pub fn csrf(&self, token: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.hash("csrf", &[token.as_bytes()]))
    }

    pub fn is_csrf(&self, token: &str, sent: &[u8]) -> bool {
        self.csrf(token).as_bytes().ct_eq(sent).into()
    }

    /// A hash of everything that lets somebody in; another one means that it has changed.
    pub fn stamp(&self, parts: &[&[u8]]) -> Hash {
        self.hash("stamp", parts)
    }

    fn hash(&self, what: &str, parts: &[&[u8]]) -> Hash {
        let mut digest = Sha256::new();
        digest.update(self.key);
        for part in std::iter::once(what.as_bytes()).chain(parts.iter().copied()) {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        digest.finalize().into()
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.table.lock().open.len()
    }
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sessions").field("open", &self.table.lock().open.len()).finish_non_exhaustive()
    }
}

// === impl Table ===

impl Table {
    fn open(&mut self, now: Instant, rules: &SessionRules, id: Hash, holder: Holder) -> Session {
        self.open.retain(|_, session| !session.left(now, rules).is_zero());
        let of_user = |s: &&Session| s.holder.actor == holder.actor;
        while self.open.values().filter(of_user).count() >= rules.per_user as usize {
            self.drop_oldest(|session| session.holder.actor == holder.actor);
        }
        while self.open.len() >= rules.most as usize {
            self.drop_oldest(|_| true);
        }
        self.opened_total += 1;
        let session = Session { number: self.opened_total, holder, opened: now, used: now, id };
        self.open.insert(id, session.clone());
        session
    }

    fn find(&mut self, now: Instant, rules: &SessionRules, id: &Hash) -> Option<Session> {
        let session = self.open.get_mut(id).filter(|session| session.id.ct_eq(id).into())?;
        if session.left(now, rules).is_zero() {
            self.open.remove(id);
            return None;
        }
        session.used = now;
        Some(session.clone())
    }

    /// The one that was used least lately.
    fn drop_oldest(&mut self, among: impl Fn(&Session) -> bool) {
        let among = self.open.values().filter(|session| among(session));
        let oldest = among.min_by_key(|session| (session.used, session.number)).map(|session| session.id);
        if let Some(oldest) = oldest {
            self.open.remove(&oldest);
        }
    }
}

// === impl Session ===

impl Session {
    /// Until it ends by itself, if nothing more is asked with it.
    pub fn left(&self, now: Instant, rules: &SessionRules) -> Duration {
        let idle = (self.used + rules.idle).saturating_duration_since(now);
        idle.min((self.opened + rules.absolute).saturating_duration_since(now))
    }
}

// === impl Opened ===

/// Tokens are never printed.
impl std::fmt::Debug for Opened {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Opened").field("session", &self.session.number).finish_non_exhaustive()
    }
}

/// From the system's random source; `None` where it fails.
pub(super) fn random() -> Option<[u8; TOKEN_BYTES]> {
    let mut bytes = [0; TOKEN_BYTES];
    SystemRandom::new().fill(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: SessionRules =
        SessionRules { idle: Duration::from_secs(60), absolute: Duration::from_secs(600), per_user: 2, most: 3 };

    fn holder(user: &str) -> Holder {
        Holder { actor: format!("admin:{user}").into(), user: user.into(), role: Role::Operator, stamp: [0; 32] }
    }

    fn open(sessions: &Sessions, now: Instant, user: &str) -> String {
        sessions.open(now, &RULES, holder(user)).unwrap().token
    }

    #[tokio::test(start_paused = true)]
    async fn a_session_ends_when_idle_and_in_any_case_in_the_end() {
        let (sessions, start) = (Sessions::new(), Instant::now());
        let seconds = Duration::from_secs;
        let token = open(&sessions, start, "ops");
        assert!(sessions.find(start + seconds(59), &RULES, &token).is_some());
        assert!(sessions.find(start + seconds(118), &RULES, &token).is_some(), "used at 59 s");
        assert!(sessions.find(start + seconds(178), &RULES, &token).is_none());
        assert_eq!(sessions.len(), 0);
        let token = open(&sessions, start, "ops");
        for at in (0..600).step_by(50) {
            assert!(sessions.find(start + seconds(at), &RULES, &token).is_some(), "{at}");
        }
        assert!(sessions.find(start + seconds(600), &RULES, &token).is_none(), "however much it is used");
    }

    #[tokio::test(start_paused = true)]
    async fn a_token_that_was_never_given_or_was_closed_is_nobodys() {
        let (sessions, now) = (Sessions::new(), Instant::now());
        let opened = sessions.open(now, &RULES, holder("ops")).unwrap();
        assert!(sessions.find(now, &RULES, "").is_none());
        assert!(sessions.find(now, &RULES, &"A".repeat(43)).is_none());
        assert!(sessions.find(now, &RULES, &opened.token).is_some());
        assert!(sessions.close(&opened.session.id) && !sessions.close(&opened.session.id));
        assert!(sessions.find(now, &RULES, &opened.token).is_none());
        assert!(Sessions::new().find(now, &RULES, &opened.token).is_none(), "another box has another key");
    }

    #[tokio::test(start_paused = true)]
    async fn one_more_session_ends_the_one_that_was_used_least_lately() {
        let (sessions, now) = (Sessions::new(), Instant::now());
        let later = |s| now + Duration::from_secs(s);
        let (first, second) = (open(&sessions, now, "ops"), open(&sessions, later(1), "ops"));
        assert!(sessions.find(later(2), &RULES, &first).is_some());
        let third = open(&sessions, later(3), "ops");
        let there = |token: &str| sessions.find(later(4), &RULES, token).is_some();
        assert_eq!([there(&first), there(&second), there(&third)], [true, false, true]);
        open(&sessions, later(5), "eve");
        open(&sessions, later(6), "bob");
        assert_eq!(sessions.len(), 3, "in all");
    }

    #[tokio::test(start_paused = true)]
    async fn who_has_sessions_is_told_while_they_last() {
        let (sessions, now) = (Sessions::new(), Instant::now());
        open(&sessions, now, "ops");
        open(&sessions, now + Duration::from_secs(30), "ops");
        open(&sessions, now, "eve");
        let held = |after| {
            let held = sessions.held(now + Duration::from_secs(after), &RULES).into_iter();
            let mut held: Vec<(String, usize)> = held.map(|(holder, count)| (holder.user.to_string(), count)).collect();
            held.sort();
            held
        };
        assert_eq!(held(30), [("eve".to_owned(), 1), ("ops".to_owned(), 2)]);
        assert_eq!(held(60), [("ops".to_owned(), 1)]);
        assert_eq!(held(90), []);
    }

    #[test]
    fn a_csrf_token_belongs_to_one_session_and_neither_is_printed() {
        let sessions = Sessions::new();
        let now = Instant::now();
        let one = sessions.open(now, &RULES, holder("ops")).unwrap();
        let other = sessions.open(now, &RULES, holder("ops")).unwrap();
        assert!(sessions.is_csrf(&one.token, one.csrf.as_bytes()));
        assert!(!sessions.is_csrf(&one.token, other.csrf.as_bytes()) && !sessions.is_csrf(&one.token, b""));
        assert_eq!(one.token.len(), 43);
        let printed = format!("{one:?} {sessions:?}");
        assert!(!printed.contains(&one.token) && !printed.contains(&one.csrf), "{printed}");
    }
}
