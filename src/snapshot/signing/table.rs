//! Signatures that were made, by what they sign: a table of fixed size, read without a lock and without allocation.
//!
//! A key stands in the first free slot of its window of [`WINDOW`] slots, found by its tag; slots never become free again.
//! Where a window is full, the signature that would have to be renewed first makes room. Two threads that make the same
//! signature at once may both put it: one of them is found, the other is forgotten in time.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arc_swap::{ArcSwapOption, Guard};

use super::Rrsigs;

/// Slots that a key may stand in.
const WINDOW: usize = 32;

pub(super) struct Table {
    /// The low half of the key, never 0; 0: the slot is free.
    tags: Box<[AtomicU64]>,
    made: Box<[ArcSwapOption<Made>]>,
    /// How many signatures have been made.
    pub signed: AtomicU64,
}

#[derive(Debug)]
pub(super) struct Made {
    /// Stands for owner, type, TTL and data.
    pub key: u128,
    /// Unix seconds.
    pub refresh_at: u64,
    pub rrsigs: Rrsigs,
}

// === impl Table ===

impl Table {
    /// With room for twice as many and some.
    pub fn new(contents: usize) -> Table {
        let slots = (2 * contents + super::SPARE).next_power_of_two();
        Table {
            tags: (0..slots).map(|_| AtomicU64::new(0)).collect(),
            made: (0..slots).map(|_| ArcSwapOption::empty()).collect(),
            signed: AtomicU64::new(0),
        }
    }

    /// One with room for so many that holds what this one does; the same where its size is right.
    pub fn resized(this: &Arc<Table>, contents: usize) -> Arc<Table> {
        let new = Table::new(contents);
        if new.tags.len() == this.tags.len() {
            return Arc::clone(this);
        }
        new.signed.store(this.signed.load(Ordering::Relaxed), Ordering::Relaxed);
        this.made.iter().filter_map(ArcSwapOption::load_full).for_each(|made| new.put(made));
        Arc::new(new)
    }

    pub fn find(&self, key: u128) -> Option<Guard<Option<Arc<Made>>>> {
        for at in self.window(key) {
            let tag = self.tags[at].load(Ordering::Acquire);
            if tag == tag_of(key) {
                let made = self.made[at].load();
                if made.as_ref().is_some_and(|made| made.key == key) {
                    return Some(made);
                }
            } else if tag == 0 {
                return None;
            }
        }
        None
    }

    pub fn put(&self, made: Arc<Made>) {
        let tag = tag_of(made.key);
        let (mut first_due, mut due_at) = (None, u64::MAX);
        for at in self.window(made.key) {
            let free = self.tags[at].compare_exchange(0, tag, Ordering::AcqRel, Ordering::Acquire);
            let there = self.made[at].load();
            let is_own = free == Err(tag) && there.as_ref().is_none_or(|there| there.key == made.key);
            if free.is_ok() || is_own {
                self.made[at].store(Some(made));
                return;
            }
            let due = there.as_ref().map_or(u64::MAX, |there| there.refresh_at);
            if first_due.is_none() || due < due_at {
                (first_due, due_at) = (Some(at), due);
            }
        }
        if let Some(at) = first_due {
            self.made[at].store(Some(made));
            self.tags[at].store(tag, Ordering::Release);
        }
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.made.iter().filter(|made| made.load().is_some()).count()
    }

    #[cfg(test)]
    pub fn capacity(&self) -> usize {
        self.tags.len()
    }

    fn window(&self, key: u128) -> impl Iterator<Item = usize> + use<> {
        let mask = self.tags.len() - 1;
        let first = (key >> 64) as usize;
        (0..WINDOW).map(move |step| first.wrapping_add(step) & mask)
    }
}

impl std::fmt::Debug for Table {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Table").field("slots", &self.tags.len()).field("signed", &self.signed).finish()
    }
}

fn tag_of(key: u128) -> u64 {
    (key as u64).max(1)
}
