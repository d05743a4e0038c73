//! Sessions that clients resume, and what tells them apart.
//!
//! A client that resumes is the client of before, which SSLSESSION persistence builds on. TLS itself has no name for it
//! that would last: tickets change with every connection, and session ids mean nothing in TLS 1.3. So each session gets a
//! random identity at its first handshake, which travels inside what is kept (sealed in the ticket, or in our cache) and
//! goes over to every ticket that follows.
//!
//! With it goes until when the session may be resumed at all. A client that showed a certificate is not asked for it again
//! when it resumes, so its session is good for as long as the certificate was, and no longer than [`CERTIFIED_MOST`]: then
//! it shows its certificate anew. Others go on from ticket to ticket.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::UnixTime;
use rustls::server::{ProducesTickets, ServerConfig, ServerSessionMemoryCache, StoresServerSessions};

use super::provider;

/// Random; of no meaning outside.
pub(super) type Identity = [u8; IDENTITY_BYTES];

const IDENTITY_BYTES: usize = 16;

/// How long a session of a client with a certificate is resumed after the handshake in which it was shown.
const CERTIFIED_MOST: Duration = Duration::from_secs(12 * 3600);

/// What is kept of a session beside what the TLS library keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kept {
    identity: Identity,
    /// In seconds of Unix time.
    until: u64,
}

/// Of one connection, as far as its handshake has come.
#[derive(Clone, Copy, Debug, Default)]
struct Current {
    identity: Option<Identity>,
    /// `None`: no certificate of the client.
    until: Option<u64>,
}

/// Sessions that one vserver keeps for clients of TLS 1.2 that know no tickets; the oldest goes first.
const CACHED_MOST: usize = 4096;

tokio::task_local! {
    /// Of the connection whose handshake is being polled.
    static CURRENT: Cell<Current>;
}

/// What lets clients of one vserver resume. Outlives its certificates; never its rules for client certificates.
#[derive(Debug)]
pub(super) struct Sessions {
    tickets: Arc<Tickets>,
    cache: Arc<Cache>,
}

/// Seals sessions into tickets; the keys rotate by themselves (every 6 hours, a ticket is good for 12 at most).
#[derive(Debug)]
struct Tickets(Arc<dyn ProducesTickets>);

#[derive(Debug)]
struct Cache(Arc<ServerSessionMemoryCache>);

/// Runs a handshake, and tells the identity of its session: of the one resumed, else of the one begun. `None` where it
/// cannot be resumed.
pub(super) async fn identified<T>(handshake: impl Future<Output = T>) -> (T, Option<Identity>) {
    CURRENT
        .scope(Cell::default(), async {
            let done = handshake.await;
            (done, CURRENT.with(Cell::get).identity)
        })
        .await
}

/// The client of the current connection has shown a certificate that is good until `not_after` (seconds of Unix time).
pub(super) fn certified(not_after: u64, now: UnixTime) {
    let until = not_after.min(now.as_secs().saturating_add(CERTIFIED_MOST.as_secs()));
    let _ = CURRENT.try_with(|current| current.set(Current { until: Some(until), ..current.get() }));
}

// === impl Sessions ===

impl Sessions {
    /// Errors: no randomness.
    pub fn new() -> Result<Sessions, String> {
        let tickets = rustls::crypto::ring::Ticketer::new().map_err(|error| error.to_string())?;
        let cache = ServerSessionMemoryCache::new(CACHED_MOST);
        Ok(Sessions { tickets: Arc::new(Tickets(tickets)), cache: Arc::new(Cache(cache)) })
    }

    pub fn install(&self, config: &mut ServerConfig) {
        config.ticketer = Arc::clone(&self.tickets) as _;
        config.session_storage = Arc::clone(&self.cache) as _;
    }
}

/// The identity of the current connection, made where it has none yet, before what is to be kept.
fn with_identity(plain: &[u8]) -> Option<Vec<u8>> {
    let kept = CURRENT.try_with(|current| {
        let Current { identity, until } = current.get();
        let identity = match identity {
            Some(identity) => identity,
            None => {
                let mut fresh = Identity::default();
                provider().secure_random.fill(&mut fresh).ok()?;
                fresh
            }
        };
        current.set(Current { identity: Some(identity), until });
        Some(Kept { identity, until: until.unwrap_or(u64::MAX) })
    });
    let Kept { identity, until } = kept.ok()??;
    Some([&identity[..], &until.to_be_bytes(), plain].concat())
}

/// Takes the identity off again; the current connection has it from here on. `None` where it is over.
fn without_identity(kept: &[u8], now: UnixTime) -> Option<Vec<u8>> {
    let (identity, rest) = kept.split_first_chunk::<IDENTITY_BYTES>()?;
    let (until, plain) = rest.split_first_chunk::<8>()?;
    let until = u64::from_be_bytes(*until);
    if until <= now.as_secs() {
        return None;
    }
    let until = (until < u64::MAX).then_some(until);
    let _ = CURRENT.try_with(|current| current.set(Current { identity: Some(*identity), until }));
    Some(plain.to_vec())
}

// === impl Tickets ===

impl ProducesTickets for Tickets {
    fn enabled(&self) -> bool {
        self.0.enabled()
    }

    fn lifetime(&self) -> u32 {
        self.0.lifetime()
    }

    fn encrypt(&self, plain: &[u8]) -> Option<Vec<u8>> {
        self.0.encrypt(&with_identity(plain)?)
    }

    fn decrypt(&self, cipher: &[u8]) -> Option<Vec<u8>> {
        without_identity(&self.0.decrypt(cipher)?, UnixTime::now())
    }
}

// === impl Cache ===

impl StoresServerSessions for Cache {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        with_identity(&value).is_some_and(|kept| self.0.put(key, kept))
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        without_identity(&self.0.get(key)?, UnixTime::now())
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        without_identity(&self.0.take(key)?, UnixTime::now())
    }

    fn can_cache(&self) -> bool {
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_identity_goes_from_ticket_to_ticket_and_differs_between_sessions() {
        let sessions = Sessions::new().unwrap();
        let (first, begun) = identified(async { sessions.tickets.encrypt(b"one").unwrap() }).await;
        let (second, resumed) = identified(async {
            assert_eq!(sessions.tickets.decrypt(&first).unwrap(), b"one");
            sessions.tickets.encrypt(b"two").unwrap()
        })
        .await;
        let (plain, again) = identified(async { sessions.tickets.decrypt(&second).unwrap() }).await;
        assert_eq!(plain, b"two");
        assert!(begun.is_some() && begun == resumed && resumed == again);
        let (_, other) = identified(async { sessions.cache.put(b"id".to_vec(), b"three".to_vec()) }).await;
        assert!(other.is_some() && other != begun);
        let (kept, found) = identified(async { sessions.cache.get(b"id").unwrap() }).await;
        assert_eq!((&*kept, found), (&b"three"[..], other));
    }

    /// Resumes with what `kept` holds, and keeps it again.
    async fn resumed(kept: &[u8], at: u64) -> Option<Vec<u8>> {
        let at = UnixTime::since_unix_epoch(Duration::from_secs(at));
        identified(async { with_identity(&without_identity(kept, at)?) }).await.0
    }

    #[tokio::test]
    async fn a_session_is_resumed_no_longer_than_the_certificate_of_its_client_is_good_however_often_it_is_renewed() {
        let began = 1_000_000;
        let half_a_day = CERTIFIED_MOST.as_secs();
        for (not_after, last) in [(began + 60, began + 60), (began + 90 * 86_400, began + half_a_day)] {
            let kept = identified(async {
                certified(not_after, UnixTime::since_unix_epoch(Duration::from_secs(began)));
                with_identity(b"one").unwrap()
            });
            let first = kept.await.0;
            let second = resumed(&first, began + 30).await.expect("it is good");
            let third = resumed(&second, last - 1).await.expect("it is still good");
            for kept in [first, second, third] {
                assert_eq!(resumed(&kept, last).await, None);
            }
        }
        let others = identified(async { with_identity(b"one").unwrap() }).await.0;
        assert_eq!(resumed(&others, began * 1000).await, Some(others), "without a certificate there is nothing to end");
    }

    #[tokio::test]
    async fn what_was_not_sealed_here_says_nothing() {
        let (ours, others) = (Sessions::new().unwrap(), Sessions::new().unwrap());
        let (ticket, _) = identified(async { others.tickets.encrypt(b"x").unwrap() }).await;
        let (plain, identity) = identified(async { ours.tickets.decrypt(&ticket) }).await;
        assert_eq!((plain, identity), (None, None));
    }
}
