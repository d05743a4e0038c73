//! Virtual servers: members, backup chains, addresses.

use std::collections::HashMap;
use std::net::SocketAddr;

use super::Context;
use super::balancing::{self, Of};
use super::object::Object;
use super::service::{Services, protocol};
use super::{limits, persistence};
use crate::config::document::{Node, Path, Place};
use crate::config::values;
use crate::model::Admin;
use crate::model::dns::Dns;
use crate::model::id::{GroupId, Name, ServiceId, VserverId};
use crate::model::net::Network;
use crate::model::rule::{Action, Route, Rule};
use crate::model::service::Protocol;
use crate::model::tls::Certificate;
use crate::model::vserver::{Member, Role, Vserver};

/// NetScaler: backups cascade at most ten deep.
const BACKUPS_MOST: usize = 10;

pub fn all(cx: &mut Context<'_>, services: &Services, certificates: &[Certificate]) -> Vec<Vserver> {
    let root = Path::Root;
    let section = root.key("vserver");
    let mut vservers = Vec::new();
    for (name, place, table) in cx.section("vserver") {
        let object = Object::new(table, cx.defaults("vserver"), section.key(name), place);
        vservers.push(vserver(cx, &object, name, services, certificates));
    }
    let section = root.key("cs_vserver");
    for (name, place, table) in cx.section("cs_vserver") {
        let object = Object::new(table, None, section.key(name), place);
        let default = object.own("default").and_then(|node| {
            let path = object.path.key("default");
            cx.names.vservers.find(cx.report, node.text()?, node.place, path)
        });
        let role = Role::Cs { default: default.map(VserverId::from_index), targets: Vec::new() };
        vservers.push(Vserver { role, ..vserver(cx, &object, name, services, certificates) });
    }
    vservers.sort_by(|a, b| a.name.cmp(&b.name));
    // A name that stands twice was reported; ids are by the names that are left.
    vservers.dedup_by(|later, first| later.name == first.name);
    backups(cx, &vservers);
    defaults(cx, &vservers);
    vservers
}

/// What content switching can hand to: its default, and what its rules name.
pub fn targets(vservers: &mut [Vserver], rules: &[Rule]) {
    for (index, vserver) in vservers.iter_mut().enumerate() {
        let Role::Cs { default, targets } = &mut vserver.role else { continue };
        let of_rules = rules.iter().filter(|rule| rule.vserver.index() == index);
        targets.extend(of_rules.filter_map(|rule| match rule.action {
            Action::Route(Route::Vserver(target)) => Some(target),
            _ => None,
        }));
        targets.extend(*default);
        targets.sort_unstable();
        targets.dedup();
    }
}

/// The default of content switching is one that balances, of a type that reads the same.
fn defaults(cx: &mut Context<'_>, vservers: &[Vserver]) {
    for (name, _, table) in cx.section("cs_vserver") {
        let Some(id) = cx.names.vservers.id(name) else { continue };
        let Some(vserver) = vservers.get(id) else { continue };
        let Role::Cs { default: Some(default), .. } = vserver.role else { continue };
        let Some(target) = vservers.get(default.index()) else { continue };
        let path = format!("cs_vserver.{name}.default");
        let place = table.get("default").map(|node| node.place).unwrap_or_default();
        if target.role != Role::Lb {
            let why = format!("{path}: `{}` switches content itself; name one that balances", target.name);
            cx.report.error(place, &path, why);
        } else if !vserver.protocol.carries(target.protocol) {
            let (theirs, ours) = (target.protocol.word(), vserver.protocol.word());
            let why = format!("{path}: `{}` is of type {theirs}, this vserver of type {ours}", target.name);
            cx.report.error(place, &path, why);
        }
    }
}

fn vserver(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    name: &str,
    services: &Services,
    certificates: &[Certificate],
) -> Vserver {
    object.require(cx.report, "type");
    let protocol = protocol(object);
    let bound = bound_services(cx, object, protocol, services);
    let groups = bound_groups(cx, object, protocol, services);
    let mut members = bound.clone();
    for (group, position) in groups.iter().zip(0u16..) {
        let of_group = services.groups.get(group.index()).map_or(&[][..], |group| &group.members[..]);
        members.extend(of_group.iter().map(|m| Member {
            service: m.service,
            weight: m.weight,
            order: m.order,
            group: Some(position),
        }));
    }
    let backup = object.own("backup").and_then(|node| {
        let path = object.path.key("backup");
        let id = node.text().and_then(|text| cx.names.vservers.find(cx.report, text, node.place, path));
        id.map(VserverId::from_index)
    });
    let disable_primary_on_down = object.bool("disable_primary_on_down").unwrap_or(false);
    if disable_primary_on_down && object.own("backup").is_none() {
        object.wrong(cx.report, "disable_primary_on_down", "needs a `backup`");
    }
    let client_timeout = Vserver::default_client_timeout(protocol);
    let of = Of { protocol, services: &bound, groups: &groups, members: &members, all: &services.services };
    let balancing = balancing::balancing(cx, object, &of);
    let spillover = limits::spillover(cx, object, protocol, &members, &services.services);
    Vserver {
        address: object.socket("address"),
        interface: object.own("interface").and_then(Node::text).map(Name::from),
        services: bound,
        groups,
        members,
        balancing,
        persistence: persistence::persistence(cx, object, protocol),
        skip_persistency: limits::skip_persistency(object),
        redirect_url: limits::redirect_url(cx, object, protocol),
        surge: limits::surge(object),
        client_limits: limits::client_limits(cx, object, protocol),
        backup,
        health_threshold: object.int("health_threshold").unwrap_or(0),
        spillover,
        disable_primary_on_down,
        down_state_flush: object.bool("down_state_flush").unwrap_or(true),
        trofs_persistence: object.bool("trofs_persistence").unwrap_or(true),
        client_timeout: object.duration("clt_timeout").unwrap_or(client_timeout),
        abort_on_close: super::http::abort_on_close(cx, object, protocol),
        forwarded: super::http::forwarded(cx, object, protocol),
        http2: super::http::http2(cx, object, protocol, protocol == Protocol::Ssl),
        retry: super::http::retry(cx, object, protocol),
        comment: object.name("comment"),
        policies: super::policy::bound(object),
        app_flow_log: object.bool("app_flow_log").unwrap_or(true),
        diagnostics: diagnostics(cx, object, protocol),
        tls: super::tls::clients(cx, object, protocol, certificates),
        proxy_protocol: super::tls::proxy_in(cx, object, protocol),
        ..Vserver::new(name, protocol)
    }
}

fn diagnostics(cx: &mut Context<'_>, object: &Object<'_>, protocol: Protocol) -> Vec<Network> {
    let networks = object.items("diagnostics");
    if object.own("diagnostics").is_some() && !protocol.is_http() {
        object.wrong(cx.report, "diagnostics", "they are told in headers, and this type has none");
    }
    networks.into_iter().filter_map(|network| values::network(network.text()?).ok()).collect()
}

fn bound_services(cx: &mut Context<'_>, object: &Object<'_>, protocol: Protocol, services: &Services) -> Vec<Member> {
    let path = object.path.key("services");
    let mut bound = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for (name, place, weight, order) in balancing::bound(object, "services") {
        if cx.names.groups.has(name) && !cx.names.services.has(name) {
            cx.dangling(place, path, format!("`{name}` is a service group; name it in `groups`"), None);
            continue;
        }
        let Some(id) = cx.names.services.find(cx.report, name, place, path) else { continue };
        let Some(service) = services.services.get(id) else { continue };
        if service.group.is_some() {
            cx.report.error(place, path, format!("{path}: `{name}` is a member; name its group in `groups`"));
        } else if !seen.insert(id) {
            cx.report.error(place, path, format!("{path}: `{name}` stands twice"));
        } else if !protocol.carries(service.settings.protocol) {
            mismatch(cx, place, path, "service", name, service.settings.protocol, protocol);
        }
        bound.push(Member { weight, order, ..Member::new(ServiceId::from_index(id)) });
    }
    bound
}

fn bound_groups(cx: &mut Context<'_>, object: &Object<'_>, protocol: Protocol, services: &Services) -> Vec<GroupId> {
    let path = object.path.key("groups");
    let mut bound: Vec<GroupId> = Vec::new();
    for node in object.own("groups").and_then(Node::list).unwrap_or(&[]) {
        let Some(name) = node.text() else { continue };
        if cx.names.services.has(name) && !cx.names.groups.has(name) {
            cx.dangling(node.place, path, format!("`{name}` is a service; name it in `services`"), None);
            continue;
        }
        let Some(id) = cx.names.groups.find(cx.report, name, node.place, path) else { continue };
        let Some(group) = services.groups.get(id) else { continue };
        let id = GroupId::from_index(id);
        if bound.contains(&id) {
            cx.report.error(node.place, path, format!("{path}: `{name}` stands twice"));
            continue;
        }
        if !protocol.carries(group.settings.protocol) {
            mismatch(cx, node.place, path, "service group", name, group.settings.protocol, protocol);
        }
        bound.push(id);
    }
    bound
}

fn mismatch(
    cx: &mut Context<'_>,
    place: Place,
    path: Path<'_>,
    what: &str,
    name: &str,
    found: Protocol,
    wanted: Protocol,
) {
    let why =
        format!("{path}: the {what} `{name}` is of type {}, this vserver of type {}", found.word(), wanted.word());
    cx.report.error(place, path, why);
}

/// Where the values of a key stand, by the name of the vserver.
fn places<'d>(cx: &Context<'d>, key: &str) -> HashMap<&'d str, Place> {
    let sections = cx.section("vserver").into_iter().chain(cx.section("cs_vserver"));
    sections.filter_map(|(name, _, table)| Some((name, table.get(key)?.place))).collect()
}

fn section_of(vserver: &Vserver) -> &'static str {
    if vserver.role == Role::Lb { "vserver" } else { "cs_vserver" }
}

/// Chains end, are not too long, and stay within what can carry the same.
fn backups(cx: &mut Context<'_>, vservers: &[Vserver]) {
    let places = places(cx, "backup");
    let mut reported = vec![false; vservers.len()];
    for (index, vserver) in vservers.iter().enumerate() {
        let Some(backup) = vserver.backup else { continue };
        let place = places.get(&*vserver.name).copied().unwrap_or_default();
        let path = format!("{}.{}.backup", section_of(vserver), vserver.name);
        let other = &vservers[backup.index()];
        if other.role != Role::Lb {
            let why = format!("{path}: `{}` switches content; a backup is one that balances", other.name);
            cx.report.error(place, &path, why);
        }
        // What clients speak ends here, so that TLS or not makes no difference.
        if !vserver.protocol.carries(other.protocol) {
            let (theirs, ours) = (other.protocol.word(), vserver.protocol.word());
            let why = format!("{path}: `{}` is of type {theirs}, this vserver of type {ours}", other.name);
            cx.report.error(place, &path, why);
        }
        if reported[index] {
            continue;
        }
        let mut chain = vec![index];
        let mut next = Some(backup);
        while let Some(id) = next {
            if let Some(at) = chain.iter().position(|&seen| seen == id.index()) {
                // A chain that only runs into a loop is not the loop's fault; its members report it.
                if at == 0 {
                    let mut names: Vec<&str> = chain.iter().map(|&i| &*vservers[i].name).collect();
                    names.push(&vserver.name);
                    let why = format!("{path}: the backups form a loop: {}", names.join(" → "));
                    cx.report.error(place, &path, why);
                    chain.iter().for_each(|&i| reported[i] = true);
                }
                break;
            }
            chain.push(id.index());
            if chain.len() > BACKUPS_MOST + 1 {
                let why = format!("{path}: the chain of backups has more than {BACKUPS_MOST}");
                cx.report.error(place, &path, why);
                break;
            }
            next = vservers[id.index()].backup;
        }
    }
}

/// One address and port is one listener's; TCP and UDP have each their own.
pub fn addresses(cx: &mut Context<'_>, vservers: &[Vserver], admin: &Admin, dns: &Dns) {
    let places = places(cx, "address");
    // By address, and whether it is UDP.
    let mut taken: HashMap<(SocketAddr, bool), String> = HashMap::new();
    taken.insert((admin.listen, false), "the management (`admin.listen`)".into());
    for (path, address) in dns.listeners().filter(|(_, address)| address.port() != 0) {
        let own = format!("DNS (`{path}`)");
        // Twice in one list was said already.
        if let Some(owner) = taken.get(&(address, false)).filter(|owner| **owner != own) {
            let mut keys = path.split('.').skip(1);
            let first = cx.section_table("dns").and_then(|table| table.get(keys.next()?));
            let place =
                keys.try_fold(first, |node, key| Some(node?.table()?.get(key))).flatten().map(|node| node.place);
            let why = format!("{path}: {address} is the address of {owner} already");
            cx.report.error(place.unwrap_or_default(), path, why);
            continue;
        }
        if path == "dns.listen" {
            taken.insert((address, true), own.clone());
        }
        taken.insert((address, false), own);
    }
    // In the order of the text, so that the second of two is the one reported.
    let mut order: Vec<&Vserver> = vservers.iter().filter(|vserver| vserver.address.is_some()).collect();
    order.sort_by_key(|vserver| places.get(&*vserver.name).copied());
    for vserver in order {
        let Some(address) = vserver.address.filter(|address| address.port() != 0) else { continue };
        let transports = [(vserver.protocol.is_stream(), false), (vserver.protocol.is_datagram(), true)];
        let own = transports.into_iter().filter(|(used, _)| *used).map(|(_, is_udp)| (address, is_udp));
        match own.clone().find_map(|own| taken.get(&own)) {
            Some(owner) => {
                let path = format!("{}.{}.address", section_of(vserver), vserver.name);
                let place = places.get(&*vserver.name).copied().unwrap_or_default();
                cx.report.error(place, &path, format!("{path}: {address} is the address of {owner} already"));
            }
            None => {
                taken.extend(own.map(|own| (own, format!("the vserver `{}`", vserver.name))));
            }
        }
    }
}
