//! Who asks for the names that scenarios steer: after a transition it tells which resolvers have come back for the new
//! answer, and which may still hold the former one.
//!
//! One table of a fixed size for the process: a place for each address and RRset, found by a hash with a seed of this
//! process, and in a full neighbourhood the one whose answer is over first makes room. A query costs one or two lines of
//! memory and writes at most once a second: a place is written when the time changes to which its answer may be kept.
//! Nothing is made before the first such query.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::net::{IpAddr, Ipv6Addr};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use crate::balance::select::hash::mix;

/// Pairs of address and RRset that are remembered: 1 MiB.
const PLACES: usize = 32_768;
/// Places that a pair can stand in.
const WAYS: usize = 4;
/// A place that is being written.
const BUSY: u64 = u64::MAX;
/// Looks at a place that changes under the eyes.
const LOOKS: usize = 4;

/// Addresses of queries for steered RRsets.
#[derive(Default)]
pub struct Askers {
    table: OnceLock<Table>,
    /// Until when answers may be kept of those who had to make room; Unix seconds.
    lost: AtomicU32,
}

struct Table {
    seed: u64,
    places: Box<[Place]>,
}

#[derive(Debug, Default)]
struct Place {
    rrset: AtomicU64,
    high: AtomicU64,
    low: AtomicU64,
    /// [`Seen`] in one number; 0: it is free.
    seen: AtomicU64,
}

/// The newest answer that somebody got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Of the snapshot that made it the answer.
    pub generation: u32,
    /// To when it may be kept, in Unix seconds; of several of one generation the latest.
    pub until: u32,
}

// === impl Askers ===

impl Askers {
    pub fn note(&self, rrset: u64, client: IpAddr, seen: Seen) {
        let (high, low) = halves(client);
        let table = self.table.get_or_init(Table::default);
        let ways = table.ways(rrset, high, low);
        let seen = seen.packed();
        match ways.iter().find(|place| place.is_of(rrset, high, low)) {
            Some(place) => {
                if place.seen.load(Ordering::Relaxed) < seen {
                    place.seen.fetch_max(seen, Ordering::Relaxed);
                }
            }
            None => self.displace(ways, rrset, (high, low), seen),
        }
    }

    /// Takes the place whose answer is over first.
    fn displace(&self, ways: &[Place], rrset: u64, (high, low): (u64, u64), seen: u64) {
        // Others may take it at the same moment.
        for _ in 0..LOOKS {
            let known = ways.iter().map(|place| (place, place.seen.load(Ordering::Relaxed)));
            let first = known.filter(|(_, seen)| *seen != BUSY).min_by_key(|(_, seen)| Seen::of(*seen).until);
            let Some((place, before)) = first else { break };
            if place.seen.compare_exchange(before, BUSY, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
                self.lost.fetch_max(Seen::of(before).until, Ordering::Relaxed);
                place.rrset.store(rrset, Ordering::Relaxed);
                place.high.store(high, Ordering::Relaxed);
                place.low.store(low, Ordering::Relaxed);
                place.seen.store(seen, Ordering::Release);
                return;
            }
        }
        self.lost.fetch_max(Seen::of(seen).until, Ordering::Relaxed);
    }

    /// Everybody who is remembered, with the RRset.
    pub fn all(&self) -> impl Iterator<Item = (u64, IpAddr, Seen)> {
        let places = self.table.get().map_or(&[][..], |table| &table.places);
        places.iter().filter_map(Place::read)
    }

    /// What `client` got last; `None`: it is not remembered.
    pub fn of(&self, rrset: u64, client: IpAddr) -> Option<Seen> {
        let (high, low) = halves(client);
        let ways = self.table.get()?.ways(rrset, high, low);
        let of_client = ways.iter().filter(|place| place.is_of(rrset, high, low)).filter_map(Place::read);
        of_client.map(|(_, _, seen)| seen).max_by_key(|seen| seen.packed())
    }

    /// Whether somebody had to make room who may hold an answer at `now` (Unix seconds).
    pub fn is_partial(&self, now: u32) -> bool {
        self.lost.load(Ordering::Relaxed) > now
    }
}

impl std::fmt::Debug for Askers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Askers(..)")
    }
}

/// An IPv4 address is the one mapped into IPv6.
fn halves(client: IpAddr) -> (u64, u64) {
    let bits = match client {
        IpAddr::V4(ip) => ip.to_ipv6_mapped().to_bits(),
        IpAddr::V6(ip) => ip.to_bits(),
    };
    ((bits >> 64) as u64, bits as u64)
}

// === impl Table ===

impl Default for Table {
    fn default() -> Table {
        let places = (0..PLACES).map(|_| Place::default()).collect();
        Table { seed: RandomState::new().build_hasher().finish(), places }
    }
}

impl Table {
    fn ways(&self, rrset: u64, high: u64, low: u64) -> &[Place] {
        let hash = mix(mix(mix(self.seed ^ rrset) ^ high) ^ low);
        let from = hash as usize % (PLACES / WAYS) * WAYS;
        &self.places[from..from + WAYS]
    }
}

// === impl Place ===

impl Place {
    fn is_of(&self, rrset: u64, high: u64, low: u64) -> bool {
        let is = |half: &AtomicU64, own: u64| half.load(Ordering::Relaxed) == own;
        is(&self.low, low) && is(&self.high, high) && is(&self.rrset, rrset)
    }

    /// Whole, or not at all.
    fn read(&self) -> Option<(u64, IpAddr, Seen)> {
        for _ in 0..LOOKS {
            let seen = self.seen.load(Ordering::Acquire);
            if seen == 0 || seen == BUSY {
                return None;
            }
            let of = |part: &AtomicU64| part.load(Ordering::Relaxed);
            let (rrset, high, low) = (of(&self.rrset), of(&self.high), of(&self.low));
            fence(Ordering::Acquire);
            if self.seen.load(Ordering::Relaxed) == seen {
                let bits = u128::from(high) << 64 | u128::from(low);
                return Some((rrset, IpAddr::V6(Ipv6Addr::from_bits(bits)).to_canonical(), Seen::of(seen)));
            }
        }
        None
    }
}

// === impl Seen ===

impl Seen {
    /// What comes later is greater.
    fn packed(self) -> u64 {
        u64::from(self.generation) << 32 | u64::from(self.until)
    }

    fn of(packed: u64) -> Seen {
        Seen { generation: (packed >> 32) as u32, until: packed as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(generation: u32, until: u32) -> Seen {
        Seen { generation, until }
    }

    fn client(n: u32) -> IpAddr {
        IpAddr::from(0x0a00_0000_u32.wrapping_add(n).to_be_bytes())
    }

    #[test]
    fn the_newest_answer_of_each_address_and_rrset_is_remembered() {
        let askers = Askers::default();
        assert_eq!(askers.all().count(), 0);
        assert_eq!(askers.of(1, client(1)), None);
        let six: IpAddr = "2001:db8::53".parse().unwrap();
        for (rrset, ip, last) in [
            (1, client(1), seen(1, 100)),
            (1, client(1), seen(1, 90)),
            (1, client(1), seen(1, 160)),
            (2, client(1), seen(3, 20)),
            (1, six, seen(1, 70)),
        ] {
            askers.note(rrset, ip, last);
        }
        // A reader that still has the former snapshot comes too late.
        askers.note(2, client(1), seen(2, 500));
        let mut all: Vec<_> = askers.all().collect();
        all.sort_by_key(|(rrset, ip, _)| (*rrset, *ip));
        assert_eq!(all, [(1, client(1), seen(1, 160)), (1, six, seen(1, 70)), (2, client(1), seen(3, 20))]);
        assert_eq!(askers.of(1, six), Some(seen(1, 70)));
        assert_eq!(askers.of(2, six), None);
        assert!(!askers.is_partial(0));
    }

    #[test]
    fn a_flood_of_addresses_has_bounded_room_and_those_go_first_whose_answer_is_over_first() {
        let askers = Askers::default();
        for n in 0..2 * PLACES as u32 {
            askers.note(7, client(n), seen(1, 100 + n));
        }
        let all: Vec<_> = askers.all().collect();
        assert!(all.len() <= PLACES && all.len() > PLACES / 2);
        let newest = 2 * PLACES as u32 - 1;
        assert_eq!(askers.of(7, client(newest)), Some(seen(1, 100 + newest)));
        assert!(askers.is_partial(100) && !askers.is_partial(100 + newest));
    }

    #[test]
    fn threads_that_write_the_same_places_leave_no_address_that_nobody_has() {
        let askers = Askers::default();
        std::thread::scope(|scope| {
            for thread in 0..4_u32 {
                let askers = &askers;
                scope.spawn(move || {
                    for n in 0..PLACES as u32 {
                        askers.note(u64::from(n % 3), client(n), seen(1, 1 + n + thread));
                    }
                });
            }
            let last = client(PLACES as u32);
            for _ in 0..20 {
                assert!(askers.all().all(|(rrset, ip, _)| ip < last && rrset < 3));
            }
        });
    }
}
