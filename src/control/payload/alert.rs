//! What a trigger tells of an alert: the members that a commit has too, so that a template fits both, and its own.

use serde_json::json;

use crate::model::Model;
use crate::model::alert::{AlertChange, AlertRecord};
use crate::model::delivery::{Delivery, DeliveryStatus, key};
use crate::model::id::Name;
use crate::model::scenario::Direction;

/// A delivery before the outbox has it.
pub fn of_alert(model: &Model, config_hash: &str, record: &AlertRecord, trigger: &Name, id: u64) -> Delivery {
    let (alert, appliance) = (&record.alert, &model.appliance.name);
    let number = alert.id.to_string();
    let word = match record.what {
        AlertChange::Raised => "raise".to_owned(),
        AlertChange::Resolved => "resolve".to_owned(),
        AlertChange::Repeated => format!("repeat-{}", alert.repeats),
    };
    let key = key([appliance, "alert", &number, &word, trigger]);
    let direction = match record.what {
        AlertChange::Resolved => Direction::Deactivate,
        AlertChange::Raised | AlertChange::Repeated => Direction::Activate,
    };
    let subject = &alert.subject;
    let scenario = if &*subject.object_kind == "scenario" { &*subject.object } else { "" };
    let own = model.alerts.iter().find(|a| a.name == alert.alert).map(|a| &*a.about).filter(|about| !about.is_empty());
    let about = own.or_else(|| model.scenario_id(scenario).map(|id| &*model.scenario(id).about)).unwrap_or("");
    let resolved_at = (record.what == AlertChange::Resolved).then(|| record.at.to_string());
    let payload = json!({
        "type": format!("alert.{}", record.what.word()), "id": key, "test": false, "appliance": appliance,
        "alert": alert.alert, "kind": subject.kind.word(), "object_kind": subject.object_kind,
        "object": subject.object, "part": subject.part, "severity": alert.severity.word(), "text": alert.text,
        "dedup_key": format!("{appliance}:alert:{number}"), "since": alert.since.to_string(),
        "raised_at": alert.raised_at.to_string(), "resolved_at": resolved_at, "repeats": alert.repeats,
        "why": record.why, "scenario": scenario, "about": about, "seq": alert.id, "direction": direction.word(),
        "evaluated_at": record.at.to_string(), "committed_at": record.at.to_string(), "cause": "alert",
        "actor": "system", "reason": null, "drill": false, "groups": [], "gate": null, "guard": null, "affected": [],
        "config_hash": config_hash, "config": null,
    });
    Delivery {
        id,
        key,
        trigger: Name::clone(trigger),
        scenario: "".into(),
        seq: alert.id,
        direction,
        alert: Some(Name::clone(&alert.alert)),
        test: false,
        since: record.at,
        payload: payload.to_string().into(),
        attempts: 0,
        last_error: None,
        tries: Default::default(),
        status: DeliveryStatus::Pending { next: record.at },
        changed: record.at,
    }
}
