//! `stat ns`: the appliance as a whole, in counters.

use super::long_word;
use super::statistics::table;
use crate::admin::dto::{FlowDto, ServiceDto, StatsDto, StatusDto, VserverDto};

/// Of traffic only what comes in by an address counts: what a vserver without one serves has come through another.
pub(in super::super) fn ns_statistics(
    status: &StatusDto,
    vservers: &[VserverDto],
    services: &[ServiceDto],
    statistics: &[StatsDto],
) -> String {
    let stage = if status.stopping {
        "STOPPING"
    } else if status.ready {
        "READY"
    } else {
        "STARTING"
    };
    let mut out = format!("{} - {stage}\n\tUp since {}\n", status.name, status.started_at);
    out += &format!("\tVirtual servers: {}\n", counted(vservers.iter().map(|v| &v.state[..])));
    out += &format!("\tServices: {}\n\n", counted(services.iter().map(|s| &s.state[..])));
    let entries: Vec<&StatsDto> = statistics
        .iter()
        .filter(|of| vservers.iter().any(|vserver| vserver.name == of.name && vserver.address.is_some()))
        .collect();
    let flow = |name: &str, read: fn(&StatsDto) -> &FlowDto| {
        let (rate, total) = entries
            .iter()
            .map(|of| read(of))
            .fold((0, 0), |(rate, total), flow| (rate + flow.rate, total + flow.total));
        vec![name.to_owned(), rate.to_string(), total.to_string()]
    };
    let sum = |name: &str, read: fn(&StatsDto) -> u64| {
        vec![name.to_owned(), String::new(), entries.iter().map(|of| read(of)).sum::<u64>().to_string()]
    };
    let active: u64 = services.iter().map(|service| u64::from(service.active)).sum();
    let rows = [
        flow("Requests", |of| &of.requests),
        flow("Responses", |of| &of.responses),
        flow("Request bytes", |of| &of.bytes_in),
        flow("Response bytes", |of| &of.bytes_out),
        sum("Current client connections", |of| of.client_connections.into()),
        vec!["Current server connections".to_owned(), String::new(), active.to_string()],
        sum("Surge count", |of| of.surge_count.into()),
        sum("Spill overs", |of| of.spillovers_total),
        sum("Over client limits", |of| of.limited_total),
        sum("Invalid requests and responses", |of| of.invalid_total),
        sum("Refused", |of| of.refused_total),
    ];
    out + &table(&["All virtual servers", "Rate (/s)", "Total"], rows.into_iter())
}

/// `3 (UP 2, DOWN 1)`, in the order in which the states come.
fn counted<'a>(states: impl Iterator<Item = &'a str>) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for state in states {
        match counts.iter_mut().find(|(known, _)| *known == state) {
            Some((_, count)) => *count += 1,
            None => counts.push((state, 1)),
        }
    }
    let all: usize = counts.iter().map(|(_, count)| count).sum();
    let each: Vec<String> = counts.iter().map(|(state, count)| format!("{} {count}", long_word(state))).collect();
    if each.is_empty() { "0".to_owned() } else { format!("{all} ({})", each.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_are_counted() {
        assert_eq!(counted(["UP", "OFS", "UP"].into_iter()), "3 (UP 2, OUT OF SERVICE 1)");
        assert_eq!(counted([].into_iter()), "0");
    }
}
