//! Turns: how many primaries are asked at a time, in all and each, so that slow ones do not hold up the zones of others.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Primaries that are asked at a time.
const TURNS: usize = 8;
/// Of those, for zones of one primary.
const OF_ONE_MOST: usize = 2;

/// Shared by all zones. Cheap to clone.
#[derive(Clone)]
pub struct Turns {
    all: Arc<Semaphore>,
    by_primary: Arc<Mutex<HashMap<SocketAddr, Weak<Semaphore>>>>,
}

/// Until it is dropped.
pub struct Turn {
    _of_all: Option<OwnedSemaphorePermit>,
    _of_primary: Option<OwnedSemaphorePermit>,
    /// So that others that wait for the same primary find it.
    _primary: Arc<Semaphore>,
}

// === impl Turns ===

impl Default for Turns {
    fn default() -> Turns {
        Turns { all: Arc::new(Semaphore::new(TURNS)), by_primary: Arc::default() }
    }
}

impl Turns {
    /// Waits for a turn; who waits for the same primary gets it in the order of asking. Nobody holds a turn of all while
    /// waiting for one of a primary.
    pub async fn take(&self, primary: SocketAddr) -> Turn {
        let of_primary = self.of(primary);
        let own = Arc::clone(&of_primary).acquire_owned().await.ok();
        let all = Arc::clone(&self.all).acquire_owned().await.ok();
        Turn { _of_all: all, _of_primary: own, _primary: of_primary }
    }

    fn of(&self, primary: SocketAddr) -> Arc<Semaphore> {
        let mut by_primary = self.by_primary.lock();
        if let Some(known) = by_primary.get(&primary).and_then(Weak::upgrade) {
            return known;
        }
        by_primary.retain(|_, semaphore| semaphore.strong_count() > 0);
        let new = Arc::new(Semaphore::new(OF_ONE_MOST));
        by_primary.insert(primary, Arc::downgrade(&new));
        new
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn primary(port: u16) -> SocketAddr {
        SocketAddr::from(([192, 0, 2, 1], port))
    }

    async fn try_take(turns: &Turns, port: u16) -> Option<Turn> {
        tokio::time::timeout(Duration::from_secs(1), turns.take(primary(port))).await.ok()
    }

    #[tokio::test(start_paused = true)]
    async fn a_primary_has_two_turns_however_many_zones_it_has_and_there_are_eight_in_all() {
        let turns = Turns::default();
        let slow = [try_take(&turns, 1).await.unwrap(), try_take(&turns, 1).await.unwrap()];
        assert!(try_take(&turns, 1).await.is_none());
        let mut others = Vec::new();
        for port in 2..8 {
            others.push(try_take(&turns, port).await.expect("others are not held up"));
        }
        assert!(try_take(&turns, 8).await.is_none(), "eight are taken");
        drop(slow);
        assert!(try_take(&turns, 1).await.is_some());
        drop(others);
        turns.of(primary(9));
        assert_eq!(turns.by_primary.lock().len(), 1, "who is not asked is forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_waiting_holds_nothing() {
        let turns = Turns::default();
        let held = [turns.take(primary(1)).await, turns.take(primary(1)).await];
        for _ in 0..20 {
            assert!(try_take(&turns, 1).await.is_none());
        }
        drop(held);
        let _again = [try_take(&turns, 1).await.unwrap(), try_take(&turns, 1).await.unwrap()];
    }
}
