//! A store without a disk: nothing is left behind. Bounded, since memory is what it costs.

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::Mutex;

use super::{Batch, Limits, ReadJournal, Store, StoreError};
use crate::control::journal::chain::{Entry, Head, Verified};
use crate::control::journal::{JournalEntry, JournalQuery};
use crate::model::time::Wall;

/// Journal entries kept; older ones fall out.
const ENTRIES_MOST: usize = 20_000;

#[derive(Debug)]
pub struct Memory {
    log: Arc<Mutex<Log>>,
}

#[derive(Debug)]
struct Log {
    entries: VecDeque<Entry>,
    /// The entry before the oldest one kept.
    anchor: Head,
    head: Head,
}

// === impl Memory ===

impl Memory {
    pub fn new() -> Memory {
        let log = Log { entries: VecDeque::new(), anchor: Head::genesis(), head: Head::genesis() };
        Memory { log: Arc::new(Mutex::new(log)) }
    }
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new()
    }
}

impl Store for Memory {
    fn commit(&mut self, batches: &[&Batch]) -> Result<u64, StoreError> {
        let mut log = self.log.lock();
        for draft in batches.iter().flat_map(|batch| &batch.entries) {
            let entry = Entry::append(&log.head, draft);
            log.head = entry.head();
            log.entries.push_back(entry);
        }
        log.keep(ENTRIES_MOST);
        Ok(log.head.number)
    }

    fn cut(&mut self, now: Wall, limits: &Limits) -> Result<u64, StoreError> {
        let mut log = self.log.lock();
        let oldest = now - limits.keep;
        let young = log.entries.iter().filter(|entry| entry.at >= oldest).count();
        let before = log.entries.len();
        log.keep(young);
        Ok((before - log.entries.len()) as u64)
    }

    fn reader(&self) -> Arc<dyn ReadJournal> {
        Arc::new(Memory { log: Arc::clone(&self.log) })
    }
}

impl ReadJournal for Memory {
    fn query(&self, query: &JournalQuery) -> Result<Vec<JournalEntry>, StoreError> {
        let log = self.log.lock();
        let limit = query.bounded_limit() as usize;
        let admitted = |entry: &Entry| Some(entry.shown()).filter(|shown| query.admits(shown));
        Ok(if query.newest_first {
            log.entries.iter().rev().filter_map(admitted).take(limit).collect()
        } else {
            log.entries.iter().filter_map(admitted).take(limit).collect()
        })
    }

    fn walk(&self, visit: &mut dyn FnMut(Entry) -> bool) -> Result<(), StoreError> {
        let entries = self.log.lock().entries.clone();
        for entry in entries {
            if !visit(entry) {
                break;
            }
        }
        Ok(())
    }

    fn after(&self, number: u64, entries: usize, bytes: usize) -> Result<Vec<Entry>, StoreError> {
        let log = self.log.lock();
        let mut size = 0;
        let following = log.entries.iter().filter(|entry| entry.number > number).take(entries);
        let within = following.take_while(|entry| {
            let fits = size < bytes;
            size += entry.body.len();
            fits
        });
        Ok(within.cloned().collect())
    }

    fn verify(&self) -> Result<Verified, StoreError> {
        let log = self.log.lock();
        let mut verified = Verified { entries: 0, anchor: log.anchor.number, broken: None };
        let mut head = log.anchor.clone();
        for entry in &log.entries {
            if let Err(broken) = head.check(entry) {
                verified.broken = Some(broken);
                break;
            }
            verified.entries += 1;
            head = entry.head();
        }
        Ok(verified)
    }
}

// === impl Log ===

impl Log {
    fn keep(&mut self, most: usize) {
        while self.entries.len() > most {
            if let Some(oldest) = self.entries.pop_front() {
                self.anchor = oldest.head();
            }
        }
    }
}
