//! How a vserver chooses, what its members are bound with, and passive health.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use super::object::Object;
use super::{Context, extract};
use crate::config::document::{Node, Place, Value};
use crate::config::values;
use crate::model::balancing::{Balancing, Extract, Method};
use crate::model::id::{GroupId, ServiceId};
use crate::model::net::Network;
use crate::model::service::{Passive, Protocol, Service};
use crate::model::vserver::Member;

/// A vserver as far as it is known.
pub struct Of<'a> {
    pub protocol: Protocol,
    pub services: &'a [Member],
    pub groups: &'a [GroupId],
    pub members: &'a [Member],
    pub all: &'a [Service],
}

pub fn balancing(cx: &mut Context<'_>, object: &Object<'_>, of: &Of<'_>) -> Balancing {
    let defaults = Balancing::default();
    let method = word(object, "lb_method").unwrap_or(defaults.method);
    let backup_method = word(object, "backup_lb_method").unwrap_or(defaults.backup_method);
    for (key, method) in [("lb_method", method), ("backup_lb_method", backup_method)] {
        let of_requests = method.hashes_text() || method == Method::LeastRequest;
        if of_requests && !of.protocol.is_http() && object.own(key).is_some() {
            let why = format!("{} needs a vserver of type HTTP or SSL", method.word());
            object.wrong(cx.report, key, why);
        }
    }
    hash_ids(cx, object, of);
    Balancing {
        method,
        backup_method,
        hash_length: object.int("hash_length").unwrap_or(defaults.hash_length),
        prefix_v4: netmask(cx, object).unwrap_or(defaults.prefix_v4),
        prefix_v6: object.int("v6netmasklen").unwrap_or(defaults.prefix_v6),
        token: token(cx, object, method),
        slow_start: slow_start(cx, object, method),
        split: split(cx, object, of),
        proximity: proximity(cx, object, method, of),
    }
    .checked(cx, object)
}

impl Balancing {
    /// Keys that would do nothing.
    fn checked(self, cx: &mut Context<'_>, object: &Object<'_>) -> Balancing {
        let by = self.method.word();
        if !self.method.hashes_text() {
            object.only(cx.report, &["hash_length"], &format!("for {by}, which hashes no text"));
        }
        if !self.method.hashes_address() && !self.backup_method.hashes_address() {
            object.only(cx.report, &["netmask", "v6netmasklen"], &format!("for {by}, which hashes no address"));
        }
        self
    }
}

fn word(object: &Object<'_>, key: &str) -> Option<Method> {
    let text = object.text(key)?;
    Method::ALL.into_iter().find(|method| method.word() == text)
}

/// `24` or `255.255.255.0`.
fn netmask(cx: &mut Context<'_>, object: &Object<'_>) -> Option<u8> {
    if let Some(prefix) = object.int("netmask") {
        return Some(prefix);
    }
    let mask = object.ip("netmask")?;
    let bits = match mask {
        IpAddr::V4(mask) => u32::from(mask),
        IpAddr::V6(_) => 0,
    };
    if bits == 0 || bits.leading_ones() + bits.trailing_zeros() != 32 {
        object.wrong(cx.report, "netmask", format!("{mask} is no mask of a network such as 255.255.255.0"));
        return None;
    }
    u8::try_from(bits.leading_ones()).ok()
}

fn token(cx: &mut Context<'_>, object: &Object<'_>, method: Method) -> Option<Extract> {
    match method {
        Method::Token => {
            object.require(cx.report, "token");
            extract::extract(cx, object, "token")
        }
        Method::CallIdHash => {
            Some(extract::extract(cx, object, "token").unwrap_or_else(|| Extract::Header("Call-ID".into())))
        }
        _ => {
            object.only(cx.report, &["token"], &format!("for {}", method.word()));
            None
        }
    }
}

fn slow_start(cx: &mut Context<'_>, object: &Object<'_>, method: Method) -> Duration {
    if method.hashes() {
        object.only(cx.report, &["slow_start"], &format!("for {}: a key stays with its member", method.word()));
        return Duration::ZERO;
    }
    object.duration("slow_start").unwrap_or_default()
}

/// `{ blue = 95, green = 5 }`: every bound group, 100 together.
fn split(cx: &mut Context<'_>, object: &Object<'_>, of: &Of<'_>) -> Vec<u8> {
    let Some(table) = object.own("split").and_then(Node::table) else { return Vec::new() };
    let path = object.path.key("split");
    if !of.services.is_empty() {
        let why = "shares new clients out among `groups`; put the services that are bound by name into one";
        object.wrong(cx.report, "split", why);
    }
    let mut shares: HashMap<usize, u8> = HashMap::new();
    for entry in &table.entries {
        let Some(group) = cx.names.groups.find(cx.report, &entry.key, entry.place, path) else { return Vec::new() };
        if !of.groups.contains(&GroupId::from_index(group)) {
            cx.report.error(entry.place, path, format!("{path}: `{}` is not in `groups`", entry.key));
            return Vec::new();
        }
        let share = values::integer(&entry.node, 0, 100).ok().and_then(|share| u8::try_from(share).ok());
        shares.insert(group, share.unwrap_or(0));
    }
    let missing = of.groups.iter().find(|group| !shares.contains_key(&group.index()));
    if let Some(group) = missing.and_then(|group| cx.names.groups.name(group.index())) {
        object.wrong(cx.report, "split", format!("says nothing of `{group}`; 0 gives it no new clients"));
        return Vec::new();
    }
    let total: u32 = shares.values().map(|&share| u32::from(share)).sum();
    if total != 100 {
        object.wrong(cx.report, "split", format!("the shares are {total} together, not 100"));
        return Vec::new();
    }
    of.groups.iter().map(|group| shares[&group.index()]).collect()
}

/// `{ "10.0.0.0/8" = "web1", "192.0.2.0/24" = ["web2", "web3"] }`
fn proximity(cx: &mut Context<'_>, object: &Object<'_>, method: Method, of: &Of<'_>) -> Vec<(Network, ServiceId)> {
    if method != Method::StaticProximity {
        object.only(cx.report, &["proximity"], &format!("for {}", method.word()));
        return Vec::new();
    }
    object.require(cx.report, "proximity");
    let Some(table) = object.own("proximity").and_then(Node::table) else { return Vec::new() };
    let path = object.path.key("proximity");
    let mut near = Vec::new();
    for entry in &table.entries {
        let network = match values::network(&entry.key) {
            Ok(network) => network,
            Err(why) => {
                cx.report.error(entry.place, path, format!("{path}: {why}"));
                continue;
            }
        };
        let one = std::slice::from_ref(&entry.node);
        for node in entry.node.list().unwrap_or(one) {
            let Some(name) = node.text() else { continue };
            let Some(id) = cx.names.services.find(cx.report, name, node.place, path) else { continue };
            let service = ServiceId::from_index(id);
            if !of.members.iter().any(|member| member.service == service) {
                cx.report.error(node.place, path, format!("{path}: `{name}` is not a member of this vserver"));
            } else if near.contains(&(network, service)) {
                cx.report.error(node.place, path, format!("{path}: `{name}` stands twice at {network}"));
            } else {
                near.push((network, service));
            }
        }
    }
    near
}

/// Two members with one `hash_id` would be one and the same to a hash method.
fn hash_ids(cx: &mut Context<'_>, object: &Object<'_>, of: &Of<'_>) {
    let mut seen: HashMap<u32, &Service> = HashMap::new();
    for service in of.members.iter().filter_map(|member| of.all.get(member.service.index())) {
        let Some(id) = service.hash_id else { continue };
        if let Some(other) = seen.insert(id, service).filter(|other| other.name != service.name) {
            let why = format!("`{}` and `{}` have the same hash_id {id}", other.name, service.name);
            object.wrong_whole(cx.report, why);
        }
    }
}

/// `["a", "b"]`, `{ a = 3 }` or `{ a = { weight = 3, order = 2 } }`: name, place, weight, order, in the order of the text.
pub fn bound<'d>(object: &Object<'d>, key: &str) -> Vec<(&'d str, Place, u32, u32)> {
    match object.get(key).map(|node| &node.value) {
        Some(Value::List(items)) => items.iter().filter_map(|n| Some((n.text()?, n.place, 1, 1))).collect(),
        Some(Value::Table(table)) => {
            let with = |node: &'d Node, place| match node.table() {
                Some(inner) => {
                    let inner = Object::new(inner, None, object.path, place);
                    (inner.int("weight").unwrap_or(1), inner.int("order").unwrap_or(1))
                }
                None => (values::integer(node, 0, 100).map_or(1, |weight| weight as u32), 1),
            };
            let entries = table.entries.iter();
            let bound = entries.map(|e| (&*e.key, e.place, with(&e.node, e.place)));
            bound.map(|(name, place, (weight, order))| (name, place, weight, order)).collect()
        }
        _ => Vec::new(),
    }
}

pub fn passive(cx: &mut Context<'_>, object: &Object<'_>, protocol: Protocol) -> Option<Passive> {
    let (table, place) = object.inner("passive")?;
    let inner = Object::new(table, None, object.path.key("passive"), place);
    let defaults = Passive::default();
    if !protocol.is_http() {
        inner.only(cx.report, &["server_errors"], "without HTTP");
    }
    let passive = Passive {
        connect_failures: inner.int("connect_failures").unwrap_or(defaults.connect_failures),
        server_errors: inner.int("server_errors").unwrap_or(defaults.server_errors),
        eject_time: inner.duration("eject_time").unwrap_or(defaults.eject_time),
        max_ejected: inner.int("max_ejected").unwrap_or(defaults.max_ejected),
    };
    if passive.connect_failures == 0 && passive.server_errors == 0 {
        inner.wrong_whole(cx.report, "watches nothing: both `connect_failures` and `server_errors` are 0");
    }
    Some(passive)
}
