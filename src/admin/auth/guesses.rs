//! Passwords that are being looked at: whoever is locked out gets no turn, however many they ask for at once.

use std::sync::Arc;
use std::time::Duration;

use axum::http::{HeaderValue, StatusCode, header};
use parking_lot::Mutex;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use super::super::problem::Problem;
use super::lockout::{Counted, Held, Locked, Lockout, Who};

/// How long a password may wait to be looked at.
const TURN_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Default)]
pub(crate) struct Guesses {
    lockout: Mutex<Lockout>,
    /// A guess has ended.
    ended: Notify,
}

/// A password that is being looked at, until it is known what it is, or nobody waits for it any more.
pub(super) struct Guess<'a> {
    guesses: &'a Guesses,
    who: Who,
}

// === impl Guesses ===

impl Guesses {
    /// Waits for a turn of `turns` and for what else is being looked at of the same name and network. The answer is that of
    /// the moment in which the turn has come. Errors: 429 `locked`; 503, it takes too long.
    pub(super) async fn begin(
        &self,
        turns: &Arc<Semaphore>,
        who: Who,
    ) -> Result<(Guess<'_>, OwnedSemaphorePermit), Problem> {
        // Whoever is locked out does not even wait.
        self.lockout.lock().check(Instant::now(), &who).map_err(locked)?;
        let busy = || Problem::busy("too many passwords are being checked; try again");
        let turn = async {
            loop {
                let ended = self.ended.notified();
                let turn = Arc::clone(turns).acquire_owned().await.map_err(|_| busy())?;
                let begun = self.lockout.lock().begin(Instant::now(), &who);
                match begun {
                    Ok(()) => return Ok(turn),
                    Err(Held::Locked(left)) => return Err(locked(left)),
                    Err(Held::UnderWay) => drop(turn),
                }
                ended.await;
            }
        };
        let turn = tokio::time::timeout(TURN_TIMEOUT, turn).await.unwrap_or_else(|_| Err(busy()))?;
        Ok((Guess { guesses: self, who }, turn))
    }

    /// Whoever has typed wrong passwords that still count, by name.
    pub fn counted(&self) -> Vec<Counted> {
        self.lockout.lock().counted(Instant::now())
    }

    /// Forgives a name everywhere; from how many networks it was locked.
    pub fn lift(&self, name: &str) -> usize {
        self.lockout.lock().lift(Instant::now(), name)
    }
}

// === impl Guess ===

impl Guess<'_> {
    pub fn right(self) {
        self.guesses.lockout.lock().right(Instant::now(), &self.who);
    }

    /// Says what it is answered with.
    pub fn wrong(self) -> Problem {
        self.guesses.lockout.lock().wrong(Instant::now(), &self.who).map_or_else(wrong, locked)
    }
}

impl Drop for Guess<'_> {
    fn drop(&mut self) {
        self.guesses.lockout.lock().end(&self.who);
        self.guesses.ended.notify_waiters();
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

#[cfg(test)]
mod tests {
    use super::*;

    fn who() -> Who {
        Who::new("ops", std::net::IpAddr::from([192, 0, 2, 1]), [0; 32])
    }

    #[tokio::test(start_paused = true)]
    async fn of_eighty_who_ask_at_once_ten_are_looked_at() {
        let (guesses, turns) = (Arc::new(Guesses::default()), Arc::new(Semaphore::new(2)));
        let asking = (0..80).map(|_| {
            let (guesses, turns) = (Arc::clone(&guesses), Arc::clone(&turns));
            tokio::spawn(async move {
                let (guess, _turn) = guesses.begin(&turns, who()).await.map_err(|problem| problem.status.as_u16())?;
                tokio::time::sleep(Duration::from_millis(10)).await;
                guess.wrong();
                Ok::<_, u16>(())
            })
        });
        let mut answers = Vec::new();
        for asked in asking.collect::<Vec<_>>() {
            answers.push(asked.await.unwrap());
        }
        assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 10);
        assert_eq!(answers.iter().filter(|answer| **answer == Err(429)).count(), 70);
    }

    #[tokio::test(start_paused = true)]
    async fn who_goes_away_leaves_their_place() {
        let (guesses, turns) = (Guesses::default(), Arc::new(Semaphore::new(16)));
        let mut held = Vec::new();
        for _ in 0..10 {
            held.push(guesses.begin(&turns, who()).await.map_err(|problem| problem.status).unwrap());
        }
        let late = guesses.begin(&turns, who()).await.map(|_| ()).map_err(|problem| problem.status.as_u16());
        assert_eq!(late, Err(503));
        held.clear();
        assert!(guesses.begin(&turns, who()).await.is_ok());
    }
}
