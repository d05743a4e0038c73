//! Open connections of DNS clients, over TCP, TLS and HTTPS together: counted in all and by client, so that one client
//! cannot take them all.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;
use tokio::sync::{Notify, Semaphore};

use super::{Shared, Transport};
use crate::model::dns::TcpLimits;
use crate::model::net::Network;

/// Zone transfers at a time.
const TRANSFERS_MAX: usize = 8;

pub(super) struct Clients {
    total: AtomicUsize,
    by_client: Mutex<HashMap<IpAddr, usize>>,
    changed: Notify,
    pub cut: Notify,
    is_cut: AtomicBool,
    pub transfers: Arc<Semaphore>,
}

/// A connection, counted until dropped.
pub(super) struct Open {
    pub shared: Arc<Shared>,
    pub transport: Transport,
    /// As they were when it was accepted.
    pub limits: TcpLimits,
    client: IpAddr,
}

// === impl Clients ===

impl Default for Clients {
    fn default() -> Clients {
        Clients {
            total: AtomicUsize::new(0),
            by_client: Mutex::default(),
            changed: Notify::new(),
            cut: Notify::new(),
            is_cut: AtomicBool::new(false),
            transfers: Arc::new(Semaphore::new(TRANSFERS_MAX)),
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
    /// `None`: too many.
    pub fn new(shared: &Arc<Shared>, transport: Transport, client: IpAddr) -> Option<Open> {
        let (live, limits) = {
            let snapshot = shared.cell.load();
            (Arc::clone(&snapshot.dns), snapshot.model.dns.tcp.clone())
        };
        let client = Network::of_client(client);
        let clients = &shared.clients;
        let mut by_client = clients.by_client.lock();
        let own = by_client.get(&client).copied().unwrap_or(0);
        let full = clients.total.load(Ordering::SeqCst) >= limits.connections as usize
            || own >= limits.connections_per_client as usize;
        if full || clients.is_cut.load(Ordering::SeqCst) {
            live.tcp_rejected_total.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        by_client.insert(client, own + 1);
        clients.total.fetch_add(1, Ordering::SeqCst);
        live.connections(transport_index(transport)).fetch_add(1, Ordering::Relaxed);
        drop(by_client);
        Some(Open { shared: Arc::clone(shared), transport, limits, client })
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
        {
            let mut by_client = clients.by_client.lock();
            if let Some(own) = by_client.get_mut(&self.client) {
                *own -= 1;
                if *own == 0 {
                    by_client.remove(&self.client);
                }
            }
        }
        let live = &self.shared.cell.load().dns;
        live.connections(transport_index(self.transport)).fetch_sub(1, Ordering::Relaxed);
        clients.total.fetch_sub(1, Ordering::SeqCst);
        clients.changed.notify_waiters();
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
