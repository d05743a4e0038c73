//! Persistence, spillover, the surge queue and limits on one client, in canonical text.

use super::balancing::extract;
use super::text::{Text, Value};
use crate::config::units::format_rate;
use crate::model::Model;
use crate::model::condition::Condition;
use crate::model::limit::{BackupAction, ClientKey, ClientLimit, Spillover, SpilloverMethod};
use crate::model::persistence::{Persistence, PersistenceKind, SkipPersistency};
use crate::model::vserver::Vserver;

pub(super) fn lb_groups(out: &mut Text, model: &Model) {
    for group in &model.lb_groups {
        out.table(&["lb_group", &group.name]);
        out.key("vservers", Value::strs(group.vservers.iter().map(|id| &model.vserver(*id).name)));
        out.key("persistence", persistence(&group.persistence));
    }
}

/// What stands at the vserver's persistence; nothing where it is the group's.
pub(super) fn persistence_of(out: &mut Text, vserver: &Vserver) {
    let own = vserver.persistence.as_ref().filter(|_| vserver.lb_group.is_none());
    out.maybe("persistence", own.map(persistence));
    let skip = match vserver.skip_persistency {
        SkipPersistency::None => "NONE",
        SkipPersistency::Bypass => "BYPASS",
        SkipPersistency::ReLb => "RELB",
    };
    out.key("skip_persistency", Value::str(skip));
}

pub(super) fn limits_of(out: &mut Text, vserver: &Vserver) {
    out.maybe("spillover", vserver.spillover.as_ref().map(spillover));
    out.maybe("redirect_url", vserver.redirect_url.as_ref().map(Value::str));
    let surge = &vserver.surge;
    out.key(
        "surge",
        Value::Inline(vec![
            entry("max", Value::Int(surge.max.into())),
            entry("timeout", Value::duration(surge.timeout)),
        ]),
    );
    client_limits_of(out, vserver);
}

pub(super) fn client_limits_of(out: &mut Text, vserver: &Vserver) {
    if !vserver.client_limits.is_empty() {
        let limits = vserver.client_limits.iter().map(|limit| (limit.name.to_string(), client_limit(limit)));
        out.key("client_limits", Value::Inline(limits.collect()));
    }
}

fn entry(key: &str, value: Value) -> (String, Value) {
    (key.to_owned(), value)
}

fn persistence(persistence: &Persistence) -> Value {
    let mut entries = vec![
        entry("type", Value::str(persistence.kind.word())),
        entry("timeout", Value::duration(persistence.timeout)),
    ];
    let mut prefixes = false;
    match &persistence.kind {
        PersistenceKind::CookieInsert { cookie, encrypted } => {
            entries.extend(cookie.as_ref().map(|cookie| entry("cookie_name", Value::str(cookie))));
            entries.push(entry("encrypted", Value::Bool(*encrypted)));
            if let Some(timeout) = persistence.backup {
                entries.push(entry("backup", Value::str("SOURCEIP")));
                entries.push(entry("backup_timeout", Value::duration(timeout)));
                prefixes = true;
            }
        }
        PersistenceKind::Rule { request, response } => {
            entries.push(entry("request", extract(request)));
            entries.extend(response.as_ref().map(|response| entry("response", extract(response))));
        }
        PersistenceKind::UrlPassive { request } | PersistenceKind::CustomServerId { request } => {
            entries.push(entry("request", extract(request)));
        }
        PersistenceKind::SslSession => {}
        PersistenceKind::SourceIp | PersistenceKind::DestIp | PersistenceKind::SrcIpDestIp => prefixes = true,
    }
    if prefixes {
        entries.push(entry("prefix_v4", Value::Int(persistence.prefix_v4.into())));
        entries.push(entry("prefix_v6", Value::Int(persistence.prefix_v6.into())));
    }
    Value::Inline(entries)
}

fn spillover(spillover: &Spillover) -> Value {
    let method = |word| entry("method", Value::str(word));
    let mut entries = match &spillover.method {
        SpilloverMethod::Health { threshold } => {
            vec![method("HEALTH"), entry("threshold", Value::Int((*threshold).into()))]
        }
        SpilloverMethod::Connection { threshold } => {
            vec![method("CONNECTION"), entry("threshold", Value::Int((*threshold).into()))]
        }
        SpilloverMethod::DynamicConnection => vec![method("DYNAMICCONNECTION")],
        SpilloverMethod::Bandwidth { threshold } => {
            vec![method("BANDWIDTH"), entry("threshold", Value::Str(format_rate(*threshold)))]
        }
        SpilloverMethod::Condition { when, .. } => vec![method("CONDITION"), entry("when", condition(when))],
    };
    if let Some(timeout) = spillover.persistence {
        entries.push(entry("persistence", Value::Bool(true)));
        entries.push(entry("persistence_timeout", Value::duration(timeout)));
    }
    let action = match spillover.backup_action {
        BackupAction::Accept => "ACCEPT",
        BackupAction::Drop => "DROP",
        BackupAction::Redirect => "REDIRECT",
    };
    entries.push(entry("backup_action", Value::str(action)));
    Value::Inline(entries)
}

fn condition(condition: &Condition) -> Value {
    let terms = |group: &crate::model::condition::Group| {
        Value::List(group.terms.iter().map(|term| Value::str(&term.text)).collect())
    };
    if condition.groups.iter().any(|group| group.named) {
        return Value::Inline(condition.groups.iter().map(|group| (group.name.to_string(), terms(group))).collect());
    }
    Value::List(condition.groups.iter().map(terms).collect())
}

fn client_limit(limit: &ClientLimit) -> Value {
    let mut entries = Vec::new();
    match &limit.key {
        ClientKey::Value(value) => entries.push(entry("key", extract(value))),
        ClientKey::Address { prefix_v4, prefix_v6 } => {
            entries.push(entry("prefix_v4", Value::Int((*prefix_v4).into())));
            entries.push(entry("prefix_v6", Value::Int((*prefix_v6).into())));
        }
    }
    if let Some(rate) = limit.rate_per_s {
        entries.push(entry("rate", Value::Int(rate.into())));
        entries.push(entry("burst", Value::Int(limit.burst.into())));
    }
    entries.extend(limit.concurrency.map(|most| entry("concurrency", Value::Int(most.into()))));
    Value::Inline(entries)
}
