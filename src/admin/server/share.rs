//! How many connections one peer may have: without a limit of its own, one that opens connections and says nothing would
//! take all there are, and keep every other manager out.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::sync::Arc;

use parking_lot::Mutex;

use crate::model::net::Network;

/// Of the connections at once, for an address of another machine.
const REMOTE_MAX: u32 = 64;
/// For the loopback addresses: everything on this machine, and every tunnel and proxy to it, comes from there.
const LOOPBACK_MAX: u32 = 192;

/// Over the Unix socket, for one user who has a role.
const USER_MAX: u32 = 64;
/// For all of them. The rest is root's and the own user's, whatever others do: theirs is the door that is never locked.
const USERS_MAX: u32 = 176;
/// For one user without a role, who is told so.
const STRANGER_MAX: u32 = 4;
const STRANGERS_MAX: u32 = 16;

/// Things open by who opened them: connections by address or user.
pub(super) struct Shares<K: Eq + Hash>(Arc<Mutex<Open<K>>>);

struct Open<K> {
    by: HashMap<K, u32>,
    all: u32,
}

/// One of them; counts until dropped.
pub(super) struct Share<K: Eq + Hash> {
    shares: Shares<K>,
    key: K,
}

/// What users of the Unix socket have, but for root and the own user.
#[derive(Clone, Default)]
pub(super) struct Seats {
    users: Shares<u32>,
    strangers: Shares<u32>,
}

// === impl Shares ===

impl<K: Eq + Hash> Default for Shares<K> {
    fn default() -> Shares<K> {
        Shares(Arc::new(Mutex::new(Open { by: HashMap::new(), all: 0 })))
    }
}

impl<K: Eq + Hash> Clone for Shares<K> {
    fn clone(&self) -> Shares<K> {
        Shares(Arc::clone(&self.0))
    }
}

impl<K: Eq + Hash + Clone> Shares<K> {
    /// `None`: `key` has `each` already, or all together have `all`.
    fn take_of(&self, key: K, each: u32, all: u32) -> Option<Share<K>> {
        let mut open = self.0.lock();
        let count = open.by.get(&key).copied().unwrap_or_default();
        if count >= each || open.all >= all {
            return None;
        }
        open.by.insert(key.clone(), count + 1);
        open.all += 1;
        Some(Share { shares: self.clone(), key })
    }
}

impl Shares<IpAddr> {
    /// `None`: the address has all it may have.
    pub fn take(&self, peer: IpAddr) -> Option<Share<IpAddr>> {
        let key = key(peer);
        let most = if key.is_loopback() { LOOPBACK_MAX } else { REMOTE_MAX };
        self.take_of(key, most, u32::MAX)
    }
}

/// A host with IPv6 has a /64 to choose addresses from.
fn key(peer: IpAddr) -> IpAddr {
    let peer = peer.to_canonical();
    if peer.is_loopback() { peer } else { Network::of_client(peer) }
}

// === impl Share ===

impl<K: Eq + Hash> Drop for Share<K> {
    fn drop(&mut self) {
        let mut open = self.shares.0.lock();
        open.all -= 1;
        if let Some(count) = open.by.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                open.by.remove(&self.key);
            }
        }
    }
}

// === impl Seats ===

impl Seats {
    /// For somebody of whom it is not known yet whether they have a role, or who has one.
    pub fn user(&self, uid: u32) -> Option<Share<u32>> {
        self.users.take_of(uid, USER_MAX, USERS_MAX)
    }

    /// For somebody who has none.
    pub fn stranger(&self, uid: u32) -> Option<Share<u32>> {
        self.strangers.take_of(uid, STRANGER_MAX, STRANGERS_MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take_all(shares: &Shares<IpAddr>, peer: &str) -> Vec<Share<IpAddr>> {
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
        assert!(shares.0.lock().by.is_empty() && shares.0.lock().all == 0);
    }

    #[test]
    fn a_network_of_ipv6_addresses_counts_as_one() {
        let shares = Shares::default();
        let _taken = take_all(&shares, "2001:db8::1");
        assert!(shares.take("2001:db8::ffff:2".parse().unwrap()).is_none());
        assert!(shares.take("2001:db8:0:1::1".parse().unwrap()).is_some());
        assert_eq!(take_all(&shares, "::1").len(), 192);
    }

    #[test]
    fn users_of_the_socket_leave_places_to_root_and_those_without_a_role_to_those_with_one() {
        let seats = Seats::default();
        let users = |uid| std::iter::from_fn(|| seats.user(uid)).collect::<Vec<_>>();
        let strangers = |uid| std::iter::from_fn(|| seats.stranger(uid)).collect::<Vec<_>>();
        let taken: Vec<Vec<Share<u32>>> = (1..100).map(strangers).collect();
        assert_eq!((taken[0].len(), taken.iter().map(Vec::len).sum::<usize>()), (4, 16));
        let taken: Vec<Vec<Share<u32>>> = (1..100).map(users).collect();
        assert_eq!((taken[0].len(), taken.iter().map(Vec::len).sum::<usize>()), (64, 176));
        let left = super::super::CONNECTIONS_MAX - 16 - 176;
        assert!(left >= 64, "for root and the own user");
    }
}
