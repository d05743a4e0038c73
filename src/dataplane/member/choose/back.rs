//! What leads a client back to its member, and what is remembered of a choice.

use std::net::SocketAddr;
use std::time::{Duration, SystemTime};

use super::{Choice, is_free, is_wanted, name};
use crate::balance::persistence::{Key, cookie, honours, key, named};
use crate::dataplane::member::Wanted;
use crate::model::balancing::Extract;
use crate::model::id::{Name, ServiceId, VserverId};
use crate::model::persistence::{Persistence, PersistenceKind, SkipPersistency};
use crate::model::state::VserverState;
use crate::model::time::Tick;
use crate::snapshot::Snapshot;

/// Where persistence sends a client.
pub(super) enum Back {
    /// It asks for nobody, or for somebody who cannot have it: it is balanced, and remembered anew.
    Nowhere,
    To(Choice),
    /// Its member is at a limit.
    Wait(Name),
    /// Its member is at a limit: it goes elsewhere this once.
    Bypass,
}

pub(super) fn asked(snapshot: &Snapshot, id: VserverId, wanted: &Wanted<'_>) -> Back {
    let vserver = snapshot.model.vserver(id);
    if snapshot.vservers[id.index()].state != VserverState::Up {
        return Back::Nowhere;
    }
    let Some(persistence) = &vserver.persistence else { return Back::Nowhere };
    let Some((position, service, address)) = member(snapshot, id, persistence, wanted) else { return Back::Nowhere };
    let honoured = honours(snapshot.services[service.index()].state, vserver.trofs_persistence);
    if !honoured || !is_wanted(snapshot, service, wanted) {
        return Back::Nowhere;
    }
    if is_free(snapshot, service, wanted.now) {
        return Back::To(Choice { serving: id, position, service, address, persistent: true, bypass: false });
    }
    match vserver.skip_persistency {
        SkipPersistency::None => Back::Wait(name(snapshot, service)),
        SkipPersistency::Bypass => Back::Bypass,
        SkipPersistency::ReLb => Back::Nowhere,
    }
}

type Member = (u32, ServiceId, SocketAddr);

/// The member that the client asks for.
fn member(snapshot: &Snapshot, id: VserverId, persistence: &Persistence, wanted: &Wanted<'_>) -> Option<Member> {
    let value = |extract: &Extract| wanted.extract(snapshot, extract);
    match &persistence.kind {
        PersistenceKind::CookieInsert { encrypted, .. } => {
            let sticky = snapshot.prepared.sticky(id);
            let by_cookie = || {
                let text = value(&sticky.cookie)?;
                if *encrypted {
                    let name = snapshot.cookie_key.open(&sticky.scope, &text, unix_now())?;
                    return of_service(snapshot, id, &name);
                }
                of_cookie(snapshot, id, &text)
            };
            let by_address = || {
                let timeout = persistence.backup?;
                remembered(snapshot, id, &source(persistence, wanted), timeout, wanted)
            };
            by_cookie().or_else(by_address)
        }
        PersistenceKind::UrlPassive { request } => {
            let text = value(request)?;
            members(snapshot, id).find(|&(_, service, address)| {
                named::is_address_of(&text, address) || is_id_of(snapshot, service, &text)
            })
        }
        PersistenceKind::CustomServerId { request } => {
            let text = value(request)?;
            members(snapshot, id).find(|&(_, service, _)| is_id_of(snapshot, service, &text))
        }
        PersistenceKind::Rule { request, .. } => {
            remembered(snapshot, id, &Key::value(&value(request)?)?, persistence.timeout, wanted)
        }
        PersistenceKind::SourceIp
        | PersistenceKind::DestIp
        | PersistenceKind::SrcIpDestIp
        | PersistenceKind::SslSession => {
            let key = key(persistence, wanted.client.ip(), wanted.local.ip(), wanted.tls_session)?;
            remembered(snapshot, id, &key, persistence.timeout, wanted)
        }
    }
}

fn source(persistence: &Persistence, wanted: &Wanted<'_>) -> Key {
    let by_source = Persistence { kind: PersistenceKind::SourceIp, ..persistence.clone() };
    key(&by_source, wanted.client.ip(), wanted.local.ip(), None).expect("everybody has an address")
}

fn remembered(snapshot: &Snapshot, id: VserverId, key: &Key, timeout: Duration, wanted: &Wanted<'_>) -> Option<Member> {
    let sessions = &snapshot.vservers[id.index()].sessions;
    let service = if wanted.dry { sessions.peek(key, wanted.now) } else { sessions.touch(key, wanted.now, timeout) }?;
    of_service(snapshot, id, &service)
}

/// The member that is this service or, as vservers of an lb group have services of their own on the same servers, that
/// is on its server.
fn of_service(snapshot: &Snapshot, id: VserverId, name: &str) -> Option<Member> {
    let wanted = snapshot.model.service_id(name)?;
    if let Some(member) = members(snapshot, id).find(|&(_, service, _)| service == wanted) {
        return Some(member);
    }
    snapshot.model.vserver(id).lb_group?;
    let server = snapshot.services[wanted.index()].address?.ip();
    members(snapshot, id).find(|(_, _, address)| address.ip() == server)
}

/// The member that a cookie in the clear names, in the same way.
fn of_cookie(snapshot: &Snapshot, id: VserverId, text: &str) -> Option<Member> {
    match cookie::parse(text)? {
        cookie::Named::Address(v4) => {
            let exactly = members(snapshot, id).find(|&(_, _, address)| address == SocketAddr::V4(v4));
            exactly.or_else(|| {
                snapshot.model.vserver(id).lb_group?;
                members(snapshot, id).find(|(_, _, address)| address.ip() == *v4.ip())
            })
        }
        cookie::Named::Opaque(opaque) => members(snapshot, id).find(|&(_, service, address)| {
            address.is_ipv6() && cookie::value(&snapshot.model.service(service).name, address) == opaque
        }),
    }
}

fn is_id_of(snapshot: &Snapshot, service: ServiceId, text: &str) -> bool {
    named::is_id_of(text, snapshot.model.service(service).custom_server_id.as_ref())
}

/// Position, service and address of each member that has one.
fn members(snapshot: &Snapshot, id: VserverId) -> impl Iterator<Item = Member> + '_ {
    (0u32..).zip(&snapshot.model.vserver(id).members).filter_map(|(position, member)| {
        let address = snapshot.services[member.service.index()].address?;
        Some((position, member.service, address))
    })
}

/// Makes or rewrites the entry of a client that was balanced.
pub fn remember(snapshot: &Snapshot, choice: Choice, wanted: &Wanted<'_>) {
    let Some(persistence) = &snapshot.model.vserver(choice.serving).persistence else { return };
    let (key, timeout) = match &persistence.kind {
        // The entry behind the cookie is kept warm, for the day when the cookie is not sent.
        PersistenceKind::CookieInsert { .. } => match persistence.backup {
            Some(timeout) => (Some(source(persistence, wanted)), timeout),
            None => return,
        },
        _ if choice.persistent => return,
        PersistenceKind::Rule { request, .. } => {
            let value = wanted.extract(snapshot, request);
            (value.as_deref().and_then(Key::value), persistence.timeout)
        }
        _ => {
            let key = key(persistence, wanted.client.ip(), wanted.local.ip(), wanted.tls_session);
            (key, persistence.timeout)
        }
    };
    if let Some(key) = key.filter(|_| !choice.bypass) {
        let sessions = &snapshot.vservers[choice.serving.index()].sessions;
        sessions.insert(key, name(snapshot, choice.service), wanted.now, timeout);
    }
}

/// RULE with a response expression: remembers who gave out the value that this answer carries, so that a request with
/// it comes back. `value` shows the answer's head (see [`extract::value`](crate::balance::extract::value)). To be called
/// once for each final answer of a server. `now` is asked only where there is something to remember.
pub fn learn(
    snapshot: &Snapshot,
    choice: Choice,
    now: impl FnOnce() -> Tick,
    value: &dyn Fn(&Extract) -> Option<String>,
) {
    let Some(Persistence { kind: PersistenceKind::Rule { response: Some(extract), .. }, timeout, .. }) =
        &snapshot.model.vserver(choice.serving).persistence
    else {
        return;
    };
    if let Some(key) = snapshot.prepared.patterns.value(extract, value).as_deref().and_then(Key::value) {
        let sessions = &snapshot.vservers[choice.serving.index()].sessions;
        sessions.insert(key, name(snapshot, choice.service), now(), *timeout);
    }
}

fn unix_now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
