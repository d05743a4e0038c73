//! Passwords against argon2 hashes.
//!
//! A hash costs tens of milliseconds and megabytes on purpose, which makes the check itself a way to overload the box.
//! So: two checks at a time on blocking threads, a right password is remembered for a minute under a keyed hash (the
//! password itself is not kept), and whoever guesses is locked out ([`Lockout`]). An unknown name costs as much time as a
//! known one.

use std::collections::HashMap;
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
use super::lockout::{Locked, Lockout, insert_bounded};
use crate::model::PasswordHash;
use crate::model::scenario::Secret;

/// How long a right password is remembered.
const REMEMBER: Duration = Duration::from_secs(60);
const REMEMBERED_MAX: usize = 1_024;
/// Checks at a time; each takes 19 MiB with argon2's defaults.
const CHECKS_AT_ONCE: usize = 2;
/// How long a check may wait for its turn.
const TURN_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Verifier {
    /// Keys the hashes under which right passwords are remembered.
    key: [u8; 32],
    remembered: Mutex<HashMap<[u8; 32], Instant>>,
    lockout: Mutex<Lockout>,
    turns: Arc<Semaphore>,
    /// What files of hashes are relative to; the working directory until it is set.
    pub folder: OnceLock<PathBuf>,
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
            // Of no use to anybody where it fails: it is in no table that leaves this process.
            key: super::sessions::random().unwrap_or_default(),
            remembered: Mutex::new(HashMap::new()),
            lockout: Mutex::default(),
            turns: Arc::new(Semaphore::new(CHECKS_AT_ONCE)),
            folder: OnceLock::new(),
        }
    }

    /// The hash itself; environment and files are read anew each time, so that a changed secret counts at once.
    pub async fn read(&self, hash: &PasswordHash) -> Result<String, Problem> {
        if let PasswordHash::Inline(hash) = hash {
            return Ok(hash.to_string());
        }
        let (hash, folder) = (hash.clone(), self.folder.get().cloned().unwrap_or_default());
        tokio::task::spawn_blocking(move || read_hash(&hash, &folder)).await.map_err(gone)?
    }

    /// Whether `password` is `name`'s. `hash` `None`: no such user, refused after the same work.
    pub async fn verify(
        &self,
        from: IpAddr,
        name: &str,
        password: Vec<u8>,
        hash: Option<String>,
    ) -> Result<(), Problem> {
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
            self.count_right(name, from);
            let until = Instant::now() + REMEMBER;
            insert_bounded(&mut self.remembered.lock(), REMEMBERED_MAX, known, until, |until| *until);
            return Ok(());
        }
        Err(self.count_wrong(name, from))
    }

    /// Whether `name` may try a password from there now.
    pub fn refuse_locked(&self, name: &str, from: IpAddr) -> Result<(), Problem> {
        self.lockout.lock().check(Instant::now(), name, from).map_err(locked)
    }

    /// Counts a wrong password, and says what it is answered with.
    pub fn count_wrong(&self, name: &str, from: IpAddr) -> Problem {
        self.lockout.lock().wrong(Instant::now(), name, from).map_or_else(wrong, locked)
    }

    pub fn count_right(&self, name: &str, from: IpAddr) {
        self.lockout.lock().right(Instant::now(), name, from);
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
}

/// Says neither whether the name or the password is wrong.
pub(super) fn wrong() -> Problem {
    Problem::new(StatusCode::UNAUTHORIZED, "unauthorized", "wrong name or password")
}

fn locked(locked: Locked) -> Problem {
    Problem::new(StatusCode::TOO_MANY_REQUESTS, "locked", locked.to_string())
        .header(header::RETRY_AFTER, HeaderValue::from(locked.seconds()))
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

/// Paths are relative to `folder`.
fn read_hash(hash: &PasswordHash, folder: &Path) -> Result<String, Problem> {
    let read = match hash {
        PasswordHash::Inline(hash) => return Ok(hash.to_string()),
        PasswordHash::From(Secret::Env(name)) => std::env::var(&**name).map_err(|e| e.to_string()),
        PasswordHash::From(Secret::File(path)) => {
            std::fs::read_to_string(folder.join(&**path)).map_err(|e| e.to_string())
        }
    };
    read.map(|text| text.trim().to_owned()).map_err(|error| {
        tracing::error!(%error, "a secret of the management cannot be read");
        Problem::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "secret_unreadable",
            "what this login is checked with cannot be read; the log says why",
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);
    const THERE: IpAddr = IpAddr::V4(std::net::Ipv4Addr::new(192, 0, 2, 1));

    /// Argon2 with the smallest costs, so that the tests are quick.
    fn cheap(password: &[u8]) -> String {
        let params = argon2::Params::new(8, 1, 1, None).unwrap();
        let cheap = Argon2::new(argon2::Algorithm::Argon2id, argon2::Version::V0x13, params);
        let hash: Phc = cheap.hash_password(password).unwrap();
        hash.to_string()
    }

    async fn status(verifier: &Verifier, from: IpAddr, password: &str) -> u16 {
        let hash = Some(cheap(b"right"));
        let answer = verifier.verify(from, "ops", password.into(), hash).await;
        answer.map_or_else(|p| p.status.as_u16(), |()| 200)
    }

    #[tokio::test]
    async fn the_tenth_wrong_password_says_for_how_long_the_door_is_closed() {
        let verifier = Verifier::new();
        for _ in 0..9 {
            assert_eq!(status(&verifier, HERE, "wrong").await, 401);
        }
        let hash = Some(cheap(b"right"));
        let problem = verifier.verify(HERE, "ops", b"wrong".to_vec(), hash).await.unwrap_err();
        assert_eq!((problem.status.as_u16(), &*problem.detail), (429, "Locked for 5 min after 10 wrong passwords"));
        assert_eq!(problem.headers, [(header::RETRY_AFTER, HeaderValue::from(300))]);
        assert_eq!(status(&verifier, HERE, "right").await, 429);
        assert_eq!(status(&verifier, THERE, "right").await, 200);
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
        std::fs::write(dir.path().join("ops.hash"), "the hash\n").unwrap();
        let verifier = Verifier::new();
        verifier.folder.set(dir.path().to_owned()).unwrap();
        let beside = PasswordHash::From(Secret::File("ops.hash".into()));
        assert_eq!(verifier.read(&beside).await.unwrap(), "the hash");
    }

    #[tokio::test]
    async fn a_secret_that_cannot_be_read_is_our_fault_and_not_the_callers() {
        let nowhere = PasswordHash::From(Secret::File("/nonexistent/hash".into()));
        let problem = Verifier::new().read(&nowhere).await.unwrap_err();
        assert_eq!(problem.status, 500);
    }
}
