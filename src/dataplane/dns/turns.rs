//! Turns at what takes long: how many there are at a time, in all and for each other end, so that slow ones do not hold up
//! the rest.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// At a time.
const TURNS: usize = 8;
/// Of those, of one other end.
const OF_ONE_MOST: usize = 2;

/// `K`: the other end. Cheap to clone.
#[derive(Clone)]
pub(super) struct Turns<K> {
    all: Arc<Semaphore>,
    by_end: Arc<Mutex<HashMap<K, Weak<Semaphore>>>>,
}

/// Until it is dropped.
pub(super) struct Turn {
    _of_all: Option<OwnedSemaphorePermit>,
    _of_end: Option<OwnedSemaphorePermit>,
    /// So that others that wait for the same end find it.
    _end: Arc<Semaphore>,
}

// === impl Turns ===

impl<K> Default for Turns<K> {
    fn default() -> Turns<K> {
        Turns { all: Arc::new(Semaphore::new(TURNS)), by_end: Arc::default() }
    }
}

impl<K: Eq + Hash> Turns<K> {
    /// Waits for a turn; who waits for the same end gets it in the order of asking. Nobody holds a turn of all while waiting
    /// for one of an end.
    pub async fn take(&self, end: K) -> Turn {
        let of_end = self.of(end);
        let own = Arc::clone(&of_end).acquire_owned().await.ok();
        let all = Arc::clone(&self.all).acquire_owned().await.ok();
        Turn { _of_all: all, _of_end: own, _end: of_end }
    }

    /// A turn, if there is one now.
    pub fn try_take(&self, end: K) -> Option<Turn> {
        let of_end = self.of(end);
        let own = Arc::clone(&of_end).try_acquire_owned().ok()?;
        let all = Arc::clone(&self.all).try_acquire_owned().ok()?;
        Some(Turn { _of_all: Some(all), _of_end: Some(own), _end: of_end })
    }

    fn of(&self, end: K) -> Arc<Semaphore> {
        let mut by_end = self.by_end.lock();
        if let Some(known) = by_end.get(&end).and_then(Weak::upgrade) {
            return known;
        }
        by_end.retain(|_, semaphore| semaphore.strong_count() > 0);
        let new = Arc::new(Semaphore::new(OF_ONE_MOST));
        by_end.insert(end, Arc::downgrade(&new));
        new
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    async fn try_take(turns: &Turns<u16>, end: u16) -> Option<Turn> {
        tokio::time::timeout(Duration::from_secs(1), turns.take(end)).await.ok()
    }

    #[tokio::test(start_paused = true)]
    async fn one_end_has_two_turns_however_often_it_asks_and_there_are_eight_in_all() {
        let turns = Turns::<u16>::default();
        let slow = [try_take(&turns, 1).await.unwrap(), try_take(&turns, 1).await.unwrap()];
        assert!(try_take(&turns, 1).await.is_none());
        let mut others = Vec::new();
        for end in 2..8 {
            others.push(try_take(&turns, end).await.expect("others are not held up"));
        }
        assert!(turns.try_take(8).is_none() && try_take(&turns, 8).await.is_none(), "eight are taken");
        drop(slow);
        assert!(try_take(&turns, 1).await.is_some());
        drop(others);
        turns.of(9);
        assert_eq!(turns.by_end.lock().len(), 1, "who is not asked is forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn who_gives_up_waiting_holds_nothing() {
        let turns = Turns::<u16>::default();
        let held = [turns.take(1).await, turns.take(1).await];
        for _ in 0..20 {
            assert!(try_take(&turns, 1).await.is_none());
        }
        drop(held);
        let _again = [try_take(&turns, 1).await.unwrap(), try_take(&turns, 1).await.unwrap()];
    }
}
