//! What `stat` prints: counters as a table, one object a line.

use super::long_word;
use crate::admin::dto::{ServerDto, ServiceDto, ServiceGroupDto, VserverDto};

pub(in super::super) fn service_statistics(services: &[ServiceDto]) -> String {
    let rows = services.iter().map(|s| {
        vec![
            s.name.clone(),
            s.address.clone(),
            s.r#type.clone(),
            long_word(&s.state).to_owned(),
            s.active.to_string(),
            s.requests_total.to_string(),
            s.connect_failures_total.to_string(),
            s.bytes_in_total.to_string(),
            s.bytes_out_total.to_string(),
        ]
    });
    table(&["Service", "Address", "Type", "State", "Active", "Requests", "Failed", "BytesIn", "BytesOut"], rows)
}

pub(in super::super) fn group_statistics(groups: &[ServiceGroupDto]) -> String {
    let rows = groups.iter().flat_map(|group| {
        group.members.iter().map(|member| {
            vec![
                group.name.clone(),
                member.name.clone(),
                member.address.clone(),
                long_word(&member.state).to_owned(),
                member.active.to_string(),
                member.weight.to_string(),
            ]
        })
    });
    table(&["Group", "Member", "Address", "State", "Active", "Weight"], rows)
}

pub(in super::super) fn server_statistics(servers: &[ServerDto]) -> String {
    let rows =
        servers.iter().map(|s| vec![s.name.clone(), s.address.clone(), s.state.clone(), s.services.len().to_string()]);
    table(&["Server", "Address", "State", "Services"], rows)
}

pub(in super::super) fn vserver_statistics(vservers: &[VserverDto]) -> String {
    let rows = vservers.iter().map(|v| {
        vec![
            v.name.clone(),
            v.address.clone().unwrap_or_default(),
            v.r#type.clone(),
            long_word(&v.state).to_owned(),
            long_word(&v.effective_state).to_owned(),
            format!("{}%", v.health),
            v.connections.to_string(),
            v.requests_total.to_string(),
            v.spilled_total.to_string(),
            v.refused_total.to_string(),
        ]
    });
    let head =
        ["Vserver", "Address", "Type", "State", "Effective", "Health", "Clients", "Requests", "Spilled", "Refused"];
    table(&head, rows)
}

/// Columns as wide as their widest cell, two spaces apart.
fn table(head: &[&str], rows: impl Iterator<Item = Vec<String>>) -> String {
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
