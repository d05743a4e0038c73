//! Which member: persistence, then spillover, then the method, then the chain.
//!
//! ```text
//! persistence of the vserver ──▶ its member, if honoured; full: by `skip_persistency`
//!   └ none ─▶ a client that spilled before ──▶ the backup it went to
//!        └ none ─▶ new_clients ─┬ Own ─ spills? ─ no ─▶ method; all full: the surge queue
//!                               │             └─ yes ─▶ first of the chain that takes it, else `backup_action`
//!                               ├ Backup ───────────▶ it, or the first after it that does not spill
//!                               └ Refused ──────────▶ `redirect_url`, else 503
//! ```

mod back;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::{Only, Refused, Wanted};
use crate::balance::persistence::{Key, honours};
use crate::balance::spillover::{self, Load};
use crate::balance::surge::For;
use crate::model::balancing::Extract;
use crate::model::condition::Truth;
use crate::model::ending::Reason;
use crate::model::id::{Name, ServiceId, VserverId};
use crate::model::limit::{BackupAction, Spillover, SpilloverMethod};
use crate::model::state::{NewClients, ServiceState, VserverState};
use crate::model::time::Tick;
use crate::snapshot::Snapshot;
use crate::snapshot::pick::{self, Out};
use back::Back;

pub use back::{learn, remember};

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
    /// What leads the client back names another member and stays as it is (`skip_persistency = BYPASS`).
    pub bypass: bool,
}

/// What becomes of a client.
pub(super) enum Decided {
    Chosen(Choice),
    /// Who could take it is at a limit: it waits at this vserver.
    Full {
        at: VserverId,
        what: For,
    },
    Refused(Refused),
}

/// Whether a vserver has somebody for a new client.
enum Found {
    Chosen(Choice),
    Full,
    Nobody,
}

/// Chooses on `snapshot`. Reads live counters; moves the cursor of the serving vserver and the idle time-out of
/// persistence entries, nothing else. Whoever would have to wait is refused with `QueueFull`.
pub fn choose(snapshot: &Snapshot, entry: VserverId, wanted: &Wanted<'_>) -> Result<Choice, Refused> {
    match decide(snapshot, entry, wanted) {
        Decided::Chosen(choice) => Ok(choice),
        Decided::Full { .. } => Err(Refused::unavailable(Reason::QueueFull)),
        Decided::Refused(refused) => Err(refused),
    }
}

pub(super) fn decide(snapshot: &Snapshot, entry: VserverId, wanted: &Wanted<'_>) -> Decided {
    if wanted.only.is_some() {
        // A rule names members of the vserver itself: no persistence, which may say another, and no chain.
        return match by_method(snapshot, entry, wanted, false) {
            Found::Chosen(choice) => Decided::Chosen(choice),
            Found::Full => Decided::Full { at: entry, what: For::Any },
            Found::Nobody => Decided::Refused(nobody(snapshot, entry)),
        };
    }
    let mut bypass = false;
    match back::asked(snapshot, entry, wanted) {
        Back::To(choice) => return Decided::Chosen(choice),
        Back::Wait(service) => return Decided::Full { at: entry, what: For::Only(service) },
        Back::Bypass => bypass = true,
        Back::Nowhere => {}
    }
    let first = match first(snapshot, entry, wanted) {
        Ok(first) => first,
        Err(refused) => return Decided::Refused(refused),
    };
    if first != entry {
        bypass = false;
        match back::asked(snapshot, first, wanted) {
            Back::To(choice) => return Decided::Chosen(choice),
            Back::Wait(service) => return Decided::Full { at: first, what: For::Only(service) },
            Back::Bypass => bypass = true,
            Back::Nowhere => {}
        }
    }
    match by_method(snapshot, first, wanted, bypass) {
        Found::Chosen(choice) => return Decided::Chosen(choice),
        Found::Full => return Decided::Full { at: first, what: For::Any },
        Found::Nobody => {}
    }
    // Nobody there could be reached: the first usable vserver after it takes the client.
    for backup in snapshot.model.backup_chain(first).filter(|&b| takes_new_clients(snapshot, b)) {
        match by_method(snapshot, backup, wanted, false) {
            Found::Chosen(choice) => return Decided::Chosen(choice),
            Found::Full => return Decided::Full { at: backup, what: For::Any },
            Found::Nobody => {}
        }
    }
    Decided::Refused(nobody(snapshot, entry))
}

/// The vserver that takes a client without persistence.
fn first(snapshot: &Snapshot, entry: VserverId, wanted: &Wanted<'_>) -> Result<VserverId, Refused> {
    if let Some(backup) = spilled_before(snapshot, entry, wanted) {
        return Ok(backup);
    }
    let own = match snapshot.vservers[entry.index()].new_clients {
        NewClients::Refused => return Err(nobody(snapshot, entry)),
        NewClients::Own => entry,
        NewClients::Backup(backup) => backup,
    };
    if !spills(snapshot, own, wanted.now) {
        return Ok(own);
    }
    let mut chain = snapshot.model.backup_chain(own);
    if let Some(backup) = chain.find(|&b| takes_new_clients(snapshot, b) && !spills(snapshot, b, wanted.now)) {
        return Ok(backup);
    }
    match snapshot.model.vserver(own).spillover.as_ref().map(|s| s.backup_action).unwrap_or_default() {
        BackupAction::Accept => Ok(own),
        BackupAction::Drop => Err(Refused::spilled()),
        BackupAction::Redirect => Err(redirected(snapshot, entry).unwrap_or_else(Refused::spilled)),
    }
}

/// Where `Spillover::persistence` sends a client that spilled before, while that can still take it.
pub fn spilled_before(snapshot: &Snapshot, entry: VserverId, wanted: &Wanted<'_>) -> Option<VserverId> {
    let timeout = snapshot.model.vserver(entry).spillover.as_ref()?.persistence?;
    let clients = &snapshot.vservers[entry.index()].live.spilled_clients;
    let client = Key::Client(wanted.client.ip().to_canonical());
    let name =
        if wanted.dry { clients.peek(&client, wanted.now) } else { clients.touch(&client, wanted.now, timeout) }?;
    let backup = snapshot.model.vserver_id(&name)?;
    let usable = snapshot.model.backup_chain(entry).any(|b| b == backup) && takes_new_clients(snapshot, backup);
    usable.then_some(backup)
}

/// Whether this client spilled: its vserver is UP, and another one serves it.
pub(super) fn has_spilled(snapshot: &Snapshot, entry: VserverId, choice: Choice) -> bool {
    choice.serving != entry && !choice.persistent && snapshot.vservers[entry.index()].state == VserverState::Up
}

/// Whether new clients of this vserver, which could serve them, go elsewhere.
fn spills(snapshot: &Snapshot, id: VserverId, now: Tick) -> bool {
    let vserver = snapshot.model.vserver(id);
    let Some(Spillover { method, .. }) = &vserver.spillover else { return false };
    let entry = &snapshot.vservers[id.index()];
    if let SpilloverMethod::Health { .. } = method {
        // The engine has looked for a backup already; what is left here found none.
        return entry.spills_by_health && entry.new_clients == NewClients::Own;
    }
    let places = || {
        let up = entry.up.iter().map(|&p| vserver.members[p as usize].service);
        up.map(|service| u64::from(snapshot.model.service(service).settings.max_client)).sum()
    };
    let condition = |method: &SpilloverMethod| match method {
        SpilloverMethod::Condition { when, watched } => when.evaluate(|group, term| {
            let id = watched.get(group).and_then(|terms| terms.get(term)).copied().flatten();
            id.and_then(|id| snapshot.watched.get(id.index()).copied()).unwrap_or_default()
        }),
        _ => Truth::Unknown,
    };
    let is = |wanted: fn(&SpilloverMethod) -> bool| wanted(method);
    let load = Load {
        serving: entry.live.serving.load(Ordering::SeqCst),
        places: if is(|m| matches!(m, SpilloverMethod::DynamicConnection)) { places() } else { 0 },
        bits_per_s: if is(|m| matches!(m, SpilloverMethod::Bandwidth { .. })) {
            entry.live.bits_per_second(now)
        } else {
            0
        },
        condition: condition(method),
    };
    spillover::spills(method, &load)
}

/// Why a vserver has nobody for a new client, and what that is told.
fn nobody(snapshot: &Snapshot, id: VserverId) -> Refused {
    if let Some(redirected) = redirected(snapshot, id) {
        return redirected;
    }
    let chain = std::iter::once(id).chain(snapshot.model.backup_chain(id));
    let mut members = chain.flat_map(|v| &snapshot.model.vserver(v).members);
    let drains = members.any(|m| snapshot.services[m.service.index()].state == ServiceState::Trofs);
    Refused::unavailable(if drains { Reason::AllDraining } else { Reason::NoMemberUp })
}

fn redirected(snapshot: &Snapshot, id: VserverId) -> Option<Refused> {
    let vserver = snapshot.model.vserver(id);
    let url = vserver.redirect_url.as_ref().filter(|_| vserver.protocol.is_http())?;
    Some(Refused::redirect(url))
}

fn takes_new_clients(snapshot: &Snapshot, vserver: VserverId) -> bool {
    let entry = &snapshot.vservers[vserver.index()];
    entry.state == VserverState::Up && entry.new_clients == NewClients::Own
}

fn by_method(snapshot: &Snapshot, id: VserverId, wanted: &Wanted<'_>, bypass: bool) -> Found {
    let value = |extract: &Extract| wanted.extract(snapshot, extract);
    let position = match snapshot.pick(id, &wanted.ask(&value, &|service| out(snapshot, service, wanted))) {
        pick::Found::Picked(picked) => picked.position,
        pick::Found::Full => return Found::Full,
        pick::Found::Nobody => return Found::Nobody,
    };
    let service = snapshot.model.vserver(id).members[position as usize].service;
    match snapshot.services[service.index()].address {
        Some(address) => Found::Chosen(Choice { serving: id, position, service, address, persistent: false, bypass }),
        None => Found::Nobody,
    }
}

/// Why each member of `id` is in or out of a choice for this client; `wanted` must be a dry one.
pub fn considered(snapshot: &Snapshot, id: VserverId, wanted: &Wanted<'_>) -> Vec<pick::Considered> {
    let value = |extract: &Extract| wanted.extract(snapshot, extract);
    snapshot.explain_pick(id, &wanted.ask(&value, &|service| out(snapshot, service, wanted))).1
}

/// Why a service that is UP cannot get this client.
fn out(snapshot: &Snapshot, service: ServiceId, wanted: &Wanted<'_>) -> Option<Out> {
    if !is_left(snapshot, service, wanted.only) {
        return Some(Out::NotWanted);
    }
    if wanted.tried.contains(&snapshot.model.service(service).name) {
        return Some(Out::Tried);
    }
    (!is_free(snapshot, service, wanted.now)).then_some(Out::Full)
}

/// Whether a rule has left it.
fn is_left(snapshot: &Snapshot, service: ServiceId, only: Option<Only<'_>>) -> bool {
    let service = snapshot.model.service(service);
    match only {
        None => true,
        Some(Only::Service(name)) => *service.name == *name,
        Some(Only::Group(name)) => service.group.is_some_and(|g| *snapshot.model.groups[g.index()].name == *name),
    }
}

/// Not tried before, and within what a rule has left.
fn is_wanted(snapshot: &Snapshot, service: ServiceId, wanted: &Wanted<'_>) -> bool {
    is_left(snapshot, service, wanted.only) && !wanted.tried.contains(&snapshot.model.service(service).name)
}

/// Below its `max_client` and `max_bandwidth`.
fn is_free(snapshot: &Snapshot, service: ServiceId, now: Tick) -> bool {
    let settings = &snapshot.model.service(service).settings;
    let live = &snapshot.services[service.index()].live;
    !over(live.active.load(Ordering::SeqCst).saturating_add(1), settings.max_client)
        && (settings.max_bandwidth == 0 || live.bits_per_second(now) <= settings.max_bandwidth)
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

/// The service's name.
pub(super) fn name(snapshot: &Snapshot, service: ServiceId) -> Name {
    Arc::clone(&snapshot.model.service(service).name)
}
