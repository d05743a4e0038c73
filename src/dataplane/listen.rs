//! Sockets that come and go with the snapshot.
//!
//! A VIP keeps its socket as long as it is the one that its address asks for, whatever else changes: port 0 keeps the
//! port it was given, also where that port is asked for by its number from now on, and no other VIP's change touches it.
//! A VIP that is DOWN stays bound; its connections are refused one by one, by the rules of its protocol. A changed
//! address is bound before the old socket closes. What cannot be bound says so in its state and is tried again.

mod accept;
mod socket;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot, watch};

use super::handed::Socket;
use super::l4::udp;
use super::{Shared, raised};
use crate::model::id::Name;
use crate::snapshot::Snapshot;
use crate::snapshot::live::{Listening, VserverLive};
use socket::Transports;

/// How long a socket that could not be bound waits for its next try.
const RETRY: Duration = Duration::from_secs(2);

/// The sockets that are bound, by vserver.
#[derive(Default)]
struct Listeners {
    bound: HashMap<Name, Bound>,
}

struct Bound {
    /// As configured; port 0 included.
    asked: SocketAddr,
    /// With the real port.
    address: SocketAddr,
    live: Arc<VserverLive>,
    transports: Transports,
    /// What the accept loop has.
    stream: Option<Arc<TcpListener>>,
    /// Ends the accept loop.
    stop: watch::Sender<bool>,
    /// Ends with it.
    datagrams: Option<udp::Server>,
}

/// A VIP that is to be bound.
struct Wanted<'a> {
    name: &'a Name,
    address: Option<SocketAddr>,
    transports: Transports,
    live: &'a Arc<VserverLive>,
}

/// Binds the current generation, then follows in the background. The receiver tells the newest generation done. Whoever
/// asks is given the sockets that are bound.
pub(crate) async fn start(
    shared: Arc<Shared>,
    mut asked: mpsc::Receiver<oneshot::Sender<Vec<Socket>>>,
) -> watch::Receiver<u64> {
    let mut published = shared.plane.cell.subscribe();
    published.borrow_and_update();
    let mut listeners = Listeners::default();
    let snapshot = shared.plane.cell.load_full();
    shared.log.follow(&snapshot);
    let mut failed = listeners.reconcile(&shared, &snapshot).await;
    let (done, reconciled) = watch::channel(snapshot.generation);
    drop(snapshot);
    tokio::spawn(async move {
        loop {
            let retry = async { if failed { tokio::time::sleep(RETRY).await } else { std::future::pending().await } };
            tokio::select! {
                () = raised(shared.drain.clone()) => break,
                () = raised(shared.leaving.clone()) => break,
                Some(answer) = asked.recv() => {
                    let _ = answer.send(listeners.sockets());
                    continue;
                }
                changed = published.changed() => if changed.is_err() { break },
                () = retry => {}
            }
            let snapshot = shared.plane.cell.load_full();
            shared.log.follow(&snapshot);
            failed = listeners.reconcile(&shared, &snapshot).await;
            done.send_replace(snapshot.generation);
        }
        if *shared.leaving.borrow() {
            listeners.leave();
            raised(shared.drain.clone()).await;
        }
        listeners.close();
    });
    reconciled
}

// === impl Listeners ===

impl Listeners {
    /// Makes the sockets those of `snapshot`. True where one could not be bound.
    async fn reconcile(&mut self, shared: &Arc<Shared>, snapshot: &Snapshot) -> bool {
        // Before anything listens that needs them.
        shared.tls.follow(&snapshot.model);
        shared.tls_clients.follow(&snapshot.model);
        shared.traces.set_on(snapshot.model.trace.is_some());
        let wanted: Vec<Wanted<'_>> = snapshot
            .model
            .vservers
            .iter()
            .zip(&snapshot.vservers)
            .map(|(vserver, entry)| Wanted {
                name: &vserver.name,
                address: vserver.address,
                transports: Transports::of(vserver.protocol),
                live: &entry.live,
            })
            .collect();
        // New before old: a changed address is served without a gap.
        let mut in_the_way = Vec::new();
        let mut replaced = Vec::new();
        for vip in &wanted {
            let Some(asked) = vip.address else { continue };
            if self.bound.get_mut(vip.name).is_some_and(|bound| bound.stays(asked, vip.transports)) {
                continue;
            }
            match socket::bind_handed(&shared.handed, vip.name, asked, vip.transports) {
                Ok(listener) => replaced.extend(self.serve(shared, vip, asked, listener)),
                Err(_) => in_the_way.push((vip, asked)),
            }
        }
        let still: HashMap<&Name, (SocketAddr, Transports)> =
            wanted.iter().filter_map(|vip| Some((vip.name, (vip.address?, vip.transports)))).collect();
        let stale: Vec<Name> = self
            .bound
            .iter()
            .filter(|(name, bound)| still.get(name) != Some(&(bound.asked, bound.transports)))
            .map(|(name, _)| Arc::clone(name))
            .collect();
        replaced.extend(stale.iter().filter_map(|name| self.bound.remove(name)));
        let freed = !replaced.is_empty();
        replaced.into_iter().for_each(Bound::close);
        for vip in wanted.iter().filter(|vip| vip.address.is_none()) {
            *vip.live.listen.lock() = Listening::None;
        }
        // Where an old socket stood in the way (two VIPs that changed places), it is gone now.
        let mut failed = false;
        for (vip, asked) in in_the_way {
            let bound = match freed {
                true => socket::bind_soon(asked, vip.transports).await,
                false => socket::bind(asked, vip.transports),
            };
            match bound {
                Ok(listener) => self.serve(shared, vip, asked, listener).into_iter().for_each(Bound::close),
                Err(error) => {
                    tracing::warn!(vserver = &**vip.name, %asked, %error, "cannot listen");
                    *vip.live.listen.lock() = Listening::Failed { error: format!("{asked}: {error}") };
                    failed = true;
                }
            }
        }
        failed
    }

    /// Starts what serves the sockets; gives back the one it replaces.
    fn serve(
        &mut self,
        shared: &Arc<Shared>,
        vip: &Wanted<'_>,
        asked: SocketAddr,
        listener: socket::Listener,
    ) -> Option<Bound> {
        let Wanted { name, transports, live, .. } = *vip;
        let (stop, stopped) = watch::channel(false);
        *live.listen.lock() = Listening::Bound { address: listener.address, local: socket::is_local(asked.ip()) };
        tracing::info!(vserver = &**name, address = %listener.address, "listening");
        let stream = listener.stream.map(Arc::new);
        if let Some(stream) = stream.clone() {
            // Counts as a connection: the end must not come between what it takes and what it has been told.
            let open = shared.open();
            let accepting = accept::run(Arc::clone(shared), stream, Arc::clone(name), Arc::clone(live), stopped);
            tokio::spawn(async move {
                accepting.await;
                drop(open);
            });
        }
        let datagrams = listener.datagram.and_then(|socket| match udp::Server::start(shared, socket, name, live) {
            Ok(server) => Some(server),
            Err(error) => {
                tracing::error!(vserver = &**name, %error, "cannot serve datagrams");
                *live.listen.lock() = Listening::Failed { error: format!("{asked}: {error}") };
                None
            }
        });
        let address = listener.address;
        let bound = Bound { asked, address, transports, live: Arc::clone(live), stream, stop, datagrams };
        self.bound.insert(Arc::clone(name), bound)
    }

    /// All that are bound, for another process; one that this one has no file left for stays behind.
    fn sockets(&self) -> Vec<Socket> {
        let mut sockets = Vec::new();
        for (name, bound) in &self.bound {
            let owner = socket::owner(name);
            sockets.extend(bound.stream.as_ref().map(|stream| Socket::stream(&owner, bound.asked, stream)));
            sockets.extend(bound.datagrams.as_ref().map(|server| server.handed(&owner, bound.asked)));
        }
        let told = |one: &std::io::Result<Socket>| {
            if let Err(error) = one {
                tracing::error!(%error, "not handed");
            }
        };
        sockets.into_iter().inspect(told).flatten().collect()
    }

    /// Takes nothing more of clients: another process does.
    fn leave(&mut self) {
        for bound in self.bound.values_mut() {
            bound.stop.send_replace(true);
            bound.stream = None;
            if let Some(server) = &bound.datagrams {
                server.leave();
            }
        }
    }

    fn close(&mut self) {
        for (_, bound) in self.bound.drain() {
            *bound.live.listen.lock() = Listening::None;
            bound.close();
        }
    }
}

// === impl Bound ===

impl Bound {
    /// Whether it is what is asked for now. Two sockets of datagrams cannot have one address: what came between the end
    /// of one and the begin of the other would be lost.
    fn stays(&mut self, asked: SocketAddr, transports: Transports) -> bool {
        let stays = self.transports == transports && (self.asked == asked || self.address == asked);
        if stays {
            self.asked = asked;
        }
        stays
    }

    fn close(self) {
        self.stop.send_replace(true);
    }
}
