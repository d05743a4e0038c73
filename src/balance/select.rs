//! The method: which member gets a new client.
//!
//! Both methods are functions of what they are handed: the candidates (members that are UP, not full and not yet tried)
//! and a cursor that the caller counts up by one for each choice. A weighted round robin that keeps a running state per
//! member would need a lock and would lose its place whenever a member goes; a function of the cursor needs neither.
//!
//! Round robin gives member *i* its *k*-th turn at time (k + ½) / weight of a cycle and takes the turns in the order of
//! these times (ties in the order of the members). So every cycle of Σ weights choices holds exactly the weights, and
//! the turns of a heavy member are spread instead of coming in a row.

use crate::model::balancing::Method;

/// A member that may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// Position in `Vserver::members`; the choice is reported by it.
    pub position: u32,
    /// 1..=100; 0 is treated as never.
    pub weight: u32,
    /// Requests in flight or open connections.
    pub active: u32,
}

/// The position of the member chosen; `None` where no candidate has a weight.
pub fn select(method: Method, candidates: &[Candidate], cursor: u64) -> Option<u32> {
    match method {
        Method::RoundRobin => round_robin(candidates.iter().copied(), cursor),
        // No configuration names the others yet.
        _ => least_connection(candidates, cursor),
    }
}

/// The least active / weight; among equals weighted round robin, so that an idle vserver does not always begin with its
/// first member.
fn least_connection(candidates: &[Candidate], cursor: u64) -> Option<u32> {
    let least =
        candidates.iter().copied().filter(|c| c.weight > 0).reduce(|a, b| if loaded_less(b, a) { b } else { a })?;
    round_robin(candidates.iter().copied().filter(move |&c| c.weight > 0 && !loaded_less(least, c)), cursor)
}

fn loaded_less(a: Candidate, b: Candidate) -> bool {
    u64::from(a.active) * u64::from(b.weight) < u64::from(b.active) * u64::from(a.weight)
}

/// Times are fixed-point fractions of a cycle; weights of at most 100 keep different times apart.
const CYCLE: u64 = 1 << 32;

fn round_robin(candidates: impl Iterator<Item = Candidate> + Clone, cursor: u64) -> Option<u32> {
    let divisor = candidates.clone().fold(0, |d, c| gcd(d, c.weight));
    if divisor == 0 {
        return None;
    }
    let candidates = candidates.map(move |c| (c.position, u64::from(c.weight / divisor)));
    let total: u64 = candidates.clone().map(|(_, weight)| weight).sum();
    let turn = cursor % total;
    if candidates.clone().all(|(_, weight)| weight == 1) {
        return candidates.clone().nth(usize::try_from(turn).ok()?).map(|(position, _)| position);
    }
    // The earliest time by which `turn` + 1 turns are over …
    let (mut before, mut by) = (0, CYCLE);
    while by - before > 1 {
        let middle = before.midpoint(by);
        let over: u64 = candidates.clone().map(|(_, weight)| turns(weight, middle)).sum();
        if over > turn { by = middle } else { before = middle }
    }
    // … and whose turn it is then, counting the turns that fall together.
    let mut rank = turn - candidates.clone().map(|(_, weight)| turns(weight, before)).sum::<u64>();
    for (position, weight) in candidates {
        if turns(weight, by) > turns(weight, before) {
            if rank == 0 {
                return Some(position);
            }
            rank -= 1;
        }
    }
    None
}

/// How many turns a member of this weight has had by `time`.
fn turns(weight: u64, time: u64) -> u64 {
    (time * weight + CYCLE / 2) / CYCLE
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    fn members(weights: &[u32]) -> Vec<Candidate> {
        (0..).zip(weights).map(|(position, &weight)| Candidate { position, weight, active: 0 }).collect()
    }

    fn sequence(method: Method, candidates: &[Candidate], choices: u64) -> Vec<u32> {
        (0..choices).map(|cursor| select(method, candidates, cursor).unwrap()).collect()
    }

    #[test]
    fn equal_members_take_turns() {
        assert_eq!(sequence(Method::RoundRobin, &members(&[7, 7, 7]), 6), [0, 1, 2, 0, 1, 2]);
    }

    #[test]
    fn a_heavy_member_is_spread_over_the_cycle() {
        assert_eq!(sequence(Method::RoundRobin, &members(&[3, 1]), 8), [0, 0, 1, 0, 0, 0, 1, 0]);
        assert_eq!(sequence(Method::RoundRobin, &members(&[5, 1, 1]), 7), [0, 0, 0, 1, 2, 0, 0]);
    }

    #[test]
    fn a_single_member_gets_everything_and_none_without_weight_gets_anything() {
        assert_eq!(sequence(Method::RoundRobin, &members(&[1]), 3), [0, 0, 0]);
        assert_eq!(select(Method::RoundRobin, &[], 5), None);
        assert_eq!(select(Method::RoundRobin, &members(&[0, 0]), 5), None);
        assert_eq!(select(Method::LeastConnection, &members(&[0]), 5), None);
        assert_eq!(sequence(Method::RoundRobin, &members(&[0, 2]), 3), [1, 1, 1]);
    }

    #[test]
    fn the_least_loaded_by_weight_is_chosen_and_ties_rotate() {
        let at = |position, weight, active| Candidate { position, weight, active };
        assert_eq!(select(Method::LeastConnection, &[at(0, 1, 3), at(1, 1, 2)], 0), Some(1));
        assert_eq!(select(Method::LeastConnection, &[at(0, 10, 15), at(1, 1, 2)], 0), Some(0));
        let idle = [at(0, 1, 0), at(1, 1, 0), at(2, 1, 1)];
        assert_eq!(sequence(Method::LeastConnection, &idle, 4), [0, 1, 0, 1]);
    }

    proptest! {
        #[test]
        fn every_cycle_holds_exactly_the_weights(weights in prop::collection::vec(1u32..=100, 1..12), start in 0u64..1 << 40) {
            let candidates = members(&weights);
            let total: u32 = weights.iter().sum();
            let mut seen: HashMap<u32, u32> = HashMap::new();
            // Any run of Σ weights choices, wherever it begins.
            for cursor in start..start + u64::from(total) {
                *seen.entry(select(Method::RoundRobin, &candidates, cursor).unwrap()).or_default() += 1;
            }
            for (position, weight) in (0u32..).zip(&weights) {
                prop_assert_eq!(seen.get(&position), Some(weight));
            }
        }

        #[test]
        fn least_connection_never_passes_over_a_member_that_is_less_loaded(
            load in prop::collection::vec((0u32..=100, 0u32..1000), 1..12), cursor: u64,
        ) {
            let candidates: Vec<Candidate> =
                (0..).zip(&load).map(|(position, &(weight, active))| Candidate { position, weight, active }).collect();
            match select(Method::LeastConnection, &candidates, cursor) {
                None => prop_assert!(candidates.iter().all(|c| c.weight == 0)),
                Some(chosen) => {
                    let chosen = candidates[chosen as usize];
                    prop_assert!(chosen.weight > 0);
                    prop_assert!(candidates.iter().filter(|c| c.weight > 0).all(|&c| !loaded_less(c, chosen)));
                }
            }
        }
    }
}
