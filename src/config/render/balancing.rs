//! How a vserver chooses, and values taken from requests.

use super::text::{Text, Value};
use crate::model::Model;
use crate::model::balancing::Extract;
use crate::model::service::{Service, ServiceSettings};
use crate::model::vserver::Vserver;

pub(super) fn balancing(out: &mut Text, model: &Model, vserver: &Vserver) {
    let balancing = &vserver.balancing;
    out.key("lb_method", Value::str(balancing.method.word()));
    out.key("backup_lb_method", Value::str(balancing.backup_method.word()));
    let by = [balancing.method, balancing.backup_method];
    if balancing.method.hashes_text() {
        out.key("hash_length", Value::Int(balancing.hash_length.into()));
    }
    if by.iter().any(|method| method.hashes_address()) {
        out.key("netmask", Value::Int(balancing.prefix_v4.into()));
        out.key("v6netmasklen", Value::Int(balancing.prefix_v6.into()));
    }
    out.maybe("token", balancing.token.as_ref().map(extract));
    out.maybe("slow_start", (!balancing.slow_start.is_zero()).then(|| Value::duration(balancing.slow_start)));
    if !balancing.split.is_empty() {
        let shares = vserver.groups.iter().zip(&balancing.split);
        let named = shares.map(|(id, &share)| (model.groups[id.index()].name.to_string(), Value::Int(share.into())));
        out.key("split", Value::Inline(named.collect()));
    }
    if !balancing.proximity.is_empty() {
        out.key("proximity", Value::Inline(proximity(model, vserver)));
    }
}

/// One entry a network, in the order of their first.
fn proximity(model: &Model, vserver: &Vserver) -> Vec<(String, Value)> {
    let mut near: Vec<(String, Vec<&str>)> = Vec::new();
    for (network, service) in &vserver.balancing.proximity {
        let (network, service) = (network.to_string(), &*model.service(*service).name);
        match near.iter_mut().find(|(other, _)| *other == network) {
            Some((_, services)) => services.push(service),
            None => near.push((network, vec![service])),
        }
    }
    let value = |services: Vec<&str>| match services[..] {
        [one] => Value::str(one),
        _ => Value::strs(services),
    };
    near.into_iter().map(|(network, services)| (network, value(services))).collect()
}

/// The services bound by name: weights alone where all have the default order.
pub(super) fn services(model: &Model, vserver: &Vserver) -> Value {
    let name = |member: &crate::model::vserver::Member| &*model.service(member.service).name;
    if vserver.services.iter().all(|member| member.order == 1) {
        return Value::weighted(vserver.services.iter().map(|member| (name(member), member.weight)));
    }
    let bound = |member: &crate::model::vserver::Member| {
        let with = [("weight", member.weight), ("order", member.order)];
        Value::Inline(with.map(|(key, value)| (key.to_owned(), Value::Int(value.into()))).into())
    };
    Value::Inline(vserver.services.iter().map(|member| (name(member).to_owned(), bound(member))).collect())
}

/// What a service is known by.
pub(super) fn ids(service: &Service) -> Vec<(&'static str, Value)> {
    let hash_id = service.hash_id.map(|id| ("hash_id", Value::Int(id.into())));
    let custom = service.custom_server_id.as_ref().map(|id| ("custom_server_id", Value::str(id)));
    hash_id.into_iter().chain(custom).collect()
}

pub(super) fn passive(settings: &ServiceSettings) -> Option<Value> {
    let passive = settings.passive.as_ref()?;
    let mut entries = vec![("connect_failures".into(), Value::Int(passive.connect_failures.into()))];
    if settings.protocol.is_http() {
        entries.push(("server_errors".into(), Value::Int(passive.server_errors.into())));
    }
    entries.push(("eject_time".into(), Value::duration(passive.eject_time)));
    entries.push(("max_ejected".into(), Value::Int(passive.max_ejected.into())));
    Some(Value::Inline(entries))
}

pub(super) fn extract(extract: &Extract) -> Value {
    match extract {
        Extract::Regex { of, pattern } => Value::Inline(vec![place(of), ("regex".into(), Value::str(pattern))]),
        plain => match place(plain) {
            (key, word) if key == "of" => word,
            entry => Value::Inline(vec![entry]),
        },
    }
}

/// Where a value stands, as a key and its value.
fn place(extract: &Extract) -> (String, Value) {
    let (key, value) = match extract {
        Extract::Path => ("of", Value::str("path")),
        Extract::Url => ("of", Value::str("url")),
        Extract::Host => ("of", Value::str("host")),
        Extract::ClientIp => ("of", Value::str("client_ip")),
        Extract::Header(name) => ("header", Value::str(name)),
        Extract::Cookie(name) => ("cookie", Value::str(name)),
        Extract::Query(name) => ("query", Value::str(name)),
        Extract::PathSegment(nth) => ("path_segment", Value::Int((*nth).into())),
        // No configuration nests them.
        Extract::Regex { of, .. } => return place(of),
    };
    (key.to_owned(), value)
}
