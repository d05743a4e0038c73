//! Which member: persistence, then the method, then the chain.

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Only, Refused, Wanted};
use crate::balance::persistence::{cookie, honours};
use crate::model::balancing::Extract;
use crate::model::ending::Reason;
use crate::model::id::{Name, ServiceId, VserverId};
use crate::model::net::Network;
use crate::model::persistence::{Persistence, PersistenceKind};
use crate::model::state::{NewClients, ServiceState, VserverState};
use crate::snapshot::Snapshot;
use crate::snapshot::pick::Out;

/// A member, by the ids of the snapshot it was chosen on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// The vserver whose member it is: the one asked, or one of its chain.
    pub serving: VserverId,
    /// In `Vserver::members` of `serving`.
    pub position: u32,
    pub service: ServiceId,
    pub address: SocketAddr,
    /// Asked for by persistence, and honoured.
    pub persistent: bool,
}

/// Chooses on `snapshot`. Reads live counters; moves the cursor of the serving vserver and the idle time-out of a
/// SOURCEIP entry, nothing else.
pub fn choose(snapshot: &Snapshot, entry: VserverId, wanted: &Wanted<'_>) -> Result<Choice, Refused> {
    if wanted.only.is_some() {
        // A rule names members of the vserver itself: no persistence, which may say another, and no chain.
        return by_method(snapshot, entry, wanted).ok_or_else(|| nobody(snapshot, entry));
    }
    if let Some(choice) = persistent(snapshot, entry, wanted) {
        return Ok(choice);
    }
    let first = match snapshot.vservers[entry.index()].new_clients {
        NewClients::Own => entry,
        NewClients::Backup(backup) => backup,
        NewClients::Refused => return Err(nobody(snapshot, entry)),
    };
    if first != entry
        && let Some(choice) = persistent(snapshot, first, wanted)
    {
        return Ok(choice);
    }
    // Where all members are full or could not be reached, the first usable vserver after it takes the client.
    std::iter::once(first)
        .chain(snapshot.model.backup_chain(first).filter(|&b| takes_new_clients(snapshot, b)))
        .find_map(|vserver| by_method(snapshot, vserver, wanted))
        .ok_or_else(|| nobody(snapshot, entry))
}

/// Why a vserver has nobody for a new client.
fn nobody(snapshot: &Snapshot, id: VserverId) -> Refused {
    let states = || snapshot.model.vserver(id).members.iter().map(|m| snapshot.services[m.service.index()].state);
    let reason = if states().any(|s| s == ServiceState::Up) {
        Reason::QueueFull
    } else if states().any(|s| s == ServiceState::Trofs) {
        Reason::AllDraining
    } else {
        Reason::NoMemberUp
    };
    Refused::unavailable(reason)
}

fn takes_new_clients(snapshot: &Snapshot, vserver: VserverId) -> bool {
    let entry = &snapshot.vservers[vserver.index()];
    entry.state == VserverState::Up && entry.new_clients == NewClients::Own
}

fn persistent(snapshot: &Snapshot, id: VserverId, wanted: &Wanted<'_>) -> Option<Choice> {
    let vserver = snapshot.model.vserver(id);
    let entry = &snapshot.vservers[id.index()];
    if entry.state != VserverState::Up {
        return None;
    }
    let Persistence { kind, timeout, prefix_v4, prefix_v6, .. } = vserver.persistence.as_ref()?;
    let (position, service, address) = match kind {
        PersistenceKind::SourceIp => {
            let client = Network::truncate(wanted.client.ip(), *prefix_v4, *prefix_v6);
            let mut table = entry.live.persistence.lock();
            let name = if wanted.dry {
                table.peek(client, wanted.now).cloned()?
            } else {
                table.touch(client, wanted.now, *timeout)?
            };
            let service = snapshot.model.service_id(&name)?;
            members(snapshot, id).find(|&(_, s, _)| s == service)?
        }
        PersistenceKind::CookieInsert { cookie: name, .. } => {
            let name = name.clone().unwrap_or_else(|| cookie::name(&vserver.name).into());
            let text = wanted.extract(&Extract::Cookie(name))?;
            match cookie::parse(&text)? {
                cookie::Named::Address(v4) => {
                    members(snapshot, id).find(|&(_, _, address)| address == SocketAddr::V4(v4))?
                }
                cookie::Named::Opaque(opaque) => members(snapshot, id).find(|&(_, service, address)| {
                    address.is_ipv6() && cookie::value(&snapshot.model.service(service).name, address) == opaque
                })?,
            }
        }
        // No configuration names the others yet.
        _ => return None,
    };
    let honoured = honours(snapshot.services[service.index()].state, vserver.trofs_persistence);
    let free = honoured && is_free(snapshot, service, wanted.tried);
    free.then_some(Choice { serving: id, position, service, address, persistent: true })
}

fn by_method(snapshot: &Snapshot, id: VserverId, wanted: &Wanted<'_>) -> Option<Choice> {
    let vserver = snapshot.model.vserver(id);
    let position = snapshot.pick(id, &wanted.ask(&|service| out(snapshot, service, wanted))).picked()?.position;
    let service = vserver.members[position as usize].service;
    let address = snapshot.services[service.index()].address?;
    Some(Choice { serving: id, position, service, address, persistent: false })
}

/// Why a service that is UP cannot get this client.
fn out(snapshot: &Snapshot, service: ServiceId, wanted: &Wanted<'_>) -> Option<Out> {
    if !is_wanted(snapshot, service, wanted.only) {
        return Some(Out::NotWanted);
    }
    if wanted.tried.contains(&snapshot.model.service(service).name) {
        return Some(Out::Tried);
    }
    (!is_free(snapshot, service, &[])).then_some(Out::Full)
}

/// Position, service and address of each member that has one.
fn members(snapshot: &Snapshot, id: VserverId) -> impl Iterator<Item = (u32, ServiceId, SocketAddr)> + '_ {
    (0u32..).zip(&snapshot.model.vserver(id).members).filter_map(|(position, member)| {
        let address = snapshot.services[member.service.index()].address?;
        Some((position, member.service, address))
    })
}

fn is_wanted(snapshot: &Snapshot, service: ServiceId, only: Option<Only<'_>>) -> bool {
    let service = snapshot.model.service(service);
    match only {
        None => true,
        Some(Only::Service(name)) => *service.name == *name,
        Some(Only::Group(name)) => service.group.is_some_and(|g| *snapshot.model.groups[g.index()].name == *name),
    }
}

fn is_free(snapshot: &Snapshot, service: ServiceId, tried: &[Name]) -> bool {
    let intended = snapshot.model.service(service);
    let active = snapshot.services[service.index()].live.active.load(Ordering::SeqCst);
    !over(active.saturating_add(1), intended.settings.max_client) && !tried.contains(&intended.name)
}

pub(super) fn over(active: u32, max_client: u32) -> bool {
    max_client > 0 && active > max_client
}

/// Whether `latest` would still send this client to the member that was chosen on `chosen_on`.
pub(super) fn still_allowed(latest: &Snapshot, chosen_on: &Snapshot, choice: Choice) -> bool {
    let service = chosen_on.model.service(choice.service);
    let vserver = chosen_on.model.vserver(choice.serving);
    let (Some(service), Some(id)) = (latest.model.service_id(&service.name), latest.model.vserver_id(&vserver.name))
    else {
        return false;
    };
    let entry = &latest.services[service.index()];
    let allowed = entry.state == ServiceState::Up
        || (choice.persistent && honours(entry.state, latest.model.vserver(id).trofs_persistence));
    allowed
        && entry.address == Some(choice.address)
        && latest.vservers[id.index()].state == VserverState::Up
        && latest.model.vserver(id).members.iter().any(|m| m.service == service)
}

/// Makes or rewrites the SOURCEIP entry of a client that was balanced.
pub(super) fn remember(snapshot: &Snapshot, choice: Choice, wanted: &Wanted<'_>) {
    if choice.persistent {
        return;
    }
    if let Some(Persistence { kind: PersistenceKind::SourceIp, timeout, prefix_v4, prefix_v6, .. }) =
        &snapshot.model.vserver(choice.serving).persistence
    {
        let client = Network::truncate(wanted.client.ip(), *prefix_v4, *prefix_v6);
        let service = Arc::clone(&snapshot.model.service(choice.service).name);
        let live = &snapshot.vservers[choice.serving.index()].live;
        live.persistence.lock().insert(client, service, wanted.now, *timeout);
    }
}
