//! Monitors at services and groups: which are bound, how each counts, and which are in force.

use super::Context;
use super::object::Object;
use super::service::weight;
use crate::config::document::{Node, Path, Place, Table, Value};
use crate::model::check::{Monitor, MonitorKind};
use crate::model::dialogue::InlineAction;
use crate::model::id::{CheckId, MonitorId};
use crate::model::service::{BoundMonitor, MonitorBinding, Protocol, ServiceSettings};

/// `["a"]`, `{ a = 3 }` or `{ a = { weight = 3, state = "DISABLED", passive = true } }`.
pub fn bound(cx: &mut Context<'_>, object: &Object<'_>, monitors: &[Monitor]) -> Vec<BoundMonitor> {
    let path = object.path.key("monitors");
    let mut bound: Vec<BoundMonitor> = Vec::new();
    let (mut draining, mut loading): (Option<&str>, Option<&str>) = (None, None);
    for (name, place, node) in named(object, "monitors") {
        let Some(id) = cx.names.monitors.find(cx.report, name, place, path) else { continue };
        let Some(monitor) = monitors.get(id) else { continue };
        if monitor.builtin && name.ends_with("-default") {
            let why = format!("{path}: `{name}` is bound where no other monitor is; leave the list empty");
            cx.report.error(place, path, why);
            continue;
        }
        if bound.iter().any(|other| other.monitor.index() == id) {
            cx.report.error(place, path, format!("{path}: `{name}` stands twice"));
            continue;
        }
        for (one, is, what) in [
            (&mut draining, drains(&monitor.kind), "drain a service"),
            (&mut loading, matches!(monitor.kind, MonitorKind::Load(_)), "tell the load of a service"),
        ] {
            if !is {
                continue;
            }
            if let Some(other) = one.replace(name) {
                let why = format!("{path}: `{other}` and `{name}` both {what}; at most one monitor may");
                cx.report.error(place, path, why);
            }
        }
        let binding = node.and_then(Node::table).map(|table| Object::new(table, None, path, place));
        bound.push(BoundMonitor {
            monitor: MonitorId::from_index(id),
            weight: match &binding {
                Some(binding) => binding.int("weight").unwrap_or(1),
                None => node.map_or(1, weight),
            },
            enabled: binding.is_none_or(|binding| binding.text("state") != Some("DISABLED")),
            passive: binding.and_then(|binding| binding.bool("passive")).unwrap_or(false),
        });
    }
    bound
}

/// Of a list or a table: name, place, and what a table says of it; in the order of the text.
fn named<'d>(object: &Object<'d>, key: &str) -> Vec<(&'d str, Place, Option<&'d Node>)> {
    match object.get(key).map(|node| &node.value) {
        Some(Value::List(items)) => items.iter().filter_map(|n| Some((n.text()?, n.place, None))).collect(),
        Some(Value::Table(table)) => table.entries.iter().map(|e| (&*e.key, e.place, Some(&e.node))).collect(),
        _ => Vec::new(),
    }
}

fn drains(kind: &MonitorKind) -> bool {
    match kind {
        MonitorKind::Http { expect, .. } | MonitorKind::HttpEcv { expect, .. } | MonitorKind::Http2 { expect, .. } => {
            expect.trofs_code.is_some() || expect.trofs_body.is_some()
        }
        MonitorKind::TcpEcv { trofs, .. } => trofs.is_some(),
        _ => false,
    }
}

/// The monitors in force: those bound, or the default of the type. None where health monitoring is off.
pub fn in_force(
    cx: &Context<'_>,
    service: &str,
    settings: &ServiceSettings,
    monitors: &[Monitor],
) -> Vec<MonitorBinding> {
    if !settings.health_monitor {
        return Vec::new();
    }
    let mut bound = settings.monitors.clone();
    if bound.is_empty() {
        let name = default_monitor(settings.protocol);
        bound.extend(cx.names.monitors.id(name).map(|id| BoundMonitor::new(MonitorId::from_index(id))));
    }
    let binding = |bound: BoundMonitor| {
        let name = super::check::instance_name(service, cx.names.monitors.name(bound.monitor.index())?);
        let check = CheckId::from_index(cx.names.checks.id(&name)?);
        Some(at_work(bound, &monitors[bound.monitor.index()], check))
    };
    bound.into_iter().filter_map(binding).collect()
}

pub fn at_work(bound: BoundMonitor, definition: &Monitor, check: CheckId) -> MonitorBinding {
    let BoundMonitor { monitor, weight, enabled, passive } = bound;
    let only_counts = matches!(definition.kind, MonitorKind::HttpInline { action, .. } if action != InlineAction::Down);
    let (enabled, passive) = (enabled && definition.enabled, passive || only_counts);
    MonitorBinding { monitor, check, weight, enabled, passive }
}

/// Bound to a service that names no monitor: NetScaler asks a TCP port to open, and where datagrams are served whether
/// the host is there.
pub fn default_monitor(protocol: Protocol) -> &'static str {
    if protocol.is_datagram() { "ping-default" } else { "tcp-default" }
}

/// The names of the monitors that a service's or group's table binds, for collecting the names of checks.
pub fn monitor_names<'d>(table: &'d Table, defaults: Option<&'d Table>) -> Vec<&'d str> {
    let object = Object::new(table, defaults, Path::Root, Place::default());
    if object.bool("health_monitor") == Some(false) {
        return Vec::new();
    }
    named(&object, "monitors").into_iter().map(|(name, ..)| name).collect()
}
