//! Spillover, the surge queue, limits on one client, and where a client is sent that nobody can serve.

use std::time::Duration;

use super::Context;
use super::extract::extract;
use super::object::Object;
use super::rule::watched;
use super::term::{Scope, condition};
use crate::config::document::Value;
use crate::config::units;
use crate::model::id::Name;
use crate::model::limit::{BackupAction, ClientKey, ClientLimit, Spillover, SpilloverMethod, Surge};
use crate::model::persistence::SkipPersistency;
use crate::model::service::{Protocol, Service};
use crate::model::vserver::Member;

pub fn spillover(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    protocol: Protocol,
    members: &[Member],
    services: &[Service],
) -> Option<Spillover> {
    let (table, place) = object.inner("spillover")?;
    let inner = Object::new(table, None, object.path.key("spillover"), place);
    let word = inner.text("method")?;
    if word != "CONDITION" {
        inner.only(cx.report, &["when"], &format!("for {word}"));
    }
    let method = match word {
        "HEALTH" => SpilloverMethod::Health { threshold: count(cx, &inner, 100, "a percentage").unwrap_or(1) },
        "CONNECTION" => {
            SpilloverMethod::Connection { threshold: count(cx, &inner, 4_294_967_287, "a number").unwrap_or(1) }
        }
        "DYNAMICCONNECTION" => {
            inner.only(cx.report, &["threshold"], "for DYNAMICCONNECTION, whose threshold is the sum of `max_client`");
            let settings = |m: &Member| services.get(m.service.index()).map(|s| (&s.name, s.settings.max_client));
            if let Some((name, _)) = members.iter().filter_map(settings).find(|(_, most)| *most == 0) {
                let why = format!("DYNAMICCONNECTION needs a `max_client` of every member; `{name}` has none");
                inner.wrong(cx.report, "method", why);
            }
            SpilloverMethod::DynamicConnection
        }
        "BANDWIDTH" => {
            inner.require(cx.report, "threshold");
            if inner.get("threshold").is_some_and(|node| !matches!(node.value, Value::Text(_))) {
                inner.wrong(cx.report, "threshold", "BANDWIDTH takes a rate such as \"10Mbit/s\"");
            }
            SpilloverMethod::Bandwidth { threshold: rate(&inner, "threshold").unwrap_or(1) }
        }
        "CONDITION" => {
            inner.only(cx.report, &["threshold"], "for CONDITION");
            inner.require(cx.report, "when");
            let when = condition(cx, inner.get("when")?, inner.path.key("when"), Scope::Board);
            let watched = watched(cx, &when);
            SpilloverMethod::Condition { when, watched }
        }
        "NONE" => {
            let others = ["threshold", "persistence", "persistence_timeout", "backup_action"];
            inner.only(cx.report, &others, "for NONE");
            return None;
        }
        _ => return None,
    };
    let persistence = match inner.bool("persistence") {
        Some(true) => Some(inner.duration("persistence_timeout").unwrap_or(Duration::from_secs(120))),
        _ => {
            inner.only(cx.report, &["persistence_timeout"], "without `persistence = true`");
            None
        }
    };
    let backup_action = match inner.text("backup_action") {
        Some("DROP") => BackupAction::Drop,
        Some("REDIRECT") => {
            if object.get("redirect_url").is_none() || !protocol.is_http() {
                inner.wrong(cx.report, "backup_action", "REDIRECT needs the `redirect_url` of an HTTP or SSL vserver");
            }
            BackupAction::Redirect
        }
        _ => BackupAction::Accept,
    };
    Some(Spillover { method, persistence, backup_action })
}

/// A threshold that counts.
fn count<T: TryFrom<i64>>(cx: &mut Context<'_>, inner: &Object<'_>, most: i64, what: &str) -> Option<T> {
    inner.require(cx.report, "threshold");
    let Value::Integer(Some(count)) = inner.get("threshold")?.value else {
        inner.wrong(cx.report, "threshold", format!("this method takes {what}, not a rate"));
        return None;
    };
    if count > most {
        inner.wrong(cx.report, "threshold", format!("{count} is outside 1..={most}"));
    }
    T::try_from(count).ok()
}

/// bit/s.
pub fn rate(object: &Object<'_>, key: &str) -> Option<u64> {
    units::parse_rate(object.text(key)?).ok()
}

pub fn redirect_url(cx: &mut Context<'_>, object: &Object<'_>, protocol: Protocol) -> Option<Name> {
    let url = object.name("redirect_url")?;
    let absolute =
        ["http://", "https://"].into_iter().any(|s| url.strip_prefix(s).is_some_and(|rest| !rest.is_empty()));
    if !protocol.is_http() {
        object.wrong(cx.report, "redirect_url", format!("a vserver of type {} cannot redirect", protocol.word()));
    } else if !(absolute || url.starts_with('/')) || url.bytes().any(|b| !b.is_ascii_graphic()) {
        let why = "not a URL such as \"https://sorry.example.test/\", or a path such as \"/sorry\"";
        object.wrong(cx.report, "redirect_url", why);
    }
    Some(url)
}

pub fn skip_persistency(object: &Object<'_>) -> SkipPersistency {
    match object.text("skip_persistency") {
        Some("BYPASS") => SkipPersistency::Bypass,
        Some("RELB") => SkipPersistency::ReLb,
        _ => SkipPersistency::None,
    }
}

pub fn surge(object: &Object<'_>) -> Surge {
    let default = Surge::default();
    let Some((table, place)) = object.inner("surge") else { return default };
    let inner = Object::new(table, None, object.path.key("surge"), place);
    Surge {
        max: inner.int("max").unwrap_or(default.max),
        timeout: inner.duration("timeout").unwrap_or(default.timeout),
    }
}

pub fn client_limits(cx: &mut Context<'_>, object: &Object<'_>, protocol: Protocol) -> Vec<ClientLimit> {
    let Some((table, _)) = object.inner("client_limits") else { return Vec::new() };
    let mut limits = Vec::new();
    let section = object.path.key("client_limits");
    for entry in &table.entries {
        let Some(of_limit) = entry.node.table() else { continue };
        let inner = Object::new(of_limit, None, section.key(&entry.key), entry.place);
        limits.push(client_limit(cx, &inner, &entry.key, protocol));
    }
    limits.sort_by(|a, b| a.name.cmp(&b.name));
    limits
}

fn client_limit(cx: &mut Context<'_>, inner: &Object<'_>, name: &str, protocol: Protocol) -> ClientLimit {
    let (rate, concurrency) = (inner.int("rate"), inner.int("concurrency"));
    if rate.is_none() && concurrency.is_none() {
        inner.wrong_whole(cx.report, "limits nothing; say `rate`, `concurrency` or both");
    }
    if rate.is_none() {
        inner.only(cx.report, &["burst"], "without `rate`");
    }
    let value = extract(cx, inner, "key");
    if value.is_some() {
        inner.only(cx.report, &["prefix_v4", "prefix_v6"], "with a `key` that is no address");
        if !protocol.is_http() {
            let why = format!("a vserver of type {} has no requests to take it from", protocol.word());
            inner.wrong(cx.report, "key", why);
        }
    }
    let key = match value {
        Some(extract) => ClientKey::Value(extract),
        None => ClientKey::Address {
            prefix_v4: inner.int("prefix_v4").unwrap_or(32),
            prefix_v6: inner.int("prefix_v6").unwrap_or(64),
        },
    };
    let burst = inner.int("burst").or(rate).unwrap_or(1);
    ClientLimit { name: name.into(), key, rate_per_s: rate, burst, concurrency }
}
