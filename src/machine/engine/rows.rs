//! Board rows: setting them from the machines, and who must look again.

use super::Engine;
use crate::machine::board::{Dependent, RowId};
use crate::machine::datacenter;
use crate::model::condition::{ServiceFacet, Signal, Subject, Truth};
use crate::model::id::{CheckId, DatacenterId, ScenarioId, ServiceId};
use crate::model::scenario::AccessList;
use crate::model::state::ServiceState;
use crate::model::time::Tick;

// === impl Engine ===

impl Engine {
    /// Sets a row from a machine. In a replay rows come from the journal only; scenarios are the exception, since they
    /// are what is being replayed.
    pub(super) fn set_row(&mut self, row: RowId, value: Truth, clean_since: Option<Tick>) {
        if !self.replaying || matches!(self.board.get(row).subject, Subject::Scenario(_)) {
            self.force_row(row, value, clean_since);
        }
    }

    pub(super) fn force_row(&mut self, row: RowId, value: Truth, clean_since: Option<Tick>) {
        if self.board.set(row, self.now, value, clean_since) {
            self.changed_rows.push(row);
            for dependent in self.board.get(row).dependents.clone() {
                match dependent {
                    Dependent::Scenario(id) => self.touch_scenario(id),
                    Dependent::Watched(id) => {
                        self.dirty.watched.insert(id);
                    }
                }
            }
        }
    }

    pub(super) fn touch_scenario(&mut self, id: ScenarioId) {
        self.dirty.scenarios.insert((self.scenarios[id.index()].rank, id));
    }

    /// Predicate and measures of a check, and the timer for measures that change by time alone.
    pub(super) fn refresh_check_rows(&mut self, id: CheckId) {
        let now = self.now.tick;
        let mut wake: Option<Tick> = None;
        for i in 0..self.checks[id.index()].rows.len() {
            let row = self.checks[id.index()].rows[i];
            let machine = &self.checks[id.index()].machine;
            match self.board.get(row).measure {
                None => self.set_row(row, machine.state(), machine.clean_since()),
                Some(measure) => {
                    let value = machine.measure(now, &measure, self.board.get(row).value);
                    wake = wake.into_iter().chain(machine.measure_wake(now, &measure)).min();
                    self.set_row(row, value, None);
                }
            }
        }
        self.set_measure_timer(id, wake);
    }

    pub(super) fn refresh_service_rows(&mut self, id: ServiceId) {
        let state = self.view.services[id.index()].state;
        for i in 0..self.services[id.index()].rows.len() {
            let row = self.services[id.index()].rows[i];
            if let Subject::Service(_, facet) = self.board.get(row).subject {
                self.set_row(row, service_facet(state, facet), None);
            }
        }
    }

    /// The five signals of a data centre as seen from here, and their rows.
    pub(super) fn refresh_signals(&mut self, id: DatacenterId) {
        let signals = self.signals(id);
        self.view.signals[id.index()] = signals;
        for i in 0..self.signal_rows[id.index()].len() {
            let row = self.signal_rows[id.index()][i];
            if let Subject::Datacenter { signal, observer, .. } = &self.board.get(row).subject {
                let value = match observer {
                    Some(site) => self.seen_from(site, id, *signal),
                    None => signals[*signal as usize],
                };
                self.set_row(row, value, None);
            }
        }
    }

    /// A signal as the boxes of another site tell it: unknown while none of them is heard, and where they disagree.
    pub fn seen_from(&self, site: &str, id: DatacenterId, signal: Signal) -> Truth {
        let model = self.model();
        if model.appliance.site.as_deref() == Some(site) {
            return self.view.signals[id.index()][signal as usize];
        }
        let datacenter = &model.datacenters[id.index()].name;
        let peers = model.peers.iter().filter(|peer| *peer.site == *site).filter_map(|peer| self.heard.get(&peer.name));
        let said = peers.filter_map(|rows| rows.iter().find(|(name, _)| name == datacenter));
        let mut known = said.map(|(_, signals)| signals[signal as usize]).filter(|value| *value != Truth::Unknown);
        match known.next() {
            Some(first) if known.all(|other| other == first) => first,
            _ => Truth::Unknown,
        }
    }

    fn signals(&self, id: DatacenterId) -> [Truth; 5] {
        let model = self.model();
        let datacenter = &model.datacenters[id.index()];
        let of = |list: &Option<AccessList>| {
            list.as_ref().map(|list| {
                let states = list.targets.iter().map(|t| self.checks[t.check.index()].machine.state());
                datacenter::quorum(states, list.quorum)
            })
        };
        let (wan, lan) = (of(&datacenter.wan), of(&datacenter.lan));
        // A list that is not configured says nothing about access; with neither, nothing is known.
        let access = wan.into_iter().chain(lan).reduce(Truth::or).unwrap_or_default();
        // What the other site says itself stands under its own name, `dc:NAME.internet@NAME`; from here its Internet is
        // its WAN.
        let elsewhere = model.appliance.site.as_deref() != Some(&*datacenter.name);
        let internet = of(&datacenter.internet).or(if elsewhere { wan } else { None });
        let maintenance = self.view.switches[datacenter.maintenance.index()].into();
        let mut signals = [Truth::Unknown; 5];
        signals[Signal::Wan as usize] = wan.unwrap_or_default();
        signals[Signal::Lan as usize] = lan.unwrap_or_default();
        signals[Signal::Access as usize] = access;
        signals[Signal::Internet as usize] = internet.unwrap_or_default();
        signals[Signal::Maintenance as usize] = maintenance;
        signals
    }
}

/// `svc:NAME` and its facets. A service without a probe result yet is unknown, not down.
fn service_facet(state: ServiceState, facet: ServiceFacet) -> Truth {
    if state == ServiceState::Unknown {
        return Truth::Unknown;
    }
    match facet {
        ServiceFacet::Up => state == ServiceState::Up,
        ServiceFacet::Serving => matches!(state, ServiceState::Up | ServiceState::Trofs),
        ServiceFacet::Fault => matches!(state, ServiceState::Down | ServiceState::TrofsDown),
    }
    .into()
}
