//! L3: traffic. Reads the snapshot, reports observations upwards over a bounded queue, and never names the control
//! layer.
//!
//! ```text
//! listen: sockets of each VIP ─▶ l4  choose ─▶ connect ─▶ copy; udp: sessions, queries
//!   follows the snapshot      └▶ l7  head ─▶ policy ─▶ choose ─▶ the relay (or pingora) carries the bytes
//!                                         member: persistence ─▶ method ─▶ chain
//! ```

mod access;
mod aside;
mod conn;
mod connect;
mod crowd;
mod datagram;
pub mod dns;
mod ended;
pub mod handed;
pub mod l4;
pub mod l7;
mod leaving;
pub mod listen;
pub mod member;
mod places;
mod proxy;
mod seldom;
mod tls;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use tokio::net::TcpStream;
use tokio::sync::{Notify, mpsc, oneshot, watch};

use crate::balance::passive::Outcome;
use crate::model::ending::Reason;
use crate::model::event::Observation;
use crate::model::id::Name;
use crate::model::time::{Tick, micros};
use crate::snapshot::Cell;
use crate::snapshot::live::{ServiceLive, Traces};
use handed::{Handed, Socket};
use member::Plane;

/// Client connections of the process at most; fewer where the limit of open files says so.
const CONNECTIONS_MAX: usize = 100_000;

/// Idle connections to servers of the process at most.
const POOLED_MAX: usize = 4096;

/// Pipes of the process at most; bulk transfers beyond are copied.
const PIPES_MAX: usize = 256;

/// Open files left to listeners, probes, administration and DNS.
const FILES_RESERVED: usize = 256;

/// Everything that carries connections.
pub struct Dataplane {
    shared: Arc<Shared>,
    reconciled: watch::Receiver<u64>,
    /// Whoever asks for the sockets.
    asks: mpsc::Sender<oneshot::Sender<Vec<Socket>>>,
    leaving: watch::Sender<bool>,
    drain: watch::Sender<bool>,
    kill: watch::Sender<bool>,
}

/// How long a client may take, once the process or its VIP ends, to finish a handshake or a head that it has begun.
pub(crate) const PARTING: Duration = Duration::from_secs(1);

/// What every connection needs.
pub(crate) struct Shared {
    pub plane: Plane,
    pub l7: l7::Engine,
    pub mirrors: l7::Mirrors,
    pub relay: Arc<l7::Relay>,
    pub carrier: l7::Carrier,
    /// True once another process has the sockets: no new connections here, and the next answer on each is its last.
    pub leaving: watch::Receiver<bool>,
    /// True from the stop signal on: no new connections, no keep-alive.
    pub drain: watch::Receiver<bool>,
    /// True once the limit of the drain is over: everything ends.
    pub kill: watch::Receiver<bool>,
    pub places: places::Places,
    /// Handshakes with clients that may be under way at once: half of the connections, so that clients that begin one
    /// and fall silent leave room for those that are done with theirs.
    pub handshakes: tls::Handshakes,
    pub tls: tls::Servers,
    pub tls_clients: tls::Clients,
    pub log: access::AccessLog,
    /// Of a former process.
    pub handed: Handed,
    pub traces: Arc<Traces>,
    open: AtomicUsize,
    idle: Notify,
    origin: Instant,
}

/// What the limit of open files is spent on. A client connection may need two; an idle connection to a server is nobody's
/// and needs one, so it comes out of the same limit: without that a full pool and full connections would leave no file
/// for a probe or an accept.
#[derive(Debug, PartialEq, Eq)]
struct Budget {
    connections: usize,
    pooled: usize,
    /// Pipes of bulk transfers, two files each.
    pipes: usize,
}

/// What a limit of open files leaves, where it does not leave all.
#[derive(Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The limit.
    pub files: usize,
    /// Client connections at once.
    pub connections: usize,
    /// The limit with which it would be as many as there can be.
    pub files_for_all: usize,
}

/// An open client connection; counted until dropped.
pub(crate) struct Open(Arc<Shared>);

// === impl Dataplane ===

impl Dataplane {
    /// Binds what the current snapshot asks for and follows every later one. Must be called inside a tokio runtime.
    pub async fn start(cell: Arc<Cell>, observations: mpsc::Sender<Observation>) -> Dataplane {
        Dataplane::start_with(cell, observations, l7::Carrier::default()).await
    }

    /// [`start`](Self::start), with the engine that HTTP connections are given to at first.
    pub async fn start_with(
        cell: Arc<Cell>,
        observations: mpsc::Sender<Observation>,
        carrier: l7::Carrier,
    ) -> Dataplane {
        Dataplane::start_all(cell, observations, Instant::now(), PathBuf::new(), carrier, Handed::default()).await
    }

    /// [`start`](Self::start), with the moment at which the clock of the one writer shows zero, so that both mean the
    /// same by a tick; the folder that the name of the access log is relative to; and sockets of a former process.
    pub async fn start_at(
        cell: Arc<Cell>,
        observations: mpsc::Sender<Observation>,
        origin: Instant,
        folder: PathBuf,
        handed: Handed,
    ) -> Dataplane {
        Dataplane::start_all(cell, observations, origin, folder, l7::Carrier::default(), handed).await
    }

    async fn start_all(
        cell: Arc<Cell>,
        observations: mpsc::Sender<Observation>,
        origin: Instant,
        folder: PathBuf,
        carrier: l7::Carrier,
        handed: Handed,
    ) -> Dataplane {
        let (leaving, leaving_seen) = watch::channel(false);
        let (drain, drain_seen) = watch::channel(false);
        let (kill, kill_seen) = watch::channel(false);
        let budget = Budget::of(open_files_max());
        l4::set_most_pipes(budget.pipes);
        let traces = Arc::clone(&cell.load().traces);
        let shared = Arc::new(Shared {
            plane: Plane { cell, observations },
            // The rare request gets a quarter of the idle connections to servers.
            l7: l7::Engine::new(budget.pooled.div_ceil(4)),
            mirrors: l7::Mirrors::default(),
            relay: l7::Relay::new(budget.pooled - budget.pooled.div_ceil(4)),
            carrier,
            leaving: leaving_seen,
            drain: drain_seen,
            kill: kill_seen,
            places: places::Places::new(budget.connections),
            handshakes: tls::Handshakes::new(budget.connections / 2),
            tls: tls::Servers::default(),
            tls_clients: tls::Clients::default(),
            log: access::AccessLog::new(folder),
            handed,
            traces,
            open: AtomicUsize::new(0),
            idle: Notify::new(),
            origin,
        });
        let (asks, asked) = mpsc::channel(1);
        let reconciled = listen::start(Arc::clone(&shared), asked).await;
        Dataplane { shared, reconciled, asks, leaving, drain, kill }
    }

    /// The newest generation whose listeners are bound, or have failed for a reason that their state tells.
    pub fn reconciled(&self) -> watch::Receiver<u64> {
        self.reconciled.clone()
    }

    /// Closes the listeners and idle connections, lets what is in flight finish, and returns once no connection is open
    /// or `limit` is over; then the rest is reset.
    pub async fn drain(self, limit: Duration) {
        self.drain.send_replace(true);
        if tokio::time::timeout(limit, self.shared.all_closed()).await.is_err() {
            tracing::warn!(open = self.shared.open.load(Ordering::SeqCst), "drain limit is over, closing the rest");
        }
        self.kill.send_replace(true);
        // Give the tasks a moment to reset their sockets before the runtime goes.
        let gone = async {
            while self.shared.open.load(Ordering::SeqCst) > 0 {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let _ = tokio::time::timeout(Duration::from_millis(500), gone).await;
    }
}

// === impl Budget ===

impl Budget {
    /// A quarter of what is not reserved goes to idle connections (4096 at most), the rest to
    /// connections of clients. A limit below the reserve still serves, with little.
    fn of(open_files: Option<usize>) -> Budget {
        let Some(files) = open_files else {
            return Budget { connections: CONNECTIONS_MAX, pooled: POOLED_MAX, pipes: PIPES_MAX };
        };
        let files = files.saturating_sub(FILES_RESERVED.min(files / 2));
        let pooled = (files / 4).clamp(1, POOLED_MAX);
        let pipes = (files / 32).clamp(1, PIPES_MAX);
        let connections = (files.saturating_sub(pooled + 2 * pipes) / 2).clamp(12, CONNECTIONS_MAX);
        Budget { connections, pooled, pipes }
    }
}

// === impl Allowance ===

impl Allowance {
    fn of(files: usize) -> Option<Allowance> {
        let connections = Budget::of(Some(files)).connections;
        let files_for_all = 2 * CONNECTIONS_MAX + POOLED_MAX + 2 * PIPES_MAX + FILES_RESERVED;
        (connections < CONNECTIONS_MAX).then_some(Allowance { files, connections, files_for_all })
    }
}

// === impl Shared ===

impl Shared {
    pub fn open(self: &Arc<Self>) -> Open {
        self.open.fetch_add(1, Ordering::SeqCst);
        Open(Arc::clone(self))
    }

    /// Monotonic time, as the one writer tells it.
    pub fn now(&self) -> Tick {
        self.tick(Instant::now())
    }

    /// The same of a moment that was read off the clock already.
    pub fn tick(&self, at: Instant) -> Tick {
        Tick(micros(at.saturating_duration_since(self.origin)))
    }

    /// Tells a service how work on it went, `now`; see [`ServiceLive::outcome`].
    pub fn judge(&self, service: &Name, live: &ServiceLive, outcome: Outcome, now: Tick) {
        if let Some(ejection) = live.outcome(now, outcome) {
            let seconds = ejection.until.since(now).as_secs();
            let cause = tracing::field::display(ejection.cause);
            tracing::warn!(service = &**service, cause, seconds, times = ejection.times, "ejected");
            // For the journal. Lost only while the writer is far behind: the log and the metrics have it.
            let _ = self.plane.observations.try_send(Observation::Ejected {
                service: Name::clone(service),
                cause: ejection.cause,
                lasts: ejection.until.since(now),
                times: ejection.times,
            });
        }
    }

    /// Whether the next answer on a connection is its last.
    pub fn is_draining(&self) -> bool {
        *self.leaving.borrow() || *self.drain.borrow()
    }

    /// Whether the time of this process is nearly over.
    pub fn is_ending(&self) -> bool {
        *self.drain.borrow()
    }

    /// Why a client that was to go was not waited for.
    pub fn why_parted(&self) -> Reason {
        if self.is_draining() { Reason::Shutdown } else { Reason::Flushed }
    }

    /// Resolves once the process ends and nobody waits any longer for what a client has begun and not finished.
    pub async fn parting(&self) {
        raised(self.drain.clone()).await;
        tokio::select! {
            () = tokio::time::sleep(PARTING) => {}
            () = raised(self.kill.clone()) => {}
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if self.0.open.fetch_sub(1, Ordering::SeqCst) == 1 {
            self.0.idle.notify_waiters();
        }
    }
}

/// Resolves once the flag is up; never where its sender is gone.
pub(crate) async fn raised(mut flag: watch::Receiver<bool>) {
    if flag.wait_for(|up| *up).await.is_err() {
        std::future::pending::<()>().await;
    }
}

/// Makes the close of this socket a reset.
pub(crate) fn reset_on_close(stream: &TcpStream) {
    // Fails only where the socket is already gone.
    let _ = socket2::SockRef::from(stream).set_linger(Some(Duration::ZERO));
}

/// What this process may take; `None` where it is as many client connections as there can be.
pub fn allowance() -> Option<Allowance> {
    open_files_max().and_then(Allowance::of)
}

/// `None` where unlimited, or not to be found out.
fn open_files_max() -> Option<usize> {
    std::fs::read_to_string("/proc/self/limits").ok().and_then(|limits| open_files(&limits))
}

/// The soft limit of open files in the text of `/proc/self/limits`; `None` where unlimited.
fn open_files(limits: &str) -> Option<usize> {
    let line = limits.lines().find_map(|l| l.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::{Allowance, Budget};

    #[test]
    fn connections_and_idle_ones_to_servers_together_stay_below_the_limit_of_open_files() {
        for files in [64, 256, 1024, 4096, 65_536, 1_048_576] {
            let Budget { connections, pooled, pipes } = Budget::of(Some(files));
            assert!(2 * connections + pooled + 2 * pipes < files, "{files}: {connections}, {pooled} and {pipes}");
            assert!(connections >= 12 && pooled >= 1 && pipes >= 1, "{files}");
        }
        assert_eq!(Budget::of(Some(256)), Budget { connections: 44, pooled: 32, pipes: 4 });
        assert_eq!(Budget::of(None), Budget { connections: 100_000, pooled: 4096, pipes: 256 });
    }

    #[test]
    fn a_limit_that_allows_fewer_connections_says_which_limit_allows_all() {
        let few = Allowance::of(20_000).unwrap();
        assert_eq!(few, Allowance { files: 20_000, connections: 7568, files_for_all: 204_864 });
        assert_eq!(Allowance::of(few.files_for_all), None);
        assert!(Allowance::of(few.files_for_all - 2).is_some());
    }

    #[test]
    fn the_limit_of_open_files_is_read_from_proc() {
        let text = "Limit  Soft Limit  Hard Limit  Units\nMax open files            1024                 524288               files\n";
        assert_eq!(super::open_files(text), Some(1024));
        assert_eq!(super::open_files("Max open files   unlimited unlimited files"), None);
        assert_eq!(super::open_files(""), None);
    }
}
