//! (Model, StateView) → Snapshot, and what has to end when one snapshot follows another.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use super::caching::{Caching, Ground};
use super::chooser::Chooser;
use super::live::{MemberLive, Registry};
use super::prepared::Prepared;
use super::routing::Routing;
use super::zones::{self, ZoneIndex};
use super::{ServiceEntry, Snapshot, VserverEntry};
use crate::balance::select::hash::identity;
use crate::model::Model;
use crate::model::check::Host;
use crate::model::ending::Reason;
use crate::model::id::{ServiceId, VserverId};
use crate::model::limit::SpilloverMethod;
use crate::model::lookup::KnownNames;
use crate::model::service::Service;
use crate::model::state::{ServiceState, StateView, VserverState};
use crate::model::time::Tick;
use crate::model::vserver::Vserver;

/// What a snapshot is made of.
pub struct Parts<'a> {
    pub generation: u64,
    pub model: &'a Arc<Model>,
    pub view: &'a StateView,
    pub registry: &'a mut Registry,
    pub zones: &'a Arc<ZoneIndex>,
    /// Names of servers as far as they are known.
    pub resolved: &'a KnownNames,
    /// For `last_good`; the one published before.
    pub previous: Option<&'a Snapshot>,
    /// Durable states, where they lag behind the view; by `ScenarioId`.
    pub scenario_active: Vec<bool>,
    pub ready: bool,
}

/// A view that is shorter than the tables of the model (the engine has not adopted it yet) counts as unknown and down.
pub fn build(parts: Parts<'_>) -> Snapshot {
    let Parts { generation, model, view, registry, zones: index, resolved, previous, scenario_active, ready } = parts;
    let services: Vec<ServiceEntry> = model
        .services
        .iter()
        .enumerate()
        .map(|(i, service)| ServiceEntry {
            state: view.services.get(i).map_or(ServiceState::Unknown, |s| s.state),
            address: address_of(model, service, resolved).map(|ip| SocketAddr::new(ip, service.port)),
            since: view.services.get(i).map_or(Tick::ZERO, |s| s.since.tick),
            identity: identity(service.hash_id, &service.name),
            live: registry.service(&service.name),
        })
        .collect();
    let same_model = previous.filter(|p| Arc::ptr_eq(&p.model, model));
    if same_model.is_none() {
        for (service, entry) in model.services.iter().zip(&services) {
            entry.live.ejector.watch(service.settings.passive.as_ref());
        }
    }
    let vservers = model
        .vservers
        .iter()
        .enumerate()
        .map(|(i, vserver)| {
            let seen = view.vservers.get(i);
            let up = up_positions(vserver, &services);
            let split = seen.and_then(|v| v.split.as_deref()).unwrap_or(&vserver.balancing.split);
            let before = same_model.map(|p| &p.vservers[i].chooser);
            VserverEntry {
                chooser: Chooser::build(model, vserver, &up, split, before),
                state: seen.map_or(VserverState::Down, |v| v.state),
                effective: seen.map_or(VserverState::Down, |v| v.effective),
                new_clients: seen.map(|v| v.new_clients).unwrap_or_default(),
                up,
                members: match same_model {
                    Some(p) => Arc::clone(&p.vservers[i].members),
                    None => members(model, vserver, registry),
                },
                spills_by_health: match vserver.spillover.as_ref().map(|s| &s.method) {
                    Some(SpilloverMethod::Health { threshold }) => seen.is_some_and(|v| v.health_percent < *threshold),
                    Some(_) | None => false,
                },
                sessions: match vserver.lb_group {
                    Some(group) => registry.lb_group(&model.lb_groups[group.index()].name),
                    None => Arc::clone(&registry.vserver(&vserver.name).persistence),
                },
                live: registry.vserver(&vserver.name),
            }
        })
        .collect();
    let known = previous.map(|p| (&*p.model, &*p.last_good));
    let last_good = Arc::new(zones::last_good(model, &scenario_active, &view.watched, known));
    let ground = Ground {
        generation,
        model,
        view,
        scenario_active: &scenario_active,
        last_good: &last_good,
        wall: registry.wall,
    };
    let caching = Caching::build(ground, previous);
    let sources = model.network.iter().flat_map(|network| &network.sources);
    let mut snapshot = Snapshot {
        generation,
        model: Arc::clone(model),
        services,
        vservers,
        connections: registry.connections(),
        log: registry.log(),
        ships: registry.ships(),
        network: registry.network(),
        sources: sources.map(|source| registry.source(source.ip)).collect(),
        traces: registry.traces(),
        rules: model.rules.iter().map(|rule| registry.rule(&rule.name)).collect(),
        routing: same_model.map_or_else(|| Arc::new(Routing::build(model)), |p| Arc::clone(&p.routing)),
        prepared: same_model.map_or_else(|| Arc::new(Prepared::build(model)), |p| Arc::clone(&p.prepared)),
        cookie_key: registry.cookie_key(),
        scenario_active,
        watched: view.watched.clone(),
        zones: Arc::clone(index),
        versions: Vec::new(),
        last_good,
        caching,
        dns: registry.dns(),
        zone_live: model.zones.iter().map(|zone| registry.zone(&zone.name)).collect(),
        ready,
    };
    snapshot.set_versions(previous, registry.wall);
    snapshot
}

/// Services whose connections must end now that `next` follows `previous`: those that went down or out, or whose drain
/// is over, under `down_state_flush`. Ids of `next`. [`flush`] acts on it.
pub fn to_flush(previous: &Snapshot, next: &Snapshot) -> Vec<ServiceId> {
    (0..next.services.len())
        .map(ServiceId::from_index)
        .filter(|&id| {
            let service = next.model.service(id);
            let Some(before) = state_before(previous, next, id) else { return false };
            let now = next.services[id.index()].state;
            service.settings.down_state_flush && is_gone(now) && before != now
        })
        .collect()
}

/// Vservers that went down or out under their own `down_state_flush`: their client connections end, with the work that
/// their own members do for these. Ids of `next`.
pub fn vservers_to_flush(previous: &Snapshot, next: &Snapshot) -> Vec<VserverId> {
    (0..next.vservers.len())
        .map(VserverId::from_index)
        .filter(|&id| {
            let vserver = next.model.vserver(id);
            let before = if Arc::ptr_eq(&previous.model, &next.model) {
                Some(id)
            } else {
                previous.model.vserver_id(&vserver.name)
            };
            let was_up = before.is_some_and(|b| previous.vservers[b.index()].state == VserverState::Up);
            vserver.down_state_flush && was_up && next.vservers[id.index()].state != VserverState::Up
        })
        .collect()
}

/// Ends what must end after `next` was published in place of `previous`: bumps `flush` of the services and vservers
/// above, and of those that `next` no longer has. To be called after the publication, so that nobody can start on the
/// old state without noticing (see `ServiceLive::begin`).
pub fn flush(previous: &Snapshot, next: &Snapshot) {
    flush_sparing(previous, next, &|_| false);
}

/// [`flush`], except for services whose work may finish although they are out: those at the end of a graceful drain.
pub fn flush_sparing(previous: &Snapshot, next: &Snapshot, spared: &dyn Fn(ServiceId) -> bool) {
    for id in to_flush(previous, next).into_iter().filter(|&id| !spared(id)) {
        let drained = state_before(previous, next, id).is_some_and(ServiceState::is_draining);
        let drained = drained && next.services[id.index()].state == ServiceState::OutOfService;
        let why = if drained { Reason::DrainedFlush } else { Reason::Flushed };
        next.services[id.index()].live.flush.send_modify(|flush| flush.bump(why));
    }
    for id in vservers_to_flush(previous, next) {
        next.vservers[id.index()].live.flush.send_modify(|flush| flush.bump(Reason::Flushed));
    }
    if Arc::ptr_eq(&previous.model, &next.model) {
        return;
    }
    let removed = previous.model.services.iter().zip(&previous.services);
    for (service, entry) in removed.filter(|(s, _)| next.model.service_id(&s.name).is_none()) {
        if service.settings.down_state_flush {
            entry.live.flush.send_modify(|flush| flush.bump(Reason::Removed));
        }
    }
    let removed = previous.model.vservers.iter().zip(&previous.vservers);
    for (vserver, entry) in removed.filter(|(v, _)| next.model.vserver_id(&v.name).is_none()) {
        if vserver.down_state_flush {
            entry.live.flush.send_modify(|flush| flush.bump(Reason::Removed));
        }
    }
}

fn address_of(model: &Model, service: &Service, resolved: &KnownNames) -> Option<IpAddr> {
    match service.host {
        Host::Ip(ip) => Some(ip),
        Host::Name(_) => resolved.get(&model.question(service)?.0)?.address,
    }
}

fn members(model: &Model, vserver: &Vserver, registry: &mut Registry) -> Arc<[Arc<MemberLive>]> {
    vserver.members.iter().map(|m| registry.member(&vserver.name, &model.service(m.service).name)).collect()
}

fn up_positions(vserver: &Vserver, services: &[ServiceEntry]) -> Arc<[u32]> {
    let serves = |entry: &ServiceEntry| entry.state == ServiceState::Up && entry.address.is_some();
    (0u32..).zip(&vserver.members).filter(|(_, m)| serves(&services[m.service.index()])).map(|(i, _)| i).collect()
}

fn state_before(previous: &Snapshot, next: &Snapshot, id: ServiceId) -> Option<ServiceState> {
    let before = if Arc::ptr_eq(&previous.model, &next.model) {
        id
    } else {
        previous.model.service_id(&next.model.service(id).name)?
    };
    Some(previous.services[before.index()].state)
}

/// States in which nothing may go on under `down_state_flush`. UNKNOWN is not one: it is no evidence of a failure.
fn is_gone(state: ServiceState) -> bool {
    match state {
        ServiceState::Down | ServiceState::OutOfService | ServiceState::TrofsDown => true,
        ServiceState::Up | ServiceState::Trofs | ServiceState::Unknown => false,
    }
}

#[cfg(test)]
mod tests;
