//! Who goes back to the member that served it before.
//!
//! Kinds that look at something of the client ([`Key`]) keep a [`Table`] from it to a service. COOKIEINSERT, URLPASSIVE
//! and CUSTOMSERVERID keep nothing: the request itself names the member ([`cookie`], [`sealed`], [`named`]), which is why
//! they survive a restart and why a session cookie (time-out 0) never drains by itself. Either way the member is only
//! *asked for*; whether it still gets the client is one rule, [`honours`].

pub mod cookie;
pub mod named;
pub mod sealed;

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::time::Duration;

use sha2::{Digest, Sha256};

use crate::model::id::Name;
use crate::model::net::Network;
use crate::model::persistence::{Persistence, PersistenceKind};
use crate::model::state::ServiceState;
use crate::model::time::Tick;

/// Entries a vserver or lb group keeps at most (NetScaler's documented limit).
pub const ENTRIES_MAX: usize = 250_000;

/// Bytes of a value that are kept as they are; longer ones are kept as their digest, so that no client decides how large
/// a table becomes.
const VALUE_MAX_BYTES: usize = 64;

/// Slots looked at when an entry is made: expired ones among them go, and the one that expires first makes room where
/// the table is full. A constant, so that no insertion pays for the whole table.
const SLOTS_LOOKED_AT: usize = 8;

/// What a client is known by.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Key {
    /// SOURCEIP: cut to its network.
    Client(IpAddr),
    /// DESTIP.
    Destination(IpAddr),
    /// SRCIPDESTIP.
    Both(IpAddr, IpAddr),
    /// SSLSESSION.
    Session(Box<[u8]>),
    /// RULE. Build it with [`Key::value`].
    Value(Box<str>),
}

/// Entries from clients to services; bounded.
#[derive(Debug, Default)]
pub struct Table {
    slots: Vec<Slot>,
    /// Key to the position of its slot.
    index: HashMap<Key, u32>,
    /// Where the next insertion looks for expired slots.
    hand: usize,
    totals: Totals,
}

/// What became of a table's clients. Never falls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Clients that were found.
    pub hits: u64,
    /// Clients that were not: new ones, and those whose time was over.
    pub misses: u64,
    /// Entries that made room for others before their time was over.
    pub evictions: u64,
}

#[derive(Debug)]
struct Slot {
    client: Key,
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

/// What a client is known by under this persistence, as far as addresses and the TLS session tell. `None` for the kinds
/// that look at the request, and for SSLSESSION without a session.
pub fn key(persistence: &Persistence, client: IpAddr, local: IpAddr, session: Option<&[u8]>) -> Option<Key> {
    let cut = |ip| Network::truncate(ip, persistence.prefix_v4, persistence.prefix_v6);
    match persistence.kind {
        PersistenceKind::SourceIp => Some(Key::Client(cut(client))),
        PersistenceKind::DestIp => Some(Key::Destination(cut(local))),
        PersistenceKind::SrcIpDestIp => Some(Key::Both(cut(client), cut(local))),
        PersistenceKind::SslSession => session.filter(|s| !s.is_empty()).map(Key::session),
        PersistenceKind::CookieInsert { .. }
        | PersistenceKind::Rule { .. }
        | PersistenceKind::UrlPassive { .. }
        | PersistenceKind::CustomServerId { .. } => None,
    }
}

/// Whether this persistence keeps entries.
pub fn keeps_a_table(persistence: &Persistence) -> bool {
    match persistence.kind {
        PersistenceKind::SourceIp
        | PersistenceKind::DestIp
        | PersistenceKind::SrcIpDestIp
        | PersistenceKind::SslSession
        | PersistenceKind::Rule { .. } => true,
        PersistenceKind::CookieInsert { .. } => persistence.backup.is_some(),
        PersistenceKind::UrlPassive { .. } | PersistenceKind::CustomServerId { .. } => false,
    }
}

// === impl Key ===

impl Key {
    /// A value of a request or answer. `None` where it is empty.
    pub fn value(text: &str) -> Option<Key> {
        if text.is_empty() {
            return None;
        }
        if text.len() <= VALUE_MAX_BYTES {
            return Some(Key::Value(text.into()));
        }
        Some(Key::Value(format!("sha256:{}", hex(&Sha256::digest(text)[..24])).into()))
    }

    /// A TLS session: its id, or what stands for its ticket.
    pub fn session(id: &[u8]) -> Key {
        let long = id.len() > VALUE_MAX_BYTES;
        Key::Session(if long { Sha256::digest(id)[..].into() } else { id.into() })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Client(ip) | Key::Destination(ip) => write!(f, "{ip}"),
            Key::Both(client, destination) => write!(f, "{client} {destination}"),
            Key::Session(id) => f.write_str(&hex(id)),
            Key::Value(text) => f.write_str(text),
        }
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

// === impl Table ===

impl Table {
    /// The service of this client, its idle time-out begun anew.
    pub fn touch(&mut self, client: &Key, now: Tick, timeout: Duration) -> Option<Name> {
        let service = self.touched(client, now, timeout);
        let counted = if service.is_some() { &mut self.totals.hits } else { &mut self.totals.misses };
        *counted += 1;
        service
    }

    fn touched(&mut self, client: &Key, now: Tick, timeout: Duration) -> Option<Name> {
        let &position = self.index.get(client)?;
        let slot = &mut self.slots[position as usize];
        if slot.expires <= now {
            self.remove_at(position as usize);
            return None;
        }
        slot.expires = now + timeout;
        Some(slot.service.clone())
    }

    /// Remembers (or rewrites) where this client goes. At most `most` entries: where it is full, one that expires soon
    /// makes room.
    pub fn insert(&mut self, client: Key, service: Name, now: Tick, timeout: Duration, most: usize) {
        let expires = now + timeout;
        if let Some(&position) = self.index.get(&client) {
            self.slots[position as usize] = Slot { client, service, expires };
            return;
        }
        self.make_room(now, most);
        let position = u32::try_from(self.slots.len()).expect("a table is bounded far below 2^32");
        self.index.insert(client.clone(), position);
        self.slots.push(Slot { client, service, expires });
    }

    /// Whether there was an entry.
    pub fn remove(&mut self, client: &Key) -> bool {
        let position = self.index.get(client).copied();
        if let Some(position) = position {
            self.remove_at(position as usize);
        }
        position.is_some()
    }

    pub fn clear(&mut self) {
        *self = Table { totals: self.totals, ..Table::default() };
    }

    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// The service of this client; the entry is left as it is.
    pub fn peek(&self, client: &Key, now: Tick) -> Option<&Name> {
        let slot = &self.slots[*self.index.get(client)? as usize];
        (slot.expires > now).then_some(&slot.service)
    }

    /// Entries, expired ones that nobody has met yet included.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Client, service, time left.
    pub fn entries(&self, now: Tick) -> impl Iterator<Item = (&Key, &Name, Duration)> {
        self.slots.iter().filter(move |s| s.expires > now).map(move |s| (&s.client, &s.service, s.expires.since(now)))
    }

    fn make_room(&mut self, now: Tick, most: usize) {
        let mut first_to_expire: Option<(Tick, usize)> = None;
        for _ in 0..SLOTS_LOOKED_AT.min(self.slots.len()) {
            if self.hand >= self.slots.len() {
                self.hand = 0;
            }
            let Some(slot) = self.slots.get(self.hand) else { break };
            if slot.expires <= now {
                // The last slot takes its place and is looked at next.
                if first_to_expire.is_some_and(|(_, at)| at + 1 == self.slots.len()) {
                    first_to_expire = None;
                }
                self.remove_at(self.hand);
                continue;
            }
            if first_to_expire.is_none_or(|(expires, _)| slot.expires < expires) {
                first_to_expire = Some((slot.expires, self.hand));
            }
            self.hand += 1;
        }
        if self.slots.len() >= most {
            self.totals.evictions += 1;
            self.remove_at(first_to_expire.map_or(0, |(_, position)| position));
        }
    }

    fn remove_at(&mut self, position: usize) {
        let gone = self.slots.swap_remove(position);
        self.index.remove(&gone.client);
        if let Some(moved) = self.slots.get(position) {
            let position = u32::try_from(position).expect("a table is bounded far below 2^32");
            *self.index.get_mut(&moved.client).expect("every slot is indexed") = position;
        }
    }
}

#[cfg(test)]
mod tests;
