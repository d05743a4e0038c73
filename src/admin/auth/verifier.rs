//! Passwords against argon2 hashes.
//!
//! A hash costs tens of milliseconds and megabytes on purpose, which makes the check itself a way to overload the box.
//! So: two checks at a time on blocking threads, a right password is remembered for a minute under a keyed hash (the
//! password itself is not kept), and whoever guesses is locked out ([`Guesses`]). An unknown name costs as much time as a
//! known one.

use std::collections::HashMap;
use std::io::Read as _;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use argon2::Argon2;
use argon2::password_hash::phc::PasswordHash as Phc;
use argon2::password_hash::{PasswordHasher, PasswordVerifier};
use axum::http::StatusCode;
use parking_lot::Mutex;
use sha2::{Digest, Sha256};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::super::problem::Problem;
use super::guesses::Guesses;
use super::lockout::{Who, insert_bounded};
use super::sessions::Hash;
use crate::model::PasswordHash;
use crate::model::scenario::Secret;

/// How long a right password is remembered.
const REMEMBER: Duration = Duration::from_secs(60);
const REMEMBERED_MAX: usize = 1_024;
/// Longest secret of a file. Bytes.
const SECRET_MAX: u64 = 64 << 10;
/// Checks at a time; each takes 19 MiB with argon2's defaults.
const CHECKS_AT_ONCE: usize = 2;

#[derive(Debug)]
pub(crate) struct Verifier {
    /// Keys the hashes under which right passwords are remembered.
    key: [u8; 32],
    remembered: Mutex<HashMap<[u8; 32], Instant>>,
    pub guesses: Guesses,
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
            guesses: Guesses::default(),
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
        let who = self.who(name, from, hash.as_deref());
        let (guess, turn) = self.guesses.begin(&self.turns, who).await?;
        // Somebody may have asked the same meanwhile.
        if self.is_remembered(&known) {
            return Ok(());
        }
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
        if !right.await.map_err(gone)? {
            return Err(guess.wrong());
        }
        let until = Instant::now() + REMEMBER;
        insert_bounded(&mut self.remembered.lock(), REMEMBERED_MAX, known, until, |until| *until);
        guess.right();
        Ok(())
    }

    /// The work of a check, for nothing.
    pub async fn work_as_for_a_name(&self) {
        let Ok(turn) = Arc::clone(&self.turns).acquire_owned().await else { return };
        let work = tokio::task::spawn_blocking(move || {
            let _turn = turn;
            matches(b"nobody", decoy())
        });
        let _ = work.await;
    }

    /// Who tries a password against `hash`; `None`: against none of ours.
    pub(super) fn who(&self, name: &str, from: IpAddr, hash: Option<&str>) -> Who {
        Who::new(name, from, self.fingerprint(name, b"", hash))
    }

    fn fingerprint(&self, name: &str, password: &[u8], hash: Option<&str>) -> Hash {
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
        PasswordHash::From(Secret::File(path)) => read_file(&folder.join(&**path)),
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

/// A pipe that nobody writes into would hold a thread for each login.
fn read_file(path: &Path) -> Result<String, String> {
    if !std::fs::metadata(path).map_err(|e| e.to_string())?.is_file() {
        return Err("it is no regular file".to_owned());
    }
    let mut text = String::new();
    let file = std::fs::File::open(path).map_err(|e| e.to_string())?;
    file.take(SECRET_MAX).read_to_string(&mut text).map_err(|e| e.to_string())?;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;
    use axum::http::header::RETRY_AFTER;

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

    async fn status(verifier: &Verifier, from: IpAddr, password: &str, hash: &str) -> u16 {
        let answer = verifier.verify(from, "ops", password.into(), Some(hash.to_owned())).await;
        answer.map_or_else(|p| p.status.as_u16(), |()| 200)
    }

    #[tokio::test]
    async fn the_tenth_wrong_password_says_for_how_long_the_door_is_closed() {
        let (verifier, hash) = (Verifier::new(), cheap(b"right"));
        for _ in 0..9 {
            assert_eq!(status(&verifier, HERE, "wrong", &hash).await, 401);
        }
        let problem = verifier.verify(HERE, "ops", b"wrong".to_vec(), Some(hash.clone())).await.unwrap_err();
        assert_eq!((problem.status.as_u16(), &*problem.detail), (429, "Locked for 5 min after 10 wrong passwords"));
        assert_eq!(problem.headers, [(RETRY_AFTER, HeaderValue::from(300))]);
        assert_eq!(status(&verifier, HERE, "right", &hash).await, 429);
        assert_eq!(status(&verifier, THERE, "right", &hash).await, 200);
        let another = cheap(b"another");
        assert_eq!(status(&verifier, HERE, "another", &another).await, 200, "a new password is another door");
    }

    #[tokio::test]
    async fn a_right_password_behind_many_wrong_ones_at_once_is_not_looked_at() {
        let (verifier, hash) = (Verifier::new(), cheap(b"right"));
        let guess = |n: usize| {
            let password = if n == 79 { "right".to_owned() } else { format!("wrong{n}") };
            let (verifier, hash) = (&verifier, &hash);
            async move { status(verifier, HERE, &password, hash).await }
        };
        let answers = futures_util::future::join_all((0..80).map(guess)).await;
        let told = |status: u16| answers.iter().filter(|answer| **answer == status).count();
        assert_eq!((told(401), told(429), told(200)), (9, 71, 0), "the tenth is told the lock");
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
