//! Everything that runs, and its two ends: a stop, and a handover to the next process.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use super::handover::{Giver, Heir, Outcome};
use super::signals::StopSignals;
use super::{RunOptions, state_directory};
use crate::admin::TlsDoor;
use crate::control::reactor::Reactor;
use crate::dataplane::Dataplane;
use crate::dataplane::dns::serve::DnsServer;
use crate::dataplane::handed::Socket;
use crate::network::Networking;

/// What DNS may still answer after the drain.
const DNS_GRACE: Duration = Duration::from_millis(200);

/// What taking addresses off the interfaces may take.
const NETWORK_GRACE: Duration = Duration::from_secs(2);

/// Why the process ends.
pub(super) enum End {
    Signal(&'static str),
    Bug,
    /// Another one goes on.
    Handed(Heir),
}

/// Everything that runs.
pub(super) struct Running {
    pub reactor: Reactor,
    pub dataplane: Dataplane,
    pub dns: DnsServer,
    pub network: Networking,
    pub admin: JoinHandle<()>,
    pub management: Runtime,
    pub peers: JoinHandle<()>,
    pub admin_address: SocketAddr,
    /// Copies of the sockets of the management, for a process that follows.
    pub doors: Vec<Socket>,
    pub tls: Arc<TlsDoor>,
    pub stop_admin: watch::Sender<bool>,
    pub socket: Option<PathBuf>,
}

// === impl Running ===

impl Running {
    /// Starts the next process and gives it everything. `Some`: this one ends; else it serves as before.
    pub async fn hand_over(&self, giver: &Giver, options: &RunOptions, stop: &mut StopSignals) -> Option<End> {
        let gave = tokio::select! {
            gave = giver.give(&self.reactor.handle, self.sockets()) => gave,
            name = stop.next() => {
                self.reactor.handle.take_store_back(format!("{name} came")).await;
                return Some(End::Signal(name));
            }
        };
        let (heir, why) = match gave {
            Ok(heir) => (Some(heir), None),
            Err(why) => (None, Some(why)),
        };
        if let Some(why) = &why {
            tracing::error!(why, "not handed over: this process goes on");
            self.reactor.handle.take_store_back(why.clone()).await;
        }
        if !options.ephemeral {
            let to = heir.as_ref().map(Heir::pid);
            let outcome = Outcome::of_now(std::process::id(), to, why);
            if let Err(error) = outcome.write(&state_directory(options)) {
                tracing::warn!(%error, "cannot write what became of the handover");
            }
        }
        heir.map(End::Handed)
    }

    /// Copies of all sockets that somebody could connect to.
    async fn sockets(&self) -> Vec<Socket> {
        let mut all = self.dataplane.sockets().await;
        all.extend(self.dns.sockets().await);
        all.extend(
            self.doors
                .iter()
                .filter_map(|door| door.copy().inspect_err(|error| tracing::error!(%error, "not handed")).ok()),
        );
        all
    }

    /// Another process serves: lets what is open finish, at most for `limit` or until a signal comes, and leaves alone what
    /// is the other's by now: the store, the ready file, the socket in the state directory. What the process ends with: 0,
    /// or 1 where the other one has failed meanwhile, and nobody serves.
    pub async fn leave(self, limit: Duration, stop: &mut StopSignals, mut heir: Heir) -> ExitCode {
        let Running { reactor, dataplane, dns, network, admin, management, peers, stop_admin, doors, .. } = self;
        drop(doors);
        network.stay();
        peers.abort();
        dns.leave();
        stop_admin.send_replace(true);
        reactor.handle.drain().await;
        let mut code = ExitCode::SUCCESS;
        tokio::select! {
            () = dataplane.leave(limit) => {}
            name = stop.next() => tracing::warn!("{name}: ending at once"),
            status = heir.failed() => {
                tracing::error!(pid = heir.pid(), %status, "who took over has ended: ending too, to be started anew");
                code = ExitCode::FAILURE;
            }
        }
        dns.stop(DNS_GRACE).await;
        let _ = admin.await;
        management.shutdown_background();
        reactor.stop().await;
        tracing::info!("ended");
        code
    }

    /// Lets what is open finish, at most for `limit` or until a second signal comes; then ends everything in the
    /// opposite order of its start.
    pub async fn stop(self, limit: Duration, stop: &mut StopSignals) {
        let Running { reactor, dataplane, dns, network, admin, management, peers, stop_admin, socket, doors, .. } =
            self;
        drop(doors);
        reactor.handle.drain().await;
        tokio::select! {
            () = dataplane.drain(limit) => {}
            name = stop.next() => tracing::warn!("{name}: ending at once"),
        }
        dns.stop(DNS_GRACE).await;
        // Nobody answers there any more: another box can have them.
        if tokio::time::timeout(NETWORK_GRACE, network.leave()).await.is_err() {
            tracing::warn!("addresses are left on the interfaces: the system does not answer");
        }
        // What this box sees is unknown to its peers from here on.
        peers.abort();
        stop_admin.send_replace(true);
        let _ = admin.await;
        management.shutdown_background();
        reactor.stop().await;
        if let Some(socket) = socket {
            let _ = std::fs::remove_file(socket);
        }
        tracing::info!("stopped");
    }
}
