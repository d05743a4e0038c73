//! Records as log lines.

use crate::model::event::Record;

pub(super) fn write(record: &Record) {
    match record {
        Record::Transition(t) => tracing::info!(
            scenario = %t.scenario, seq = t.seq, direction = t.direction.word(), cause = t.cause.word(),
            group = t.cause.group().map_or("", |g| &**g), actor = %t.actor, "scenario transition"
        ),
        Record::Act { object, act, change } => {
            tracing::info!(%object, actor = %act.actor, reason = act.reason.as_deref(), ?change, "act");
        }
        Record::Ended { object, what, why } => tracing::info!(%object, %what, %why, "ended"),
        Record::State { object, from, to, cause, .. } => tracing::info!(%object, %from, %to, %cause, "state"),
        Record::Board(row) => tracing::debug!(row = %row.row, value = row.value.word(), "board"),
        Record::Attempt { scenario, direction, attempt, outcome, detail } => {
            tracing::info!(%scenario, direction = direction.word(), attempt, %outcome, %detail, "guard attempt");
        }
        Record::Warning { object, text } => tracing::warn!(%object, "{text}"),
    }
}
