//! Who is connected to this box's end of the link, who gives way where too many are, and how many were refused.
//!
//! Whoever connects is a stranger until the handshake has shown which peer it is. A newcomer always gets a place: where its
//! client (an address, or a /64 of IPv6) has too many, the oldest of these gives way, and where there are too many in all
//! the oldest of whichever client has most. So nobody can keep peers out by holding places for nothing, and one client
//! drives out its own alone. Peers have places apart from strangers, a few for each, where again the oldest gives way: the
//! peer itself has left it, or it is broken.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::model::id::Name;
use crate::model::net::Network;

/// Strangers at once, and of one client.
const STRANGERS_MOST: usize = 256;
const OF_CLIENT_MOST: usize = 16;
/// Connections of one peer.
const OF_PEER_MOST: usize = 4;
/// Between two log lines about boxes that are refused.
const LOG_EVERY: Duration = Duration::from_secs(10);

#[derive(Clone, Default)]
pub(super) struct Places(Arc<Mutex<Table>>);

/// A connection, until it is dropped.
pub(super) struct Place {
    table: Places,
    id: u64,
    is_peer: AtomicBool,
    given_up: Arc<Notify>,
}

#[derive(Default)]
struct Table {
    next: u64,
    /// The oldest first.
    open: BTreeMap<u64, Entry>,
}

struct Entry {
    who: Who,
    given_up: Arc<Notify>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Who {
    Stranger(IpAddr),
    Peer(Name),
}

/// Boxes that were refused and are not told yet, and when one was last logged.
#[derive(Default)]
pub(super) struct Refusals {
    untold: u64,
    logged: Option<Instant>,
    unlogged: u64,
}

// === impl Places ===

impl Places {
    /// A place for whoever comes from this address.
    pub fn enter(&self, from: IpAddr) -> Place {
        let who = Who::Stranger(Network::of_client(from));
        let given_up = Arc::new(Notify::new());
        let mut table = self.0.lock();
        let id = table.next;
        table.next += 1;
        table.open.insert(id, Entry { who: who.clone(), given_up: Arc::clone(&given_up) });
        table.make_room(&who);
        Place { table: self.clone(), id, is_peer: AtomicBool::new(false), given_up }
    }
}

// === impl Table ===

impl Table {
    /// For the one of these that has just come.
    fn make_room(&mut self, who: &Who) {
        let most = match who {
            Who::Stranger(_) => OF_CLIENT_MOST,
            Who::Peer(_) => OF_PEER_MOST,
        };
        if self.of(who).count() > most {
            let oldest = self.of(who).next();
            self.give_up(oldest);
        }
        let mut strangers: HashMap<&Who, (usize, u64)> = HashMap::new();
        let mut count = 0;
        for (id, entry) in self.open.iter().filter(|(_, entry)| matches!(entry.who, Who::Stranger(_))) {
            strangers.entry(&entry.who).or_insert((0, *id)).0 += 1;
            count += 1;
        }
        if count > STRANGERS_MOST {
            // Of clients that are level, the one with the oldest.
            let heaviest = strangers.values().max_by_key(|(own, oldest)| (*own, std::cmp::Reverse(*oldest)));
            let oldest = heaviest.map(|(_, oldest)| *oldest);
            self.give_up(oldest);
        }
    }

    fn of(&self, who: &Who) -> impl Iterator<Item = u64> {
        self.open.iter().filter(move |(_, entry)| entry.who == *who).map(|(id, _)| *id)
    }

    fn give_up(&mut self, id: Option<u64>) {
        if let Some(entry) = id.and_then(|id| self.open.remove(&id)) {
            entry.given_up.notify_one();
        }
    }
}

// === impl Place ===

impl Place {
    /// The handshake has shown that it is this peer.
    pub fn is_of(&self, peer: &Name) {
        self.is_peer.store(true, Ordering::Relaxed);
        let who = Who::Peer(Name::clone(peer));
        let mut table = self.table.0.lock();
        if let Some(entry) = table.open.get_mut(&self.id) {
            entry.who = who.clone();
            table.make_room(&who);
        }
    }

    /// Returns when it is to give way, and the connection is to end; why that is a refusal, where it is one.
    pub async fn when_given_up(&self) -> Option<&'static str> {
        self.given_up.notified().await;
        (!self.is_peer.load(Ordering::Relaxed)).then_some("it holds a place for nothing, and another needs it")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.table.0.lock().open.remove(&self.id);
    }
}

// === impl Refusals ===

impl Refusals {
    /// Counts one. `Some`: it is to be logged, with how many were not since the last one that was.
    pub fn one_more(&mut self, now: Instant) -> Option<u64> {
        self.untold += 1;
        if self.logged.is_some_and(|at| now.duration_since(at) < LOG_EVERY) {
            self.unlogged += 1;
            return None;
        }
        self.logged = Some(now);
        Some(std::mem::take(&mut self.unlogged))
    }

    /// Those that are not told yet; they are by now.
    pub fn take(&mut self) -> u64 {
        std::mem::take(&mut self.untold)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_given_up(place: &Place) -> bool {
        !place.table.0.lock().open.contains_key(&place.id)
    }

    fn enter(places: &Places, from: &str) -> Place {
        places.enter(from.parse().unwrap())
    }

    fn given_up(all: &[Place]) -> Vec<usize> {
        (0..all.len()).filter(|at| is_given_up(&all[*at])).collect()
    }

    #[test]
    fn a_client_drives_out_its_own_alone_whichever_address_of_its_64_it_takes() {
        let places = Places::default();
        let other = enter(&places, "2001:db8:1::1");
        let own: Vec<Place> = (0..20).map(|n| enter(&places, &format!("2001:db8::{n}"))).collect();
        assert_eq!(given_up(&own), [0, 1, 2, 3], "the oldest");
        assert!(!is_given_up(&other));
        let mapped: Vec<Place> =
            ["192.0.2.1", "::ffff:192.0.2.1"].repeat(9).iter().map(|a| enter(&places, a)).collect();
        assert_eq!(given_up(&mapped), [0, 1], "one address, however it is written");
    }

    #[test]
    fn where_all_places_are_taken_a_newcomer_gets_one_of_the_client_that_has_most() {
        let places = Places::default();
        let heavy: Vec<Place> = (0..OF_CLIENT_MOST).map(|_| enter(&places, "192.0.2.1")).collect();
        let rest = STRANGERS_MOST - OF_CLIENT_MOST;
        let light: Vec<Place> = (0..rest).map(|n| enter(&places, &format!("10.0.{}.{}", n / 250, n % 250))).collect();
        assert_eq!((given_up(&heavy), given_up(&light)), (vec![], vec![]));
        let newcomers: Vec<Place> = (0..3).map(|n| enter(&places, &format!("198.51.100.{n}"))).collect();
        assert_eq!(given_up(&heavy), [0, 1, 2]);
        assert!(given_up(&light).is_empty() && given_up(&newcomers).is_empty());
    }

    #[test]
    fn strangers_take_no_place_of_a_peer_and_a_peer_none_of_another() {
        let places = Places::default();
        let peer = |name: &str, from: &str| {
            let place = enter(&places, from);
            place.is_of(&name.into());
            place
        };
        // All of them behind one address.
        let of_b: Vec<Place> = (0..OF_PEER_MOST).map(|_| peer("box-b", "192.0.2.1")).collect();
        let strangers: Vec<Place> = (0..3 * STRANGERS_MOST).map(|_| enter(&places, "192.0.2.1")).collect();
        let _more: Vec<Place> =
            (0..3 * STRANGERS_MOST).map(|n| enter(&places, &format!("2001:db8:{n:x}::1"))).collect();
        let of_c: Vec<Place> = (0..2 * OF_PEER_MOST).map(|_| peer("box-c", "192.0.2.1")).collect();
        assert!(given_up(&of_b).is_empty());
        assert_eq!(given_up(&of_c), [0, 1, 2, 3], "the newest of its own are the good ones");
        assert!(!given_up(&strangers).is_empty());
    }

    #[test]
    fn a_peer_whose_handshake_goes_on_beside_a_flood_gets_its_place() {
        let places = Places::default();
        let peer = enter(&places, "192.0.2.1");
        // Fewer than there are places within its few round trips, from as many clients as there may be.
        let _flood: Vec<Place> =
            (0..STRANGERS_MOST - 1).map(|n| enter(&places, &format!("2001:db8:{n:x}::1"))).collect();
        peer.is_of(&"box-b".into());
        let _more: Vec<Place> =
            (0..9 * STRANGERS_MOST).map(|n| enter(&places, &format!("2001:db8:{n:x}::1"))).collect();
        assert!(!is_given_up(&peer));
    }

    #[tokio::test]
    async fn who_gives_way_is_told_so_and_who_has_gone_is_not_counted() {
        let places = Places::default();
        let first = enter(&places, "192.0.2.1");
        for _ in 0..100 {
            drop(enter(&places, "192.0.2.1"));
        }
        assert!(!is_given_up(&first));
        let _rest: Vec<Place> = (0..OF_CLIENT_MOST).map(|_| enter(&places, "192.0.2.1")).collect();
        assert!(first.when_given_up().await.is_some(), "it is a stranger that is refused");
        let of_b: Vec<Place> = (0..=OF_PEER_MOST).map(|_| enter(&places, "192.0.2.2")).collect();
        of_b.iter().for_each(|place| place.is_of(&"box-b".into()));
        assert_eq!(of_b[0].when_given_up().await, None, "the peer itself has left it");
    }

    #[test]
    fn refusals_are_counted_each_told_together_and_logged_every_ten_seconds() {
        let (mut refusals, began) = (Refusals::default(), Instant::now());
        let at = |millis| began + Duration::from_millis(millis);
        assert_eq!(refusals.one_more(at(0)), Some(0));
        for millis in 1..9_000 {
            assert_eq!(refusals.one_more(at(millis)), None);
        }
        assert_eq!((refusals.take(), refusals.take()), (9_000, 0));
        assert_eq!(refusals.one_more(at(10_000)), Some(8_999));
        assert_eq!(refusals.take(), 1);
    }
}
