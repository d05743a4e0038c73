//! Alerts that stand: NetScaler has none, so they follow its manner.

use crate::admin::dto::AlertDto;

pub(in super::super) fn alert(alert: &AlertDto) -> String {
    let part = if alert.part.is_empty() { String::new() } else { format!(" ({})", alert.part) };
    let mut out = format!("{}: {} {} {}{part}\n", alert.alert, alert.kind, alert.object_kind, alert.object);
    out += &format!("\tSeverity: {}\tId: {}\n", alert.severity.to_uppercase(), alert.id);
    out += &format!("\t{}\n", alert.text);
    out += &format!("\tSince: {}\tRaised: {}\n", alert.since, alert.raised_at);
    if alert.repeats > 0 {
        out += &format!("\tTold Again: {} times, last at {}\n", alert.repeats, alert.told_at);
    }
    for trigger in &alert.triggers {
        let status = trigger.status.as_deref().map_or_else(|| "NO LONGER KEPT".to_owned(), str::to_uppercase);
        let error = trigger.last_error.as_deref().map(|error| format!("\tLast Error: {error}")).unwrap_or_default();
        out += &format!("\tTrigger: {}\tStatus: {status}\tAttempts: {}{error}\n", trigger.name, trigger.attempts);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alert_tells_what_is_wrong_since_when_and_who_knows() {
        let shown: AlertDto = serde_json::from_value(serde_json::json!({
            "id": 1_800_000_000_000_000_u64, "alert": "pager", "kind": "service.down", "object_kind": "service",
            "object": "web1", "part": "", "severity": "warning", "text": "down: connection refused",
            "since": "2026-11-29T22:50:17.000Z", "raised_at": "2026-11-29T22:51:17.000Z", "repeats": 0,
            "told_at": "2026-11-29T22:51:17.000Z",
            "triggers": [{ "name": "noc", "status": "pending", "attempts": 2, "last_error": "503" }],
        }))
        .unwrap();
        assert_eq!(
            alert(&shown),
            "pager: service.down service web1\n\
             \tSeverity: WARNING\tId: 1800000000000000\n\
             \tdown: connection refused\n\
             \tSince: 2026-11-29T22:50:17.000Z\tRaised: 2026-11-29T22:51:17.000Z\n\
             \tTrigger: noc\tStatus: PENDING\tAttempts: 2\tLast Error: 503\n"
        );
    }
}
