//! Tables that every request may touch, in shards, so that no lock is contended for.

use std::hash::{BuildHasher, RandomState};
use std::net::IpAddr;
use std::time::Duration;

use parking_lot::Mutex;

use crate::balance::bucket::{self, Buckets, Over};
use crate::balance::persistence::{ENTRIES_MAX, Key, Table, Totals};
use crate::model::Model;
use crate::model::id::{Name, VserverId};
use crate::model::limit::ClientLimit;
use crate::model::net::Network;
use crate::model::time::Tick;

const SHARDS: usize = 16;

/// One `T` for each part of the keys.
#[derive(Debug, Default)]
struct Sharded<T> {
    shards: [Mutex<T>; SHARDS],
    hasher: RandomState,
}

/// Persistence entries of one vserver or lb group; bounded.
#[derive(Debug, Default)]
pub struct Sessions(Sharded<Table>);

/// One persistence entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Session {
    pub client: Key,
    pub service: Name,
    pub left: Duration,
}

/// Clients under the `client_limits` of one vserver; bounded.
#[derive(Debug, Default)]
pub struct Clients(Sharded<Vec<(Name, Buckets)>>);

/// Whether an entry of this vserver is that of the client that an operator names: by an address, which is cut to the
/// network that counts as one client, or by what is shown.
pub fn sessions_asked(model: &Model, vserver: VserverId, key: &Key, client: &str) -> bool {
    let cut = |ip: IpAddr| match &model.vserver(vserver).persistence {
        Some(persistence) => Network::truncate(ip, persistence.prefix_v4, persistence.prefix_v6),
        None => ip,
    };
    match (key, client.parse().map(cut)) {
        (Key::Client(ip) | Key::Destination(ip), Ok(asked)) => *ip == asked,
        (Key::Both(ip, destination), Ok(asked)) => *ip == asked || *destination == asked,
        (key, _) => key.to_string() == client,
    }
}

// === impl Sharded ===

impl<T> Sharded<T> {
    fn of(&self, key: &Key) -> &Mutex<T> {
        let hash = self.hasher.hash_one(key);
        &self.shards[usize::try_from(hash % SHARDS as u64).unwrap_or(0)]
    }
}

// === impl Sessions ===

impl Sessions {
    /// The service of this client, its idle time-out begun anew.
    pub fn touch(&self, client: &Key, now: Tick, timeout: Duration) -> Option<Name> {
        self.0.of(client).lock().touch(client, now, timeout)
    }

    /// The service of this client; the entry is left as it is.
    pub fn peek(&self, client: &Key, now: Tick) -> Option<Name> {
        self.0.of(client).lock().peek(client, now).cloned()
    }

    pub fn insert(&self, client: Key, service: Name, now: Tick, timeout: Duration) {
        self.0.of(&client).lock().insert(client, service, now, timeout, ENTRIES_MAX / SHARDS);
    }

    /// Whether there was an entry.
    pub fn remove(&self, client: &Key) -> bool {
        self.0.of(client).lock().remove(client)
    }

    /// Forgets everybody. How many there were.
    pub fn clear(&self) -> usize {
        let clear = |shard: &Mutex<Table>| {
            let mut table = shard.lock();
            let entries = table.len();
            table.clear();
            entries
        };
        self.0.shards.iter().map(clear).sum()
    }

    /// Entries, expired ones that nobody has met yet included.
    pub fn len(&self) -> usize {
        self.0.shards.iter().map(|shard| shard.lock().len()).sum()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn totals(&self) -> Totals {
        self.0.shards.iter().map(|shard| shard.lock().totals()).fold(Totals::default(), |sum, of| Totals {
            hits: sum.hits + of.hits,
            misses: sum.misses + of.misses,
            evictions: sum.evictions + of.evictions,
        })
    }

    /// At most `most` of those that `wanted` takes, by client. One shard at a time is held.
    pub fn list(&self, now: Tick, most: usize, wanted: &dyn Fn(&Key, &Name) -> bool) -> Vec<Session> {
        let mut list: Vec<Session> = Vec::new();
        for shard in &self.0.shards {
            let table = shard.lock();
            let entries = table.entries(now).filter(|(client, service, _)| wanted(client, service));
            list.extend(entries.map(|(client, service, left)| Session {
                client: client.clone(),
                service: Name::clone(service),
                left,
            }));
            drop(table);
            list.sort_unstable_by(|a, b| a.client.cmp(&b.client));
            list.truncate(most);
        }
        list
    }

    /// How many clients are bound to `service`, and how long the last of them stays if none comes back.
    pub fn of_service(&self, service: &str, now: Tick) -> (usize, Duration) {
        let mut of = (0, Duration::ZERO);
        for shard in &self.0.shards {
            let table = shard.lock();
            for (_, _, left) in table.entries(now).filter(|(_, s, _)| ***s == *service) {
                of = (of.0 + 1, of.1.max(left));
            }
        }
        of
    }
}

// === impl Clients ===

impl Clients {
    /// Counts one request or connection; see [`Buckets::open`].
    pub fn open(&self, limit: &ClientLimit, client: &Key, now: Tick) -> Result<(), Over> {
        let mut limits = self.0.of(client).lock();
        let at = limits.iter().position(|(name, _)| *name == limit.name).unwrap_or_else(|| {
            limits.push((Name::clone(&limit.name), Buckets::default()));
            limits.len() - 1
        });
        limits[at].1.open(limit, client.clone(), now, bucket::CLIENTS_MAX / SHARDS)
    }

    pub fn close(&self, limit: &str, client: &Key) {
        if let Some((_, buckets)) = self.0.of(client).lock().iter_mut().find(|(name, _)| **name == *limit) {
            buckets.close(client);
        }
    }

    /// Forgets limits that `kept` does not know.
    pub fn retain(&self, kept: &dyn Fn(&str) -> bool) {
        for shard in &self.0.shards {
            shard.lock().retain(|(name, _)| kept(name));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(n: u32) -> Key {
        Key::Client(std::net::IpAddr::V4(n.into()))
    }

    #[test]
    fn entries_are_listed_by_client_and_counted_by_service() {
        let sessions = Sessions::default();
        for n in 0..100 {
            let service = if n % 4 == 0 { "web1" } else { "web2" };
            sessions.insert(ip(n), service.into(), Tick::ZERO, Duration::from_secs(u64::from(n) + 1));
        }
        let now = Tick::from_millis(50_000);
        let list = sessions.list(now, 3, &|_, service| **service == *"web1");
        let clients: Vec<String> = list.iter().map(|s| s.client.to_string()).collect();
        assert_eq!(clients, ["0.0.0.52", "0.0.0.56", "0.0.0.60"]);
        assert_eq!(list[0].left, Duration::from_secs(3));
        assert_eq!(sessions.of_service("web1", now), (12, Duration::from_secs(47)));
        assert_eq!(sessions.of_service("web3", now), (0, Duration::ZERO));
        assert!(sessions.remove(&ip(52)) && !sessions.remove(&ip(52)));
        assert_eq!(sessions.clear(), 99);
        assert!(sessions.is_empty());
    }

    #[test]
    fn clients_that_are_found_and_that_are_not_are_counted_and_a_clear_forgets_no_total() {
        let (sessions, minute) = (Sessions::default(), Duration::from_secs(60));
        sessions.insert(ip(1), "web1".into(), Tick::ZERO, minute);
        assert!(sessions.touch(&ip(1), Tick::ZERO, minute).is_some());
        assert!(sessions.touch(&ip(2), Tick::ZERO, minute).is_none());
        assert!(sessions.touch(&ip(1), Tick::from_millis(61_000), minute).is_none(), "its time was over");
        sessions.peek(&ip(1), Tick::ZERO);
        sessions.clear();
        assert_eq!(sessions.totals(), Totals { hits: 1, misses: 2, evictions: 0 });
    }

    #[test]
    fn tables_are_bounded_together() {
        let sessions = Sessions::default();
        for n in 0..300_000 {
            sessions.insert(ip(n), "web1".into(), Tick::ZERO, Duration::from_secs(60));
        }
        assert!(sessions.len() <= ENTRIES_MAX);
        assert_eq!(sessions.len() as u64 + sessions.totals().evictions, 300_000, "who made room was counted");
    }
}
