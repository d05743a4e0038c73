//! What `stat` prints: counters as a table, one object a line.

use super::long_word;
use crate::admin::dto::{CheckDto, ConnectionDto, FlowDto, ServerDto, StatsDto, VserverDto};

pub(in super::super) fn check_statistics(checks: &[CheckDto]) -> String {
    let rows = checks.iter().map(|check| {
        let none = || "-".to_owned();
        let latencies = check.percentiles.as_ref();
        vec![
            check.name.clone(),
            check.r#type.clone(),
            check.state.to_uppercase(),
            check.samples_total.to_string(),
            check.failed_total.to_string(),
            latencies.map_or_else(none, |p| p.p50.clone()),
            latencies.map_or_else(none, |p| p.p95.clone()),
            latencies.map_or_else(none, |p| p.p99.clone()),
        ]
    });
    table(&["Check", "Type", "State", "Probes", "Failed", "p50", "p95", "p99"], rows)
}

pub(in super::super) fn server_statistics(servers: &[ServerDto]) -> String {
    let rows =
        servers.iter().map(|s| vec![s.name.clone(), s.address.clone(), s.state.clone(), s.services.len().to_string()]);
    table(&["Server", "Address", "State", "Services"], rows)
}

/// `statistics`: counters since they were cleared.
pub(in super::super) fn vserver_statistics(vservers: &[VserverDto], statistics: &[StatsDto]) -> String {
    let rows = vservers.iter().map(|v| {
        let counted = statistics.iter().find(|of| of.name == v.name);
        let count = |read: fn(&StatsDto) -> u64, otherwise: u64| counted.map_or(otherwise, read).to_string();
        vec![
            v.name.clone(),
            v.address.clone().unwrap_or_default(),
            v.r#type.clone(),
            long_word(&v.state).to_owned(),
            long_word(&v.effective_state).to_owned(),
            format!("{}%", v.health),
            v.connections.to_string(),
            count(|of| of.requests.total, v.requests_total),
            count(|of| of.spillovers_total, v.spilled_total),
            count(|of| of.refused_total, v.refused_total),
        ]
    });
    let head =
        ["Vserver", "Address", "Type", "State", "Effective", "Health", "Clients", "Requests", "Spilled", "Refused"];
    table(&head, rows)
}

pub(in super::super) fn connections(connections: &[ConnectionDto]) -> String {
    let rows = connections.iter().map(|c| {
        vec![
            c.id.to_string(),
            c.client.clone(),
            c.vserver.clone(),
            if c.tls { format!("{}+TLS", c.r#type) } else { c.r#type.clone() },
            c.service.clone().unwrap_or_default(),
            c.state.clone(),
            c.age.clone(),
            c.requests.to_string(),
            c.bytes_in.to_string(),
            c.bytes_out.to_string(),
        ]
    });
    let head = ["Id", "Client", "Vserver", "Type", "Service", "State", "Age", "Requests", "BytesIn", "BytesOut"];
    table(&head, rows)
}

/// Persistence entries; of a clear, how many there were.
pub(in super::super) fn persistence(json: &serde_json::Value) -> String {
    if let Some(cleared) = json["cleared"].as_u64() {
        return format!("\tCleared: {cleared}\n");
    }
    let text = |item: &serde_json::Value, key: &str| item[key].as_str().unwrap_or_default().to_owned();
    let rows = json["items"].as_array().into_iter().flatten().map(|item| {
        let of = item["vserver"].as_str().or_else(|| item["lb_group"].as_str()).unwrap_or_default().to_owned();
        vec![text(item, "type"), text(item, "client"), text(item, "service"), of, text(item, "left")]
    });
    table(&["Type", "Client", "Service", "Vserver", "Timeout"], rows)
}

/// Counters with their rates, times by part, endings.
pub(in super::super) fn statistics_of_one(stats: &StatsDto) -> String {
    let flow = |name: &str, flow: &FlowDto| vec![name.to_owned(), flow.rate.to_string(), flow.total.to_string()];
    let count = |name: &str, count: u64| vec![name.to_owned(), String::new(), count.to_string()];
    let counters = [
        flow("Requests", &stats.requests),
        flow("Responses", &stats.responses),
        flow("Request bytes", &stats.bytes_in),
        flow("Response bytes", &stats.bytes_out),
        count("Packets received", stats.packets_in_total),
        count("Packets sent", stats.packets_out_total),
        count("Current client connections", stats.client_connections.into()),
        count("Current server connections", stats.server_connections.into()),
        count("Surge count", stats.surge_count.into()),
        flow("Deferred requests", &stats.deferred),
        count("Spill overs", stats.spillovers_total),
        count("Backup hits while down", stats.backup_hits_total),
        count("Over client limits", stats.limited_total),
        count("Invalid requests and responses", stats.invalid_total),
        count("Reuse pool", stats.reuse_pool.into()),
        count("Refused", stats.refused_total),
        count("Failed connects", stats.connect_failures_total),
        count("Persistence sessions", stats.persistence_sessions),
    ];
    table(&[&stats.name[..], "Rate (/s)", "Total"], counters.into_iter()) + &beside_statistics(stats)
}

/// What NetScaler does not count: how content clients can be, times by part, endings.
pub(in super::super) fn beside_statistics(stats: &StatsDto) -> String {
    let mut out = String::new();
    if let Some(apdex) = &stats.apdex {
        let (tolerating, frustrated) = (apdex.tolerating_total, apdex.frustrated_total);
        out += &format!("Apdex: {:.3}\tTolerating: {tolerating}\tFrustrated: {frustrated}\n", apdex.score);
    }
    if !stats.times.is_empty() {
        let ms = |time: f64| format!("{time:.3}");
        let rows = stats.times.iter().map(|t| {
            let times = [t.mean_ms, t.p50_ms, t.p90_ms, t.p99_ms, t.p999_ms, t.max_ms].map(ms);
            [vec![t.part.clone(), t.count.to_string()], times.to_vec()].concat()
        });
        out.push('\n');
        out += &table(&["Time (ms)", "Count", "Mean", "p50", "p90", "p99", "p99.9", "Max"], rows);
    }
    if !stats.endings.is_empty() {
        let rows =
            stats.endings.iter().map(|e| vec![format!("{}/{}/{}", e.who, e.phase, e.reason), e.total.to_string()]);
        out.push('\n');
        out += &table(&["Ended", "Count"], rows);
    }
    out
}

/// Columns as wide as their widest cell, two spaces apart.
pub(super) fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut lines: Vec<Vec<String>> = vec![head.iter().map(|cell| (*cell).to_owned()).collect()];
    lines.extend(rows);
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..head.len()).map(width).collect();
    let mut out = String::new();
    for line in &lines {
        let cells: Vec<String> = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        out += cells.join("  ").trim_end();
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = [vec!["web1".to_owned(), "UP".to_owned()], vec!["a-long-name".to_owned(), "DOWN".to_owned()]];
        assert_eq!(
            table(&["Service", "State"], rows.into_iter()),
            "Service      State\nweb1         UP\na-long-name  DOWN\n"
        );
    }
}
