//! Against guessing: who may try a password now. Pure; the time is passed in.
//!
//! Ten wrong passwords in a row for one name from one network close that door for five minutes, and every further wrong
//! one for twice as long as the last, up to an hour. The lock is per name *and* network, so that a guesser cannot lock
//! an operator out from elsewhere. A network that guesses at many names is slowed down as a whole, but for the names that
//! have logged in from there lately. A network is an IPv4 address, or a /64 of IPv6.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::IpAddr;
use std::time::Duration;

use tokio::time::Instant;

use crate::model::net::Network;

/// Wrong passwords in a row for one name that close the door.
pub(super) const WRONG_MAX: u32 = 10;
/// Wrong passwords in a row for all names of a network that close it.
const NETWORK_WRONG_MAX: u32 = 100;
const LOCKED: Duration = Duration::from_secs(300);
const LOCKED_MOST: Duration = Duration::from_secs(3_600);
/// Wrong passwords that did not close the door are forgotten after this long without another.
const FORGET: Duration = Duration::from_secs(15 * 60);
/// Those that did, and logins, are remembered for this long.
const REMEMBER: Duration = Duration::from_secs(24 * 3_600);
const PAIRS_MAX: usize = 4_096;
const NETWORKS_MAX: usize = 4_096;
/// Longer names are nobody's; they are not kept.
const NAME_MAX: usize = 256;

#[derive(Debug, Default)]
pub(crate) struct Lockout {
    pairs: HashMap<(String, IpAddr), Tries>,
    networks: HashMap<IpAddr, Tries>,
}

#[derive(Clone, Copy, Debug)]
struct Tries {
    wrong: u32,
    last: Instant,
    /// Has logged in since the entry was made.
    known: bool,
}

/// A closed door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Locked {
    pub left: Duration,
    pub wrong: u32,
}

// === impl Lockout ===

impl Lockout {
    /// Whether `name` may try from there.
    pub fn check(&mut self, now: Instant, name: &str, from: IpAddr) -> Result<(), Locked> {
        let network = network_of(from);
        let pair = live(&mut self.pairs, &key(name, network), now, WRONG_MAX);
        if let Some(locked) = pair.and_then(|tries| tries.locked(now, WRONG_MAX)) {
            return Err(locked);
        }
        let known = pair.is_some_and(|tries| tries.known);
        let network = live(&mut self.networks, &network, now, NETWORK_WRONG_MAX);
        match network.and_then(|tries| tries.locked(now, NETWORK_WRONG_MAX)) {
            Some(locked) if !known => Err(locked),
            _ => Ok(()),
        }
    }

    /// Counts a wrong password; says where that closes the door.
    pub fn wrong(&mut self, now: Instant, name: &str, from: IpAddr) -> Option<Locked> {
        let network = network_of(from);
        let all = count(&mut self.networks, NETWORKS_MAX, network, now, NETWORK_WRONG_MAX);
        let pair = count(&mut self.pairs, PAIRS_MAX, key(name, network), now, WRONG_MAX);
        pair.locked(now, WRONG_MAX).or_else(|| all.locked(now, NETWORK_WRONG_MAX))
    }

    /// A right password forgives the wrong ones before it.
    pub fn right(&mut self, now: Instant, name: &str, from: IpAddr) {
        let network = network_of(from);
        let tries = Tries { wrong: 0, last: now, known: true };
        insert_bounded(&mut self.pairs, PAIRS_MAX, key(name, network), tries, Tries::worth);
        if let Some(all) = self.networks.get_mut(&network) {
            // Somebody who may is there; who guesses beside is counted on.
            all.wrong = all.wrong.min(NETWORK_WRONG_MAX / 2);
        }
    }
}

fn key(name: &str, network: IpAddr) -> (String, IpAddr) {
    let end = name.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|&end| end <= NAME_MAX).last();
    (name[..end.unwrap_or(0)].to_owned(), network)
}

/// An address, or its /64.
fn network_of(from: IpAddr) -> IpAddr {
    Network::truncate(from, 32, 64)
}

/// The entry of a key, unless it is forgotten by now.
fn live<K: Eq + Hash>(table: &mut HashMap<K, Tries>, key: &K, now: Instant, most: u32) -> Option<Tries> {
    let tries = *table.get(key)?;
    let keep = if tries.wrong >= most || tries.known { REMEMBER } else { FORGET };
    if now.saturating_duration_since(tries.last) >= keep {
        table.remove(key);
        return None;
    }
    Some(tries)
}

fn count<K: Eq + Hash + Clone>(table: &mut HashMap<K, Tries>, bound: usize, key: K, now: Instant, most: u32) -> Tries {
    let before = live(table, &key, now, most);
    let tries = Tries {
        wrong: before.map_or(0, |tries| tries.wrong).saturating_add(1),
        last: now,
        known: before.is_some_and(|tries| tries.known),
    };
    insert_bounded(table, bound, key, tries, Tries::worth);
    tries
}

/// Inserts; in a full table the entry of the least worth makes room.
pub(super) fn insert_bounded<K: Eq + Hash + Clone, V, W: Ord>(
    table: &mut HashMap<K, V>,
    most: usize,
    key: K,
    value: V,
    worth: impl Fn(&V) -> W,
) {
    if table.len() >= most && !table.contains_key(&key) {
        let least = table.iter().min_by_key(|(_, v)| worth(v)).map(|(k, _)| k.clone());
        if let Some(least) = least {
            table.remove(&least);
        }
    }
    table.insert(key, value);
}

// === impl Tries ===

impl Tries {
    fn locked(self, now: Instant, most: u32) -> Option<Locked> {
        let beyond = self.wrong.checked_sub(most)?;
        let length = LOCKED.saturating_mul(2_u32.saturating_pow(beyond.min(16))).min(LOCKED_MOST);
        let left = (self.last + length).saturating_duration_since(now);
        (!left.is_zero()).then_some(Locked { left, wrong: self.wrong })
    }

    /// Locks are kept before logins, logins before what is merely counted; of equals the newer.
    fn worth(&self) -> (u8, Instant) {
        let rank = if self.wrong >= WRONG_MAX { 2 } else { u8::from(self.known) };
        (rank, self.last)
    }
}

// === impl Locked ===

impl Locked {
    /// Whole seconds, rounded up.
    pub fn seconds(self) -> u64 {
        self.left.as_secs() + u64::from(self.left.subsec_nanos() > 0)
    }
}

/// `Locked for 4 min 12 s after 10 wrong passwords`
impl std::fmt::Display for Locked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (minutes, seconds) = (self.seconds() / 60, self.seconds() % 60);
        f.write_str("Locked for ")?;
        match (minutes, seconds) {
            (0, s) => write!(f, "{s} s")?,
            (m, 0) => write!(f, "{m} min")?,
            (m, s) => write!(f, "{m} min {s} s")?,
        }
        write!(f, " after {} wrong passwords", self.wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn at(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    /// So many wrong passwords at once.
    fn wrong(lockout: &mut Lockout, now: Instant, times: u32, name: &str, from: &str) -> Option<Locked> {
        (0..times).map(|_| lockout.wrong(now, name, at(from))).last().flatten()
    }

    #[tokio::test(start_paused = true)]
    async fn ten_wrong_passwords_close_the_door_for_one_name_from_one_network() {
        let (mut lockout, now) = (Lockout::default(), Instant::now());
        assert_eq!(wrong(&mut lockout, now, 9, "ops", "192.0.2.1"), None);
        let locked = lockout.wrong(now, "ops", at("192.0.2.1")).unwrap();
        assert_eq!(locked.to_string(), "Locked for 5 min after 10 wrong passwords");
        let later = now + 48 * SECOND;
        let locked = lockout.check(later, "ops", at("192.0.2.1")).unwrap_err();
        assert_eq!(
            (locked.to_string(), locked.seconds()),
            ("Locked for 4 min 12 s after 10 wrong passwords".into(), 252)
        );
        for (name, from) in [("ops", "192.0.2.2"), ("ops", "::1"), ("eve", "192.0.2.1")] {
            assert_eq!(lockout.check(later, name, at(from)), Ok(()), "{name} {from}");
        }
        assert_eq!(lockout.check(now + LOCKED, "ops", at("192.0.2.1")), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn every_further_wrong_password_locks_for_twice_as_long_up_to_an_hour() {
        let (mut lockout, mut now) = (Lockout::default(), Instant::now());
        wrong(&mut lockout, now, 10, "ops", "192.0.2.1");
        for minutes in [5, 10, 20, 40, 60, 60] {
            let left = lockout.check(now, "ops", at("192.0.2.1")).unwrap_err().left;
            assert_eq!(left, minutes * 60 * SECOND);
            now += left;
            assert_eq!(lockout.check(now, "ops", at("192.0.2.1")), Ok(()), "one try each time");
            lockout.wrong(now, "ops", at("192.0.2.1"));
        }
        now += REMEMBER;
        assert_eq!(lockout.wrong(now, "ops", at("192.0.2.1")), None, "forgotten after a day of peace");
    }

    #[tokio::test(start_paused = true)]
    async fn a_right_password_forgives_and_few_wrong_ones_are_forgotten() {
        let (mut lockout, now) = (Lockout::default(), Instant::now());
        wrong(&mut lockout, now, 9, "ops", "192.0.2.1");
        lockout.right(now, "ops", at("192.0.2.1"));
        assert_eq!(wrong(&mut lockout, now, 9, "ops", "192.0.2.1"), None);
        wrong(&mut lockout, now, 9, "eve", "192.0.2.1");
        assert_eq!(wrong(&mut lockout, now + FORGET, 9, "eve", "192.0.2.1"), None);
    }

    #[tokio::test(start_paused = true)]
    async fn a_network_of_ipv6_addresses_guesses_as_one() {
        let (mut lockout, now) = (Lockout::default(), Instant::now());
        for host in 1..=10 {
            lockout.wrong(now, "ops", at(&format!("2001:db8::{host}")));
        }
        assert!(lockout.check(now, "ops", at("2001:db8::ffff")).is_err());
        assert!(lockout.check(now, "ops", at("2001:db8:0:1::1")).is_ok());
        wrong(&mut lockout, now, 10, "ops", "192.0.2.1");
        assert!(lockout.check(now, "ops", at("::ffff:192.0.2.1")).is_err(), "mapped addresses are the same ones");
    }

    #[tokio::test(start_paused = true)]
    async fn guessing_at_many_names_closes_a_network_but_for_who_is_known_there() {
        let (mut lockout, now) = (Lockout::default(), Instant::now());
        lockout.right(now, "ops", at("192.0.2.1"));
        for name in 0..100 {
            lockout.wrong(now, &format!("name{name}"), at("192.0.2.1"));
        }
        assert!(lockout.check(now, "another", at("192.0.2.1")).is_err());
        assert_eq!(lockout.check(now, "ops", at("192.0.2.1")), Ok(()));
        assert_eq!(lockout.check(now, "another", at("192.0.2.2")), Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn tables_stay_bounded_and_a_lock_is_not_washed_out() {
        let (mut lockout, now) = (Lockout::default(), Instant::now());
        wrong(&mut lockout, now, 10, "ops", "192.0.2.1");
        for host in 0..10_000_u32 {
            let name = "x".repeat(1_000) + &host.to_string();
            lockout.wrong(now + SECOND, &name, std::net::Ipv4Addr::from(host).into());
        }
        assert!(lockout.pairs.len() <= PAIRS_MAX && lockout.networks.len() <= NETWORKS_MAX);
        assert!(lockout.pairs.keys().all(|(name, _)| name.len() <= NAME_MAX));
        assert!(lockout.check(now + SECOND, "ops", at("192.0.2.1")).is_err());
    }
}
