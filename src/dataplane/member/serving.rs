//! Work that a member does, and what ends it.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use tokio::sync::{mpsc, watch};

use super::choose::Choice;
use super::{Plane, queue};
use crate::model::ending::Reason;
use crate::model::event::Observation;
use crate::model::id::Name;
use crate::snapshot::live::{Active, Flush, VserverLive};
use crate::snapshot::{Cell, Snapshot};

/// Work that a member does. Counts as active until it is dropped.
#[derive(Debug)]
pub struct Serving {
    active: Option<Active>,
    service: Name,
    /// Somebody may wait for its place.
    limited: bool,
    /// Of the vserver whose member it is.
    vserver: Arc<VserverLive>,
    service_flush: watch::Receiver<Flush>,
    vserver_flush: watch::Receiver<Flush>,
    cell: Arc<Cell>,
    observations: mpsc::Sender<Observation>,
}

// === impl Serving ===

impl Serving {
    pub(super) fn begin(plane: &Plane, snapshot: &Snapshot, choice: Choice) -> Serving {
        let live = &snapshot.services[choice.service.index()].live;
        let vserver = Arc::clone(&snapshot.vservers[choice.serving.index()].live);
        vserver.serving.fetch_add(1, Ordering::SeqCst);
        Serving {
            limited: snapshot.model.service(choice.service).settings.max_client > 0,
            active: Some(live.begin()),
            service: Arc::clone(&snapshot.model.service(choice.service).name),
            // Subscribed before the snapshot is looked at again: a flush that follows is not missed.
            service_flush: live.flush.subscribe(),
            vserver_flush: vserver.flush.subscribe(),
            vserver,
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

    /// Whether [`flushed`](Self::flushed) would resolve at once.
    pub fn is_flushed(&self) -> bool {
        self.service_flush.borrow().has_changed() || self.vserver_flush.borrow().has_changed()
    }

    /// Resolves when this work must end (`downStateFlush`). Owns what it waits on.
    pub fn flushed(&self) -> impl Future<Output = Reason> + Send + Sync + 'static {
        let (mut service, mut vserver) = (self.service_flush.clone(), self.vserver_flush.clone());
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

impl Drop for Serving {
    /// Ends the work, gives the place to who waits for it, and hints that a draining service has become idle. The hint may be lost: the reactor reads the
    /// counters too.
    fn drop(&mut self) {
        let Some(active) = self.active.take() else { return };
        let live = Arc::clone(active.service());
        drop(active);
        self.vserver.serving.fetch_sub(1, Ordering::SeqCst);
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
