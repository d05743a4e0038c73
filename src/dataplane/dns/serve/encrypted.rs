//! Listeners of `[dns.tls]` and `[dns.https]`.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use super::{Shared, Transport, socket, tcp};
use crate::dataplane::handed::Socket;
use crate::model::dns::Encrypted;
use crate::snapshot::Snapshot;
use crate::snapshot::live::Listening;

/// By what they speak and the address that was asked for.
#[derive(Default)]
pub(super) struct Listeners {
    bound: HashMap<(Transport, SocketAddr), Bound>,
}

struct Bound {
    address: SocketAddr,
    local: bool,
    server: tcp::Server,
}

// === impl Listeners ===

impl Listeners {
    /// Makes the listeners those of `snapshot`. True where one could not be bound.
    pub async fn reconcile(&mut self, shared: &Arc<Shared>, snapshot: &Snapshot) -> bool {
        shared.tls.follow_dns(&snapshot.model);
        let dns = &snapshot.model.dns;
        let of = |encrypted: &Option<Encrypted>| encrypted.as_ref().map_or_else(Vec::new, |e| e.listen.clone());
        let wanted = [(Transport::Tls, of(&dns.tls)), (Transport::Https, of(&dns.https))];
        // New before old, so that a changed address is served without a gap; what the old stood in the way of comes after.
        let mut failed = self.bind_all(shared, snapshot, &wanted);
        let is_wanted =
            |key: &(Transport, SocketAddr)| wanted.iter().any(|(t, all)| *t == key.0 && all.contains(&key.1));
        let stale: Vec<_> = self.bound.keys().filter(|key| !is_wanted(key)).copied().collect();
        if !stale.is_empty() {
            for key in stale {
                if let Some(bound) = self.bound.remove(&key) {
                    bound.close(key.0).await;
                }
            }
            failed = failed && self.bind_all(shared, snapshot, &wanted);
        }
        failed
    }

    fn bind_all(&mut self, shared: &Arc<Shared>, snapshot: &Snapshot, wanted: &[(Transport, Vec<SocketAddr>)]) -> bool {
        let mut failed = false;
        for (transport, addresses) in wanted {
            let state = |asked: &SocketAddr| {
                let listening = self.bind(shared, *transport, *asked).unwrap_or_else(|error| {
                    tracing::warn!(address = %asked, ?transport, %error, "cannot answer DNS");
                    failed = true;
                    Listening::Failed { error: format!("{asked}: {error}") }
                });
                (*asked, listening)
            };
            let states: Vec<_> = addresses.iter().map(state).collect();
            let live = &snapshot.dns;
            *if *transport == Transport::Tls { &live.listening_tls } else { &live.listening_https }.lock() = states;
        }
        failed
    }

    fn bind(&mut self, shared: &Arc<Shared>, transport: Transport, asked: SocketAddr) -> std::io::Result<Listening> {
        let bound = match self.bound.entry((transport, asked)) {
            std::collections::hash_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => {
                let handed = shared.handed.listener(owner(transport), asked);
                let listener = handed.map_or_else(|| socket::listen(asked), Ok)?;
                let address = listener.local_addr()?;
                let server = tcp::Server::start(shared, listener, transport)?;
                tracing::info!(%address, ?transport, "answering DNS");
                place.insert(Bound { address, local: socket::is_local(asked.ip()), server })
            }
        };
        Ok(Listening::Bound { address: bound.address, local: bound.local })
    }

    /// All of them, for another process.
    pub fn sockets(&self) -> Vec<std::io::Result<Socket>> {
        let handed = |((transport, asked), bound): (&(Transport, SocketAddr), &Bound)| {
            bound.server.handed(owner(*transport), *asked)
        };
        self.bound.iter().map(handed).collect()
    }

    pub async fn close(mut self) {
        for (key, bound) in self.bound.drain() {
            bound.close(key.0).await;
        }
    }
}

/// What a listener is handed on as.
fn owner(transport: Transport) -> &'static str {
    if transport == Transport::Tls { "dns-tls" } else { "dns-https" }
}

// === impl Bound ===

impl Bound {
    /// Returns once the port is free.
    async fn close(self, transport: Transport) {
        tracing::info!(address = %self.address, ?transport, "no longer answering DNS");
        self.server.close().await;
    }
}
