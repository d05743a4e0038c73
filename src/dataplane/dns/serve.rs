//! DNS over UDP, TCP, TLS and HTTPS: sockets that follow `[dns]` of the current snapshot.
//!
//! Each address of `listen` has a UDP socket for each core, read by a thread of its own in batches (one system call for many
//! datagrams, [`batch`]), and one TCP listener on the tokio runtime. Both share the port; port 0 takes one that is free
//! for both. Those of `[dns.tls]` and `[dns.https]` have a TCP listener each; a certificate that is read anew is shown
//! from the next handshake on, and open connections go on with theirs. A socket stays as long as its address is
//! configured, whatever else a new generation changes, so a reload drops no query.
//! What cannot be bound says so in [`DnsLive::listening`](crate::snapshot::live::DnsLive) and is tried again.

mod ahead;
mod batch;
mod clients;
mod encrypted;
mod https;
mod socket;
mod tally;
mod tcp;
mod udp;

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinHandle;

use super::answer::{Outcome, Transport};
use super::notify::Notifier;
use super::secondary::Secondaries;
use super::wire::rcode;
use super::{notified, unix_now};
use crate::balance::records::Fallback;
use crate::dataplane::handed::{Handed, Socket};
use crate::dataplane::tls::Servers;
use crate::model::time::Wall;
use crate::snapshot::limiter::{Kind, Verdict};
use crate::snapshot::live::Listening;
use crate::snapshot::{Cell, Snapshot};
use ahead::Ahead;
use tally::Tally;

/// What the sockets of `[dns] listen` are handed on as.
const OWNER: &str = "dns";

/// How long a socket that could not be bound waits for its next try.
const RETRY: Duration = Duration::from_secs(2);

/// The DNS service of the appliance.
pub struct DnsServer {
    shared: Arc<Shared>,
    reconciled: watch::Receiver<u64>,
    /// Whoever asks for the sockets.
    asks: mpsc::Sender<oneshot::Sender<Vec<Socket>>>,
    leaving: watch::Sender<bool>,
    stop: watch::Sender<bool>,
    follower: JoinHandle<()>,
}

/// What every socket needs.
struct Shared {
    cell: Arc<Cell>,
    clients: clients::Clients,
    tls: Servers,
    /// Of a former process.
    handed: Handed,
    /// True from the stop on: TCP connections end after the queries that they have sent.
    stopped: watch::Receiver<bool>,
    /// Fallbacks that `on_empty` chose since the last line in the log.
    unlogged: AtomicU64,
}

/// One address of `[dns] listen`.
struct Bound {
    address: SocketAddr,
    local: bool,
    udp: udp::Server,
    tcp: tcp::Server,
}

// === impl DnsServer ===

impl DnsServer {
    /// Binds what the current snapshot asks for and follows every later one. Must be called inside a tokio runtime.
    pub async fn start(cell: Arc<Cell>) -> DnsServer {
        DnsServer::start_with(cell, None).await
    }

    /// [`start`](Self::start), with zones that come from primaries.
    pub async fn start_with(cell: Arc<Cell>, secondaries: Option<Secondaries>) -> DnsServer {
        DnsServer::start_handed(cell, secondaries, Handed::default()).await
    }

    /// [`start_with`](Self::start_with), on sockets of a former process where it had those that are asked for.
    pub async fn start_handed(cell: Arc<Cell>, mut secondaries: Option<Secondaries>, handed: Handed) -> DnsServer {
        let (stop, stopped) = watch::channel(false);
        let (leaving, mut left) = watch::channel(false);
        let (asks, mut asked) = mpsc::channel::<oneshot::Sender<Vec<Socket>>>(1);
        let mut published = cell.subscribe();
        published.borrow_and_update();
        let shared = Arc::new(Shared {
            cell,
            clients: clients::Clients::default(),
            tls: Servers::default(),
            handed,
            stopped,
            unlogged: AtomicU64::new(0),
        });
        let mut sockets = HashMap::new();
        let mut secured = encrypted::Listeners::default();
        let snapshot = shared.cell.load_full();
        let mut failed = reconcile(&shared, &mut sockets, &snapshot).await;
        failed |= secured.reconcile(&shared, &snapshot).await;
        let (done, reconciled) = watch::channel(snapshot.generation);
        drop(snapshot);
        let following = Arc::clone(&shared);
        let (mut notifier, mut ahead) = (Notifier::default(), Ahead::default());
        notifier.follow(&shared.cell.load_full());
        ahead.follow(&shared.cell.load_full());
        let mut follow = move |snapshot: &Snapshot| {
            if let Some(secondaries) = &mut secondaries {
                secondaries.follow(snapshot);
            }
        };
        follow(&shared.cell.load_full());
        let follower = tokio::spawn(async move {
            let shared = following;
            let mut stopped = shared.stopped.clone();
            let mut hourly = tokio::time::interval(ahead::EVERY);
            hourly.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
            hourly.reset();
            loop {
                let retry =
                    async { if failed { tokio::time::sleep(RETRY).await } else { std::future::pending().await } };
                tokio::select! {
                    _ = stopped.wait_for(|s| *s) => break,
                    Ok(_) = left.wait_for(|left| *left) => break,
                    Some(answer) = asked.recv() => {
                        let _ = answer.send(all_sockets(&sockets, &secured));
                        continue;
                    }
                    changed = published.changed() => if changed.is_err() { break },
                    () = retry => {}
                    _ = hourly.tick() => ahead.look(&shared.cell.load_full()),
                }
                let snapshot = shared.cell.load_full();
                failed = reconcile(&shared, &mut sockets, &snapshot).await;
                failed |= secured.reconcile(&shared, &snapshot).await;
                notifier.follow(&snapshot);
                ahead.follow(&snapshot);
                follow(&snapshot);
                done.send_replace(snapshot.generation);
                shared.log_fallbacks();
            }
            // Another process reads them where this one was left: they are closed here, and not shut down.
            let leaves = *left.borrow();
            for (_, bound) in sockets.drain() {
                match leaves {
                    true => bound.leave().await,
                    false => bound.close().await,
                }
            }
            secured.close().await;
        });
        DnsServer { shared, reconciled, asks, leaving, stop, follower }
    }

    /// The newest generation whose sockets are bound, or have failed for a reason that their state tells.
    pub fn reconciled(&self) -> watch::Receiver<u64> {
        self.reconciled.clone()
    }

    /// All sockets, for another process; they go on here.
    pub async fn sockets(&self) -> Vec<Socket> {
        let (answer, sockets) = oneshot::channel();
        let _ = self.asks.send(answer).await;
        sockets.await.unwrap_or_default()
    }

    /// Another process answers on the sockets by now: takes no new query or connection; open connections go on until
    /// [`stop`](Self::stop).
    pub fn leave(&self) {
        self.leaving.send_replace(true);
    }

    /// Closes the sockets, lets open TCP connections get the answers they have asked for, and returns once none is open
    /// or `grace` is over; the rest is cut.
    pub async fn stop(self, grace: Duration) {
        self.stop.send_replace(true);
        let _ = self.follower.await;
        let live = Arc::clone(&self.shared.cell.load().dns);
        for listening in [&live.listening, &live.listening_tls, &live.listening_https] {
            listening.lock().clear();
        }
        let closed = self.shared.clients.all_closed();
        if tokio::time::timeout(grace, closed).await.is_err() {
            tracing::warn!(open = self.shared.clients.open(), "DNS connections cut after the grace");
        }
        self.shared.clients.cut();
    }
}

/// Makes the sockets those of `snapshot`. True where one could not be bound.
async fn reconcile(shared: &Arc<Shared>, sockets: &mut HashMap<SocketAddr, Bound>, snapshot: &Snapshot) -> bool {
    let wanted = &snapshot.model.dns.listen;
    let stale: Vec<SocketAddr> = sockets.keys().filter(|asked| !wanted.contains(asked)).copied().collect();
    let bind = |asked: SocketAddr, sockets: &mut HashMap<SocketAddr, Bound>| match sockets.get(&asked) {
        Some(bound) => Ok(bound.listening()),
        None => Bound::new(shared, asked).map(|bound| {
            tracing::info!(address = %bound.address, "answering DNS");
            let listening = bound.listening();
            sockets.insert(asked, bound);
            listening
        }),
    };
    // New before old, so that a changed address is served without a gap; what the old stood in the way of comes after.
    let first: Vec<_> = wanted.iter().map(|&asked| bind(asked, sockets)).collect();
    for asked in stale {
        if let Some(bound) = sockets.remove(&asked) {
            bound.close().await;
        }
    }
    let mut failed = false;
    let mut states = Vec::with_capacity(wanted.len());
    for (&asked, tried) in wanted.iter().zip(first) {
        let state = tried.or_else(|_| bind(asked, sockets)).unwrap_or_else(|error| {
            tracing::warn!(address = %asked, %error, "cannot answer DNS");
            failed = true;
            Listening::Failed { error: format!("{asked}: {error}") }
        });
        states.push((asked, state));
    }
    *snapshot.dns.listening.lock() = states;
    failed
}

/// Those that are bound; one that this process has no file left for stays behind.
fn all_sockets(sockets: &HashMap<SocketAddr, Bound>, secured: &encrypted::Listeners) -> Vec<Socket> {
    let mut all: Vec<std::io::Result<Socket>> = secured.sockets();
    for (asked, bound) in sockets {
        all.push(bound.tcp.handed(OWNER, *asked));
        all.extend(bound.udp.handed(OWNER, *asked));
    }
    all.into_iter()
        .inspect(|one| _ = one.as_ref().inspect_err(|e| tracing::error!(error = %e, "not handed")))
        .flatten()
        .collect()
}

// === impl Bound ===

impl Bound {
    fn new(shared: &Arc<Shared>, asked: SocketAddr) -> std::io::Result<Bound> {
        let pair = socket::bind_handed(&shared.handed, asked, udp::readers())?;
        Ok(Bound {
            address: pair.address,
            local: socket::is_local(asked.ip()),
            udp: udp::Server::start(shared, pair.udp, asked.ip().is_unspecified())?,
            tcp: tcp::Server::start(shared, pair.tcp, Transport::Tcp)?,
        })
    }

    /// Returns once the port is free.
    async fn close(self) {
        tracing::info!(address = %self.address, "no longer answering DNS");
        drop(self.udp);
        self.tcp.close().await;
    }

    /// Reads nothing more; what was read is answered.
    async fn leave(self) {
        self.tcp.close().await;
        self.udp.leave().await;
    }

    fn listening(&self) -> Listening {
        Listening::Bound { address: self.address, local: self.local }
    }
}

// === impl Shared ===

impl Shared {
    /// Counts one message.
    fn count(&self, snapshot: &Snapshot, transport: Transport, outcome: &Outcome) {
        Tally::new(snapshot, transport).count(self, outcome);
    }

    /// Answers what only looks like no query: NOTIFY from primaries. What became of it where it was one.
    fn notified(
        snapshot: &Snapshot,
        outcome: &Outcome,
        message: &[u8],
        client: IpAddr,
        reply: &mut Vec<u8>,
    ) -> Option<Outcome> {
        if outcome.rcode != rcode::NOTIMP || !notified::is_notify(message) {
            return None;
        }
        let code = notified::answer(snapshot, message, client, unix_now(), reply);
        // Nothing of it can be cut out: it is sent, or not.
        Some(Outcome { reply: !reply.is_empty(), rcode: code, good_cookie: outcome.good_cookie, ..Outcome::default() })
    }

    /// What the rate limit says of an answer over UDP, whose source nobody has proved; cuts or clears `reply`.
    fn limit(snapshot: &Snapshot, client: IpAddr, outcome: &Outcome, now: Wall, chance: u64, reply: &mut Vec<u8>) {
        if outcome.good_cookie {
            snapshot.dns.good_cookies_total.fetch_add(1, Ordering::Relaxed);
            return;
        }
        let Some(limiter) = snapshot.zones.limiter().filter(|_| outcome.reply) else { return };
        let kind = match outcome.rcode {
            rcode::NOERROR if outcome.records => Kind::Records,
            rcode::NOERROR | rcode::NXDOMAIN => Kind::Nothing,
            _ => Kind::Error,
        };
        let verdict = limiter.judge(client, kind, now.seconds(), chance);
        if verdict == Verdict::Send {
            return;
        }
        snapshot.dns.limited_total.fetch_add(1, Ordering::Relaxed);
        if verdict == Verdict::Slip && outcome.between.0 > 0 {
            snapshot.dns.slipped_total.fetch_add(1, Ordering::Relaxed);
            outcome.cut(reply);
        } else {
            reply.clear();
        }
    }

    /// One line for many: the first, and then every power of two.
    fn log_fallback(&self, snapshot: &Snapshot, zone: Option<usize>, rrset: u32, fallback: Fallback) {
        let count = self.unlogged.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_power_of_two() {
            let key = zone.map(|at| &*snapshot.model.zones[at].rrsets[rrset as usize].key);
            tracing::warn!(rrset = key, on_empty = fallback.word(), count, "no record is left; on_empty decides");
        }
    }

    /// A new generation: whatever falls back now is news.
    fn log_fallbacks(&self) {
        self.unlogged.store(0, Ordering::Relaxed);
    }
}

/// The time by which answers count.
fn wall() -> Wall {
    std::time::UNIX_EPOCH.elapsed().map_or(Wall(0), |since| Wall(since.as_micros() as i64))
}

/// Random bits that no client can guess; one for each reader.
struct Entropy(u64);

impl Entropy {
    fn new() -> Entropy {
        use std::hash::{BuildHasher, Hasher};
        Entropy(std::collections::hash_map::RandomState::new().build_hasher().finish())
    }

    /// The counter of splitmix64; `balance` mixes it.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0
    }
}
