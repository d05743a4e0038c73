//! Passwords against argon2 hashes.
//!
//! A hash costs tens of milliseconds and megabytes on purpose, which makes the check itself a way to overload the box.
//! So: two checks at a time on blocking threads, a right password is remembered for a minute under a keyed hash (the
//! password itself is not kept), and ten wrong ones in a row for one name from one address close that door for five
//! minutes. The lock is per name *and* address, so that a guesser cannot lock an operator out from elsewhere. An
//! unknown name costs as much time as a known one.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash as Phc;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use axum::http::{HeaderValue, StatusCode, header};
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::super::problem::Problem;
use crate::model::PasswordHash;
use crate::model::scenario::Secret;

/// How long a right password is remembered.
const REMEMBER: Duration = Duration::from_secs(60);
const REMEMBERED_MAX: usize = 1_024;
/// Wrong passwords in a row that close the door.
const WRONG_MAX: u32 = 10;
const LOCKED: Duration = Duration::from_secs(300);
const FAILURES_MAX: usize = 4_096;
/// Checks at a time; each takes 19 MiB with argon2's defaults.
const CHECKS_AT_ONCE: usize = 2;
/// How long a check may wait for its turn.
const TURN_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Verifier {
    /// Keys the hashes under which right passwords are remembered.
    key: [u8; 32],
    remembered: Mutex<HashMap<[u8; 32], Instant>>,
    failures: Mutex<HashMap<(String, IpAddr), Failures>>,
    turns: Arc<Semaphore>,
    /// What files of hashes are relative to; the working directory until it is set.
    pub folder: OnceLock<PathBuf>,
}

#[derive(Debug, Clone, Copy)]
struct Failures {
    in_row: u32,
    last: Instant,
}

/// The PHC string of `password`: argon2id with the crate's defaults and a random salt.
pub(crate) fn hash_password(password: &[u8]) -> Result<String, String> {
    let hash: Result<Phc, _> = Argon2::default().hash_password(password);
    hash.map(|h| h.to_string()).map_err(|error| format!("the password cannot be hashed: {error}"))
}

// === impl Verifier ===

impl Verifier {
    pub fn new() -> Verifier {
        Verifier {
            key: random_key(),
            remembered: Mutex::new(HashMap::new()),
            failures: Mutex::new(HashMap::new()),
            turns: Arc::new(Semaphore::new(CHECKS_AT_ONCE)),
            folder: OnceLock::new(),
        }
    }

    /// Whether `password` is `name`'s. `hash` `None`: no such user, refused after the same work.
    pub async fn verify(
        &self,
        from: IpAddr,
        name: &str,
        password: Vec<u8>,
        hash: Option<PasswordHash>,
    ) -> Result<(), Problem> {
        let folder = self.folder.get().cloned().unwrap_or_default();
        let hash = match hash {
            Some(hash) => Some(tokio::task::spawn_blocking(move || read_hash(&hash, &folder)).await.map_err(gone)??),
            None => None,
        };
        let known = self.fingerprint(name, &password, hash.as_deref());
        if self.is_remembered(&known) {
            return Ok(());
        }
        self.refuse_locked(name, from)?;
        let turn = tokio::time::timeout(TURN_TIMEOUT, Arc::clone(&self.turns).acquire_owned()).await;
        let Ok(Ok(turn)) = turn else {
            return Err(Problem::busy("too many passwords are being checked; try again"));
        };
        let right = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            match hash {
                Some(hash) => matches(&password, &hash),
                None => {
                    let _ = matches(&password, decoy());
                    false
                }
            }
        });
        if right.await.map_err(gone)? {
            self.failures.lock().remove(&(name.to_owned(), from));
            let until = Instant::now() + REMEMBER;
            insert_bounded(&mut self.remembered.lock(), REMEMBERED_MAX, known, until, |until| *until);
            return Ok(());
        }
        self.count_failure(name, from);
        Err(super::unauthorized("wrong name or password"))
    }

    fn fingerprint(&self, name: &str, password: &[u8], hash: Option<&str>) -> [u8; 32] {
        let mut digest = Sha256::new();
        digest.update(self.key);
        for part in [name.as_bytes(), hash.unwrap_or_default().as_bytes(), password] {
            digest.update((part.len() as u64).to_be_bytes());
            digest.update(part);
        }
        digest.finalize().into()
    }

    // The table is keyed by a hash under a secret key, so a look-up tells nothing about a password by its timing.
    fn is_remembered(&self, fingerprint: &[u8; 32]) -> bool {
        let mut remembered = self.remembered.lock();
        match remembered.get(fingerprint) {
            Some(until) if *until > Instant::now() => true,
            Some(_) => {
                remembered.remove(fingerprint);
                false
            }
            None => false,
        }
    }

    fn refuse_locked(&self, name: &str, from: IpAddr) -> Result<(), Problem> {
        let mut failures = self.failures.lock();
        let key = (name.to_owned(), from);
        let Some(found) = failures.get(&key) else { return Ok(()) };
        let since = found.last.elapsed();
        if since >= LOCKED {
            failures.remove(&key);
            return Ok(());
        }
        if found.in_row < WRONG_MAX {
            return Ok(());
        }
        let left = (LOCKED - since).as_secs() + 1;
        let detail = format!("locked for {left} s after {WRONG_MAX} wrong passwords");
        Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "locked", detail)
            .header(header::RETRY_AFTER, HeaderValue::from(left)))
    }

    fn count_failure(&self, name: &str, from: IpAddr) {
        let mut failures = self.failures.lock();
        let key = (name.to_owned(), from);
        let in_row = failures.get(&key).map_or(0, |f| f.in_row).saturating_add(1);
        insert_bounded(&mut failures, FAILURES_MAX, key, Failures { in_row, last: Instant::now() }, |f| f.last);
    }
}

/// Inserts; in a full table the oldest entry makes room.
fn insert_bounded<K: Eq + Hash + Clone, V>(
    table: &mut HashMap<K, V>,
    most: usize,
    key: K,
    value: V,
    age: impl Fn(&V) -> Instant,
) {
    if table.len() >= most && !table.contains_key(&key) {
        let oldest = table.iter().min_by_key(|(_, v)| age(v)).map(|(k, _)| k.clone());
        if let Some(oldest) = oldest {
            table.remove(&oldest);
        }
    }
    table.insert(key, value);
}

fn matches(password: &[u8], hash: &str) -> bool {
    match Phc::new(hash) {
        Ok(parsed) => Argon2::default().verify_password(password, &parsed).is_ok(),
        Err(_) => false,
    }
}

/// What an unknown name is checked against.
fn decoy() -> &'static str {
    static DECOY: OnceLock<String> = OnceLock::new();
    DECOY.get_or_init(|| hash_password(b"nobody has this name").unwrap_or_default())
}

fn gone(_: tokio::task::JoinError) -> Problem {
    Problem::busy("the password could not be checked; try again")
}

/// The hash itself; environment and files are read at each request, so that a changed secret counts at once. Paths are
/// relative to `folder`.
fn read_hash(hash: &PasswordHash, folder: &Path) -> Result<String, Problem> {
    let read = match hash {
        PasswordHash::Inline(hash) => return Ok(hash.to_string()),
        PasswordHash::From(Secret::Env(name)) => std::env::var(&**name).map_err(|e| e.to_string()),
        PasswordHash::From(Secret::File(path)) => {
            std::fs::read_to_string(folder.join(&**path)).map_err(|e| e.to_string())
        }
    };
    read.map(|text| text.trim().to_owned()).map_err(|error| {
        tracing::error!(%error, "the password hash of a user cannot be read");
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "secret_unreadable",
            "the password hash of this user cannot be read; the log says why",
        )
    })
}

/// Keyed by the operating system's randomness.
fn random_key() -> [u8; 32] {
    use std::hash::{BuildHasher, RandomState};
    let mut digest = Sha256::new();
    // A salt is 16 bytes from the operating system; the hasher's key is 16 more.
    digest.update(argon2::password_hash::generate_salt());
    digest.update(RandomState::new().hash_one(0u8).to_be_bytes());
    digest.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    /// Argon2 with the smallest costs, so that the tests are quick.
    fn cheap(password: &[u8]) -> PasswordHash {
        let params = argon2::Params::new(8, 1, 1, None).unwrap();
        let cheap = Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, params);
        let hash: Phc = cheap.hash_password(password).unwrap();
        PasswordHash::Inline(hash.to_string().into())
    }

    async fn status(verifier: &Verifier, from: IpAddr, password: &str) -> u16 {
        let hash = Some(cheap(b"right"));
        let answer = verifier.verify(from, "ops", password.into(), hash).await;
        answer.map_or_else(|p| p.status.as_u16(), |()| 200)
    }

    #[tokio::test]
    async fn ten_wrong_passwords_close_the_door_for_one_name_from_one_address() {
        let verifier = Verifier::new();
        for _ in 0..WRONG_MAX {
            assert_eq!(status(&verifier, HERE, "wrong").await, 401);
        }
        assert_eq!(status(&verifier, HERE, "right").await, 429);
        assert_eq!(status(&verifier, THERE, "right").await, 200);
    }

    #[tokio::test]
    async fn a_right_password_forgives_the_wrong_ones_before_it() {
        let verifier = Verifier::new();
        for _ in 0..WRONG_MAX - 1 {
            assert_eq!(status(&verifier, HERE, "wrong").await, 401);
        }
        assert_eq!(status(&verifier, HERE, "right").await, 200);
        assert!(verifier.failures.lock().is_empty());
    }

    #[tokio::test]
    async fn a_remembered_password_is_forgotten_with_the_hash_it_belongs_to() {
        let verifier = Verifier::new();
        let (old, new) = (cheap(b"right"), cheap(b"changed"));
        assert!(verifier.verify(HERE, "ops", b"right".to_vec(), Some(old.clone())).await.is_ok());
        assert_eq!(verifier.remembered.lock().len(), 1);
        assert!(verifier.verify(HERE, "ops", b"right".to_vec(), Some(old)).await.is_ok());
        assert!(verifier.verify(HERE, "ops", b"right".to_vec(), Some(new)).await.is_err());
    }

    #[tokio::test]
    async fn a_file_of_a_hash_is_named_relative_to_the_configuration() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("ops.hash"), hash_password(b"s3cret").unwrap()).unwrap();
        let verifier = Verifier::new();
        verifier.folder.set(dir.path().to_owned()).unwrap();
        let beside = PasswordHash::From(Secret::File("ops.hash".into()));
        assert!(verifier.verify(HERE, "ops", b"s3cret".to_vec(), Some(beside)).await.is_ok());
    }

    #[tokio::test]
    async fn a_secret_that_cannot_be_read_is_our_fault_and_not_the_callers() {
        let nowhere = PasswordHash::From(Secret::File("/nonexistent/hash".into()));
        let problem = Verifier::new().verify(HERE, "ops", b"x".to_vec(), Some(nowhere)).await.unwrap_err();
        assert_eq!(problem.status, 500);
    }

    #[test]
    fn tables_stay_bounded() {
        let mut table = HashMap::new();
        let start = Instant::now();
        for n in 0..10u32 {
            insert_bounded(&mut table, 3, n, start + Duration::from_secs(u64::from(n)), |at| *at);
        }
        let mut kept: Vec<u32> = table.into_keys().collect();
        kept.sort_unstable();
        assert_eq!(kept, [7, 8, 9]);
    }
}
