//! `[network]` and `[time]`.

use super::text::{Text, Value};
use crate::model::Model;
use crate::model::network::{InterfaceAddress, Manager, Route};

pub(super) fn network(out: &mut Text, model: &Model) {
    let Some(network) = &model.network else { return };
    let shown = |list: &[InterfaceAddress]| Value::List(list.iter().map(Value::show).collect());
    out.table(&["network"]);
    out.key("vips", Value::Bool(network.vips));
    out.key("manager", Value::str(network.manager.word()));
    out.key("source_addresses", shown(&network.sources));
    if !network.name_servers.is_empty() {
        out.key("name_servers", Value::List(network.name_servers.iter().map(Value::show).collect()));
    }
    if !network.routes.is_empty() {
        out.key("routes", Value::List(network.routes.iter().map(route).collect()));
    }
    for interface in &network.interfaces {
        out.table(&["network", "interface", &interface.name]);
        out.key("addresses", shown(&interface.addresses));
        out.key("dhcp", Value::str(interface.dhcp.word()));
        if network.manager != Manager::Netlink {
            out.key("accept_ra", Value::Bool(interface.accept_ra));
        }
        out.maybe(
            "vlan",
            interface.vlan.as_ref().map(|vlan| {
                let on = vlan.on.as_deref().map(|on| ("on", Value::str(on)));
                let entries = std::iter::once(("id", Value::Int(vlan.id.into()))).chain(on);
                Value::Inline(entries.map(|(key, value)| (key.to_owned(), value)).collect())
            }),
        );
    }
}

pub(super) fn time(out: &mut Text, model: &Model) {
    if !model.time_servers.is_empty() {
        out.table(&["time"]);
        out.key("servers", Value::List(model.time_servers.iter().map(Value::str).collect()));
    }
}

fn route(route: &Route) -> Value {
    let entries = [("to", Value::show(route.to)), ("via", Value::show(route.via))];
    let interface = ("interface", Value::str(&route.interface));
    let metric = route.metric.map(|metric| ("metric", Value::Int(metric.into())));
    let all = entries.into_iter().chain([interface]).chain(metric);
    Value::Inline(all.map(|(key, value)| (key.to_owned(), value)).collect())
}
