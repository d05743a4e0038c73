//! Spans of requests on their way out: put here by traffic, taken by who sends them.
//!
//! What waits is bounded. Where it is not taken in time what comes is dropped and counted; traffic never waits.

use std::collections::VecDeque;
use std::fmt;
use std::hash::Hasher as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use parking_lot::Mutex;
use siphasher::sip::SipHasher24;
use siphasher::sip128::{Hasher128 as _, SipHasher24 as SipHasher128};

use crate::model::ending::Ending;
use crate::model::id::Name;

/// Requests whose spans wait at most; of each a few KiB.
pub const WAITING_MOST: usize = 4_096;

/// What waits, and counters. Totals never fall.
pub struct Traces {
    on: AtomicBool,
    /// Names of traces and spans are made of these and of how many there were: nobody can guess one, and none is twice.
    key: [u64; 2],
    named: AtomicU64,
    waiting: Mutex<VecDeque<Box<Traced>>>,
    /// Requests that were sampled.
    pub sampled_total: AtomicU64,
    /// Requests whose spans were dropped, as too many waited or nobody took them.
    pub dropped_total: AtomicU64,
    /// Requests whose spans were taken by the other end.
    pub sent_total: AtomicU64,
    /// Attempts to send that failed.
    pub failures_total: AtomicU64,
}

/// A sampled request that has ended. Times are nanoseconds since 1970.
#[derive(Clone, Debug, PartialEq)]
pub struct Traced {
    pub trace: [u8; 16],
    pub span: [u8; 8],
    /// The caller's span.
    pub parent: Option<[u8; 8]>,
    pub began: u64,
    pub ended: u64,
    pub client: SocketAddr,
    pub tls: bool,
    pub method: String,
    pub host: String,
    /// Without its query.
    pub path: String,
    /// `HTTP/1.1`
    pub protocol: &'static str,
    pub agent: String,
    pub vserver: Name,
    pub rule: Option<Name>,
    /// As the log names it.
    pub id: String,
    /// What the client was told; 0: nothing.
    pub status: u16,
    /// By the server or by ourselves, and by no decision that somebody asked for.
    pub failed: bool,
    pub bytes_in: u64,
    pub bytes_out: u64,
    pub ending: Ending,
    /// What happened when.
    pub moments: Vec<(&'static str, u64)>,
    /// The servers that were tried, in order.
    pub tries: Vec<Tried>,
}

/// One server that was to answer it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    pub span: [u8; 8],
    pub vserver: Name,
    pub service: Name,
    pub address: SocketAddr,
    pub began: u64,
    pub ended: u64,
    /// A connection that was kept.
    pub reused: bool,
    /// What it said; 0: nothing.
    pub status: u16,
    /// Why it came to nothing.
    pub failed: Option<String>,
    pub moments: Vec<(&'static str, u64)>,
}

// === impl Traces ===

impl Default for Traces {
    fn default() -> Traces {
        let mut key = [0; 16];
        // Without random numbers of the system names are still none twice, in this process.
        let _ = ring::rand::SecureRandom::fill(&ring::rand::SystemRandom::new(), &mut key);
        let (first, second) = key.split_at(8);
        let number = |bytes: &[u8]| bytes.iter().fold(0_u64, |all, &b| all << 8 | u64::from(b));
        Traces {
            on: AtomicBool::new(false),
            key: [number(first), number(second)],
            named: AtomicU64::new(0),
            waiting: Mutex::default(),
            sampled_total: AtomicU64::new(0),
            dropped_total: AtomicU64::new(0),
            sent_total: AtomicU64::new(0),
            failures_total: AtomicU64::new(0),
        }
    }
}

impl Traces {
    /// Whether requests take part at all.
    pub fn is_on(&self) -> bool {
        self.on.load(Relaxed)
    }

    pub fn set_on(&self, on: bool) {
        self.on.store(on, Relaxed);
    }

    /// A new name of a trace.
    pub fn name_trace(&self) -> [u8; 16] {
        let mut hasher = SipHasher128::new_with_keys(self.key[0], self.key[1]);
        hasher.write_u64(self.named.fetch_add(1, Relaxed));
        match hasher.finish128().as_u128() {
            0 => [1; 16],
            name => name.to_be_bytes(),
        }
    }

    /// A new name of a span.
    pub fn name_span(&self) -> [u8; 8] {
        let mut hasher = SipHasher24::new_with_keys(self.key[0], self.key[1]);
        hasher.write_u64(self.named.fetch_add(1, Relaxed));
        hasher.finish().max(1).to_be_bytes()
    }

    /// Takes what is to be sent, or drops and counts it.
    pub fn put(&self, traced: Box<Traced>) {
        self.sampled_total.fetch_add(1, Relaxed);
        let mut waiting = self.waiting.lock();
        if waiting.len() < WAITING_MOST {
            waiting.push_back(traced);
        } else {
            self.dropped_total.fetch_add(1, Relaxed);
        }
    }

    /// What has waited longest, `most` at most.
    pub fn take(&self, most: usize) -> Vec<Box<Traced>> {
        let mut waiting = self.waiting.lock();
        let most = most.min(waiting.len());
        waiting.drain(..most).collect()
    }
}

impl fmt::Debug for Traces {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Traces").field("on", &self.on).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::model::ending::{Phase, Reason, Who};

    fn traced() -> Box<Traced> {
        Box::new(Traced {
            trace: [1; 16],
            span: [1; 8],
            parent: None,
            began: 0,
            ended: 0,
            client: "127.0.0.1:1".parse().unwrap(),
            tls: false,
            method: String::new(),
            host: String::new(),
            path: String::new(),
            protocol: "HTTP/1.1",
            agent: String::new(),
            vserver: "web".into(),
            rule: None,
            id: String::new(),
            status: 0,
            failed: false,
            bytes_in: 0,
            bytes_out: 0,
            ending: Ending::new(Who::Server, Phase::Body, Reason::Done),
            moments: Vec::new(),
            tries: Vec::new(),
        })
    }

    #[test]
    fn what_nobody_takes_is_bounded_and_what_is_dropped_is_counted() {
        let traces = Traces::default();
        for _ in 0..WAITING_MOST + 7 {
            traces.put(traced());
        }
        assert_eq!(traces.sampled_total.load(Relaxed), WAITING_MOST as u64 + 7);
        assert_eq!(traces.dropped_total.load(Relaxed), 7);
        assert_eq!(traces.take(10).len(), 10);
        traces.put(traced());
        assert_eq!(traces.dropped_total.load(Relaxed), 7, "there is room again");
        assert_eq!(traces.take(usize::MAX).len(), WAITING_MOST - 9);
        assert!(traces.take(1).is_empty());
    }

    #[test]
    fn no_name_is_given_twice() {
        let (a, b) = (Traces::default(), Traces::default());
        let names = [&a, &b].into_iter().flat_map(|traces| (0..1_000).map(|_| traces.name_trace()));
        assert_eq!(names.collect::<HashSet<_>>().len(), 2_000);
        let names = [&a, &b].into_iter().flat_map(|traces| (0..1_000).map(|_| traces.name_span()));
        assert_eq!(names.collect::<HashSet<_>>().len(), 2_000);
    }
}
