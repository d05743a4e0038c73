//! `[network]`: the machine's interfaces, and the addresses that come and go on them; `[time]`.

use std::collections::HashSet;
use std::net::IpAddr;

use super::object::Object;
use super::{Context, global};
use crate::config::document::{Node, Path, Table};
use crate::config::values;
use crate::model::id::Name;
use crate::model::network::{Dhcp, Interface, InterfaceAddress, Manager, Networking, Route, Vlan};
use crate::model::vserver::Vserver;

/// So many subnets to leave from are more than a box has.
const SOURCES_MOST: usize = 64;
/// As many as anybody waits for.
const NAME_SERVERS_MOST: usize = 8;

pub fn network(cx: &mut Context<'_>) -> Option<Networking> {
    cx.section_table("network")?;
    let root = Path::Root;
    let object = global::object(cx, root.key("network"), "network");
    let manager = object.text("manager").and_then(Manager::parse).unwrap_or_default();
    let mut seen = HashSet::new();
    let interfaces = interfaces(cx, &object, manager, &mut seen);
    let sources = sources(cx, &object);
    let name_servers = name_servers(cx, &object, manager, &interfaces);
    let routes = routes(cx, &object, manager, &interfaces);
    Some(Networking { vips: object.bool("vips").unwrap_or(true), manager, sources, name_servers, interfaces, routes })
}

/// `[time] servers`
pub fn time_servers(cx: &mut Context<'_>) -> Vec<Name> {
    let root = Path::Root;
    let object = global::object(cx, root.key("time"), "time");
    let path = object.path.key("servers");
    let mut servers: Vec<Name> = Vec::new();
    for node in object.items("servers") {
        let Some(text) = node.text() else { continue };
        if servers.iter().any(|known| known.eq_ignore_ascii_case(text)) {
            cx.report.error(node.place, path, format!("{path}: `{text}` stands twice"));
        } else {
            servers.push(text.into());
        }
    }
    if servers.len() > NAME_SERVERS_MOST {
        object.wrong(cx.report, "servers", format!("at most {NAME_SERVERS_MOST}"));
    }
    servers
}

/// The interface of a vserver is one that somebody puts its address on.
pub fn interface_of_vservers(cx: &mut Context<'_>, network: Option<&Networking>, vservers: &[Vserver]) {
    for section in ["vserver", "cs_vserver"] {
        for (name, place, table) in cx.section(section) {
            let root = Path::Root;
            let kind = root.key(section);
            let object = Object::new(table, None, kind.key(name), place);
            let Some(interface) = object.text("interface") else { continue };
            if let Err(why) = Interface::check_name(interface) {
                object.wrong(cx.report, "interface", format!("`{interface}` {why}"));
            } else if network.is_none_or(|network| !network.vips) {
                object.wrong(
                    cx.report,
                    "interface",
                    "addresses are put on interfaces by `[network]` with `vips = true`",
                );
            } else if let Some(vserver) = vservers.iter().find(|vserver| *vserver.name == *name) {
                let elsewhere = |other: &&Vserver| {
                    let same = other.address.map(|at| at.ip()) == vserver.address.map(|at| at.ip());
                    same && other.name < vserver.name
                        && other.interface.as_deref().is_some_and(|theirs| theirs != interface)
                };
                if vserver.address.is_none() {
                    object.wrong(cx.report, "interface", "there is no `address` to put there");
                } else if let Some(other) = vservers.iter().find(elsewhere) {
                    let why = format!("the vserver `{}` puts the same address elsewhere", other.name);
                    object.wrong(cx.report, "interface", why);
                }
            }
        }
    }
}

fn sources(cx: &mut Context<'_>, object: &Object<'_>) -> Vec<InterfaceAddress> {
    let mut seen = HashSet::new();
    let sources = addresses(cx, object, "source_addresses", &mut seen);
    if sources.len() > SOURCES_MOST {
        object.wrong(cx.report, "source_addresses", format!("at most {SOURCES_MOST}"));
    }
    for source in sources.iter().filter(|source| source.ip.is_loopback()) {
        object.wrong(cx.report, "source_addresses", format!("`{source}` reaches nobody but this machine"));
    }
    sources
}

/// Addresses with the length of their prefix; one stands once among `seen`.
fn addresses(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    key: &str,
    seen: &mut HashSet<IpAddr>,
) -> Vec<InterfaceAddress> {
    let path = object.path.key(key);
    let mut found = Vec::new();
    for node in object.items(key) {
        let Some(text) = node.text() else { continue };
        match text.parse::<InterfaceAddress>() {
            Err(why) => cx.report.error(node.place, path, format!("{path}: {why}")),
            Ok(address) if !seen.insert(address.ip) => {
                cx.report.error(node.place, path, format!("{path}: `{}` stands twice", address.ip));
            }
            Ok(address) => found.push(address),
        }
    }
    found
}

fn interfaces(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    manager: Manager,
    seen: &mut HashSet<IpAddr>,
) -> Vec<Interface> {
    let section = object.path.key("interface");
    let table = object.own("interface").and_then(Node::table);
    let mut interfaces: Vec<Interface> = Vec::new();
    for entry in table.map_or(&[][..], |table: &Table| &table.entries) {
        let Some(table) = entry.node.table() else { continue };
        let inner = Object::new(table, None, section.key(&entry.key), entry.place);
        interfaces.push(interface(cx, &inner, &entry.key, manager, seen));
    }
    interfaces.sort_by(|a, b| a.name.cmp(&b.name));
    for interface in &interfaces {
        let Some(vlan) = &interface.vlan else { continue };
        let Some(on) = &vlan.on else {
            let what = format!("network.interface.{}: no interface carries this VLAN: it is not made", interface.name);
            cx.report.warning(object.place_of("interface"), "network.interface", what);
            continue;
        };
        if !interfaces.iter().any(|other| other.name == *on) {
            let why = format!("interface.{}.vlan.on: there is no `[network.interface.{on}]`", interface.name);
            object.wrong(cx.report, "interface", why);
        }
        let twin = |other: &&Interface| other.name < interface.name && other.vlan.as_ref() == Some(vlan);
        if let Some(twin) = interfaces.iter().find(twin) {
            let why = format!("interface.{}: VLAN {} of {on} is {} already", interface.name, vlan.id, twin.name);
            object.wrong(cx.report, "interface", why);
        }
    }
    interfaces
}

fn interface(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    name: &str,
    manager: Manager,
    seen: &mut HashSet<IpAddr>,
) -> Interface {
    if let Err(why) = Interface::check_name(name) {
        object.wrong_whole(cx.report, format!("`{name}` {why}"));
    }
    let vlan = object.inner("vlan").map(|(table, place)| {
        let inner = Object::new(table, None, object.path.key("vlan"), place);
        let on = inner.name("on");
        if let Some(Err(why)) = on.as_deref().map(Interface::check_name) {
            inner.wrong(cx.report, "on", format!("`{}` {why}", on.as_deref().unwrap_or_default()));
        }
        if on.as_deref() == Some(name) {
            inner.wrong(cx.report, "on", "a VLAN is carried by another interface");
        }
        Vlan { id: inner.int("id").unwrap_or(1), on }
    });
    let dhcp = object.text("dhcp").and_then(Dhcp::parse).unwrap_or_default();
    if manager == Manager::Netlink {
        object.only(cx.report, &["vlan", "accept_ra"], NEEDS_NETWORKD);
        if dhcp != Dhcp::No {
            object.wrong(cx.report, "dhcp", NEEDS_NETWORKD);
        }
    }
    Interface {
        name: name.into(),
        addresses: addresses(cx, object, "addresses", seen),
        dhcp,
        accept_ra: object.bool("accept_ra").unwrap_or(true),
        vlan,
    }
}

const NEEDS_NETWORKD: &str =
    "with `manager = \"netlink\"`, which sets static addresses; systemd-networkd does the rest";

fn name_servers(cx: &mut Context<'_>, object: &Object<'_>, manager: Manager, interfaces: &[Interface]) -> Vec<IpAddr> {
    let mut servers: Vec<IpAddr> = Vec::new();
    for node in object.items("name_servers") {
        let Some(ip) = node.text().and_then(|text| values::ip(text).ok()) else { continue };
        if servers.contains(&ip) {
            let path = object.path.key("name_servers");
            cx.report.error(node.place, path, format!("{path}: `{ip}` stands twice"));
        } else {
            servers.push(ip);
        }
    }
    if servers.len() > NAME_SERVERS_MOST {
        object.wrong(cx.report, "name_servers", format!("at most {NAME_SERVERS_MOST}"));
    }
    if !servers.is_empty() && (manager == Manager::Netlink || interfaces.is_empty()) {
        let why = "systemd-networkd passes them on with an interface: it needs one in `[network.interface]`, and \
                   another `manager` than netlink; whom Bascule itself asks stands in `[resolver]`";
        object.wrong(cx.report, "name_servers", why);
    }
    servers
}

fn routes(cx: &mut Context<'_>, object: &Object<'_>, manager: Manager, interfaces: &[Interface]) -> Vec<Route> {
    let path = object.path.key("routes");
    let mut routes: Vec<Route> = Vec::new();
    for node in object.items("routes") {
        let Some(table) = node.table() else { continue };
        let route = Object::new(table, None, path, node.place);
        let to = route.text("to").and_then(|text| values::network(text).ok());
        let (Some(to), Some(via)) = (to, route.ip("via")) else { continue };
        if to.address.is_ipv4() != via.is_ipv4() {
            let why = format!("{path}: {to} and {via} are of two families");
            cx.report.error(node.place, path, why);
            continue;
        }
        let by_subnet = || {
            let holds = |interface: &&Interface| interface.addresses.iter().any(|address| address.reaches(via));
            interfaces.iter().find(holds).map(|interface| Name::clone(&interface.name))
        };
        let Some(interface) = route.name("interface").or_else(by_subnet) else {
            let why = format!("{path}: no address in `[network.interface]` has a subnet with {via}; say `interface`");
            cx.report.error(node.place, path, why);
            continue;
        };
        if !interfaces.iter().any(|known| known.name == interface) {
            let why = format!("{path}: there is no `[network.interface.{interface}]` for {to} to leave by");
            cx.report.error(node.place, path, why);
        }
        let metric = route.int("metric");
        if routes.iter().any(|other| (other.to, other.metric) == (to, metric)) {
            let why = format!("{path}: {to} stands twice; give one of them another `metric`");
            cx.report.error(node.place, path, why);
        }
        routes.push(Route { to, via, interface, metric });
    }
    if !routes.is_empty() && manager == Manager::Netlink {
        object.wrong(cx.report, "routes", NEEDS_NETWORKD);
    }
    routes
}
