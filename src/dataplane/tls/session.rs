//! Sessions that clients resume, and what tells them apart.
//!
//! A client that resumes is the client of before, which SSLSESSION persistence builds on. TLS itself has no name for it
//! that would last: tickets change with every connection, and session ids mean nothing in TLS 1.3. So each session gets a
//! random identity at its first handshake, which travels inside what is kept (sealed in the ticket, or in our cache) and
//! goes over to every ticket that follows.

use std::cell::Cell;
use std::sync::Arc;

use rustls::server::{ProducesTickets, ServerConfig, ServerSessionMemoryCache, StoresServerSessions};

use super::provider;

/// Random; of no meaning outside.
pub(super) type Identity = [u8; IDENTITY_BYTES];

const IDENTITY_BYTES: usize = 16;

/// Sessions that one vserver keeps for clients of TLS 1.2 that know no tickets; the oldest goes first.
const CACHED_MOST: usize = 4096;

tokio::task_local! {
    /// Of the connection whose handshake is being polled.
    static CURRENT: Cell<Option<Identity>>;
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
        .scope(Cell::new(None), async {
            let done = handshake.await;
            (done, CURRENT.with(Cell::get))
        })
        .await
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
    let identity = CURRENT.try_with(|current| {
        if current.get().is_none() {
            let mut fresh = Identity::default();
            provider().secure_random.fill(&mut fresh).ok()?;
            current.set(Some(fresh));
        }
        current.get()
    });
    let mut kept = identity.ok()??.to_vec();
    kept.extend_from_slice(plain);
    Some(kept)
}

/// Takes the identity off again; the current connection has it from here on.
fn without_identity(kept: &[u8]) -> Option<Vec<u8>> {
    let (identity, plain) = kept.split_first_chunk::<IDENTITY_BYTES>()?;
    let _ = CURRENT.try_with(|current| current.set(Some(*identity)));
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
        without_identity(&self.0.decrypt(cipher)?)
    }
}

// === impl Cache ===

impl StoresServerSessions for Cache {
    fn put(&self, key: Vec<u8>, value: Vec<u8>) -> bool {
        with_identity(&value).is_some_and(|kept| self.0.put(key, kept))
    }

    fn get(&self, key: &[u8]) -> Option<Vec<u8>> {
        without_identity(&self.0.get(key)?)
    }

    fn take(&self, key: &[u8]) -> Option<Vec<u8>> {
        without_identity(&self.0.take(key)?)
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

    #[tokio::test]
    async fn what_was_not_sealed_here_says_nothing() {
        let (ours, others) = (Sessions::new().unwrap(), Sessions::new().unwrap());
        let (ticket, _) = identified(async { others.tickets.encrypt(b"x").unwrap() }).await;
        let (plain, identity) = identified(async { ours.tickets.decrypt(&ticket) }).await;
        assert_eq!((plain, identity), (None, None));
    }
}
