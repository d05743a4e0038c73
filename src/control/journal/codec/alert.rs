//! Alerts as JSON, and back: as the journal tells of them, and as they are saved while they stand.

use serde_json::{Value, json};

use super::{Reader, Unreadable, wall_text};
use crate::model::alert::{AlertChange, AlertKind, AlertRecord, AlertSeverity, AlertSubject, RaisedAlert};

pub fn encode_alert(alert: &RaisedAlert) -> Value {
    let subject = &alert.subject;
    json!({
        "id": alert.id, "alert": alert.alert, "kind": subject.kind.word(), "object_kind": subject.object_kind,
        "object": subject.object, "part": subject.part, "severity": alert.severity.word(), "text": alert.text,
        "since": wall_text(alert.since), "raised_at": wall_text(alert.raised_at), "repeats": alert.repeats,
        "told_at": wall_text(alert.told_at), "triggers": alert.triggers,
    })
}

pub fn decode_alert(value: &Value) -> Result<RaisedAlert, Unreadable> {
    let v = Reader { value };
    let trigger = |value: &Value| value.as_str().map(Into::into).ok_or_else(|| "a trigger is not a text".to_owned());
    Ok(RaisedAlert {
        id: v.u64("id")?,
        alert: v.name("alert")?,
        subject: AlertSubject {
            kind: v.word("kind", AlertKind::parse)?,
            object_kind: v.name("object_kind")?,
            object: v.name("object")?,
            part: v.name("part")?,
        },
        severity: v.word("severity", AlertSeverity::parse)?,
        text: v.name("text")?,
        since: v.wall("since")?,
        raised_at: v.wall("raised_at")?,
        repeats: v.u32("repeats")?,
        told_at: v.wall("told_at")?,
        triggers: v.list("triggers", trigger)?,
    })
}

pub fn encode_record(record: &AlertRecord) -> Value {
    let mut value = encode_alert(&record.alert);
    value["what"] = record.what.word().into();
    value["at"] = wall_text(record.at).into();
    value["why"] = (*record.why).into();
    value
}

pub fn decode_record(value: &Value) -> Result<AlertRecord, Unreadable> {
    let v = Reader { value };
    Ok(AlertRecord {
        what: v.word("what", AlertChange::parse)?,
        alert: decode_alert(value)?,
        at: v.wall("at")?,
        why: v.name("why")?,
    })
}
