//! Probes of a service in short: what each monitor heard last.

use super::super::{measured, text, up_down};
use crate::control::World;
use crate::model::event::Outcome;
use crate::model::id::ServiceId;

dto! {
    /// What a monitor of a service heard last.
    pub struct ProbeDto {
        pub monitor: String,
        /// `up`, `down`, `unknown`.
        pub state: String,
        /// When the last sample was taken.
        pub last_at: Option<String>,
        /// Of the last sample.
        pub latency: Option<String>,
        /// What the last sample said.
        pub answer: Option<String>,
        /// What went wrong with it; null where it passed.
        pub last_error: Option<String>,
        /// Failed samples in a row.
        pub failed_in_row: u32,
    }
}

// === impl ProbeDto ===

impl ProbeDto {
    pub(super) fn all(world: &World<'_>, id: ServiceId) -> Vec<ProbeDto> {
        let bindings = world.model.service(id).monitors.iter();
        let shown = bindings.map(|binding| {
            let view = &world.view.checks[binding.check.index()];
            let last = view.last.as_ref();
            let failed = last.filter(|sample| matches!(sample.outcome, Outcome::Fail | Outcome::Void));
            ProbeDto {
                monitor: text(&world.model.monitors[binding.monitor.index()].name),
                state: up_down(view.state),
                last_at: last.map(|sample| sample.at.wall.to_string()),
                latency: last.map(|sample| measured(sample.latency)),
                answer: last.map(|sample| text(&sample.detail)),
                last_error: failed.map(|sample| text(&sample.detail)),
                failed_in_row: view.fails_in_row,
            }
        });
        shown.collect()
    }
}
