//! One HTTP/2 connection of a client: its streams, and how it ends.
//!
//! pingora has a loop for this, but its connections live under bounds that cannot be set, end without a word where they
//! are idle, and know no end but the client's. So the loop is here; each stream is a request like any other from there on.
//!
//! All streams of a connection are carried by its own task, so that what they send to one server, and to the client,
//! leaves in few writes: a task for each would wake the other side for every single one.
//!
//! | what | ends with |
//! |---|---|
//! | no stream open for the vserver's `client_timeout` | GOAWAY |
//! | the process or the VIP goes away, or the member that answers is draining | GOAWAY; open streams finish |
//! | a PING of ours unanswered for [`PING`] while streams are open | closed |
//! | a flood ([`frames`](crate::dataplane::l7::head::frames)), or too many malformed requests | GOAWAY (ENHANCE_YOUR_CALM) |
//! | more answers wait for clients than the process holds, and most of them here ([`unsent`]) | the same |
//! | the member of one stream is flushed | that stream is reset |
//! | a client that owes a body sends nothing for `client_timeout` | that stream is reset |

mod io;
mod session;
mod unsent;

use std::future::pending;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use h2::Reason as Code;
use pingora_core::apps::HttpServerApp;
use pingora_core::protocols::http::ServerSession;
use pingora_core::protocols::raw_connect::ProxyDigest;
use pingora_core::protocols::{Digest, SocketDigest};
use pingora_http::ResponseHeader;
use pingora_proxy::HttpProxy;
use tokio::time::{Instant, Sleep, sleep, sleep_until, timeout};

use super::hooks::Hooks;
use crate::dataplane::l7::head::HEAD_MAX_BYTES;
use crate::dataplane::l7::head::frames::Fault;
use crate::dataplane::l7::link::Link;
use crate::dataplane::raised;
use crate::model::ending::{Phase, Reason, Who};
pub(super) use io::Http2Stream;
use session::Http2Session;
pub(super) use unsent::Unsent;

/// Streams of one connection at once.
pub const STREAMS_MAX: u32 = 100;
/// Bytes of bodies that a connection may send before they are taken: for one stream, and for all.
const STREAM_WINDOW_BYTES: u32 = 256 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 1024 * 1024;
/// Bytes of an answer that wait for the client, for one stream.
const UNSENT_MAX_BYTES: usize = 64 * 1024;
/// Time for the preface and the first SETTINGS.
const HANDSHAKE_LIMIT: Duration = Duration::from_secs(10);
/// A PING is sent each time this passes while streams are open, and must be answered until the next.
const PING: Duration = Duration::from_secs(30);
/// Time for the client to take our GOAWAY and close.
const GOODBYE: Duration = Duration::from_secs(5);

/// Serves all streams of a connection until it ends.
pub(super) async fn run(proxy: &Arc<HttpProxy<Hooks>>, stream: Http2Stream, link: &Arc<Link>) {
    let fd = stream.fd();
    let handshake = options().handshake::<_, Bytes>(stream);
    let begun =
        tokio::select! { begun = timeout(HANDSHAKE_LIMIT, handshake) => begun, () = link.shared.parting() => return };
    let Ok(Ok(mut connection)) = begun else { return };
    let mut pinger = Pinger::new(connection.ping_pong());
    let unsent = link.shared.l7.unsent.connection();
    let mut streams = FuturesUnordered::new();
    // When it is over whatever the client does.
    let mut cut = None;
    let mut closing = false;
    let mut idle_since = Instant::now();
    // Where another process has the sockets, GOAWAY sends new requests there and loses none of those under way.
    let mut closed = pin!(async {
        tokio::select! {
            () = link.closed() => {}
            () = raised(link.shared.leaving.clone()) => {}
        }
    });
    let mut faulted = pin!(link.faulted());
    loop {
        let idle = streams.is_empty();
        let limit = if closing { GOODBYE } else { link.idle() };
        let over = idle_since + limit.min(Duration::from_secs(365 * 86_400));
        // In this order: all requests that are there are begun before the first is carried on, and what they have for
        // the client leaves together once all have had their turn.
        tokio::select! {
            biased;
            accepted = connection.accept() => {
                let Some(Ok((request, answering))) = accepted else { break };
                let stream = Link::of_stream(link);
                let session = Http2Session::new(request, answering, digest(fd, &stream), (Arc::clone(link), Arc::clone(&unsent)));
                streams.push(serve(Arc::clone(proxy), session, stream));
            }
            () = async { while streams.next().await.is_some() {} }, if !idle => idle_since = Instant::now(),
            () = &mut closed, if !closing => {
                closing = true;
                idle_since = Instant::now();
                connection.graceful_shutdown();
            }
            why = &mut faulted, if cut.is_none() => {
                tracing::debug!(client = %link.client, vserver = &*link.vserver, ?why, "HTTP/2 connection cut");
                link.cut(Who::Client, Reason::BadRequest);
                link.info.conn.ended(Who::Client, Phase::Head, Reason::BadRequest);
                connection.abrupt_shutdown(match why {
                    Fault::Flood(_) => Code::ENHANCE_YOUR_CALM,
                    Fault::NoSettings => Code::PROTOCOL_ERROR,
                });
                cut = Some(Instant::now() + GOODBYE);
            }
            () = async { sleep_until(cut.unwrap_or(over)).await }, if cut.is_some() => break,
            () = async { sleep_until(over).await }, if idle => {
                if closing {
                    break;
                }
                link.info.conn.ended(Who::Client, Phase::Head, Reason::KeepAliveTimeout);
                closing = true;
                idle_since = Instant::now();
                connection.graceful_shutdown();
            }
            () = pinger.lost(), if !idle => break,
        }
    }
    link.cut(Who::Client, Reason::ClientGone);
    link.linger();
}

/// One request.
async fn serve(proxy: Arc<HttpProxy<Hooks>>, session: Http2Session, link: Arc<Link>) {
    let answering = session.answering();
    let drain = link.shared.drain.clone();
    let mut request = proxy.process_new_http(ServerSession::new_custom(Box::new(session)), &drain);
    let mut stalled = pin!(link.stalled());
    // Where it ends early the session is dropped, which resets the stream.
    std::future::poll_fn(|cx| {
        if request.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        // After the request: it may just have set what this waits for.
        if let Poll::Ready(reason) = link.poll_flushed(cx) {
            link.cut(Who::Appliance, reason);
            return Poll::Ready(());
        }
        if answering.poll_reset(cx).is_ready() {
            link.cut(Who::Client, Reason::ClientGone);
            return Poll::Ready(());
        }
        // A timer only where there is something to wait for.
        if link.is_owed() && stalled.as_mut().poll(cx).is_ready() {
            link.cut(Who::Client, Reason::IdleTimeout);
            return Poll::Ready(());
        }
        Poll::Pending
    })
    .await;
}

fn options() -> h2::server::Builder {
    let mut options = h2::server::Builder::new();
    options
        .max_concurrent_streams(STREAMS_MAX)
        .max_header_list_size(u32::try_from(HEAD_MAX_BYTES).unwrap_or(u32::MAX))
        .initial_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_send_buffer_size(UNSENT_MAX_BYTES)
        .max_pending_accept_reset_streams(20)
        .max_local_error_reset_streams(Some(64))
        .max_concurrent_reset_streams(50);
    options
}

/// What the hooks find the stream's link by.
fn digest(fd: std::os::fd::RawFd, link: &Arc<Link>) -> Arc<Digest> {
    let socket = SocketDigest::from_raw_fd(fd);
    let _ = socket.peer_addr.set(Some(link.client.into()));
    let head = ResponseHeader::build(200, Some(0)).ok();
    let proxy = head.map(|head| Arc::new(ProxyDigest::new(Box::new(head), Some(Box::new(Arc::clone(link))))));
    Arc::new(Digest { proxy_digest: proxy, socket_digest: Some(Arc::new(socket)), ..Digest::default() })
}

/// Asks whether the client is still there.
struct Pinger {
    pings: Option<h2::PingPong>,
    at: Pin<Box<Sleep>>,
    waiting: bool,
}

// === impl Pinger ===

impl Pinger {
    fn new(pings: Option<h2::PingPong>) -> Pinger {
        Pinger { pings, at: Box::pin(sleep(PING)), waiting: false }
    }

    /// Resolves once a PING was not answered in time. May be dropped and called again.
    async fn lost(&mut self) {
        let Some(pings) = &mut self.pings else { return pending().await };
        loop {
            tokio::select! {
                () = &mut self.at => {
                    if self.waiting || pings.send_ping(h2::Ping::opaque()).is_err() {
                        return;
                    }
                    self.waiting = true;
                }
                pong = std::future::poll_fn(|cx| pings.poll_pong(cx)), if self.waiting => {
                    if pong.is_err() {
                        return;
                    }
                    self.waiting = false;
                }
            }
            self.at.as_mut().reset(Instant::now() + PING);
        }
    }
}
