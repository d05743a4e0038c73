//! Servers, services, groups and their members.

use std::time::Duration;

use super::Context;
use super::object::Object;
use crate::config::document::{Node, Path, Place, Table, Value};
use crate::config::values;
use crate::model::check::{Host, Monitor, MonitorKind};
use crate::model::id::{CheckId, GroupId, MonitorId, Name, ServerId, ServiceId};
use crate::model::service::{GroupMember, MonitorBinding, Protocol, Server, Service, ServiceGroup, ServiceSettings};

/// Services with the members of groups among them, and the groups.
pub struct Services {
    pub services: Vec<Service>,
    pub groups: Vec<ServiceGroup>,
}

pub fn servers(cx: &mut Context<'_>) -> Vec<Server> {
    let mut servers = Vec::new();
    for (name, _, table) in cx.section("server") {
        let address = table.get("address").and_then(Node::text).and_then(|text| values::host(text).ok());
        let address = address.unwrap_or(Host::Ip(std::net::Ipv4Addr::UNSPECIFIED.into()));
        servers.push(Server { name: name.into(), address });
    }
    servers.sort_by(|a, b| a.name.cmp(&b.name));
    servers
}

pub fn all(cx: &mut Context<'_>, servers: &[Server], monitors: &[Monitor]) -> Services {
    let root = Path::Root;
    let mut services = Vec::new();
    let section = root.key("service");
    for (name, place, table) in cx.section("service") {
        let object = Object::new(table, cx.defaults("service"), section.key(name), place);
        let settings = settings(cx, &object, monitors);
        services.push(service(cx, &object, name.into(), None, servers, settings));
    }
    let mut groups = Vec::new();
    let section = root.key("service_group");
    for (name, place, table) in cx.section("service_group") {
        let object = Object::new(table, cx.defaults("service"), section.key(name), place);
        groups.push(group(cx, &object, name, servers, monitors, &mut services));
    }
    services.sort_by(|a, b| a.name.cmp(&b.name));
    groups.sort_by(|a, b| a.name.cmp(&b.name));
    Services { services, groups }
}

fn group(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    name: &str,
    servers: &[Server],
    monitors: &[Monitor],
    services: &mut Vec<Service>,
) -> ServiceGroup {
    let settings = settings(cx, object, monitors);
    let id = cx.names.groups.id(name).map(GroupId::from_index);
    let mut members = Vec::new();
    let section = object.path.key("member");
    let table = object.own("member").and_then(Node::table);
    for entry in table.map_or(&[][..], |table| &table.entries[..]) {
        let Some(member) = entry.node.table() else { continue };
        let path = section.key(&entry.key);
        if entry.key.contains('/') {
            cx.report.error(entry.place, path, format!("{path}: a member's name cannot hold `/`"));
        }
        let full: Name = format!("{name}/{}", entry.key).into();
        let Some(service_id) = cx.names.services.id(&full) else { continue };
        let member = Object::new(member, None, path, entry.place);
        members.push(GroupMember {
            name: entry.key.as_str().into(),
            service: ServiceId::from_index(service_id),
            weight: member.int("weight").unwrap_or(1),
            order: 1,
        });
        services.push(service(cx, &member, full, id, servers, settings.clone()));
    }
    ServiceGroup { name: name.into(), settings, members }
}

/// A service or a member: where it is, and what watches it.
fn service(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    name: Name,
    group: Option<GroupId>,
    servers: &[Server],
    settings: ServiceSettings,
) -> Service {
    let (server, host, port) = endpoint(cx, object, servers);
    let monitors = bindings(cx, &name, &settings);
    Service { name, group, server, host, port, settings, custom_server_id: None, hash_id: None, monitors }
}

/// `server` and `port`, or an `address` with its port (or beside one).
fn endpoint(cx: &mut Context<'_>, object: &Object<'_>, servers: &[Server]) -> (Option<ServerId>, Host, u16) {
    let nowhere = Host::Ip(std::net::Ipv4Addr::UNSPECIFIED.into());
    let port = object.int("port").unwrap_or(0);
    match (object.own("server"), object.own("address")) {
        (Some(server), None) => {
            object.require(cx.report, "port");
            let path = object.path.key("server");
            let id = server.text().and_then(|name| cx.names.servers.find(cx.report, name, server.place, path));
            let host = id.and_then(|id| servers.get(id)).map_or(nowhere, |server| server.address.clone());
            (id.map(ServerId::from_index), host, port)
        }
        (None, Some(address)) => {
            let text = address.text().unwrap_or("");
            let beside = object.own("port").is_some();
            let parsed = match values::host(text) {
                Ok(host) if beside => Ok((host, port)),
                Ok(_) if !text.is_empty() => {
                    Err(format!("`{text}` has no port; add `port`, or write it behind a colon"))
                }
                _ => values::host_port(text).and_then(|found| match beside {
                    true => Err(format!("`{text}` has a port already; leave `port` out")),
                    false => Ok(found),
                }),
            };
            match parsed {
                Ok((host, port)) => (None, host, port),
                Err(why) => {
                    if !text.is_empty() {
                        object.wrong(cx.report, "address", why);
                    }
                    (None, nowhere, port)
                }
            }
        }
        (Some(_), Some(_)) => {
            object.wrong(cx.report, "address", "say either `server` and `port` or `address`");
            (None, nowhere, port)
        }
        (None, None) => {
            if !cx.report.has_syntax_errors() {
                object.wrong_whole(cx.report, "has neither `server` nor `address`");
            }
            (None, nowhere, port)
        }
    }
}

fn settings(cx: &mut Context<'_>, object: &Object<'_>, monitors: &[Monitor]) -> ServiceSettings {
    object.require(cx.report, "type");
    let protocol = protocol(object);
    let client_ip_header = match (object.bool("cip"), object.name("cip_header")) {
        (Some(false), _) => None,
        (Some(true), None) => Some("client-ip".into()),
        (_, header) => header,
    };
    if let Some(header) = &client_ip_header {
        if let Err(why) = super::object::header(header, "") {
            object.wrong(cx.report, "cip_header", why);
        }
        if protocol == Protocol::Tcp && (object.own("cip_header").is_some() || object.own("cip").is_some()) {
            object.wrong(cx.report, "cip_header", "a service of type TCP has no headers");
        }
    }
    let settings = ServiceSettings {
        monitors: bound(cx, object, monitors),
        health_monitor: object.bool("health_monitor").unwrap_or(true),
        monitor_threshold: object.int("mon_threshold").unwrap_or(0),
        max_client: object.int("max_client").unwrap_or(0),
        down_state_flush: object.bool("down_state_flush").unwrap_or(true),
        client_ip_header: client_ip_header.filter(|_| protocol == Protocol::Http),
        server_timeout: object.duration("svr_timeout").unwrap_or(Duration::from_secs(360)),
        connect_timeout: object.duration("connect_timeout").unwrap_or(Duration::from_secs(3)),
        ..ServiceSettings::new(protocol)
    };
    let weights: u32 = settings.monitors.iter().map(|(_, weight)| weight).sum::<u32>().max(1);
    if settings.monitor_threshold > weights {
        let why = format!("{} is more than the monitors weigh together ({weights})", settings.monitor_threshold);
        object.wrong(cx.report, "mon_threshold", why);
    }
    settings
}

pub fn protocol(object: &Object<'_>) -> Protocol {
    if object.text("type") == Some("TCP") { Protocol::Tcp } else { Protocol::Http }
}

/// `["a", "b"]` with weight 1 each, or `{ a = 3, b = 1 }`: name, place, weight, in the order of the text.
pub fn weighted<'d>(object: &Object<'d>, key: &str) -> Vec<(&'d str, Place, u32)> {
    match object.get(key).map(|node| &node.value) {
        Some(Value::List(items)) => items.iter().filter_map(|n| Some((n.text()?, n.place, 1))).collect(),
        Some(Value::Table(table)) => table.entries.iter().map(|e| (&*e.key, e.place, weight(&e.node))).collect(),
        _ => Vec::new(),
    }
}

fn weight(node: &Node) -> u32 {
    values::integer(node, 1, 100).map_or(1, |weight| weight as u32)
}

fn bound(cx: &mut Context<'_>, object: &Object<'_>, monitors: &[Monitor]) -> Vec<(MonitorId, u32)> {
    let path = object.path.key("monitors");
    let mut bound: Vec<(MonitorId, u32)> = Vec::new();
    let mut draining: Option<&str> = None;
    for (name, place, weight) in weighted(object, "monitors") {
        let Some(id) = cx.names.monitors.find(cx.report, name, place, path) else { continue };
        let Some(monitor) = monitors.get(id) else { continue };
        if monitor.builtin && name.ends_with("-default") {
            let why = format!("{path}: `{name}` is bound where no other monitor is; leave the list empty");
            cx.report.error(place, path, why);
            continue;
        }
        if bound.iter().any(|(other, _)| other.index() == id) {
            cx.report.error(place, path, format!("{path}: `{name}` stands twice"));
            continue;
        }
        if drains(&monitor.kind) {
            if let Some(other) = draining {
                let why = format!("{path}: `{other}` and `{name}` both drain a service; at most one monitor may");
                cx.report.error(place, path, why);
            }
            draining = Some(name);
        }
        bound.push((MonitorId::from_index(id), weight));
    }
    bound
}

fn drains(kind: &MonitorKind) -> bool {
    match kind {
        MonitorKind::Http { expect, .. } | MonitorKind::HttpEcv { expect, .. } => {
            expect.trofs_code.is_some() || expect.trofs_body.is_some()
        }
        MonitorKind::TcpEcv { trofs, .. } => trofs.is_some(),
        _ => false,
    }
}

/// The monitors in force: those bound, or the default of the type. None where health monitoring is off.
fn bindings(cx: &Context<'_>, service: &str, settings: &ServiceSettings) -> Vec<MonitorBinding> {
    if !settings.health_monitor {
        return Vec::new();
    }
    let mut bound = settings.monitors.clone();
    if bound.is_empty() {
        // Both types of this build run over TCP.
        bound.extend(cx.names.monitors.id(DEFAULT_MONITOR).map(|id| (MonitorId::from_index(id), 1)));
    }
    let binding = |(monitor, weight): (MonitorId, u32)| {
        let name = super::check::instance_name(service, cx.names.monitors.name(monitor.index())?);
        let check = cx.names.checks.id(&name)?;
        Some(MonitorBinding { monitor, check: CheckId::from_index(check), weight })
    };
    bound.into_iter().filter_map(binding).collect()
}

/// Bound to services of TCP-like types that name no monitor.
pub const DEFAULT_MONITOR: &str = "tcp-default";

/// The names of the monitors that a service's or group's table binds, for collecting the names of checks.
pub fn monitor_names<'d>(table: &'d Table, defaults: Option<&'d Table>) -> Vec<&'d str> {
    let object = Object::new(table, defaults, Path::Root, Place::default());
    if object.bool("health_monitor") == Some(false) {
        return Vec::new();
    }
    weighted(&object, "monitors").into_iter().map(|(name, ..)| name).collect()
}
