//! Failures that come together. When what is new or changed fails everywhere at once, it is more likely wrong itself than
//! all its peers are; and when most members of a vserver fail in one moment, they share what has failed. Nothing is
//! decided by it: it is told, so that a person looks at the right place first.
//!
//! | what | is told when | is over when |
//! |---|---|---|
//! | a monitor at work on two services or more | it is down on all of them, and has passed on none since it began | it passes on one |
//! | an access list of two targets or more | all are down, and none has passed since it began | one passes |
//! | a check with several targets | it is down, has never passed, and all targets fail | it passes, or a target does |
//! | a vserver of two members or more | more than half went from UP to DOWN within one interval | half of them are not DOWN |

use std::sync::Arc;
use std::time::Duration;

use super::Engine;
use crate::machine::Effect;
use crate::model::Model;
use crate::model::check::{Origin, Probe};
use crate::model::condition::Signal;
use crate::model::event::{Outcome, Record};
use crate::model::id::{CheckId, DatacenterId, Kind, MonitorId, Name, ObjectRef, ServiceId, VserverId};
use crate::model::state::{Correlated, CorrelatedKind, ServiceState};
use crate::model::time::Tick;

/// Checks that fail as one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Crowd {
    Monitor(MonitorId),
    List(DatacenterId, Signal),
    Check(CheckId),
    Vserver(VserverId),
}

/// How many of a crowd there are, and how many of them are down and have never passed.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Count {
    members: u32,
    failing: u32,
}

// === impl Engine ===

impl Engine {
    /// Counts a check anew in its crowd.
    pub(super) fn count_in_crowd(&mut self, id: CheckId) {
        let Some(crowd) = crowd_of(self.model(), id) else { return };
        let view = self.checks[id.index()].machine.view();
        let never_passed = view.samples_total > 0 && view.failed_total == view.samples_total;
        let results = view.last.as_ref().and_then(|last| last.targets.as_deref()).unwrap_or(&[]);
        let everywhere = results.iter().all(|result| result.outcome == Outcome::Fail);
        let is_member = !view.disabled;
        let counts = (is_member, is_member && never_passed && everywhere && view.real.is_false());
        let before = std::mem::replace(&mut self.checks[id.index()].counts, counts);
        if before == counts {
            return;
        }
        let count = self.crowds.entry(crowd).or_default();
        count.members = count.members + u32::from(counts.0) - u32::from(before.0);
        count.failing = count.failing + u32::from(counts.1) - u32::from(before.1);
        self.dirty.crowds.insert(crowd);
    }

    /// After a new model: whatever was told before is looked at again.
    pub(super) fn count_all_crowds(&mut self) {
        self.crowds.clear();
        for i in 0..self.checks.len() {
            self.checks[i].counts = (false, false);
            self.count_in_crowd(CheckId::from_index(i));
        }
        let model = Arc::clone(self.model());
        self.view.correlated.retain(|told| crowd_named(&model, told).is_some());
        self.dirty.crowds.extend(self.view.correlated.iter().filter_map(|told| crowd_named(&model, told)));
    }

    /// A service went from one state to another.
    pub(super) fn count_in_vservers(&mut self, id: ServiceId, from: ServiceState) {
        let to = self.view.services[id.index()].state;
        if to == ServiceState::Down && from == ServiceState::Up {
            self.services[id.index()].fell_at = Some(self.now.tick);
        }
        if to == ServiceState::Down || from == ServiceState::Down {
            let vservers = self.services[id.index()].vservers.iter().map(|vserver| Crowd::Vserver(*vserver));
            self.dirty.crowds.extend(vservers);
        }
    }

    /// Tells what has begun and what is over.
    pub(super) fn settle_crowds(&mut self, model: &Arc<Model>, effects: &mut Vec<Effect>) {
        let dirty = std::mem::take(&mut self.dirty.crowds);
        if self.replaying {
            return;
        }
        for crowd in dirty {
            let (kind, name) = self.name_of(model, crowd);
            let was = self.view.correlated.iter().any(|told| told.kind == kind && told.name == name);
            let (object, text) = match (self.words(model, crowd, was), was) {
                (Some(text), false) => {
                    let told = Correlated { kind, name, since: self.now.wall, text: Name::clone(&text) };
                    self.view.correlated.push(told);
                    (self.object_of(model, crowd), Some(text))
                }
                (None, true) => {
                    self.view.correlated.retain(|told| told.kind != kind || told.name != name);
                    (self.object_of(model, crowd), None)
                }
                _ => continue,
            };
            self.changed = true;
            effects.push(Effect::Record(match text {
                Some(text) => Record::Warning { object, text },
                None => {
                    let why = match crowd {
                        Crowd::Vserver(_) => "half of its members are not DOWN",
                        _ => "it no longer fails everywhere",
                    };
                    Record::Ended { object, what: "correlated_failure".into(), why: why.into() }
                }
            }));
        }
    }

    /// What is to be told of a crowd; `None`: nothing, it does not fail as one.
    fn words(&self, model: &Model, crowd: Crowd, was: bool) -> Option<Name> {
        let count = self.crowds.get(&crowd).copied().unwrap_or_default();
        let all = count.failing == count.members;
        let text = match crowd {
            Crowd::Monitor(id) if all && count.members >= 2 => {
                let (name, members) = (&model.monitors[id.index()].name, count.members);
                format!(
                    "correlated_failure: monitor {name} is new or changed, and fails on all {members} services that it \
                     watches: look at the monitor before the servers"
                )
            }
            Crowd::List(id, signal) if all && count.members >= 2 => {
                let (name, members) = (&model.datacenters[id.index()].name, count.members);
                format!(
                    "correlated_failure: the list {} of data centre {name} is new or changed, and none of its {members} \
                     targets answers: look at the list, and at the way out of this machine, first",
                    signal.word()
                )
            }
            Crowd::Check(id) if all && count.members == 1 => {
                let (name, targets) = (&model.check(id).name, model.check(id).probe.parts().len());
                format!(
                    "correlated_failure: check {name} is new or changed, and fails at all {targets} targets: look at the \
                     check before the targets"
                )
            }
            Crowd::Vserver(id) => return self.words_of_vserver(model, id, was),
            _ => return None,
        };
        Some(text.into())
    }

    fn words_of_vserver(&self, model: &Model, id: VserverId, was: bool) -> Option<Name> {
        let vserver = model.vserver(id);
        let members: Vec<ServiceId> = vserver.members.iter().map(|member| member.service).collect();
        let is_down = |id: &&ServiceId| self.view.services[id.index()].state == ServiceState::Down;
        let counted = |id: &&ServiceId| is_down(id) && (was || self.fell_just_now(model, **id));
        let down = members.iter().filter(counted).count();
        (members.len() >= 2 && down * 2 > members.len()).then(|| {
            let (name, all) = (&vserver.name, members.len());
            format!(
                "correlated_failure: {down} of {all} members of vserver {name} went down within one interval: look at \
                 what they share first"
            )
            .into()
        })
    }

    /// Whether it went down within the longest interval of its monitors.
    fn fell_just_now(&self, model: &Model, id: ServiceId) -> bool {
        let monitors = model.service(id).monitors.iter();
        let interval = monitors.map(|bound| model.check(bound.check).schedule.interval).max().unwrap_or(Duration::ZERO);
        let fell_at: Option<Tick> = self.services[id.index()].fell_at;
        fell_at.is_some_and(|at| self.now.tick <= at + interval)
    }

    fn name_of(&self, model: &Model, crowd: Crowd) -> (CorrelatedKind, Name) {
        match crowd {
            Crowd::Monitor(id) => (CorrelatedKind::Monitor, Name::clone(&model.monitors[id.index()].name)),
            Crowd::List(id, signal) => {
                let name = format!("{}.{}", model.datacenters[id.index()].name, signal.word());
                (CorrelatedKind::AccessList, name.into())
            }
            Crowd::Check(id) => (CorrelatedKind::Check, Name::clone(&model.check(id).name)),
            Crowd::Vserver(id) => (CorrelatedKind::Vserver, Name::clone(&model.vserver(id).name)),
        }
    }

    /// The object that the record is filed under: of a monitor or a list the first check that is made of it.
    fn object_of(&self, model: &Model, crowd: Crowd) -> ObjectRef {
        if let Crowd::Vserver(id) = crowd {
            return ObjectRef::new(Kind::Vserver, Name::clone(&model.vserver(id).name));
        }
        let all = (0..model.checks.len()).map(CheckId::from_index);
        let first = all.into_iter().find(|id| crowd_of(model, *id) == Some(crowd));
        let name = first.map_or_else(|| self.name_of(model, crowd).1, |id| Name::clone(&model.check(id).name));
        ObjectRef::new(Kind::Check, name)
    }
}

fn crowd_of(model: &Model, id: CheckId) -> Option<Crowd> {
    let check = model.check(id);
    match (&check.origin, &check.probe) {
        (Origin::Monitor { monitor, .. }, _) => Some(Crowd::Monitor(*monitor)),
        (Origin::Target { datacenter, signal, .. }, _) => Some(Crowd::List(*datacenter, *signal)),
        (Origin::User, Probe::Several { probes, .. }) if probes.len() > 1 => Some(Crowd::Check(id)),
        (Origin::User, _) => None,
    }
}

/// Who was told of, in this model; `None`: it is gone.
fn crowd_named(model: &Model, told: &Correlated) -> Option<Crowd> {
    let name = &told.name;
    match told.kind {
        CorrelatedKind::Monitor => {
            let at = model.monitors.iter().position(|monitor| monitor.name == *name)?;
            Some(Crowd::Monitor(MonitorId::from_index(at)))
        }
        CorrelatedKind::AccessList => {
            let (datacenter, word) = name.rsplit_once('.')?;
            let at = model.datacenters.iter().position(|d| *d.name == *datacenter)?;
            let signal = Signal::ALL.into_iter().find(|signal| signal.word() == word)?;
            Some(Crowd::List(DatacenterId::from_index(at), signal))
        }
        CorrelatedKind::Check => model.check_id(name).map(Crowd::Check),
        CorrelatedKind::Vserver => model.vserver_id(name).map(Crowd::Vserver),
    }
}
