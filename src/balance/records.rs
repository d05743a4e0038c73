//! Which records of a steered RRset answer.
//!
//! Failing over by hand means replacing one *set* of addresses by another, so sets, and not single records, are what a
//! scenario switches: records without `drCond` form the primary set, records with `drCond = "S"` the DR set of S, and an
//! answer never mixes two sets. Inside the chosen set single records drop out (`cond`, `check`). Only when nothing is
//! left does the stated policy `on_empty` speak, and the decision says so, because an operator must be able to see
//! that a dead address is being handed out on purpose.
//!
//! The steps, in this order:
//!
//! 1. *Base set*: of the active DR sets the first, in the order of the list, that has a record left after step 2; if
//!    all active ones are empty, the first of them; without an active one, the primary set.
//! 2. *Filter*: a record drops out while its `cond` scenario is active (`S!`: inactive) or its `check` is false;
//!    unknown counts as up. A record with `enabled = false` is treated everywhere as if it had not been written.
//! 3. *Empty?* [`OnEmpty`] chooses what to serve instead ([`Fallback`] names it).
//! 4. *Select* ([`mod@select`]): order, weights, rotation or hash, then the number of answers.

mod select;

#[cfg(test)]
mod oracle;

use crate::model::condition::Truth;
use crate::model::id::{ScenarioId, WatchedId};
use crate::model::zone::{OnEmpty, Record, RecordType, Rrset};

pub use select::{Draw, select};

/// The published state that steering reads. Indexed by the ids of the model; what is missing is inactive or unknown.
#[derive(Clone, Copy, Debug)]
pub struct Steering<'a> {
    pub scenario_active: &'a [bool],
    pub watched: &'a [Truth],
}

/// Records that replace each other as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Set {
    Primary,
    /// The DR set of this scenario.
    Dr(ScenarioId),
}

/// Why step 2 leaves a record out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dropped {
    /// `enabled = false`.
    Disabled,
    /// `cond = "S"`, and S is active.
    CondActive(ScenarioId),
    /// `cond = "S!"`, and S is inactive.
    CondInactive(ScenarioId),
    CheckFalse(WatchedId),
}

/// What `on_empty` made of an empty base set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fallback {
    /// The whole base set, dropped records included.
    ServeAll,
    /// Another set: what the filter leaves of it, or the whole primary set where it leaves nothing of that either.
    OtherSet,
    Static,
    LastGood,
    NoData,
    ServFail,
}

/// What to serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The positions that [`decide`] wrote, all of this set.
    Records(Set),
    /// The data of `on_empty = { static = […] }`.
    Static,
    /// No record: NODATA.
    Nothing,
    ServFail,
}

/// The result of steps 1 to 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decision {
    /// Step 1.
    pub base: Set,
    /// Step 3; `None`: the filter left something, and that is served.
    pub fallback: Option<Fallback>,
    pub source: Source,
    /// The type of what is served: the RRset's, or CNAME where the served set is one.
    pub rtype: RecordType,
}

/// Steps 1 to 3. `chosen` is overwritten with positions in `rrset.records`, in the order of the list; it stays empty
/// unless the source is [`Source::Records`]. `last_good` are positions too (see [`last_good`]).
pub fn decide(rrset: &Rrset, steering: Steering<'_>, last_good: &[u32], chosen: &mut Vec<u32>) -> Decision {
    chosen.clear();
    let base = base_set(rrset, steering);
    fill(rrset, base, chosen, |record| steering.keeps(record));
    let (fallback, source) = if chosen.is_empty() {
        on_empty(rrset, steering, base, last_good, chosen)
    } else {
        (None, Source::Records(base))
    };
    let rtype = match source {
        Source::Records(_) => rrset.records[chosen[0] as usize].rtype,
        _ => rrset.rtype,
    };
    Decision { base, fallback, source, rtype }
}

/// Step 1.
pub fn base_set(rrset: &Rrset, steering: Steering<'_>) -> Set {
    let mut first_active = None;
    for record in &rrset.records {
        let Some(scenario) = record.dr_cond.filter(|&s| record.enabled && steering.is_active(s)) else { continue };
        let set = Set::Dr(scenario);
        if members(rrset, set).any(|(_, r)| steering.keeps(r)) {
            return set;
        }
        first_active.get_or_insert(set);
    }
    first_active.unwrap_or(Set::Primary)
}

/// What the next snapshot remembers for an RRset with `on_empty = "last_good"`: what the filter leaves now, or what was
/// remembered before.
pub fn last_good(rrset: &Rrset, steering: Steering<'_>, previous: &[u32]) -> Vec<u32> {
    let mut chosen = Vec::new();
    let base = base_set(rrset, steering);
    fill(rrset, base, &mut chosen, |record| steering.keeps(record));
    if chosen.is_empty() { previous.to_vec() } else { chosen }
}

/// The records of a set with their positions, those with `enabled = false` left out.
pub fn members(rrset: &Rrset, set: Set) -> impl Iterator<Item = (u32, &Record)> {
    (0u32..).zip(&rrset.records).filter(move |(_, r)| r.enabled && Set::of(r) == set)
}

/// Step 3.
fn on_empty(
    rrset: &Rrset,
    steering: Steering<'_>,
    base: Set,
    last_good: &[u32],
    chosen: &mut Vec<u32>,
) -> (Option<Fallback>, Source) {
    let (fallback, set) = match &rrset.on_empty {
        OnEmpty::ServeAll => (Fallback::ServeAll, base),
        OnEmpty::OtherSet => {
            // An active DR set with a record left would have been the base, so the other set is the primary one.
            fill(rrset, Set::Primary, chosen, |record| steering.keeps(record));
            let primary_exists = members(rrset, Set::Primary).next().is_some();
            (Fallback::OtherSet, if primary_exists { Set::Primary } else { base })
        }
        OnEmpty::LastGood => {
            let known = |&&at: &&u32| rrset.records.get(at as usize).is_some_and(|r| r.enabled);
            chosen.extend(last_good.iter().filter(known));
            let set = chosen.first().map_or(base, |&at| Set::of(&rrset.records[at as usize]));
            (Fallback::LastGood, set)
        }
        OnEmpty::Static(data) if data.is_empty() => return (Some(Fallback::Static), Source::Nothing),
        OnEmpty::Static(_) => return (Some(Fallback::Static), Source::Static),
        OnEmpty::NoData => return (Some(Fallback::NoData), Source::Nothing),
        OnEmpty::ServFail => return (Some(Fallback::ServFail), Source::ServFail),
    };
    if chosen.is_empty() {
        fill(rrset, set, chosen, |_| true);
    }
    (Some(fallback), if chosen.is_empty() { Source::Nothing } else { Source::Records(set) })
}

fn fill(rrset: &Rrset, set: Set, chosen: &mut Vec<u32>, keep: impl Fn(&Record) -> bool) {
    chosen.extend(members(rrset, set).filter(|(_, r)| keep(r)).map(|(at, _)| at));
}

// === impl Steering ===

impl Steering<'_> {
    pub fn is_active(&self, scenario: ScenarioId) -> bool {
        self.scenario_active.get(scenario.index()).copied().unwrap_or(false)
    }

    /// Step 2 for one record: why it is left out, if it is.
    pub fn dropped(&self, record: &Record) -> Option<Dropped> {
        if !record.enabled {
            return Some(Dropped::Disabled);
        }
        if let Some((scenario, inverse)) = record.cond
            && self.is_active(scenario) != inverse
        {
            return Some(if inverse { Dropped::CondInactive(scenario) } else { Dropped::CondActive(scenario) });
        }
        let value = |w: WatchedId| self.watched.get(w.index()).copied().unwrap_or_default();
        record.check.filter(|&w| value(w).is_false()).map(Dropped::CheckFalse)
    }

    fn keeps(&self, record: &Record) -> bool {
        self.dropped(record).is_none()
    }
}

// === impl Set ===

impl Set {
    /// The set a record belongs to.
    pub fn of(record: &Record) -> Set {
        record.dr_cond.map_or(Set::Primary, Set::Dr)
    }
}

// === impl Fallback ===

impl Fallback {
    /// The value of `on_empty` in the configuration.
    pub fn word(self) -> &'static str {
        match self {
            Fallback::ServeAll => "serve_all",
            Fallback::OtherSet => "other_set",
            Fallback::Static => "static",
            Fallback::LastGood => "last_good",
            Fallback::NoData => "nodata",
            Fallback::ServFail => "servfail",
        }
    }
}

#[cfg(test)]
mod tests;
