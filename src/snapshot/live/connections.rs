//! The table of open client connections: who is there, and a way to end each.
//!
//! A connection is entered when it is accepted and taken out when its entry is dropped. The table is cut into parts
//! with a lock each, held for a hash of one number; what the data path does for a request touches the entry alone.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use parking_lot::Mutex;

use super::{MemberLive, VserverLive};
use crate::model::ending::Reason;
use crate::model::id::Name;

const PARTS: usize = 16;

/// All open client connections.
#[derive(Debug, Default)]
pub struct Connections {
    parts: [Mutex<HashMap<u64, Weak<Connection>>>; PARTS],
    next: AtomicU64,
}

/// One open client connection (a session, for datagrams).
#[derive(Debug)]
pub struct Connection {
    /// Unique in this process, from 1.
    pub id: u64,
    /// Who called; behind a PROXY protocol header see [`client`](Connection::client).
    pub peer: SocketAddr,
    pub vserver: Name,
    pub live: Arc<VserverLive>,
    pub since: Instant,
    proxied: OnceLock<Box<SocketAddr>>,
    tls: AtomicBool,
    /// Requests begun; for L4 at most one.
    requests: AtomicU32,
    /// Requests in flight; 0: idle.
    in_flight: AtomicU32,
    pub bytes_in: AtomicU64,
    pub bytes_out: AtomicU64,
    member: Mutex<Option<Arc<MemberLive>>>,
    /// A reason, from 1; 0: none yet.
    cut: AtomicU8,
    waker: Mutex<Option<Waker>>,
    table: Arc<Connections>,
}

// === impl Connections ===

impl Connections {
    /// Enters a connection. It leaves the table when the last reference is dropped.
    pub fn enter(
        self: &Arc<Self>,
        peer: SocketAddr,
        vserver: Name,
        live: Arc<VserverLive>,
        since: Instant,
    ) -> Arc<Connection> {
        let id = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let connection = Arc::new(Connection {
            id,
            peer,
            vserver,
            live,
            since,
            proxied: OnceLock::new(),
            tls: AtomicBool::new(false),
            requests: AtomicU32::new(0),
            in_flight: AtomicU32::new(0),
            bytes_in: AtomicU64::new(0),
            bytes_out: AtomicU64::new(0),
            member: Mutex::default(),
            cut: AtomicU8::new(0),
            waker: Mutex::default(),
            table: Arc::clone(self),
        });
        self.part(id).lock().insert(id, Arc::downgrade(&connection));
        connection
    }

    pub fn get(&self, id: u64) -> Option<Arc<Connection>> {
        self.part(id).lock().get(&id)?.upgrade()
    }

    /// Those that are open now, oldest first.
    pub fn list(&self) -> Vec<Arc<Connection>> {
        let mut all = Vec::new();
        for part in &self.parts {
            all.extend(part.lock().values().filter_map(Weak::upgrade));
        }
        all.sort_unstable_by_key(|connection| connection.id);
        all
    }

    /// Clients whose work `service` has now, each with how many connections; those with the most first.
    pub fn clients_of(&self, service: &str) -> Vec<(IpAddr, usize)> {
        let mut clients: HashMap<IpAddr, usize> = HashMap::new();
        for connection in self.list().iter().filter(|connection| !connection.is_idle()) {
            if connection.member().is_some_and(|member| *member.service == *service) {
                *clients.entry(connection.client().ip().to_canonical()).or_default() += 1;
            }
        }
        let mut clients: Vec<_> = clients.into_iter().collect();
        clients.sort_unstable_by_key(|&(ip, count)| (std::cmp::Reverse(count), ip));
        clients
    }

    /// Idle connections that are to make room, `most` at most: each time the oldest of whichever client has most of them.
    /// A client is an address of IPv4, or a /64 of IPv6. Those that were cut already are left out.
    pub fn idle_of_the_heaviest(&self, most: usize) -> Vec<Arc<Connection>> {
        let mut by_client: HashMap<u64, VecDeque<Arc<Connection>>> = HashMap::new();
        for connection in self.list().into_iter().filter(|c| c.is_idle() && c.cut_for().is_none()) {
            by_client.entry(connection.network()).or_default().push_back(connection);
        }
        let weight = |idle: &VecDeque<Arc<Connection>>| Some((idle.len(), Reverse(idle.front()?.id)));
        let mut heaviest: BinaryHeap<_> = by_client.iter().filter_map(|(c, idle)| Some((weight(idle)?, *c))).collect();
        let mut chosen = Vec::new();
        while chosen.len() < most
            && let Some((_, client)) = heaviest.pop()
            && let Some(idle) = by_client.get_mut(&client)
        {
            chosen.extend(idle.pop_front());
            heaviest.extend(weight(idle).map(|weight| (weight, client)));
        }
        chosen
    }

    fn part(&self, id: u64) -> &Mutex<HashMap<u64, Weak<Connection>>> {
        &self.parts[id as usize % PARTS]
    }
}

/// A whole address of IPv4, the network of one of IPv6.
fn network(address: IpAddr) -> u64 {
    match address.to_canonical() {
        // No network of IPv6 that is in use begins with 32 zeros.
        IpAddr::V4(address) => u64::from(address.to_bits()),
        IpAddr::V6(address) => (address.to_bits() >> 64) as u64,
    }
}

// === impl Connection ===

impl Connection {
    /// The client: the one the PROXY protocol header named, else who called.
    pub fn client(&self) -> SocketAddr {
        self.proxied.get().map_or(self.peer, |client| **client)
    }

    /// Told by the PROXY protocol header, once.
    pub fn set_client(&self, client: SocketAddr) {
        let _ = self.proxied.set(Box::new(client));
    }

    /// The client as one that is to leave room for others: an address of IPv4, or a /64 of IPv6.
    pub fn network(&self) -> u64 {
        network(self.client().ip())
    }

    pub fn set_tls(&self) {
        self.tls.store(true, Ordering::Relaxed);
    }

    pub fn is_tls(&self) -> bool {
        self.tls.load(Ordering::Relaxed)
    }

    /// One more request; its number on this connection, from 1.
    pub fn begin(&self) -> u32 {
        self.in_flight.fetch_add(1, Ordering::Relaxed);
        self.requests.fetch_add(1, Ordering::Relaxed).wrapping_add(1)
    }

    pub fn end(&self) {
        self.in_flight.fetch_sub(1, Ordering::Relaxed);
    }

    pub fn requests(&self) -> u32 {
        self.requests.load(Ordering::Relaxed)
    }

    pub fn is_idle(&self) -> bool {
        self.in_flight.load(Ordering::Relaxed) == 0
    }

    pub fn set_member(&self, member: Arc<MemberLive>) {
        *self.member.lock() = Some(member);
    }

    /// Who serves it, or served its last request.
    pub fn member(&self) -> Option<Arc<MemberLive>> {
        self.member.lock().clone()
    }

    /// Ends it for `reason`: whoever carries it is woken. The first reason counts.
    pub fn cut(&self, reason: Reason) {
        let code = reason as u8 + 1;
        let _ = self.cut.compare_exchange(0, code, Ordering::AcqRel, Ordering::Acquire);
        if let Some(waker) = self.waker.lock().take() {
            waker.wake();
        }
    }

    /// Why it was cut, if it was.
    pub fn cut_for(&self) -> Option<Reason> {
        let code = self.cut.load(Ordering::Acquire);
        Reason::ALL.get(usize::from(code).checked_sub(1)?).copied()
    }

    /// Ready once it was cut. One task waits: the one that carries the connection.
    pub fn poll_cut(&self, cx: &Context<'_>) -> Poll<Reason> {
        if let Some(reason) = self.cut_for() {
            return Poll::Ready(reason);
        }
        let mut waker = self.waker.lock();
        if !waker.as_ref().is_some_and(|w| w.will_wake(cx.waker())) {
            *waker = Some(cx.waker().clone());
        }
        // Again, with the lock held: whoever cut in between found the old waker.
        self.cut_for().map_or(Poll::Pending, Poll::Ready)
    }

    /// Resolves once it was cut.
    pub async fn when_cut(&self) -> Reason {
        std::future::poll_fn(|cx| self.poll_cut(cx)).await
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.table.part(self.id).lock().remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(clients: &[&str], busy: &[usize], most: usize) -> Vec<u64> {
        let table = Arc::<Connections>::default();
        let enter = |client: &&str| {
            table.enter(client.parse().unwrap(), "web".into(), Arc::new(VserverLive::default()), Instant::now())
        };
        let open: Vec<_> = clients.iter().map(enter).collect();
        for &nth in busy {
            open[nth].begin();
        }
        table.idle_of_the_heaviest(most).iter().map(|c| c.id - 1).collect()
    }

    #[test]
    fn whoever_holds_most_for_nothing_makes_room_first_and_the_oldest_before_the_newest() {
        let (a, b, c) = ("192.0.2.1:1", "192.0.2.2:1", "192.0.2.3:1");
        assert_eq!(chosen(&[b, a, a, c, a], &[], 2), [1, 2]);
        assert_eq!(chosen(&[b, a, a, c, a], &[], 9), [1, 2, 0, 3, 4], "level with the others: the oldest of all");
        assert_eq!(chosen(&[b, a, a, c, a], &[1, 2, 4], 9), [0, 3], "who is at work stays");
        assert!(chosen(&[], &[], 9).is_empty());
    }

    #[test]
    fn a_network_of_ipv6_is_one_client_and_an_address_of_ipv4_is_one_however_it_is_written() {
        let many = ["[2001:db8::1]:1", "192.0.2.1:1", "[2001:db8::2]:1", "[2001:db8:0:1::3]:1", "[::ffff:192.0.2.1]:2"];
        assert_eq!(chosen(&many, &[], 2), [0, 1]);
        assert_eq!(chosen(&many, &[], 1), [0]);
    }
}
