//! What is seen of the machine: its links and their addresses.

use std::fmt;
use std::net::IpAddr;

use crate::model::id::Name;
use crate::model::network::InterfaceAddress;

/// A hardware address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Mac(pub [u8; 6]);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Link {
    /// The kernel's number of it. A link that is removed and made again has another.
    pub index: u32,
    pub name: Name,
    /// `None`: it has none of Ethernet's.
    pub mac: Option<Mac>,
    /// Somebody has set it up.
    pub set_up: bool,
    /// It can send: set up, and with a carrier.
    pub up: bool,
    pub loopback: bool,
    /// Neighbours on it are found by asking: it is Ethernet, and no loopback.
    pub asks: bool,
}

/// An address on a link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Assigned {
    pub link: u32,
    pub address: InterfaceAddress,
    /// It bears the mark.
    pub ours: bool,
    /// The kernel is still finding out whether it is free (IPv6).
    pub tentative: bool,
    /// The kernel has found out that it is not.
    pub duplicate: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Machine {
    pub links: Vec<Link>,
    /// Those that were down for a moment since the last look, however they are now.
    pub fell: Vec<u32>,
    pub addresses: Vec<Assigned>,
}

// === impl Machine ===

impl Machine {
    pub fn link(&self, index: u32) -> Option<&Link> {
        self.links.iter().find(|link| link.index == index)
    }

    pub fn named(&self, name: &str) -> Option<&Link> {
        self.links.iter().find(|link| *link.name == *name)
    }

    /// The link whose subnet holds `ip`: by the longest prefix, then the first. Addresses that bear the mark stand for
    /// themselves alone, and so do those of loopback.
    pub fn with_subnet_of(&self, ip: IpAddr) -> Option<&Link> {
        let reaching = self.addresses.iter().filter(|a| !a.address.is_host() && a.address.reaches(ip));
        let reaching = reaching.filter_map(|a| Some((a.address.prefix, self.link(a.link)?)));
        reaching
            .filter(|(_, link)| !link.loopback)
            .min_by_key(|(prefix, link)| (u8::MAX - prefix, link.index))
            .map(|(_, link)| link)
    }

    /// Where `ip` is.
    pub fn places(&self, ip: IpAddr) -> impl Iterator<Item = &Assigned> {
        self.addresses.iter().filter(move |a| a.address.ip == ip)
    }

    /// Whether it is the hardware address of one of its own links.
    pub fn is_own(&self, mac: Mac) -> bool {
        self.links.iter().any(|link| link.mac == Some(mac))
    }
}

/// `02:00:5e:00:53:01`
impl fmt::Display for Mac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}
