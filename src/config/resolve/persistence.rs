//! Persistence of vservers, and of lb groups for several.

use std::time::Duration;

use super::Context;
use super::extract::extract;
use super::object::Object;
use crate::config::document::{Node, Path};
use crate::model::id::{LbGroupId, VserverId};
use crate::model::persistence::{LbGroup, Persistence, PersistenceKind};
use crate::model::service::Protocol;
use crate::model::vserver::{Role, Vserver};

const TWO_MINUTES: Duration = Duration::from_secs(120);

/// Keys beside `type` and `timeout`, each with the kinds that know it.
const KEYS: [(&str, &[&str]); 8] = [
    ("cookie_name", &["COOKIEINSERT"]),
    ("encrypted", &["COOKIEINSERT"]),
    ("backup", &["COOKIEINSERT"]),
    ("backup_timeout", &["COOKIEINSERT"]),
    ("request", &["RULE", "URLPASSIVE", "CUSTOMSERVERID"]),
    ("response", &["RULE"]),
    ("prefix_v4", &["SOURCEIP", "DESTIP", "SRCIPDESTIP", "COOKIEINSERT"]),
    ("prefix_v6", &["SOURCEIP", "DESTIP", "SRCIPDESTIP", "COOKIEINSERT"]),
];

/// What `persistence` of an object says.
pub fn persistence(cx: &mut Context<'_>, object: &Object<'_>, protocol: Protocol) -> Option<Persistence> {
    let (table, place) = object.inner("persistence")?;
    let path = object.path.key("persistence");
    let inner = Object::new(table, None, path, place);
    let word = inner.text("type")?;
    let strangers: Vec<&str> =
        KEYS.into_iter().filter(|(_, kinds)| !kinds.contains(&word)).map(|(key, _)| key).collect();
    inner.only(cx.report, &strangers, &format!("for {word}"));
    if word == "NONE" {
        inner.only(cx.report, &["timeout"], "for NONE");
        return None;
    }
    fits(cx, &inner, word, protocol);
    let timeout = inner.duration("timeout").unwrap_or(TWO_MINUTES);
    if timeout.is_zero() && word != "COOKIEINSERT" {
        inner.wrong(cx.report, "timeout", "0 is for COOKIEINSERT only (a cookie of the browser's session)");
    }
    let backup = backup(cx, &inner);
    if word == "COOKIEINSERT" && backup.is_none() {
        inner.only(cx.report, &["prefix_v4", "prefix_v6"], "for COOKIEINSERT without `backup = \"SOURCEIP\"`");
    }
    let request = |cx: &mut Context<'_>| {
        inner.require(cx.report, "request");
        extract(cx, &inner, "request")
    };
    let kind = match word {
        "COOKIEINSERT" => {
            let cookie = inner.name("cookie_name");
            let token = |name: &str| name.len() <= 32 && super::object::header(name, "").is_ok();
            if cookie.as_deref().is_some_and(|name| !token(name)) {
                inner.wrong(cx.report, "cookie_name", "not a cookie's name: at most 32 letters, digits and `-_.`");
            }
            PersistenceKind::CookieInsert { cookie, encrypted: inner.bool("encrypted").unwrap_or(false) }
        }
        "SOURCEIP" => PersistenceKind::SourceIp,
        "DESTIP" => PersistenceKind::DestIp,
        "SRCIPDESTIP" => PersistenceKind::SrcIpDestIp,
        "SSLSESSION" => PersistenceKind::SslSession,
        "RULE" => PersistenceKind::Rule { request: request(cx)?, response: extract(cx, &inner, "response") },
        "URLPASSIVE" => PersistenceKind::UrlPassive { request: request(cx)? },
        "CUSTOMSERVERID" => PersistenceKind::CustomServerId { request: request(cx)? },
        _ => return None,
    };
    let prefix_v4 = inner.int("prefix_v4").unwrap_or(32);
    let prefix_v6 = inner.int("prefix_v6").unwrap_or(128);
    Some(Persistence { timeout, backup, prefix_v4, prefix_v6, ..Persistence::new(kind) })
}

fn fits(cx: &mut Context<'_>, inner: &Object<'_>, word: &str, protocol: Protocol) {
    let ours = protocol.word();
    match word {
        "COOKIEINSERT" | "RULE" | "URLPASSIVE" | "CUSTOMSERVERID" if !protocol.is_http() => {
            inner.wrong(cx.report, "type", format!("{word} needs a vserver of type HTTP or SSL, this one is {ours}"));
        }
        "SSLSESSION" if !matches!(protocol, Protocol::Ssl | Protocol::SslTcp | Protocol::SslBridge) => {
            let why = format!("SSLSESSION needs a vserver of type SSL, SSL_TCP or SSL_BRIDGE, this one is {ours}");
            inner.wrong(cx.report, "type", why);
        }
        _ => {}
    }
}

fn backup(cx: &mut Context<'_>, inner: &Object<'_>) -> Option<Duration> {
    if inner.text("backup") == Some("SOURCEIP") {
        return Some(inner.duration("backup_timeout").unwrap_or(TWO_MINUTES));
    }
    if inner.own("backup_timeout").is_some() {
        inner.wrong(cx.report, "backup_timeout", "needs `backup = \"SOURCEIP\"`");
    }
    None
}

/// Groups of vservers that share one persistence, which each of them is given.
pub fn groups(cx: &mut Context<'_>, vservers: &mut [Vserver]) -> Vec<LbGroup> {
    let root = Path::Root;
    let section = root.key("lb_group");
    let mut groups = Vec::new();
    for (name, place, table) in cx.section("lb_group") {
        let object = Object::new(table, None, section.key(name), place);
        let path = object.path.key("vservers");
        let mut members = Vec::new();
        for node in object.own("vservers").and_then(Node::list).unwrap_or(&[]) {
            let Some(text) = node.text() else { continue };
            let Some(id) = cx.names.vservers.find(cx.report, text, node.place, path) else { continue };
            let Some(vserver) = vservers.get(id) else { continue };
            let why = if vserver.role != Role::Lb {
                Some("switches content; name the vservers that balance".to_owned())
            } else if vserver.lb_group.is_some() || members.contains(&VserverId::from_index(id)) {
                Some("is in a group already".to_owned())
            } else if vserver.persistence.is_some() {
                Some("has a `persistence` of its own; the group's would take its place".to_owned())
            } else {
                None
            };
            match why {
                Some(why) => cx.report.error(node.place, path, format!("{path}: `{text}` {why}")),
                None => members.push(VserverId::from_index(id)),
            }
        }
        members.sort_unstable();
        let persistence = shared(cx, &object, &members, vservers);
        let Some(persistence) = persistence else { continue };
        let id = LbGroupId::from_index(groups.len());
        for member in &members {
            let vserver = &mut vservers[member.index()];
            vserver.persistence = Some(persistence.clone());
            vserver.lb_group = Some(id);
        }
        groups.push((name, LbGroup { name: name.into(), vservers: members, persistence }));
    }
    // Ids are by name.
    let mut order: Vec<usize> = (0..groups.len()).collect();
    order.sort_by_key(|&at| groups[at].0);
    for vserver in vservers.iter_mut() {
        let at = vserver.lb_group.and_then(|id| order.iter().position(|&at| at == id.index()));
        vserver.lb_group = at.map(LbGroupId::from_index);
    }
    let mut groups: Vec<LbGroup> = groups.into_iter().map(|(_, group)| group).collect();
    groups.sort_by(|a, b| a.name.cmp(&b.name));
    groups
}

/// The persistence of a group, which must fit each of its vservers.
fn shared(
    cx: &mut Context<'_>,
    object: &Object<'_>,
    members: &[VserverId],
    vservers: &[Vserver],
) -> Option<Persistence> {
    let protocols = members.iter().map(|id| vservers[id.index()].protocol);
    let all_http = |p: &Protocol| p.is_http();
    let worst = protocols.clone().find(|p| !all_http(p)).or_else(|| protocols.clone().next());
    let persistence = persistence(cx, object, worst.unwrap_or(Protocol::Http));
    if persistence.is_none()
        && object.inner("persistence").is_some_and(|(t, _)| t.get("type").and_then(Node::text) == Some("NONE"))
    {
        object.wrong(cx.report, "persistence", "a group is there for its persistence; NONE is none");
    }
    persistence
}
