//! Servers, services, groups and their members.

use std::time::Duration;

use super::object::Object;
use super::{Context, auto_scale, binding};
use crate::config::document::{Node, Path};
use crate::config::values;
use crate::model::check::{Host, Monitor};
use crate::model::id::{GroupId, Name, ServerId, ServiceId};
use crate::model::lookup::Query;
use crate::model::service::{GroupMember, Protocol, Server, Service, ServiceGroup, ServiceSettings};
use crate::model::tls::Certificate;

/// Services with the members of groups among them, and the groups.
pub struct Services {
    pub services: Vec<Service>,
    pub groups: Vec<ServiceGroup>,
}

pub fn servers(cx: &mut Context<'_>) -> Vec<Server> {
    let mut servers = Vec::new();
    let root = Path::Root;
    let root = root.key("server");
    for (name, place, table) in cx.section("server") {
        let address = table.get("address").and_then(Node::text).and_then(|text| values::host(text).ok());
        let address = address.unwrap_or(Host::Ip(std::net::Ipv4Addr::UNSPECIFIED.into()));
        let object = Object::new(table, None, root.key(name), place);
        let lookup = auto_scale::lookup(cx, &object, &address);
        servers.push(Server { name: name.into(), address, lookup, comment: object.name("comment") });
    }
    servers.sort_by(|a, b| a.name.cmp(&b.name));
    servers
}

pub fn all(cx: &mut Context<'_>, servers: &[Server], monitors: &[Monitor], certificates: &[Certificate]) -> Services {
    let root = Path::Root;
    let mut services = Vec::new();
    let section = root.key("service");
    for (name, place, table) in cx.section("service") {
        let object = Object::new(table, cx.defaults("service"), section.key(name), place);
        let settings = settings(cx, &object, monitors, certificates);
        services.push(service(cx, &object, name.into(), None, servers, settings));
    }
    let mut groups = Vec::new();
    let section = root.key("service_group");
    for (name, place, table) in cx.section("service_group") {
        let object = Object::new(table, cx.defaults("service"), section.key(name), place);
        let settings = settings(cx, &object, monitors, certificates);
        groups.push(group(cx, &object, name, servers, settings, &mut services));
    }
    for service in &mut services {
        service.monitors = binding::in_force(cx, &service.name, &service.settings, monitors);
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
    settings: ServiceSettings,
    services: &mut Vec<Service>,
) -> ServiceGroup {
    let id = cx.names.groups.id(name).map(GroupId::from_index);
    let auto_scale = auto_scale::auto_scale(cx, object, servers);
    let mut members = Vec::new();
    let section = object.path.key("member");
    let table = object.own("member").and_then(Node::table).filter(|_| auto_scale.is_none());
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
            order: member.int("order").unwrap_or(1),
        });
        services.push(service(cx, &member, full, id, servers, settings.clone()));
    }
    ServiceGroup { name: name.into(), settings, members, auto_scale }
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
    let (server, host, port) = place(cx, object, servers);
    let monitors = Vec::new();
    let (custom_server_id, hash_id) = (object.name("custom_server_id"), object.int("hash_id"));
    Service { name, group, server, host, port, settings, custom_server_id, hash_id, monitors }
}

/// [`endpoint`] of something that has one address.
fn place(cx: &mut Context<'_>, object: &Object<'_>, servers: &[Server]) -> (Option<ServerId>, Host, u16) {
    object.require_beside(cx.report, "server", "port");
    let found = endpoint(cx, object, servers);
    let server = found.0.and_then(|id| servers.get(id.index()));
    if let Some(server) = server.filter(|server| server.lookup.query == Query::Srv) {
        let why =
            format!("`{}` is looked up by SRV, which names many: use it in a group with `auto_scale`", server.name);
        object.wrong(cx.report, "server", why);
    }
    found
}

/// `server` and `port`, or an `address` with its port (or beside one).
pub fn endpoint(cx: &mut Context<'_>, object: &Object<'_>, servers: &[Server]) -> (Option<ServerId>, Host, u16) {
    let nowhere = Host::Ip(std::net::Ipv4Addr::UNSPECIFIED.into());
    let port = object.int("port").unwrap_or(0);
    match (object.own("server"), object.own("address")) {
        (Some(server), None) => {
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

fn settings(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    monitors: &[Monitor],
    certificates: &[Certificate],
) -> ServiceSettings {
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
        if !protocol.is_http() && (object.own("cip_header").is_some() || object.own("cip").is_some()) {
            object.wrong(cx.report, "cip_header", format!("a service of type {} has no headers", protocol.word()));
        }
    }
    let settings = ServiceSettings {
        monitors: binding::bound(cx, object, monitors),
        health_monitor: object.bool("health_monitor").unwrap_or(true),
        monitor_threshold: object.int("mon_threshold").unwrap_or(0),
        max_client: object.int("max_client").unwrap_or(0),
        max_bandwidth: super::limits::rate(object, "max_bandwidth").unwrap_or(0),
        down_state_flush: object.bool("down_state_flush").unwrap_or(true),
        client_ip_header: client_ip_header.filter(|_| protocol.is_http()),
        server_timeout: object.duration("svr_timeout").unwrap_or(Duration::from_secs(360)),
        connect_timeout: object.duration("connect_timeout").unwrap_or(Duration::from_secs(3)),
        http2: super::http::http2(cx, object, protocol, false),
        max_requests: super::http::max_requests(cx, object, protocol),
        tls: super::tls::servers(cx, object, protocol, certificates),
        proxy_protocol: super::tls::proxy_out(cx, object, protocol),
        passive: super::balancing::passive(cx, object, protocol),
        comment: object.name("comment"),
        app_flow_log: object.bool("app_flow_log").unwrap_or(true),
        ..ServiceSettings::new(protocol)
    };
    let counted = settings.monitors.iter().filter(|bound| !bound.passive);
    let weights: u32 = counted.map(|bound| bound.weight).sum::<u32>().max(1);
    if settings.monitor_threshold > weights {
        let why = format!(
            "`mon_threshold` {} is more than the monitors weigh together ({weights}); it is never UP",
            settings.monitor_threshold
        );
        object.warn_whole(cx.report, why);
    }
    settings
}

pub fn protocol(object: &Object<'_>) -> Protocol {
    let word = object.text("type");
    Protocol::ALL.into_iter().find(|protocol| Some(protocol.word()) == word).unwrap_or(Protocol::Http)
}

pub fn weight(node: &Node) -> u32 {
    values::integer(node, 1, 100).map_or(1, |weight| weight as u32)
}
