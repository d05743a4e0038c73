//! The ADC: monitors, servers, services, groups, vservers, criteria, rules.

use super::check::{dns_type_word, headers, octets, octets_if_any, statuses};
use super::text::{Text, Value};
use crate::config::schema::kind_has_key;
use crate::config::units::format_rate;
use crate::model::Model;
use crate::model::check::{BodyMatch, Host, HttpExpect, HttpRequest, Monitor, MonitorKind, Target};
use crate::model::id::VserverId;
use crate::model::lookup::Query;
use crate::model::service::{AutoScale, BoundMonitor, Service, ServiceSettings};
use crate::model::vserver::{Role, Vserver};

pub(super) fn monitors(out: &mut Text, model: &Model) {
    for monitor in model.monitors.iter().filter(|monitor| !monitor.builtin) {
        self::monitor(out, monitor);
    }
}

fn monitor(out: &mut Text, monitor: &Monitor) {
    out.table(&["monitor", &monitor.name]);
    let word = monitor.kind.word();
    out.key("type", Value::str(word));
    kind(out, &monitor.kind);
    let schedule = &monitor.schedule;
    out.key("interval", Value::duration(schedule.interval));
    out.key("response_timeout", Value::duration(schedule.timeout));
    out.key("response_timeout_threshold", Value::Int(schedule.timeout_threshold.into()));
    out.key("retries", Value::Int(schedule.fall.into()));
    out.maybe("failure_retries", schedule.fall_among.map(|m| Value::Int(m.into())));
    out.key("alert_retries", Value::Int(schedule.alert_after.into()));
    out.key("success_retries", Value::Int(schedule.rise.into()));
    out.maybe("down_time", schedule.down_time.map(Value::duration));
    out.key("lrtm", Value::Bool(schedule.learn));
    out.maybe("deviation", schedule.deviation.map(Value::duration));
    out.key("state", Value::str(if monitor.enabled { "ENABLED" } else { "DISABLED" }));
    out.key("reverse", Value::Bool(schedule.reverse));
    if kind_has_key(word, "secure") {
        out.key("secure", Value::Bool(monitor.tls.is_some()));
        out.maybe("verify", monitor.tls.as_ref().map(|tls| Value::Bool(tls.verify)));
        out.maybe("server_name", monitor.tls.as_ref().and_then(|tls| tls.server_name.as_ref()).map(Value::str));
    }
    out.maybe("dest_ip", monitor.dest_ip.map(Value::show));
    out.maybe("dest_port", monitor.dest_port.map(|port| Value::Int(port.into())));
    out.maybe("comment", monitor.comment.as_ref().map(Value::str));
}

fn kind(out: &mut Text, kind: &MonitorKind) {
    match kind {
        MonitorKind::Http { request, expect } | MonitorKind::Http2 { request, expect } => {
            http(out, "request", request, expect);
        }
        MonitorKind::HttpInline { request, expect, action } => {
            http(out, "request", request, expect);
            out.key("action", Value::str(action.word()));
        }
        MonitorKind::HttpEcv { request, expect } => {
            http(out, "send", request, expect);
            if let Some(BodyMatch::Contains(receive)) = &expect.body {
                out.key("receive", octets(receive));
            }
            out.maybe("trofs_string", expect.trofs_body.as_deref().map(octets));
        }
        MonitorKind::TcpEcv { send, receive, trofs } => {
            out.maybe("send", octets_if_any(send));
            out.maybe("receive", octets_if_any(receive));
            out.maybe("trofs_string", trofs.as_deref().map(octets));
        }
        MonitorKind::UdpEcv { send, receive } => {
            out.maybe("send", octets_if_any(send));
            out.maybe("receive", octets_if_any(receive));
        }
        MonitorKind::Dns { tcp: _, query, qtype, expect } => {
            out.key("query", Value::str(query));
            out.key("query_type", Value::str(dns_type_word(*qtype)));
            if !expect.is_empty() {
                out.key("ip_address", Value::List(expect.iter().map(Value::show).collect()));
            }
        }
        MonitorKind::Load(query) => {
            request(out, "request", &query.request);
            out.key("response_codes", statuses(&query.status));
            out.maybe("json_pointer", query.pointer.as_ref().map(Value::str));
            out.maybe("load_threshold", query.threshold.map(|most| Value::Int(most.into())));
        }
        MonitorKind::Dialogue(dialogue) => super::dialogue::dialogue(out, dialogue),
        MonitorKind::User(script) => super::dialogue::script(out, script),
        MonitorKind::Ping | MonitorKind::Tcp | MonitorKind::Unavailable { .. } => {}
    }
}

fn http(out: &mut Text, key: &str, request: &HttpRequest, expect: &HttpExpect) {
    self::request(out, key, request);
    out.key("response_codes", statuses(&expect.status));
    out.maybe("trofs_code", expect.trofs_code.map(|code| Value::Int(code.into())));
}

/// The request line without a version; the Host field stands among the headers, as NetScaler has it.
fn request(out: &mut Text, key: &str, request: &HttpRequest) {
    out.key(key, Value::Str(format!("{} {}", request.method, request.path)));
    let mut fields = request.headers.clone();
    if let Some(host) = &request.host {
        fields.insert(0, ("Host".into(), host.clone()));
    }
    out.maybe("custom_headers", headers(&fields));
}

pub(super) fn servers(out: &mut Text, model: &Model) {
    for server in &model.servers {
        out.table(&["server", &server.name]);
        out.key("address", Value::show(&server.address));
        if matches!(server.address, Host::Name(_)) {
            let lookup = &server.lookup;
            out.maybe("query_type", (lookup.query != Query::Either).then(|| Value::str(lookup.query.word())));
            out.key("domain_resolve_retry", Value::duration(lookup.retry));
        }
        out.maybe("comment", server.comment.as_ref().map(Value::str));
    }
}

pub(super) fn services(out: &mut Text, model: &Model) {
    for service in model.services.iter().filter(|service| service.group.is_none()) {
        out.table(&["service", &service.name]);
        for (key, value) in endpoint(model, service).into_iter().chain(super::balancing::ids(service)) {
            out.key(key, value);
        }
        settings(out, model, &service.settings);
    }
}

fn endpoint(model: &Model, service: &Service) -> Vec<(&'static str, Value)> {
    match service.server {
        Some(server) => {
            vec![("server", Value::str(&model.servers[server.index()].name)), ("port", Value::Int(service.port.into()))]
        }
        None => vec![("address", Value::show(Target::at(service.host.clone(), service.port)))],
    }
}

fn settings(out: &mut Text, model: &Model, settings: &ServiceSettings) {
    out.key("type", Value::str(settings.protocol.word()));
    out.key("monitors", bound(model, &settings.monitors));
    out.key("health_monitor", Value::Bool(settings.health_monitor));
    out.key("mon_threshold", Value::Int(settings.monitor_threshold.into()));
    out.key("max_client", Value::Int(settings.max_client.into()));
    if settings.max_bandwidth > 0 {
        out.key("max_bandwidth", Value::Str(format_rate(settings.max_bandwidth)));
    }
    out.key("down_state_flush", Value::Bool(settings.down_state_flush));
    out.maybe("cip_header", settings.client_ip_header.as_ref().map(Value::str));
    out.key("svr_timeout", Value::duration(settings.server_timeout));
    out.key("connect_timeout", Value::duration(settings.connect_timeout));
    super::http::of_service(out, settings);
    out.maybe("tls", settings.tls.as_ref().map(|tls| super::tls::servers(model, tls)));
    out.maybe("proxy_protocol", settings.proxy_protocol.map(super::tls::proxy));
    out.maybe("passive", super::balancing::passive(settings));
    out.maybe("comment", settings.comment.as_ref().map(Value::str));
    out.maybe("app_flow_log", (!settings.app_flow_log).then_some(Value::Bool(false)));
}

/// Weights, and tables where more is said.
fn bound(model: &Model, monitors: &[BoundMonitor]) -> Value {
    let name = |bound: &BoundMonitor| &model.monitors[bound.monitor.index()].name;
    let value = |bound: &BoundMonitor| {
        let weight = Value::Int(bound.weight.into());
        if bound.enabled && !bound.passive {
            return weight;
        }
        let state = Value::str(if bound.enabled { "ENABLED" } else { "DISABLED" });
        let passive = ("passive".into(), Value::Bool(bound.passive));
        Value::Inline(vec![("weight".into(), weight), ("state".into(), state), passive])
    };
    if monitors.iter().all(|bound| *bound == BoundMonitor::new(bound.monitor)) {
        return Value::strs(monitors.iter().map(name));
    }
    Value::Inline(monitors.iter().map(|bound| (name(bound).to_string(), value(bound))).collect())
}

pub(super) fn groups(out: &mut Text, model: &Model) {
    for group in &model.groups {
        out.table(&["service_group", &group.name]);
        settings(out, model, &group.settings);
        if let Some(auto) = &group.auto_scale {
            auto_scale(out, model, &group.name, auto);
            continue;
        }
        for member in &group.members {
            out.table(&["service_group", &group.name, "member", &member.name]);
            let service = model.service(member.service);
            for (key, value) in endpoint(model, service).into_iter().chain(super::balancing::ids(service)) {
                out.key(key, value);
            }
            out.key("weight", Value::Int(member.weight.into()));
            out.maybe("order", (member.order != 1).then_some(Value::Int(member.order.into())));
        }
    }
}

/// What members come from; who they are, DNS says.
fn auto_scale(out: &mut Text, model: &Model, group: &str, auto: &AutoScale) {
    out.key("auto_scale", Value::str("DNS"));
    out.key("auto_disable_delay", Value::duration(auto.disable_delay));
    out.key("auto_disable_graceful", Value::Bool(auto.disable_graceful));
    out.key("auto_delayed_trofs", Value::Bool(auto.delayed_trofs));
    for source in &auto.sources {
        out.table(&["service_group", group, "member", &source.name]);
        let port = source.port.map(|port| Value::Int(port.into()));
        match source.server {
            Some(server) => {
                out.key("server", Value::str(&model.servers[server.index()].name));
                out.maybe("port", port);
            }
            None => {
                let host = Host::Name(source.question.name.clone());
                out.key("address", Value::show(Target::at(host, source.port.unwrap_or(0))));
            }
        }
        if source.port.is_some() {
            out.key("weight", Value::Int(source.weight.into()));
            out.maybe("order", (source.order != 1).then_some(Value::Int(source.order.into())));
        }
    }
}

pub(super) fn vservers(out: &mut Text, model: &Model) {
    for vserver in &model.vservers {
        self::vserver(out, model, vserver);
    }
}

fn vserver(out: &mut Text, model: &Model, vserver: &Vserver) {
    if let Role::Cs { default, .. } = vserver.role {
        return switching(out, model, vserver, default);
    }
    out.table(&["vserver", &vserver.name]);
    out.key("type", Value::str(vserver.protocol.word()));
    out.maybe("address", vserver.address.map(Value::show));
    out.maybe("interface", vserver.interface.as_ref().map(Value::str));
    out.key("services", super::balancing::services(model, vserver));
    out.key("groups", Value::strs(vserver.groups.iter().map(|id| &model.groups[id.index()].name)));
    super::balancing::balancing(out, model, vserver);
    super::limits::persistence_of(out, vserver);
    out.maybe("backup", vserver.backup.map(|id| Value::str(&model.vserver(id).name)));
    out.key("health_threshold", Value::Int(vserver.health_threshold.into()));
    super::limits::limits_of(out, vserver);
    out.key("disable_primary_on_down", Value::Bool(vserver.disable_primary_on_down));
    out.key("down_state_flush", Value::Bool(vserver.down_state_flush));
    out.key("trofs_persistence", Value::Bool(vserver.trofs_persistence));
    out.key("clt_timeout", Value::duration(vserver.client_timeout));
    if vserver.protocol.is_http() {
        out.key("diagnostics", Value::List(vserver.diagnostics.iter().map(Value::show).collect()));
    }
    super::http::of_vserver(out, vserver);
    super::policy::bound(out, vserver);
    super::tls::of_vserver(out, model, vserver);
}

fn switching(out: &mut Text, model: &Model, vserver: &Vserver, default: Option<VserverId>) {
    out.table(&["cs_vserver", &vserver.name]);
    out.key("type", Value::str(vserver.protocol.word()));
    out.maybe("address", vserver.address.map(Value::show));
    out.maybe("interface", vserver.interface.as_ref().map(Value::str));
    out.maybe("default", default.map(|id| Value::str(&model.vserver(id).name)));
    out.maybe("backup", vserver.backup.map(|id| Value::str(&model.vserver(id).name)));
    out.key("disable_primary_on_down", Value::Bool(vserver.disable_primary_on_down));
    out.key("down_state_flush", Value::Bool(vserver.down_state_flush));
    out.key("clt_timeout", Value::duration(vserver.client_timeout));
    if vserver.protocol.is_http() {
        out.key("diagnostics", Value::List(vserver.diagnostics.iter().map(Value::show).collect()));
    }
    out.maybe("redirect_url", vserver.redirect_url.as_ref().map(Value::str));
    super::limits::client_limits_of(out, vserver);
    super::http::of_vserver(out, vserver);
    super::policy::bound(out, vserver);
    super::tls::of_vserver(out, model, vserver);
}
