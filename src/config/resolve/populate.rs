//! A model with the members that DNS names: services and checks of their own at the ends of the tables, bound wherever
//! their group is. No id of what is configured changes.

use std::sync::Arc;

use super::{binding, check};
use crate::model::Model;
use crate::model::check::{Check, Host, Probe};
use crate::model::id::{CheckId, GroupId, Name, ServiceId};
use crate::model::lookup::{DnsMember, Membership};
use crate::model::service::{AutoScale, BoundMonitor, GroupMember, Service, ServiceGroup};
use crate::model::vserver::Member;

/// `intended`, a model as it was configured, with its members from DNS. Gives the same one where there are none.
pub fn populate(intended: &Arc<Model>, membership: &Membership) -> Arc<Model> {
    let scaled = intended.groups.iter().enumerate().filter_map(|(at, group)| {
        let (auto, members) = (group.auto_scale.as_ref()?, membership.get(&group.name)?);
        (!members.is_empty()).then_some((GroupId::from_index(at), group, auto, members))
    });
    let scaled: Vec<_> = scaled.collect();
    if scaled.is_empty() {
        return Arc::clone(intended);
    }
    let mut model = Model::clone(intended);
    let mut services = Vec::new();
    for &(id, group, auto, members) in &scaled {
        services.extend(members.iter().map(|(address, member)| service(id, group, auto, *address, member)));
    }
    services.sort_by(|a, b| a.name.cmp(&b.name));
    let first = model.services.len();
    model.dns_services = services.len();
    model.services.append(&mut services);
    let hosts: std::collections::HashMap<Name, &Name> = scaled
        .iter()
        .flat_map(|(_, group, _, members)| members.iter().map(|(at, m)| (member_name(&group.name, at), &m.host)))
        .collect();
    checks(&mut model, first, |service| hosts.get(service).map(|host| Name::clone(host)));
    for &(id, group, _, members) in &scaled {
        let bound = members.iter().filter_map(|(address, member)| {
            let service = model.service_id(&member_name(&group.name, address))?;
            Some(GroupMember { name: address.to_string().into(), service, weight: member.weight, order: member.order })
        });
        model.groups[id.index()].members = bound.collect();
    }
    bind(&mut model);
    Arc::new(model)
}

fn member_name(group: &str, address: &std::net::SocketAddr) -> Name {
    format!("{group}/{address}").into()
}

fn service(
    id: GroupId,
    group: &ServiceGroup,
    auto: &AutoScale,
    address: std::net::SocketAddr,
    member: &DnsMember,
) -> Service {
    let mut settings = group.settings.clone();
    if let Some(tls) = &mut settings.tls {
        // As of a server with a name: that is what it is asked for and verified by.
        tls.server_name.get_or_insert_with(|| Name::clone(&member.host));
    }
    let source = auto.sources.iter().find(|source| source.name == member.source);
    Service {
        name: member_name(&group.name, &address),
        group: Some(id),
        server: source.and_then(|source| source.server),
        host: Host::Ip(address.ip()),
        port: address.port(),
        settings,
        custom_server_id: None,
        hash_id: None,
        monitors: Vec::new(),
    }
}

/// The monitors of the services from `first` on.
fn checks(model: &mut Model, first: usize, host: impl Fn(&str) -> Option<Name>) {
    let mut made: Vec<(Check, usize, BoundMonitor)> = Vec::new();
    for (at, service) in model.services.iter().enumerate().skip(first) {
        if !service.settings.health_monitor {
            continue;
        }
        let mut bound = service.settings.monitors.clone();
        if bound.is_empty() {
            let default = binding::default_monitor(service.settings.protocol);
            bound.extend(model.monitor_id(default).map(BoundMonitor::new));
        }
        for bound in bound {
            let monitor = &model.monitors[bound.monitor.index()];
            let mut check = check::instance(service, ServiceId::from_index(at), monitor, bound.monitor);
            name_in_tls(&mut check.probe, host(&service.name));
            made.push((check, at, bound));
        }
    }
    made.sort_by(|a, b| a.0.name.cmp(&b.0.name));
    let first = model.checks.len();
    model.dns_checks = made.len();
    for (offset, (check, service, bound)) in made.into_iter().enumerate() {
        let id = CheckId::from_index(first + offset);
        let binding = binding::at_work(bound, &model.monitors[bound.monitor.index()], id);
        model.services[service].monitors.push(binding);
        model.checks.push(check);
    }
    // In the order in which the group names its monitors.
    for service in &mut model.services[..] {
        let order = |id| service.settings.monitors.iter().position(|bound| bound.monitor == id);
        if service.monitors.iter().any(|binding| binding.check.index() >= first) {
            let mut monitors = std::mem::take(&mut service.monitors);
            monitors.sort_by_key(|binding| order(binding.monitor));
            service.monitors = monitors;
        }
    }
}

fn name_in_tls(probe: &mut Probe, host: Option<Name>) {
    let tls = match probe {
        Probe::Http { tls, .. }
        | Probe::TcpEcv { tls, .. }
        | Probe::Http2 { tls, .. }
        | Probe::HttpInline { tls, .. }
        | Probe::Dialogue { tls, .. }
        | Probe::Load { tls, .. } => tls,
        Probe::Tcp { .. }
        | Probe::Ping { .. }
        | Probe::Dns { .. }
        | Probe::UdpEcv { .. }
        | Probe::User { .. }
        | Probe::Several { .. }
        | Probe::Derived { .. }
        | Probe::Unavailable { .. } => return,
    };
    if let Some(tls) = tls {
        tls.server_name = tls.server_name.take().or(host);
    }
}

/// Members of vservers, as the groups are now.
fn bind(model: &mut Model) {
    for vserver in &mut model.vservers {
        vserver.members.clone_from(&vserver.services);
        for (group, position) in vserver.groups.iter().zip(0u16..) {
            let of_group = &model.groups[group.index()].members;
            vserver.members.extend(of_group.iter().map(|member| Member {
                service: member.service,
                weight: member.weight,
                order: member.order,
                group: Some(position),
            }));
        }
    }
}
