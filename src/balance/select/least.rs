//! The member with the least figure / weight. Among equals weighted round robin, so that an idle vserver does not always
//! begin with its first member.
//!
//! A member without a figure (it has not answered yet, its monitor has not told its load) counts as the mean of the
//! others: were it nothing, every client would go to a new member until its first answer; were it the most, none would
//! and it would never have a figure.

use super::Candidate;
use super::turns::round_robin;

/// The position of the least loaded. `None`: nobody has a figure, or nobody a weight.
pub fn least(candidates: &mut [Candidate], cursor: u64) -> Option<u32> {
    if !fill_in(candidates) {
        return None;
    }
    let candidates = candidates.iter().copied().filter(|c| c.weight > 0);
    let least = candidates.clone().reduce(|a, b| if is_less(b, a) { b } else { a })?;
    round_robin(candidates.filter(move |&c| !is_less(least, c)), cursor)
}

/// Gives the mean of the others to those without a figure. `false`: nobody has one.
pub fn fill_in(candidates: &mut [Candidate]) -> bool {
    let known = candidates.iter().filter_map(|c| c.figure);
    let (sum, count) = known.fold((0_u128, 0_u128), |(sum, count), f| (sum + u128::from(f), count + 1));
    if count == 0 {
        return false;
    }
    if count < candidates.len() as u128 {
        let mean = u64::try_from(sum / count).unwrap_or(u64::MAX);
        candidates.iter_mut().for_each(|c| c.figure = c.figure.or(Some(mean)));
    }
    true
}

/// Whether the figure of `a` by its weight is less than that of `b`.
pub fn is_less(a: Candidate, b: Candidate) -> bool {
    let figure = |c: Candidate| u128::from(c.figure.unwrap_or(0));
    figure(a) * u128::from(b.weight) < figure(b) * u128::from(a.weight)
}
