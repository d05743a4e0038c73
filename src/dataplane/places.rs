//! Places for client connections, and who gives way where all are taken.
//!
//! A connection takes one of a bounded number of places before it is accepted, so that what waits does so in the kernel.
//! Nobody may keep the others out by holding places for nothing: where a VIP finds none, idle connections are closed, the
//! oldest first of whichever client (an address, or a /64) has most of them; and datagrams, whose senders need not even
//! exist, have no more than a quarter of all places.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

use crate::model::ending::Reason;
use crate::snapshot::live::{Connection, Connections};

/// Pause after a look for idle connections that found few, for each place: a look at a connection takes about as long.
/// 60 µs where there are 119 places, 50 ms where there are 100 000.
const PAUSE_PER_PLACE: Duration = Duration::from_nanos(500);
/// Closed at once at least; else this part of all places. A look that finds so many needs no pause: it has cost as much as
/// 64 looks at a connection for each place that it frees, some 20 µs, about what it takes to accept the one who comes. So
/// tens of thousands a second get a place, and the last of a whole backlog (4096) waits for a fraction of a second.
const CLOSED_MIN: usize = 4;
const CLOSED_PART: usize = 64;
/// Time for those that were closed to be gone, before others are.
const LEAVE_LIMIT: Duration = Duration::from_millis(50);
/// The part of all places that datagrams may have.
const DATAGRAMS_PART: usize = 4;
/// Sessions of datagrams that one VIP gives up for others within one look.
pub(crate) const GIVEN_UP_MOST: usize = 64;

pub(crate) struct Places {
    all: Arc<Semaphore>,
    datagrams: Arc<Semaphore>,
    count: usize,
    /// Of the longest pause.
    pause: Duration,
    looked: Mutex<Looked>,
    /// Sessions of datagrams that found no place since.
    wanted: AtomicUsize,
}

/// The last look for idle connections.
#[derive(Default)]
struct Looked {
    at: Option<Instant>,
    /// It found as many as it may close: those. Before they are gone there is no need for more.
    leaving: Vec<Weak<Connection>>,
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
            pause: PAUSE_PER_PLACE * u32::try_from(count).unwrap_or(u32::MAX),
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
            if let Ok(permit) = tokio::time::timeout(self.pause, freed.as_mut()).await {
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
        let most = (self.count / CLOSED_PART).max(CLOSED_MIN);
        // Who else comes meanwhile finds that somebody looks.
        let Some(mut looked) = self.looked.try_lock() else { return };
        let pause = if looked.leaving.is_empty() { self.pause } else { LEAVE_LIMIT };
        if looked.at.is_some_and(|at| now < at + pause) && !looked.are_gone() {
            return;
        }
        let idle = open.idle_of_the_heaviest(most);
        looked.at = Some(now);
        looked.leaving.clear();
        if idle.len() == most {
            looked.leaving.extend(idle.iter().map(Arc::downgrade));
        }
        drop(looked);
        for connection in idle {
            connection.cut(Reason::TooManyConnections);
        }
    }
}

// === impl Looked ===

impl Looked {
    /// It found enough, and all of them are gone.
    fn are_gone(&self) -> bool {
        !self.leaving.is_empty() && self.leaving.iter().all(|connection| connection.strong_count() == 0)
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
    async fn a_newcomer_behind_a_backlog_of_silent_ones_waits_for_no_pause() {
        let (places, table) = (Arc::new(Places::new(119)), Arc::<Connections>::default());
        let open = || Arc::clone(&table);
        let began = Instant::now();
        for silent in 0..4096_u16 {
            let place = places.take(open).await;
            let connection = enter(&table, &format!("192.0.2.1:{silent}"));
            // As whoever carries it does.
            tokio::spawn(async move {
                connection.when_cut().await;
                drop((connection, place));
            });
            tokio::task::yield_now().await;
        }
        let _newcomer = places.take(open).await;
        assert!(began.elapsed() < Duration::from_millis(100), "{:?}", began.elapsed());
        assert!(table.list().len() > 119 - 2 * CLOSED_MIN, "no more are closed than come");
    }

    #[tokio::test(start_paused = true)]
    async fn while_those_leave_that_were_cut_no_more_are() {
        let (places, table) = (Places::new(64), Arc::<Connections>::default());
        let mut held = Vec::new();
        for port in 0..64 {
            held.push((enter(&table, &format!("192.0.2.1:{port}")), places.try_take().unwrap()));
        }
        let cut = |held: &[(Arc<Connection>, Place)]| held.iter().filter(|(c, _)| c.cut_for().is_some()).count();
        for _ in 0..10 {
            assert!(places.try_take_for_datagrams(|| Arc::clone(&table)).is_none());
        }
        assert_eq!(cut(&held), CLOSED_MIN);
        held.retain(|(connection, _)| connection.cut_for().is_none());
        let taken: Vec<Place> = std::iter::from_fn(|| places.try_take()).collect();
        assert_eq!(taken.len(), CLOSED_MIN);
        assert!(places.try_take_for_datagrams(|| Arc::clone(&table)).is_none());
        assert_eq!(cut(&held), CLOSED_MIN, "those are gone, and all places are taken again");
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
