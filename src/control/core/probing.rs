//! Probes and traffic: what a sample tells traffic directly, and what traffic tells a sample.

use std::net::IpAddr;
use std::sync::Arc;

use super::{Core, Output};
use crate::model::check::{Check, Host, Origin, Probe};
use crate::model::event::{Outcome, Verdict};
use crate::model::id::{CheckId, Name};
use crate::model::lateness::Lateness;
use crate::model::time::Tick;
use crate::probe::Way;

// === impl Core ===

impl Core {
    /// What the prober counts.
    pub fn set_punctuality(&mut self, late_samples_total: u64, lateness: Lateness) {
        self.status.late_samples_total = late_samples_total;
        self.status.lateness = lateness;
    }

    pub(super) fn order_probe(&mut self, check: CheckId, due: Tick) {
        let model = self.engine.model();
        let traffic = match &model.check(check).origin {
            Origin::Monitor { service, .. } if matches!(model.check(check).probe, Probe::HttpInline { .. }) => {
                Some(self.registry.service(&model.service(*service).name))
            }
            _ => None,
        };
        let address = self.address_of_check(check);
        let way = Way { address, source: self.source_of_check(check, address) };
        let check = Arc::clone(&self.checks[check.index()]);
        self.outputs.push(Output::Probe { check, due, traffic, way });
    }

    /// A monitor looks where traffic goes, unless it has an address of its own.
    fn address_of_check(&self, check: CheckId) -> Option<IpAddr> {
        let model = self.engine.model();
        let Check { origin: Origin::Monitor { service, .. }, probe, .. } = model.check(check) else { return None };
        if !matches!(probe.target()?.host, Host::Name(_)) {
            return None;
        }
        let (question, _) = model.question(model.service(*service))?;
        self.names.known().get(&question)?.address
    }

    /// A monitor leaves from where traffic does.
    fn source_of_check(&mut self, check: CheckId, address: Option<IpAddr>) -> Option<IpAddr> {
        let model = self.engine.model();
        let network = model.network.as_ref().filter(|network| !network.sources.is_empty())?;
        let Check { origin: Origin::Monitor { .. }, probe, .. } = model.check(check) else { return None };
        let to = match &probe.target()?.host {
            Host::Ip(ip) => *ip,
            Host::Name(_) => address?,
        };
        let source = network.sources[network.source_for(to)?].ip;
        self.registry.source(source).is_here().then_some(source)
    }

    /// What a LOAD monitor heard goes to traffic directly: it is a figure, not a state.
    pub(super) fn note_load(&mut self, check: CheckId, verdict: &Verdict) {
        let model = self.engine.model();
        let check = model.check(check);
        if let (Probe::Load { .. }, Origin::Monitor { service, .. }) = (&check.probe, &check.origin)
            && verdict.outcome != Outcome::Void
        {
            let name = Name::clone(&model.service(*service).name);
            self.registry.service(&name).set_load(verdict.load);
        }
    }

    /// What monitors want to know of traffic, and what traffic still hears of them: a load that nobody tells any more
    /// is not known.
    pub(super) fn tell_traffic(&mut self) {
        let model = Arc::clone(self.engine.model());
        for service in &model.services {
            let live = self.registry.service(&service.name);
            let bound = service.monitors.iter().map(|binding| binding.check.index());
            let active = bound.filter(|&check| !self.engine.view().checks[check].disabled);
            let (mut told, mut accepted) = (false, None);
            for check in active {
                match &self.checks[check].probe {
                    Probe::Load { .. } => told = true,
                    Probe::HttpInline { expect, .. } => accepted = Some(&*expect.status),
                    _ => {}
                }
            }
            if !told {
                live.set_load(None);
            }
            live.answers.watch(accepted);
        }
    }
}
