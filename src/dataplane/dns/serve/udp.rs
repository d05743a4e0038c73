//! UDP: threads that read a batch, answer it and send it. Blocking reads save the second system call that readiness
//! costs, and threads keep a flood of queries off the runtime that carries connections.

use std::io;
use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use super::batch::Batch;
use super::{Entropy, Shared, seconds};
use crate::dataplane::datagram::tell_destination;
use crate::dataplane::dns::answer::{Circumstances, Scratch, Transport, answer_with};

/// Readers of one socket at most; fewer where there are fewer cores.
const READERS_MAX: usize = 4;
/// How long a read waits before it looks whether it is to end; the end also wakes it.
const LOOK: Duration = Duration::from_secs(1);

/// The readers of one socket; they end with it.
pub(super) struct Server {
    socket: Arc<UdpSocket>,
    stop: Arc<AtomicBool>,
    readers: Vec<JoinHandle<()>>,
}

// === impl Server ===

impl Server {
    /// `any`: the socket is bound to all addresses, and answers must come from the one that was asked.
    pub fn start(shared: &Arc<Shared>, socket: UdpSocket, any: bool) -> io::Result<Server> {
        socket.set_read_timeout(Some(LOOK))?;
        if any {
            tell_destination(&socket)?;
        }
        let mut server =
            Server { socket: Arc::new(socket), stop: Arc::new(AtomicBool::new(false)), readers: Vec::new() };
        let readers = std::thread::available_parallelism().map_or(1, |n| n.get()).min(READERS_MAX);
        for _ in 0..readers {
            let (shared, socket, stop) = (Arc::clone(shared), Arc::clone(&server.socket), Arc::clone(&server.stop));
            let reader = std::thread::Builder::new().name("dns-udp".into());
            server.readers.push(reader.spawn(move || read(&shared, &socket, &stop))?);
        }
        Ok(server)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        // Wakes the readers, although it reports that the socket is not connected.
        let _ = socket2::SockRef::from(&*self.socket).shutdown(std::net::Shutdown::Both);
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
        let now = seconds();
        batch.answer(|query, client, reply| {
            let (client, transport, entropy) = (client.ip(), Transport::Udp, entropy.next());
            let circumstances = Circumstances::new(client, transport, entropy, now);
            let outcome = answer_with(&mut scratch, &snapshot, query, circumstances, reply);
            shared.count(&snapshot, transport, &outcome);
            Shared::limit(&snapshot, client, &outcome, now, entropy, reply);
        });
        drop(snapshot);
        batch.send(socket);
    }
}
