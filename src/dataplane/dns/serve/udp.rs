//! UDP: a thread for each core, each with a socket of its own (SO_REUSEPORT), that reads a batch, answers it and sends it.
//! Blocking reads save the second system call that readiness costs, and threads keep a flood of queries off the runtime
//! that carries connections. What the threads count they add up for a batch, since all write to the same counters.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::batch::Batch;
use super::tally::Tally;
use super::{Entropy, Shared, wall};
use crate::dataplane::datagram::tell_destination;
use crate::dataplane::dns::answer::{Circumstances, Scratch, Transport, answer_with};
use crate::dataplane::handed::Socket;

/// Readers of one address at most; fewer where there are fewer cores.
const READERS_MAX: usize = 16;
/// How long a read waits before it looks whether it is to end; the end also wakes it.
const LOOK: Duration = Duration::from_secs(1);

/// The readers of one address; they end with it.
pub(super) struct Server {
    sockets: Vec<Arc<UdpSocket>>,
    stop: Arc<AtomicBool>,
    readers: Vec<JoinHandle<()>>,
}

/// How many threads read an address.
pub(super) fn readers() -> usize {
    std::thread::available_parallelism().map_or(1, |n| n.get()).min(READERS_MAX)
}

// === impl Server ===

impl Server {
    /// A reader for each socket. `any`: they are bound to all addresses, and answers must come from the one that was asked.
    pub fn start(shared: &Arc<Shared>, sockets: Vec<UdpSocket>, any: bool) -> io::Result<Server> {
        let mut server = Server { sockets: Vec::new(), stop: Arc::new(AtomicBool::new(false)), readers: Vec::new() };
        for socket in sockets {
            socket.set_read_timeout(Some(LOOK))?;
            if any {
                tell_destination(&socket)?;
            }
            let (shared, socket, stop) = (Arc::clone(shared), Arc::new(socket), Arc::clone(&server.stop));
            server.sockets.push(Arc::clone(&socket));
            let reader = std::thread::Builder::new().name("dns-udp".into());
            server.readers.push(reader.spawn(move || read(&shared, &socket, &stop))?);
        }
        Ok(server)
    }

    /// The sockets, for another process.
    pub fn handed(&self, owner: &str, asked: SocketAddr) -> Vec<io::Result<Socket>> {
        self.sockets.iter().map(|socket| Socket::datagram(owner, asked, socket)).collect()
    }

    /// Ends the readers without a word to their sockets, which another process reads: after their batch, or their look.
    pub async fn leave(mut self) {
        self.stop.store(true, Ordering::Release);
        self.sockets.clear();
        let _ = tokio::task::spawn_blocking(move || drop(self)).await;
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // Wakes the readers, although it reports that the socket is not connected.
        for socket in &self.sockets {
            let _ = socket2::SockRef::from(&**socket).shutdown(std::net::Shutdown::Both);
        }
        // A moment: once they are gone the port is free.
        for reader in self.readers.drain(..) {
            let _ = reader.join();
        }
    }
}

fn read(shared: &Shared, socket: &UdpSocket, stop: &AtomicBool) {
    let mut batch = Batch::new();
    let mut scratch = Scratch::default();
    let mut entropy = Entropy::new();
    while !stop.load(Ordering::Acquire) {
        match batch.receive(socket) {
            Ok(()) => {}
            Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted) => continue,
            Err(error) => {
                tracing::warn!(%error, "reading DNS queries");
                // An error that stays must not spin.
                std::thread::park_timeout(Duration::from_millis(20));
                continue;
            }
        }
        // One snapshot for the batch: what was received before a publication may be answered from before it.
        let snapshot = shared.cell.load();
        let mut tally = Tally::new(&snapshot, Transport::Udp);
        let now = wall();
        batch.answer(|query, client, reply| {
            let (client, transport, entropy) = (client.ip(), Transport::Udp, entropy.next());
            let circumstances = Circumstances::new(client, transport, entropy, now);
            let outcome = answer_with(&mut scratch, &snapshot, query, circumstances, reply);
            tally.count(shared, &outcome);
            let outcome = Shared::notified(&snapshot, &outcome, query, client, reply).unwrap_or(outcome);
            Shared::limit(&snapshot, client, &outcome, now, entropy, reply);
        });
        // Before it is sent: who has an answer may read that it was counted.
        drop(tally);
        drop(snapshot);
        batch.send(socket);
    }
}
