//! Places for client connections, and who gives way where all are taken.
//!
//! A connection takes one of a bounded number of places before it is accepted, so that what waits does so in the kernel.
//! Nobody may keep the others out by holding places for nothing: where a VIP finds none, idle connections are closed, the
//! oldest first of whichever client (an address, or a /64) has most of them; and datagrams, whose senders need not even
//! exist, have no more than a quarter of all places.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::model::ending::Reason;
use crate::snapshot::live::Connections;

/// Idle connections are looked for at most this often: it takes a look at every connection.
const AGAIN: Duration = Duration::from_millis(50);
/// Closed at once at least; else this part of all places.
const CLOSED_MIN: usize = 4;
const CLOSED_PART: usize = 64;
/// The part of all places that datagrams may have.
const DATAGRAMS_PART: usize = 4;
/// Sessions of datagrams that one VIP gives up for others within one look.
pub(crate) const GIVEN_UP_MOST: usize = 64;

pub(crate) struct Places {
    all: Arc<Semaphore>,
    datagrams: Arc<Semaphore>,
    count: usize,
    looked: Mutex<Option<Instant>>,
    /// Sessions of datagrams that found no place since.
    wanted: AtomicUsize,
}

/// One place, until it is dropped.
#[must_use = "the place is given back when it is dropped"]
pub(crate) struct Place {
    _of_all: OwnedSemaphorePermit,
    _of_datagrams: Option<OwnedSemaphorePermit>,
}

// === impl Places ===

impl Places {
    pub fn new(count: usize) -> Places {
        Places {
            all: Arc::new(Semaphore::new(count)),
            datagrams: Arc::new(Semaphore::new(count.div_ceil(DATAGRAMS_PART))),
            count,
            looked: Mutex::default(),
            wanted: AtomicUsize::new(0),
        }
    }

    /// A place for a connection. Waits for one, and sees to it that those who hold one for nothing give it up.
    pub async fn take(&self, open: impl Fn() -> Arc<Connections>) -> Place {
        if let Some(place) = self.try_take() {
            return place;
        }
        let freed = Arc::clone(&self.all).acquire_owned();
        tokio::pin!(freed);
        loop {
            self.make_room(&open());
            if let Ok(permit) = tokio::time::timeout(AGAIN, freed.as_mut()).await {
                return Place { _of_all: permit.expect("never closed"), _of_datagrams: None };
            }
        }
    }

    /// A place for a connection, if there is one.
    pub fn try_take(&self) -> Option<Place> {
        let permit = Arc::clone(&self.all).try_acquire_owned().ok()?;
        Some(Place { _of_all: permit, _of_datagrams: None })
    }

    /// A place for a session of datagrams, if there is one. Where connections hold all, the idle ones are closed for the
    /// next that asks.
    pub fn try_take_for_datagrams(&self, open: impl Fn() -> Arc<Connections>) -> Option<Place> {
        let share = Arc::clone(&self.datagrams).try_acquire_owned().ok()?;
        let Some(mut place) = self.try_take() else {
            self.make_room(&open());
            return None;
        };
        place._of_datagrams = Some(share);
        Some(place)
    }

    /// A VIP has found no place for a session of datagrams, and has none of its own to give up.
    pub fn want(&self) {
        let more = |wanted: usize| (wanted < GIVEN_UP_MOST).then_some(wanted + 1);
        let _ = self.wanted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
    }

    /// Whether a VIP with so many sessions is to give one up for another VIP: it has more than an eighth of what
    /// datagrams may have. Counts it as given up.
    pub fn gives_up(&self, sessions: usize) -> bool {
        let less = |wanted: usize| wanted.checked_sub(1);
        sessions * 8 > self.count.div_ceil(DATAGRAMS_PART)
            && self.wanted.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    fn make_room(&self, open: &Connections) {
        let now = Instant::now();
        {
            let mut looked = self.looked.lock();
            if looked.is_some_and(|at| now < at + AGAIN) {
                return;
            }
            *looked = Some(now);
        }
        for connection in open.idle_of_the_heaviest((self.count / CLOSED_PART).max(CLOSED_MIN)) {
            connection.cut(Reason::TooManyConnections);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::SocketAddr;

    use super::*;
    use crate::snapshot::live::{Connection, VserverLive};

    fn enter(table: &Arc<Connections>, client: &str) -> Arc<Connection> {
        let client: SocketAddr = client.parse().unwrap();
        table.enter(client, "web".into(), Arc::new(VserverLive::default()), std::time::Instant::now())
    }

    #[tokio::test(start_paused = true)]
    async fn who_comes_when_all_places_are_taken_gets_the_one_of_an_idle_connection() {
        let (places, table) = (Places::new(6), Arc::<Connections>::default());
        let mut held = Vec::new();
        for port in 1..=6 {
            let place = places.take(|| Arc::clone(&table)).await;
            held.push((enter(&table, &format!("192.0.2.1:{port}")), place));
        }
        // As whoever carries an idle connection does.
        tokio::spawn(async move {
            loop {
                held.retain(|(connection, _)| connection.cut_for().is_none());
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
        let _first = places.take(|| Arc::clone(&table)).await;
        let left: Vec<u16> = table.list().iter().map(|c| c.peer.port()).collect();
        assert_eq!(left, [5, 6], "the oldest go, some more than one so that the next need not wait");
        let _next = places.take(|| Arc::clone(&table)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn a_connection_at_work_is_never_closed_for_another() {
        let (places, table) = (Places::new(1), Arc::<Connections>::default());
        let place = places.take(|| Arc::clone(&table)).await;
        let connection = enter(&table, "192.0.2.1:1");
        connection.begin();
        let waits = tokio::time::timeout(Duration::from_secs(60), places.take(|| Arc::clone(&table))).await;
        assert!(waits.is_err() && connection.cut_for().is_none());
        drop(place);
        let _taken = places.take(|| Arc::clone(&table)).await;
    }

    #[tokio::test]
    async fn datagrams_have_a_quarter_of_the_places_and_leave_the_rest_to_connections() {
        for count in [4, 12, 100] {
            let (places, table) = (Places::new(count), Arc::<Connections>::default());
            let sessions: Vec<Place> =
                std::iter::from_fn(|| places.try_take_for_datagrams(|| Arc::clone(&table))).collect();
            assert_eq!(sessions.len(), count.div_ceil(4));
            let connections: Vec<Place> = std::iter::from_fn(|| places.try_take()).collect();
            assert_eq!(connections.len(), count - sessions.len());
            drop(sessions);
            assert!(places.try_take_for_datagrams(|| Arc::clone(&table)).is_some());
        }
    }

    #[test]
    fn a_vip_with_many_sessions_gives_up_as_many_as_others_wanted_and_one_with_few_gives_up_none() {
        let places = Places::new(64);
        assert!(!places.gives_up(16), "nobody wants any");
        places.want();
        places.want();
        assert!(!places.gives_up(2));
        assert_eq!([places.gives_up(16), places.gives_up(15), places.gives_up(14)], [true, true, false]);
        (0..10 * GIVEN_UP_MOST).for_each(|_| places.want());
        assert_eq!((0..10 * GIVEN_UP_MOST).filter(|_| places.gives_up(16)).count(), GIVEN_UP_MOST);
    }
}
