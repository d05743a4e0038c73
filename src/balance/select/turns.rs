//! Weighted round robin. Member *i* has its *k*-th turn at time (k + ½) / weight of a cycle, and turns are taken in the
//! order of these times (ties in the order of the members). So every cycle of Σ weights choices holds exactly the
//! weights, and the turns of a heavy member are spread instead of coming in a row.
//!
//! A running state for each member would need a lock and would lose its place whenever a member goes; a function of the
//! cursor needs neither. [`Turns`] is the cycle written down, prepared where the members change, so that a choice is one
//! look; [`round_robin`] finds a turn without it, for whatever set of members is left at the moment.

use super::Candidate;

/// Times are fixed-point fractions of a cycle; weights of at most 100 keep different times apart.
const CYCLE: u64 = 1 << 32;

/// Turns that are written down at most; a longer cycle is computed choice by choice.
const TURNS_MAX: u64 = 1 << 16;

/// One cycle, turn by turn.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turns {
    /// Whose turn it is, and how many turns it had in this cycle before.
    cycle: Box<[(u32, u32)]>,
    /// Turns of each in a cycle, in the order in which they were named; without those that have none.
    shares: Box<[(u32, u32)]>,
}

// === impl Turns ===

impl Turns {
    /// Of members (by whatever number stands for them) with weights of at most 100. `None` where nobody has a weight, or
    /// the cycle is too long to be written down.
    pub fn new(members: impl Iterator<Item = (u32, u32)> + Clone) -> Option<Turns> {
        let divisor = members.clone().fold(0, |d, (_, weight)| gcd(d, weight));
        if divisor == 0 {
            return None;
        }
        let shares: Box<[(u32, u32)]> =
            members.filter(|&(_, weight)| weight > 0).map(|(member, weight)| (member, weight / divisor)).collect();
        let total: u64 = shares.iter().map(|&(_, share)| u64::from(share)).sum();
        if total > TURNS_MAX {
            return None;
        }
        let mut timed: Vec<(u64, u32, u32)> = Vec::with_capacity(usize::try_from(total).ok()?);
        for (at, &(_, share)) in (0u32..).zip(&shares) {
            timed.extend((0..share).map(|k| ((2 * u64::from(k) + 1) * CYCLE / (2 * u64::from(share)), at, k)));
        }
        timed.sort_unstable();
        let cycle = timed.into_iter().map(|(_, at, k)| (shares[at as usize].0, k)).collect();
        Some(Turns { cycle, shares })
    }

    /// Whose turn the cursor means.
    pub fn at(&self, cursor: u64) -> u32 {
        self.cycle[self.index(cursor)].0
    }

    /// Whose turn the cursor means, and how many it had before, counted from the cursor 0: a cursor for a choice within
    /// what was chosen.
    pub fn nth(&self, cursor: u64) -> (u32, u64) {
        let (member, nth) = self.cycle[self.index(cursor)];
        let share = self.shares.iter().find(|&&(m, _)| m == member).map_or(1, |&(_, share)| u64::from(share));
        (member, (cursor / self.cycle.len() as u64).wrapping_mul(share).wrapping_add(u64::from(nth)))
    }

    fn index(&self, cursor: u64) -> usize {
        (cursor % self.cycle.len() as u64) as usize
    }
}

/// Whose turn the cursor means; `None` where nobody has a weight. The same order as [`Turns`].
pub fn round_robin(candidates: impl Iterator<Item = Candidate> + Clone, cursor: u64) -> Option<u32> {
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
        let over: u64 = candidates.clone().map(|(_, weight)| over(weight, middle)).sum();
        if over > turn { by = middle } else { before = middle }
    }
    // … and whose turn it is then, counting the turns that fall together.
    let mut rank = turn - candidates.clone().map(|(_, weight)| over(weight, before)).sum::<u64>();
    for (position, weight) in candidates {
        if over(weight, by) > over(weight, before) {
            if rank == 0 {
                return Some(position);
            }
            rank -= 1;
        }
    }
    None
}

/// How many turns a member of this weight has had by `time`: those whose time, rounded down, is not later.
fn over(weight: u64, time: u64) -> u64 {
    (2 * (time + 1) * weight + CYCLE - 1) / (2 * CYCLE)
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
