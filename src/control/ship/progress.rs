//! How one destination of the journal stands; pure, with the time passed in.
//!
//! | state | event | then |
//! |---|---|---|
//! | nothing waits | the journal grew | send what follows the last entry sent |
//! | sent, not confirmed | the other side confirms (HTTP), or the connection has held for [`SETTLE`] (syslog) | confirmed: the place is kept |
//! | sent, not confirmed | the connection breaks | what is not confirmed goes again, after a pause |
//! | any | an attempt fails | a pause: 1 s, twice as long each time, at most [`PAUSE_MOST`] |
//!
//! Syslog over TCP has no answers. What was written counts once the connection has held for a while after it: a server
//! that dies takes what it had not read with it, and the connection breaks. So entries may come twice, with the same
//! number and hash, and none is left out.

use std::collections::VecDeque;
use std::time::Duration;

use crate::control::store::Place;
use crate::model::time::{Now, Tick, Wall};

/// How long a connection of syslog must hold for what was written on it to count.
pub const SETTLE: Duration = Duration::from_secs(2);
/// Between two attempts at most.
pub const PAUSE_MOST: Duration = Duration::from_secs(60);
const PAUSE_FIRST: Duration = Duration::from_secs(1);
/// Said again after this, as long as it lasts.
const REPEAT: Duration = Duration::from_secs(600);
/// Written and not confirmed at most; beyond it nothing more is sent.
const UNCONFIRMED_MOST: usize = 256;

#[derive(Debug)]
pub struct Progress {
    confirmed: Place,
    /// What was written, batch by batch, and when.
    unconfirmed: VecDeque<(Place, Tick)>,
    failures: u32,
    retry_at: Tick,
    failing_since: Option<Wall>,
    say_at: Tick,
}

/// What a person should hear.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Say {
    Nothing,
    /// It fails, or still does.
    Failing,
    /// It works again.
    Recovered,
}

// === impl Progress ===

impl Progress {
    pub fn new(confirmed: Place) -> Progress {
        Progress {
            confirmed,
            unconfirmed: VecDeque::new(),
            failures: 0,
            retry_at: Tick::ZERO,
            failing_since: None,
            say_at: Tick::ZERO,
        }
    }

    pub fn confirmed(&self) -> &Place {
        &self.confirmed
    }

    /// The last entry that is on its way.
    pub fn sent(&self) -> &Place {
        self.unconfirmed.back().map_or(&self.confirmed, |(place, _)| place)
    }

    pub fn is_full(&self) -> bool {
        self.unconfirmed.len() >= UNCONFIRMED_MOST
    }

    /// Not before this is anything tried.
    pub fn retry_at(&self) -> Tick {
        self.retry_at
    }

    pub fn failing_since(&self) -> Option<Wall> {
        self.failing_since
    }

    /// Everything up to `place` is on its way.
    pub fn wrote(&mut self, now: Tick, place: Place) {
        self.unconfirmed.push_back((place, now));
    }

    /// The other side has said that it has everything up to `place`.
    pub fn answered(&mut self, place: Place) -> Say {
        self.confirmed = place;
        self.unconfirmed.clear();
        self.worked()
    }

    /// The connection still stands: what was written on it long enough ago counts. `None`: nothing new does.
    pub fn held(&mut self, now: Tick) -> Option<Say> {
        let mut news = false;
        while self.unconfirmed.front().is_some_and(|(_, at)| *at + SETTLE <= now) {
            if let Some((place, _)) = self.unconfirmed.pop_front() {
                self.confirmed = place;
                news = true;
            }
        }
        news.then(|| self.worked())
    }

    /// When [`Progress::held`] has news.
    pub fn settles_at(&self) -> Option<Tick> {
        self.unconfirmed.front().map(|(_, at)| *at + SETTLE)
    }

    /// An attempt failed, or the connection broke: what is not confirmed goes again.
    pub fn failed(&mut self, now: Now) -> Say {
        self.unconfirmed.clear();
        let pause = PAUSE_FIRST.saturating_mul(1 << self.failures.min(6)).min(PAUSE_MOST);
        self.failures = self.failures.saturating_add(1);
        self.retry_at = now.tick + pause;
        self.failing_since.get_or_insert(now.wall);
        if now.tick >= self.say_at {
            self.say_at = now.tick + REPEAT;
            return Say::Failing;
        }
        Say::Nothing
    }

    /// The journal is another one, or its oldest part is gone.
    pub fn start_from(&mut self, place: Place) {
        self.confirmed = place;
        self.unconfirmed.clear();
    }

    fn worked(&mut self) -> Say {
        (self.failures, self.retry_at, self.say_at) = (0, Tick::ZERO, Tick::ZERO);
        if self.failing_since.take().is_some() { Say::Recovered } else { Say::Nothing }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(number: u64) -> Place {
        Place { number, hash: format!("h{number}") }
    }

    fn now(ms: u64) -> Now {
        Now { tick: Tick::from_millis(ms), wall: Wall(ms as i64 * 1_000) }
    }

    #[test]
    fn what_was_written_counts_once_the_connection_has_held_for_a_while() {
        let mut progress = Progress::new(place(4));
        progress.wrote(now(0).tick, place(6));
        progress.wrote(now(500).tick, place(9));
        assert_eq!((progress.sent().number, progress.confirmed().number), (9, 4));
        assert_eq!(progress.held(now(1_999).tick), None);
        assert_eq!(progress.held(now(2_000).tick), Some(Say::Nothing));
        assert_eq!((progress.sent().number, progress.confirmed().number), (9, 6));
        assert_eq!(progress.settles_at(), Some(now(2_500).tick));
    }

    #[test]
    fn what_is_not_confirmed_when_the_connection_breaks_goes_again() {
        let mut progress = Progress::new(place(4));
        progress.wrote(now(0).tick, place(6));
        assert_eq!(progress.failed(now(100)), Say::Failing);
        assert_eq!(progress.sent().number, 4);
        assert_eq!(progress.retry_at(), now(1_100).tick);
        assert_eq!(progress.failing_since(), Some(now(100).wall));
    }

    #[test]
    fn failures_are_said_at_once_then_every_ten_minutes_and_pauses_grow_to_a_minute() {
        let mut progress = Progress::new(place(0));
        let mut at = 0;
        let mut said = 0;
        let mut pauses = Vec::new();
        while at < 1_300_000 {
            said += u32::from(progress.failed(now(at)) == Say::Failing);
            let next = progress.retry_at().0 / 1_000;
            pauses.push(next - at);
            at = next;
        }
        assert_eq!(pauses[..8], [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000]);
        assert_eq!(said, 3);
        assert_eq!(progress.answered(place(3)), Say::Recovered);
        assert_eq!(progress.answered(place(4)), Say::Nothing);
    }
}
