//! The one cell through which snapshots are published. Readers never wait; whoever must act on a new generation (the
//! listeners) can.

use std::sync::Arc;

use arc_swap::ArcSwap;
use tokio::sync::watch;

use super::Snapshot;

#[derive(Debug)]
pub struct Cell {
    current: ArcSwap<Snapshot>,
    published: watch::Sender<u64>,
    /// The newest generation whose listeners are bound (or have failed for good reason).
    reconciled: watch::Sender<u64>,
}

// === impl Cell ===

impl Cell {
    pub fn new(first: Snapshot) -> Arc<Cell> {
        let generation = first.generation;
        Arc::new(Cell {
            current: ArcSwap::from_pointee(first),
            published: watch::Sender::new(generation),
            reconciled: watch::Sender::new(0),
        })
    }

    /// A cheap guard for one decision; do not keep it over an await.
    pub fn load(&self) -> arc_swap::Guard<Arc<Snapshot>> {
        self.current.load()
    }

    /// For what lives longer than a decision.
    pub fn load_full(&self) -> Arc<Snapshot> {
        self.current.load_full()
    }

    /// The one writer's: makes `next` what everybody reads from now on.
    pub fn publish(&self, next: Snapshot) {
        let generation = next.generation;
        debug_assert!(generation > *self.published.borrow(), "generations strictly increase");
        self.current.store(Arc::new(next));
        self.published.send_replace(generation);
    }

    /// Tells when a new generation is there.
    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.published.subscribe()
    }

    /// The listeners' report: everything that `generation` asks for is bound.
    pub fn set_reconciled(&self, generation: u64) {
        // Also where the generation is an old one: a port that was taken may have been had at last.
        self.reconciled.send_modify(|g| *g = (*g).max(generation));
    }

    /// Tells when the listeners have followed another generation.
    pub fn bound(&self) -> watch::Receiver<u64> {
        self.reconciled.subscribe()
    }

    /// Waits until the listeners of `generation` are bound.
    pub async fn reconciled(&self, generation: u64) {
        // The sender lives as long as `self`, so waiting cannot fail.
        let _ = self.reconciled.subscribe().wait_for(|g| *g >= generation).await;
    }
}
