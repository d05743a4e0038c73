//! Networks in CIDR form.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

/// `10.0.0.0/8`, `2001:db8::/32`. A bare address is its /32 or /128. Host bits must be zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Network {
    pub address: IpAddr,
    pub prefix: u8,
}

/// Why a text is no network.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadNetwork(String);

// === impl Network ===

impl Network {
    /// An IPv4-mapped IPv6 address is taken as the IPv4 address.
    pub fn contains(&self, ip: IpAddr) -> bool {
        match (self.address, ip.to_canonical()) {
            (IpAddr::V4(net), IpAddr::V4(ip)) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(self.prefix)).unwrap_or(0);
                u32::from(net) & mask == u32::from(ip) & mask
            }
            (IpAddr::V6(net), IpAddr::V6(ip)) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(self.prefix)).unwrap_or(0);
                u128::from(net) & mask == u128::from(ip) & mask
            }
            _ => false,
        }
    }

    /// Whoever shares a limit on clients with this address: itself, or its /64 of IPv6, which any household has.
    pub fn of_client(ip: IpAddr) -> IpAddr {
        Network::truncate(ip, 32, 64)
    }

    /// The address with its host bits cleared: the key under which SOURCEIP persistence groups clients.
    pub fn truncate(ip: IpAddr, prefix_v4: u8, prefix_v6: u8) -> IpAddr {
        match ip.to_canonical() {
            IpAddr::V4(ip) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(prefix_v4.min(32))).unwrap_or(0);
                IpAddr::V4((u32::from(ip) & mask).into())
            }
            IpAddr::V6(ip) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(prefix_v6.min(128))).unwrap_or(0);
                IpAddr::V6((u128::from(ip) & mask).into())
            }
        }
    }
}

impl FromStr for Network {
    type Err = BadNetwork;

    fn from_str(text: &str) -> Result<Network, BadNetwork> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let address: IpAddr =
            address.parse().map_err(|_| BadNetwork(format!("`{text}` is not an address or network")))?;
        let widest = if address.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            None => widest,
            Some(p) => p
                .parse::<u8>()
                .ok()
                .filter(|&p| p <= widest)
                .ok_or_else(|| BadNetwork(format!("prefix of `{text}` is not 0..={widest}")))?,
        };
        let network = Network { address, prefix };
        let base = Network::truncate(address, prefix, prefix);
        if base != address {
            return Err(BadNetwork(format!("`{text}` has host bits set; did you mean `{base}/{prefix}`?")));
        }
        Ok(network)
    }
}

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_holds_its_addresses_and_no_others() {
        let net: Network = "10.0.0.0/8".parse().unwrap();
        assert!(net.contains("10.255.0.1".parse().unwrap()));
        assert!(net.contains("::ffff:10.1.2.3".parse().unwrap()));
        assert!(!net.contains("11.0.0.1".parse().unwrap()));
        assert!("0.0.0.0/0".parse::<Network>().unwrap().contains("203.0.113.9".parse().unwrap()));
        assert!("::/0".parse::<Network>().unwrap().contains("2001:db8::1".parse().unwrap()));
        assert!(!"::/0".parse::<Network>().unwrap().contains("192.0.2.1".parse().unwrap()));
    }

    #[test]
    fn a_network_with_host_bits_is_refused_with_what_was_meant() {
        let err = "10.1.2.3/8".parse::<Network>().unwrap_err().to_string();
        assert!(err.contains("10.0.0.0/8"), "{err}");
        assert!("10.0.0.0/33".parse::<Network>().is_err());
    }
}
