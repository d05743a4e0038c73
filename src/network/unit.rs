//! `[network.interface]` as files of systemd-networkd: pure.

use std::fmt::Write;

use crate::model::network::{Dhcp, Interface, Networking};

/// What the names of our files begin with: before those of the image and of people, which begin with larger numbers.
pub(super) const PREFIX: &str = "10-bascule-";

/// A file below `/run/systemd/network`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unit {
    pub file: String,
    pub text: String,
}

/// In the order of the interfaces.
pub(super) fn units(network: &Networking) -> Vec<Unit> {
    let mut units = Vec::new();
    for interface in network.interfaces.iter().filter(|interface| is_made(interface)) {
        if let Some(vlan) = &interface.vlan {
            let text = format!("{HEAD}[NetDev]\nName={}\nKind=vlan\n\n[VLAN]\nId={}\n", interface.name, vlan.id);
            units.push(Unit { file: format!("{PREFIX}{}.netdev", interface.name), text });
        }
        units.push(Unit { file: format!("{PREFIX}{}.network", interface.name), text: text(network, interface) });
    }
    units
}

/// Not a VLAN that nobody carries.
fn is_made(interface: &Interface) -> bool {
    interface.vlan.as_ref().is_none_or(|vlan| vlan.on.is_some())
}

const HEAD: &str = "# Written by bascule from [network]; changes here are lost.\n";

fn text(network: &Networking, interface: &Interface) -> String {
    let mut out = format!("{HEAD}[Match]\nName={}\n\n[Network]\n", interface.name);
    let dhcp = match interface.dhcp {
        Dhcp::No => "no",
        Dhcp::Ipv4 => "ipv4",
        Dhcp::Ipv6 => "ipv6",
        Dhcp::Both => "yes",
    };
    let _ = writeln!(out, "DHCP={dhcp}");
    let _ = writeln!(out, "IPv6AcceptRA={}", if interface.accept_ra { "yes" } else { "no" });
    // VIPs are not its own, and stay where it begins anew.
    out.push_str("KeepConfiguration=static\n");
    for address in &interface.addresses {
        let _ = writeln!(out, "Address={address}");
    }
    for server in &network.name_servers {
        let _ = writeln!(out, "DNS={server}");
    }
    let carried =
        network.interfaces.iter().filter(|i| i.vlan.as_ref().is_some_and(|v| v.on.as_ref() == Some(&interface.name)));
    for vlan in carried {
        let _ = writeln!(out, "VLAN={}", vlan.name);
    }
    for route in network.routes.iter().filter(|route| route.interface == interface.name) {
        let _ = write!(out, "\n[Route]\nDestination={}\nGateway={}\n", route.to, route.via);
        if let Some(metric) = route.metric {
            let _ = writeln!(out, "Metric={metric}");
        }
    }
    out
}

/// What only systemd-networkd can do of what is asked for: a sentence each.
pub(super) fn beyond_netlink(network: &Networking) -> Vec<String> {
    let mut beyond = Vec::new();
    for interface in &network.interfaces {
        if interface.dhcp != Dhcp::No {
            beyond.push(format!("DHCP on {}", interface.name));
        }
        if interface.vlan.is_some() && is_made(interface) {
            beyond.push(format!("the VLAN {}", interface.name));
        }
    }
    beyond.extend(network.routes.iter().map(|route| format!("the route to {}", route.to)));
    beyond.extend((!network.name_servers.is_empty()).then(|| "name servers".to_owned()));
    beyond.iter_mut().for_each(|what| what.push_str(": needs systemd-networkd, which does not run here"));
    beyond
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::network::{Manager, Route, Vlan};

    fn network() -> Networking {
        let interface = |name: &str, addresses: &[&str]| Interface {
            name: name.into(),
            addresses: addresses.iter().map(|text| text.parse().unwrap()).collect(),
            dhcp: Dhcp::No,
            accept_ra: false,
            vlan: None,
        };
        let vlan = Some(Vlan { id: 100, on: Some("eth0".into()) });
        Networking {
            vips: true,
            manager: Manager::Auto,
            sources: Vec::new(),
            name_servers: vec!["10.0.0.53".parse().unwrap()],
            interfaces: vec![
                interface("eth0", &["10.0.0.5/24", "2001:db8::5/64"]),
                Interface { dhcp: Dhcp::Both, accept_ra: true, vlan, ..interface("eth0.100", &[]) },
            ],
            routes: vec![Route {
                to: "0.0.0.0/0".parse().unwrap(),
                via: "10.0.0.1".parse().unwrap(),
                interface: "eth0".into(),
                metric: Some(100),
            }],
        }
    }

    #[test]
    fn an_interface_is_a_file_and_a_vlan_two() {
        let units = units(&network());
        let shown: Vec<String> = units.iter().map(|unit| format!("== {}\n{}", unit.file, unit.text)).collect();
        let expected = "\
== 10-bascule-eth0.network
# Written by bascule from [network]; changes here are lost.
[Match]
Name=eth0

[Network]
DHCP=no
IPv6AcceptRA=no
KeepConfiguration=static
Address=10.0.0.5/24
Address=2001:db8::5/64
DNS=10.0.0.53
VLAN=eth0.100

[Route]
Destination=0.0.0.0/0
Gateway=10.0.0.1
Metric=100
== 10-bascule-eth0.100.netdev
# Written by bascule from [network]; changes here are lost.
[NetDev]
Name=eth0.100
Kind=vlan

[VLAN]
Id=100
== 10-bascule-eth0.100.network
# Written by bascule from [network]; changes here are lost.
[Match]
Name=eth0.100

[Network]
DHCP=yes
IPv6AcceptRA=yes
KeepConfiguration=static
DNS=10.0.0.53
";
        assert_eq!(shown.concat(), expected);
    }

    #[test]
    fn what_netlink_does_not_do_is_said_one_by_one() {
        let said = beyond_netlink(&network());
        assert_eq!(said.len(), 4, "{said:?}");
        assert_eq!(said[0], "DHCP on eth0.100: needs systemd-networkd, which does not run here");
    }
}
