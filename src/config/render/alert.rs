//! Alerts.

use super::text::{Text, Value};
use crate::config::units::format_duration;
use crate::model::Model;
use crate::model::alert::{Alert, AlertKind, Watch};

pub(super) fn alerts(out: &mut Text, model: &Model) {
    for alert in &model.alerts {
        self::alert(out, model, alert);
    }
}

fn alert(out: &mut Text, model: &Model, alert: &Alert) {
    out.table(&["alert", &alert.name]);
    if !alert.about.is_empty() {
        out.key("about", Value::str(&alert.about));
    }
    out.key("on", Value::strs(alert.on.iter().map(watch)));
    for (key, patterns) in
        [("services", &alert.services), ("vservers", &alert.vservers), ("scenarios", &alert.scenarios)]
    {
        out.maybe(key, (!patterns.is_empty()).then(|| Value::strs(patterns)));
    }
    out.key("triggers", Value::strs(alert.triggers.iter().map(|id| &model.triggers[id.index()].name)));
    out.maybe("repeat", alert.repeat.map(Value::duration));
}

/// With its own time, so that `for` need not be said.
fn watch(watch: &Watch) -> String {
    let (word, time) = (watch.kind.word(), format_duration(watch.time));
    match watch.kind {
        AlertKind::Certificate => format!("{word}<{time}"),
        _ if watch.time.is_zero() => word.to_owned(),
        _ => format!("{word}>{time}"),
    }
}
