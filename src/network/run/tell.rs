//! How every address stands: into the live figures, and as an observation where it is news.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;

use super::Keeper;
use crate::model::event::Observation;
use crate::model::id::Name;
use crate::model::network::{AddressState, InterfaceAddress};
use crate::network::listen;
use crate::network::machine::Machine;
use crate::snapshot::Snapshot;

// === impl Keeper ===

impl Keeper {
    pub(super) fn tell(&mut self) {
        let snapshot = self.cell.load_full();
        let mut interfaces = HashSet::new();
        let (mut told, mut dns) = (HashMap::new(), Vec::new());
        for (wish, state) in self.plan.states() {
            let ip = wish.address.ip;
            // That it is asked for again is no news, and what is wrong with it shows meanwhile.
            let before = self.told.remove(&ip);
            let is_asked = matches!(state, AddressState::Probing { .. });
            let state = match &before {
                Some(before) if is_asked && before.trouble().is_some() => before.clone(),
                _ => state,
            };
            if let Some(interface) = state.interface().filter(|_| ip.is_ipv4()) {
                interfaces.insert(Name::clone(interface));
            }
            for vserver in &wish.vservers {
                if let Some(entry) = snapshot.model.vserver_id(vserver).map(|id| &snapshot.vservers[id.index()]) {
                    *entry.live.vip.lock() = state.clone();
                }
            }
            if wish.dns {
                dns.push((ip, state.clone()));
            }
            if wish.source {
                tell_source(&snapshot, ip, &state);
            }
            let was_well = before.as_ref().is_none_or(|before| before.trouble().is_none());
            if before.as_ref() != Some(&state) && !(was_well && state.trouble().is_none()) && !is_asked {
                let whose =
                    if wish.vservers.is_empty() { vec![None] } else { wish.vservers.iter().map(Some).collect() };
                for vserver in whose {
                    let vserver = vserver.cloned();
                    // A hint: how it stands is told again with the next change.
                    let _ = self.observations.try_send(Observation::Address { vserver, ip, state: state.clone() });
                }
            }
            told.insert(ip, state);
        }
        // Those that no longer have one looked after.
        for (vserver, entry) in snapshot.model.vservers.iter().zip(&snapshot.vservers) {
            if !vserver.address.is_some_and(|at| self.plan.wants(at.ip())) {
                *entry.live.vip.lock() = AddressState::Unmanaged;
            }
        }
        self.told = told;
        *snapshot.network.dns.lock() = dns;
        let mut trouble = self.failed.clone();
        trouble.extend(self.plan.left_over());
        *snapshot.network.trouble.lock() = trouble;
        let links = listen::needed(self.plan.machine(), |name| interfaces.contains(name));
        self.ears.listen_on(&links);
    }
}

/// Marks those of `sources` that `machine` has.
pub(super) fn sources_there(snapshot: &Snapshot, sources: &[InterfaceAddress], machine: &Machine) {
    for source in sources {
        let there = machine.places(source.ip).find(|place| !place.tentative && !place.duplicate);
        if let Some((place, link)) = there.and_then(|place| Some((place, machine.link(place.link)?))) {
            let state = AddressState::Present { interface: Name::clone(&link.name), ours: place.ours };
            tell_source(snapshot, source.ip, &state);
        }
    }
}

fn tell_source(snapshot: &Snapshot, ip: IpAddr, state: &AddressState) {
    let network = snapshot.model.network.iter().flat_map(|network| &network.sources);
    for (_, live) in network.zip(&snapshot.sources).filter(|(source, _)| source.ip == ip) {
        live.set(state.clone());
    }
}
