//! The method: which member gets a new client.
//!
//! Every method is a function of what it is handed: the candidates with what it reads of them, and a cursor that the
//! caller counts up by one for each choice, or a key. Nothing is kept here, so nothing is locked, and a member that goes
//! leaves no trace.
//!
//! | methods | are | here |
//! |---|---|---|
//! | ROUNDROBIN | turns by weight | [`turns`] |
//! | LEAST…, CUSTOMLOAD | the least figure / weight, among equals turns by weight | [`least`] |
//! | …HASH, TOKEN | the highest score of the key, weighted rendezvous | [`hash`] |
//! | STATICPROXIMITY | those that are near; among them the backup method | `snapshot::pick` |

pub mod hash;
pub mod least;
pub mod ramp;
pub mod turns;

use crate::model::balancing::Method;

/// A member that may be chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Candidate {
    /// Position in `Vserver::members`; the choice is reported by it.
    pub position: u32,
    /// Relative to the others'; 0: never.
    pub weight: u32,
    /// What the method compares: work, time × work, bit/s, packets/s, load. `None`: not known yet.
    pub figure: Option<u64>,
    /// Stands for the member in hash methods; see [`hash::identity`].
    pub identity: u64,
}

/// The position of the member chosen by its figure, or its turn. `None`: the method finds nothing to go by (nobody has
/// a figure), or no candidate has a weight.
///
/// ```
/// use bascule::balance::select::{Candidate, select};
/// use bascule::model::balancing::Method;
///
/// let at = |position, weight, active| Candidate { position, weight, figure: Some(active), identity: 0 };
/// // 15 requests at weight 10 are less than 2 at weight 1.
/// assert_eq!(select(Method::LeastConnection, &mut [at(0, 10, 15), at(1, 1, 2)], 0), Some(0));
/// ```
pub fn select(method: Method, candidates: &mut [Candidate], cursor: u64) -> Option<u32> {
    if method.compares() {
        return least::least(candidates, cursor);
    }
    turns::round_robin(candidates.iter().copied(), cursor)
}

#[cfg(test)]
mod tests;
