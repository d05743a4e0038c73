//! Host names of servers and services, looked up beside the reactor.
//!
//! A name that never resolved is unresolved at once. One that did keeps its address over two failed look-ups in a row,
//! because a name server that hiccups is no reason to take a service out; and it keeps the address it has for as long
//! as the answer still holds it, so that a rotating answer does not move connections about.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;

use super::{Core, Output, Step};
use crate::model::Model;
use crate::model::check::Host;
use crate::model::event::Observation;
use crate::model::id::{Name, ServiceId};
use crate::model::time::Now;

/// Failed look-ups in a row that take an address away.
const FAILURES_MOST: u32 = 3;

/// One round: the addresses of each name; empty where it does not resolve.
pub type Lookups = HashMap<Name, Vec<IpAddr>>;

#[derive(Debug, Default)]
pub(super) struct Names {
    addresses: HashMap<Name, IpAddr>,
    failures: HashMap<Name, u32>,
    wanted: BTreeSet<Name>,
}

// === impl Names ===

impl Names {
    pub fn addresses(&self) -> &HashMap<Name, IpAddr> {
        &self.addresses
    }

    /// Whether anything about `name` changed.
    fn take(&mut self, name: &Name, found: &[IpAddr]) -> bool {
        let known = self.addresses.get(name).copied();
        let Some(first) = found.first() else {
            let failures = self.failures.entry(Name::clone(name)).or_insert(0);
            *failures += 1;
            let first_failure = *failures == 1 && known.is_none();
            return match known {
                Some(_) if *failures >= FAILURES_MOST => self.addresses.remove(name).is_some(),
                _ => first_failure,
            };
        };
        self.failures.remove(name);
        if known.is_some_and(|address| found.contains(&address)) {
            return false;
        }
        self.addresses.insert(Name::clone(name), *first);
        true
    }

    /// `None`: not looked up yet.
    fn resolves(&self, name: &Name) -> Option<bool> {
        if self.addresses.contains_key(name) { Some(true) } else { self.failures.contains_key(name).then_some(false) }
    }
}

// === impl Core ===

impl Core {
    pub(super) fn looked_up(&mut self, now: Now, lookups: Lookups) {
        for (name, found) in lookups {
            if self.names.wanted.contains(&name) && self.names.take(&name, &found) {
                self.dirty = true;
                self.tell_resolved(now, |host| *host == name);
            }
        }
    }

    pub(super) fn adopt_names(&mut self, now: Now, model: &Model) {
        let hosts = model.servers.iter().map(|s| &s.address).chain(model.services.iter().map(|s| &s.host));
        let wanted: BTreeSet<Name> = hosts.filter_map(host_name).cloned().collect();
        self.names.addresses.retain(|name, _| wanted.contains(name));
        self.names.failures.retain(|name, _| wanted.contains(name));
        if wanted != self.names.wanted {
            self.outputs.push(Output::Names(wanted.iter().cloned().collect()));
            self.names.wanted = wanted;
        }
        self.tell_resolved(now, |_| true);
    }

    /// Tells the engine about the services whose host name `concerns`.
    fn tell_resolved(&mut self, now: Now, concerns: impl Fn(&Name) -> bool) {
        let model = std::sync::Arc::clone(self.engine.model());
        for (index, service) in model.services.iter().enumerate() {
            let Some(name) = host_name(&service.host).filter(|name| concerns(name)) else { continue };
            if let Some(resolved) = self.names.resolves(name) {
                let service = ServiceId::from_index(index);
                self.step(now, Step::Observed(Observation::Resolved { service, resolved }));
            }
        }
    }
}

fn host_name(host: &Host) -> Option<&Name> {
    match host {
        Host::Name(name) => Some(name),
        Host::Ip(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_survives_two_failures_and_a_rotating_answer() {
        let mut names = Names::default();
        let name: Name = "app.example".into();
        let (a, b): (IpAddr, IpAddr) = ("192.0.2.1".parse().unwrap(), "192.0.2.2".parse().unwrap());
        assert!(names.take(&name, &[a, b]));
        assert!(!names.take(&name, &[b, a]), "the address in use is still there");
        assert!(!names.take(&name, &[]));
        assert!(!names.take(&name, &[]));
        assert_eq!(names.resolves(&name), Some(true));
        assert!(names.take(&name, &[]));
        assert_eq!(names.resolves(&name), Some(false));
        assert!(names.take(&name, &[b]));
        assert_eq!(names.addresses()[&name], b);
    }

    #[test]
    fn a_name_that_never_resolved_is_told_once() {
        let mut names = Names::default();
        let name: Name = "nowhere.example".into();
        assert_eq!(names.resolves(&name), None);
        assert!(names.take(&name, &[]));
        assert!(!names.take(&name, &[]));
        assert_eq!(names.resolves(&name), Some(false));
    }
}
