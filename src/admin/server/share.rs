//! How many connections one address may have: without a limit of its own, one peer that opens connections and says
//! nothing would take all there are, and keep every other manager out.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::model::net::Network;

/// Of the connections at once, for an address of another machine.
const REMOTE_MAX: u32 = 64;
/// For the loopback addresses: everything on this machine, and every tunnel and proxy to it, comes from there.
const LOOPBACK_MAX: u32 = 192;

/// Connections open by address.
#[derive(Clone, Default)]
pub(super) struct Shares(Arc<Mutex<HashMap<IpAddr, u32>>>);

/// One connection of an address; counts until dropped.
pub(super) struct Share {
    shares: Shares,
    key: IpAddr,
}

// === impl Shares ===

impl Shares {
    /// `None`: the address has all it may have.
    pub fn take(&self, peer: IpAddr) -> Option<Share> {
        let key = key(peer);
        let most = if key.is_loopback() { LOOPBACK_MAX } else { REMOTE_MAX };
        let mut open = self.0.lock();
        let count = open.entry(key).or_default();
        if *count >= most {
            return None;
        }
        *count += 1;
        Some(Share { shares: self.clone(), key })
    }
}

/// A host with IPv6 has a /64 to choose addresses from.
fn key(peer: IpAddr) -> IpAddr {
    let peer = peer.to_canonical();
    if peer.is_loopback() { peer } else { Network::of_client(peer) }
}

// === impl Share ===

impl Drop for Share {
    fn drop(&mut self) {
        let mut open = self.shares.0.lock();
        if let Some(count) = open.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                open.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take_all(shares: &Shares, peer: &str) -> Vec<Share> {
        std::iter::from_fn(|| shares.take(peer.parse().unwrap())).collect()
    }

    #[test]
    fn one_address_cannot_take_the_connections_of_another() {
        let shares = Shares::default();
        let taken = take_all(&shares, "192.0.2.1");
        assert_eq!(taken.len(), 64);
        assert!(shares.take("::ffff:192.0.2.1".parse().unwrap()).is_none());
        assert!(shares.take("192.0.2.2".parse().unwrap()).is_some());
        drop(taken);
        assert!(shares.0.lock().is_empty());
    }

    #[test]
    fn a_network_of_ipv6_addresses_counts_as_one() {
        let shares = Shares::default();
        let _taken = take_all(&shares, "2001:db8::1");
        assert!(shares.take("2001:db8::ffff:2".parse().unwrap()).is_none());
        assert!(shares.take("2001:db8:0:1::1".parse().unwrap()).is_some());
        assert_eq!(take_all(&shares, "::1").len(), 192);
    }
}
