//! Monitors: their definitions, and how they stand where they are bound.

use super::facts::Facts;
use super::note_line;
use crate::admin::dto::{LbMonitorDto, MonitorDto};
use crate::model::visible::on_one_line;

/// `facts`: what is particular to its type, as NITRO says.
pub(in super::super) fn lb_monitor(monitor: &LbMonitorDto, whole: bool, facts: &Facts) -> String {
    let mut out = format!(
        "Name.......: {:>14}  Type......: {:>9}  State....: {:>9}\n",
        monitor.name, monitor.r#type, monitor.admin
    );
    if !whole {
        return out;
    }
    let yes = |on: bool| if on { "YES" } else { "NO" };
    let said = |key: &str, otherwise: &str| facts.said(key, otherwise);
    out += "\tStandard parameters:\n";
    let mut row = |left: (&str, String), right: Option<(&str, String)>| {
        let right = right.map(|(title, value)| format!("\t{title:.<20}: {value:>15}")).unwrap_or_default();
        out += &format!("  {:.<17}: {:>15}{right}\n", left.0, left.1);
    };
    let interval = ("Interval", spelt(&monitor.interval));
    row(interval, Some(("Retries", monitor.retries.to_string())));
    row(("Response timeout", spelt(&monitor.response_timeout)), Some(("Down time", spelt(&monitor.down_time))));
    row(("Reverse", yes(monitor.reverse).into()), Some(("Transparent", said("transparent", "NO"))));
    row(("Secure", yes(monitor.secure).into()), Some(("LRTM", said("lrtm", "DISABLED"))));
    let deviation = format!("{} sec", facts.count("deviation"));
    row(("Action", said("action", "Not applicable")), Some(("Deviation", deviation)));
    let ip = monitor.dest_ip.clone().unwrap_or_else(|| "Bound service".into());
    let port = monitor.dest_port.map_or("Bound service".into(), |port| port.to_string());
    row(("Destination IP", ip), None);
    row(("Destination port", port), None);
    row(("Iptunnel", said("iptunnel", "NO")), None);
    let success = Some(("Success Retries", monitor.success_retries.to_string()));
    row(("SNMP Alert Retries", facts.count("alertretries")), success);
    row(("Failure Retries", monitor.failure_retries.to_string()), None);
    out + &special(facts) + &bindings(monitor)
}

/// What only some types have, in the words of their keywords.
fn special(facts: &Facts) -> String {
    let lines: Vec<String> = [
        ("HTTP request", "httprequest"),
        ("Custom headers", "customheaders"),
        ("Response codes", "respcode"),
        ("Send string", "send"),
        ("Receive string", "recv"),
        ("Query", "query"),
        ("Query type", "querytype"),
        ("Script name", "scriptname"),
        ("SQL query", "sqlquery"),
        ("Database", "database"),
        ("User name", "username"),
        ("TROFS code", "trofscode"),
        ("TROFS string", "trofsstring"),
        ("Comment", "comment"),
    ]
    .into_iter()
    .filter_map(|(title, key)| {
        let value = match facts.0.get(key)? {
            serde_json::Value::Array(list) => {
                list.iter().map(|one| one.as_str().map_or(one.to_string(), on_one_line)).collect::<Vec<_>>().join(" ")
            }
            _ => facts.said(key, ""),
        };
        (!value.is_empty()).then(|| format!("  {title:.<17}: \"{value}\"\n"))
    })
    .collect();
    if lines.is_empty() { String::new() } else { "\tSpecial parameters:\n".to_owned() + &lines.concat() }
}

fn bindings(monitor: &LbMonitorDto) -> String {
    let one = |(at, bound): (usize, &crate::admin::dto::MonitorBindingDto)| {
        format!("\n{})\tService Name: {}\n\t\t{}", at + 1, bound.service, monitor_lines(&bound.monitor))
    };
    monitor.bindings.iter().enumerate().map(one).collect()
}

/// `5 sec`, `900 msec`
fn spelt(duration: &str) -> String {
    match crate::config::units::parse_duration(duration) {
        Ok(time) if time.subsec_millis() > 0 => format!("{} msec", time.as_millis()),
        Ok(time) => format!("{} sec", time.as_secs()),
        Err(_) => duration.to_owned(),
    }
}

/// `2.0 millisec`
fn millisec(latency: Option<&str>) -> String {
    match latency.map(crate::config::units::parse_duration) {
        Some(Ok(time)) => format!("{:.1} millisec", time.as_secs_f64() * 1e3),
        _ => "N/A".to_owned(),
    }
}

fn state_of(monitor: &MonitorDto) -> String {
    if monitor.admin == "DISABLED" { "DISABLED".into() } else { monitor.state.to_uppercase() }
}

fn response(monitor: &MonitorDto) -> String {
    match (&monitor.last_error, &monitor.last_response) {
        (Some(error), _) => format!("Failure - {error}"),
        (None, Some(response)) => format!("Success - {response}"),
        (None, None) => "none yet".into(),
    }
}

/// A monitor at work on a member of a group: NetScaler tells its name and its state in one line, and no weight.
pub(super) fn member_lines(monitor: &MonitorDto) -> String {
    at_work(monitor, "\t", "")
}

/// `between`: name and state; `weight`: behind the state.
fn at_work(monitor: &MonitorDto, between: &str, weight: &str) -> String {
    format!(
        "Monitor Name: {}{between}State: {}{weight}\tPassive: {}\n\t\tProbes: {}\tFailed [Total: {} Current: {}]\n\
         \t\tLast response: {}\n\t\tResponse Time: {}\n",
        monitor.name,
        state_of(monitor),
        u8::from(monitor.passive),
        monitor.samples_total,
        monitor.failed_total,
        monitor.failed_in_row,
        response(monitor),
        millisec(monitor.latency.as_deref()),
    )
}

/// A monitor at work on a service.
pub(super) fn monitor_lines(monitor: &MonitorDto) -> String {
    let mut lines = at_work(monitor, "\n\t\t", &format!("\tWeight: {}", monitor.weight));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_spelt_as_netscaler_does() {
        assert_eq!((&spelt("5s")[..], &spelt("900ms")[..], &spelt("1m30s")[..]), ("5 sec", "900 msec", "90 sec"));
        assert_eq!((&millisec(Some("2ms"))[..], &millisec(None)[..]), ("2.0 millisec", "N/A"));
    }

    #[test]
    fn a_definition_has_netscalers_columns() {
        let monitor: LbMonitorDto = serde_json::from_value(serde_json::json!({
            "name": "m", "type": "HTTP", "builtin": false, "admin": "ENABLED", "interval": "7s", "response_timeout": "900ms",
            "down_time": "30s", "retries": 3, "failure_retries": 0, "success_retries": 1, "reverse": false,
            "secure": false, "dest_ip": null, "dest_port": null, "bindings": [],
        }))
        .unwrap();
        let facts = serde_json::json!({"lbmonitor": [{"httprequest": "GET /", "respcode": ["200-204", "301"]}]});
        let shown = lb_monitor(&monitor, true, &Facts::list(&facts, "lbmonitor")[0]);
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[0], "Name.......:              m  Type......:      HTTP  State....:   ENABLED");
        assert_eq!(lines[1], "\tStandard parameters:");
        assert_eq!(lines[2], "  Interval.........:           7 sec\tRetries.............:               3");
        assert_eq!(lines[3], "  Response timeout.:        900 msec\tDown time...........:          30 sec");
        assert_eq!(lines[7], "  Destination IP...:   Bound service");
        assert_eq!(lines[12], "\tSpecial parameters:");
        assert_eq!(lines[13..], ["  HTTP request.....: \"GET /\"", "  Response codes...: \"200-204 301\""]);
    }
}
