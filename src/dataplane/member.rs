//! Which member serves a client: persistence first, then the method, then the chain. One place for L4 and L7.
//!
//! An engine asks twice: [`admit()`] once for each request (HTTP) or connection (L4), before its rules, whether this
//! client may do anything at all; then [`acquire`] for a member, again for each that could not be reached (`tried`).
//!
//! A choice is made on one snapshot, but a service may begin to drain between the choice and the moment the work is
//! counted, and a drain that saw no work would end at once. So [`acquire`] counts first, then looks at the newest
//! snapshot again, and chooses anew where the member may no longer take this client.
//!
//! A client that finds every member at its limit waits in the surge queue of the vserver ([`queue`]); a newcomer never
//! takes a place that somebody waits for.

mod admit;
mod choose;
mod queue;
mod refused;
mod serving;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::balance::persistence::Key;
use crate::balance::surge::For;
use crate::model::balancing::Extract;
use crate::model::ending::Reason;
use crate::model::event::Observation;
use crate::model::id::{Name, ServiceId, VserverId};
use crate::model::time::Tick;
use crate::snapshot::pick::{Ask, Out};
use crate::snapshot::{Cell, Snapshot};
use choose::Decided;

pub use admit::{Admitted, admit};
pub use choose::{Choice, choose, considered, learn, spilled_before};
pub use refused::{Answer, Refused};
pub use serving::{Flushes, Serving};

/// What is known of a client when a member is chosen for it.
#[derive(Clone, Copy)]
pub struct Wanted<'a> {
    pub client: SocketAddr,
    /// The address that the client connected to.
    pub local: SocketAddr,
    /// A value of the request; L4 has none. Regular expressions are not its business: see [`Wanted::extract`].
    pub value: &'a (dyn Fn(&Extract) -> Option<String> + Sync),
    /// The TLS session that the client resumes or was given, if any.
    pub tls_session: Option<&'a [u8]>,
    /// A rule has narrowed the choice.
    pub only: Option<Only<'a>>,
    /// Services that this client must not get (again): they could not be reached, or are full.
    pub tried: &'a [Name],
    pub now: Tick,
    /// Only asking (`explain`): no cursor and no time-out moves.
    pub dry: bool,
}

/// The part of the vserver's own members that a rule leaves. Names, as the snapshot may change while a client waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Only<'a> {
    Service(&'a str),
    Group(&'a str),
}

/// A member that serves, on the snapshot that it was chosen on.
#[derive(Debug)]
pub struct Acquired {
    pub snapshot: Arc<Snapshot>,
    pub choice: Choice,
    /// Counts as active, and holds the place under `max_client`, until it is dropped.
    pub serving: Serving,
    /// Time in the surge queue.
    pub waited: Duration,
}

/// Where [`acquire`] looks and reports.
#[derive(Clone, Debug)]
pub struct Plane {
    pub cell: Arc<Cell>,
    pub observations: mpsc::Sender<Observation>,
}

/// What one look for a member came to.
enum Attempt {
    Served(Acquired),
    Full { snapshot: Arc<Snapshot>, at: VserverId, what: For },
    Refused(Refused),
}

/// Chooses a member and counts the work on it; waits in the surge queue where all are at their limit. Dropping the
/// future leaves the queue: an engine drops it when its client goes. `entry` is the vserver asked, by name, because the
/// snapshot may be replaced by a newer one on the way; the snapshot that the choice belongs to comes back with it.
pub async fn acquire(
    plane: &Plane,
    snapshot: Arc<Snapshot>,
    entry: &Name,
    wanted: &Wanted<'_>,
) -> Result<Acquired, Refused> {
    match attempt(plane, snapshot, entry, wanted, None) {
        Attempt::Served(acquired) => Ok(acquired),
        Attempt::Refused(refused) => Err(refused),
        Attempt::Full { snapshot, at, what } => queue::wait(plane, snapshot, entry, wanted, (at, what)).await,
    }
}

/// Looks once. `ticket`: the caller stands in the queue already.
fn attempt(
    plane: &Plane,
    mut snapshot: Arc<Snapshot>,
    entry: &Name,
    wanted: &Wanted<'_>,
    ticket: Option<u64>,
) -> Attempt {
    loop {
        let Some(entry_id) = snapshot.model.vserver_id(entry) else {
            return Attempt::Refused(Refused::unavailable(Reason::Removed));
        };
        let choice = match choose::decide(&snapshot, entry_id, wanted) {
            Decided::Chosen(choice) => choice,
            Decided::Full { at, what } => return Attempt::Full { snapshot, at, what },
            Decided::Refused(refused) => return Attempt::Refused(refused),
        };
        let service = snapshot.model.service(choice.service);
        let surge = &snapshot.vservers[choice.serving.index()].live.surge;
        let taken = match ticket {
            None => surge.is_waited_for(&service.name),
            Some(ticket) => surge.is_granted_before(ticket, &service.name),
        };
        if taken {
            let what = if choice.persistent { For::Only(Name::clone(&service.name)) } else { For::Any };
            return Attempt::Full { at: choice.serving, what, snapshot };
        }
        let serving = Serving::begin(plane, &snapshot, choice);
        let live = &snapshot.services[choice.service.index()].live;
        if choose::over(serving.nth(), service.settings.max_client) {
            continue;
        }
        let latest = plane.cell.load_full();
        if !Arc::ptr_eq(&latest, &snapshot) && !choose::still_allowed(&latest, &snapshot, choice) {
            drop(serving);
            snapshot = latest;
            continue;
        }
        live.requests_total.fetch_add(1, Ordering::Relaxed);
        let asked = &snapshot.vservers[entry_id.index()].live;
        let spilled = choose::has_spilled(&snapshot, entry_id, choice);
        if choice.serving != entry_id && !choice.persistent {
            let counted = if spilled { &asked.spilled_total } else { &asked.backup_hits_total };
            counted.fetch_add(1, Ordering::Relaxed);
        }
        if spilled
            && let Some(timeout) = snapshot.model.vserver(entry_id).spillover.as_ref().and_then(|s| s.persistence)
        {
            let client = Key::Client(wanted.client.ip().to_canonical());
            let backup = Name::clone(&snapshot.model.vserver(choice.serving).name);
            asked.spilled_clients.insert(client, backup, wanted.now, timeout);
        }
        choose::remember(&snapshot, choice, wanted);
        return Attempt::Served(Acquired { snapshot, choice, serving, waited: Duration::ZERO });
    }
}

// === impl Wanted ===

impl Wanted<'_> {
    /// The part of it that a method looks at. `value`: [`Wanted::extract`]. `out`: who is out of the question, and why.
    pub fn ask<'a>(
        &'a self,
        value: &'a dyn Fn(&Extract) -> Option<String>,
        out: &'a dyn Fn(ServiceId) -> Option<Out>,
    ) -> Ask<'a> {
        Ask {
            client: self.client,
            local: self.local,
            value,
            out,
            narrowed: self.only.is_some(),
            now: self.now,
            dry: self.dry,
        }
    }

    /// A value of the request, regular expressions included.
    pub fn extract(&self, snapshot: &Snapshot, extract: &Extract) -> Option<String> {
        snapshot.prepared.patterns.value(extract, &|plain| (self.value)(plain))
    }
}
