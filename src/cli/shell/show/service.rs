//! Services and servers as NetScaler shows them, and what NetScaler does not have below.

use super::facts::Facts;
use super::monitor::monitor_lines;
use super::{long_word, names, note_line, persistent_lines, since_lines, state_line};
use crate::admin::dto::{ServerDto, ServiceDto};

/// `facts`: its settings as NITRO says.
pub(in super::super) fn service(service: &ServiceDto, now: &str, whole: bool, facts: &Facts) -> String {
    let mut out = format!("{} ({}) - {}\n", service.name, service.address, service.r#type);
    out += &format!("\tState: {}\n", state_line(&service.state, service.drain.as_ref(), service.active));
    out += &persistent_lines(service.drain.as_ref());
    out += &since_lines(&service.since, now);
    if let Some(server) = &service.server {
        out += &format!("\tServer Name: {server}\n");
    }
    if let Some(group) = &service.group {
        out += &format!("\tService Group: {group}\n");
    } else {
        out += &settings(facts, service.max_client);
    }
    out += &format!("\tAdmin State: {}\tActive: {}\n", service.admin, service.active);
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
    if whole {
        for (at, monitor) in service.monitors.iter().enumerate() {
            out += &format!("\n{})\t{}", at + 1, monitor_lines(monitor));
        }
    }
    out
}

/// What services and groups are configured with, in NetScaler's order.
pub(super) fn settings(facts: &Facts, max_client: u32) -> String {
    let mut out = match facts.0.contains_key("servicename") || facts.0.contains_key("name") {
        true => format!(
            "\tServer ID : {} \tMonitor Threshold : {}\n",
            facts.said("customserverid", "None"),
            facts.count("monthreshold")
        ),
        false => String::new(),
    };
    out += &format!(
        "\tMax Conn: {max_client}\tMax Req: {}\tMax Bandwidth: {} kbits\n\tUse Source IP: {}\n\
         \tClient Keepalive(CKA): {}\n\tAccess Down Service: {}\n\tTCP Buffering(TCPB): {}\n\
         \tHTTP Compression(CMP): {}\n\tIdle timeout: Client: {} sec\tServer: {} sec\n\tClient IP: {}{}\n\
         \tCacheable: {}\n\tSC: {}\n\tSP: {}\n\tDown state flush: {}\n\tMonitor Connection Close : {}\n\
         \tAppflow logging: {}\n\tProcess Local: {}\n\tTraffic Domain: {}\n",
        facts.count("maxreq"),
        facts.count("maxbandwidth"),
        facts.said("usip", "NO"),
        facts.said("cka", "NO"),
        facts.said("accessdown", "NO"),
        facts.said("tcpb", "NO"),
        facts.said("cmp", "NO"),
        facts.said("clttimeout", "180"),
        facts.said("svrtimeout", "360"),
        facts.said("cip", "DISABLED"),
        match &facts.said("cipheader", "")[..] {
            "" => String::new(),
            header => format!("\tHeader: {header}"),
        },
        facts.said("cacheable", "NO"),
        facts.said("sc", "OFF"),
        facts.said("sp", "OFF"),
        facts.said("downstateflush", "ENABLED"),
        facts.said("monconnectionclose", "NONE"),
        facts.said("appflowlog", "DISABLED"),
        facts.said("processlocal", "DISABLED"),
        facts.count("td"),
    );
    match &facts.said("comment", "")[..] {
        "" => {}
        comment => out += &format!("\tComment: \"{comment}\"\n"),
    }
    out
}

pub(in super::super) fn server(server: &ServerDto, facts: &Facts) -> String {
    let mut out = format!("Name: {}\tState: {}\n\tIPAddress: {}\n", server.name, server.state, server.address);
    match &facts.said("comment", "")[..] {
        "" => {}
        comment => out += &format!("\tComment: \"{comment}\"\n"),
    }
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

#[cfg(test)]
mod tests {
    use super::super::list;
    use super::*;

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
        let facts =
            serde_json::json!({"service": [{"name": "web1", "maxreq": "0", "svrtimeout": "90", "comment": "ours"}]});
        let facts = Facts::list(&facts, "service").remove(0);
        assert_eq!(
            list(&[shown], true, |s| service(s, "2026-11-29T22:50:19Z", true, &facts)),
            "\tweb1 (127.0.0.1:8001) - HTTP\n\
             \tState: GOING OUT OF SERVICE (Out Of Service in 28 seconds)\n\
             \tLast state change was at Sun Nov 29 22:50:17 2026\n\
             \tTime since last state change: 0 days, 00:00:02.000\n\
             \tServer Name: app1\n\
             \tServer ID : None \tMonitor Threshold : 0\n\
             \tMax Conn: 500\tMax Req: 0\tMax Bandwidth: 0 kbits\n\
             \tUse Source IP: NO\n\
             \tClient Keepalive(CKA): NO\n\
             \tAccess Down Service: NO\n\
             \tTCP Buffering(TCPB): NO\n\
             \tHTTP Compression(CMP): NO\n\
             \tIdle timeout: Client: 180 sec\tServer: 90 sec\n\
             \tClient IP: DISABLED\n\
             \tCacheable: NO\n\
             \tSC: OFF\n\
             \tSP: OFF\n\
             \tDown state flush: ENABLED\n\
             \tMonitor Connection Close : NONE\n\
             \tAppflow logging: DISABLED\n\
             \tProcess Local: DISABLED\n\
             \tTraffic Domain: 0\n\
             \tComment: \"ours\"\n\
             \tAdmin State: DISABLED\tActive: 1\n\
             \tDisabled by admin:local at 2026-11-29T22:50:17Z: patch\n\
             \n1)\tMonitor Name: web-ok\n\
             \t\tState: UP\tWeight: 1\tPassive: 0\n\
             \t\tProbes: 12\tFailed [Total: 3 Current: 0]\n\
             \t\tLast response: Success - 200 OK\n\
             \t\tResponse Time: 2.0 millisec\n\
             \t\tAverage Response Time: 3ms\n\
             \t\tLoad: 17\n"
        );
    }
}
