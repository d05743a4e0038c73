//! Health checks: the operator's own, monitors bound to services, targets of data-centre access lists.

use super::{NoteDto, admin_word, forced_word, measured, text, up_down};
use crate::config::units::format_duration;
use crate::control::World;
use crate::model::check::Origin;
use crate::model::event::Outcome;
use crate::model::id::{CheckId, Kind};
use crate::model::state::Slot;

dto! {
    /// A health check.
    pub struct CheckDto {
        /// `api-a`; of a monitor `SERVICE:MONITOR`; of a target `dc:NAME.wan#0`.
        pub name: String,
        /// Where it comes from: `check`, `monitor` or `target`.
        pub origin: String,
        /// `TCP`, `HTTP`, `HTTPS`, `PING`, …
        pub r#type: String,
        /// Where it probes.
        pub target: Option<String>,
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
        /// The average time to an answer, where it is learned.
        pub average: Option<String>,
        /// How busy the server says it is (LOAD).
        pub load: Option<u32>,
        /// Who disabled it.
        pub disabled_by: Option<NoteDto>,
        /// Who forces it.
        pub forced_by: Option<NoteDto>,
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
        CheckDto {
            name: text(&check.name),
            origin: origin.into(),
            r#type: text(check.probe.word()),
            target: check.probe.target().map(|t| t.to_string()),
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
            average: view.learned.map(measured),
            load: last.and_then(|s| s.load),
            disabled_by: NoteDto::find(world, Kind::Check, &check.name, Slot::Admin),
            forced_by: NoteDto::find(world, Kind::Check, &check.name, Slot::Force),
        }
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
