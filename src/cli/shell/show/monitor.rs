//! Monitors: their definitions, and how they stand where they are bound.

use super::note_line;
use crate::admin::dto::{LbMonitorDto, MonitorDto};

pub(in super::super) fn lb_monitor(monitor: &LbMonitorDto, whole: bool) -> String {
    let mut out = format!("Name: {}\tType: {}\tState: {}\n", monitor.name, monitor.r#type, monitor.admin);
    if !whole {
        out += &format!("\tBound to: {}\n", monitor.bindings.len());
        return out;
    }
    let yes = |on: bool| if on { "YES" } else { "NO" };
    out += "\tStandard parameters:\n";
    let (interval, down) = (&monitor.interval, &monitor.down_time);
    out += &format!("\t\tInterval: {interval}\tRetries: {}\n", monitor.retries);
    out += &format!("\t\tResponse timeout: {}\tDown time: {down}\n", monitor.response_timeout);
    out += &format!("\t\tFailure Retries: {}\tSuccess Retries: {}\n", monitor.failure_retries, monitor.success_retries);
    out += &format!("\t\tReverse: {}\tSecure: {}\n", yes(monitor.reverse), yes(monitor.secure));
    if monitor.dest_ip.is_some() || monitor.dest_port.is_some() {
        let ip = monitor.dest_ip.as_deref().unwrap_or("Bound service");
        let port = monitor.dest_port.map_or("Bound service".into(), |port| port.to_string());
        out += &format!("\t\tDestination IP: {ip}\tDestination port: {port}\n");
    }
    for (at, bound) in monitor.bindings.iter().enumerate() {
        out += &format!("\n{})\tService Name: {}\n\t\t{}", at + 1, bound.service, monitor_lines(&bound.monitor));
    }
    out
}

/// A monitor at work on a service.
pub(super) fn monitor_lines(monitor: &MonitorDto) -> String {
    let last = match (&monitor.last_error, &monitor.last_response) {
        (Some(error), _) => format!("Failure - {error}"),
        (None, Some(response)) => format!("Success - {response}"),
        (None, None) => "none yet".into(),
    };
    let mut lines = format!(
        "Monitor Name: {}\n\t\tState: {}\tWeight: {}\tPassive: {}\n\t\tProbes: {}\tFailed [Total: {} Current: {}]\n\
         \t\tLast response: {last}\n\t\tResponse Time: {}\n",
        monitor.name,
        if monitor.admin == "DISABLED" { "DISABLED".into() } else { monitor.state.to_uppercase() },
        monitor.weight,
        u8::from(monitor.passive),
        monitor.samples_total,
        monitor.failed_total,
        monitor.failed_in_row,
        monitor.latency.as_deref().unwrap_or("N/A"),
    );
    if let Some(average) = &monitor.average {
        lines += &format!("\t\tAverage Response Time: {average}\n");
    }
    if let Some(load) = monitor.load {
        lines += &format!("\t\tLoad: {load}\n");
    }
    if let Some(note) = &monitor.disabled_by {
        let line = note_line("Disabled", &note.actor, &note.since, note.reason.as_deref(), note.expires.as_deref());
        lines += &format!("\t{line}");
    }
    lines
}
