//! The machine's place in the network: `[network]`.
//!
//! Where it stands, the addresses of vservers come and go with them on the machine's interfaces, and connections to
//! servers leave from the source address whose subnet reaches them. Where it does not, the machine's network is nobody's
//! business but the system's.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use super::id::Name;
use super::net::Network;

/// What an address that Bascule has added is marked with: its protocol number (`ip addr` shows `proto 98`), so that
/// another process of it knows the address as its own. No number that the kernel or a well-known daemon uses.
pub const ADDRESS_MARK: u8 = 98;

/// Longest name of an interface that Linux knows. Bytes.
const INTERFACE_MOST: usize = 15;

/// `[network]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Networking {
    /// Addresses of vservers and of DNS are added to interfaces, and removed with them. Default on.
    pub vips: bool,
    pub manager: Manager,
    /// NetScaler's SNIP: what connections to servers leave from, each with the subnet that it reaches. Added to the
    /// machine where they are not on it. At most 64.
    pub sources: Vec<InterfaceAddress>,
    /// Whom the machine asks for names.
    pub name_servers: Vec<IpAddr>,
    /// Sorted by name.
    pub interfaces: Vec<Interface>,
    /// In the order of the configuration.
    pub routes: Vec<Route>,
}

/// Who sets up the interfaces' own addresses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Manager {
    /// systemd-networkd where it runs, else netlink.
    #[default]
    Auto,
    /// systemd-networkd: it has to run.
    Networkd,
    /// Bascule itself, for static addresses.
    Netlink,
}

/// `[network.interface.NAME]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    pub name: Name,
    /// The machine's own addresses here, management among them.
    pub addresses: Vec<InterfaceAddress>,
    pub dhcp: Dhcp,
    /// Whether routers tell addresses and routes of IPv6. Default on.
    pub accept_ra: bool,
    /// It is this VLAN of another interface.
    pub vlan: Option<Vlan>,
}

/// What DHCP is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dhcp {
    #[default]
    No,
    Ipv4,
    Ipv6,
    Both,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Vlan {
    /// 1..=4094
    pub id: u16,
    /// The interface that carries it; `None`: none yet, and it is not made.
    pub on: Option<Name>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Route {
    pub to: Network,
    pub via: IpAddr,
    /// The interface that it leaves by: that of the configuration, or the one whose subnet holds `via`.
    pub interface: Name,
    /// Lower is preferred. `None`: the system's default.
    pub metric: Option<u32>,
}

/// An address and the length of its subnet's prefix: `10.0.0.5/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InterfaceAddress {
    pub ip: IpAddr,
    pub prefix: u8,
}

/// How an address that is wanted on an interface stands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum AddressState {
    /// Nobody looks after it: no `[network]`, or an address of loopback.
    #[default]
    Unmanaged,
    /// No interface can take it: none has its subnet, or it is down.
    Waiting { why: String },
    /// Whether somebody else has it is being asked.
    Probing { interface: Name },
    /// It is on the machine. `ours`: Bascule has added it, and will remove it.
    Present { interface: Name, ours: bool },
    /// It is on the machine, and somebody else claims it, too: this box announces it again.
    Contested { interface: Name, by: String },
    /// Somebody else has it: it was not added, and is tried again.
    Conflict { interface: Name, by: String },
    /// The system refuses it.
    Refused { interface: Name, why: String },
}

/// Why a text is no address of an interface.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadAddress(String);

// === impl Networking ===

impl Networking {
    /// Position of the source address for a connection to `to`: the one whose subnet holds `to`, else the one whose
    /// subnet holds the gateway of the route there. Of several the longest prefix, then the first.
    pub fn source_for(&self, to: IpAddr) -> Option<usize> {
        if self.sources.is_empty() || to.is_loopback() {
            return None;
        }
        self.source_in(to).or_else(|| {
            let routes = self.routes.iter().filter(|route| route.to.contains(to));
            let route = routes.min_by_key(|route| (u8::MAX - route.to.prefix, route.metric.unwrap_or(0)))?;
            self.source_in(route.via)
        })
    }

    fn source_in(&self, to: IpAddr) -> Option<usize> {
        let reaching = self.sources.iter().enumerate().filter(|(_, source)| source.reaches(to));
        reaching.min_by_key(|(at, source)| (u8::MAX - source.prefix, *at)).map(|(at, _)| at)
    }
}

// === impl Interface ===

impl Interface {
    /// Why `name` cannot be that of an interface.
    pub fn check_name(name: &str) -> Result<(), String> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "._-:@".contains(c);
        if name.is_empty() || name.len() > INTERFACE_MOST || matches!(name, "." | "..") || !name.chars().all(fits) {
            let most = INTERFACE_MOST;
            return Err(format!("is no name of an interface: 1 to {most} letters, digits, `.`, `_`, `-`, `:`, `@`"));
        }
        Ok(())
    }
}

// === impl InterfaceAddress ===

impl InterfaceAddress {
    /// The address by itself: /32 or /128.
    pub fn host(ip: IpAddr) -> InterfaceAddress {
        InterfaceAddress { ip, prefix: if ip.is_ipv4() { 32 } else { 128 } }
    }

    /// Whether `to` is in its subnet.
    pub fn reaches(&self, to: IpAddr) -> bool {
        Network { address: self.ip, prefix: self.prefix }.contains(to)
    }

    /// Whether it stands for itself alone.
    pub fn is_host(&self) -> bool {
        *self == InterfaceAddress::host(self.ip)
    }
}

impl FromStr for InterfaceAddress {
    type Err = BadAddress;

    fn from_str(text: &str) -> Result<InterfaceAddress, BadAddress> {
        let bad = |why: &str| BadAddress(format!("`{text}` {why}"));
        let Some((ip, prefix)) = text.split_once('/') else {
            return Err(bad("has no prefix length; write it as \"10.0.0.5/24\""));
        };
        let ip: IpAddr = ip.parse().map_err(|_| bad("is no address such as \"10.0.0.5/24\""))?;
        let widest = InterfaceAddress::host(ip).prefix;
        let prefix = prefix.parse().ok().filter(|&prefix| prefix > 0 && prefix <= widest);
        let prefix = prefix.ok_or_else(|| bad(&format!("has a prefix length that is not 1..={widest}")))?;
        if ip.is_unspecified() || ip.is_multicast() || matches!(ip, IpAddr::V4(ip) if ip.is_broadcast()) {
            return Err(bad("is no address that an interface can have"));
        }
        Ok(InterfaceAddress { ip, prefix })
    }
}

impl fmt::Display for InterfaceAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.ip, self.prefix)
    }
}

// === impl Manager ===

impl Manager {
    pub const WORDS: [&'static str; 3] = ["auto", "networkd", "netlink"];

    pub fn word(self) -> &'static str {
        match self {
            Manager::Auto => "auto",
            Manager::Networkd => "networkd",
            Manager::Netlink => "netlink",
        }
    }

    pub fn parse(word: &str) -> Option<Manager> {
        [Manager::Auto, Manager::Networkd, Manager::Netlink].into_iter().find(|m| m.word().eq_ignore_ascii_case(word))
    }
}

// === impl Dhcp ===

impl Dhcp {
    pub const WORDS: [&'static str; 4] = ["no", "ipv4", "ipv6", "both"];

    pub fn word(self) -> &'static str {
        match self {
            Dhcp::No => "no",
            Dhcp::Ipv4 => "ipv4",
            Dhcp::Ipv6 => "ipv6",
            Dhcp::Both => "both",
        }
    }

    pub fn parse(word: &str) -> Option<Dhcp> {
        [Dhcp::No, Dhcp::Ipv4, Dhcp::Ipv6, Dhcp::Both].into_iter().find(|d| d.word().eq_ignore_ascii_case(word))
    }
}

// === impl AddressState ===

impl AddressState {
    /// `waiting`, `probing`, `present`, `contested`, `conflict`, `refused`; `unmanaged`.
    pub fn word(&self) -> &'static str {
        match self {
            AddressState::Unmanaged => "unmanaged",
            AddressState::Waiting { .. } => "waiting",
            AddressState::Probing { .. } => "probing",
            AddressState::Present { .. } => "present",
            AddressState::Contested { .. } => "contested",
            AddressState::Conflict { .. } => "conflict",
            AddressState::Refused { .. } => "refused",
        }
    }

    /// The interface that has it, or is to have it.
    pub fn interface(&self) -> Option<&Name> {
        match self {
            AddressState::Unmanaged | AddressState::Waiting { .. } => None,
            AddressState::Probing { interface }
            | AddressState::Present { interface, .. }
            | AddressState::Contested { interface, .. }
            | AddressState::Conflict { interface, .. }
            | AddressState::Refused { interface, .. } => Some(interface),
        }
    }

    /// What is wrong, in words; `None` where nothing is, or not yet.
    pub fn trouble(&self) -> Option<String> {
        match self {
            AddressState::Unmanaged | AddressState::Probing { .. } | AddressState::Present { .. } => None,
            AddressState::Waiting { why } => Some(why.clone()),
            AddressState::Contested { interface, by } => {
                Some(format!("{by} claims it, too, on {interface}: it is announced again"))
            }
            AddressState::Conflict { interface, by } => {
                Some(format!("address conflict: {by} has it on {interface}; it is tried again until it is free"))
            }
            AddressState::Refused { interface, why } => Some(format!("not added to {interface}: {why}")),
        }
    }

    /// Whether it is on the machine.
    pub fn is_here(&self) -> bool {
        matches!(self, AddressState::Present { .. } | AddressState::Contested { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn network(sources: &[&str], routes: &[(&str, &str)]) -> Networking {
        Networking {
            vips: true,
            manager: Manager::Auto,
            sources: sources.iter().map(|text| text.parse().unwrap()).collect(),
            name_servers: Vec::new(),
            interfaces: Vec::new(),
            routes: routes
                .iter()
                .map(|(to, via)| Route {
                    to: to.parse().unwrap(),
                    via: via.parse().unwrap(),
                    interface: "eth0".into(),
                    metric: None,
                })
                .collect(),
        }
    }

    #[test]
    fn a_connection_leaves_from_the_source_whose_subnet_reaches_the_server() {
        let net = network(
            &["10.0.0.5/16", "10.0.1.5/24", "2001:db8:1::5/64"],
            &[("0.0.0.0/0", "10.0.0.1"), ("172.16.0.0/12", "10.0.1.1")],
        );
        let of = |to: &str| net.source_for(to.parse().unwrap()).map(|at| net.sources[at].ip.to_string());
        assert_eq!(of("10.0.1.9").as_deref(), Some("10.0.1.5"), "the longest prefix");
        assert_eq!(of("10.0.2.9").as_deref(), Some("10.0.0.5"));
        assert_eq!(of("172.16.0.9").as_deref(), Some("10.0.1.5"), "by the gateway of the longest route");
        assert_eq!(of("192.0.2.9").as_deref(), Some("10.0.0.5"), "by the default route");
        assert_eq!(of("2001:db8:1::9").as_deref(), Some("2001:db8:1::5"));
        assert_eq!(of("2001:db8:2::9"), None);
        assert_eq!(of("127.0.0.1"), None, "loopback has its own");
    }

    #[test]
    fn an_address_of_an_interface_has_its_prefix_and_is_one_that_it_can_have() {
        for good in ["10.0.0.5/24", "10.0.0.5/32", "2001:db8::5/64"] {
            assert_eq!(good.parse::<InterfaceAddress>().unwrap().to_string(), good);
        }
        for bad in ["10.0.0.5", "10.0.0.5/33", "10.0.0.5/0", "eth0/24", "0.0.0.0/8", "224.0.0.1/24", "::/64"] {
            assert!(bad.parse::<InterfaceAddress>().is_err(), "{bad}");
        }
    }

    #[test]
    fn names_of_interfaces_are_those_of_linux_and_safe_in_a_file() {
        for good in ["eth0", "eth0.100", "br-lan", "lo"] {
            assert_eq!(Interface::check_name(good), Ok(()), "{good}");
        }
        for bad in ["", "a/b", "eth*", "sixteen-letters-x", "..", "a b", "a\nb"] {
            assert!(Interface::check_name(bad).is_err(), "{bad}");
        }
    }
}
