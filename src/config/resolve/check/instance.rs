//! Monitors at work on services: one check for each service and monitor.

use crate::config::document::{Node, Path, Place, Table, Value};
use crate::config::resolve::binding::{default_monitor, monitor_names};
use crate::config::resolve::object::Object;
use crate::config::resolve::service::protocol;
use crate::config::resolve::{auto_scale, monitor, section};
use crate::model::check::{Check, Host, Monitor, MonitorKind, Origin, Probe, Target};
use crate::model::id::{MonitorId, Name, ServiceId};
use crate::model::service::Service;

/// `SERVICE:MONITOR`
pub fn instance_name(service: &str, monitor: &str) -> Name {
    format!("{service}:{monitor}").into()
}

/// The names that monitors bound to services will have; the objects are made later.
pub fn instance_names(document: &Table) -> Vec<(Name, Place)> {
    let defaults = document.get("defaults").and_then(Node::table).and_then(|t| t.get("service")).and_then(Node::table);
    let mut known: std::collections::HashSet<&str> = monitor::builtin_names().collect();
    known.extend(section(document, "monitor").into_iter().map(|(name, ..)| name));
    let mut names = Vec::new();
    let mut add = |service: &str, table: &Table, place: Place| {
        let off = table.get("health_monitor").or_else(|| defaults?.get("health_monitor"));
        if matches!(off, Some(Node { value: Value::Bool(false), .. })) {
            return;
        }
        let mut monitors = monitor_names(table, defaults);
        monitors.retain(|name| known.contains(name));
        monitors.sort_unstable();
        monitors.dedup();
        if monitors.is_empty() {
            let object = Object::new(table, defaults, Path::Root, place);
            monitors.push(default_monitor(protocol(&object)));
        }
        names.extend(monitors.into_iter().map(|monitor| (instance_name(service, monitor), place)));
    };
    for (service, place, table) in section(document, "service") {
        add(service, table, place);
    }
    let groups = section(document, "service_group").into_iter();
    for (group, _, table) in groups.filter(|(_, _, table)| !auto_scale::is_on(table)) {
        let members = table.get("member").and_then(Node::table);
        let entries = members.map_or(&[][..], |members| &members.entries[..]).iter();
        for entry in entries.filter(|entry| entry.node.table().is_some()) {
            add(&format!("{group}/{}", entry.key), table, entry.place);
        }
    }
    names
}

/// A monitor at work on a service.
pub fn instance(service: &Service, service_id: ServiceId, monitor: &Monitor, monitor_id: MonitorId) -> Check {
    let host = monitor.dest_ip.map_or_else(|| service.host.clone(), Host::Ip);
    let target = Target::at(host, monitor.dest_port.unwrap_or(service.port));
    let tls = monitor.tls.clone();
    let probe = match &monitor.kind {
        MonitorKind::Ping => Probe::Ping { target: Target { port: 0, ..target } },
        MonitorKind::Tcp if tls.is_some() => {
            // A handshake and nothing more.
            Probe::TcpEcv { target, tls, send: Vec::new(), receive: Vec::new(), trofs: None }
        }
        MonitorKind::Tcp => Probe::Tcp { target },
        MonitorKind::Http { request, expect } | MonitorKind::HttpEcv { request, expect } => {
            Probe::Http { target, tls, request: request.clone(), expect: expect.clone() }
        }
        MonitorKind::TcpEcv { send, receive, trofs } => {
            Probe::TcpEcv { target, tls, send: send.clone(), receive: receive.clone(), trofs: trofs.clone() }
        }
        MonitorKind::UdpEcv { send, receive } => Probe::UdpEcv { target, send: send.clone(), receive: receive.clone() },
        MonitorKind::Dns { tcp, query, qtype, expect } => {
            Probe::Dns { target, tcp: *tcp, query: query.clone(), qtype: *qtype, expect: expect.clone() }
        }
        MonitorKind::Http2 { request, expect } => {
            Probe::Http2 { target, tls, request: request.clone(), expect: expect.clone() }
        }
        MonitorKind::HttpInline { request, expect, action } => {
            let (request, expect) = (request.clone(), expect.clone());
            Probe::HttpInline { target, tls, request, expect, action: *action }
        }
        MonitorKind::Dialogue(dialogue) => Probe::Dialogue { target, tls, dialogue: dialogue.clone() },
        MonitorKind::Load(query) => Probe::Load { target, tls, query: query.clone() },
        MonitorKind::User(script) => Probe::User { target, script: script.clone() },
        MonitorKind::Unavailable { kind } => Probe::Unavailable { kind: kind.clone() },
    };
    Check {
        name: instance_name(&service.name, &monitor.name),
        origin: Origin::Monitor { monitor: monitor_id, service: service_id },
        probe,
        schedule: monitor.schedule.clone(),
    }
}
