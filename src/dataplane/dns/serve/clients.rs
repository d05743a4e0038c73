//! Open connections of DNS clients, over TCP, TLS and HTTPS together: counted in all and by client, so that one client
//! cannot take them all.
//!
//! A newcomer finds a place where anybody can give one up. Of a client that has all it may have, its own oldest one that
//! waits for a query (or has not finished its handshake) is closed; where all places are taken, that of whichever client has
//! most, and where that has none that waits, the oldest at all. What is at work is closed for no newcomer of the same
//! client, nor where each client has one alone.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{Shared, Transport};
use crate::dataplane::crowd::Crowd;
use crate::dataplane::dns::turns::Turns;
use crate::model::dns::TcpLimits;
use crate::model::net::Network;

pub(super) struct Clients {
    total: AtomicUsize,
    crowd: Mutex<Crowd<IpAddr, Arc<Guest>>>,
    next: AtomicU64,
    changed: Notify,
    pub cut: Notify,
    is_cut: AtomicBool,
    /// At transfers of zones.
    pub transfers: Turns<IpAddr>,
}

/// One connection, as others that need its place see it.
#[derive(Default)]
pub(super) struct Guest {
    /// Queries that are being answered.
    busy: AtomicUsize,
    left: Notify,
}

/// A connection, counted until dropped.
pub(super) struct Open {
    pub shared: Arc<Shared>,
    pub transport: Transport,
    /// As they were when it was accepted.
    pub limits: TcpLimits,
    pub guest: Arc<Guest>,
    /// The one that shares limits with it.
    pub client: IpAddr,
    id: u64,
}

// === impl Clients ===

impl Default for Clients {
    fn default() -> Clients {
        Clients {
            total: AtomicUsize::new(0),
            crowd: Mutex::default(),
            next: AtomicU64::new(0),
            changed: Notify::new(),
            cut: Notify::new(),
            is_cut: AtomicBool::new(false),
            transfers: Turns::default(),
        }
    }
}

impl Clients {
    /// Returns once no connection is open.
    pub async fn all_closed(&self) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            // Registered before the count is read, so that the last close in between is not missed.
            changed.as_mut().enable();
            if self.total.load(Ordering::SeqCst) == 0 {
                return;
            }
            changed.await;
        }
    }

    /// Connections that are open now.
    pub fn open(&self) -> usize {
        self.total.load(Ordering::SeqCst)
    }

    /// Ends all connections at once.
    pub fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
        self.cut.notify_waiters();
    }
}

// === impl Open ===

impl Open {
    /// `None`: there are too many, and none can give way.
    pub fn new(shared: &Arc<Shared>, transport: Transport, client: IpAddr) -> Option<Open> {
        let (live, limits) = {
            let snapshot = shared.cell.load();
            (Arc::clone(&snapshot.dns), snapshot.model.dns.tcp.clone())
        };
        let client = Network::of_client(client);
        let clients = &shared.clients;
        let id = clients.next.fetch_add(1, Ordering::Relaxed);
        let guest = Arc::<Guest>::default();
        {
            let mut crowd = clients.crowd.lock();
            let room = make_room(&mut crowd, client, &limits);
            if !matches!(room, Ok(None)) {
                live.tcp_rejected_total.fetch_add(1, Ordering::Relaxed);
            }
            if let Some(gives_way) = room.ok()? {
                gives_way.left.notify_one();
            }
            if clients.is_cut.load(Ordering::SeqCst) {
                return None;
            }
            crowd.enter(client, id, Arc::clone(&guest));
            clients.total.fetch_add(1, Ordering::SeqCst);
        }
        live.connections(transport_index(transport)).fetch_add(1, Ordering::Relaxed);
        Some(Open { shared: Arc::clone(shared), transport, limits, guest, client, id })
    }

    /// How many queries it may bring.
    pub fn queries(&self) -> u64 {
        match self.limits.queries_per_connection {
            0 => u64::MAX,
            most => most.into(),
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let clients = &self.shared.clients;
        clients.crowd.lock().leave(self.client, self.id);
        let live = &self.shared.cell.load().dns;
        live.connections(transport_index(self.transport)).fetch_sub(1, Ordering::Relaxed);
        clients.total.fetch_sub(1, Ordering::SeqCst);
        clients.changed.notify_waiters();
    }
}

/// Who gives way for one more of this client; `Ok(None)`: nobody has to. Errors: nobody can.
fn make_room(
    crowd: &mut Crowd<IpAddr, Arc<Guest>>,
    client: IpAddr,
    limits: &TcpLimits,
) -> Result<Option<Arc<Guest>>, ()> {
    let waits = |guest: &Arc<Guest>| guest.busy.load(Ordering::Relaxed) == 0;
    if crowd.of(client) >= limits.connections_per_client as usize {
        return crowd.take_oldest(client, waits).map(Some).ok_or(());
    }
    if crowd.len() < limits.connections as usize {
        return Ok(None);
    }
    let heaviest = crowd.heaviest().ok_or(())?;
    let gives_way = crowd.take_oldest(heaviest, waits);
    let is_crowded = crowd.of(heaviest) > 1 && heaviest != client;
    gives_way.or_else(|| if is_crowded { crowd.take_oldest(heaviest, |_| true) } else { None }).map(Some).ok_or(())
}

// === impl Guest ===

impl Guest {
    /// Says whether it is at work, where that is one thing at a time.
    pub fn set_busy(&self, is_busy: bool) {
        self.busy.store(usize::from(is_busy), Ordering::Relaxed);
    }

    /// Is at work until this is dropped.
    pub fn works(self: &Arc<Guest>) -> Work {
        self.busy.fetch_add(1, Ordering::Relaxed);
        Work(Arc::clone(self))
    }

    /// Returns when it is to give way.
    pub async fn when_left(&self) {
        self.left.notified().await;
    }
}

/// A query that is being answered.
pub(super) struct Work(Arc<Guest>);

impl Drop for Work {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Position in what [`DnsLive::connections`](crate::snapshot::live::DnsLive::connections) counts.
fn transport_index(transport: Transport) -> usize {
    match transport {
        Transport::Udp | Transport::Tcp => 0,
        Transport::Tls => 1,
        Transport::Https => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Connections of a table with these limits: clients by number, with the id of each and whether it works.
    struct Hall {
        crowd: Crowd<IpAddr, Arc<Guest>>,
        limits: TcpLimits,
        guests: Vec<Arc<Guest>>,
    }

    fn client(number: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, number])
    }

    impl Hall {
        fn new(connections: u32, connections_per_client: u32) -> Hall {
            let limits = TcpLimits { connections, connections_per_client, ..TcpLimits::default() };
            Hall { crowd: Crowd::default(), limits, guests: Vec::new() }
        }

        /// Whether it came in, and who had to go for it.
        fn enter(&mut self, number: u8, works: bool) -> (bool, Option<usize>) {
            let guest = Arc::<Guest>::default();
            guest.set_busy(works);
            let room = make_room(&mut self.crowd, client(number), &self.limits);
            let is_in = room.is_ok();
            let gone = room.ok().flatten().and_then(|gone| self.guests.iter().position(|g| Arc::ptr_eq(g, &gone)));
            if is_in {
                self.crowd.enter(client(number), self.guests.len() as u64, Arc::clone(&guest));
            }
            self.guests.push(guest);
            (is_in, gone)
        }
    }

    #[test]
    fn a_newcomer_has_a_place_however_many_silent_connections_a_few_clients_hold() {
        let mut hall = Hall::new(20, 10);
        for n in 0..20 {
            assert_eq!(hall.enter(1 + n % 2, false), (true, None));
        }
        for n in 0..40 {
            // As fast as they are closed.
            let (is_in, gone) = hall.enter(1 + n % 2, false);
            assert!(is_in && gone.is_some());
        }
        let (is_in, gone) = hall.enter(9, false);
        assert!(is_in && gone.is_some_and(|gone| gone >= 20), "the oldest of those that came again");
        let honest = hall.guests.len() - 1;
        for n in 0..100 {
            let (_, gone) = hall.enter(1 + n % 2, false);
            assert!(gone != Some(honest), "who has one is not driven out by who has many");
        }
    }

    #[test]
    fn a_client_that_has_all_it_may_gives_up_its_oldest_that_waits_and_nothing_at_work() {
        let mut hall = Hall::new(100, 3);
        assert_eq!([true, false, false].map(|works| hall.enter(1, works).0), [true; 3]);
        assert_eq!(hall.enter(1, true), (true, Some(1)));
        assert_eq!(hall.enter(1, true), (true, Some(2)));
        assert_eq!(hall.enter(1, false), (false, None), "all are at work");
        assert_eq!(hall.enter(2, false), (true, None));
    }

    #[test]
    fn what_is_at_work_gives_way_only_where_its_client_has_more_and_nothing_of_it_waits() {
        let mut hall = Hall::new(3, 10);
        assert_eq!([1, 1, 2].map(|number| hall.enter(number, true).0), [true; 3]);
        assert_eq!(hall.enter(3, true), (true, Some(0)), "who takes no answers holds no place for ever");
        assert_eq!(hall.enter(4, true), (false, None), "each has one, and works");
        hall.guests[2].set_busy(false);
        assert_eq!(hall.enter(4, true), (false, None), "not the heaviest");
        hall.guests[1].set_busy(false);
        assert_eq!(hall.enter(4, true), (true, Some(1)));
    }
}
