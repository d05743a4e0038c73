//! How the machine's network stands: written by who looks after it, read by traffic and management.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use super::Registry;
use crate::model::Model;
use crate::model::network::AddressState;

#[derive(Debug, Default)]
pub struct NetworkLive {
    /// What of `[network]` is not carried out, and why: a sentence each.
    pub trouble: Mutex<Vec<String>>,
    /// Why `[time]` is not carried out.
    pub time: Mutex<Option<String>>,
    /// Addresses that DNS is answered at.
    pub dns: Mutex<Vec<(IpAddr, AddressState)>>,
}

/// A source address.
#[derive(Debug, Default)]
pub struct SourceLive {
    here: AtomicBool,
    state: Mutex<AddressState>,
}

// === impl Registry ===

impl Registry {
    pub fn network(&self) -> Arc<NetworkLive> {
        Arc::clone(&self.network)
    }

    pub fn source(&mut self, ip: IpAddr) -> Arc<SourceLive> {
        Arc::clone(self.sources.entry(ip).or_default())
    }

    pub(super) fn retain_sources(&mut self, model: &Model) {
        let sources = || model.network.iter().flat_map(|network| &network.sources);
        self.sources.retain(|ip, _| sources().any(|source| source.ip == *ip));
    }
}

// === impl SourceLive ===

impl SourceLive {
    /// Whether connections can leave from it.
    pub fn is_here(&self) -> bool {
        self.here.load(Ordering::Relaxed)
    }

    pub fn state(&self) -> AddressState {
        self.state.lock().clone()
    }

    pub fn set(&self, state: AddressState) {
        self.here.store(state.is_here(), Ordering::Relaxed);
        *self.state.lock() = state;
    }
}
