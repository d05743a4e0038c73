//! The engine that carries HTTP: one `HttpProxy` for all VIPs, fed by our own listeners through our own stream.
//!
//! What pingora decides here: framing towards the server, the pool of its connections, and the copying. What it does
//! not: which bytes of a client are a request ([`head`](super::head)), who serves it ([`member`](crate::dataplane::member)),
//! what an error looks like ([`pages`](super::pages)).

mod connection;
mod dial;
mod hooks;
mod http2;
mod io;
mod peer;

use std::sync::Arc;

use pingora_core::apps::HttpServerApp;
use pingora_core::protocols::http::ServerSession;
use pingora_core::server::configuration::ServerConf;
use pingora_proxy::{HttpProxy, http_proxy};

use super::link::Link;
use super::stream::ClientStream;
use hooks::Hooks;

pub(super) use connection::take_over;

/// Tries of one request at most, first one included. The hooks stop much earlier, by time.
const TRIES_MAX: usize = 64;

pub(crate) struct Engine {
    proxy: Arc<HttpProxy<Hooks>>,
    prepared: peer::Prepared,
}

// === impl Engine ===

impl Engine {
    /// `pooled`: idle connections to servers at most, over all services; beyond that the oldest is closed.
    pub(crate) fn new(pooled: usize) -> Engine {
        let conf = ServerConf {
            max_retries: TRIES_MAX,
            upstream_keepalive_pool_size: pooled,
            threads: 1,
            ..ServerConf::default()
        };
        Engine { proxy: Arc::new(http_proxy(&Arc::new(conf), Hooks)), prepared: peer::Prepared::default() }
    }

    fn prepared(&self) -> &peer::Prepared {
        &self.prepared
    }

    /// Answers the streams of one HTTP/2 connection until it ends.
    async fn run_http2(&self, stream: http2::Http2Stream, link: &Arc<Link>) {
        http2::run(&self.proxy, stream, link).await;
    }

    /// Answers the requests of one HTTP/1 connection until it ends.
    async fn run(&self, stream: ClientStream) {
        let link = Arc::clone(stream.link());
        let drain = link.shared.drain.clone();
        let mut session = ServerSession::new_http1(Box::new(stream));
        loop {
            // No time-out of pingora's before a head: the stream has its own.
            session.set_keepalive(Some(0));
            let Some(reused) = self.proxy.process_new_http(session, &drain).await else { return };
            link.allow_next();
            session = ServerSession::new_http1(reused.consume().0);
        }
    }
}
