//! Addresses, routes and VLANs of the machine.

use super::facts::Facts;

/// `list`: `nsip`
pub(in super::super) fn ns_ip(list: &[Facts]) -> String {
    let line = |cells: [&str; 8]| {
        let [ip, domain, kind, mode, arp, icmp, vserver, state] = cells;
        format!("{ip:<25}{domain:<16}{kind:<17}{mode:<9}{arp:<9}{icmp:<9}{vserver:<9}{state}\n")
    };
    let head = ["Ipaddress", "Traffic Domain", "Type", "Mode", "Arp", "Icmp", "Vserver", "State"];
    let rule = ["---------", "--------------", "----", "----", "---", "----", "-------", "------"];
    let mut out = format!("\t{}\t{}", line(head), line(rule));
    for (at, facts) in list.iter().enumerate() {
        let ip = facts.said("ipaddress", "");
        let (kind, vserver) = match &facts.said("type", "")[..] {
            "NSIP" => ("NetScaler IP", "NA"),
            "SNIP" => ("SNIP", "NA"),
            _ => ("VIP", "Enabled"),
        };
        let cells = [&ip[..], "0", kind, "Active", "Enabled", "Enabled", vserver, "Enabled"];
        out += &format!("{})\t{}", at + 1, line(cells));
    }
    out
}

/// `list`: `route`; empty where there is none.
pub(in super::super) fn routes(list: &[Facts]) -> String {
    if list.is_empty() {
        return String::new();
    }
    let line = |cells: [&str; 5]| {
        let [network, mask, gateway, cost, kind] = cells;
        format!("{network:<18}{mask:<18}{gateway:<18}{cost:<7}{kind}\n")
    };
    let head = line(["Network", "Netmask", "Gateway/OwnedIP", "Cost", "Type"]);
    let mut out = format!("\t{head}\t{}", line(["-------", "-------", "---------------", "----", "----"]));
    for (at, facts) in list.iter().enumerate() {
        let said = |key: &str| facts.said(key, "-");
        let cells = [&said("network")[..], &said("netmask"), &said("gateway"), &said("cost"), "STATIC"];
        out += &format!("{})\t{}", at + 1, line(cells));
    }
    out
}

/// `vlan`, with what is bound to any of them.
pub(in super::super) fn vlan(vlan: &Facts, interfaces: &[Facts], addresses: &[Facts]) -> String {
    let id = vlan.said("id", "");
    let of = |list: &[Facts]| list.iter().filter(|facts| facts.said("id", "") == id).cloned().collect::<Vec<_>>();
    let mut out = format!("VLAN ID: {id}\tVLAN Alias Name: {}", vlan.said("aliasname", ""));
    for facts in of(interfaces) {
        out += &format!("\n\tInterfaces : {}(T)", facts.said("ifnum", ""));
    }
    for facts in of(addresses) {
        let mask = facts.said("netmask", "");
        let mask = if mask.is_empty() { mask } else { format!("\tMask: {mask}") };
        out += &format!("\n\tIPs : {}{mask}", facts.said("ipaddress", ""));
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn addresses_and_routes_stand_in_columns_and_a_vlan_tells_what_is_bound_to_it() {
        let list = json!({ "nsip": [
            { "ipaddress": "192.0.2.1", "type": "NSIP" },
            { "ipaddress": "192.0.2.20", "type": "SNIP" },
            { "ipaddress": "192.0.2.9", "type": "VIP" },
        ] });
        let shown = ns_ip(&Facts::list(&list, "nsip"));
        assert!(shown.contains("1)\t192.0.2.1                0               NetScaler IP     Active"), "{shown}");
        assert!(shown.contains("2)\t192.0.2.20               0               SNIP             Active"), "{shown}");
        assert!(shown.contains("3)\t192.0.2.9                0               VIP              Active"), "{shown}");
        let list = json!({ "route": [{ "network": "10.0.0.0", "netmask": "255.0.0.0", "gateway": "192.0.2.254" }] });
        let shown = routes(&Facts::list(&list, "route"));
        assert!(
            shown.ends_with("1)\t10.0.0.0          255.0.0.0         192.0.2.254       -      STATIC\n"),
            "{shown}"
        );
        assert_eq!(routes(&[]), "");
        let list = json!({
            "vlan": [{ "id": "200", "aliasname": "servers" }],
            "interfaces": [{ "id": "200", "ifnum": "eth1" }, { "id": "300", "ifnum": "eth0" }],
            "addresses": [{ "id": "200", "ipaddress": "10.0.2.5", "netmask": "255.255.255.0" }],
        });
        let of = |key: &str| Facts::list(&list, key);
        let shown = vlan(&of("vlan")[0], &of("interfaces"), &of("addresses"));
        let expected =
            "VLAN ID: 200\tVLAN Alias Name: servers\n\tInterfaces : eth1(T)\n\tIPs : 10.0.2.5\tMask: 255.255.255.0";
        assert_eq!(shown, expected);
    }
}
