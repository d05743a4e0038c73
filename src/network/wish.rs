//! Which addresses are wanted on the machine, and for whom.

use std::collections::BTreeMap;
use std::net::IpAddr;

use crate::model::Model;
use crate::model::id::Name;
use crate::model::network::InterfaceAddress;

/// An address that is wanted. One address is one wish, however many want it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wish {
    pub address: InterfaceAddress,
    /// `None`: the interface whose subnet holds it.
    pub interface: Option<Name>,
    /// Vservers that listen there, in the order of their names.
    pub vservers: Vec<Name>,
    /// DNS is answered there.
    pub dns: bool,
    /// Connections to servers leave from it.
    pub source: bool,
    /// The machine's own: it stays when Bascule stops, and is not asked for.
    pub own: bool,
}

/// What `model` wants. `interfaces`: also the interfaces' own static addresses, which nobody else sets up.
pub(super) fn wishes(model: &Model, interfaces: bool) -> BTreeMap<IpAddr, Wish> {
    let mut wishes = BTreeMap::new();
    let Some(network) = &model.network else { return wishes };
    if interfaces {
        for interface in network.interfaces.iter().filter(|one| one.vlan.as_ref().is_none_or(|vlan| vlan.on.is_some()))
        {
            for address in &interface.addresses {
                let wish = wish(&mut wishes, *address);
                wish.interface = Some(Name::clone(&interface.name));
                wish.own = true;
            }
        }
    }
    for source in &network.sources {
        wish(&mut wishes, InterfaceAddress::host(source.ip)).source = true;
    }
    if !network.vips {
        return wishes;
    }
    for vserver in &model.vservers {
        let Some(ip) = vserver.address.map(|address| address.ip()) else { continue };
        if !is_put(ip) && (vserver.interface.is_none() || ip.is_unspecified()) {
            continue;
        }
        let wish = wish(&mut wishes, InterfaceAddress::host(ip));
        wish.vservers.push(Name::clone(&vserver.name));
        if wish.interface.is_none() {
            wish.interface.clone_from(&vserver.interface);
        }
    }
    for (_, address) in model.dns.listeners().filter(|(_, address)| is_put(address.ip())) {
        wish(&mut wishes, InterfaceAddress::host(address.ip())).dns = true;
    }
    wishes
}

/// Loopback is there by itself, and no address is every address.
fn is_put(ip: IpAddr) -> bool {
    !ip.is_unspecified() && !ip.is_loopback()
}

fn wish(wishes: &mut BTreeMap<IpAddr, Wish>, address: InterfaceAddress) -> &mut Wish {
    wishes.entry(address.ip).or_insert_with(|| Wish {
        address,
        interface: None,
        vservers: Vec::new(),
        dns: false,
        source: false,
        own: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::network::{Dhcp, Interface, Manager, Networking};
    use crate::model::service::Protocol;
    use crate::model::vserver::Vserver;

    #[test]
    fn an_address_is_wanted_once_whoever_wants_it() {
        let vserver = |name: &str, address: Option<&str>, interface: Option<&str>| Vserver {
            address: address.map(|address| address.parse().unwrap()),
            interface: interface.map(Name::from),
            ..Vserver::new(name, Protocol::Http)
        };
        let mut model = Model::empty();
        model.vservers = vec![
            vserver("a", Some("10.0.0.80:80"), None),
            vserver("b", Some("10.0.0.80:443"), Some("eth1")),
            vserver("c", Some("127.0.0.1:80"), None),
            vserver("d", None, None),
            vserver("e", Some("0.0.0.0:81"), None),
        ];
        model.dns.listen = vec!["10.0.0.53:53".parse().unwrap(), "127.0.0.1:53".parse().unwrap()];
        assert!(wishes(&model, true).is_empty(), "nobody looks after addresses without `[network]`");
        let interface = Interface {
            name: "eth0".into(),
            addresses: vec!["10.0.0.5/24".parse().unwrap()],
            dhcp: Dhcp::No,
            accept_ra: true,
            vlan: None,
        };
        model.network = Some(Networking {
            vips: true,
            manager: Manager::Auto,
            sources: vec!["10.0.0.9/24".parse().unwrap(), "10.0.0.5/24".parse().unwrap()],
            name_servers: Vec::new(),
            interfaces: vec![interface],
            routes: Vec::new(),
        });
        let all = wishes(&model, true);
        let shown: Vec<String> = all
            .values()
            .map(|w| format!("{} {:?} {:?} {} {}", w.address, w.interface.as_deref(), w.vservers, w.source, w.own))
            .collect();
        assert_eq!(
            shown,
            [
                "10.0.0.5/24 Some(\"eth0\") [] true true",
                "10.0.0.9/32 None [] true false",
                "10.0.0.53/32 None [] false false",
                "10.0.0.80/32 Some(\"eth1\") [\"a\", \"b\"] false false",
            ]
        );
        assert!(!wishes(&model, false)[&IpAddr::from([10, 0, 0, 5])].own, "systemd-networkd sets it up");
    }
}
