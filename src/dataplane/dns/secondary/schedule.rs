//! When a primary is asked, and until when what it said is good (RFC 1035 §3.3.13). Pure: the time is passed in.
//!
//! ```text
//!          transferred                 `expire` after the last word of a primary
//!  NOTHING ───────────▶ GOOD ─────────────────────────────────────────────────▶ EXPIRED
//!     │                  │  asked every `refresh`; after a failure every `retry`    │
//!     └─ asked after 1, 2, 4 … 60 s ◀───── asked every `retry`, at most 60 s ───────┘
//! ```

use std::time::Duration;

use crate::model::zone::ZoneContents;

/// Between two questions at least, however often a NOTIFY comes.
const APART: Duration = Duration::from_secs(1);
/// Between two questions while there is nothing to answer from.
const EMPTY_MOST: Duration = Duration::from_secs(60);
/// What a SOA may ask for at most.
const REFRESH_MOST: Duration = Duration::from_secs(28 * 86_400);
const RETRY_MOST: Duration = Duration::from_secs(14 * 86_400);

/// Times are since some origin that does not move.
#[derive(Debug)]
pub struct Schedule {
    next: Duration,
    /// `None`: there is nothing, or it has expired.
    expires: Option<Duration>,
    timers: Option<Timers>,
    failures: u32,
    last: Option<Duration>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timers {
    refresh: Duration,
    retry: Duration,
    expire: Duration,
}

// === impl Timers ===

impl Timers {
    pub fn of(contents: &ZoneContents) -> Timers {
        let refresh = contents.refresh().clamp(APART, REFRESH_MOST);
        let retry = contents.retry().clamp(APART, RETRY_MOST);
        // Never before a second question can have failed.
        Timers { refresh, retry, expire: contents.expire().max(refresh + retry) }
    }

    pub fn expire(&self) -> Duration {
        self.expire
    }
}

// === impl Schedule ===

impl Schedule {
    /// With nothing, or with what was confirmed `age` ago. The primary is asked at once.
    pub fn new(now: Duration, known: Option<(Timers, Duration)>) -> Schedule {
        let (timers, expires) = match known {
            Some((timers, age)) if age < timers.expire => (Some(timers), Some(now + timers.expire - age)),
            Some((timers, _)) => (Some(timers), None),
            None => (None, None),
        };
        Schedule { next: now, expires, timers, failures: 0, last: None }
    }

    /// When [`is_due`](Self::is_due) or [`expires`](Self::expires) has something to say.
    pub fn wake_at(&self) -> Duration {
        self.expires.map_or(self.next, |expires| expires.min(self.next))
    }

    /// When the next question is due.
    pub fn next(&self) -> Duration {
        self.next
    }

    pub fn expires_at(&self) -> Option<Duration> {
        self.expires
    }

    pub fn is_due(&self, now: Duration) -> bool {
        now >= self.next
    }

    /// True once, when what there is has become too old.
    pub fn expires(&mut self, now: Duration) -> bool {
        let is_over = self.expires.is_some_and(|at| now >= at);
        if is_over {
            self.expires = None;
        }
        is_over
    }

    /// A primary has said what it has.
    pub fn confirmed(&mut self, now: Duration, timers: Timers) {
        *self = Schedule {
            next: now + timers.refresh,
            expires: Some(now + timers.expire),
            timers: Some(timers),
            failures: 0,
            last: Some(now),
        };
    }

    /// No primary has.
    pub fn failed(&mut self, now: Duration) {
        let doubled = APART * 2u32.saturating_pow(self.failures.min(6));
        let wait = match (self.timers, self.expires) {
            (Some(timers), Some(_)) => timers.retry,
            (Some(timers), None) => timers.retry.min(EMPTY_MOST),
            (None, _) => doubled.min(EMPTY_MOST),
        };
        self.failures = self.failures.saturating_add(1);
        self.next = now + wait;
        self.last = Some(now);
    }

    /// What there is, is confirmed, and yet not all that was asked for has come.
    pub fn again(&mut self, now: Duration) {
        let retry = self.timers.map_or(EMPTY_MOST, |timers| timers.retry);
        self.next = self.next.min(now + retry);
    }

    /// Somebody says that there is something new.
    pub fn notified(&mut self, now: Duration) {
        let earliest = self.last.map_or(now, |last| now.max(last + APART));
        self.next = self.next.min(earliest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    const TIMERS: Timers = Timers { refresh: s(100), retry: s(10), expire: s(500) };

    #[test]
    fn a_primary_is_asked_every_refresh_and_every_retry_after_a_failure_until_the_zone_expires() {
        let mut schedule = Schedule::new(s(0), None);
        assert!(schedule.is_due(s(0)));
        schedule.confirmed(s(1), TIMERS);
        assert_eq!((schedule.wake_at(), schedule.is_due(s(100))), (s(101), false));
        schedule.failed(s(101));
        assert_eq!(schedule.wake_at(), s(111));
        schedule.confirmed(s(111), TIMERS);
        assert_eq!(schedule.wake_at(), s(211), "one good answer, and the next look is a refresh away");
        let mut now = s(211);
        while now < s(611) {
            assert!(!schedule.expires(now), "at {now:?}");
            schedule.failed(now);
            now = schedule.wake_at();
        }
        assert_eq!(now, s(611));
        assert!(schedule.expires(now) && !schedule.expires(now), "it is told once");
        schedule.failed(now);
        assert_eq!(schedule.wake_at(), s(621), "and asked on");
        schedule.confirmed(s(700), TIMERS);
        assert_eq!(schedule.expires_at(), Some(s(1200)));
    }

    #[test]
    fn who_has_nothing_asks_soon_and_then_every_minute() {
        let mut schedule = Schedule::new(s(0), None);
        let mut waits = Vec::new();
        let mut now = s(0);
        for _ in 0..9 {
            schedule.failed(now);
            waits.push((schedule.wake_at() - now).as_secs());
            now = schedule.wake_at();
        }
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60, 60, 60]);
    }

    #[test]
    fn a_restart_goes_on_with_the_age_there_was() {
        let schedule = Schedule::new(s(7), Some((TIMERS, s(200))));
        assert_eq!((schedule.expires_at(), schedule.is_due(s(7))), (Some(s(307)), true));
        assert_eq!(Schedule::new(s(7), Some((TIMERS, s(500)))).expires_at(), None, "it is too old");
    }

    #[test]
    fn what_is_still_wanted_is_asked_for_after_a_retry_and_the_zone_is_good_meanwhile() {
        let mut schedule = Schedule::new(s(0), None);
        schedule.confirmed(s(10), TIMERS);
        schedule.again(s(10));
        assert_eq!((schedule.wake_at(), schedule.expires_at()), (s(20), Some(s(510))));
    }

    #[test]
    fn notifies_are_followed_at_once_but_not_more_often_than_once_a_second() {
        let mut schedule = Schedule::new(s(0), None);
        schedule.confirmed(s(10), TIMERS);
        schedule.notified(s(50));
        assert!(schedule.is_due(s(50)));
        schedule.confirmed(s(50), TIMERS);
        schedule.notified(s(50));
        assert_eq!(schedule.wake_at(), s(51));
        schedule.failed(s(51));
        schedule.notified(s(60));
        assert!(schedule.is_due(s(60)), "also before the retry");
    }
}
