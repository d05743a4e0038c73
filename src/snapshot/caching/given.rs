//! What is noted of each answer that is given.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU32, Ordering};

use super::super::live::{Askers, Seen};
use super::Kept;
use crate::model::time::Wall;
use crate::model::zone::Rrset;

/// Until when answers of one set may be kept, in Unix seconds; 0: none was given.
#[derive(Debug, Default)]
pub struct Handed(AtomicU32);

/// When the first answer of a set was given, from the publication on that made it the answer.
#[derive(Debug, Default)]
pub struct First(AtomicI64);

/// An RRset that scenarios steer, with the set that is answered now.
#[derive(Clone, Debug)]
pub struct Steered {
    /// Stands for owner and type, over models.
    pub rrset: u64,
    /// Of the snapshot that made it the answer; grows with every change of the answer.
    pub generation: u32,
    pub first: Arc<First>,
}

// === impl Kept ===

impl Kept {
    /// Notes an answer given to `client` at `now` with `ttl`.
    pub fn give(&self, askers: &Askers, client: IpAddr, now: Wall, ttl: u32) {
        let until = self.hand(now.seconds(), ttl);
        if let Some(steered) = &self.steered {
            steered.first.note(now);
            askers.note(steered.rrset, client, Seen { generation: steered.generation, until });
        }
    }

    /// Notes an answer given to somebody at `now` (Unix seconds) with `ttl`; until when it may be kept.
    pub fn hand(&self, now: u32, ttl: u32) -> u32 {
        // The clock is cut to seconds, and a cache may begin to count a moment later.
        let until = now.saturating_add(ttl).saturating_add(1);
        self.handed.push(until);
        until
    }

    /// `None`: no scenario steers it.
    pub fn steered(&self) -> Option<&Steered> {
        self.steered.as_ref()
    }
}

// === impl Handed ===

impl Handed {
    pub(super) fn until(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }

    /// At most one write a second and thread, however many queries there are.
    pub(super) fn push(&self, until: u32) {
        if self.until() < until {
            self.0.fetch_max(until, Ordering::Relaxed);
        }
    }
}

// === impl First ===

impl First {
    /// `None`: none was given yet.
    pub fn at(&self) -> Option<Wall> {
        Some(Wall(self.0.load(Ordering::Relaxed))).filter(|at| at.0 > 0)
    }

    /// One write for each set, however many queries there are.
    fn note(&self, now: Wall) {
        if self.0.load(Ordering::Relaxed) == 0 {
            let _ = self.0.compare_exchange(0, now.0, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}

// === impl Steered ===

impl Steered {
    pub(super) fn of(rrset: &Rrset, generation: u64) -> Option<Steered> {
        rrset.records.iter().any(|record| record.cond.is_some() || record.dr_cond.is_some()).then(|| {
            let mut hasher = DefaultHasher::new();
            (&rrset.owner, rrset.rtype).hash(&mut hasher);
            Steered { rrset: hasher.finish(), generation: generation as u32, first: Arc::default() }
        })
    }
}
