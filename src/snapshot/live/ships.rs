//! How shipping the journal goes: written by who ships, read by management.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::model::id::Name;
use crate::model::time::Wall;

/// By the name of the destination.
#[derive(Debug, Default)]
pub struct Ships(Mutex<BTreeMap<Name, Shipping>>);

/// One destination.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shipping {
    /// The newest entry that it has for certain; 0: none.
    pub confirmed: u64,
    /// The newest entry of the journal.
    pub head: u64,
    /// Since when it does not have all; `None`: it has.
    pub behind_since: Option<Wall>,
    /// Entries confirmed by this process.
    pub shipped_total: u64,
    pub failures_total: u64,
    /// Entries that the journal had cut before they were shipped.
    pub lost_total: u64,
    /// Since when it fails, and the last reason; `None`: the last attempt went well.
    pub failing: Option<(Wall, String)>,
}

// === impl Ships ===

impl Ships {
    pub fn all(&self) -> Vec<(Name, Shipping)> {
        self.0.lock().iter().map(|(name, shipping)| (Name::clone(name), shipping.clone())).collect()
    }

    pub fn change(&self, name: &Name, change: impl FnOnce(&mut Shipping)) {
        change(self.0.lock().entry(Name::clone(name)).or_default());
    }

    pub fn retain(&self, keep: impl Fn(&Name) -> bool) {
        self.0.lock().retain(|name, _| keep(name));
    }
}

// === impl Shipping ===

impl Shipping {
    /// Entries that it does not have.
    pub fn waiting(&self) -> u64 {
        self.head.saturating_sub(self.confirmed)
    }
}
