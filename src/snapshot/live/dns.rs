//! The DNS service and its zones, counted.

use std::collections::{HashMap, HashSet};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use super::{Askers, Listening, SecondaryLive};
use crate::balance::records::{Decision, Fallback, Set};
use crate::model::id::Name;
use crate::model::zone::Zone;

/// Counters and sockets of the DNS service. Totals never fall.
#[derive(Debug, Default)]
pub struct DnsLive {
    pub udp_queries_total: AtomicU64,
    pub tcp_queries_total: AtomicU64,
    pub tls_queries_total: AtomicU64,
    pub https_queries_total: AtomicU64,
    /// Answers by RCODE, the extended one included (16 is BADVERS); the last place counts what is above.
    pub rcodes_total: [AtomicU64; DnsLive::RCODES],
    /// Messages that get no answer: too short, or answers themselves.
    pub dropped_total: AtomicU64,
    /// Answers cut to TC over UDP.
    pub truncated_total: AtomicU64,
    /// Answers that the rate limit held back, those of `slipped_total` included.
    pub limited_total: AtomicU64,
    /// Of those, the ones that were sent with TC and without records.
    pub slipped_total: AtomicU64,
    /// Queries with a cookie that was ours.
    pub good_cookies_total: AtomicU64,
    /// Queries outside all zones.
    pub refused_total: AtomicU64,
    /// Answers that `on_empty` chose.
    pub fallback_total: AtomicU64,
    /// Open TCP connections without TLS.
    pub tcp_connections: AtomicU32,
    /// Open connections of DNS over TLS.
    pub tls_connections: AtomicU32,
    /// Open connections of DNS over HTTPS.
    pub https_connections: AtomicU32,
    /// Connections of all kinds closed at once because there were too many.
    pub tcp_rejected_total: AtomicU64,
    /// Handshakes with clients that came to nothing.
    pub tls_failed_total: AtomicU64,
    /// HTTP requests that brought no DNS message, and got another answer than one.
    pub http_refused_total: AtomicU64,
    /// The addresses of `[dns] listen` in order, each with how it stands; UDP and TCP share the port.
    pub listening: Mutex<Vec<(SocketAddr, Listening)>>,
    /// The same for `[dns.tls] listen`.
    pub listening_tls: Mutex<Vec<(SocketAddr, Listening)>>,
    /// The same for `[dns.https] listen`.
    pub listening_https: Mutex<Vec<(SocketAddr, Listening)>>,
    /// Who asks for what scenarios steer.
    pub askers: Askers,
    cookie_key: OwnKey,
}

/// Made when it is first needed; never printed.
#[derive(Default)]
struct OwnKey(OnceLock<[u8; 16]>);

/// Counters of one zone.
#[derive(Debug, Default)]
pub struct ZoneLive {
    pub queries_total: AtomicU64,
    pub nxdomain_total: AtomicU64,
    /// Answers that `on_empty` chose because every record of the set was left out.
    pub fallback_total: AtomicU64,
    /// Transfers to secondaries, of the whole zone.
    pub axfr_total: AtomicU64,
    /// Transfers to secondaries, by differences.
    pub ixfr_total: AtomicU64,
    /// Where it comes from primaries.
    pub secondary: SecondaryLive,
    /// By the key of the RRset.
    rrsets: Mutex<HashMap<Name, Arc<RrsetLive>>>,
}

/// Answers of one steered RRset, by what was served: after a transition they tell who still gets what. Totals never fall.
#[derive(Debug, Default)]
pub struct RrsetLive {
    served_total: [AtomicU64; Served::WORDS.len()],
    rate: super::Meter,
}

/// What an answer was made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Served {
    Primary,
    Dr,
    /// What `on_empty` chose.
    Fallback(Fallback),
}

// === impl ZoneLive ===

impl ZoneLive {
    /// The counters of the RRset with this key.
    pub fn rrset(&self, key: &Name) -> Arc<RrsetLive> {
        Arc::clone(self.rrsets.lock().entry(Arc::clone(key)).or_default())
    }

    /// Drops what the zone no longer has.
    pub fn retain(&self, zone: &Zone) {
        let keys: HashSet<&Name> = zone.rrsets.iter().map(|rrset| &rrset.key).collect();
        self.rrsets.lock().retain(|key, _| keys.contains(key));
    }
}

// === impl RrsetLive ===

impl RrsetLive {
    /// Counts so many answers.
    pub fn count(&self, served: Served, answers: u64) {
        self.served_total[served.index()].fetch_add(answers, Ordering::Relaxed);
    }

    /// Answers per minute, over the last 14 s.
    pub fn per_minute(&self, now: crate::model::time::Tick) -> u64 {
        // The meter counts whole numbers per second: sixty times as many answers are so many per minute.
        self.rate.per_second(now, self.totals().map(|(_, total)| total).sum::<u64>().saturating_mul(60))
    }

    /// Word and total of each.
    pub fn totals(&self) -> impl Iterator<Item = (&'static str, u64)> {
        Served::WORDS.into_iter().zip(self.served_total.iter().map(|total| total.load(Ordering::Relaxed)))
    }
}

// === impl Served ===

impl Served {
    /// `primary`, `dr`, and the values of `on_empty`.
    pub const WORDS: [&'static str; 8] =
        ["primary", "dr", "serve_all", "other_set", "static", "last_good", "nodata", "servfail"];

    pub fn of(decision: &Decision) -> Served {
        match (decision.fallback, decision.base) {
            (Some(fallback), _) => Served::Fallback(fallback),
            (None, Set::Primary) => Served::Primary,
            (None, Set::Dr(_)) => Served::Dr,
        }
    }

    fn index(self) -> usize {
        match self {
            Served::Primary => 0,
            Served::Dr => 1,
            Served::Fallback(Fallback::ServeAll) => 2,
            Served::Fallback(Fallback::OtherSet) => 3,
            Served::Fallback(Fallback::Static) => 4,
            Served::Fallback(Fallback::LastGood) => 5,
            Served::Fallback(Fallback::NoData) => 6,
            Served::Fallback(Fallback::ServFail) => 7,
        }
    }
}

// === impl DnsLive ===

impl DnsLive {
    /// Codes counted apart, and one place for the others.
    pub const RCODES: usize = 25;

    /// The addresses that are bound, with their real ports.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        let bound = |(_, listening): &(SocketAddr, Listening)| match listening {
            Listening::Bound { address, .. } => Some(*address),
            Listening::None | Listening::Failed { .. } => None,
        };
        self.listening.lock().iter().filter_map(bound).collect()
    }

    /// Open connections: 0 without TLS, 1 over TLS, 2 over HTTPS.
    pub fn connections(&self, transport: usize) -> &AtomicU32 {
        match transport {
            0 => &self.tcp_connections,
            1 => &self.tls_connections,
            _ => &self.https_connections,
        }
    }

    /// The key of cookies of this process; secret.
    pub fn cookie_key(&self) -> &[u8; 16] {
        self.cookie_key.0.get_or_init(|| {
            let mut key = [0; 16];
            // Without random numbers the key is still one that nobody can guess, only a worse one.
            if ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut key).is_err() {
                use std::hash::{BuildHasher, Hasher};
                let half = || std::collections::hash_map::RandomState::new().build_hasher().finish().to_le_bytes();
                key[..8].copy_from_slice(&half());
                key[8..].copy_from_slice(&half());
            }
            key
        })
    }
}

// === impl OwnKey ===

impl std::fmt::Debug for OwnKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("OwnKey(..)")
    }
}
