//! Against guessing: who may try a password now. Pure; the time is passed in.
//!
//! Ten wrong passwords in a row for one name from one network close that door for five minutes, and every further wrong
//! one for twice as long as the last, up to an hour. The lock is per name *and* network, so that a guesser cannot lock
//! an operator out from elsewhere. A network that guesses at many names is slowed down as a whole, but for the names that
//! have logged in from there lately. A network is an IPv4 address, or a /64 of IPv6.
//!
//! Guesses that are being looked at count as wrong until it is known what they are: no more of them are begun than would
//! close the door, so that asking in parallel gains nothing, and none is in flight when it closes.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash as Hashed;
use std::net::IpAddr;
use std::time::Duration;

use tokio::time::Instant;

use super::sessions::Hash;
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
    pairs: Table<(String, IpAddr)>,
    networks: Table<IpAddr>,
}

#[derive(Debug)]
struct Table<K> {
    tries: HashMap<K, Tries>,
    /// Guesses that are being looked at.
    under_way: HashMap<K, u32>,
}

#[derive(Clone, Copy, Debug)]
struct Tries {
    wrong: u32,
    last: Instant,
    /// Has logged in since the entry was made.
    known: bool,
    /// Of what the passwords were checked against.
    stamp: Hash,
}

/// Who tries a password.
#[derive(Clone, Debug)]
pub(super) struct Who {
    name: String,
    network: IpAddr,
    stamp: Hash,
}

/// Why a password is not looked at now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Held {
    Locked(Locked),
    /// Those that are being looked at may close the door.
    UnderWay,
}

/// A closed door.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Locked {
    pub left: Duration,
    pub wrong: u32,
}

/// Wrong passwords of a name that still count.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub name: String,
    /// Has logged in from one of these networks before.
    pub known: bool,
    /// Of all networks together.
    pub wrong: u32,
    /// How long each network that is locked stays so.
    pub locked: Vec<Duration>,
}

// === impl Lockout ===

impl Lockout {
    /// Whether they may try.
    pub fn check(&mut self, now: Instant, who: &Who) -> Result<(), Locked> {
        let pair = self.pair(now, who);
        if let Some(locked) = pair.and_then(|tries| tries.locked(now, WRONG_MAX)) {
            return Err(locked);
        }
        let known = pair.is_some_and(|tries| tries.known);
        let network = self.networks.live(&who.network, now, NETWORK_WRONG_MAX);
        match network.and_then(|tries| tries.locked(now, NETWORK_WRONG_MAX)) {
            Some(locked) if !known => Err(locked),
            _ => Ok(()),
        }
    }

    /// As [`Lockout::check`]; a guess that may begin is under way until [`Lockout::end`].
    pub fn begin(&mut self, now: Instant, who: &Who) -> Result<(), Held> {
        self.check(now, who).map_err(Held::Locked)?;
        let pair = self.pair(now, who);
        let network = self.networks.live(&who.network, now, NETWORK_WRONG_MAX);
        let known = pair.is_some_and(|tries| tries.known);
        let key = who.key();
        if self.pairs.may_close(&key, pair, WRONG_MAX)
            || (!known && self.networks.may_close(&who.network, network, NETWORK_WRONG_MAX))
        {
            return Err(Held::UnderWay);
        }
        self.pairs.begin(key);
        self.networks.begin(who.network);
        Ok(())
    }

    /// A guess is not looked at any more.
    pub fn end(&mut self, who: &Who) {
        self.pairs.end(&who.key());
        self.networks.end(&who.network);
    }

    /// Counts a wrong password; says where that closes the door.
    pub fn wrong(&mut self, now: Instant, who: &Who) -> Option<Locked> {
        // A name that is locked already says nothing new of its network.
        let is_new = self.pair(now, who).is_none_or(|tries| tries.wrong < WRONG_MAX);
        let all = if is_new {
            Some(self.networks.count(NETWORKS_MAX, who.network, now, NETWORK_WRONG_MAX, Hash::default()))
        } else {
            self.networks.live(&who.network, now, NETWORK_WRONG_MAX)
        };
        let pair = self.pairs.count(PAIRS_MAX, who.key(), now, WRONG_MAX, who.stamp);
        pair.locked(now, WRONG_MAX).or_else(|| all?.locked(now, NETWORK_WRONG_MAX))
    }

    /// A right password forgives the wrong ones before it, and no others of its network.
    pub fn right(&mut self, now: Instant, who: &Who) {
        let wrong = self.pair(now, who).map_or(0, |tries| tries.wrong);
        let tries = Tries { wrong: 0, last: now, known: true, stamp: who.stamp };
        insert_bounded(&mut self.pairs.tries, PAIRS_MAX, who.key(), tries, Tries::worth);
        self.forgive(who.network, wrong);
    }

    /// Forgives a name everywhere; from how many networks it was locked.
    pub fn lift(&mut self, now: Instant, name: &str) -> usize {
        let name = shortened(name);
        let of_name = self.pairs.tries.iter_mut().filter(|((of, _), tries)| of == name && tries.wrong > 0);
        let lifted: Vec<(IpAddr, Tries)> = of_name
            .map(|((_, network), tries)| (*network, std::mem::replace(tries, Tries { wrong: 0, ..*tries })))
            .collect();
        for (network, tries) in &lifted {
            self.forgive(*network, tries.wrong);
        }
        lifted.iter().filter(|(_, tries)| tries.locked(now, WRONG_MAX).is_some()).count()
    }

    /// Whoever has typed wrong passwords that still count: name, whether they have logged in before, from how many networks
    /// they are locked, and until when at the latest; by name.
    pub fn counted(&mut self, now: Instant) -> Vec<Counted> {
        let mut found: BTreeMap<String, Counted> = BTreeMap::new();
        for (name, network) in self.pairs.tries.keys().cloned().collect::<Vec<_>>() {
            let Some(tries) = self.pairs.live(&(name.clone(), network), now, WRONG_MAX) else { continue };
            if tries.wrong == 0 {
                continue;
            }
            let entry =
                found.entry(name.clone()).or_insert(Counted { name, known: false, wrong: 0, locked: Vec::new() });
            entry.known |= tries.known;
            entry.wrong = entry.wrong.saturating_add(tries.wrong);
            entry.locked.extend(tries.locked(now, WRONG_MAX).map(|locked| locked.left));
        }
        found.into_values().collect()
    }

    /// What is known of them. Wrong passwords say nothing against another one: they are forgotten.
    fn pair(&mut self, now: Instant, who: &Who) -> Option<Tries> {
        let key = who.key();
        let tries = self.pairs.live(&key, now, WRONG_MAX)?;
        if tries.stamp == who.stamp {
            return Some(tries);
        }
        let tries = Tries { wrong: 0, stamp: who.stamp, ..tries };
        self.pairs.tries.insert(key, tries);
        Some(tries)
    }

    /// Takes off what one name has added to what its network did.
    fn forgive(&mut self, network: IpAddr, wrong: u32) {
        if let Some(all) = self.networks.tries.get_mut(&network) {
            all.wrong = all.wrong.saturating_sub(wrong.min(WRONG_MAX));
        }
    }
}

// === impl Who ===

impl Who {
    /// `stamp`: of what the password is checked against.
    pub fn new(name: &str, from: IpAddr, stamp: Hash) -> Who {
        Who { name: shortened(name).to_owned(), network: Network::of_client(from), stamp }
    }

    fn key(&self) -> (String, IpAddr) {
        (self.name.clone(), self.network)
    }
}

/// As much of a name as is kept.
fn shortened(name: &str) -> &str {
    let end = name.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|&end| end <= NAME_MAX).last();
    &name[..end.unwrap_or(0)]
}

// === impl Table ===

impl<K> Default for Table<K> {
    fn default() -> Table<K> {
        Table { tries: HashMap::new(), under_way: HashMap::new() }
    }
}

impl<K: Eq + Hashed + Clone> Table<K> {
    /// The entry of a key, unless it is forgotten by now.
    fn live(&mut self, key: &K, now: Instant, most: u32) -> Option<Tries> {
        let tries = *self.tries.get(key)?;
        let keep = if tries.wrong >= most || tries.known { REMEMBER } else { FORGET };
        if now.saturating_duration_since(tries.last) >= keep {
            self.tries.remove(key);
            return None;
        }
        Some(tries)
    }

    /// What is wrong while the door is closed was on its way before, and lengthens nothing.
    fn count(&mut self, bound: usize, key: K, now: Instant, most: u32, stamp: Hash) -> Tries {
        let before = self.live(&key, now, most);
        if let Some(before) = before.filter(|tries| tries.locked(now, most).is_some()) {
            return before;
        }
        let tries = Tries {
            wrong: before.map_or(0, |tries| tries.wrong).saturating_add(1),
            last: now,
            known: before.is_some_and(|tries| tries.known),
            stamp,
        };
        insert_bounded(&mut self.tries, bound, key, tries, Tries::worth);
        tries
    }

    /// Whether one more guess would be one too many, if all that are under way are wrong.
    fn may_close(&self, key: &K, tries: Option<Tries>, most: u32) -> bool {
        let under_way = self.under_way.get(key).copied().unwrap_or_default();
        under_way > 0 && tries.map_or(0, |tries| tries.wrong).saturating_add(under_way) >= most
    }

    fn begin(&mut self, key: K) {
        *self.under_way.entry(key).or_default() += 1;
    }

    fn end(&mut self, key: &K) {
        if let Some(count) = self.under_way.get_mut(key) {
            *count -= 1;
            if *count == 0 {
                self.under_way.remove(key);
            }
        }
    }
}

/// Inserts; in a full table the entry of the least worth makes room.
pub(super) fn insert_bounded<K: Eq + Hashed + Clone, V, W: Ord>(
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
mod tests;
