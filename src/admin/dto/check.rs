//! Health checks: the operator's own, monitors bound to services, targets of data-centre access lists.

use super::{NoteDto, admin_word, forced_word, measured, text, up_down};
use crate::config::units::format_duration;
use crate::control::World;
use crate::model::check::{Origin, Probe};
use crate::model::event::Outcome;
use crate::model::id::{CheckId, Kind};
use crate::model::state::{PastSample, Percentiles, Sample, Slot};

dto! {
    /// A health check.
    pub struct CheckDto {
        /// `api-a`; of a monitor `SERVICE:MONITOR`; of a target `dc:NAME.wan#0`.
        pub name: String,
        /// Where it comes from: `check`, `monitor` or `target`.
        pub origin: String,
        /// `TCP`, `HTTP`, `HTTPS`, `PING`, …
        pub r#type: String,
        /// Where it probes; with several targets all of them; of a derived check the term that it looks at.
        pub target: Option<String>,
        /// The address that its probes leave from; null: as the system chooses.
        pub source: Option<String>,
        /// Targets that must pass; null where it has one.
        pub quorum: Option<u32>,
        /// Each of several targets with what it gave last; empty where it has one.
        pub targets: Vec<CheckTargetDto>,
        /// `up`, `down` or `unknown`; a force applied.
        pub state: String,
        /// The state without a force.
        pub real: String,
        /// `up`, `down`, or null where nobody forces it.
        pub forced: Option<String>,
        /// `ENABLED`, or `DISABLED`: neither probed nor counted (monitors only).
        pub admin: String,
        /// When the state was entered.
        pub since: String,
        /// Of the last sample.
        pub latency: Option<String>,
        /// When the last sample was taken.
        pub last_at: Option<String>,
        /// `pass`, `trofs` (passed and asks to be drained), `fail` or `void` (no evidence either way).
        pub last_result: Option<String>,
        /// What the last sample said.
        pub last_response: Option<String>,
        /// What went wrong with the last sample; null where it passed.
        pub last_error: Option<String>,
        /// Passed samples in a row.
        pub passes_in_row: u32,
        /// Failed samples in a row.
        pub fails_in_row: u32,
        /// Samples taken.
        pub samples_total: u64,
        /// Samples failed.
        pub failed_total: u64,
        /// Start to start.
        pub interval: String,
        /// A sample without an answer by then has failed.
        pub timeout: String,
        /// Passed samples in a row that bring it up.
        pub rise: u32,
        /// Failed samples in a row that take it down.
        pub fall: u32,
        /// The service that a monitor watches.
        pub service: Option<String>,
        /// The definition of a monitor.
        pub monitor: Option<String>,
        /// The data centre that a target belongs to.
        pub datacenter: Option<String>,
        /// Latencies of its last answers; null before the first.
        pub percentiles: Option<PercentilesDto>,
        /// The average time to an answer, where it is learned.
        pub average: Option<String>,
        /// How busy the server says it is (LOAD).
        pub load: Option<u32>,
        /// Who disabled it.
        pub disabled_by: Option<NoteDto>,
        /// Who forces it.
        pub forced_by: Option<NoteDto>,
    }

    /// Latencies of the last thousand answers or so; what was before counts ever less. An eighth too high at most.
    pub struct PercentilesDto {
        /// Answers that they are of.
        pub answers: u32,
        pub p50: String,
        pub p95: String,
        pub p99: String,
    }

    /// What a check gave lately.
    pub struct CheckHistoryDto {
        pub name: String,
        /// `up`, `down` or `unknown`; a force applied.
        pub state: String,
        pub percentiles: Option<PercentilesDto>,
        /// The last samples, at most 32, oldest first.
        pub items: Vec<PastSampleDto>,
    }

    /// A sample, as it counted.
    pub struct PastSampleDto {
        pub at: String,
        /// `pass`, `trofs`, `fail` or `void`.
        pub result: String,
        pub latency: String,
        /// What it said, or what went wrong.
        pub response: String,
    }

    /// One of several targets of a check.
    pub struct CheckTargetDto {
        pub target: String,
        /// `pass`, `trofs`, `fail` or `void`; null before the first sample.
        pub result: Option<String>,
        pub latency: Option<String>,
        /// What it said, or what went wrong.
        pub response: Option<String>,
    }
}

// === impl CheckDto ===

impl CheckDto {
    pub fn of(world: &World<'_>, id: CheckId) -> CheckDto {
        let check = world.model.check(id);
        let view = &world.view.checks[id.index()];
        let last = view.last.as_ref();
        let (origin, service, monitor, datacenter) = match &check.origin {
            Origin::User => ("check", None, None, None),
            Origin::Monitor { monitor, service } => (
                "monitor",
                Some(text(&world.model.service(*service).name)),
                Some(text(&world.model.monitors[monitor.index()].name)),
                None,
            ),
            Origin::Target { datacenter, .. } => {
                ("target", None, None, Some(text(&world.model.datacenters[datacenter.index()].name)))
            }
        };
        let source = check.probe.parts().first().and_then(Probe::target).and_then(|target| target.source);
        let quorum = match check.probe {
            Probe::Several { quorum, .. } => Some(quorum),
            _ => None,
        };
        CheckDto {
            name: text(&check.name),
            origin: origin.into(),
            r#type: text(check.word()),
            target: check.probe.place(),
            source: source.map(|ip| ip.to_string()),
            quorum,
            targets: CheckTargetDto::all(&check.probe, last),
            state: up_down(view.state),
            real: up_down(view.real),
            forced: forced_word(view.forced),
            admin: admin_word(!view.disabled),
            since: view.since.wall.to_string(),
            latency: last.map(|s| measured(s.latency)),
            last_at: last.map(|s| s.at.wall.to_string()),
            last_result: last.map(|s| text(outcome_word(s.outcome))),
            last_response: last.map(|s| text(&s.detail)),
            last_error: last.filter(|s| matches!(s.outcome, Outcome::Fail | Outcome::Void)).map(|s| text(&s.detail)),
            passes_in_row: view.passes_in_row,
            fails_in_row: view.fails_in_row,
            samples_total: view.samples_total,
            failed_total: view.failed_total,
            interval: format_duration(check.schedule.interval),
            timeout: format_duration(check.schedule.timeout),
            rise: check.schedule.rise,
            fall: check.schedule.fall,
            service,
            monitor,
            datacenter,
            percentiles: PercentilesDto::of(world, id),
            average: view.learned.map(measured),
            load: last.and_then(|s| s.load),
            disabled_by: NoteDto::find(world, Kind::Check, &check.name, Slot::Admin),
            forced_by: NoteDto::find(world, Kind::Check, &check.name, Slot::Force),
        }
    }
}

// === impl PercentilesDto ===

impl PercentilesDto {
    fn of(world: &World<'_>, id: CheckId) -> Option<PercentilesDto> {
        let Percentiles { answers, p50, p95, p99 } = world.view.histories[id.index()].percentiles()?;
        Some(PercentilesDto { answers, p50: measured(p50), p95: measured(p95), p99: measured(p99) })
    }
}

// === impl CheckHistoryDto ===

impl CheckHistoryDto {
    pub fn of(world: &World<'_>, id: CheckId) -> CheckHistoryDto {
        let one = |sample: &PastSample| PastSampleDto {
            at: sample.at.to_string(),
            result: text(outcome_word(sample.outcome)),
            latency: measured(sample.latency),
            response: text(&sample.detail),
        };
        CheckHistoryDto {
            name: text(&world.model.check(id).name),
            state: up_down(world.view.checks[id.index()].state),
            percentiles: PercentilesDto::of(world, id),
            items: world.view.histories[id.index()].recent().map(one).collect(),
        }
    }
}

// === impl CheckTargetDto ===

impl CheckTargetDto {
    fn all(probe: &Probe, last: Option<&Sample>) -> Vec<CheckTargetDto> {
        let Probe::Several { probes, .. } = probe else { return Vec::new() };
        let results = last.and_then(|sample| sample.targets.as_deref()).unwrap_or(&[]);
        let one = |(at, probe): (usize, &Probe)| {
            let result = results.get(at);
            CheckTargetDto {
                target: probe.place().unwrap_or_default(),
                result: result.map(|r| text(outcome_word(r.outcome))),
                latency: result.map(|r| measured(r.latency)),
                response: result.map(|r| text(&r.detail)),
            }
        };
        probes.iter().enumerate().map(one).collect()
    }
}

fn outcome_word(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "pass",
        Outcome::Trofs => "trofs",
        Outcome::Fail => "fail",
        Outcome::Void => "void",
    }
}
