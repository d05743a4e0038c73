//! Where the journal is shipped to, and how far it has come.

use super::text;
use crate::control::World;

dto! {
    /// A destination of the journal.
    pub struct ShippingDto {
        pub name: String,
        /// `tcp:HOST:PORT`, `tls:HOST:PORT`, or the URI without its query.
        pub address: String,
        /// Kinds of entries that go; empty: all.
        pub kinds: Vec<String>,
        /// The newest entry that it has for certain; 0: none.
        pub confirmed: u64,
        /// Entries of the journal that it does not have, those that wait to be confirmed included.
        pub waiting: u64,
        /// Since when some wait; null: it has all.
        pub behind_since: Option<String>,
        pub shipped_total: u64,
        pub failures_total: u64,
        /// Entries that the journal had cut before they were shipped.
        pub lost_total: u64,
        /// Since when it fails; null: the last attempt went well.
        pub failing_since: Option<String>,
        /// Why the last attempt failed.
        pub last_error: Option<String>,
    }
}

// === impl ShippingDto ===

impl ShippingDto {
    pub fn all(world: &World<'_>) -> Vec<ShippingDto> {
        let known = world.snapshot.ships.all();
        let of = |ship: &crate::model::ship::Ship| {
            let shipping = known.iter().find(|(name, _)| *name == ship.name).map(|(_, shipping)| shipping.clone());
            let shipping = shipping.unwrap_or_default();
            let waiting = world.status.journal_entries.saturating_sub(shipping.confirmed);
            ShippingDto {
                name: text(&ship.name),
                address: ship.address(),
                kinds: ship.kinds.iter().map(text).collect(),
                confirmed: shipping.confirmed,
                waiting,
                behind_since: shipping.behind_since.map(|at| at.to_string()),
                shipped_total: shipping.shipped_total,
                failures_total: shipping.failures_total,
                lost_total: shipping.lost_total,
                failing_since: shipping.failing.as_ref().map(|(at, _)| at.to_string()),
                last_error: shipping.failing.map(|(_, why)| why),
            }
        };
        world.model.ships.iter().map(of).collect()
    }
}
