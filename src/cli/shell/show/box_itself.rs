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
    fn switches_stand_in_columns() {
        let facts = Facts::list(&json!({"nsmode": {"fr": true, "l2": false}}), "nsmode").remove(0);
        let shown = modes(&facts);
        assert!(
            shown.starts_with("\tMode                              Acronym              Status\n\t-------  "),
            "{shown}"
        );
        assert!(shown.contains(" 1)\tFast Ramp                         FR                   ON\n"), "{shown}");
        assert!(shown.contains(" 2)\tLayer 2 mode                      L2                   OFF\n"), "{shown}");
    }
}
