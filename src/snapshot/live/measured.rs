//! What is measured of requests and connections: times by interval, and how they ended.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use super::histogram::{Counts, Histogram};
use crate::model::ending::{Ending, Phase, Reason, Who};

/// A part of the time that a request (HTTP) or a connection (L4) takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Interval {
    /// From the first byte of the request to the last of the answer; L4: from accept to close.
    Total,
    /// In the surge queue; of those only that waited there.
    Queue,
    /// Until the server took the connection, its handshake not included; of new connections only.
    Connect,
    /// The handshake with the server; of new connections only.
    ServerTls,
    /// From the last byte of the request (L4: the first) given to the server until its answer begins.
    FirstByte,
    /// From the first byte of the answer to its last.
    Transfer,
    /// In which neither side was awaited: from the complete head (L4: from accept, or the end of the client's handshake)
    /// until a server was called or a kept connection to one was taken, without the queue; and from the first byte of
    /// the answer until its head was given to the client's socket. The copying of bodies is not in it: there our time
    /// and waiting cannot be told apart without a clock at every read.
    Own,
    /// The handshake with the client, once a connection.
    ClientTls,
}

/// Histograms by interval, each allocated at its first value.
#[derive(Debug, Default)]
pub struct Measured([OnceLock<Box<Histogram>>; Interval::ALL.len()]);

/// Counters by ending. What never occurred takes no place.
#[derive(Debug)]
pub struct Endings([OnceLock<Box<[AtomicU64; PLACES]>>; Reason::ALL.len()]);

const PLACES: usize = Who::ALL.len() * Phase::ALL.len();

// === impl Interval ===

impl Interval {
    pub const ALL: [Interval; 8] = [
        Interval::Total,
        Interval::Queue,
        Interval::Connect,
        Interval::ServerTls,
        Interval::FirstByte,
        Interval::Transfer,
        Interval::Own,
        Interval::ClientTls,
    ];

    /// As metrics, log and headers write it.
    pub fn word(self) -> &'static str {
        match self {
            Interval::Total => "total",
            Interval::Queue => "queue",
            Interval::Connect => "connect",
            Interval::ServerTls => "server_tls",
            Interval::FirstByte => "first_byte",
            Interval::Transfer => "transfer",
            Interval::Own => "own",
            Interval::ClientTls => "client_tls",
        }
    }
}

// === impl Measured ===

impl Measured {
    pub fn record(&self, interval: Interval, time: Duration) {
        self.0[interval as usize].get_or_init(Box::default).record(time);
    }

    /// `None` where nothing was ever recorded.
    pub fn counts(&self, interval: Interval) -> Option<Counts> {
        self.0[interval as usize].get().map(|histogram| histogram.counts())
    }
}

// === impl Endings ===

impl Default for Endings {
    fn default() -> Endings {
        Endings([const { OnceLock::new() }; Reason::ALL.len()])
    }
}

impl Endings {
    pub fn count(&self, ending: Ending) {
        let places = self.0[ending.reason as usize].get_or_init(|| Box::new([const { AtomicU64::new(0) }; PLACES]));
        places[ending.who as usize * Phase::ALL.len() + ending.phase as usize].fetch_add(1, Relaxed);
    }

    /// Those that occurred.
    pub fn counts(&self) -> Vec<(Ending, u64)> {
        let mut counts = Vec::new();
        for (&reason, places) in Reason::ALL.iter().zip(&self.0) {
            let Some(places) = places.get() else { continue };
            for (place, count) in places.iter().enumerate() {
                let ending =
                    Ending::new(Who::ALL[place / Phase::ALL.len()], Phase::ALL[place % Phase::ALL.len()], reason);
                match count.load(Relaxed) {
                    0 => {}
                    count => counts.push((ending, count)),
                }
            }
        }
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_ending_has_a_counter_of_its_own() {
        let endings = Endings::default();
        assert_eq!(endings.counts(), []);
        let mut all = Vec::new();
        for &reason in Reason::ALL {
            for who in Who::ALL {
                all.extend(Phase::ALL.map(|phase| Ending::new(who, phase, reason)));
            }
        }
        for (times, &ending) in all.iter().enumerate() {
            (0..=times % 3).for_each(|_| endings.count(ending));
        }
        let told: Vec<(Ending, u64)> = all.iter().enumerate().map(|(i, &e)| (e, i as u64 % 3 + 1)).collect();
        assert_eq!(endings.counts(), told);
    }

    #[test]
    fn intervals_are_kept_apart_and_take_little_at_rest() {
        let measured = Measured::default();
        measured.record(Interval::Own, Duration::from_micros(3));
        for interval in Interval::ALL {
            assert_eq!(measured.counts(interval).map(|c| c.count), (interval == Interval::Own).then_some(1));
        }
        assert!(size_of::<Measured>() <= 128 && size_of::<Endings>() <= 640);
    }
}
