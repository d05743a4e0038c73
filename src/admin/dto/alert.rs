//! Alerts that stand.

use super::text;
use crate::model::alert::RaisedAlert;
use crate::model::delivery::DeliveryBook;

dto! {
    /// An alert that stands.
    pub struct AlertDto {
        /// Strictly increasing; part of the keys of its deliveries.
        pub id: u64,
        /// Name of its definition.
        pub alert: String,
        /// As in `on` of the configuration: `service.down`, `guard.refused`, `certificate`, …
        pub kind: String,
        /// `service`, `vserver`, `scenario`, `datacenter_pair`, `rrset`, `trigger`, `certificate`, `switch`, … `appliance`.
        pub object_kind: String,
        /// Name of the object.
        pub object: String,
        /// Of an override: what of the object (`admin`, `force`, …); empty otherwise.
        pub part: String,
        /// `error`, `warning` or `info`.
        pub severity: String,
        pub text: String,
        /// Since when it is so, as far as it is known.
        pub since: String,
        pub raised_at: String,
        /// How often it was told again.
        pub repeats: u32,
        pub told_at: String,
        /// Who was told, and how far that is.
        pub triggers: Vec<AlertTriggerDto>,
    }

    /// A trigger that was told of an alert.
    pub struct AlertTriggerDto {
        pub name: String,
        /// Of the newest delivery: `pending`, `delivered` or `dead`; null where it is no longer kept.
        pub status: Option<String>,
        pub attempts: u32,
        pub last_error: Option<String>,
    }
}

// === impl AlertDto ===

impl AlertDto {
    pub fn of(alert: &RaisedAlert, deliveries: &DeliveryBook) -> AlertDto {
        let told = |name: &crate::model::id::Name| {
            let newest = deliveries.of_alert(alert.id, name);
            AlertTriggerDto {
                name: text(name),
                status: newest.map(|d| text(d.status.word())),
                attempts: newest.map_or(0, |d| d.attempts),
                last_error: newest.and_then(|d| d.last_error.as_deref()).map(text),
            }
        };
        AlertDto {
            id: alert.id,
            alert: text(&alert.alert),
            kind: alert.subject.kind.word().into(),
            object_kind: text(&alert.subject.object_kind),
            object: text(&alert.subject.object),
            part: text(&alert.subject.part),
            severity: alert.severity.word().into(),
            text: text(&alert.text),
            since: alert.since.to_string(),
            raised_at: alert.raised_at.to_string(),
            repeats: alert.repeats,
            told_at: alert.told_at.to_string(),
            triggers: alert.triggers.iter().map(told).collect(),
        }
    }
}
