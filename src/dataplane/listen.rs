//! Sockets that come and go with the snapshot.
//!
//! A VIP keeps its socket as long as the text of its address stays the same, whatever else changes: port 0 keeps the
//! port it was given, and no other VIP's change touches it. A VIP that is DOWN stays bound; its connections are refused
//! one by one, by the rules of its protocol. A changed address is bound before the old socket closes. What cannot be
//! bound says so in its state and is tried again.

mod accept;
mod socket;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use super::{Shared, raised};
use crate::model::id::Name;
use crate::snapshot::Snapshot;
use crate::snapshot::live::{Listening, VserverLive};

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
    live: Arc<VserverLive>,
    /// Ends the accept loop.
    stop: watch::Sender<bool>,
}

/// Binds the current generation, then follows in the background. The receiver tells the newest generation done.
pub(crate) async fn start(shared: Arc<Shared>) -> watch::Receiver<u64> {
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
                changed = published.changed() => if changed.is_err() { break },
                () = retry => {}
            }
            let snapshot = shared.plane.cell.load_full();
            shared.log.follow(&snapshot);
            failed = listeners.reconcile(&shared, &snapshot).await;
            done.send_replace(snapshot.generation);
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
        let wanted: Vec<(&Name, Option<SocketAddr>, &Arc<VserverLive>)> = snapshot
            .model
            .vservers
            .iter()
            .zip(&snapshot.vservers)
            .map(|(vserver, entry)| (&vserver.name, vserver.address, &entry.live))
            .collect();
        // New before old: a changed address is served without a gap.
        let mut in_the_way = Vec::new();
        let mut replaced = Vec::new();
        for &(name, address, live) in &wanted {
            let Some(asked) = address else { continue };
            if self.bound.get(name).is_some_and(|b| b.asked == asked) {
                continue;
            }
            match socket::bind(asked) {
                Ok(listener) => replaced.extend(self.serve(shared, name, asked, live, listener)),
                Err(_) => in_the_way.push((name, asked, live)),
            }
        }
        let stale: Vec<Name> = self
            .bound
            .iter()
            .filter(|(name, bound)| {
                let address = snapshot.model.vserver_id(name).and_then(|id| snapshot.model.vserver(id).address);
                address != Some(bound.asked)
            })
            .map(|(name, _)| Arc::clone(name))
            .collect();
        replaced.extend(stale.iter().filter_map(|name| self.bound.remove(name)));
        let freed = !replaced.is_empty();
        replaced.into_iter().for_each(Bound::close);
        for &(_, address, live) in &wanted {
            if address.is_none() {
                *live.listen.lock() = Listening::None;
            }
        }
        // Where an old socket stood in the way (two VIPs that changed places), it is gone now.
        let mut failed = false;
        for (name, asked, live) in in_the_way {
            match if freed { socket::bind_soon(asked).await } else { socket::bind(asked) } {
                Ok(listener) => {
                    self.serve(shared, name, asked, live, listener).into_iter().for_each(Bound::close);
                }
                Err(error) => {
                    tracing::warn!(vserver = &**name, %asked, %error, "cannot listen");
                    *live.listen.lock() = Listening::Failed { error: format!("{asked}: {error}") };
                    failed = true;
                }
            }
        }
        failed
    }

    /// Starts the accept loop; gives back the one it replaces.
    fn serve(
        &mut self,
        shared: &Arc<Shared>,
        name: &Name,
        asked: SocketAddr,
        live: &Arc<VserverLive>,
        listener: socket::Listener,
    ) -> Option<Bound> {
        let (stop, stopped) = watch::channel(false);
        *live.listen.lock() = Listening::Bound { address: listener.address, local: socket::is_local(asked.ip()) };
        tracing::info!(vserver = &**name, address = %listener.address, "listening");
        tokio::spawn(accept::run(Arc::clone(shared), listener.socket, Arc::clone(name), Arc::clone(live), stopped));
        self.bound.insert(Arc::clone(name), Bound { asked, live: Arc::clone(live), stop })
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
    fn close(self) {
        self.stop.send_replace(true);
    }
}
