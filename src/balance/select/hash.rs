//! Consistent hashing: weighted rendezvous. Each member has a score for each key, made of both and of nothing else; the
//! highest wins. So
//!
//! - a member that goes hands its keys to those that are next in each key's own order, and no other key moves;
//! - a member that comes, or comes back, takes only the keys in which it is first;
//! - a change of its weight moves keys to it or from it, never between others;
//! - it does not matter where a member stands, what its address is, or whether the box was restarted: a member is its
//!   [`identity`].
//!
//! The score is −ln(u) / weight, the least first, for a u in (0, 1] drawn from key and member: then a member's share of
//! keys is its share of weights, exactly. The logarithm is computed in whole numbers, so that two boxes agree.

use std::net::IpAddr;

use super::Candidate;
use crate::model::id::Name;
use crate::model::net::Network;

/// What stands for a member: its `hash_id` if it has one, else its name.
pub fn identity(hash_id: Option<u32>, name: &Name) -> u64 {
    match hash_id {
        Some(id) => Key::new(1).number(u64::from(id)).end(),
        None => Key::new(2).text(name.as_bytes()).end(),
    }
}

/// The position of the member of this key. `None` where nobody has a weight.
pub fn rendezvous(candidates: impl Iterator<Item = Candidate>, key: u64) -> Option<u32> {
    let scored = candidates.filter(|c| c.weight > 0).map(|c| (score(key, c.identity), c));
    let best = scored.reduce(|a, b| if is_before(b, a) { b } else { a })?;
    Some(best.1.position)
}

/// Whether `a` comes before `b` in the key's own order.
fn is_before((a_score, a): (u64, Candidate), (b_score, b): (u64, Candidate)) -> bool {
    let (left, right) = (a_score * u64::from(b.weight), b_score * u64::from(a.weight));
    left < right || (left == right && a.identity < b.identity)
}

/// −log2(u) with 32 fractional bits for a u in (0, 1] drawn from both.
fn score(key: u64, identity: u64) -> u64 {
    minus_log2(mix(key ^ identity))
}

/// −log2((drawn + 1) / 2^64). At most 2^38.
fn minus_log2(drawn: u64) -> u64 {
    let Some(u) = drawn.checked_add(1) else { return 0 };
    let whole = u64::from(u.leading_zeros());
    // The mantissa in [1, 2) without its 1, in 1/2^63; its logarithm piece by piece between the points of a table.
    let mantissa = (u << whole) & !(1 << 63);
    let piece = (mantissa >> 55) as usize;
    let within = (mantissa >> 23) & 0xffff_ffff;
    let (low, high) = (LOG2[piece], LOG2[piece + 1]);
    let fraction = low + (((high - low) * within) >> 32);
    ((whole + 1) << 32) - fraction
}

/// log2(1 + n/256) with 32 fractional bits.
static LOG2: [u64; 257] = {
    let mut table = [0; 257];
    let mut n = 0;
    while n <= 256 {
        // Squared 32 times, a number in [1, 2) tells its logarithm bit by bit.
        let (mut x, mut log, mut bit) = ((256 + n as u128) << 54, 0_u64, 0);
        if n == 256 {
            log = 1 << 32;
        } else {
            while bit < 32 {
                x = (x * x) >> 62;
                log <<= 1;
                if x >= 2 << 62 {
                    x >>= 1;
                    log |= 1;
                }
                bit += 1;
            }
        }
        table[n] = log;
        n += 1;
    }
    table
};

/// A number in which every bit of `x` counts (the finaliser of SplitMix64).
pub fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Something of a client, on the way to a number. The same on every machine and in every version: keys that moved with
/// an update would be a disruption of all.
#[derive(Clone, Copy, Debug)]
pub struct Key(u64);

// === impl Key ===

impl Key {
    /// `kind` keeps values of different kinds apart.
    pub fn new(kind: u64) -> Key {
        Key(mix(kind.wrapping_add(0x9e37_79b9_7f4a_7c15)))
    }

    pub fn number(self, number: u64) -> Key {
        Key(mix(self.0 ^ number).wrapping_add(0x9e37_79b9_7f4a_7c15))
    }

    pub fn text(self, bytes: &[u8]) -> Key {
        let whole = bytes.chunks_exact(8);
        let mut rest = [0; 8];
        rest[..whole.remainder().len()].copy_from_slice(whole.remainder());
        let key = whole.fold(self, |key, word| key.number(u64::from_le_bytes(word.try_into().expect("eight bytes"))));
        key.number(u64::from_le_bytes(rest)).number(bytes.len() as u64)
    }

    /// Cut to the network of these lengths. An IPv4 address mapped into IPv6 is the IPv4 address.
    pub fn address(self, ip: IpAddr, prefix_v4: u8, prefix_v6: u8) -> Key {
        match Network::truncate(ip.to_canonical(), prefix_v4, prefix_v6) {
            IpAddr::V4(ip) => self.number(u64::from(ip.to_bits())),
            IpAddr::V6(ip) => {
                let bits = ip.to_bits();
                self.number((bits >> 64) as u64).number(bits as u64)
            }
        }
    }

    pub fn end(self) -> u64 {
        mix(self.0)
    }
}
