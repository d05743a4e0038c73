//! Objects that go on under another name: what people did to them goes along. A text names no renames, so one that is
//! gone and one that is new are the same where whatever tells objects of their kind apart is the same, and no other that
//! is gone or new is like them.

use std::collections::HashMap;

use crate::model::Model;
use crate::model::check::{Check, Origin};
use crate::model::id::{Kind, Name};
use crate::model::service::{Service, ServiceGroup};
use crate::model::vserver::{Role, Vserver};

/// The new name of each object of `kind` that is in `former` under another. Scenarios say their former name themselves;
/// switches, peers and pairs have nothing but their names.
pub(super) fn successors(former: &Model, model: &Model, kind: Kind) -> HashMap<Name, Name> {
    let (gone, fresh) = (alone(former, model, kind), alone(model, former, kind));
    gone.into_iter().filter_map(|(traits, name)| Some((name?, fresh.get(&traits)?.clone()?))).collect()
}

/// What is in `model` and not in `other`, by its traits; `None`: several have them.
fn alone(model: &Model, other: &Model, kind: Kind) -> HashMap<String, Option<Name>> {
    let only = |name: &Name| !other.has(kind, name);
    let found: Vec<(&Name, Option<String>)> = match kind {
        Kind::Server => {
            let servers = model.servers.iter().filter(|server| only(&server.name));
            servers.map(|s| (&s.name, Some(format!("{:?} {:?}", s.address, s.lookup)))).collect()
        }
        Kind::Service => {
            let services = model.services.iter().filter(|service| only(&service.name));
            services.map(|s| (&s.name, Some(of_service(model, other, s)))).collect()
        }
        Kind::ServiceGroup => {
            let groups = model.groups.iter().filter(|group| only(&group.name));
            groups.map(|g| (&g.name, Some(of_group(model, g)))).collect()
        }
        Kind::Vserver => {
            let vservers = model.vservers.iter().filter(|vserver| only(&vserver.name));
            vservers.map(|v| (&v.name, Some(of_vserver(model, v)))).collect()
        }
        Kind::Check => {
            let checks = model.checks.iter().filter(|check| only(&check.name));
            checks.map(|c| (&c.name, of_check(model, other, c))).collect()
        }
        Kind::Scenario | Kind::Switch | Kind::Peer | Kind::Pair => Vec::new(),
    };
    let mut by_traits = HashMap::new();
    for (name, traits) in found {
        let Some(traits) = traits else { continue };
        by_traits.entry(traits).and_modify(|name| *name = None).or_insert_with(|| Some(Name::clone(name)));
    }
    by_traits
}

/// Its address and type, and of a member its group; a group that is itself gone or new counts without its name.
fn of_service(model: &Model, other: &Model, service: &Service) -> String {
    let group = service.group.map(|id| &model.groups[id.index()].name);
    let group = group.map(|name| if other.has(Kind::ServiceGroup, name) { &**name } else { "" });
    format!("{:?} {} {:?} {group:?}", service.host, service.port, service.settings.protocol)
}

fn of_group(model: &Model, group: &ServiceGroup) -> String {
    let protocol = group.settings.protocol;
    if let Some(scale) = &group.auto_scale {
        // Its members are those that DNS names at the time.
        let sources: Vec<_> = scale.sources.iter().map(|source| (&source.question, source.port)).collect();
        return format!("{protocol:?} {sources:?}");
    }
    let members = group.members.iter().map(|member| model.service(member.service));
    format!("{protocol:?} {:?}", members.map(|member| (&member.host, member.port)).collect::<Vec<_>>())
}

/// Its address and type; without an address, what is bound to it.
fn of_vserver(model: &Model, vserver: &Vserver) -> String {
    let kind = (vserver.role == Role::Lb, vserver.protocol);
    match vserver.address {
        Some(address) => format!("{kind:?} {address}"),
        None => {
            let services = vserver.services.iter().map(|member| model.service(member.service));
            let services: Vec<_> = services.map(|service| (&service.host, service.port)).collect();
            format!("{kind:?} {services:?} {}", vserver.groups.len())
        }
    }
}

/// What it looks at; of a monitor at work its service and the monitor.
fn of_check(model: &Model, other: &Model, check: &Check) -> Option<String> {
    match &check.origin {
        Origin::User => Some(format!("{:?}", check.probe)),
        Origin::Monitor { monitor, service } => {
            let monitor = &model.monitors[monitor.index()].name;
            Some(format!("{monitor} of {}", of_service(model, other, model.service(*service))))
        }
        Origin::Target { .. } => None,
    }
}
