//! Response-rate limiting: how many answers of one kind one network gets in a second, so that nobody can aim our answers
//! at somebody else by asking in his name.
//!
//! The table has a fixed size and no lock: each slot is one word that holds whom it counts, the second and the count. A
//! client shares his bucket of four slots with others; where all four are taken the one that has the least to answer for
//! makes room. Slots are found by a hash with a seed of this process, so nobody can choose whom he pushes out.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::model::dns::RateLimit;
use crate::model::net::Network;

/// What an answer holds; counted apart, so that a flood of one kind does not silence the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    Records,
    /// NXDOMAIN, or no records.
    Nothing,
    Error,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Send,
    /// With TC and without records.
    Slip,
    Drop,
}

#[derive(Debug)]
pub struct Limiter {
    rules: RateLimit,
    seed: RandomState,
    slots: Box<[AtomicU64]>,
}

/// Slots of a bucket.
const WAYS: usize = 4;
const FIELD: u64 = 0xff_ffff;

// === impl Limiter ===

impl Limiter {
    pub fn new(rules: &RateLimit) -> Limiter {
        let slots = (rules.table as usize).next_multiple_of(WAYS);
        Limiter {
            rules: rules.clone(),
            seed: RandomState::new(),
            slots: (0..slots).map(|_| AtomicU64::new(0)).collect(),
        }
    }

    /// Counts one answer. `now`: seconds since 1970. `chance`: any number that is not always the same.
    pub fn judge(&self, client: IpAddr, kind: Kind, now: u32, chance: u64) -> Verdict {
        let rules = &self.rules;
        if rules.exempt.iter().any(|network| network.contains(client)) {
            return Verdict::Send;
        }
        let network = Network::truncate(client, rules.ipv4_prefix, rules.ipv6_prefix);
        if self.count(self.seed.hash_one((network, kind)), now) <= rules.per_second {
            return Verdict::Send;
        }
        let slips = rules.slip > 0 && chance.is_multiple_of(rules.slip.into());
        if slips { Verdict::Slip } else { Verdict::Drop }
    }

    /// The answers of this second, and what is left of earlier ones above the limit.
    fn count(&self, hash: u64, now: u32) -> u32 {
        let bucket = (hash as usize % (self.slots.len() / WAYS)) * WAYS;
        let bucket = &self.slots[bucket..bucket + WAYS];
        let tag = (hash >> 48).max(1);
        let second = u64::from(now) & FIELD;
        let left = |slot: u64| {
            let passed = second.wrapping_sub(slot >> 24) & FIELD;
            (slot & FIELD).saturating_sub(passed * u64::from(self.rules.per_second))
        };
        let place = bucket.iter().find(|slot| slot.load(Ordering::Relaxed) >> 48 == tag);
        let place = place.or_else(|| bucket.iter().min_by_key(|slot| left(slot.load(Ordering::Relaxed))));
        let Some(place) = place else { return 0 };
        // What is owed is bounded, so that a flood is forgiven a second after its end.
        let most = 2 * u64::from(self.rules.per_second);
        let next = |slot: u64| if slot >> 48 == tag { (left(slot) + 1).min(most) } else { 1 };
        let before = place
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |slot| Some(tag << 48 | second << 24 | next(slot)));
        before.map_or(0, |slot| next(slot) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limiter(per_second: u32, slip: u32) -> Limiter {
        let exempt = vec!["10.0.0.0/8".parse().unwrap()];
        Limiter::new(&RateLimit { per_second, slip, ipv4_prefix: 24, ipv6_prefix: 56, table: 1_024, exempt })
    }

    fn sent(limiter: &Limiter, client: &str, kind: Kind, now: u32, asked: u64) -> [usize; 3] {
        let mut counts = [0; 3];
        for chance in 0..asked {
            counts[limiter.judge(client.parse().unwrap(), kind, now, chance) as usize] += 1;
        }
        counts
    }

    #[test]
    fn a_network_gets_its_rate_and_every_other_answer_above_it_slips() {
        let limiter = limiter(10, 2);
        assert_eq!(sent(&limiter, "192.0.2.1", Kind::Records, 100, 30), [10, 10, 10]);
        assert_eq!(sent(&limiter, "192.0.2.99", Kind::Records, 100, 1)[0], 0, "the same network");
        assert_eq!(sent(&limiter, "192.0.3.1", Kind::Records, 100, 10), [10, 0, 0], "another one");
        assert_eq!(sent(&limiter, "192.0.2.1", Kind::Error, 100, 10), [10, 0, 0], "another kind");
        assert_eq!(sent(&limiter, "10.1.2.3", Kind::Records, 100, 1_000), [1_000, 0, 0], "exempt");
    }

    #[test]
    fn a_flood_is_forgiven_soon_after_its_end() {
        let limiter = limiter(10, 0);
        assert_eq!(sent(&limiter, "2001:db8::1", Kind::Nothing, 100, 100_000), [10, 0, 99_990]);
        assert_eq!(sent(&limiter, "2001:db8:0:ff::1", Kind::Nothing, 101, 20), [0, 0, 20], "it still goes on");
        assert_eq!(sent(&limiter, "2001:db8::1", Kind::Nothing, 103, 10), [10, 0, 0]);
    }

    #[test]
    fn seconds_may_wrap() {
        let limiter = limiter(10, 1);
        assert_eq!(sent(&limiter, "192.0.2.1", Kind::Records, FIELD as u32, 20), [10, 10, 0]);
        assert_eq!(sent(&limiter, "192.0.2.1", Kind::Records, FIELD as u32 + 3, 10), [10, 0, 0]);
    }

    #[test]
    fn the_table_does_not_grow_and_forged_networks_do_not_silence_a_client_for_long() {
        let limiter = limiter(5, 2);
        for a in 0..200u32 {
            for b in 0..200 {
                limiter.judge(IpAddr::from([20, a as u8, b, 1]), Kind::Records, 100, 0);
            }
        }
        assert_eq!(limiter.slots.len(), 1_024);
        assert_eq!(sent(&limiter, "198.51.100.1", Kind::Records, 102, 5), [5, 0, 0]);
    }
}
