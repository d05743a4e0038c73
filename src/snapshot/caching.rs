//! How long others may keep what is answered: the TTL that each steered RRset has at this moment, and until when caches
//! may still hold what was answered before it last changed.
//!
//! An RRset with a `degraded_ttl` is answered with it while its answer is not the usual one, or may change soon: then a
//! flip reaches clients as soon as that TTL is over, and quiet times cost no more queries than before. [`Shortened`]
//! lists the reasons.
//!
//! What caches hold follows from the answers that were really given: each answer pushes the end of what its clients may
//! keep ([`Handed`]) to its own time plus its TTL. When the set that is answered changes, the ends of the former sets
//! stay, and the latest of them that is still to come is when the last cache has let go of it. Resolvers that keep
//! answers longer than they may, and programs that ask once and never again, are beyond this count.
//!
//! The table is cut into chunks, and a snapshot shares with the one before it those in which nothing has changed: a flip
//! costs what it flips.

mod given;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::Snapshot;
use super::zones::{LastGood, recall};
use crate::balance::records::{self, Source, Steering};
use crate::model::Model;
use crate::model::condition::Truth;
use crate::model::id::{ScenarioId, WatchedId};
use crate::model::state::StateView;
use crate::model::time::Wall;
use crate::model::zone::{DnsName, OnEmpty, RecordType, Rrset};

pub use given::{First, Handed, Steered};

/// RRsets in a chunk.
const CHUNK: usize = 64;
/// Former answers that are remembered one by one; older ones count together.
const FORMER_MOST: usize = 8;

/// All steered RRsets, by zone and position.
#[derive(Debug, Default)]
pub struct Caching {
    /// By zone: where its RRsets begin.
    offsets: Arc<[usize]>,
    chunks: Vec<Arc<Vec<Kept>>>,
    index: Arc<Index>,
    /// Of scenarios that are in the making of a transition.
    turning: Vec<bool>,
    /// RRsets whose answer changed with this snapshot, as `(zone, rrset)`.
    flipped: Vec<(usize, usize)>,
}

/// What others keep of one RRset.
#[derive(Clone, Debug)]
pub struct Kept {
    /// TTL of its answers now, in seconds.
    pub ttl: u32,
    /// Why that is the `degraded_ttl`; `None`: it is the usual one.
    pub shortened: Option<Shortened>,
    /// When what is answered last became another set; `None`: not since the process began.
    pub changed_at: Option<Wall>,
    /// Tells the set that is answered from others, over models.
    answer: u64,
    handed: Arc<Handed>,
    former: Vec<(u64, Arc<Handed>)>,
    /// `None`: no scenario steers it, and who asks for it is not noted.
    steered: Option<Steered>,
}

/// Why answers have the shorter TTL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shortened {
    /// A scenario that a record names by `cond` or `drCond` is active (of `cond = "S!"`: inactive).
    Active(ScenarioId),
    Inactive(ScenarioId),
    /// Such a scenario may be about to change.
    Turning(ScenarioId),
    /// The `check` of a record is false.
    Check(WatchedId),
}

/// Which RRsets look at what.
#[derive(Debug, Default)]
struct Index {
    by_scenario: Vec<Vec<(u32, u32)>>,
    by_watched: Vec<Vec<(u32, u32)>>,
}

/// What the table is made of.
#[derive(Clone, Copy)]
pub(super) struct Ground<'a> {
    pub generation: u64,
    pub model: &'a Model,
    pub view: &'a StateView,
    pub scenario_active: &'a [bool],
    pub last_good: &'a LastGood,
    pub wall: Wall,
}

// === impl Caching ===

impl Caching {
    pub(super) fn build(ground: Ground<'_>, previous: Option<&Snapshot>) -> Caching {
        match previous {
            Some(previous) if std::ptr::eq(&*previous.model, ground.model) => Caching::changed(ground, previous),
            previous => Caching::anew(ground, previous),
        }
    }

    pub fn of(&self, zone: usize, rrset: usize) -> &Kept {
        let at = self.offsets[zone] + rrset;
        &self.chunks[at / CHUNK][at % CHUNK]
    }

    /// RRsets whose answer changed with this snapshot, as `(zone, rrset)`.
    pub fn flipped(&self) -> &[(usize, usize)] {
        &self.flipped
    }

    /// Counts for every RRset as answered just now: those of a former process may have been.
    pub fn assume_handed(&self, model: &Model, now: Wall) {
        for (z, zone) in model.zones.iter().enumerate() {
            for (r, rrset) in zone.rrsets.iter().enumerate() {
                self.of(z, r).hand(now.seconds(), rrset.ttl);
            }
        }
    }

    fn anew(ground: Ground<'_>, previous: Option<&Snapshot>) -> Caching {
        let model = ground.model;
        let known = previous.map(by_name).unwrap_or_default();
        let mut offsets = Vec::with_capacity(model.zones.len());
        let mut flipped = Vec::new();
        let mut all: Vec<Kept> = Vec::new();
        for (z, zone) in model.zones.iter().enumerate() {
            offsets.push(all.len());
            for (r, rrset) in zone.rrsets.iter().enumerate() {
                let mut kept = Kept::new(ground, z, r);
                if let Some(before) = known.get(&(&rrset.owner, rrset.rtype))
                    && kept.follow(before, ground.wall)
                {
                    flipped.push((z, r));
                }
                all.push(kept);
            }
        }
        Caching {
            offsets: offsets.into(),
            chunks: all.chunks(CHUNK).map(|chunk| Arc::new(chunk.to_vec())).collect(),
            index: Arc::new(Index::build(model)),
            turning: turning(ground),
            flipped,
        }
    }

    fn changed(ground: Ground<'_>, previous: &Snapshot) -> Caching {
        let before = &previous.caching;
        let mut next = Caching {
            offsets: Arc::clone(&before.offsets),
            chunks: before.chunks.clone(),
            index: Arc::clone(&before.index),
            turning: turning(ground),
            flipped: Vec::new(),
        };
        let scenarios = differing(&previous.scenario_active, ground.scenario_active)
            .chain(differing(&before.turning, &next.turning))
            .filter_map(|at| before.index.by_scenario.get(at));
        let watched = differing(&previous.watched, &ground.view.watched);
        let watched = watched.filter_map(|at| before.index.by_watched.get(at));
        let mut affected: Vec<(u32, u32)> = scenarios.chain(watched).flatten().copied().collect();
        affected.sort_unstable();
        affected.dedup();
        for (z, r) in affected {
            let (z, r) = (z as usize, r as usize);
            let at = next.offsets[z] + r;
            let mut kept = Kept::new(ground, z, r);
            if kept.follow(before.of(z, r), ground.wall) {
                next.flipped.push((z, r));
            }
            Arc::make_mut(&mut next.chunks[at / CHUNK])[at % CHUNK] = kept;
        }
        next
    }
}

fn by_name(previous: &Snapshot) -> HashMap<(&DnsName, RecordType), &Kept> {
    let mut known = HashMap::new();
    for (z, zone) in previous.model.zones.iter().enumerate() {
        for (r, rrset) in zone.rrsets.iter().enumerate() {
            known.insert((&rrset.owner, rrset.rtype), previous.caching.of(z, r));
        }
    }
    known
}

fn turning(ground: Ground<'_>) -> Vec<bool> {
    let views = &ground.view.scenarios;
    (0..ground.model.scenarios.len()).map(|at| views.get(at).is_some_and(|view| view.turning)).collect()
}

/// Positions at which two tables differ; what one is too short for differs.
fn differing<'a, T: PartialEq>(before: &'a [T], after: &'a [T]) -> impl Iterator<Item = usize> + 'a {
    (0..before.len().max(after.len())).filter(|&at| before.get(at) != after.get(at))
}

// === impl Kept ===

impl Kept {
    fn new(ground: Ground<'_>, zone: usize, at: usize) -> Kept {
        let rrset = &ground.model.zones[zone].rrsets[at];
        let steering = Steering { scenario_active: ground.scenario_active, watched: &ground.view.watched };
        let mut chosen = Vec::new();
        let decision = records::decide(rrset, steering, recall(ground.last_good, zone, at), &mut chosen);
        let shortened = rrset.degraded_ttl.and_then(|ttl| Some((ttl, shortened(rrset, steering, ground.view)?)));
        Kept {
            ttl: shortened.map_or(rrset.ttl, |(ttl, _)| ttl),
            shortened: shortened.map(|(_, why)| why),
            changed_at: None,
            answer: fingerprint(rrset, decision.source, &chosen),
            handed: Arc::default(),
            former: Vec::new(),
            steered: Steered::of(rrset, ground.generation),
        }
    }

    /// Takes over what is known of the RRset from `before`; whether the answer is another one now.
    fn follow(&mut self, before: &Kept, wall: Wall) -> bool {
        self.former.clone_from(&before.former);
        self.changed_at = before.changed_at;
        if self.answer == before.answer {
            self.handed = Arc::clone(&before.handed);
            self.steered = self.steered.take().map(|own| before.steered.clone().unwrap_or(own));
            return false;
        }
        let now = wall.seconds();
        self.changed_at = Some(wall);
        // What has expired goes, but for what is replaced just now: an answer from it may be under way.
        self.former.retain(|(_, handed)| handed.until() >= now);
        self.former.push((before.answer, Arc::clone(&before.handed)));
        // What is answered again is no former answer any more.
        if let Some(at) = self.former.iter().position(|(answer, _)| *answer == self.answer) {
            self.handed = self.former.remove(at).1;
        }
        if self.former.len() > FORMER_MOST {
            let (_, oldest) = self.former.remove(0);
            self.former[0].1.push(oldest.until());
        }
        true
    }

    /// When caches may have let go of all former answers; `None`: they have, or hold none.
    pub fn caches_over_at(&self, now: Wall) -> Option<Wall> {
        let last = self.former.iter().map(|(_, handed)| handed.until()).max()?;
        (last > now.seconds()).then(|| Wall(i64::from(last) * 1_000_000))
    }
}

/// Why the shorter TTL holds, if it does.
fn shortened(rrset: &Rrset, steering: Steering<'_>, view: &StateView) -> Option<Shortened> {
    let turning = |s: ScenarioId| view.scenarios.get(s.index()).is_some_and(|view| view.turning);
    let of_scenario = |s: ScenarioId, inverse: bool| match (steering.is_active(s), inverse) {
        (true, false) => Some(Shortened::Active(s)),
        (false, true) => Some(Shortened::Inactive(s)),
        _ => turning(s).then_some(Shortened::Turning(s)),
    };
    rrset.records.iter().filter(|record| record.enabled).find_map(|record| {
        let cond = record.cond.and_then(|(s, inverse)| of_scenario(s, inverse));
        let dr = || record.dr_cond.and_then(|s| of_scenario(s, false));
        let value = |w: WatchedId| steering.watched.get(w.index()).copied().unwrap_or_default();
        let check = || record.check.filter(|&w| value(w) == Truth::False).map(Shortened::Check);
        cond.or_else(dr).or_else(check)
    })
}

fn fingerprint(rrset: &Rrset, source: Source, chosen: &[u32]) -> u64 {
    let mut hasher = DefaultHasher::new();
    let data = |hasher: &mut DefaultHasher, mut data: Vec<&[u8]>| {
        data.sort_unstable();
        data.hash(hasher);
    };
    match (source, &rrset.on_empty) {
        (Source::Records(_), _) => {
            data(&mut hasher, chosen.iter().map(|&at| &*rrset.records[at as usize].rdata).collect());
        }
        (Source::Static, OnEmpty::Static(fixed)) => {
            data(&mut hasher, fixed.iter().map(|fixed| &*fixed.rdata).collect());
        }
        (Source::ServFail, _) => 2_u8.hash(&mut hasher),
        _ => 1_u8.hash(&mut hasher),
    }
    hasher.finish()
}

// === impl Index ===

impl Index {
    fn build(model: &Model) -> Index {
        let mut index = Index {
            by_scenario: vec![Vec::new(); model.scenarios.len()],
            by_watched: vec![Vec::new(); model.watched.len()],
        };
        for (z, zone) in (0u32..).zip(&model.zones) {
            for (r, rrset) in (0u32..).zip(&zone.rrsets) {
                for record in &rrset.records {
                    let scenarios = record.cond.map(|(s, _)| s).into_iter().chain(record.dr_cond);
                    for scenario in scenarios {
                        index.by_scenario[scenario.index()].push((z, r));
                    }
                    if let Some(watched) = record.check {
                        index.by_watched[watched.index()].push((z, r));
                    }
                }
            }
        }
        index
    }
}

// === impl Shortened ===

impl Snapshot {
    /// Why answers have the shorter TTL, as a sentence without a final stop.
    pub fn shortened_because(&self, why: Shortened) -> String {
        let name = |s: ScenarioId| &self.model.scenario(s).name;
        match why {
            Shortened::Active(s) => format!("scenario {} is active", name(s)),
            Shortened::Inactive(s) => format!("scenario {} is inactive", name(s)),
            Shortened::Turning(s) => format!("scenario {} may be about to change", name(s)),
            Shortened::Check(term) => format!("{} is false", self.model.watched_term(term).text),
        }
    }
}

#[cfg(test)]
mod tests;
