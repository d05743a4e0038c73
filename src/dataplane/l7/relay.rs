//! The engine for the common request: HTTP/1.1 (and 1.0) to servers that speak HTTP/1.1.
//!
//! It reads each head once, by the grammar of [`head`](super::head), and writes it on field by field; bodies pass through
//! one buffer for each direction. A request costs two reads and two writes where nothing is missing: its head leaves with
//! what is there of its body, and so does the answer's. Everything that it waits for is polled together, so that a body, its
//! answer, a flush and a time limit are each seen when they come.
//!
//! ```text
//! client ── next head ─▶ request: limits, rules, member ─▶ pool or connect ─▶ exchange ─▶ pool
//!              │                       ▲                                        │
//!              │                       └───── another member, where nothing came ┘
//!              └─▶ pingora: an upgrade, or a vserver with HTTP/2 to its servers
//! ```

pub(in crate::dataplane::l7) mod answer;
mod body;
mod buffer;
mod client;
mod clock;
mod kept;
mod outset;
mod pool;
mod request;
mod serve;
mod server;
mod signals;
mod transit;
mod tries;
mod write;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::io::AsyncWriteExt;

use super::head::Framing;
use super::pages::Page;
use super::{close, pingora};
use crate::dataplane::conn::{ClientInfo, Transport};
use crate::dataplane::ended::Exchange;
use crate::dataplane::{Shared, reset_on_close};
use crate::model::ending::{Ending, Phase, Reason, Who};
use crate::model::id::Name;
use client::{Client, Next};
use clock::Clock;
use pool::Pool;
use request::Request;
use signals::Signals;

/// Ticks between two looks at the idle connections to servers.
const SWEEP_TICKS: u64 = 20;
/// Idle time-out of clients whose vserver is gone.
const IDLE_WITHOUT_VSERVER: Duration = Duration::from_secs(60);

/// What all connections share.
#[derive(Debug)]
pub(crate) struct Relay {
    clock: Arc<Clock>,
    pool: Pool,
}

/// How a connection ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Close,
    /// After the client has had time to take the last answer.
    Linger,
    Reset,
    /// Goes on with the other engine.
    HandOff,
}

// === impl Relay ===

impl Relay {
    /// `pooled`: idle connections to servers at most, over all services. To be called inside a runtime.
    pub fn new(pooled: usize) -> Arc<Relay> {
        let relay = Arc::new(Relay { clock: Clock::new(), pool: Pool::new(pooled) });
        let ticking = Arc::downgrade(&relay);
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(clock::TICK);
            loop {
                ticks.tick().await;
                let Some(relay) = ticking.upgrade() else { return };
                relay.clock.tick();
                let now = relay.clock.now();
                if now.is_multiple_of(SWEEP_TICKS) {
                    relay.pool.sweep(now);
                }
            }
        });
        relay
    }
}

/// Serves one connection to the end.
pub(super) async fn serve<S: Transport>(shared: &Arc<Shared>, stream: S, info: ClientInfo, vserver: Name) {
    let relay = Arc::clone(&shared.relay);
    let flush = {
        let snapshot = shared.plane.cell.load();
        let id = snapshot.model.vserver_id(&vserver);
        id.map(|id| (snapshot.vservers[id.index()].live.flush.subscribe(), snapshot.model.vserver(id)))
            .map(|(flush, vserver)| (flush, (vserver.client_timeout, vserver.http2)))
    };
    let (flush, intended) = flush.unzip();
    let (limit, http2) = intended.unwrap_or((IDLE_WITHOUT_VSERVER, false));
    let now = Instant::now();
    let mut client = Client {
        vserver,
        stream,
        input: None,
        ended: false,
        began: now,
        complete: now,
        unflushed: false,
        timer: relay.clock.timer(),
        limit,
        parting: false,
        // Over TLS it is agreed on by ALPN, and comes to the other engine at once.
        may_be_http2: http2 && info.tls.is_none(),
        signals: Signals::new(shared, flush),
        shared: Arc::clone(shared),
        info: Arc::new(info),
    };
    let end = run(&relay, &mut client).await;
    let Client { info, vserver, mut stream, input, ended, .. } = client;
    match end {
        End::HandOff => {
            let read = input.map_or_else(Bytes::new, |input| Bytes::copy_from_slice(input.data()));
            let info = Arc::unwrap_or_clone(info);
            Box::pin(pingora::take_over(shared, stream, info, read, vserver)).await;
        }
        End::Reset => reset_on_close(stream.socket()),
        End::Linger if !ended => Box::pin(close::linger(shared, stream)).await,
        End::Close | End::Linger if info.tls.is_some() => {
            // close_notify: without it the client cannot tell an end from a cut.
            let _ = tokio::time::timeout(close::LINGER, stream.shutdown()).await;
        }
        End::Close | End::Linger => {}
    }
}

/// Request after request.
async fn run<S: Transport>(relay: &Relay, client: &mut Client<S>) -> End {
    loop {
        let refusal = match client.next().await {
            Next::End => return End::Close,
            Next::Cut => return End::Reset,
            Next::Http2 => return End::HandOff,
            Next::Refused(refusal) => refusal,
            Next::Head(length) => match Request::parse(client.input(), length) {
                Err(refusal) => refusal,
                // Boxed, so that a connection is small while it is idle.
                Ok(request) => match Box::pin(serve_one(relay, client, request)).await {
                    Some(end) => return end,
                    None => continue,
                },
            },
        };
        tracing::debug!(client = %client.info.client, vserver = &*client.vserver, status = refusal.status,
            why = refusal.why, "request refused");
        let story = Exchange::begin(&client.info.conn, client.began);
        let mut out = buffer::Buffer::new();
        let page = super::pages::refusal(refusal, &story.id());
        out.put(&page);
        story.told(super::pages::body_length(&page));
        story.end(Who::Client, refusal.reason(), refusal.status);
        return if client.send(out).await { End::Linger } else { End::Close };
    }
}

async fn serve_one<S: Transport>(relay: &Relay, client: &mut Client<S>, request: Request) -> Option<End> {
    let snapshot = client.shared.plane.cell.load_full();
    let vserver = snapshot.model.vserver_id(&client.vserver);
    let vserver = vserver.filter(|&id| snapshot.model.vserver(id).protocol.is_http());
    let reach = vserver.map(|id| snapshot.routing.reach(id)).unwrap_or_default();
    // A copy needs the data of a body without its framing.
    let is_copied = reach.mirrors && request.head.framing == Framing::Chunked;
    if request.is_upgrade() || reach.http2 || is_copied {
        return Some(End::HandOff);
    }
    let mut story = Exchange::begin(&client.info.conn, client.began);
    request.describe(&mut story, client.input());
    let Some(vserver) = vserver else {
        // Removed, or made a TCP vserver, while this connection was open.
        client.signals.close();
        let ending = Ending::new(Who::Appliance, Phase::Head, Reason::Removed);
        return request::respond(client, &request, &Page::error(503), story, ending).await;
    };
    client.limit = snapshot.model.vserver(vserver).client_timeout;
    story.head_at(client.complete);
    serve::serve(relay, client, request, snapshot, vserver, story).await
}

#[cfg(test)]
mod tests {
    use tokio::net::TcpStream;

    use super::*;

    fn size<A, B, C, D, F>(_: impl FnOnce(A, B, C, D) -> F) -> usize {
        size_of::<F>()
    }

    #[test]
    fn an_idle_connection_is_small() {
        let bytes =
            size(|shared: &'static Arc<Shared>, stream: TcpStream, info, vserver| serve(shared, stream, info, vserver));
        assert!(bytes < 2048, "{bytes}");
    }
}
