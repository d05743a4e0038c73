//! Zones that come from primaries: how their transfers go, and the bell that asks for one.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::model::time::Wall;

/// Of one zone. Totals never fall.
#[derive(Debug, Default)]
pub struct SecondaryLive {
    bell: Notify,
    /// How often the whole zone was asked for, and which of these wishes were met.
    whole_asked: AtomicU64,
    whole_met: AtomicU64,
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
    /// Asks for a look at the primaries now. `whole`: for the whole zone, whatever its serial; until it has come.
    pub fn ring(&self, whole: bool) {
        if whole {
            self.whole_asked.fetch_add(1, Ordering::AcqRel);
        }
        self.bell.notify_one();
    }

    /// Returns once somebody has asked.
    pub async fn rung(&self) {
        self.bell.notified().await;
    }

    /// The wish for the whole zone that has not been met.
    pub fn wants_whole(&self) -> Option<u64> {
        let asked = self.whole_asked.load(Ordering::Acquire);
        (asked > self.whole_met.load(Ordering::Acquire)).then_some(asked)
    }

    /// The whole zone has come: this wish and those before it are met.
    pub fn has_whole(&self, wish: u64) {
        self.whole_met.fetch_max(wish, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wish_for_the_whole_zone_stays_until_it_is_met_and_one_that_came_meanwhile_stays_on() {
        let live = SecondaryLive::default();
        live.ring(false);
        assert_eq!(live.wants_whole(), None);
        live.ring(true);
        let wish = live.wants_whole().unwrap();
        assert_eq!(live.wants_whole(), Some(wish), "looking at it does not meet it");
        live.ring(true);
        live.has_whole(wish);
        let later = live.wants_whole().unwrap();
        live.has_whole(later);
        assert_eq!(live.wants_whole(), None);
    }
}
