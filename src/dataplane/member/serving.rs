//! Work that a member does, and what ends it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::{mpsc, watch};

use super::choose::Choice;
use super::{Plane, queue};
use crate::model::ending::Reason;
use crate::model::event::Observation;
use crate::model::id::Name;
use crate::snapshot::live::{Active, Flush, ServiceLive, VserverLive};
use crate::snapshot::{Cell, Snapshot};

/// Work that a member does. Counts as active until it is dropped.
#[derive(Debug)]
pub struct Serving {
    active: Option<Active>,
    service: Name,
    /// Somebody may wait for its place.
    limited: bool,
    flushes: Flushes,
    cell: Arc<Cell>,
    observations: mpsc::Sender<Observation>,
}

/// What ends work from outside (`downStateFlush`): flushes of the service and of the vserver whose member it is that
/// come after the work began. Equal for two pieces of work where every flush from now on ends both or neither.
#[derive(Clone, Debug)]
pub struct Flushes {
    service: Arc<ServiceLive>,
    vserver: Arc<VserverLive>,
    /// Flushes of either before the work began.
    before: (u64, u64),
}

// === impl Serving ===

impl Serving {
    pub(super) fn begin(plane: &Plane, snapshot: &Snapshot, choice: Choice) -> Serving {
        let live = &snapshot.services[choice.service.index()].live;
        let vserver = Arc::clone(&snapshot.vservers[choice.serving.index()].live);
        vserver.serving.fetch_add(1, Ordering::SeqCst);
        let active = Some(live.begin());
        // Looked at before the snapshot is looked at again: a flush that follows is not missed.
        let flushes = Flushes::of(live, vserver);
        Serving {
            limited: snapshot.model.service(choice.service).settings.max_client > 0,
            active,
            service: Arc::clone(&snapshot.model.service(choice.service).name),
            flushes,
            cell: Arc::clone(&plane.cell),
            observations: plane.observations.clone(),
        }
    }

    pub fn service(&self) -> &Name {
        &self.service
    }

    pub(super) fn nth(&self) -> u32 {
        self.active.as_ref().map_or(0, Active::nth)
    }

    pub fn live(&self) -> &crate::snapshot::live::ServiceLive {
        self.active.as_ref().expect("taken in drop only").service()
    }

    /// Whether the service drains, as the newest snapshot has it: its clients are to come again, and be balanced.
    pub fn is_draining(&self) -> bool {
        let snapshot = self.cell.load();
        let service = snapshot.model.service_id(&self.service);
        service.is_some_and(|id| snapshot.services[id.index()].state.is_draining())
    }

    pub fn flushes(&self) -> &Flushes {
        &self.flushes
    }

    /// See [`Flushes::is_flushed`].
    pub fn is_flushed(&self) -> bool {
        self.flushes.is_flushed()
    }

    /// See [`Flushes::flushed`].
    pub fn flushed(&self) -> impl Future<Output = Reason> + Send + Sync + 'static {
        self.flushes.flushed()
    }
}

// === impl Flushes ===

impl Flushes {
    fn of(service: &Arc<ServiceLive>, vserver: Arc<VserverLive>) -> Flushes {
        let before = (service.flush.borrow().generation, vserver.flush.borrow().generation);
        Flushes { service: Arc::clone(service), vserver, before }
    }

    /// Whether [`flushed`](Self::flushed) would resolve at once.
    pub fn is_flushed(&self) -> bool {
        (self.service.flush.borrow().generation, self.vserver.flush.borrow().generation) != self.before
    }

    /// Resolves when the work must end. Owns what it waits on.
    pub fn flushed(&self) -> impl Future<Output = Reason> + Send + Sync + 'static {
        let subscribe = |flush: &watch::Sender<Flush>, before: u64| {
            let mut flush = flush.subscribe();
            if flush.borrow_and_update().generation != before {
                flush.mark_changed();
            }
            flush
        };
        let mut service = subscribe(&self.service.flush, self.before.0);
        let mut vserver = subscribe(&self.vserver.flush, self.before.1);
        async move {
            let flush = tokio::select! {
                // Where a service takes its vserver down with it, its own reason says more.
                biased;
                // An error means that the service or vserver is gone for good; whoever removed it bumped first.
                Ok(()) = service.changed() => *service.borrow(),
                Ok(()) = vserver.changed() => *vserver.borrow(),
                else => std::future::pending().await,
            };
            flush.why.unwrap_or(Reason::Flushed)
        }
    }
}

impl PartialEq for Flushes {
    fn eq(&self, other: &Flushes) -> bool {
        let same = Arc::ptr_eq(&self.service, &other.service) && Arc::ptr_eq(&self.vserver, &other.vserver);
        same && self.before == other.before
    }
}

impl Drop for Serving {
    /// Ends the work, gives the place to who waits for it, and hints that a draining service has become idle. The hint may be lost: the reactor reads the
    /// counters too.
    fn drop(&mut self) {
        let Some(active) = self.active.take() else { return };
        let live = Arc::clone(active.service());
        drop(active);
        self.flushes.vserver.serving.fetch_sub(1, Ordering::SeqCst);
        if self.limited {
            // After the place is free.
            queue::place_free(&self.cell, &self.service);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_flush_ends_what_began_before_it_whenever_somebody_asks_and_nothing_that_begins_after_it() {
        let (service, vserver) = (Arc::<ServiceLive>::default(), Arc::<VserverLive>::default());
        let begin = || Flushes::of(&service, Arc::clone(&vserver));
        let (first, second) = (begin(), begin());
        assert!(first == second && !first.is_flushed());
        let waiting = first.flushed();
        service.flush.send_modify(|flush| flush.bump(Reason::DrainedFlush));
        assert_eq!((waiting.await, second.flushed().await), (Reason::DrainedFlush, Reason::DrainedFlush));
        let third = begin();
        assert!(first.is_flushed() && !third.is_flushed() && first != third);
        assert!(is_pending(third.flushed()));
        vserver.flush.send_modify(|flush| flush.bump(Reason::Flushed));
        assert_eq!(third.flushed().await, Reason::Flushed);
    }

    fn is_pending(future: impl Future<Output = Reason>) -> bool {
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        std::pin::pin!(future).poll(&mut cx).is_pending()
    }
}
