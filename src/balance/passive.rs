//! Passive health: a member that fails real traffic is *ejected* from the choice of new clients for a while. It is not
//! DOWN: its monitors, its state and whatever hangs on them do not change, and clients that stay by persistence still
//! reach it. Pure: outcomes and the time are passed in.
//!
//! ```text
//!             so many failures in a row                        k-th in a row: T · min(k, 10)
//!  ┌────────┐ ─────────────────────────▶ ┌─────────────────┐ ────────────────────────────────▶ ┌────────┐
//!  │ serves │                            │ ejected (k-th)  │   nothing it does counts          │ serves │
//!  └────────┘ ◀───────────────────────── └─────────────────┘                                   └───┬────┘
//!    k = 0      served again for as long as it was out                                             │
//!               ◀──────────────────────────────────────────────────────────────────────────────────┘
//! ```
//!
//! How many of a vserver's members may be out at once is not a question to the member: [`is_left_out`] answers it where
//! the choice is made, for each vserver.

use std::time::Duration;

use crate::model::event::Failures;
use crate::model::service::Passive;
use crate::model::time::Tick;

/// An ejection lasts at most so many times as long as the first.
const TIMES_MAX: u32 = 10;

/// How one piece of work on a member went, as far as the member is to be judged by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// No connection could be made: refused, not answered in time, reset while it was made, handshake failed.
    ConnectFailed,
    /// The member broke the connection off before its answer began.
    Reset,
    /// A connection was made. Says nothing about answers: for traffic without any (TCP).
    Connected,
    /// The first byte of an answer came this long after the request was sent (TCP: after the connection was made).
    /// `status` of HTTP; a tunnel has none.
    FirstByte { after: Duration, status: Option<u16> },
}

/// What a member is remembered by. Counts what came in a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watch {
    connect_failures: u32,
    server_errors: u32,
    /// The last ejection, over or not.
    last: Option<Ejection>,
}

/// A member is out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ejection {
    pub since: Tick,
    pub until: Tick,
    /// 1 for the first in a row.
    pub times: u32,
    pub cause: Failures,
}

/// Whether the member that was ejected as number `rank` (from 0, the earliest first) of those that are out at the moment
/// stays out, in a vserver with so many members that could serve. At most `max_percent` of them are left out, but one may
/// always be, and never the last.
pub fn is_left_out(rank: usize, members: usize, max_percent: u8) -> bool {
    let most = (members * usize::from(max_percent) / 100).max(1).min(members.saturating_sub(1));
    rank < most
}

// === impl Outcome ===

impl Outcome {
    fn connect_failed(self) -> bool {
        matches!(self, Outcome::ConnectFailed | Outcome::Reset)
    }

    /// `None`: says nothing about answers.
    fn server_error(self) -> Option<bool> {
        match self {
            Outcome::FirstByte { status: Some(status), .. } => Some(status >= 500),
            _ => None,
        }
    }

    /// Whether it can end or begin a row of failures; a fast way past [`Watch`] for the good ones.
    pub fn is_failure(self) -> bool {
        self.connect_failed() || self.server_error() == Some(true)
    }
}

// === impl Watch ===

impl Watch {
    /// Takes one outcome. `Some`: with it the member is out.
    pub fn take(&mut self, passive: &Passive, now: Tick, outcome: Outcome) -> Option<Ejection> {
        if self.ejected(now).is_some() {
            return None;
        }
        match (outcome.connect_failed(), outcome.server_error()) {
            (true, _) => self.connect_failures = self.connect_failures.saturating_add(1),
            (false, error) => {
                self.connect_failures = 0;
                match error {
                    Some(true) => self.server_errors = self.server_errors.saturating_add(1),
                    Some(false) => self.server_errors = 0,
                    None => {}
                }
            }
        }
        let reached = |count: u32, limit: u32| limit > 0 && count >= limit;
        let cause = if reached(self.connect_failures, passive.connect_failures) {
            Failures::Connects(self.connect_failures)
        } else if reached(self.server_errors, passive.server_errors) {
            Failures::Answers(self.server_errors)
        } else {
            return None;
        };
        Some(self.eject(passive, now, cause))
    }

    /// `Some` while it is out.
    pub fn ejected(&self, now: Tick) -> Option<Ejection> {
        self.last.filter(|ejection| now < ejection.until)
    }

    /// Whether failures have been counted that a good outcome would clear.
    pub fn is_counting(&self) -> bool {
        self.connect_failures > 0 || self.server_errors > 0
    }

    fn eject(&mut self, passive: &Passive, now: Tick, cause: Failures) -> Ejection {
        let again = |last: &Ejection| now.since(last.until) < last.until.since(last.since);
        let times = self.last.filter(again).map_or(1, |last| last.times.saturating_add(1));
        let ejection = Ejection { since: now, until: now + passive.eject_time * times.min(TIMES_MAX), times, cause };
        *self = Watch { last: Some(ejection), ..Watch::default() };
        ejection
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn at(seconds: u64) -> Tick {
        Tick::from_millis(seconds * 1000)
    }

    fn answered(status: u16) -> Outcome {
        Outcome::FirstByte { after: Duration::from_millis(3), status: Some(status) }
    }

    fn passive(connect_failures: u32, server_errors: u32) -> Passive {
        Passive { connect_failures, server_errors, ..Passive::default() }
    }

    #[test]
    fn only_failures_in_a_row_eject() {
        let (mut watch, passive) = (Watch::default(), passive(3, 0));
        for _ in 0..10 {
            assert_eq!(watch.take(&passive, at(1), Outcome::ConnectFailed), None);
            assert_eq!(watch.take(&passive, at(1), Outcome::Reset), None);
            assert_eq!(watch.take(&passive, at(1), Outcome::Connected), None);
        }
        assert_eq!(watch.take(&passive, at(2), Outcome::ConnectFailed), None);
        assert_eq!(watch.take(&passive, at(2), Outcome::ConnectFailed), None);
        let out = watch.take(&passive, at(2), Outcome::ConnectFailed).unwrap();
        assert_eq!((out.since, out.until, out.times), (at(2), at(32), 1));
        assert_eq!(out.cause, Failures::Connects(3));
        assert!(watch.ejected(at(31)).is_some() && watch.ejected(at(32)).is_none());
    }

    #[test]
    fn a_connection_does_not_clear_a_row_of_bad_answers_and_an_answer_does() {
        let (mut watch, passive) = (Watch::default(), passive(0, 2));
        assert_eq!(watch.take(&passive, at(0), answered(502)), None);
        assert_eq!(watch.take(&passive, at(0), Outcome::Connected), None);
        assert_eq!(watch.take(&passive, at(0), answered(500)).map(|e| e.cause), Some(Failures::Answers(2)));
        let mut watch = Watch::default();
        assert_eq!(watch.take(&passive, at(0), answered(502)), None);
        assert_eq!(watch.take(&passive, at(0), answered(404)), None);
        assert_eq!(watch.take(&passive, at(0), answered(500)), None);
    }

    #[test]
    fn each_ejection_in_a_row_lasts_longer_up_to_ten_times() {
        let (mut watch, passive) = (Watch::default(), passive(1, 0));
        let mut now = at(0);
        for times in 1..=14_u32 {
            let out = watch.take(&passive, now, Outcome::ConnectFailed).unwrap();
            assert_eq!(out.until.since(out.since), Duration::from_secs(30) * times.min(10));
            assert_eq!(out.times, times);
            assert_eq!(watch.take(&passive, now + Duration::from_secs(1), Outcome::ConnectFailed), None, "it is out");
            now = out.until + Duration::from_secs(1);
        }
        // It served for as long as it was out: the next one is a first one again.
        let out = watch.take(&passive, now + Duration::from_secs(300), Outcome::ConnectFailed).unwrap();
        assert_eq!(out.times, 1);
    }

    #[test]
    fn nothing_is_watched_where_both_limits_are_zero() {
        let mut watch = Watch::default();
        for n in 0..1000 {
            let outcome = if n % 2 == 0 { Outcome::ConnectFailed } else { answered(500) };
            assert_eq!(watch.take(&passive(0, 0), at(n), outcome), None);
        }
    }

    proptest! {
        #[test]
        fn never_more_than_the_share_is_left_out_and_never_the_last(members in 1_usize..200, percent in 1_u8..=100) {
            let out = (0..members).filter(|&rank| is_left_out(rank, members, percent)).count();
            prop_assert!(out < members);
            prop_assert!(out <= 1 || out * 100 <= members * usize::from(percent));
            prop_assert!(members < 2 || out >= 1, "one may always be");
        }
    }
}
