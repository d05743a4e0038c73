//! Holds: when a qualified term becomes true.
//!
//! Why not simply "true for so long": a check that fails one sample stays up until `fall` is reached, and a hold that
//! ignored the failed sample would return traffic to a server that is not well. So the hold of a check counts from its
//! last *failed sample*. And a hold must not begin before the commit that entered the state: a drill that begins with a
//! healthy primary would otherwise end at once, since the primary has been healthy for hours.
//!
//! | predicate | hold counts from | true when |
//! |---|---|---|
//! | check, not negated | last failed sample, first sample after unknown, the commit: the latest | that + `for` is over and the check is up |
//! | any other, measure or negated | became true, the commit: the later | that + `for` is over |
//! | unknown | does not count; begins anew | unknown |

use super::board::{Board, TermRows};
use crate::model::condition::{Measure, Subject, Term, Truth};
use crate::model::time::Tick;

/// The value of a term, and when a hold that is counting ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Valued {
    pub value: Truth,
    pub hold_ends: Option<Tick>,
}

/// Evaluates `term` at `now`. `floor` is the commit before which no hold begins, where the term belongs to the
/// direction leading out of the state.
pub fn evaluate(term: &Term, rows: TermRows, board: &Board, floor: Option<Tick>, now: Tick) -> Valued {
    let row = board.get(rows.row);
    let (result, true_since) = match term.measure {
        None if term.negated => (!row.value, row.since.tick),
        None => (row.value, row.since.tick),
        Some(Measure::Flaps { .. }) => {
            let predicate = board.get(rows.predicate.expect("flaps registers its predicate"));
            let value = if term.negated { !predicate.value } else { predicate.value };
            (value.and(row.value), row.since.tick.max(predicate.since.tick))
        }
        // `fails` stands after `!` only, `passes` and `latency` only without: the row is the measure itself.
        Some(Measure::Fails(_) | Measure::Passes(_) | Measure::Latency { .. }) => (row.value, row.since.tick),
    };
    let Some(hold) = term.hold else { return Valued { value: result, hold_ends: None } };
    if !result.is_true() {
        return Valued { value: result, hold_ends: None };
    }
    let counts_samples = term.measure.is_none() && !term.negated && matches!(term.subject, Subject::Check(_));
    let from = if counts_samples { row.clean_since.unwrap_or(row.since.tick) } else { true_since };
    let ends = from.max(floor.unwrap_or(Tick::ZERO)) + hold;
    if now >= ends {
        Valued { value: Truth::True, hold_ends: None }
    } else {
        Valued { value: Truth::False, hold_ends: Some(ends) }
    }
}
