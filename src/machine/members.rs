//! Members of service groups that come from DNS: who joins, who leaves, who is back.
//!
//! ```text
//!            in the answer                      not in an answer
//!   ─────────────────────────▶ MEMBER ───────────────────────────────▶ LEAVING ──▶ gone
//!     unknown until probed;      ▲    serves on under auto_delayed_trofs; │  out of service, and nothing open
//!     slow start applies         │    drains by auto_disable_delay and    │
//!                                │    auto_disable_graceful               │
//!                                └──────────── in an answer again ────────┘
//! ```
//!
//! Only an answer changes anything: while a name is not answered, or answered with nothing, its members stay. A group
//! therefore never loses its last member to DNS. Of an address that two names hold the first name in the group counts.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use super::names::Names;
use crate::model::Model;
use crate::model::event::{Act, AdminIntent, AdminTarget};
use crate::model::id::{Kind, Name, ObjectRef, ServiceId};
use crate::model::lookup::{Answer, DnsMember, Leaving, MEMBERS_MOST, Membership};
use crate::model::service::{AutoScale, ServiceGroup, Source};
use crate::model::state::{OverrideKey, Slot, StateView};
use crate::model::time::{Now, Tick};

/// Who disables members that leave.
pub const ACTOR: &str = "dns";

/// NetScaler's range.
const ORDER_MOST: u32 = 8_192;
const WEIGHT_MOST: u32 = 100;
/// Of the monitors that are bound where none is named.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(2);

#[derive(Clone, Debug, Default)]
pub struct Members {
    membership: Membership,
}

/// What became of one group. Names are those of services: `GROUP/ADDRESS:PORT`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    pub group: Name,
    pub joined: Vec<Name>,
    pub left: Vec<Name>,
    /// They were on their way out, and are wanted again.
    pub back: Vec<Name>,
    /// Weight, order, or the name that leads to them.
    pub changed: Vec<Name>,
    /// Addresses that found no place any more.
    pub beyond: usize,
}

/// A member as an answer wants it.
struct Wanted<'a> {
    source: &'a Source,
    host: Name,
    weight: u32,
    order: u32,
}

// === impl Changes ===

impl Changes {
    /// Nothing that the model shows.
    pub fn is_empty(&self) -> bool {
        self.joined.is_empty() && self.left.is_empty() && self.back.is_empty() && self.changed.is_empty()
    }
}

// === impl Members ===

impl Members {
    pub fn membership(&self) -> &Membership {
        &self.membership
    }

    /// Compares what is known with who is there. Groups that the model no longer scales are forgotten.
    pub fn decide(&mut self, now: Now, model: &Model, names: &Names) -> Vec<Changes> {
        let scaled = |name: &Name| model.group_id(name).is_some_and(|id| model.groups[id.index()].auto_scale.is_some());
        self.membership.retain(|name, _| scaled(name));
        let mut all = Vec::new();
        for group in &model.groups {
            let Some(auto) = &group.auto_scale else { continue };
            let members = self.membership.entry(Name::clone(&group.name)).or_default();
            let begin = now.tick + if auto.delayed_trofs { patience(model, group) } else { Duration::ZERO };
            let leaving = Leaving { since: now, drains_at: begin, drains: false };
            let changes = decide(leaving, &group.name, auto, names, members);
            if !changes.is_empty() || changes.beyond > 0 {
                all.push(changes);
            }
        }
        all
    }

    /// Services whose drain begins now, each once.
    pub fn drain(&mut self, now: Now) -> Vec<Name> {
        let mut due = Vec::new();
        for (group, members) in &mut self.membership {
            for (address, member) in members {
                if let Some(leaving) = member.leaving.as_mut().filter(|l| !l.drains && l.drains_at <= now.tick) {
                    leaving.drains = true;
                    due.push(service_name(group, *address));
                }
            }
        }
        due
    }

    /// When the next drain begins.
    pub fn wake_at(&self) -> Option<Tick> {
        let leaving = self.membership.values().flat_map(BTreeMap::values).filter_map(|member| member.leaving);
        leaving.filter(|leaving| !leaving.drains).map(|leaving| leaving.drains_at).min()
    }

    /// Members that drain: group, address, service.
    pub fn draining(&self) -> impl Iterator<Item = (&Name, SocketAddr, Name)> {
        self.membership.iter().flat_map(|(group, members)| {
            let drains = members.iter().filter(|(_, member)| member.leaving.is_some_and(|leaving| leaving.drains));
            drains.map(move |(address, _)| (group, *address, service_name(group, *address)))
        })
    }

    /// It is out, and nothing is open on it any more.
    pub fn gone(&mut self, group: &Name, address: SocketAddr) {
        if let Some(members) = self.membership.get_mut(group) {
            members.remove(&address);
        }
    }
}

/// `GROUP/192.0.2.1:80`
pub fn service_name(group: &str, address: SocketAddr) -> Name {
    format!("{group}/{address}").into()
}

/// What is done with a member that leaves, or that is back: an act of [`ACTOR`]. `None`: it is not there, or a person has
/// sent it out in their own way, which stays.
pub fn intent(model: &Model, view: &StateView, name: &Name, leaves: bool) -> Option<(ServiceId, Act, AdminIntent)> {
    let service = model.service_id(name)?;
    let auto = model.groups[model.service(service).group?.index()].auto_scale.as_ref()?;
    let key = OverrideKey { object: ObjectRef::new(Kind::Service, Name::clone(name)), slot: Slot::Admin };
    let target = AdminTarget::Service(service);
    let (intent, reason) = match (leaves, view.overrides.get(&key)) {
        (true, None) => {
            let delay = Some(auto.disable_delay).filter(|delay| !delay.is_zero());
            let graceful = auto.disable_graceful;
            (AdminIntent::Disable { target, delay, graceful }, "its address is not in DNS any more")
        }
        (false, Some(ours)) if &*ours.act.actor == ACTOR => {
            (AdminIntent::Enable { target }, "its address is in DNS again")
        }
        _ => return None,
    };
    Some((service, Act { actor: ACTOR.into(), reason: Some(reason.into()), expires: None }, intent))
}

/// The longest response time-out of the monitors of a group.
fn patience(model: &Model, group: &ServiceGroup) -> Duration {
    let bound = group.settings.monitors.iter().map(|bound| model.monitors[bound.monitor.index()].schedule.timeout);
    bound.max().unwrap_or(DEFAULT_TIMEOUT)
}

fn decide(
    leaving: Leaving,
    group: &Name,
    auto: &AutoScale,
    names: &Names,
    members: &mut BTreeMap<SocketAddr, DnsMember>,
) -> Changes {
    let mut changes = Changes { group: Name::clone(group), ..Changes::default() };
    let mut wanted: BTreeMap<SocketAddr, Wanted<'_>> = BTreeMap::new();
    let mut silent: Vec<&Name> = Vec::new();
    for source in &auto.sources {
        match names.known().get(&source.question).and_then(|known| known.answer.as_ref()) {
            None => silent.push(&source.name),
            Some(answer) => of_answer(source, answer, &mut wanted),
        }
    }
    for (address, member) in members.iter_mut() {
        let name = || service_name(group, *address);
        match wanted.remove(address) {
            Some(wanted) => {
                let next = DnsMember {
                    source: Name::clone(&wanted.source.name),
                    host: wanted.host,
                    weight: wanted.weight,
                    order: wanted.order,
                    leaving: None,
                };
                if member.leaving.is_some() {
                    changes.back.push(name());
                } else if *member != next {
                    changes.changed.push(name());
                }
                *member = next;
            }
            None if member.leaving.is_some() || silent.contains(&&member.source) => {}
            None => {
                member.leaving = Some(leaving);
                changes.left.push(name());
            }
        }
    }
    let mut places = MEMBERS_MOST.saturating_sub(members.values().filter(|m| m.leaving.is_none()).count());
    for (address, wanted) in wanted {
        if places == 0 {
            changes.beyond += 1;
            continue;
        }
        places -= 1;
        let Wanted { source, host, weight, order } = wanted;
        members.insert(address, DnsMember { source: Name::clone(&source.name), host, weight, order, leaving: None });
        changes.joined.push(service_name(group, address));
    }
    changes
}

fn of_answer<'a>(source: &'a Source, answer: &Answer, wanted: &mut BTreeMap<SocketAddr, Wanted<'a>>) {
    let records = || answer.found.iter().filter_map(|found| found.srv.as_ref());
    let heaviest = records().map(|srv| u32::from(srv.weight)).max().unwrap_or(0);
    let mut priorities: Vec<u16> = records().map(|srv| srv.priority).collect();
    priorities.sort_unstable();
    priorities.dedup();
    for found in &answer.found {
        let (port, host, weight, order) = match (&found.srv, source.port) {
            (Some(srv), _) => {
                let rank = priorities.binary_search(&srv.priority).unwrap_or(0);
                let order = u32::try_from(rank + 1).unwrap_or(ORDER_MOST).min(ORDER_MOST);
                (srv.port, Name::clone(&srv.target), weight(srv.weight.into(), heaviest), order)
            }
            (None, Some(port)) => (port, Name::clone(&source.question.name), source.weight, source.order),
            // Resolved without a port and asked for none: nothing to connect to.
            (None, None) => continue,
        };
        wanted.entry(SocketAddr::new(found.address, port)).or_insert(Wanted { source, host, weight, order });
    }
}

/// Weights up to 100 as they are; larger ones in proportion. 0 is 1: a small share, as RFC 2782 has it, not none.
fn weight(weight: u32, heaviest: u32) -> u32 {
    let scaled = if heaviest > WEIGHT_MOST { (weight * WEIGHT_MOST).div_ceil(heaviest) } else { weight };
    scaled.clamp(1, WEIGHT_MOST)
}

#[cfg(test)]
mod tests;
