//! Records as log lines. Faults are warnings; what people and scenarios do is information; rows of the board are for
//! debugging, and single samples are not logged at all.

use crate::machine::Engine;
use crate::model::alert::{AlertChange, AlertSeverity};
use crate::model::event::Record;
use crate::model::id::{Kind, ObjectRef};

pub(super) fn write(record: &Record, engine: &Engine) {
    match record {
        Record::Transition(t) => {
            let (seq, cause, actor) = (t.seq, t.cause_text(), &*t.actor);
            let (group, reason) = (t.cause.group().map(|g| &**g), t.reason.as_deref());
            let guard = t.guard.as_ref().map(|g| &*g.outcome);
            let (scenario, did) = (&t.scenario, t.direction.participle());
            let drill = t.drill;
            tracing::info!(seq, cause, group, guard, actor, reason, drill, "scenario {scenario} {did}");
        }
        Record::Act { object, act, change } => {
            let (actor, reason) = (&*act.actor, act.reason.as_deref());
            let expires = act.expires.map(tracing::field::display);
            tracing::info!(actor, reason, expires, "{object}: {change}");
        }
        Record::Ended { object, what, why } => tracing::info!("{object}: {what} ended, {why}"),
        Record::State { object, from, to, cause, .. } => {
            let cause = &**cause;
            if object.kind == Kind::Peer {
                match &**to {
                    "heard" => tracing::info!("{object}: heard"),
                    _ => tracing::warn!(cause, "{object}: unknown"),
                }
            } else if to.ends_with("DOWN") {
                tracing::warn!(cause, why = failure(engine, object), "{object} {from} -> {to}");
            } else {
                tracing::info!(cause, "{object} {from} -> {to}");
            }
        }
        Record::Board(row) => tracing::debug!("row {} is {}", row.row, row.value.word()),
        Record::Attempt { scenario, direction, attempt, outcome, detail } => {
            let direction = direction.word();
            tracing::info!(attempt, %detail, "scenario {scenario}: guard to {direction} {outcome}");
        }
        Record::Delivery(d) => {
            let (id, attempts, error, key) = (d.id, d.attempts, d.error.as_deref(), &*d.key);
            match &*d.status {
                "delivered" => tracing::info!(id, attempts, key, "trigger {} delivered", d.trigger),
                "dead" => tracing::error!(id, attempts, error, key, "trigger {} is given up", d.trigger),
                _ => tracing::warn!(id, attempts, error, key, "trigger {} failed, and is tried again", d.trigger),
            }
        }
        Record::Alert(a) => {
            let (alert, object) = (&a.alert, &a.alert.subject);
            let (id, kind, since) = (alert.id, object.kind.word(), tracing::field::display(alert.since));
            let (name, text, why) = (&alert.alert, &alert.text, &a.why);
            match (a.what, alert.severity) {
                (AlertChange::Resolved, _) => tracing::info!(id, kind, "alert {name} resolved: {object}: {why}"),
                (_, AlertSeverity::Error) => tracing::error!(id, kind, since, "alert {name}: {object}: {text}"),
                (_, AlertSeverity::Warning) => tracing::warn!(id, kind, since, "alert {name}: {object}: {text}"),
                (_, AlertSeverity::Info) => tracing::info!(id, kind, since, "alert {name}: {object}: {text}"),
            }
        }
        Record::Drill(drill) => {
            let why = drill.ending.as_ref().map(crate::model::drill::Ending::text);
            tracing::info!(why, "drill {} of scenario {} {}", drill.id, drill.scenario, drill.phase.word());
        }
        Record::Address { address, what, detail, .. } => match &**what {
            "present" => tracing::info!("address {address}: {detail}"),
            "waiting" => tracing::warn!("address {address}: {detail}"),
            _ => tracing::error!("address {address} {what}: {detail}"),
        },
        // The data plane has said so.
        Record::Ejected { .. } | Record::Zone { .. } => {}
        Record::Warning { object, text } => tracing::warn!("{object}: {text}"),
    }
}

/// What the monitors of a service that is down got last.
fn failure<'a>(engine: &'a Engine, object: &ObjectRef) -> Option<&'a str> {
    let service = (object.kind == Kind::Service).then(|| engine.model().service_id(&object.name))??;
    let monitors = &engine.model().service(service).monitors;
    let down = monitors.iter().map(|m| &engine.view().checks[m.check.index()]).find(|check| check.state.is_false())?;
    down.last.as_ref().map(|sample| &*sample.detail)
}
