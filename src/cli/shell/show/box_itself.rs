//! The appliance as NetScaler shows one: modes, addresses, its place in a pair.

use super::facts::Facts;

/// Acronym, and how it is spelt out.
const MODES: [(&str, &str); 18] = [
    ("FR", "Fast Ramp"),
    ("L2", "Layer 2 mode"),
    ("USIP", "Use Source IP"),
    ("CKA", "Client Keep-alive"),
    ("TCPB", "TCP Buffering"),
    ("MBF", "MAC-based forwarding"),
    ("Edge", "Edge configuration"),
    ("USNIP", "Use Subnet IP"),
    ("L3", "Layer 3 mode (ip forwarding)"),
    ("PMTUD", "Path MTU Discovery"),
    ("MediaClassification", "Media Classification"),
    ("SRADV", "Static Route Advertisement"),
    ("DRADV", "Direct Route Advertisement"),
    ("IRADV", "Intranet Route Advertisement"),
    ("SRADV6", "Ipv6 Static Route Advertisement"),
    ("DRADV6", "Ipv6 Direct Route Advertisement"),
    ("BridgeBPDUs", "Bridge BPDUs"),
    ("ULFD", "Unified Logging Format"),
];

/// `facts`: `nsmode`
pub(in super::super) fn modes(facts: &Facts) -> String {
    let line = |left: &str, middle: &str, right: &str| format!("{left:<34}{middle:<21}{right}\n");
    let mut out = format!("\t{}\t{}", line("Mode", "Acronym", "Status"), line("-------", "-------", "------"));
    for (at, (acronym, name)) in MODES.iter().enumerate() {
        let state = if facts.said(&acronym.to_ascii_lowercase(), "false") == "true" { "ON" } else { "OFF" };
        out += &format!("{:>2})\t{}", at + 1, line(name, acronym, state));
    }
    out
}

/// `config`: `nsconfig`; `vips`: addresses of vservers, each once.
pub(in super::super) fn ns_ip(config: &Facts, vips: &[String]) -> String {
    let line = |cells: [&str; 8]| {
        let [ip, domain, kind, mode, arp, icmp, vserver, state] = cells;
        format!("{ip:<25}{domain:<16}{kind:<17}{mode:<9}{arp:<9}{icmp:<9}{vserver:<9}{state}\n")
    };
    let head = ["Ipaddress", "Traffic Domain", "Type", "Mode", "Arp", "Icmp", "Vserver", "State"];
    let rule = ["---------", "--------------", "----", "----", "---", "----", "-------", "------"];
    let mut out = format!("\t{}\t{}", line(head), line(rule));
    let own = config.said("ipaddress", "0.0.0.0");
    let all = std::iter::once((&own, "NetScaler IP", "NA")).chain(vips.iter().map(|vip| (vip, "VIP", "Enabled")));
    for (at, (ip, kind, vserver)) in all.enumerate() {
        let cells = [ip, "0", kind, "Active", "Enabled", "Enabled", vserver, "Enabled"];
        out += &format!("{})\t{}", at + 1, line(cells));
    }
    out
}

/// `facts`: `hanode`
pub(in super::super) fn ha_node(facts: &Facts) -> String {
    format!(
        "1)\tNode ID:      {}\n\tIP:\t{} ({})\n\tNode State: {}\n\tMaster State: {}\n\tSync State: {}\n\
         \tPropagation: {}\n\tThis appliance stands alone: there is no pair\n",
        facts.count("id"),
        facts.said("ipaddress", "0.0.0.0"),
        facts.said("name", ""),
        facts.said("hastatus", "UP"),
        facts.said("state", "Primary"),
        facts.said("hasync", "DISABLED"),
        facts.said("haprop", "DISABLED"),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn switches_and_addresses_stand_in_columns() {
        let facts = Facts::list(&json!({"nsmode": {"fr": true, "l2": false}}), "nsmode").remove(0);
        let shown = modes(&facts);
        assert!(
            shown.starts_with("\tMode                              Acronym              Status\n\t-------  "),
            "{shown}"
        );
        assert!(shown.contains(" 1)\tFast Ramp                         FR                   ON\n"), "{shown}");
        assert!(shown.contains(" 2)\tLayer 2 mode                      L2                   OFF\n"), "{shown}");
        let facts = Facts::list(&json!({"nsconfig": {"ipaddress": "192.0.2.1"}}), "nsconfig").remove(0);
        let shown = ns_ip(&facts, &["192.0.2.9".into()]);
        assert!(shown.contains("1)\t192.0.2.1                0               NetScaler IP     Active"), "{shown}");
        assert!(shown.contains("2)\t192.0.2.9                0               VIP              Active"), "{shown}");
    }
}
