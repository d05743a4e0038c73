//! Listeners of TCP, TLS and HTTPS, and DNS over the first two (RFC 7766, RFC 7858): queries may be pipelined; a
//! connection ends when it has been idle too long, takes its answers too slowly, or sends what is no DNS.
//!
//! An answer is made while its query is looked at, so answers come in the order of the queries, but for transfers: those
//! take long, and queries that come meanwhile are answered between two of their messages.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_rustls::server::TlsStream;

use super::clients::Open;
use super::{Entropy, Shared, Transport, https, wall};
use crate::dataplane::dns::answer::{Circumstances, Scratch, answer_with};
use crate::dataplane::dns::turns::Turn;
use crate::dataplane::dns::{transfer, unix_now};
use crate::dataplane::handed::Socket;
use crate::dataplane::tls;

/// Time for a whole handshake.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// How long a client may take to end its side of a connection that ends here.
const PARTING: Duration = Duration::from_secs(1);
/// Answers wait for each other up to this. Bytes.
const WRITE_AT: usize = 64 << 10;
/// What is read while a transfer is under way. Bytes.
const READ_AHEAD: usize = 16 << 10;
/// What waits in the kernel to be sent, at most. Bytes.
const UNSENT_MOST: u32 = 16 << 10;
/// A query with every imaginable option stays below. Bytes.
pub(super) const QUERY_MAX: usize = 4096;

/// The listener of one address; it ends with it, its connections do not.
pub(super) struct Server {
    acceptor: JoinHandle<()>,
    listener: Arc<TcpListener>,
}

/// A transfer on its way, and its turn among all.
struct Sending {
    outgoing: Box<transfer::Outgoing>,
    message: Vec<u8>,
    _turn: Turn,
}

// === impl Server ===

impl Server {
    pub fn start(shared: &Arc<Shared>, listener: std::net::TcpListener, transport: Transport) -> io::Result<Server> {
        let listener = Arc::new(TcpListener::from_std(listener)?);
        let acceptor = tokio::spawn(accept(Arc::clone(shared), Arc::clone(&listener), transport));
        Ok(Server { acceptor, listener })
    }

    /// The listener, for another process.
    pub fn handed(&self, owner: &str, asked: SocketAddr) -> io::Result<Socket> {
        Socket::stream(owner, asked, &self.listener)
    }

    /// Returns once the port is free.
    pub async fn close(self) {
        self.acceptor.abort();
        let _ = self.acceptor.await;
    }
}

async fn accept(shared: Arc<Shared>, listener: Arc<TcpListener>, transport: Transport) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let Some(open) = Open::new(&shared, transport, peer.ip()) else { continue };
                send_little_ahead(&stream);
                tokio::spawn(async move {
                    let cut = open.shared.clients.cut.notified();
                    tokio::select! {
                        result = Box::pin(serve(&open, stream, peer.ip())) => {
                            if let Err(error) = result {
                                tracing::debug!(%peer, %error, ?transport, "DNS connection");
                            }
                        }
                        () = open.guest.when_left() => {}
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

/// A full queue takes more only when a third of it is free, which may be megabytes: too much for a slow client to take
/// within the time that it has.
fn send_little_ahead(stream: &TcpStream) {
    let _ = socket2::SockRef::from(stream).set_tcp_notsent_lowat(UNSENT_MOST);
}

/// One connection to its end.
async fn serve(open: &Open, stream: TcpStream, client: IpAddr) -> io::Result<()> {
    match open.transport {
        Transport::Udp | Transport::Tcp => carry(open, stream, client).await,
        Transport::Tls => carry(open, secure(open, tls::DNS_TLS, stream).await?, client).await,
        Transport::Https => https::carry(open, secure(open, tls::DNS_HTTPS, stream).await?, client).await,
    }
}

async fn secure(open: &Open, name: &str, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
    let limit = HANDSHAKE.min(open.limits.idle_timeout);
    let mut stopped = open.shared.stopped.clone();
    let done = tokio::select! {
        done = tls::terminate_dns(&open.shared.tls, name, stream, limit) => done,
        _ = stopped.wait_for(|s| *s) => Err("the process ends".to_owned()),
    };
    done.map_err(|why| {
        open.shared.cell.load().dns.tls_failed_total.fetch_add(1, Ordering::Relaxed);
        io::Error::other(why)
    })
}

/// Messages with their lengths before them, to the end of the connection.
async fn carry(open: &Open, mut stream: impl AsyncRead + AsyncWrite + Unpin, client: IpAddr) -> io::Result<()> {
    let idle = open.limits.idle_timeout;
    let mut stopped = open.shared.stopped.clone();
    let mut scratch = Scratch::default();
    let mut entropy = Entropy::new();
    let (mut input, mut output, mut reply) = (Vec::with_capacity(512), Vec::new(), Vec::new());
    let mut left = open.queries();
    let mut sending: Option<Sending> = None;
    let mut has_ended = false;
    let mut deadline = Instant::now() + idle;
    loop {
        open.guest.set_busy(sending.is_some() || whole_query(&input).is_some());
        // All that is there, as far as the answers stay small.
        let (mut taken, mut count) = (0, 0);
        while left > 0 && count < open.limits.pipeline && output.len() < WRITE_AT {
            let Some(end) = whole_query(&input[taken..]) else { break };
            let query = &input[taken + 2..taken + end];
            if transfer::is_request(query) {
                // One at a time.
                if sending.is_some() {
                    break;
                }
                sending = begin_transfer(open, query, client, &mut output).await?;
            } else {
                let snapshot = open.shared.cell.load();
                let (transport, entropy) = (open.transport, entropy.next());
                let circumstances = Circumstances::new(client, transport, entropy, wall());
                let outcome = answer_with(&mut scratch, &snapshot, query, circumstances, &mut reply);
                open.shared.count(&snapshot, transport, &outcome);
                if !outcome.reply {
                    return Ok(());
                }
                Shared::notified(&snapshot, &outcome, query, client, &mut reply);
                frame(&reply, &mut output);
            }
            taken += end;
            count += 1;
            left -= 1;
        }
        input.drain(..taken);
        sending = sending.and_then(|sending| sending.next(&mut output));
        if !output.is_empty() {
            send(&mut stream, &mut output, idle).await?;
            deadline = Instant::now() + idle;
        }
        if sending.is_some() {
            if !has_ended && input.len() < READ_AHEAD {
                tokio::select! {
                    biased;
                    read = stream.read_buf(&mut input) => has_ended = read? == 0,
                    () = std::future::ready(()) => {}
                }
            }
            continue;
        }
        if left == 0 {
            return part(stream).await;
        }
        if whole_query(&input).is_some() {
            continue;
        }
        if declared(&input).is_some_and(|length| length > QUERY_MAX) {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a query of more than 4096 bytes"));
        }
        if has_ended {
            return Ok(());
        }
        open.guest.set_busy(false);
        let read = tokio::select! {
            read = stream.read_buf(&mut input) => read?,
            () = tokio::time::sleep_until(deadline) => 0,
            _ = stopped.wait_for(|s| *s), if input.is_empty() => 0,
        };
        if read == 0 {
            // Over TLS the end is told, so that nobody takes it for an attack.
            let _ = tokio::time::timeout(PARTING, stream.shutdown()).await;
            return Ok(());
        }
    }
}

/// Sends what is there and empties it. `limit`: for the client to take some of it, again and again.
async fn send(stream: &mut (impl AsyncWrite + Unpin), output: &mut Vec<u8>, limit: Duration) -> io::Result<()> {
    let silence = |_| io::Error::new(io::ErrorKind::TimedOut, "the client does not take its answers");
    let mut sent = 0;
    while sent < output.len() {
        match tokio::time::timeout(limit, stream.write(&output[sent..])).await.map_err(silence)?? {
            0 => return Err(io::ErrorKind::WriteZero.into()),
            taken => sent += taken,
        }
    }
    tokio::time::timeout(limit, stream.flush()).await.map_err(silence)??;
    output.clear();
    Ok(())
}

/// Ends our side, and reads on a little: a close with unread bytes would be a reset, which may overtake the answers.
async fn part(mut stream: impl AsyncRead + AsyncWrite + Unpin) -> io::Result<()> {
    let mut scrap = [0; 4096];
    let over = async {
        stream.shutdown().await?;
        while stream.read(&mut scrap).await? > 0 {}
        Ok(())
    };
    tokio::time::timeout(PARTING, over).await.unwrap_or(Ok(()))
}

/// Refuses a transfer, or begins it.
async fn begin_transfer(
    open: &Open,
    request: &[u8],
    client: IpAddr,
    output: &mut Vec<u8>,
) -> io::Result<Option<Sending>> {
    let begin = || transfer::begin(&open.shared.cell.load_full(), request, client, unix_now());
    let turns = &open.shared.clients.transfers;
    let (mut reply, mut turn) = (begin(), turns.try_take(open.client));
    if turn.is_none() && matches!(reply, transfer::Reply::Whole(_)) {
        // Each holds a snapshot: who waits holds none.
        drop(reply);
        turn = tokio::time::timeout(open.limits.idle_timeout, turns.take(open.client)).await.ok();
        reply = begin();
    }
    match (reply, turn) {
        (transfer::Reply::One(reply), _) => {
            frame(&reply, output);
            Ok(None)
        }
        (transfer::Reply::Whole(outgoing), Some(turn)) => {
            tracing::info!(%client, "a zone is transferred");
            outgoing.count();
            Ok(Some(Sending { outgoing, message: Vec::new(), _turn: turn }))
        }
        (transfer::Reply::Whole(outgoing), None) => {
            tracing::warn!(%client, "a transfer is refused for now: too many are under way");
            frame(&outgoing.refusal(unix_now()), output);
            Ok(None)
        }
    }
}

fn frame(message: &[u8], output: &mut Vec<u8>) {
    output.extend_from_slice(&(message.len() as u16).to_be_bytes());
    output.extend_from_slice(message);
}

/// The length that the prefix declares.
fn declared(input: &[u8]) -> Option<usize> {
    Some(usize::from(u16::from_be_bytes([*input.first()?, *input.get(1)?])))
}

/// Where the first query with its prefix ends, if it is there in whole.
fn whole_query(input: &[u8]) -> Option<usize> {
    declared(input).map(|length| 2 + length).filter(|end| *end <= input.len() && *end <= 2 + QUERY_MAX)
}

// === impl Sending ===

impl Sending {
    /// Adds the next message to what is sent. `None`: it was the last.
    fn next(mut self, output: &mut Vec<u8>) -> Option<Sending> {
        if !self.outgoing.next(&mut self.message, unix_now()) {
            return None;
        }
        frame(&self.message, output);
        Some(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_client_that_takes_its_answers_slowly_gets_them_all_and_one_that_takes_none_is_given_up() {
        let limit = Duration::from_secs(10);
        let (mut ours, mut theirs) = tokio::io::duplex(64);
        let slow = tokio::spawn(async move {
            let mut taken = 0;
            let mut some = [0; 32];
            while taken < 4_096 {
                tokio::time::sleep(Duration::from_secs(9)).await;
                taken += theirs.read(&mut some).await.unwrap();
            }
            theirs
        });
        let mut output = vec![7; 4_096];
        let began = Instant::now();
        send(&mut ours, &mut output, limit).await.unwrap();
        assert!(output.is_empty() && began.elapsed() > 100 * limit);
        let _silent = slow.await.unwrap();
        let began = Instant::now();
        let given_up = send(&mut ours, &mut vec![7; 4_096], limit).await.unwrap_err();
        assert_eq!((given_up.kind(), began.elapsed()), (io::ErrorKind::TimedOut, limit));
    }

    #[tokio::test]
    async fn little_waits_in_the_kernel_for_a_slow_client() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (client, accepted) = tokio::join!(TcpStream::connect(listener.local_addr().unwrap()), listener.accept());
        let stream = accepted.unwrap().0;
        send_little_ahead(&stream);
        assert_eq!(socket2::SockRef::from(&stream).tcp_notsent_lowat().unwrap(), UNSENT_MOST);
        drop(client);
    }
}
