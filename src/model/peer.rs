//! Other boxes: who they are, what they tell of themselves, and what is known of them here.
//!
//! A box asks each of its peers once an interval, over mutual TLS, and is told a [`Report`]: the peer's own rows of data
//! centres, its modes, its clock, and what its configuration is. What was heard more than three intervals ago is
//! unknown, never false.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use super::check::Host;
use super::condition::Truth;
use super::id::Name;
use super::scenario::Mode;
use super::time::{Now, Wall};
use super::tls::Pem;

/// Of a report, and of an answer as it comes over the wire.
pub const REPORT_BYTES_MOST: usize = 2 << 20;
/// Data centres and pairs that a report may name.
pub const SITES_MOST: usize = 500;
/// Scenarios that a report names; of a box that has more, the first by name.
pub const SCENARIOS_MOST: usize = 4_000;
/// Of a name in a report. Bytes.
pub const NAME_MOST: usize = 255;
/// Silence of this many intervals makes what was heard unknown.
pub const STALE_INTERVALS: u32 = 3;
/// The longest pause between two attempts to reach a peer, unless the interval is longer.
const PAUSE_MOST: Duration = Duration::from_secs(10);

/// `[peer_link]`: this box's end of the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerLink {
    /// Where peers ask; `None`: nobody can.
    pub listen: Option<SocketAddr>,
    /// Boxes of another cluster are refused. Empty where not said.
    pub cluster: Name,
    /// Between two questions to a peer. Default 1 s.
    pub interval: Duration,
    /// An attempt, from the look-up of its name to the last byte of the answer. Less than the interval, see
    /// [`outlives_a_loss`](PeerLink::outlives_a_loss). Default nine tenths of it, at most 10 s.
    pub timeout: Duration,
    /// What is shown to whoever asks, and who signs their certificates; there where `listen` is.
    pub tls: Option<PeerTls>,
}

/// Certificates of one end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerTls {
    /// The leaf first, then its chain.
    pub certificate: Pem,
    pub key: Pem,
    /// Who signs the certificates of peers.
    pub ca: Pem,
}

/// `[peer.NAME]`: another box. Its certificate must name NAME, which is its `appliance.name`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    pub name: Name,
    /// The data centre that it stands in; default NAME.
    pub site: Name,
    /// Where it is asked; `None`: it may ask, and is not asked.
    pub url: Option<PeerUrl>,
    /// What is shown to it and whom its certificate must come from; there where `url` is.
    pub tls: Option<PeerTls>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PeerUrl {
    /// As written.
    pub text: Name,
    pub host: Host,
    pub port: u16,
}

/// What a box tells of itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// `appliance.name`
    pub appliance: Name,
    pub site: Option<Name>,
    pub cluster: Name,
    pub version: Name,
    /// Its clock.
    pub now: Wall,
    /// Of its whole configuration.
    pub config_hash: Name,
    /// Table and hash of what boxes have in common, see [`SHARED_TABLES`].
    pub tables: Vec<(Name, Name)>,
    /// It answers for no zone.
    pub witness: bool,
    pub pairs: Vec<ReportedPair>,
    /// As seen from there, in the order of `Signal::ALL`.
    pub datacenters: Vec<(Name, [Truth; 5])>,
    pub scenarios: Vec<ReportedScenario>,
}

/// Tables that boxes of a cluster have in common: they decide what is answered. The rest (addresses, services,
/// administration) is each box's own.
pub const SHARED_TABLES: [&str; 9] =
    ["check", "time_window", "switch", "trigger", "query", "scenario", "datacenter", "datacenter_pair", "zone"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedPair {
    pub name: Name,
    pub active: Name,
    pub backup: Name,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReportedScenario {
    pub name: Name,
    pub active: bool,
    pub seq: u64,
    /// Indexed by `Direction`.
    pub modes: [Mode; 2],
}

/// What an attempt to hear a peer came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct News {
    pub peer: Name,
    pub heard: Result<Heard, Name>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Heard {
    pub report: Arc<Report>,
    /// From the question to the end of the answer.
    pub round_trip: Duration,
}

/// What is known of all peers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerBook {
    /// Hashes of this box's own shared tables.
    pub tables: Vec<(Name, Name)>,
    pub peers: BTreeMap<Name, PeerView>,
    /// Boxes that asked this one and were refused, since start.
    pub refused_total: u64,
    /// Where this box can be asked, or why it cannot; `None`: nowhere.
    pub listening: Option<Result<SocketAddr, Name>>,
}

/// What is known of one peer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PeerView {
    pub state: PeerState,
    pub since: Now,
    /// When the last report came that was taken.
    pub heard_at: Option<Now>,
    pub report: Option<Arc<Report>>,
    pub round_trip: Duration,
    /// Its clock less ours, microseconds.
    pub clock_offset_us: Option<i64>,
    /// Its clock is off by more than [`CLOCK_WARN`].
    pub clock_is_off: bool,
    /// Why the last attempt failed; `None` where it did not.
    pub error: Option<Name>,
    pub failing_since: Option<Wall>,
    pub failures_total: u64,
    /// Shared tables that are not the same there.
    pub differs: Vec<Name>,
    pub differs_since: Option<Now>,
    /// They have differed for longer than [`DIFFERS_AFTER`].
    pub config_differs: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PeerState {
    /// Not heard since start, or not for three intervals.
    #[default]
    Unknown,
    Heard,
}

/// Configurations may differ for this long: somebody is rolling a change out.
pub const DIFFERS_AFTER: Duration = Duration::from_secs(60);
/// A clock that is off by more than this is warned of; drains, expiries and time windows of two boxes come apart.
pub const CLOCK_WARN: Duration = Duration::from_secs(2);

// === impl PeerLink ===

impl Default for PeerLink {
    fn default() -> PeerLink {
        PeerLink {
            listen: None,
            cluster: "".into(),
            interval: Duration::from_secs(1),
            timeout: PeerLink::patience(Duration::from_secs(1)),
            tls: None,
        }
    }
}

impl PeerLink {
    /// The time-out where none is said.
    pub fn patience(interval: Duration) -> Duration {
        (interval * 9 / 10).min(PAUSE_MOST)
    }

    /// Whether a peer is still known after one answer that is lost. It is asked again when that attempt is over, two
    /// intervals after it was last heard at the latest ([`pause`]), and may take the whole time-out to answer.
    pub fn outlives_a_loss(&self) -> bool {
        self.interval * 2 + self.timeout < self.stale_after()
    }

    /// What is older is unknown.
    pub fn stale_after(&self) -> Duration {
        self.interval * STALE_INTERVALS
    }
}

// === impl PeerState ===

impl PeerState {
    pub fn word(self) -> &'static str {
        match self {
            PeerState::Unknown => "unknown",
            PeerState::Heard => "heard",
        }
    }
}

// === impl PeerView ===

impl PeerView {
    /// The report, unless it is too old to say anything.
    pub fn current(&self) -> Option<&Arc<Report>> {
        self.report.as_ref().filter(|_| self.state == PeerState::Heard)
    }
}

/// From the beginning of an attempt to that of the next, unless it lasts longer, after `failures` in a row that failed:
/// doubled from the interval up to 10 s, half of it certain and half by `lot`, so that boxes do not knock in step.
pub fn pause(interval: Duration, failures: u32, lot: u64) -> Duration {
    let doubled = interval.saturating_mul(2_u32.saturating_pow(failures.saturating_sub(1).min(16)));
    let whole = doubled.min(PAUSE_MOST.max(interval));
    whole / 2 + (whole / 2).mul_f64((lot >> 40) as f64 / f64::from(1_u32 << 24))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_ten_seconds_and_half_of_each_is_by_lot() {
        let second = Duration::from_secs(1);
        for (failures, whole) in [(1, 1), (2, 2), (3, 4), (4, 8), (5, 10), (1_000, 10)] {
            let whole = Duration::from_secs(whole);
            assert_eq!(pause(second, failures, 0), whole / 2);
            let longest = pause(second, failures, u64::MAX);
            assert!(longest > whole.mul_f64(0.99) && longest <= whole, "{longest:?}");
        }
        let minute = Duration::from_secs(60);
        assert_eq!(pause(minute, 7, 0), minute / 2, "a long interval is not shortened");
    }

    #[test]
    fn one_answer_that_is_lost_never_makes_a_peer_unknown() {
        for millis in [100, 200, 1_000, 7_000, 60_000] {
            let interval = Duration::from_millis(millis);
            let link = |timeout| PeerLink { interval, timeout, ..PeerLink::default() };
            let good = [PeerLink::patience(interval), interval / 10, interval - Duration::from_millis(1)].map(link);
            for link in good {
                assert!(link.outlives_a_loss(), "{link:?}");
                for (lot, took) in [(0, Duration::ZERO), (u64::MAX, Duration::ZERO), (u64::MAX, link.timeout)] {
                    // Heard by an attempt that began at zero and took so long.
                    let heard = took;
                    let second = interval.max(took);
                    let third = second + link.timeout.max(pause(interval, 1, lot));
                    let answered = third + link.timeout;
                    assert!(answered < heard + link.stale_after(), "{link:?} lot {lot} took {took:?}");
                }
            }
            assert!(!link(interval).outlives_a_loss() && !link(interval * 2).outlives_a_loss());
        }
    }
}
