//! Bindings as NITRO shows them: what is bound to what, and how it stands there.
//!
//! Those that carry state are made of the running model, because members may come from DNS and default monitors are in
//! no configuration.

pub(super) mod policies;

use serde_json::Value;

use super::answer::Object;
use super::live::{self, double, put};
use crate::admin::dto::override_of;
use crate::control::World;
use crate::model::Model;
use crate::model::id::{GroupId, Kind, Name, ServerId, ServiceId, VserverId};
use crate::model::state::Slot;
use crate::model::vserver::Role;

/// A binding of one kind of object.
pub(super) struct Binding {
    pub nitro: &'static str,
    /// The resource whose objects have it.
    pub owner: &'static str,
    /// The attribute that names the owner.
    pub key: &'static str,
    /// Names of all owners there are.
    pub owners: fn(&Model) -> Vec<&str>,
    /// Those of the owner of this name.
    pub of: fn(&World<'_>, &str) -> Vec<Object>,
}

static BINDINGS: &[Binding] = &[
    Binding {
        nitro: "lbvserver_service_binding",
        owner: "lbvserver",
        key: "name",
        owners: lb_vservers,
        of: |world, name| found(world.model.vserver_id(name), |id| services_of(world, id)),
    },
    Binding {
        nitro: "lbvserver_servicegroup_binding",
        owner: "lbvserver",
        key: "name",
        owners: lb_vservers,
        of: |world, name| found(world.model.vserver_id(name), |id| groups_of(world, id)),
    },
    Binding {
        nitro: "lbvserver_servicegroupmember_binding",
        owner: "lbvserver",
        key: "name",
        owners: lb_vservers,
        of: |world, name| found(world.model.vserver_id(name), |id| members_of(world, id)),
    },
    Binding {
        nitro: "service_lbmonitor_binding",
        owner: "service",
        key: "name",
        owners: services,
        of: |world, name| found(world.model.service_id(name), |id| monitors_of(world, id)),
    },
    Binding {
        nitro: "servicegroup_servicegroupmember_binding",
        owner: "servicegroup",
        key: "servicegroupname",
        owners: groups,
        of: |world, name| found(world.model.group_id(name), |id| group_members(world, id)),
    },
    Binding {
        nitro: "servicegroup_lbmonitor_binding",
        owner: "servicegroup",
        key: "servicegroupname",
        owners: groups,
        of: |world, name| found(world.model.group_id(name), |id| group_monitors(world, id)),
    },
    Binding {
        nitro: "server_service_binding",
        owner: "server",
        key: "name",
        owners: servers,
        of: |world, name| found(world.model.server_id(name), |id| server_services(world, id)),
    },
    Binding {
        nitro: "server_servicegroup_binding",
        owner: "server",
        key: "name",
        owners: servers,
        of: |world, name| found(world.model.server_id(name), |id| server_groups(world, id)),
    },
    Binding {
        nitro: "svcbindings",
        owner: "service",
        key: "servicename",
        owners: services,
        of: |world, name| found(world.model.service_id(name), |id| vservers_of_service(world, id)),
    },
    Binding {
        nitro: "servicegroupbindings",
        owner: "servicegroup",
        key: "servicegroupname",
        owners: groups,
        of: |world, name| found(world.model.group_id(name), |id| vservers_of_group(world, id)),
    },
];

/// The binding of this name, in any case.
pub(super) fn find(nitro: &str) -> Option<&'static Binding> {
    all().find(|binding| binding.nitro.eq_ignore_ascii_case(nitro))
}

pub(super) fn all() -> impl Iterator<Item = &'static Binding> {
    BINDINGS.iter().chain(policies::POLICIES)
}

fn found<I>(id: Option<I>, list: impl FnOnce(I) -> Vec<Object>) -> Vec<Object> {
    id.map(list).unwrap_or_default()
}

fn lb_vservers(model: &Model) -> Vec<&str> {
    model.vservers.iter().filter(|v| matches!(v.role, Role::Lb)).map(|v| &*v.name).collect()
}

fn services(model: &Model) -> Vec<&str> {
    model.services.iter().filter(|s| s.group.is_none()).map(|s| &*s.name).collect()
}

fn groups(model: &Model) -> Vec<&str> {
    model.groups.iter().map(|group| &*group.name).collect()
}

fn servers(model: &Model) -> Vec<&str> {
    model.servers.iter().map(|server| &*server.name).collect()
}

fn services_of(world: &World<'_>, id: VserverId) -> Vec<Object> {
    let vserver = world.model.vserver(id);
    let bound = |member: &crate::model::vserver::Member| {
        let mut object = Object::new();
        put(&mut object, "name", &*vserver.name);
        put(&mut object, "servicename", &*world.model.service(member.service).name);
        put_member(&mut object, world, member.service, member.weight, member.order);
        object
    };
    vserver.services.iter().map(bound).collect()
}

fn members_of(world: &World<'_>, id: VserverId) -> Vec<Object> {
    let vserver = world.model.vserver(id);
    let bound = |member: &crate::model::vserver::Member| {
        let group = &world.model.groups[world.model.service(member.service).group?.index()];
        let mut object = Object::new();
        put(&mut object, "name", &*vserver.name);
        put(&mut object, "servicegroupname", &*group.name);
        put_member(&mut object, world, member.service, member.weight, member.order);
        Some(object)
    };
    vserver.members.iter().filter_map(bound).collect()
}

fn put_member(object: &mut Object, world: &World<'_>, id: ServiceId, weight: u32, order: u32) {
    let (ip, port) = live::endpoint(world, id);
    put(object, "ipv46", ip.clone());
    put(object, "port", port);
    put(object, "servicetype", world.model.service(id).settings.protocol.word());
    put(object, "curstate", world.view.services[id.index()].state.long_word());
    put(object, "weight", double(weight));
    put(object, "dynamicweight", double(0));
    put(object, "order", double(order));
    put(object, "vsvrbindsvcip", ip);
    put(object, "vsvrbindsvcport", port);
}

fn groups_of(world: &World<'_>, id: VserverId) -> Vec<Object> {
    let vserver = world.model.vserver(id);
    let bound = |group: &GroupId| {
        let name = &world.model.groups[group.index()].name;
        let mut object = Object::new();
        put(&mut object, "name", &*vserver.name);
        put(&mut object, "servicegroupname", &**name);
        put(&mut object, "servicename", &**name);
        put(&mut object, "weight", double(1));
        object
    };
    vserver.groups.iter().map(bound).collect()
}

fn monitors_of(world: &World<'_>, id: ServiceId) -> Vec<Object> {
    (0..world.model.service(id).monitors.len()).map(|at| live::monitor(world, id, at)).collect()
}

fn group_monitors(world: &World<'_>, id: GroupId) -> Vec<Object> {
    let group = &world.model.groups[id.index()];
    let bound = |monitor: &crate::model::service::BoundMonitor| {
        let mut object = Object::new();
        put(&mut object, "servicegroupname", &*group.name);
        put(&mut object, "monitor_name", &*world.model.monitors[monitor.monitor.index()].name);
        put(&mut object, "monstate", live::on_off(monitor.enabled));
        put(&mut object, "weight", double(monitor.weight));
        put(&mut object, "passive", monitor.passive);
        object
    };
    group.settings.monitors.iter().map(bound).collect()
}

/// The members of a group within the group, for who asks for both at once.
pub(super) fn put_members(world: &World<'_>, id: GroupId, object: &mut Object) {
    let members = group_members(world, id);
    if !members.is_empty() {
        let members = members.into_iter().map(Value::Object).collect();
        object.insert("servicegroup_servicegroupmember_binding".into(), members);
    }
}

fn group_members(world: &World<'_>, id: GroupId) -> Vec<Object> {
    let group = &world.model.groups[id.index()];
    let member = |member: &crate::model::service::GroupMember| {
        let service = world.model.service(member.service);
        let (ip, port) = live::endpoint(world, member.service);
        let mut object = Object::new();
        put(&mut object, "servicegroupname", &*group.name);
        put(&mut object, "servername", server_name(world, member.service).unwrap_or_else(|| ip.clone()));
        put(&mut object, "ip", ip);
        put(&mut object, "port", port);
        put(&mut object, "state", live::on_off(!member_disabled(world, &service.name)));
        put(&mut object, "svrstate", world.view.services[member.service.index()].state.long_word());
        put(&mut object, "weight", double(member.weight));
        put(&mut object, "order", double(member.order));
        put(&mut object, "customserverid", service.custom_server_id.as_deref().unwrap_or("None"));
        put(&mut object, "serverid", double(0));
        put(&mut object, "hashid", double(service.hash_id.unwrap_or(0)));
        live::put_drain(&mut object, world, member.service);
        live::put_change(&mut object, world, world.view.services[member.service.index()].since);
        object
    };
    group.members.iter().map(member).collect()
}

/// Disabled by itself; its group and its server have a state of their own.
fn member_disabled(world: &World<'_>, service: &Name) -> bool {
    override_of(world, Kind::Service, service, Slot::Admin).is_some()
}

fn server_name(world: &World<'_>, id: ServiceId) -> Option<String> {
    let server = world.model.service(id).server?;
    Some(world.model.servers[server.index()].name.to_string())
}

fn server_services(world: &World<'_>, id: ServerId) -> Vec<Object> {
    let own =
        |(_, service): &(usize, &crate::model::service::Service)| service.server == Some(id) && service.group.is_none();
    let shown = world.model.services.iter().enumerate().filter(own).map(|(at, service)| {
        let id_of = ServiceId::from_index(at);
        let (ip, port) = live::endpoint(world, id_of);
        let mut object = Object::new();
        put(&mut object, "name", &*world.model.servers[id.index()].name);
        put(&mut object, "servicename", &*service.name);
        put(&mut object, "serviceipaddress", ip);
        put(&mut object, "port", port);
        put(&mut object, "svctype", service.settings.protocol.word());
        put(&mut object, "svrstate", world.view.services[at].state.long_word());
        put(&mut object, "monthreshold", double(service.settings.monitor_threshold));
        put(&mut object, "maxclient", double(service.settings.max_client));
        object
    });
    shown.collect()
}

fn server_groups(world: &World<'_>, id: ServerId) -> Vec<Object> {
    let shown = world.model.groups.iter().flat_map(|group| group.members.iter().map(move |m| (group, m))).filter_map(
        |(group, member)| {
            let service = world.model.service(member.service);
            if service.server != Some(id) {
                return None;
            }
            let (ip, port) = live::endpoint(world, member.service);
            let mut object = Object::new();
            put(&mut object, "name", &*world.model.servers[id.index()].name);
            put(&mut object, "servicegroupname", &*group.name);
            put(&mut object, "serviceipaddress", ip);
            put(&mut object, "port", port);
            put(&mut object, "svctype", service.settings.protocol.word());
            put(&mut object, "svrstate", world.view.services[member.service.index()].state.long_word());
            Some(object)
        },
    );
    shown.collect()
}

fn vservers_of_service(world: &World<'_>, id: ServiceId) -> Vec<Object> {
    let service = world.model.service(id);
    let bound = world.model.vservers.iter().enumerate().filter(|(_, v)| v.services.iter().any(|m| m.service == id));
    bound
        .map(|(at, _)| {
            let mut object = Object::new();
            put(&mut object, "servicename", &*service.name);
            put_vserver(&mut object, world, VserverId::from_index(at), "svrstate");
            object
        })
        .collect()
}

fn vservers_of_group(world: &World<'_>, id: GroupId) -> Vec<Object> {
    let bound = world.model.vservers.iter().enumerate().filter(|(_, v)| v.groups.contains(&id));
    bound
        .map(|(at, _)| {
            let mut object = Object::new();
            put(&mut object, "servicegroupname", &*world.model.groups[id.index()].name);
            put_vserver(&mut object, world, VserverId::from_index(at), "svrstate");
            put(&mut object, "state", world.view.vservers[at].state.long_word());
            object
        })
        .collect()
}

fn put_vserver(object: &mut Object, world: &World<'_>, id: VserverId, state: &str) {
    let vserver = world.model.vserver(id);
    let address = vserver.address.map_or(("0.0.0.0".to_owned(), 0), |a| (a.ip().to_string(), a.port()));
    put(object, "vservername", &*vserver.name);
    put(object, "ipaddress", address.0);
    put(object, "port", address.1);
    put(object, state, world.view.vservers[id.index()].state.long_word());
}

/// `<owner>_binding`: everything that is bound to one object, a list for each kind that there is one of. `others`: what
/// the configuration alone knows.
pub(super) fn aggregate(
    world: &World<'_>,
    owner: &str,
    key: &str,
    name: &str,
    others: Vec<(&'static str, Vec<Object>)>,
) -> Object {
    let mut object = Object::new();
    put(&mut object, key, name);
    let ours = all().filter(|binding| binding.owner == owner && binding.nitro.ends_with("_binding"));
    let lists = ours.map(|binding| (binding.nitro, (binding.of)(world, name))).chain(others);
    for (nitro, list) in lists.filter(|(_, list)| !list.is_empty()) {
        object.insert(nitro.into(), list.into_iter().map(Value::Object).collect());
    }
    object
}
