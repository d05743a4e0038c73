//! The one place that reads the clocks. Everything that decides is told the time as a [`Now`]; the reactor takes it here,
//! once for each input, and converts ticks back for whoever must sleep until one.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::model::time::{Now, Tick, Wall};

/// Both clocks of this process. Ticks are microseconds since the clock was started and never run back.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    origin: Instant,
}

// === impl Clock ===

impl Clock {
    /// Starts counting ticks.
    pub fn start() -> Clock {
        Clock { origin: Instant::now() }
    }

    pub fn now(&self) -> Now {
        Now { tick: self.tick_of(Instant::now()), wall: wall_now() }
    }

    /// When `tick` is, for timers and the probe runner.
    pub fn instant(&self, tick: Tick) -> Instant {
        // A tick too far away for the platform's clock is as good as a day: whoever waits for it looks again then.
        self.origin
            .checked_add(Duration::from_micros(tick.0))
            .unwrap_or_else(|| Instant::now() + Duration::from_secs(86_400))
    }

    pub fn tick_of(&self, instant: Instant) -> Tick {
        Tick::ZERO + instant.saturating_duration_since(self.origin)
    }
}

fn wall_now() -> Wall {
    match SystemTime::now().duration_since(UNIX_EPOCH) {
        Ok(since) => Wall(0) + since,
        Err(before) => Wall(0) - before.duration(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_convert_to_instants_and_back() {
        let clock = Clock::start();
        let tick = Tick(1_500_000);
        assert_eq!(clock.tick_of(clock.instant(tick)), tick);
        assert!(clock.now().tick <= clock.now().tick);
    }
}
