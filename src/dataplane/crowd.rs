//! Who holds places, by client, and who gives way where too many are held: the oldest of whichever client has most. Then
//! one client can only drive out its own, and many that have one each can drive out others only by coming as fast as
//! there are places.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::Hash;

/// Holders of places: `K` is a client, `T` what tells a holder to leave.
pub(crate) struct Crowd<K, T> {
    /// By the holders' numbers: the oldest is the first.
    by_client: HashMap<K, BTreeMap<u64, T>>,
    /// Each client. The last is to give way.
    weights: BTreeSet<(Weight, K)>,
    count: usize,
}

/// How many a client has; of those that are level, the one with the oldest is the heaviest.
type Weight = (usize, Reverse<u64>);

// === impl Crowd ===

impl<K, T> Default for Crowd<K, T> {
    fn default() -> Crowd<K, T> {
        Crowd { by_client: HashMap::new(), weights: BTreeSet::new(), count: 0 }
    }
}

impl<K: Copy + Eq + Hash + Ord, T> Crowd<K, T> {
    pub fn len(&self) -> usize {
        self.count
    }

    /// How many this client has.
    pub fn of(&self, client: K) -> usize {
        self.by_client.get(&client).map_or(0, BTreeMap::len)
    }

    /// `id`: larger than all before.
    pub fn enter(&mut self, client: K, id: u64, holder: T) {
        self.count += 1;
        self.change(client, |all| all.insert(id, holder));
    }

    /// One that has given way is not there any more.
    pub fn leave(&mut self, client: K, id: u64) {
        if self.change(client, |all| all.remove(&id)).is_some() {
            self.count -= 1;
        }
    }

    /// The client that has most.
    pub fn heaviest(&self) -> Option<K> {
        self.weights.last().map(|(_, client)| *client)
    }

    /// Takes out the oldest holder of this client that may be.
    pub fn take_oldest(&mut self, client: K, may_be: impl Fn(&T) -> bool) -> Option<T> {
        let oldest = self.by_client.get(&client)?.iter().find(|(_, holder)| may_be(holder)).map(|(id, _)| *id)?;
        let taken = self.change(client, |all| all.remove(&oldest));
        self.count -= usize::from(taken.is_some());
        taken
    }

    fn change<R>(&mut self, client: K, change: impl FnOnce(&mut BTreeMap<u64, T>) -> R) -> R {
        let all = self.by_client.entry(client).or_default();
        let before = weight(all);
        let done = change(all);
        let after = weight(all);
        if after.is_none() {
            self.by_client.remove(&client);
        }
        if before != after {
            before.map(|before| self.weights.remove(&(before, client)));
            after.map(|after| self.weights.insert((after, client)));
        }
        done
    }
}

fn weight<T>(all: &BTreeMap<u64, T>) -> Option<Weight> {
    all.first_key_value().map(|(&oldest, _)| (all.len(), Reverse(oldest)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_that_may_be_of_the_heaviest_is_taken_and_nothing_is_left_of_who_has_gone() {
        let mut crowd = Crowd::<u8, bool>::default();
        for (id, (client, may_be)) in [(1, true), (2, false), (2, true), (2, true), (1, true)].into_iter().enumerate() {
            crowd.enter(client, id as u64, may_be);
        }
        assert_eq!((crowd.len(), crowd.of(2), crowd.heaviest()), (5, 3, Some(2)));
        assert_eq!(crowd.take_oldest(2, |may_be| *may_be), Some(true));
        assert_eq!((crowd.len(), crowd.heaviest()), (4, Some(1)), "level: the one with the oldest");
        crowd.leave(2, 2);
        assert_eq!(crowd.len(), 4, "it had gone");
        for (client, id) in [(1, 0), (1, 4), (2, 1), (2, 3)] {
            crowd.leave(client, id);
        }
        assert_eq!((crowd.len(), crowd.heaviest(), crowd.by_client.len(), crowd.weights.len()), (0, None, 0, 0));
    }
}
