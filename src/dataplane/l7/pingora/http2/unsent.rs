//! Answers that clients do not take.
//!
//! A stream whose client has closed its window holds what the engine has read of its answer meanwhile: some pieces of
//! [`PIECE_BYTES`]. One connection has [`STREAMS_MAX`](super::STREAMS_MAX) streams, and windows cost a client nothing, so
//! all that wait together are bounded by a part of the machine's memory. Where more wait, a connection that has as many of
//! them as others have on average, or more, is cut: whoever holds much goes before whoever is merely slow.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// Bytes that the engine reads at once.
const PIECE_BYTES: usize = 64 * 1024;
/// Pieces that it holds for one stream.
const PIECES: usize = 8;
/// The part of the machine's memory that all together may take.
const MEMORY_PART: usize = 8;
/// Streams that may wait, however little memory there is.
const STREAMS_MIN: usize = 256;

/// Of all connections.
#[derive(Debug)]
pub(in crate::dataplane::l7::pingora) struct Unsent {
    most: usize,
    streams: AtomicUsize,
    /// Connections with at least one of them.
    connections: AtomicUsize,
}

/// Of one connection.
#[derive(Debug)]
pub(super) struct OfConnection {
    all: Arc<Unsent>,
    streams: AtomicUsize,
}

/// A stream waits until this is dropped.
#[derive(Debug)]
pub(super) struct Waiting(Arc<OfConnection>);

// === impl Unsent ===

impl Unsent {
    /// For a machine with as much memory as this one.
    pub fn new() -> Unsent {
        let known = std::fs::read_to_string("/proc/meminfo").ok().and_then(|text| memory(&text));
        Unsent::of(known.unwrap_or(0) / MEMORY_PART / (PIECE_BYTES * PIECES))
    }

    /// `most`: streams that may wait, [`STREAMS_MIN`] at least.
    fn of(most: usize) -> Unsent {
        Unsent { most: most.max(STREAMS_MIN), streams: AtomicUsize::new(0), connections: AtomicUsize::new(0) }
    }

    pub(super) fn connection(self: &Arc<Unsent>) -> Arc<OfConnection> {
        Arc::new(OfConnection { all: Arc::clone(self), streams: AtomicUsize::new(0) })
    }
}

/// Bytes, of the text of `/proc/meminfo`.
fn memory(text: &str) -> Option<usize> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_whitespace().next()?.parse::<usize>().ok()?.checked_mul(1024)
}

// === impl OfConnection ===

impl OfConnection {
    /// One more of its streams waits. True where the connection is to be cut for it.
    pub fn wait(self: &Arc<OfConnection>) -> (Waiting, bool) {
        let own = self.streams.fetch_add(1, Relaxed) + 1;
        let all = self.all.streams.fetch_add(1, Relaxed) + 1;
        let connections = match own {
            1 => self.all.connections.fetch_add(1, Relaxed) + 1,
            _ => self.all.connections.load(Relaxed),
        };
        let too_many = all > self.all.most && own.saturating_mul(connections) >= all;
        (Waiting(Arc::clone(self)), too_many)
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if self.0.streams.fetch_sub(1, Relaxed) == 1 {
            self.0.all.connections.fetch_sub(1, Relaxed);
        }
        self.0.all.streams.fetch_sub(1, Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Connections that have as many streams each as may wait: how many of these wait where those that are to be cut are.
    fn held(connections: usize, each: usize) -> usize {
        let all = Arc::new(Unsent::of(STREAMS_MIN));
        let mut open = Vec::new();
        for _ in 0..connections {
            let connection = all.connection();
            let mut waiting = Vec::new();
            for _ in 0..each {
                let (more, is_cut) = connection.wait();
                waiting.push(more);
                if is_cut {
                    waiting.clear();
                    break;
                }
            }
            open.push(waiting);
        }
        let held = all.streams.load(Relaxed);
        drop(open);
        assert_eq!((all.streams.load(Relaxed), all.connections.load(Relaxed)), (0, 0), "all is given back");
        held
    }

    #[test]
    fn however_many_connections_close_their_windows_no_more_than_the_bound_wait() {
        for (connections, each) in [(20, 100), (1000, 100), (3, 100), (300, 1), (2000, 1), (2000, 7)] {
            let held = held(connections, each);
            // Whoever has less than the average may go on up to it.
            assert!(held <= 2 * STREAMS_MIN, "{connections} with {each}: {held}");
            assert!(held >= STREAMS_MIN.min(connections * each) / 2, "{connections} with {each}: {held}");
        }
    }

    #[test]
    fn whoever_is_merely_slow_stays_where_others_hold_much() {
        let all = Arc::new(Unsent::of(STREAMS_MIN));
        let (slow, greedy) = (all.connection(), all.connection());
        let (_first, is_cut) = slow.wait();
        assert!(!is_cut);
        let held: Vec<_> = (0..STREAMS_MIN).map(|_| greedy.wait()).collect();
        assert_eq!(held.iter().filter(|(_, is_cut)| *is_cut).count(), 1, "the one that is over the bound");
        let (_second, is_cut) = slow.wait();
        assert!(!is_cut);
    }

    #[test]
    fn memory_is_read_from_proc() {
        assert_eq!(memory("MemTotal:       16384 kB\nMemFree: 1 kB\n"), Some(16 << 20));
        assert_eq!(memory(""), None);
        assert_eq!(memory("MemTotal: many"), None);
    }
}
