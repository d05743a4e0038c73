//! Waiting for a place: the surge queue as a future. Dropping it leaves the queue.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::{Acquired, Attempt, Plane, Refused, Wanted, attempt};
use crate::balance::surge::For;
use crate::model::ending::Reason;
use crate::model::id::{Name, VserverId};
use crate::model::time::{Tick, micros};
use crate::snapshot::live::VserverLive;
use crate::snapshot::{Cell, Snapshot};

/// How often the first of each kind looks by itself: a member below its `max_bandwidth` again tells nobody.
const LOOK_AGAIN: Duration = Duration::from_millis(250);

/// A place in the queue of one vserver.
struct Ticket<'a> {
    cell: &'a Cell,
    vserver: Name,
    live: Arc<VserverLive>,
    number: u64,
    notify: Arc<Notify>,
}

/// Waits until somebody can take the client, its time is over, or nobody is left who could.
pub(super) async fn wait(
    plane: &Plane,
    snapshot: Arc<Snapshot>,
    entry: &Name,
    wanted: &Wanted<'_>,
    full: (VserverId, For),
) -> Result<Acquired, Refused> {
    let began = Instant::now();
    let mut published = plane.cell.subscribe();
    let (at, what) = full;
    let limit = snapshot.model.vserver(at).surge.timeout;
    let mut ticket = Ticket::take(&plane.cell, &snapshot, at, what)?;
    drop(snapshot);
    let over = tokio::time::sleep(limit);
    tokio::pin!(over);
    // Whoever stood before it may have left since it was turned away.
    let mut look = ticket.is_first();
    loop {
        if look {
            let grant = ticket.live.surge.take_grant(ticket.number);
            let now = Tick(wanted.now.0 + micros(began.elapsed()));
            let tried = attempt(plane, plane.cell.load_full(), entry, &Wanted { now, ..*wanted }, Some(ticket.number));
            match tried {
                Attempt::Served(mut acquired) => {
                    if let Some(grant) = grant.filter(|grant| grant != acquired.serving.service()) {
                        place_free(&plane.cell, &grant);
                    }
                    acquired.waited = began.elapsed();
                    ticket.live.surge.waited(acquired.waited);
                    return Ok(acquired);
                }
                Attempt::Full { snapshot, at, what } => {
                    if let Some(grant) = grant {
                        // Not for this client, or somebody was quicker: perhaps for one behind it.
                        ticket.live.surge.grant(Some(ticket.number), &grant);
                    }
                    let vserver = &snapshot.model.vserver(at).name;
                    if *vserver == ticket.vserver {
                        ticket.live.surge.waits_for(ticket.number, what);
                    } else {
                        ticket = Ticket::take(&plane.cell, &snapshot, at, what)?;
                    }
                }
                Attempt::Refused(refused) => {
                    if let Some(grant) = grant {
                        place_free(&plane.cell, &grant);
                    }
                    return Err(refused);
                }
            }
        }
        let first = ticket.is_first();
        tokio::select! {
            () = ticket.notify.notified() => {}
            Ok(()) = published.changed(), if first => {}
            () = tokio::time::sleep(LOOK_AGAIN), if first => {}
            () = &mut over => {
                ticket.live.surge.timeout_total.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                return Err(Refused::unavailable(Reason::QueueTimeout));
            }
        }
        look = true;
    }
}

/// A place at `service` is free: whoever waits for it first is woken. The vservers that share it take turns.
pub(super) fn place_free(cell: &Cell, service: &Name) {
    let snapshot = cell.load();
    let Some(id) = snapshot.model.service_id(service) else { return };
    let vservers = snapshot.prepared.vservers_of(id);
    let turn = snapshot.services[id.index()].live.requests_total.load(std::sync::atomic::Ordering::Relaxed);
    let turn = usize::try_from(turn % vservers.len().max(1) as u64).unwrap_or(0);
    let (later, sooner) = vservers.split_at(turn);
    for &vserver in sooner.iter().chain(later) {
        if snapshot.vservers[vserver.index()].live.surge.grant(None, service) {
            return;
        }
    }
}

// === impl Ticket ===

impl<'a> Ticket<'a> {
    fn take(cell: &'a Cell, snapshot: &Snapshot, at: VserverId, what: For) -> Result<Ticket<'a>, Refused> {
        let vserver = snapshot.model.vserver(at);
        let live = Arc::clone(&snapshot.vservers[at.index()].live);
        let notify = Arc::new(Notify::new());
        let number = live.surge.enter(what, vserver.surge.max, Arc::clone(&notify));
        let number = number.ok_or_else(|| Refused::unavailable(Reason::QueueFull))?;
        Ok(Ticket { cell, vserver: Arc::clone(&vserver.name), live, number, notify })
    }

    fn is_first(&self) -> bool {
        self.live.surge.is_first(self.number)
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        let left = self.live.surge.leave(self.number);
        if let Some(next) = left.next {
            next.notify_one();
        }
        if let Some(unused) = left.unused {
            place_free(self.cell, &unused);
        }
    }
}
