//! Addresses that no host of a subnet can have.

use std::net::{IpAddr, Ipv4Addr};

use super::Warnings;
use crate::config::document::Place;
use crate::model::network::InterfaceAddress;
use crate::model::vserver::Role;

/// The first and the last address of a subnet of IPv4 are the subnet's own and its broadcast; up to /30, as of two
/// addresses (/31) both are hosts (RFC 3021).
pub(super) fn addresses(cx: &mut Warnings<'_>) {
    let model = cx.model;
    let Some(network) = &model.network else { return };
    let own = network.interfaces.iter().flat_map(|one| one.addresses.iter().map(move |at| (Some(&*one.name), *at)));
    let known: Vec<_> = own.chain(network.sources.iter().map(|at| (None, *at))).collect();
    let subnets: Vec<InterfaceAddress> = known.iter().map(|(_, at)| *at).collect();
    for (interface, at) in &known {
        let path = interface.map_or_else(
            || "network.source_addresses".to_owned(),
            |name| format!("network.interface.{name}.addresses"),
        );
        warn(cx, path, at.ip, &[*at]);
    }
    for (path, address) in model.dns.listeners() {
        warn(cx, path.to_owned(), address.ip(), &subnets);
    }
    for vserver in &model.vservers {
        let Some(what) = vserver.address.and_then(|address| special(address.ip(), &subnets)) else { continue };
        let section = if matches!(vserver.role, Role::Cs { .. }) { "cs_vserver" } else { "vserver" };
        cx.warn(section, &vserver.name, Some("address"), &what);
    }
}

fn warn(cx: &mut Warnings<'_>, path: String, ip: IpAddr, subnets: &[InterfaceAddress]) {
    if let Some(what) = special(ip, subnets) {
        let text = format!("{path}: {what}");
        cx.report.warning(Place::default(), path, text);
    }
}

/// What `ip` is in the longest of `subnets` that holds it, where that is no host.
fn special(ip: IpAddr, subnets: &[InterfaceAddress]) -> Option<String> {
    let IpAddr::V4(ip) = ip.to_canonical() else { return None };
    let longest = subnets.iter().filter(|at| !at.is_host() && at.reaches(ip.into())).max_by_key(|at| at.prefix)?;
    let IpAddr::V4(in_it) = longest.ip else { return None };
    if longest.prefix > 30 {
        return None;
    }
    let hosts = u32::MAX >> longest.prefix;
    let first = u32::from(in_it) & !hosts;
    let is = match u32::from(ip) {
        at if at == first => "the subnet itself",
        at if at == first | hosts => "the broadcast address",
        _ => return None,
    };
    Some(format!("{ip} is {is} of {}/{}; no host can have it", Ipv4Addr::from(first), longest.prefix))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::tests::loaded;

    #[test]
    fn a_configuration_that_gives_one_to_a_vserver_to_dns_or_to_an_interface_is_warned_of() {
        let text = r#"
            [network]
            manager = "netlink"
            source_addresses = ["10.8.0.255/24"]
            [network.interface.eth0]
            addresses = ["10.9.0.5/24"]
            [dns]
            listen = ["10.9.0.0:53"]
            [vserver.web]
            type = "HTTP"
            address = "10.9.0.255:80"
            [vserver.well]
            type = "HTTP"
            address = "10.9.0.80:80"
        "#;
        let loaded = loaded(text);
        let said = loaded.warnings.iter().map(|warning| &*warning.what).filter(|what| what.contains("no host"));
        let broadcast = "10.9.0.255 is the broadcast address of 10.9.0.0/24; no host can have it";
        assert_eq!(
            said.collect::<Vec<_>>(),
            [
                "dns.listen: 10.9.0.0 is the subnet itself of 10.9.0.0/24; no host can have it",
                "network.source_addresses: 10.8.0.255 is the broadcast address of 10.8.0.0/24; no host can have it",
                &format!("vserver.web.address: {broadcast}"),
            ]
        );
    }

    #[test]
    fn the_first_and_the_last_address_of_a_subnet_are_no_hosts_where_it_has_more_than_two() {
        let subnets: Vec<InterfaceAddress> =
            ["10.9.0.5/24", "10.8.0.1/15", "10.7.0.0/31", "10.6.0.1/32"].map(|at| at.parse().unwrap()).into();
        let said = |ip: &str| special(ip.parse().unwrap(), &subnets);
        let first = "10.9.0.0 is the subnet itself of 10.9.0.0/24; no host can have it";
        assert_eq!(said("10.9.0.0").as_deref(), Some(first));
        let last = "10.9.0.255 is the broadcast address of 10.9.0.0/24; no host can have it";
        assert_eq!(said("10.9.0.255").as_deref(), Some(last));
        for host in ["10.9.0.80", "10.8.0.255", "10.7.0.0", "10.7.0.1", "10.6.0.1", "192.0.2.255", "2001:db8::"] {
            assert_eq!(said(host), None, "{host}");
        }
    }
}
