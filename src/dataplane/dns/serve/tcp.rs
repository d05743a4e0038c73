//! TCP (RFC 7766): queries may be pipelined and are answered in order; a connection ends when it has been idle too long,
//! takes its answers too slowly, or sends what is no DNS. Connections are counted, in all and by client, so that one client
//! cannot take them all.

use std::collections::HashMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, Semaphore};
use tokio::task::JoinHandle;

use super::{Entropy, Shared, seconds};
use crate::dataplane::dns::answer::{Circumstances, Scratch, TCP_IDLE, Transport, answer_with};
use crate::dataplane::dns::{transfer, unix_now};

/// From the last answer to the end of the next query, and for taking the answers to what was read at once.
const PATIENCE: Duration = TCP_IDLE;
/// Zone transfers at a time.
const TRANSFERS_MAX: usize = 8;
const CONNECTIONS_MAX: usize = 1_000;
/// Of one IPv4 address or one IPv6 /64.
const CONNECTIONS_OF_A_CLIENT_MAX: usize = 100;
/// Answers wait for each other up to this. Bytes.
const WRITE_AT: usize = 64 << 10;
/// A query with every imaginable option stays below. Bytes.
const QUERY_MAX: usize = 4096;

/// The listener of one address; it ends with it, its connections do not.
pub(super) struct Server {
    acceptor: JoinHandle<()>,
}

/// Open connections.
pub(super) struct Clients {
    total: AtomicUsize,
    by_client: Mutex<HashMap<IpAddr, usize>>,
    changed: Notify,
    cut: Notify,
    is_cut: AtomicBool,
    transfers: Semaphore,
}

/// One of them, counted until dropped.
struct Open {
    shared: Arc<Shared>,
    client: IpAddr,
}

// === impl Server ===

impl Server {
    pub fn start(shared: &Arc<Shared>, listener: std::net::TcpListener) -> io::Result<Server> {
        let listener = TcpListener::from_std(listener)?;
        Ok(Server { acceptor: tokio::spawn(accept(Arc::clone(shared), listener)) })
    }

    /// Returns once the port is free.
    pub async fn close(self) {
        self.acceptor.abort();
        let _ = self.acceptor.await;
    }
}

async fn accept(shared: Arc<Shared>, listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let Some(open) = Open::new(&shared, peer.ip()) else { continue };
                tokio::spawn(async move {
                    let cut = open.shared.clients.cut.notified();
                    tokio::select! {
                        result = carry(&open, stream, peer.ip()) => {
                            if let Err(error) = result {
                                tracing::debug!(%peer, %error, "DNS connection");
                            }
                        }
                        () = cut => {}
                    }
                });
            }
            Err(error) => {
                // Out of file descriptors, most likely: others will close theirs.
                tracing::warn!(%error, "accepting a DNS connection");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

/// One connection to its end.
async fn carry(open: &Open, mut stream: TcpStream, client: IpAddr) -> io::Result<()> {
    let mut stopped = open.shared.stopped.clone();
    let mut scratch = Scratch::default();
    let mut entropy = Entropy::new();
    let (mut input, mut output, mut reply) = (Vec::with_capacity(512), Vec::new(), Vec::new());
    loop {
        let mut deadline = std::pin::pin!(tokio::time::sleep(PATIENCE));
        // Until there is a whole query.
        while whole_query(&input).is_none() {
            if declared(&input).is_some_and(|length| length > QUERY_MAX) {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "a query of more than 4096 bytes"));
            }
            let read = tokio::select! {
                read = stream.read_buf(&mut input) => read?,
                () = &mut deadline => return Ok(()),
                _ = stopped.wait_for(|s| *s), if input.is_empty() => return Ok(()),
            };
            if read == 0 {
                return Ok(());
            }
        }
        // All that is there, as far as the answers stay small.
        let mut taken = 0;
        while let Some(end) = whole_query(&input[taken..]).filter(|_| output.len() < WRITE_AT) {
            let query = &input[taken + 2..taken + end];
            taken += end;
            if transfer::is_request(query) {
                send(&mut stream, &mut output).await?;
                transfer_zone(open, &mut stream, query, client).await?;
                continue;
            }
            let snapshot = open.shared.cell.load();
            let (transport, entropy) = (Transport::Tcp, entropy.next());
            let circumstances = Circumstances::new(client, transport, entropy, seconds());
            let outcome = answer_with(&mut scratch, &snapshot, query, circumstances, &mut reply);
            open.shared.count(&snapshot, Transport::Tcp, &outcome);
            if !outcome.reply {
                return Ok(());
            }
            output.extend_from_slice(&(reply.len() as u16).to_be_bytes());
            output.extend_from_slice(&reply);
        }
        input.drain(..taken);
        send(&mut stream, &mut output).await?;
    }
}

/// Sends what is there and empties it.
async fn send(stream: &mut TcpStream, output: &mut Vec<u8>) -> io::Result<()> {
    match tokio::time::timeout(PATIENCE, stream.write_all(output)).await {
        Ok(written) => written?,
        Err(_) => return Err(io::Error::new(io::ErrorKind::TimedOut, "the client does not take its answers")),
    }
    output.clear();
    Ok(())
}

/// Answers a request for a transfer, message by message as the client takes them.
async fn transfer_zone(open: &Open, stream: &mut TcpStream, request: &[u8], client: IpAddr) -> io::Result<()> {
    let snapshot = open.shared.cell.load_full();
    let (mut message, mut output) = (Vec::new(), Vec::new());
    let frame = |message: &[u8], output: &mut Vec<u8>| {
        output.extend_from_slice(&(message.len() as u16).to_be_bytes());
        output.extend_from_slice(message);
    };
    let clients = &open.shared.clients;
    match transfer::begin(&snapshot, request, client, unix_now()) {
        transfer::Reply::One(reply) => frame(&reply, &mut output),
        transfer::Reply::Whole(mut outgoing) => {
            // Of more at a time the last wait: each holds a snapshot.
            let Ok(_turn) = tokio::time::timeout(PATIENCE, clients.transfers.acquire()).await else { return Ok(()) };
            tracing::info!(%client, "a zone is transferred");
            while outgoing.next(&mut message, unix_now()) {
                frame(&message, &mut output);
                send(stream, &mut output).await?;
            }
        }
    }
    send(stream, &mut output).await
}

/// The length that the prefix declares.
fn declared(input: &[u8]) -> Option<usize> {
    Some(usize::from(u16::from_be_bytes([*input.first()?, *input.get(1)?])))
}

/// Where the first query with its prefix ends, if it is there in whole.
fn whole_query(input: &[u8]) -> Option<usize> {
    declared(input).map(|length| 2 + length).filter(|end| *end <= input.len() && *end <= 2 + QUERY_MAX)
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
            transfers: Semaphore::new(TRANSFERS_MAX),
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

    /// Ends all connections at once.
    pub fn cut(&self) {
        self.is_cut.store(true, Ordering::SeqCst);
        self.cut.notify_waiters();
    }
}

// === impl Open ===

impl Open {
    /// `None`: too many.
    fn new(shared: &Arc<Shared>, client: IpAddr) -> Option<Open> {
        let live = Arc::clone(&shared.cell.load().dns);
        let client = network_of(client);
        let clients = &shared.clients;
        let mut by_client = clients.by_client.lock();
        let own = by_client.get(&client).copied().unwrap_or(0);
        let full = clients.total.load(Ordering::SeqCst) >= CONNECTIONS_MAX || own >= CONNECTIONS_OF_A_CLIENT_MAX;
        if full || clients.is_cut.load(Ordering::SeqCst) {
            live.tcp_rejected_total.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        by_client.insert(client, own + 1);
        clients.total.fetch_add(1, Ordering::SeqCst);
        live.tcp_connections.fetch_add(1, Ordering::Relaxed);
        Some(Open { shared: Arc::clone(shared), client })
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
        self.shared.cell.load().dns.tcp_connections.fetch_sub(1, Ordering::Relaxed);
        clients.total.fetch_sub(1, Ordering::SeqCst);
        clients.changed.notify_waiters();
    }
}

/// The client that shares a limit: an IPv4 address, or an IPv6 /64, which any household has.
fn network_of(client: IpAddr) -> IpAddr {
    match client.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from(u128::from(v6) & (u128::MAX << 64))),
        v4 => v4,
    }
}
