//! Which member serves a client: persistence first, then the method, then the chain. One place for L4 and L7.
//!
//! An engine asks twice: [`admit`] once for each request (HTTP) or connection (L4), before its rules, whether this
//! client may do anything at all; then [`acquire`] for a member, again for each that could not be reached (`tried`).
//!
//! A choice is made on one snapshot, but a service may begin to drain between the choice and the moment the work is
//! counted, and a drain that saw no work would end at once. So [`acquire`] counts first, then looks at the newest
//! snapshot again, and chooses anew where the member may no longer take this client.
//!
//! What happens to a client whose member is full (`max_client`): it is balanced again among the others, then along the
//! chain. There is no surge queue.

mod choose;
mod refused;
mod serving;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc;

use crate::model::balancing::Extract;
use crate::model::ending::Reason;
use crate::model::event::Observation;
use crate::model::id::{Name, ServiceId, VserverId};
use crate::model::time::Tick;
use crate::snapshot::pick::{Ask, Out};
use crate::snapshot::{Cell, Snapshot};

pub use choose::{Choice, choose};
pub use refused::{Answer, Refused};
pub use serving::Serving;

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

/// What a request or connection holds while it lasts: its places under the limits of its client.
#[derive(Debug, Default)]
#[must_use = "the places are given back when it is dropped"]
pub struct Admitted {}

/// Where [`acquire`] looks and reports.
#[derive(Clone, Debug)]
pub struct Plane {
    pub cell: Arc<Cell>,
    pub observations: mpsc::Sender<Observation>,
}

/// Whether this client may do anything at all (`client_limits`). Asked once for each request (HTTP) or connection (L4).
pub fn admit(_: &Snapshot, _: VserverId, _: &Wanted<'_>) -> Result<Admitted, Refused> {
    Ok(Admitted::default())
}

/// Chooses a member and counts the work on it; waits in the surge queue where all are at their limit. Dropping the
/// future leaves the queue. `entry` is the vserver asked, by name, because the snapshot may be replaced by a newer one
/// on the way; the snapshot that the choice belongs to comes back with it.
#[allow(clippy::unused_async, reason = "a seam: the surge queue waits here")]
pub async fn acquire(
    plane: &Plane,
    mut snapshot: Arc<Snapshot>,
    entry: &Name,
    wanted: &Wanted<'_>,
) -> Result<Acquired, Refused> {
    let mut tried = wanted.tried.to_vec();
    loop {
        let entry_id = snapshot.model.vserver_id(entry).ok_or_else(|| Refused::unavailable(Reason::Removed))?;
        let choice = choose(&snapshot, entry_id, &Wanted { tried: &tried, ..*wanted })?;
        let serving = Serving::begin(plane, &snapshot, choice);
        let service = snapshot.model.service(choice.service);
        let live = &snapshot.services[choice.service.index()].live;
        if choose::over(serving.nth(), service.settings.max_client) {
            tried.push(Arc::clone(&service.name));
            continue;
        }
        let latest = plane.cell.load_full();
        if !Arc::ptr_eq(&latest, &snapshot) && !choose::still_allowed(&latest, &snapshot, choice) {
            drop(serving);
            snapshot = latest;
            continue;
        }
        live.requests_total.fetch_add(1, Ordering::Relaxed);
        if choice.serving != entry_id && !choice.persistent {
            snapshot.vservers[entry_id.index()].live.spilled_total.fetch_add(1, Ordering::Relaxed);
        }
        choose::remember(&snapshot, choice, wanted);
        return Ok(Acquired { snapshot, choice, serving, waited: Duration::ZERO });
    }
}

// === impl Wanted ===

impl Wanted<'_> {
    /// The part of it that a method looks at. `out`: who is out of the question, and why.
    pub fn ask<'a>(&'a self, out: &'a dyn Fn(ServiceId) -> Option<Out>) -> Ask<'a> {
        Ask {
            client: self.client,
            local: self.local,
            value: self.value,
            out,
            narrowed: self.only.is_some(),
            now: self.now,
            dry: self.dry,
        }
    }

    /// A value of the request.
    pub fn extract(&self, extract: &Extract) -> Option<String> {
        (self.value)(extract)
    }
}
