//! What one client may do: a rate with a burst (the generic cell rate algorithm) and a number of things at once.
//!
//! A client's state is one time: when its bucket will be full again. A client that comes no more often than its rate
//! finds its bucket full whenever it comes; one that came `burst` times at once has to wait for one interval of the rate
//! before the next.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use super::persistence::Key;
use crate::model::limit::{ClientKey, ClientLimit};
use crate::model::net::Network;
use crate::model::time::Tick;

/// Clients that a limit keeps count of at most. Where there are more, one that has been quiet makes room, so that an
/// attack from many addresses costs nothing but its own accounts.
pub const CLIENTS_MAX: usize = 100_000;

/// Accounts looked at when one is opened; a constant, so that no request pays for the whole table.
const SLOTS_LOOKED_AT: usize = 8;

/// What a client is told that has too much in flight: nobody knows when it ends.
const RETRY_IN_FLIGHT: Duration = Duration::from_secs(1);

/// The clients of one limit.
#[derive(Debug, Default)]
pub struct Buckets {
    slots: Vec<Account>,
    index: HashMap<Key, u32>,
    hand: usize,
}

#[derive(Debug)]
struct Account {
    client: Key,
    /// When its bucket is full again.
    full_at: Tick,
    /// In flight or open.
    open: u32,
}

/// A client over its limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over {
    /// When it may come again.
    pub retry_after: Duration,
}

/// Who counts as one client. `value` is that of [`ClientKey::Value`]; requests without one share an account.
pub fn client(limit: &ClientLimit, address: IpAddr, value: Option<&str>) -> Key {
    match &limit.key {
        ClientKey::Address { prefix_v4, prefix_v6 } => Key::Client(Network::truncate(address, *prefix_v4, *prefix_v6)),
        ClientKey::Value(_) => value.and_then(Key::value).unwrap_or_else(|| Key::Value("".into())),
    }
}

// === impl Over ===

impl Over {
    /// For Retry-After: at least 1.
    pub fn retry_after_s(&self) -> u64 {
        self.retry_after.as_secs()
            + u64::from(self.retry_after.subsec_nanos() > 0).max(u64::from(self.retry_after.is_zero()))
    }
}

// === impl Buckets ===

impl Buckets {
    /// Counts one request or connection of `client`, which is open until [`Buckets::close`].
    pub fn open(&mut self, limit: &ClientLimit, client: Key, now: Tick, most: usize) -> Result<(), Over> {
        let position = self.account(client, now, most);
        let account = &mut self.slots[position];
        if limit.concurrency.is_some_and(|most| account.open >= most) {
            return Err(Over { retry_after: RETRY_IN_FLIGHT });
        }
        if let Some(rate) = limit.rate_per_s {
            let interval_us = 1_000_000 / u64::from(rate.max(1));
            let burst_us = interval_us * u64::from(limit.burst.max(1) - 1);
            let from = account.full_at.0.saturating_sub(burst_us);
            if from > now.0 {
                return Err(Over { retry_after: Duration::from_micros(from - now.0) });
            }
            account.full_at = Tick(account.full_at.0.max(now.0) + interval_us);
        }
        account.open = account.open.saturating_add(1);
        Ok(())
    }

    /// What [`Buckets::open`] counted is over. Of a client whose account had to make room nothing is known any more.
    pub fn close(&mut self, client: &Key) {
        if let Some(&position) = self.index.get(client) {
            let account = &mut self.slots[position as usize];
            account.open = account.open.saturating_sub(1);
        }
    }

    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    fn account(&mut self, client: Key, now: Tick, most: usize) -> usize {
        if let Some(&position) = self.index.get(&client) {
            return position as usize;
        }
        self.make_room(now, most);
        let position = self.slots.len();
        self.index.insert(client.clone(), u32::try_from(position).expect("bounded far below 2^32"));
        self.slots.push(Account { client, full_at: Tick::ZERO, open: 0 });
        position
    }

    /// Closes accounts that say nothing, and where there are too many the quietest of those looked at.
    fn make_room(&mut self, now: Tick, most: usize) {
        for _ in 0..SLOTS_LOOKED_AT.min(self.slots.len()) {
            if self.hand >= self.slots.len() {
                self.hand = 0;
            }
            match self.slots.get(self.hand) {
                Some(account) if account.open == 0 && account.full_at <= now => self.remove(self.hand),
                Some(_) => self.hand += 1,
                None => break,
            }
        }
        while self.slots.len() >= most.max(1) {
            let from = self.hand % self.slots.len();
            let looked_at = (0..SLOTS_LOOKED_AT).map(|i| (from + i) % self.slots.len());
            let quietest = looked_at.min_by_key(|&i| (self.slots[i].open > 0, self.slots[i].full_at));
            self.remove(quietest.unwrap_or(0));
        }
    }

    fn remove(&mut self, position: usize) {
        let gone = self.slots.swap_remove(position);
        self.index.remove(&gone.client);
        if let Some(moved) = self.slots.get(position) {
            let position = u32::try_from(position).expect("bounded far below 2^32");
            *self.index.get_mut(&moved.client).expect("every account is indexed") = position;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limit(rate: Option<u32>, burst: u32, concurrency: Option<u32>) -> ClientLimit {
        let key = ClientKey::Address { prefix_v4: 32, prefix_v6: 64 };
        ClientLimit { name: "l".into(), key, rate_per_s: rate, burst, concurrency }
    }

    fn ip(n: u32) -> Key {
        Key::Client(IpAddr::V4(n.into()))
    }

    fn at(ms: u64) -> Tick {
        Tick::from_millis(ms)
    }

    #[test]
    fn a_burst_passes_and_then_the_rate_counts() {
        let (limit, mut buckets) = (limit(Some(10), 3, None), Buckets::default());
        let mut open = |ms| buckets.open(&limit, ip(1), at(ms), 100);
        for _ in 0..3 {
            assert_eq!(open(1000), Ok(()));
        }
        assert_eq!(open(1000), Err(Over { retry_after: Duration::from_millis(100) }));
        assert_eq!(open(1099), Err(Over { retry_after: Duration::from_millis(1) }));
        assert_eq!(open(1100), Ok(()));
        assert!(open(1100).is_err());
        // All of the burst is back after burst × interval.
        for _ in 0..3 {
            assert_eq!(open(1500), Ok(()));
        }
        assert!(open(1500).is_err());
    }

    #[test]
    fn a_client_has_so_much_in_flight_and_others_are_not_counted_to_it() {
        let (limit, mut buckets) = (limit(None, 1, Some(2)), Buckets::default());
        assert!(buckets.open(&limit, ip(1), at(0), 100).is_ok());
        assert!(buckets.open(&limit, ip(1), at(0), 100).is_ok());
        let over = buckets.open(&limit, ip(1), at(0), 100).unwrap_err();
        assert_eq!(over.retry_after_s(), 1);
        assert!(buckets.open(&limit, ip(2), at(0), 100).is_ok());
        buckets.close(&ip(1));
        assert!(buckets.open(&limit, ip(1), at(0), 100).is_ok());
    }

    #[test]
    fn retry_after_is_rounded_up_and_never_nothing() {
        let of = |ms| Over { retry_after: Duration::from_millis(ms) }.retry_after_s();
        assert_eq!([of(0), of(1), of(1000), of(1001), of(2500)], [1, 1, 1, 2, 3]);
    }

    #[test]
    fn clients_are_told_apart_by_network_or_by_value() {
        let mut by = limit(Some(1), 1, None);
        by.key = ClientKey::Address { prefix_v4: 24, prefix_v6: 64 };
        let of = |address: &str| client(&by, address.parse().unwrap(), None);
        assert_eq!(of("192.0.2.1"), of("192.0.2.255"));
        assert_ne!(of("192.0.2.1"), of("192.0.3.1"));
        assert_eq!(of("2001:db8::1"), of("2001:db8::ffff"));
        by.key = ClientKey::Value(crate::model::balancing::Extract::Header("x-key".into()));
        let value = |text| client(&by, "192.0.2.1".parse().unwrap(), text);
        assert_eq!(value(None), value(Some("")));
        assert_ne!(value(Some("a")), value(Some("b")));
    }

    proptest! {
        #[test]
        fn no_more_than_burst_and_rate_pass_in_any_time(
            rate in 1u32..50, burst in 1u32..20, waits in prop::collection::vec(0u64..200, 1..200),
        ) {
            let (limit, mut buckets) = (limit(Some(rate), burst, None), Buckets::default());
            let (mut now, mut passed) = (0, 0u64);
            for wait in waits {
                now += wait;
                passed += u64::from(buckets.open(&limit, ip(1), at(now), 10).is_ok());
                prop_assert!(passed * 1000 <= u64::from(burst) * 1000 + now * u64::from(rate) + 1000);
            }
        }

        #[test]
        fn the_table_never_grows_beyond_its_bound(
            acts in prop::collection::vec((0u32..100, 0u64..50, any::<bool>()), 0..300),
        ) {
            let (limit, mut buckets) = (limit(Some(5), 2, Some(3)), Buckets::default());
            let mut now = 0;
            for (n, later, close) in acts {
                now += later;
                if close {
                    buckets.close(&ip(n));
                } else {
                    let _ = buckets.open(&limit, ip(n), at(now), 16);
                }
                prop_assert!(buckets.len() <= 16);
                prop_assert_eq!(buckets.index.len(), buckets.slots.len());
                for (i, account) in buckets.slots.iter().enumerate() {
                    prop_assert_eq!(buckets.index[&account.client] as usize, i);
                }
            }
        }
    }
}
