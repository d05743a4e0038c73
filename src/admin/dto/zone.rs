//! Zones and their steered RRsets.

use std::collections::BTreeMap;

use super::{ZoneTransferDto, text};
use crate::config::units::format_duration;
use crate::control::World;
use crate::model::id::ScenarioId;
use crate::model::zone::{OnEmpty, Record, SelectMethod};
use crate::snapshot::steered::RecordView;

dto! {
    /// A zone.
    pub struct ZoneDto {
        pub name: String,
        /// Of records that say none.
        pub ttl: String,
        pub serial: u32,
        /// Records that no scenario steers, the SOA included.
        pub static_records: u32,
        /// Where the zone is signed: the DS records that its parent is to have, as lines of the parent's zone.
        pub ds: Vec<String>,
        /// Where it comes from primaries; null where it comes from the configuration.
        pub transfer: Option<ZoneTransferDto>,
        pub rrsets: Vec<RrsetDto>,
    }

    /// A steered RRset.
    pub struct RrsetDto {
        /// Its key in the configuration: `www A`.
        pub name: String,
        /// Absolute: `www.example.test.`
        pub owner: String,
        pub r#type: String,
        /// Of answers now, in seconds: `degraded_ttl` where `ttl_because` says why, else the usual one.
        pub ttl: u32,
        /// The TTL of answers that are not the usual ones or may change soon; null: it stays the same.
        pub degraded_ttl: Option<u32>,
        /// Why the TTL is the shorter one; null while it is the usual one.
        pub ttl_because: Option<String>,
        /// When what is answered became this set; null: it has been since the start.
        pub since: Option<String>,
        /// When caches may have let go of what was answered before, by the TTLs that were really given out; null: they
        /// hold nothing else.
        pub caches_over_at: Option<String>,
        /// `serve_all`, `other_set`, `static`, `last_good`, `nodata` or `servfail`.
        pub on_empty: String,
        /// `ordered`, `weighted`, `round_robin` or `hash`.
        pub select: String,
        /// How many records an answer holds; null: all.
        pub answers_max: Option<u32>,
        /// In the order of the configuration.
        pub records: Vec<RecordDto>,
        pub datacenter: Option<String>,
        /// Which set is the base: `the primary set`, `the DR set of NAME`.
        pub set: String,
        /// What `on_empty` made of an empty base set; null while it is not empty.
        pub fallback: Option<String>,
        /// Whether records of the client's own data centre come first.
        pub topology: bool,
        /// Whether records for the client's region come first.
        pub geo: bool,
        /// Every record is left out, and all are answered as they are.
        pub fail_open: bool,
        /// Answers per minute, over the last 14 s.
        pub queries_per_min: u64,
        /// How many answers were made of what since the start, by `primary`, `dr`, or the value of `on_empty` that chose.
        pub by_set: BTreeMap<String, u64>,
        /// How many answers were made of what since the start; what was never served is left out.
        pub served: Vec<ServedDto>,
        /// What a query is answered now; the selection may leave some of it out of one answer.
        pub answers: Vec<AnswerDto>,
    }

    /// Answers by what was served.
    pub struct ServedDto {
        /// `primary`, `dr`, or the value of `on_empty` that chose.
        pub set: String,
        pub total: u64,
    }

    /// A record of a steered RRset.
    pub struct RecordDto {
        /// As configured.
        pub data: String,
        /// Left out while this scenario is active; `S!`: while it is inactive.
        pub cond: Option<String>,
        /// Member of the DR set of this scenario.
        pub drCond: Option<String>,
        /// A term; false leaves the record out.
        pub check: Option<String>,
        /// The value of `check` now: `true`, `false` or `unknown`.
        pub check_value: Option<String>,
        pub enabled: bool,
        pub weight: u32,
        pub datacenter: Option<String>,
        /// Regions that it is for: `continent:EU`, `country:TR`, `subdivision:TR-34`.
        pub geo: Vec<String>,
        /// Whether it is answered now.
        pub served: bool,
        /// The step that decided: `base_set`, `filter` or `on_empty`.
        pub step: String,
        pub because: String,
        /// The scenario that decided.
        pub scenario: Option<String>,
    }

    /// A record that is answered now.
    pub struct AnswerDto {
        pub data: String,
        pub datacenter: Option<String>,
        /// Always true here; what is left out stands in `records`.
        pub r#in: bool,
        /// The step that decided: `base_set`, `filter` or `on_empty`.
        pub step: String,
        pub because: String,
        /// The scenario that decided.
        pub scenario: Option<String>,
    }
}

// === impl ZoneDto ===

impl ZoneDto {
    /// The zone at this place of the model.
    pub fn of(world: &World<'_>, at: usize) -> ZoneDto {
        let zone = &world.model.zones[at];
        ZoneDto {
            name: text(&zone.name),
            ttl: format_duration(zone.ttl),
            serial: world.snapshot.serial(at),
            static_records: world.snapshot.zones.zone(at).fixed_records() as u32,
            ds: world.snapshot.zones.zone(at).signer.as_ref().map(|signer| signer.ds()).unwrap_or_default(),
            transfer: ZoneTransferDto::of(world, at),
            rrsets: (0..zone.rrsets.len()).map(|rrset| RrsetDto::of(world, at, rrset)).collect(),
        }
    }
}

// === impl RrsetDto ===

impl RrsetDto {
    fn of(world: &World<'_>, zone: usize, at: usize) -> RrsetDto {
        let rrset = &world.model.zones[zone].rrsets[at];
        let steered = world.snapshot.steered(zone, at);
        let kept = world.snapshot.caching.of(zone, at);
        let live = world.snapshot.zone_live[zone].rrset(&rrset.key);
        let records: Vec<RecordDto> = rrset
            .records
            .iter()
            .zip(&steered.records)
            .map(|(record, view)| RecordDto::of(world, record, view))
            .collect();
        let answers = match &rrset.on_empty {
            OnEmpty::Static(data) if !records.iter().any(|r| r.served) => {
                data.iter().map(|d| AnswerDto::fixed(&d.data)).collect()
            }
            _ => records.iter().filter(|r| r.served).map(AnswerDto::of).collect(),
        };
        RrsetDto {
            name: text(&rrset.key),
            owner: rrset.owner.to_string(),
            r#type: rrset.rtype.to_string(),
            ttl: kept.ttl,
            degraded_ttl: rrset.degraded_ttl,
            ttl_because: kept.shortened.map(|why| world.snapshot.shortened_because(why)),
            since: kept.changed_at.map(|at| at.to_string()),
            caches_over_at: kept.caches_over_at(world.now.wall).map(|at| at.to_string()),
            on_empty: on_empty_word(&rrset.on_empty).into(),
            select: select_word(rrset.select.method).into(),
            answers_max: rrset.select.answers,
            records,
            datacenter: rrset.datacenter.as_deref().map(text),
            set: world.snapshot.set_name(steered.base),
            fail_open: steered.fallback.is_some_and(|fallback| fallback.word() == "serve_all"),
            queries_per_min: live.per_minute(world.now.tick),
            by_set: live.totals().filter(|(_, total)| *total > 0).map(|(set, total)| (text(set), total)).collect(),
            topology: rrset.select.topology,
            geo: rrset.select.geo,
            served: live
                .totals()
                .filter(|(_, total)| *total > 0)
                .map(|(set, total)| ServedDto { set: text(set), total })
                .collect(),
            fallback: steered.fallback.map(|f| text(f.word())),
            answers,
        }
    }
}

// === impl AnswerDto ===

impl AnswerDto {
    fn of(record: &RecordDto) -> AnswerDto {
        AnswerDto {
            data: record.data.clone(),
            datacenter: record.datacenter.clone(),
            r#in: true,
            step: record.step.clone(),
            because: record.because.clone(),
            scenario: record.scenario.clone(),
        }
    }

    /// What `on_empty` has instead of records.
    fn fixed(data: &str) -> AnswerDto {
        let because = "on_empty = static".into();
        AnswerDto { data: text(data), datacenter: None, r#in: true, step: "on_empty".into(), because, scenario: None }
    }
}

fn on_empty_word(on_empty: &OnEmpty) -> &'static str {
    match on_empty {
        OnEmpty::ServeAll => "serve_all",
        OnEmpty::OtherSet => "other_set",
        OnEmpty::Static(_) => "static",
        OnEmpty::LastGood => "last_good",
        OnEmpty::NoData => "nodata",
        OnEmpty::ServFail => "servfail",
    }
}

fn select_word(method: SelectMethod) -> &'static str {
    match method {
        SelectMethod::Ordered => "ordered",
        SelectMethod::Weighted => "weighted",
        SelectMethod::RoundRobin => "round_robin",
        SelectMethod::Hash => "hash",
    }
}

// === impl RecordDto ===

impl RecordDto {
    fn of(world: &World<'_>, record: &Record, view: &RecordView) -> RecordDto {
        let scenario = |id: ScenarioId| text(&world.model.scenario(id).name);
        RecordDto {
            data: text(&record.data),
            cond: record.cond.map(|(id, inverse)| scenario(id) + if inverse { "!" } else { "" }),
            drCond: record.dr_cond.map(scenario),
            check: record.check.map(|id| text(&world.model.watched_term(id).text)),
            check_value: record.check.map(|id| text(world.view.watched[id.index()].word())),
            enabled: record.enabled,
            weight: record.weight,
            datacenter: record.datacenter.as_deref().map(text),
            geo: record.geo.iter().map(ToString::to_string).collect(),
            served: view.served,
            step: text(view.step),
            because: view.because.clone(),
            scenario: view.scenario.map(scenario),
        }
    }
}
