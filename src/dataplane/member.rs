//! Which member serves a client: persistence first, then the method, then the chain. One place for L4 and L7.
//!
//! A choice is made on one snapshot, but a service may begin to drain between the choice and the moment the work is
//! counted, and a drain that saw no work would end at once. So [`acquire`] counts first, then looks at the newest
//! snapshot again, and chooses anew where the member may no longer take this client.
//!
//! What happens to a client whose member is full (`max_client`): it is balanced again among the others, then along the
//! chain. There is no surge queue.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::{mpsc, watch};

use crate::balance::persistence::{cookie, honours};
use crate::balance::select::{Candidate, select};
use crate::model::event::Observation;
use crate::model::id::{Name, ServiceId, VserverId};
use crate::model::net::Network;
use crate::model::persistence::{Persistence, PersistenceKind};
use crate::model::state::{NewClients, ServiceState, VserverState};
use crate::model::time::Tick;
use crate::snapshot::live::Active;
use crate::snapshot::{Cell, Snapshot};

/// What is known of a client when a member is chosen for it.
pub struct Wanted<'a> {
    pub client: IpAddr,
    /// The value of the cookie of this name; L4 has none.
    pub cookie: &'a (dyn Fn(&str) -> Option<String> + Sync),
    /// Services that this client must not get (again): they could not be reached, or are full.
    pub tried: &'a [Name],
    pub now: Tick,
    /// Only asking (`explain`): no cursor and no time-out moves.
    pub dry: bool,
}

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

/// Work that a member does. Counts as active until it is dropped.
#[derive(Debug)]
pub struct Serving {
    active: Option<Active>,
    service: Name,
    service_flush: watch::Receiver<u64>,
    vserver_flush: watch::Receiver<u64>,
    cell: Arc<Cell>,
    observations: mpsc::Sender<Observation>,
}

/// Where [`acquire`] looks and reports.
#[derive(Clone, Debug)]
pub struct Plane {
    pub cell: Arc<Cell>,
    pub observations: mpsc::Sender<Observation>,
}

/// Chooses on `snapshot`. Reads live counters; moves the cursor of the serving vserver and the idle time-out of a
/// SOURCEIP entry, nothing else.
pub fn choose(snapshot: &Snapshot, entry: VserverId, wanted: &Wanted<'_>) -> Option<Choice> {
    if let Some(choice) = persistent(snapshot, entry, wanted) {
        return Some(choice);
    }
    let first = match snapshot.vservers[entry.index()].new_clients {
        NewClients::Own => entry,
        NewClients::Backup(backup) => backup,
        NewClients::Refused => return None,
    };
    if first != entry
        && let Some(choice) = persistent(snapshot, first, wanted)
    {
        return Some(choice);
    }
    // Where all members are full or could not be reached, the first usable vserver after it takes the client.
    std::iter::once(first)
        .chain(snapshot.model.backup_chain(first).filter(|&b| takes_new_clients(snapshot, b)))
        .find_map(|vserver| by_method(snapshot, vserver, wanted))
}

/// Chooses a member and counts the work on it. `entry` is the vserver asked, by name, because the snapshot may be
/// replaced by a newer one on the way; the snapshot that the choice belongs to comes back with it.
pub fn acquire(
    plane: &Plane,
    mut snapshot: Arc<Snapshot>,
    entry: &Name,
    wanted: &Wanted<'_>,
) -> Option<(Arc<Snapshot>, Choice, Serving)> {
    let mut tried = wanted.tried.to_vec();
    loop {
        let entry_id = snapshot.model.vserver_id(entry)?;
        let choice = choose(&snapshot, entry_id, &Wanted { tried: &tried, ..*wanted })?;
        let serving = Serving::begin(plane, &snapshot, choice);
        let service = snapshot.model.service(choice.service);
        let live = &snapshot.services[choice.service.index()].live;
        if over(serving.nth(), service.settings.max_client) {
            tried.push(Arc::clone(&service.name));
            continue;
        }
        let latest = plane.cell.load_full();
        if !Arc::ptr_eq(&latest, &snapshot) && !still_allowed(&latest, &snapshot, choice) {
            drop(serving);
            snapshot = latest;
            continue;
        }
        live.requests_total.fetch_add(1, Ordering::Relaxed);
        if choice.serving != entry_id && !choice.persistent {
            snapshot.vservers[entry_id.index()].live.spilled_total.fetch_add(1, Ordering::Relaxed);
        }
        remember(&snapshot, choice, wanted);
        return Some((snapshot, choice, serving));
    }
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
            let client = Network::truncate(wanted.client, *prefix_v4, *prefix_v6);
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
            let text = match name {
                Some(name) => (wanted.cookie)(name)?,
                None => (wanted.cookie)(&cookie::name(&vserver.name))?,
            };
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
    let entry = &snapshot.vservers[id.index()];
    let candidates: Vec<Candidate> = entry
        .up
        .iter()
        .map(|&position| (position, vserver.members[position as usize]))
        .filter(|(_, member)| is_free(snapshot, member.service, wanted.tried))
        .map(|(position, member)| Candidate {
            position,
            weight: member.weight,
            active: snapshot.services[member.service.index()].live.active.load(Ordering::SeqCst),
        })
        .collect();
    if candidates.is_empty() {
        return None;
    }
    let cursor = &entry.live.cursor;
    let cursor = if wanted.dry { cursor.load(Ordering::Relaxed) } else { cursor.fetch_add(1, Ordering::Relaxed) };
    let position = select(vserver.balancing.method, &candidates, cursor)?;
    let service = vserver.members[position as usize].service;
    let address = snapshot.services[service.index()].address?;
    Some(Choice { serving: id, position, service, address, persistent: false })
}

/// Position, service and address of each member that has one.
fn members(snapshot: &Snapshot, id: VserverId) -> impl Iterator<Item = (u32, ServiceId, SocketAddr)> + '_ {
    (0u32..).zip(&snapshot.model.vserver(id).members).filter_map(|(position, member)| {
        let address = snapshot.services[member.service.index()].address?;
        Some((position, member.service, address))
    })
}

fn is_free(snapshot: &Snapshot, service: ServiceId, tried: &[Name]) -> bool {
    let intended = snapshot.model.service(service);
    let active = snapshot.services[service.index()].live.active.load(Ordering::SeqCst);
    !over(active.saturating_add(1), intended.settings.max_client) && !tried.contains(&intended.name)
}

fn over(active: u32, max_client: u32) -> bool {
    max_client > 0 && active > max_client
}

/// Whether `latest` would still send this client to the member that was chosen on `chosen_on`.
fn still_allowed(latest: &Snapshot, chosen_on: &Snapshot, choice: Choice) -> bool {
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
fn remember(snapshot: &Snapshot, choice: Choice, wanted: &Wanted<'_>) {
    if choice.persistent {
        return;
    }
    if let Some(Persistence { kind: PersistenceKind::SourceIp, timeout, prefix_v4, prefix_v6, .. }) =
        &snapshot.model.vserver(choice.serving).persistence
    {
        let client = Network::truncate(wanted.client, *prefix_v4, *prefix_v6);
        let service = Arc::clone(&snapshot.model.service(choice.service).name);
        let live = &snapshot.vservers[choice.serving.index()].live;
        live.persistence.lock().insert(client, service, wanted.now, *timeout);
    }
}

// === impl Serving ===

impl Serving {
    fn begin(plane: &Plane, snapshot: &Snapshot, choice: Choice) -> Serving {
        let live = &snapshot.services[choice.service.index()].live;
        Serving {
            active: Some(live.begin()),
            service: Arc::clone(&snapshot.model.service(choice.service).name),
            // Subscribed before the snapshot is looked at again: a flush that follows is not missed.
            service_flush: live.flush.subscribe(),
            vserver_flush: snapshot.vservers[choice.serving.index()].live.flush.subscribe(),
            cell: Arc::clone(&plane.cell),
            observations: plane.observations.clone(),
        }
    }

    pub fn service(&self) -> &Name {
        &self.service
    }

    fn nth(&self) -> u32 {
        self.active.as_ref().map_or(0, Active::nth)
    }

    pub fn live(&self) -> &crate::snapshot::live::ServiceLive {
        self.active.as_ref().expect("taken in drop only").service()
    }

    /// Whether [`flushed`](Self::flushed) would resolve at once.
    pub fn is_flushed(&self) -> bool {
        self.service_flush.borrow().has_changed() || self.vserver_flush.borrow().has_changed()
    }

    /// Resolves when this work must end (`downStateFlush`). Owns what it waits on.
    pub fn flushed(&self) -> impl Future<Output = ()> + Send + 'static {
        let (mut service, mut vserver) = (self.service_flush.clone(), self.vserver_flush.clone());
        async move {
            tokio::select! {
                // An error means that the service or vserver is gone for good; whoever removed it bumped first.
                Ok(()) = service.changed() => {}
                Ok(()) = vserver.changed() => {}
                else => std::future::pending().await,
            }
        }
    }
}

impl Drop for Serving {
    /// Ends the work, and hints that a draining service has become idle. The hint may be lost: the reactor reads the
    /// counters too.
    fn drop(&mut self) {
        let Some(active) = self.active.take() else { return };
        let live = Arc::clone(active.service());
        drop(active);
        if live.active.load(Ordering::SeqCst) > 0 {
            return;
        }
        let snapshot = self.cell.load();
        if let Some(service) = snapshot.model.service_id(&self.service)
            && snapshot.services[service.index()].state.is_draining()
        {
            let _ = self.observations.try_send(Observation::Active { service, active: 0 });
        }
    }
}
