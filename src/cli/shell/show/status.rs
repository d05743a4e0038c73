//! `show status`: the appliance as a whole.

use super::note_line;
use crate::admin::dto::StatusDto;

pub(in super::super) fn status(status: &StatusDto) -> String {
    let site = status.site.as_ref().map_or_else(String::new, |site| format!(" in {site}"));
    let stage = match (status.stopping, status.ready) {
        (true, _) => "STOPPING",
        (false, true) => "READY",
        (false, false) => "STARTING",
    };
    let mut out = format!("\tBascule {} on {}{site}\n", status.version, status.name);
    out += &format!("\tState: {stage}\tGeneration: {}\tRunning since {}\n", status.generation, status.started_at);
    let path = status.config.path.as_deref().unwrap_or("none");
    let unsaved = if status.config.unsaved { "\tUnsaved changes: `save config` writes them" } else { "" };
    out += &format!("\tConfiguration: {path}, loaded at {}{unsaved}\n", status.config.loaded_at);
    if let Some(why) = &status.not_durable {
        out += &format!("\tNot durable: {why}\n");
    }
    if status.clock.synced == Some(false) {
        out += "\tClock: not synchronised\n";
    }
    if let Some(drill) = &status.drill {
        let (id, scenario, state) = (drill.id, &drill.scenario, &drill.state);
        out += &format!("\tDrill: {id} of scenario {scenario} is {state}, planned until {}\n", drill.ends_at);
    }
    out += &section(
        "Problems",
        status.problems.iter().map(|p| {
            let forced = if p.hidden_by_force { " (hidden by a force)" } else { "" };
            format!("\t{}\t{} {}: {}{forced}\n", p.severity, p.kind, p.object, p.text)
        }),
    );
    out += &section(
        "Alerts",
        status.alerts.iter().map(|a| {
            format!("\t{}\t{}: {} {} since {}: {}\n", a.severity, a.alert, a.object_kind, a.object, a.since, a.text)
        }),
    );
    out += &section(
        "Draining",
        status.draining.iter().map(|d| {
            let left = d.drain.remaining.as_ref().map_or_else(String::new, |left| format!(", at most {left}"));
            format!("\t{}\t{} with {} open{left}\n", d.service, d.state, d.active)
        }),
    );
    out + &section(
        "Set by people",
        status.overrides.iter().map(|o| {
            let value = if o.slot == o.value { String::new() } else { format!(" {}", o.value) };
            let what = format!("{} {}: {}{value}", o.kind, o.object, o.slot);
            note_line(&what, &o.actor, &o.since, o.reason.as_deref(), o.expires.as_deref())
        }),
    )
}

/// Nothing where there is nothing to tell.
fn section(title: &str, lines: impl Iterator<Item = String>) -> String {
    let lines: String = lines.map(|line| format!("\t{line}")).collect();
    if lines.is_empty() { lines } else { format!("\n\t{title}:\n{lines}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn status_tells_what_is_wrong_and_what_people_did() {
        let shown: StatusDto = serde_json::from_value(serde_json::json!({
            "name": "box-b", "site": "dc-b", "version": "0.1.0", "started_at": "2026-11-29T22:50:17Z",
            "now": "2026-11-29T22:50:19Z", "ready": true, "stopping": false, "generation": 9,
            "config": {
                "hash": "1", "saved_hash": "2", "unsaved": true, "path": "box.toml",
                "loaded_at": "2026-11-29T22:50:17Z", "warnings": [], "set": [],
            },
            "overrides": [{
                "kind": "service", "object": "web1", "slot": "admin", "value": "DISABLED", "actor": "uid:0",
                "since": "2026-11-29T22:50:18Z", "reason": "patch", "expires": null, "deadline": null,
                "probe_disagrees": false,
            }],
            "draining": [],
            "alerts": [{
                "id": 9, "alert": "pager", "kind": "vserver.down", "object_kind": "vserver", "object": "db", "part": "",
                "severity": "error", "text": "down, and it has no backup", "since": "2026-11-29T22:50:18Z",
                "raised_at": "2026-11-29T22:50:18Z", "repeats": 0, "told_at": "2026-11-29T22:50:18Z", "triggers": [],
            }],
            "clock": { "now": "2026-11-29T22:50:19Z", "synced": null, "offset": null },
            "verdict": { "text": "1 thing is wrong.", "because": "", "severity": "error", "next": null },
            "lab": false, "faults": [], "peers": [], "peer_listen": null,
            "problems": [{
                "severity": "error", "kind": "vserver", "object": "db", "since": null,
                "text": "down, and it has no backup", "href": "", "hidden_by_force": false,
            }],
            "not_durable": null, "late_samples_total": 0, "journal_entries": 3,
        }))
        .unwrap();
        assert_eq!(
            status(&shown),
            "\tBascule 0.1.0 on box-b in dc-b\n\
             \tState: READY\tGeneration: 9\tRunning since 2026-11-29T22:50:17Z\n\
             \tConfiguration: box.toml, loaded at 2026-11-29T22:50:17Z\tUnsaved changes: `save config` writes them\n\
             \n\tProblems:\n\t\terror\tvserver db: down, and it has no backup\n\
             \n\tAlerts:\n\t\terror\tpager: vserver db since 2026-11-29T22:50:18Z: down, and it has no backup\n\
             \n\tSet by people:\n\t\tservice web1: admin DISABLED by uid:0 at 2026-11-29T22:50:18Z: patch\n"
        );
    }
}
