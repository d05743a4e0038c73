//! Idle connections to servers.
//!
//! Each thread has a shard of its own, so that nobody waits for the lock; who finds nothing there looks into the others.
//! A connection is given out again only for the same service, defined as it was, and with no flush in between.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::clock::TICK;
use super::server::Server;
use crate::model::service::{ProxyProtocol, Service};
use crate::model::tls::ServerTls;
use crate::snapshot::live::{Counted, Flush, ServiceLive};

/// Shards; threads beyond share.
const SHARDS: usize = 16;
/// Idle connections to one service in one shard at most.
const OF_SERVICE_MAX: usize = 256;
/// Idle connections are closed after this, or after the service's time-out where that is shorter.
const IDLE_MAX: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Pool {
    shards: Vec<Mutex<Shard>>,
    /// Connections in all shards.
    idle: AtomicUsize,
    idle_max: usize,
}

/// By the address of the service's counters, which each entry keeps from being used again.
type Shard = HashMap<usize, OfService>;

#[derive(Debug)]
struct OfService {
    live: Arc<ServiceLive>,
    definition: Definition,
    /// The one that was used last is the last.
    connections: Vec<Idle>,
}

#[derive(Debug)]
struct Idle {
    server: Server,
    /// The tick of the clock from which on it is closed.
    until: u64,
    _counted: Counted<ServiceLive>,
}

/// What a connection was made by. Differs where an open one may not be used any more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition {
    address: SocketAddr,
    flush: Flush,
    tls: Option<ServerTls>,
    http2: bool,
    proxy_protocol: Option<ProxyProtocol>,
    /// Whom the request asked for, where that is what TLS names the server by.
    host: Option<Box<str>>,
    /// Changes with the certificates that TLS is spoken with.
    stamp: u64,
}

// === impl Pool ===

impl Pool {
    /// `idle_max`: connections at most.
    pub fn new(idle_max: usize) -> Pool {
        Pool { shards: (0..SHARDS).map(|_| Mutex::default()).collect(), idle: AtomicUsize::new(0), idle_max }
    }

    /// The one that was used last, if it is still good.
    pub fn take(&self, live: &Arc<ServiceLive>, definition: &Definition, now: u64) -> Option<Server> {
        if self.idle.load(Ordering::Relaxed) == 0 {
            return None;
        }
        let own = shard();
        (0..SHARDS).find_map(|n| self.take_of(&mut self.shards[(own + n) % SHARDS].lock(), live, definition, now))
    }

    fn take_of(&self, shard: &mut Shard, live: &Arc<ServiceLive>, definition: &Definition, now: u64) -> Option<Server> {
        let of_service = shard.get_mut(&key(live))?;
        if of_service.definition != *definition {
            self.drop_all(of_service);
            return None;
        }
        while let Some(Idle { mut server, until, .. }) = of_service.connections.pop() {
            self.idle.fetch_sub(1, Ordering::Relaxed);
            if until > now && server.is_quiet() {
                return Some(server);
            }
        }
        None
    }

    /// Keeps a connection for later, unless there are too many.
    pub fn put(
        &self,
        live: &Arc<ServiceLive>,
        definition: Definition,
        server: Server,
        idle: Option<Duration>,
        now: u64,
    ) {
        let mut shard = self.shards[shard()].lock();
        let of_service = shard.entry(key(live)).or_insert_with(|| OfService {
            live: Arc::clone(live),
            definition: definition.clone(),
            connections: Vec::new(),
        });
        if of_service.definition != definition {
            self.drop_all(of_service);
            of_service.definition = definition;
        }
        if of_service.connections.len() >= OF_SERVICE_MAX || self.idle.load(Ordering::Relaxed) >= self.idle_max {
            if of_service.connections.is_empty() {
                return;
            }
            of_service.connections.remove(0);
            self.idle.fetch_sub(1, Ordering::Relaxed);
        }
        self.idle.fetch_add(1, Ordering::Relaxed);
        let idle = idle.unwrap_or(IDLE_MAX).min(IDLE_MAX);
        let ticks = u64::try_from(idle.as_millis().div_ceil(TICK.as_millis())).unwrap_or(u64::MAX);
        of_service.connections.push(Idle {
            server,
            until: now.saturating_add(ticks),
            _counted: Counted::new(live, |live| &live.pooled),
        });
    }

    /// Closes what is over: its time, its service's definition, or the connection itself. To be called about once a
    /// second.
    pub fn sweep(&self, now: u64) {
        for shard in &self.shards {
            shard.lock().retain(|_, of_service| {
                if of_service.definition.flush != *of_service.live.flush.borrow() {
                    self.drop_all(of_service);
                }
                let before = of_service.connections.len();
                of_service.connections.retain_mut(|idle| idle.until > now && idle.server.is_quiet());
                self.idle.fetch_sub(before - of_service.connections.len(), Ordering::Relaxed);
                !of_service.connections.is_empty()
            });
        }
    }

    fn drop_all(&self, of_service: &mut OfService) {
        self.idle.fetch_sub(of_service.connections.len(), Ordering::Relaxed);
        of_service.connections.clear();
    }
}

// === impl Definition ===

impl Definition {
    /// `stamp`: see `tls::Clients::stamp`; 0 without TLS.
    pub fn of(
        service: &Service,
        address: SocketAddr,
        live: &ServiceLive,
        host: Option<&str>,
        stamp: u64,
    ) -> Definition {
        let settings = &service.settings;
        let by_host = settings.tls.as_ref().is_some_and(|tls| tls.server_name.is_none());
        Definition {
            address,
            flush: *live.flush.borrow(),
            tls: settings.tls.clone(),
            http2: settings.http2,
            proxy_protocol: settings.proxy_protocol,
            host: host.filter(|_| by_host).map(Into::into),
            stamp,
        }
    }
}

fn key(live: &Arc<ServiceLive>) -> usize {
    Arc::as_ptr(live) as usize
}

/// The shard of this thread.
fn shard() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static MINE: usize = NEXT.fetch_add(1, Ordering::Relaxed) % SHARDS);
    MINE.with(|mine| *mine)
}
