//! What `show` and `stat` print: NetScaler's wording for what NetScaler has, and the same manner for the rest.

mod alerts;
mod box_itself;
mod certificate;
mod check;
mod counters;
mod facts;
mod group;
mod gtm;
mod license;
mod monitor;
mod names;
mod network;
mod ns;
mod outbox;
mod past;
mod peer;
mod policy;
mod rule;
mod service;
mod ssl;
mod statistics;
mod status;
mod summary;
mod vserver;

use std::time::Duration;

use crate::admin::dto::DrainDto;

pub(super) use alerts::alert;
pub(super) use box_itself::{ha_node, modes};
pub(super) use certificate::certificate;
pub(super) use check::{check, check_history};
pub(super) use counters::Counted;
pub(super) use facts::Facts;
pub(super) use group::{group, members};
pub(super) use gtm::{datacenter, scenario, switch, zone};
pub(super) use license::{hardware, info, license, system_user};
pub(super) use monitor::lb_monitor;
pub(super) use network::{ns_ip, routes, vlan};
pub(super) use ns::ns_statistics;
pub(super) use outbox::{delivery, query, trigger};
pub(super) use past::past;
pub(super) use peer::{pair, peer};
pub(super) use policy::{policies_counted, policy_counted};
pub(super) use rule::{rule, rule_statistics};
pub(super) use service::{server, service};
pub(super) use ssl::ssl_vserver;
pub(super) use statistics::{
    beside_statistics, check_statistics, connections, persistence, server_statistics, statistics_of_one,
    vserver_statistics,
};
pub(super) use status::status;
pub(super) use summary::summary;
pub(super) use vserver::vserver;

/// Each item numbered, or the one asked for without a number.
pub(super) fn list<T>(items: &[T], whole: bool, show: impl Fn(&T) -> String) -> String {
    if whole {
        return items.iter().map(|item| format!("\t{}", show(item))).collect();
    }
    items.iter().enumerate().map(|(at, item)| format!("{})\t{}", at + 1, show(item))).collect()
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
}
