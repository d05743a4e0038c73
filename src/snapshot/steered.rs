//! A steered RRset as it stands, record by record: for `explain`, the dashboard and the API.

use super::Snapshot;
use crate::balance::records::{self, Dropped, Fallback, Set, Source};
use crate::model::id::{Name, ScenarioId};
use crate::model::zone::Record;

/// Steps 1 to 3 of the record rules for one RRset, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SteeredView {
    /// Step 1: the base set.
    pub base: Set,
    /// Step 3: what `on_empty` chose; `None`: the filter left something.
    pub fallback: Option<Fallback>,
    pub source: Source,
    /// In the order of the configuration.
    pub records: Vec<RecordView>,
}

/// One record: whether it may be answered now, and which step decided that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordView {
    /// In the set that is served; the selection may still leave it out of one answer.
    pub served: bool,
    /// `base_set`, `filter` or `on_empty`.
    pub step: &'static str,
    /// A sentence without a final stop.
    pub because: String,
    /// The scenario that decided, if one did.
    pub scenario: Option<ScenarioId>,
}

// === impl Snapshot ===

impl Snapshot {
    /// How a steered RRset stands; positions in `model.zones` and `Zone::rrsets`.
    pub fn steered(&self, zone: usize, rrset: usize) -> SteeredView {
        let mut chosen = Vec::new();
        let decision = self.decide(zone, rrset, &mut chosen);
        let records = &self.model.zones[zone].rrsets[rrset].records;
        let view = |(at, record): (u32, &Record)| self.record_view(record, &decision, chosen.contains(&at));
        SteeredView {
            base: decision.base,
            fallback: decision.fallback,
            source: decision.source,
            records: (0u32..).zip(records).map(view).collect(),
        }
    }

    /// What decides about a steered RRset in short: the scenario whose DR set is the base, and what `on_empty` chose where
    /// the filter left nothing. `chosen` is overwritten with the positions of the records served.
    pub fn standing_of(
        &self,
        zone: usize,
        rrset: usize,
        chosen: &mut Vec<u32>,
    ) -> (Option<ScenarioId>, Option<&'static str>) {
        let decision = self.decide(zone, rrset, chosen);
        let dr = match decision.base {
            Set::Primary => None,
            Set::Dr(scenario) => Some(scenario),
        };
        (dr, decision.fallback.map(Fallback::word))
    }

    /// `the primary set` or `the DR set of NAME`.
    pub fn set_name(&self, set: Set) -> String {
        match set {
            Set::Primary => "the primary set".into(),
            Set::Dr(scenario) => format!("the DR set of {}", self.scenario_name(scenario)),
        }
    }

    /// Why step 2 leaves a record out.
    pub fn dropped_because(&self, dropped: Dropped) -> String {
        match dropped {
            Dropped::Disabled => "enabled = false".into(),
            Dropped::CondActive(scenario) => format!("cond: scenario {} is active", self.scenario_name(scenario)),
            Dropped::CondInactive(scenario) => format!("cond: scenario {} is inactive", self.scenario_name(scenario)),
            Dropped::CheckFalse(term) => format!("check: {} is false", self.model.watched_term(term).text),
        }
    }

    fn record_view(&self, record: &Record, decision: &records::Decision, served: bool) -> RecordView {
        let set = Set::of(record);
        let dropped = self.steering().dropped(record);
        let by_set = match set {
            Set::Dr(scenario) => Some(scenario),
            Set::Primary => None,
        };
        let view = |step, because, scenario| RecordView { served, step, because, scenario };
        match (decision.fallback, dropped) {
            (_, Some(dropped @ Dropped::Disabled)) => view("filter", self.dropped_because(dropped), None),
            (Some(fallback), _) if served => view("on_empty", format!("on_empty = {}", fallback.word()), by_set),
            _ if set != decision.base => {
                let because = match by_set {
                    Some(s) if !self.steering().is_active(s) => {
                        format!("drCond: scenario {} is inactive", self.scenario_name(s))
                    }
                    _ => format!("{} is served instead", self.set_name(decision.base)),
                };
                let other = match decision.base {
                    Set::Dr(scenario) => Some(scenario),
                    Set::Primary => None,
                };
                view("base_set", because, by_set.or(other))
            }
            (_, Some(dropped)) => {
                let scenario = match dropped {
                    Dropped::CondActive(scenario) | Dropped::CondInactive(scenario) => Some(scenario),
                    Dropped::CheckFalse(_) | Dropped::Disabled => None,
                };
                view("filter", self.dropped_because(dropped), scenario)
            }
            (_, None) => view("base_set", format!("it is in {}", self.set_name(decision.base)), by_set),
        }
    }

    fn scenario_name(&self, scenario: ScenarioId) -> Name {
        self.model.scenario(scenario).name.clone()
    }
}
