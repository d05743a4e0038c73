//! What happens under load: spillover, the surge queue, limits on one client, retries.

use std::time::Duration;

use super::balancing::Extract;
use super::condition::Condition;
use super::id::{Name, WatchedId};

/// New connections go to the backup while the condition holds; the state stays UP.
#[derive(Clone, Debug, PartialEq)]
pub struct Spillover {
    pub method: SpilloverMethod,
    /// NetScaler's `soPersistence` with its time-out (2..=1440 min): a client that spilled keeps going there, by address.
    pub persistence: Option<Duration>,
    /// NetScaler's `soBackupAction`: where the chain cannot take what spills.
    pub backup_action: BackupAction,
}

#[derive(Clone, Debug, PartialEq)]
pub enum SpilloverMethod {
    /// Percent of weights UP, below which new clients go to the backup. 1..=100. A draining service is not UP.
    Health { threshold: u8 },
    /// Open client connections of the vserver from which on new ones spill. 1..=4294967287.
    Connection { threshold: u32 },
    /// The sum of the members' `max_client` instead of a threshold.
    DynamicConnection,
    /// bit/s of both directions together. NetScaler's threshold counts kbit/s.
    Bandwidth { threshold: u64 },
    /// While a board term is true: NetScaler's policy-based spillover.
    Condition { when: Condition, watched: Vec<Vec<Option<WatchedId>>> },
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum BackupAction {
    /// Accepted by the vserver itself, over its threshold. NetScaler's ACCEPT; the default, so that spillover never
    /// refuses anybody by itself.
    #[default]
    Accept,
    /// Refused.
    Drop,
    /// Sent to `redirect_url` (HTTP).
    Redirect,
}

/// NetScaler's surge queue: who finds every member at its limit waits, first come, first served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surge {
    /// Who may wait at once. 0: nobody, all are refused at once. Default 1000.
    pub max: u32,
    /// How long at most; then 503 (HTTP) or a reset. Default 10 s.
    pub timeout: Duration,
}

/// A limit on each client: over it 429 with Retry-After (HTTP) or a reset.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClientLimit {
    pub name: Name,
    /// Who counts as one client.
    pub key: ClientKey,
    /// Requests (HTTP) or connections per second over time; `None`: any.
    pub rate_per_s: Option<u32>,
    /// How many may come at once before the rate counts. Default: the rate.
    pub burst: u32,
    /// In flight (HTTP) or open at once; `None`: any.
    pub concurrency: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientKey {
    /// The address, cut to these prefix lengths.
    Address { prefix_v4: u8, prefix_v6: u8 },
    /// A value of the request (HTTP); requests without one share a place.
    Value(Extract),
}

/// When a request that failed is given to another member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Retry {
    /// Members tried after the first, per request. Default 2; 0: never.
    pub max: u32,
    /// Retries may be at most this many percent of the requests of the last seconds (and 3 a second in any case), so that
    /// a failing back end is not hit harder. 1..=100, default 20.
    pub budget_percent: u8,
}

// === impl Spillover ===

impl Spillover {
    pub fn new(method: SpilloverMethod) -> Spillover {
        Spillover { method, persistence: None, backup_action: BackupAction::default() }
    }
}

// === impl Surge ===

impl Default for Surge {
    fn default() -> Surge {
        Surge { max: 1000, timeout: Duration::from_secs(10) }
    }
}

// === impl Retry ===

impl Default for Retry {
    fn default() -> Retry {
        Retry { max: 2, budget_percent: 20 }
    }
}
