//! Who goes back to the member that served it before.
//!
//! SOURCEIP keeps a [`Table`] from client network to service. COOKIEINSERT keeps nothing: the cookie itself names the
//! member ([`cookie`]), which is why it survives a restart and why a session cookie (time-out 0) never drains by
//! itself. Either way the member is only *asked for*; whether it still gets the client is one rule, [`honours`].

pub mod cookie;

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use crate::model::id::Name;
use crate::model::state::ServiceState;
use crate::model::time::Tick;

/// Entries a vserver keeps at most (NetScaler's documented limit).
pub const ENTRIES_MAX: usize = 250_000;

/// Slots looked at when an entry is made: expired ones among them go, and the one that expires first makes room where
/// the table is full. A constant, so that no insertion pays for the whole table.
const SLOTS_LOOKED_AT: usize = 8;

/// SOURCEIP entries of one vserver; bounded.
#[derive(Debug, Default)]
pub struct Table {
    slots: Vec<Slot>,
    /// Key to the position of its slot.
    index: HashMap<IpAddr, u32>,
    /// Where the next insertion looks for expired slots.
    hand: usize,
}

#[derive(Debug)]
struct Slot {
    client: IpAddr,
    service: Name,
    expires: Tick,
}

/// Whether a client that asks for a member by persistence still gets it (NetScaler facts §1.4).
///
/// | state | honoured |
/// |---|---|
/// | UP | yes |
/// | TROFS (delay, graceful or by a monitor) | where `trofs_persistence` is on |
/// | TROFS_DOWN, DOWN, OFS, UNKNOWN | no: balanced again, the entry rewritten |
pub fn honours(state: ServiceState, trofs_persistence: bool) -> bool {
    match state {
        ServiceState::Up => true,
        ServiceState::Trofs => trofs_persistence,
        ServiceState::TrofsDown | ServiceState::Down | ServiceState::OutOfService | ServiceState::Unknown => false,
    }
}

// === impl Table ===

impl Table {
    /// The service of this client, its idle time-out begun anew. `client` is already cut to its network.
    pub fn touch(&mut self, client: IpAddr, now: Tick, timeout: Duration) -> Option<Name> {
        let &position = self.index.get(&client)?;
        let slot = &mut self.slots[position as usize];
        if slot.expires <= now {
            self.remove(position as usize);
            return None;
        }
        slot.expires = now + timeout;
        Some(slot.service.clone())
    }

    /// Remembers (or rewrites) where this client goes.
    pub fn insert(&mut self, client: IpAddr, service: Name, now: Tick, timeout: Duration) {
        self.insert_bounded(client, service, now, timeout, ENTRIES_MAX);
    }

    pub fn clear(&mut self) {
        *self = Table::default();
    }

    /// The service of this client; the entry is left as it is.
    pub fn peek(&self, client: IpAddr, now: Tick) -> Option<&Name> {
        let slot = &self.slots[*self.index.get(&client)? as usize];
        (slot.expires > now).then_some(&slot.service)
    }

    /// Entries, expired ones that nobody has met yet included.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Client network, service, time left.
    pub fn entries(&self, now: Tick) -> impl Iterator<Item = (IpAddr, &Name, Duration)> {
        self.slots.iter().filter(move |s| s.expires > now).map(move |s| (s.client, &s.service, s.expires.since(now)))
    }

    fn insert_bounded(&mut self, client: IpAddr, service: Name, now: Tick, timeout: Duration, most: usize) {
        let expires = now + timeout;
        if let Some(&position) = self.index.get(&client) {
            self.slots[position as usize] = Slot { client, service, expires };
            return;
        }
        self.make_room(now, most);
        let position = u32::try_from(self.slots.len()).expect("a table is bounded far below 2^32");
        self.slots.push(Slot { client, service, expires });
        self.index.insert(client, position);
    }

    fn make_room(&mut self, now: Tick, most: usize) {
        let mut first_to_expire: Option<(Tick, IpAddr)> = None;
        for _ in 0..SLOTS_LOOKED_AT.min(self.slots.len()) {
            if self.hand >= self.slots.len() {
                self.hand = 0;
            }
            let Some(slot) = self.slots.get(self.hand) else { break };
            if slot.expires <= now {
                // The last slot takes its place and is looked at next.
                self.remove(self.hand);
                continue;
            }
            if first_to_expire.is_none_or(|(expires, _)| slot.expires < expires) {
                first_to_expire = Some((slot.expires, slot.client));
            }
            self.hand += 1;
        }
        if self.slots.len() >= most
            && let Some((_, client)) = first_to_expire
            && let Some(&position) = self.index.get(&client)
        {
            self.remove(position as usize);
        }
    }

    fn remove(&mut self, position: usize) {
        let gone = self.slots.swap_remove(position);
        self.index.remove(&gone.client);
        if let Some(moved) = self.slots.get(position) {
            self.index.insert(moved.client, u32::try_from(position).expect("a table is bounded far below 2^32"));
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(120);

    fn at(seconds: u64) -> Tick {
        Tick::from_millis(seconds * 1000)
    }

    fn ip(n: u32) -> IpAddr {
        IpAddr::V4(n.into())
    }

    #[test]
    fn an_entry_lives_as_long_as_its_client_comes_back_in_time() {
        let mut table = Table::default();
        table.insert(ip(1), "web1".into(), at(0), TIMEOUT);
        assert_eq!(table.touch(ip(1), at(100), TIMEOUT).as_deref(), Some("web1"));
        // 219 s after it was made, 119 s after it was last used.
        assert_eq!(table.touch(ip(1), at(219), TIMEOUT).as_deref(), Some("web1"));
        assert_eq!(table.touch(ip(1), at(339), TIMEOUT), None);
        assert!(table.is_empty());
    }

    #[test]
    fn a_rewritten_entry_names_the_new_member() {
        let mut table = Table::default();
        table.insert(ip(1), "web1".into(), at(0), TIMEOUT);
        table.insert(ip(1), "web2".into(), at(1), TIMEOUT);
        assert_eq!(table.peek(ip(1), at(2)).map(|n| &**n), Some("web2"));
        assert_eq!(table.len(), 1);
    }

    #[test]
    fn a_full_table_makes_room_and_never_grows_beyond_its_bound() {
        let mut table = Table::default();
        for n in 0..1000 {
            table.insert_bounded(ip(n), "web1".into(), at(u64::from(n)), Duration::from_secs(10_000), 100);
            assert!(table.len() <= 100);
            assert!(table.peek(ip(n), at(u64::from(n))).is_some(), "the newest entry is always there");
        }
    }

    #[test]
    fn only_up_and_by_choice_trofs_are_honoured() {
        use ServiceState::{Down, OutOfService, Trofs, TrofsDown, Unknown, Up};
        assert!(honours(Up, true) && honours(Up, false));
        assert!(honours(Trofs, true) && !honours(Trofs, false));
        for state in [Down, OutOfService, TrofsDown, Unknown] {
            assert!(!honours(state, true) && !honours(state, false), "{state:?}");
        }
    }

    proptest! {
        #[test]
        fn the_index_always_finds_what_the_slots_hold(
            acts in prop::collection::vec((0u32..40, 0u64..300, any::<bool>()), 0..200),
        ) {
            let mut table = Table::default();
            let mut now = 0;
            for (client, later, insert) in acts {
                now += later;
                if insert {
                    table.insert_bounded(ip(client), "s".into(), at(now), TIMEOUT, 16);
                } else {
                    table.touch(ip(client), at(now), TIMEOUT);
                }
                prop_assert!(table.len() <= 16);
                prop_assert_eq!(table.index.len(), table.slots.len());
                for (i, slot) in table.slots.iter().enumerate() {
                    prop_assert_eq!(table.index[&slot.client] as usize, i);
                }
            }
        }
    }
}
