//! Zones that come from primaries: how their transfers go, and the bell that asks for one.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::model::time::Wall;

/// Of one zone. Totals never fall.
#[derive(Debug, Default)]
pub struct SecondaryLive {
    bell: Notify,
    whole: AtomicBool,
    /// Written by who transfers the zone.
    pub status: Mutex<SecondaryStatus>,
    /// Transfers that brought new contents.
    pub transfers_total: AtomicU64,
    /// Of those, the ones by differences.
    pub incremental_total: AtomicU64,
    /// Times that no primary could be asked.
    pub failures_total: AtomicU64,
    /// NOTIFY messages of primaries that were taken.
    pub notifies_total: AtomicU64,
    /// Those that were refused: from others, or with a wrong signature.
    pub notifies_refused_total: AtomicU64,
}

/// How the transfers of a zone stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SecondaryStatus {
    /// Who sent what there is.
    pub primary: Option<SocketAddr>,
    /// Of what there is, as the primary says it.
    pub serial: Option<u32>,
    pub transferred: Option<Wall>,
    /// When a primary last said that what there is, is what it has.
    pub confirmed: Option<Wall>,
    /// When a primary is asked next.
    pub next: Option<Wall>,
    /// Until when what there is, is answered from.
    pub expires: Option<Wall>,
    /// Why the last look at the primaries failed; `None`: it did not.
    pub error: Option<String>,
}

// === impl SecondaryLive ===

impl SecondaryLive {
    /// Asks for a look at the primaries now. `whole`: for the whole zone, whatever its serial.
    pub fn ring(&self, whole: bool) {
        if whole {
            self.whole.store(true, Ordering::Release);
        }
        self.bell.notify_one();
    }

    /// Returns once somebody has asked; whether for the whole zone.
    pub async fn rung(&self) -> bool {
        self.bell.notified().await;
        self.whole.swap(false, Ordering::AcqRel)
    }
}
