//! The surge queue of one vserver: [`balance::surge`](crate::balance::surge) under a lock, with its figures.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;

use crate::balance::surge::{For, Left, Queue};
use crate::model::id::Name;
use crate::model::time::micros;

#[derive(Debug, Default)]
pub struct Surging {
    queue: Mutex<Queue<Arc<Notify>>>,
    /// How many wait; read without the lock.
    depth: AtomicU32,
    /// The most that ever waited at once.
    pub depth_max: AtomicU32,
    /// Those that took a place in the queue.
    pub entered_total: AtomicU64,
    /// Those that were let in after they had waited.
    pub waited_total: AtomicU64,
    /// How long these waited together.
    pub waited_us_total: AtomicU64,
    /// Those that found the queue full.
    pub full_total: AtomicU64,
    /// Those whose time was over.
    pub timeout_total: AtomicU64,
}

// === impl Surging ===

impl Surging {
    pub fn depth(&self) -> u32 {
        self.depth.load(Ordering::Relaxed)
    }

    /// `None`: there are `most` already.
    pub fn enter(&self, what: For, most: u32, waker: Arc<Notify>) -> Option<u64> {
        let mut queue = self.queue.lock();
        if queue.len() >= most as usize {
            drop(queue);
            self.full_total.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        let ticket = queue.enter(what, waker);
        self.entered_total.fetch_add(1, Ordering::Relaxed);
        self.count(&queue);
        Some(ticket)
    }

    pub fn leave(&self, ticket: u64) -> Left<Arc<Notify>> {
        let mut queue = self.queue.lock();
        let left = queue.leave(ticket);
        self.count(&queue);
        left
    }

    /// Whether somebody waits who could use a place at `service`. Free where nobody waits at all.
    pub fn is_waited_for(&self, service: &str) -> bool {
        self.depth() > 0 && self.queue.lock().is_waited_for(service)
    }

    pub fn is_granted_before(&self, ticket: u64, service: &str) -> bool {
        self.queue.lock().is_granted_before(ticket, service)
    }

    pub fn is_first(&self, ticket: u64) -> bool {
        self.queue.lock().is_first(ticket)
    }

    pub fn take_grant(&self, ticket: u64) -> Option<Name> {
        self.queue.lock().take_grant(ticket)
    }

    pub fn waits_for(&self, ticket: u64, what: For) {
        self.queue.lock().waits_for(ticket, what);
    }

    /// Gives a place at `service` to who waits for it first, behind `ticket` where one is given. `false`: nobody does.
    pub fn grant(&self, ticket: Option<u64>, service: &Name) -> bool {
        if self.depth() == 0 {
            return false;
        }
        let woken = self.queue.lock().grant_after(ticket, service);
        woken.inspect(|waker| waker.notify_one()).is_some()
    }

    pub fn waited(&self, time: Duration) {
        self.waited_total.fetch_add(1, Ordering::Relaxed);
        self.waited_us_total.fetch_add(micros(time), Ordering::Relaxed);
    }

    fn count(&self, queue: &Queue<Arc<Notify>>) {
        let depth = u32::try_from(queue.len()).unwrap_or(u32::MAX);
        // SeqCst: whoever frees a place reads this after the place is free, whoever waits looks for a place after this.
        self.depth.store(depth, Ordering::SeqCst);
        self.depth_max.fetch_max(depth, Ordering::Relaxed);
    }
}
