//! What `show` and `stat` print: NetScaler's wording for what NetScaler has, and the same manner for the rest.

mod alerts;
mod certificate;
mod check;
mod group;
mod gtm;
mod monitor;
mod names;
mod ns;
mod outbox;
mod past;
mod peer;
mod rule;
mod statistics;
mod status;

use std::time::Duration;

use crate::admin::dto::{DrainDto, ServerDto, ServiceDto, VserverDto};
use monitor::monitor_lines;

pub(super) use alerts::alert;
pub(super) use certificate::certificate;
pub(super) use check::{check, check_history};
pub(super) use group::group;
pub(super) use gtm::{datacenter, scenario, switch, zone};
pub(super) use monitor::lb_monitor;
pub(super) use ns::ns_statistics;
pub(super) use outbox::{delivery, query, trigger};
pub(super) use past::past;
pub(super) use peer::{pair, peer};
pub(super) use rule::{rule, rule_statistics};
pub(super) use statistics::{
    check_statistics, connections, group_statistics, persistence, server_statistics, service_statistics,
    statistics_of_one, vserver_statistics,
};
pub(super) use status::status;

/// Each item numbered, or the one asked for without a number.
pub(super) fn list<T>(items: &[T], whole: bool, show: impl Fn(&T) -> String) -> String {
    if whole {
        return items.iter().map(|item| format!("\t{}", show(item))).collect();
    }
    items.iter().enumerate().map(|(at, item)| format!("{})\t{}", at + 1, show(item))).collect()
}

pub(super) fn service(service: &ServiceDto, now: &str, whole: bool) -> String {
    let mut out = format!("{} ({}) - {}\n", service.name, service.address, service.r#type);
    out += &format!("\tState: {}\n", state_line(&service.state, service.drain.as_ref(), service.active));
    out += &persistent_lines(service.drain.as_ref());
    out += &since_lines(&service.since, now);
    if !whole {
        return out;
    }
    if let Some(server) = &service.server {
        out += &format!("\tServer Name: {server}\n");
    }
    if let Some(group) = &service.group {
        out += &format!("\tService Group: {group}\n");
    }
    out += &format!("\tAdmin State: {}\tMax Conn: {}\tActive: {}\n", service.admin, service.max_client, service.active);
    if let Some(forced) = &service.forced {
        out += &format!("\tForced: {}\tWithout the force: {}\n", forced.to_uppercase(), long_word(&service.real));
    }
    if let (Some(passive), Some(left)) = (&service.passive, &service.ejected_for) {
        let why = service.ejected_because.as_deref().map(|why| format!(" ({why})")).unwrap_or_default();
        out += &format!(
            "\tPassive Health: {} for {left}{why}\tEjections: {}\n",
            passive.to_uppercase(),
            service.ejections_total
        );
    }
    if let (Some(why), Some(ago)) = (&service.connect_failed, &service.connect_failed_ago) {
        out += &format!("\tLast failed connect: {why} ({ago} ago)\n");
    }
    let disabled = service.disabled_with.as_ref().map_or("Disabled".into(), |with| format!("Disabled with {with}"));
    for (what, note) in [(&disabled[..], &service.disabled_by), ("Forced", &service.forced_by)] {
        if let Some(note) = note {
            out += &note_line(what, &note.actor, &note.since, note.reason.as_deref(), note.expires.as_deref());
        }
    }
    for (at, monitor) in service.monitors.iter().enumerate() {
        out += &format!("\n{})\t{}", at + 1, monitor_lines(monitor));
    }
    out
}

pub(super) fn server(server: &ServerDto) -> String {
    let mut out = format!("Name: {}\tState: {}\n\tAddress: {}\n", server.name, server.state, server.address);
    if let Some(note) = &server.disabled_by {
        out += &note_line("Disabled", &note.actor, &note.since, note.reason.as_deref(), note.expires.as_deref());
    }
    if let Some(resolution) = &server.resolution {
        out += &names::resolution(resolution);
    }
    if !server.services.is_empty() {
        out += &format!("\tServices: {}\n", server.services.join(", "));
    }
    out
}

/// What is particular to content switching.
fn switching(vserver: &VserverDto) -> String {
    let mut out = format!("\tDefault: {}\n", vserver.default.as_deref().unwrap_or("none"));
    if let Some(backup) = &vserver.backup {
        out += &format!("\tBackup: {backup}\n");
    }
    if let Some(note) = &vserver.disabled_by {
        out += &note_line("Disabled", &note.actor, &note.since, note.reason.as_deref(), note.expires.as_deref());
    }
    for (at, target) in vserver.targets.iter().enumerate() {
        let state = long_word(&target.effective_state);
        out += &format!("\n{})\t{}\tEffective State: {state}\n", at + 1, target.vserver);
        if !target.rules.is_empty() {
            out += &format!("\tRules: {}\n", target.rules.join(", "));
        }
    }
    out
}

/// `settings`: lines about what stands in the configuration alone.
pub(super) fn vserver(vserver: &VserverDto, now: &str, whole: bool, settings: &str) -> String {
    let address = vserver.address.as_deref().unwrap_or("0.0.0.0:0");
    let mut out = format!("{} ({address}) - {}\tType: ADDRESS\n", vserver.name, vserver.r#type);
    out += &format!("\tState: {}\n", long_word(&vserver.state));
    out += &since_lines(&vserver.since, now);
    out += &format!("\tEffective State: {}\tHealth: {}%\n", long_word(&vserver.effective_state), vserver.health);
    if let Some(error) = &vserver.listen_error {
        out += &format!("\tNot listening: {error}\n");
    }
    if vserver.address_local == Some(false) {
        out += "\tThe address is not on this machine\n";
    }
    if !whole {
        return out;
    }
    if vserver.role == "cs" {
        return out + &switching(vserver);
    }
    let active = vserver.members.iter().filter(|m| m.eligible).count();
    out += &format!("\tNo. of Bound Services : {} (Total) {active} (Active)\n", vserver.members.len());
    out += &format!("\tConfigured Method: {}\n\tMode: IP\n{settings}", vserver.lb_method);
    out += &match &vserver.persistence_timeout {
        Some(timeout) => format!("\tPersistence: {}\tTimeout: {timeout}\n", vserver.persistence),
        None => format!("\tPersistence: {}\n", vserver.persistence),
    };
    if let Some(backup) = &vserver.backup {
        out += &format!("\tBackup: {backup}\n");
    }
    if vserver.persistence_sessions > 0 {
        out += &format!("\tPersistence Sessions: {}\n", vserver.persistence_sessions);
    }
    if let Some(group) = &vserver.lb_group {
        out += &format!("\tLB Group: {group}\n");
    }
    if let Some(method) = &vserver.spillover_method {
        let threshold = vserver.spillover_threshold.map(|t| format!("\tThreshold: {t}")).unwrap_or_default();
        out += &format!("\tSpillover Method: {method}{threshold}\n");
    }
    if let Some(url) = &vserver.redirect_url {
        out += &format!("\tRedirect URL: {url}\n");
    }
    for share in &vserver.split {
        let configured = match share.share == share.configured {
            true => String::new(),
            false => format!("\tConfigured: {}%", share.configured),
        };
        out += &format!("\tSplit: {} {}%{configured}\n", share.group, share.share);
    }
    if let Some(note) = &vserver.split_by {
        out += &note_line("Split", &note.actor, &note.since, note.reason.as_deref(), note.expires.as_deref());
    }
    if vserver.surge_max > 0 {
        let (now, waited, refused) = (vserver.surge_count, vserver.surge_waited_total, vserver.surge_refused_total);
        out += &format!("\tSurge Queue: {now} (Highest {})\tWaited: {waited}\tRefused: {refused}\n", vserver.surge_max);
    }
    if vserver.limited_total > 0 {
        out += &format!("\tOver Client Limits: {}\n", vserver.limited_total);
    }
    out += &match vserver.active_backup.as_ref() {
        None if vserver.new_clients == "refused" && vserver.redirect_url.is_some() => {
            "\tNew Clients: redirected to the Redirect URL\n".to_owned()
        }
        Some(backup) => format!("\tNew Clients: {backup}\n"),
        None => format!("\tNew Clients: {}\n", vserver.new_clients),
    };
    if let Some(note) = &vserver.disabled_by {
        out += &note_line("Disabled", &note.actor, &note.since, note.reason.as_deref(), note.expires.as_deref());
    }
    for (at, member) in vserver.members.iter().enumerate() {
        let state = long_word(&member.state);
        out += &format!("\n{})\t{}\tState: {state}\tWeight: {}\n", at + 1, member.service, member.weight);
    }
    out
}

/// `GOING OUT OF SERVICE (Graceful (number of active clients: 1), Out Of Service in 28 seconds)`
fn state_line(state: &str, drain: Option<&DrainDto>, active: u32) -> String {
    let word = long_word(state);
    let Some(drain) = drain else { return word.to_owned() };
    let graceful = format!("Graceful (number of active clients: {active})");
    let left = drain.remaining.as_deref().and_then(seconds).unwrap_or(0);
    match &drain.kind[..] {
        "graceful" => format!("{word}\t{graceful}"),
        "both" => format!("{word} ({graceful}, Out Of Service in {left} seconds)"),
        "monitor" => format!("{word} (by the answer of a monitor)"),
        _ => format!("{word} (Out Of Service in {left} seconds)"),
    }
}

/// Whom persistence still leads to a service that drains.
fn persistent_lines(drain: Option<&DrainDto>) -> String {
    let Some(drain) = drain else { return String::new() };
    let mut out = String::new();
    if drain.persistent_clients > 0 {
        let left = drain.persistent_left.as_deref().unwrap_or("0s");
        out += &format!("\tPersistent clients: {}, the last ends in {left}\n", drain.persistent_clients);
    }
    if let Some(note) = &drain.persistent_note {
        out += &format!("\tPersistent clients: {note}\n");
    }
    out
}

fn seconds(text: &str) -> Option<u64> {
    crate::config::units::parse_duration(text).ok().map(|d| d.as_secs())
}

/// NetScaler's words in `show`.
fn long_word(state: &str) -> &str {
    match state {
        "OFS" => "OUT OF SERVICE",
        "TROFS" => "GOING OUT OF SERVICE",
        "TROFS_DOWN" => "DOWN WHEN GOING OUT OF SERVICE",
        other => other,
    }
}

fn since_lines(since: &str, now: &str) -> String {
    let Ok(at) = since.parse::<jiff::Timestamp>() else { return String::new() };
    let mut out = format!("\tLast state change was at {}\n", at.strftime("%a %b %e %H:%M:%S %Y"));
    if let Ok(now) = now.parse::<jiff::Timestamp>() {
        let age = Duration::try_from(now.duration_since(at)).unwrap_or_default();
        out += &format!("\tTime since last state change: {}\n", days(age));
    }
    out
}

/// `0 days, 00:02:10.780`
fn days(age: Duration) -> String {
    let s = age.as_secs();
    let (days, hours, minutes) = (s / 86_400, s / 3_600 % 24, s / 60 % 60);
    format!("{days} days, {hours:02}:{minutes:02}:{:02}.{:03}", s % 60, age.subsec_millis())
}

fn note_line(what: &str, actor: &str, since: &str, reason: Option<&str>, expires: Option<&str>) -> String {
    let mut out = format!("\t{what} by {actor} at {since}");
    if let Some(reason) = reason {
        out += &format!(": {reason}");
    }
    if let Some(expires) = expires {
        out += &format!("; until {expires}");
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn draining(kind: &str, remaining: Option<&str>) -> DrainDto {
        DrainDto {
            kind: kind.into(),
            remaining: remaining.map(Into::into),
            deadline: None,
            ends_at: None,
            started_at: "2026-11-29T22:50:17.000Z".into(),
            graceful: kind != "timed",
            by: "admin".into(),
            actor: None,
            reason: None,
            waits_for: crate::admin::dto::WaitsForDto { requests: 0, persistent_clients: 0, last_expiry: None },
            persistent_clients: 0,
            persistent_left: None,
            persistent_note: None,
        }
    }

    #[test]
    fn a_drain_is_told_in_netscalers_words() {
        let line = |drain: DrainDto| state_line("TROFS", Some(&drain), 1);
        assert_eq!(line(draining("timed", Some("28s"))), "GOING OUT OF SERVICE (Out Of Service in 28 seconds)");
        assert_eq!(line(draining("graceful", None)), "GOING OUT OF SERVICE\tGraceful (number of active clients: 1)");
        assert_eq!(
            line(draining("both", Some("33m18s"))),
            "GOING OUT OF SERVICE (Graceful (number of active clients: 1), Out Of Service in 1998 seconds)"
        );
        assert_eq!(state_line("OFS", None, 0), "OUT OF SERVICE");
    }

    #[test]
    fn times_are_netscalers() {
        assert_eq!(
            since_lines("2026-11-29T22:50:17.123Z", "2026-12-01T00:52:27.903Z"),
            "\tLast state change was at Sun Nov 29 22:50:17 2026\n\
             \tTime since last state change: 1 days, 02:02:10.780\n"
        );
        // A clock that was set back shows no negative age.
        assert!(since_lines("2026-11-29T22:50:17Z", "2026-11-29T22:50:16Z").contains("0 days, 00:00:00.000"));
    }

    #[test]
    fn a_service_is_shown_with_its_monitors() {
        let shown: ServiceDto = serde_json::from_value(serde_json::json!({
            "name": "web1", "type": "HTTP", "state": "TROFS", "real": "TROFS", "admin": "DISABLED", "probe": "up",
            "forced": null, "active": 1, "since": "2026-11-29T22:50:17Z", "address": "127.0.0.1:8001",
            "resolved": true, "group": null, "server": "app1", "max_client": 500, "vservers": ["web"],
            "drain": { "kind": "timed", "remaining": "28s", "deadline": null, "ends_at": null, "started_at": "2026-11-29T22:50:17Z",
                "graceful": false, "by": "admin", "actor": "admin:local", "reason": "patch",
                "waits_for": { "requests": 1, "persistent_clients": 0, "last_expiry": null },
                "persistent_clients": 0, "persistent_left": null, "persistent_note": null },
            "history": [],
            "monitors": [{
                "name": "web-ok", "check": "web1:web-ok", "state": "up", "weight": 1, "admin": "ENABLED",
                "passive": false, "average": "3ms", "load": 17, "disabled_by": null, "since": "2026-11-29T22:50:00Z",
                "latency": "2ms", "last_response": "200 OK", "last_error": null, "samples_total": 12,
                "failed_total": 3, "failed_in_row": 0,
            }],
            "disabled_by": {
                "actor": "admin:local", "since": "2026-11-29T22:50:17Z", "reason": "patch", "expires": null,
            },
            "probes": [], "rate": 0, "latency": null, "disabled_with": null, "connect_failed": null,
            "connect_failed_ago": null,
            "forced_by": null, "requests_total": 0, "connect_failures_total": 0, "passive": null, "ejected_for": null, "ejected_because": null, "ejections_total": 0, "bytes_in_total": 0,
            "bytes_out_total": 0, "times": [],
        }))
        .unwrap();
        assert_eq!(
            list(&[shown], true, |s| service(s, "2026-11-29T22:50:19Z", true)),
            "\tweb1 (127.0.0.1:8001) - HTTP\n\
             \tState: GOING OUT OF SERVICE (Out Of Service in 28 seconds)\n\
             \tLast state change was at Sun Nov 29 22:50:17 2026\n\
             \tTime since last state change: 0 days, 00:00:02.000\n\
             \tServer Name: app1\n\
             \tAdmin State: DISABLED\tMax Conn: 500\tActive: 1\n\
             \tDisabled by admin:local at 2026-11-29T22:50:17Z: patch\n\
             \n1)\tMonitor Name: web-ok\n\
             \t\tState: UP\tWeight: 1\tPassive: 0\n\
             \t\tProbes: 12\tFailed [Total: 3 Current: 0]\n\
             \t\tLast response: Success - 200 OK\n\
             \t\tResponse Time: 2ms\n\
             \t\tAverage Response Time: 3ms\n\
             \t\tLoad: 17\n"
        );
    }
}
