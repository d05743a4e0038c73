//! Sessions by client, bounded, each in one of two queues by when it was last used: those that a server has answered, and
//! those that it has not. Pure: no socket, no clock.
//!
//! Where the table is full the session that was silent longest makes room, an unanswered one first: datagrams from forged
//! addresses fill the table with sessions that nobody uses twice. An answered session makes room only once it has been
//! silent for [`SPARED`]; until then the new client is refused.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// An answered session is not evicted before it has been silent for so long.
pub(super) const SPARED: Duration = Duration::from_secs(5);

const NONE: usize = usize::MAX;

pub(super) struct Table<T> {
    by_client: HashMap<SocketAddr, usize>,
    slots: Vec<Option<Slot<T>>>,
    free: Vec<usize>,
    queues: [Queue; 2],
}

struct Slot<T> {
    client: SocketAddr,
    used: Instant,
    is_answered: bool,
    before: usize,
    after: usize,
    session: T,
}

/// Oldest first.
#[derive(Clone, Copy)]
struct Queue {
    oldest: usize,
    newest: usize,
}

// === impl Table ===

impl<T> Table<T> {
    pub fn new() -> Table<T> {
        let queue = Queue { oldest: NONE, newest: NONE };
        Table { by_client: HashMap::new(), slots: Vec::new(), free: Vec::new(), queues: [queue; 2] }
    }

    pub fn len(&self) -> usize {
        self.by_client.len()
    }

    pub fn find(&self, client: &SocketAddr) -> Option<usize> {
        self.by_client.get(client).copied()
    }

    pub fn get(&mut self, slot: usize) -> Option<&mut T> {
        Some(&mut self.slots.get_mut(slot)?.as_mut()?.session)
    }

    pub fn client(&self, slot: usize) -> Option<SocketAddr> {
        Some(self.slots.get(slot)?.as_ref()?.client)
    }

    /// Where the next session will stand: its socket is registered under this number before it is there.
    pub fn next_slot(&self) -> usize {
        self.free.last().copied().unwrap_or(self.slots.len())
    }

    /// The client must not have one yet. Stands at [`next_slot`](Self::next_slot).
    pub fn insert(&mut self, client: SocketAddr, session: T, now: Instant) -> usize {
        let at = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        let slot = Slot { client, used: now, is_answered: false, before: NONE, after: NONE, session };
        self.slots[at] = Some(slot);
        self.by_client.insert(client, at);
        self.append(at);
        at
    }

    /// The client sent something, or (`answered`) its server did.
    pub fn touch(&mut self, at: usize, now: Instant, answered: bool) {
        self.unlink(at);
        if let Some(slot) = self.slots[at].as_mut() {
            slot.used = now;
            slot.is_answered |= answered;
        }
        self.append(at);
    }

    pub fn remove(&mut self, at: usize) -> Option<T> {
        self.slots.get(at)?.as_ref()?;
        self.unlink(at);
        let slot = self.slots[at].take()?;
        self.by_client.remove(&slot.client);
        self.free.push(at);
        Some(slot.session)
    }

    /// The session that was silent longest, if that is at least `idle`.
    pub fn expired(&self, now: Instant, idle: Duration) -> Option<usize> {
        self.queues.iter().map(|queue| queue.oldest).find(|&at| self.silent(at, now).is_some_and(|s| s >= idle))
    }

    /// Who makes room for a new client; `None`: nobody does, and the client is to be refused.
    pub fn victim(&self, now: Instant) -> Option<usize> {
        let [unanswered, answered] = self.queues.map(|queue| queue.oldest);
        if unanswered != NONE {
            return Some(unanswered);
        }
        self.silent(answered, now).filter(|silent| *silent >= SPARED).map(|_| answered)
    }

    /// All that are there.
    pub fn slots(&self) -> Vec<usize> {
        self.by_client.values().copied().collect()
    }

    fn silent(&self, at: usize, now: Instant) -> Option<Duration> {
        let slot = self.slots.get(at)?.as_ref()?;
        Some(now.saturating_duration_since(slot.used))
    }

    fn unlink(&mut self, at: usize) {
        let Some((before, after, queue)) = self.slots[at].as_ref().map(|s| (s.before, s.after, s.is_answered)) else {
            return;
        };
        let queue = &mut self.queues[usize::from(queue)];
        match self.slots.get_mut(before).and_then(Option::as_mut) {
            Some(slot) => slot.after = after,
            None => queue.oldest = after,
        }
        match self.slots.get_mut(after).and_then(Option::as_mut) {
            Some(slot) => slot.before = before,
            None => queue.newest = before,
        }
    }

    fn append(&mut self, at: usize) {
        let Some(is_answered) = self.slots[at].as_ref().map(|s| s.is_answered) else { return };
        let newest = std::mem::replace(&mut self.queues[usize::from(is_answered)].newest, at);
        match self.slots.get_mut(newest).and_then(Option::as_mut) {
            Some(slot) => slot.after = at,
            None => self.queues[usize::from(is_answered)].oldest = at,
        }
        if let Some(slot) = self.slots[at].as_mut() {
            (slot.before, slot.after) = (newest, NONE);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn client(port: u16) -> SocketAddr {
        ([192, 0, 2, 1], port).into()
    }

    #[test]
    fn the_unanswered_make_room_first_and_the_answered_only_after_a_while() {
        let start = Instant::now();
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut table = Table::new();
        let old = table.insert(client(1), (), at(0));
        table.touch(old, at(0), true);
        let forged = table.insert(client(2), (), at(1));
        assert_eq!(table.victim(at(2)), Some(forged), "although the other is older");
        table.remove(forged);
        assert_eq!(table.victim(at(2)), None);
        assert_eq!(table.victim(at(0) + SPARED), Some(old));
        table.touch(old, at(4), false);
        assert_eq!(table.victim(at(0) + SPARED), None, "it was used in between");
    }

    #[test]
    fn a_session_expires_after_its_last_use_and_its_place_is_used_again() {
        let start = Instant::now();
        let idle = Duration::from_secs(10);
        let mut table = Table::new();
        let first = table.insert(client(1), "a", start);
        let second = table.insert(client(2), "b", start + Duration::from_secs(1));
        table.touch(first, start + Duration::from_secs(5), true);
        assert_eq!(table.expired(start + Duration::from_secs(10), idle), None);
        assert_eq!(table.expired(start + Duration::from_secs(11), idle), Some(second));
        assert_eq!(table.remove(second), Some("b"));
        assert_eq!(table.remove(second), None);
        assert_eq!(table.expired(start + Duration::from_secs(15), idle), Some(first));
        assert_eq!(table.next_slot(), second);
        assert_eq!(table.insert(client(3), "c", start), second);
        assert_eq!((table.find(&client(2)), table.find(&client(3))), (None, Some(second)));
    }

    proptest! {
        /// Against a plain list: whatever is done, the oldest of each queue is the one found.
        #[test]
        fn the_queues_are_in_the_order_of_use(acts in prop::collection::vec((0u8..4, 0u16..8), 0..200)) {
            let start = Instant::now();
            let mut table = Table::new();
            // (client, answered), oldest use first.
            let mut plain: Vec<(u16, bool)> = Vec::new();
            for (step, (act, port)) in (1u64..).zip(acts) {
                let now = start + Duration::from_secs(step * 60);
                let known = plain.iter().position(|p| p.0 == port);
                match (act, known) {
                    (3, Some(at)) => {
                        table.remove(table.find(&client(port)).unwrap());
                        plain.remove(at);
                    }
                    (act, Some(at)) => {
                        let (_, answered) = plain.remove(at);
                        table.touch(table.find(&client(port)).unwrap(), now, act == 1);
                        plain.push((port, answered || act == 1));
                    }
                    (_, None) => {
                        table.insert(client(port), port, now);
                        plain.push((port, false));
                    }
                }
                let oldest = plain.iter().find(|p| !p.1).or_else(|| plain.first()).map(|p| p.0);
                let later = now + SPARED;
                let victim = table.victim(later).and_then(|at| table.get(at).copied());
                prop_assert_eq!(victim, oldest);
                prop_assert_eq!(table.len(), plain.len());
            }
        }
    }
}
