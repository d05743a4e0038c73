//! Time as an argument. Nothing below the control layer can ask what time it is: it is told, as a [`Now`].

use std::fmt;
use std::ops::{Add, Sub};
use std::time::Duration;

/// Monotonic time. Microseconds since an arbitrary origin of this process; never runs back. Holds, probe schedules and
/// measures use it, because a clock that is set by NTP must not shorten a hold of fifteen minutes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tick(pub u64);

/// Wall-clock time. Microseconds since 1970-01-01T00:00:00Z. Journal entries, payloads, time windows, drain deadlines
/// and expiries use it, because they must mean the same after a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wall(pub i64);

/// The time of one engine step: both clocks, read once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Now {
    pub tick: Tick,
    pub wall: Wall,
}

// === impl Tick ===

impl Tick {
    pub const ZERO: Tick = Tick(0);

    pub fn from_millis(ms: u64) -> Tick {
        Tick(ms * 1_000)
    }

    /// Time from `earlier` to `self`; zero where `earlier` is later.
    pub fn since(self, earlier: Tick) -> Duration {
        Duration::from_micros(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Tick {
    type Output = Tick;
    fn add(self, d: Duration) -> Tick {
        Tick(self.0.saturating_add(micros(d)))
    }
}

// === impl Wall ===

impl Wall {
    /// Time from `earlier` to `self`; zero where `earlier` is later.
    pub fn since(self, earlier: Wall) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// Whole seconds since 1970, as DNS counts; 0 for what is not in the 136 years after that.
    pub fn seconds(self) -> u32 {
        u32::try_from(self.0.div_euclid(1_000_000)).unwrap_or(0)
    }
}

impl Add<Duration> for Wall {
    type Output = Wall;
    fn add(self, d: Duration) -> Wall {
        Wall(self.0.saturating_add(i64::try_from(micros(d)).unwrap_or(i64::MAX)))
    }
}

impl Sub<Duration> for Wall {
    type Output = Wall;
    fn sub(self, d: Duration) -> Wall {
        Wall(self.0.saturating_sub(i64::try_from(micros(d)).unwrap_or(i64::MAX)))
    }
}

/// RFC 3339 in UTC with milliseconds, as REST, journal and payload print it: `2026-11-29T22:50:17.000Z`.
impl fmt::Display for Wall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Days-to-civil conversion (proleptic Gregorian calendar), so that L0 needs no time library for printing.
        let ms = self.0.div_euclid(1_000);
        let (days, ms_of_day) = (ms.div_euclid(86_400_000), ms.rem_euclid(86_400_000));
        let z = days + 719_468;
        let era = z.div_euclid(146_097);
        let doe = z.rem_euclid(146_097);
        let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
        let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
        let mp = (5 * doy + 2) / 153;
        let day = doy - (153 * mp + 2) / 5 + 1;
        let month = if mp < 10 { mp + 3 } else { mp - 9 };
        let year = yoe + era * 400 + i64::from(month <= 2);
        let (h, m, s, milli) =
            (ms_of_day / 3_600_000, ms_of_day / 60_000 % 60, ms_of_day / 1_000 % 60, ms_of_day % 1_000);
        write!(f, "{year:04}-{month:02}-{day:02}T{h:02}:{m:02}:{s:02}.{milli:03}Z")
    }
}

// === impl Now ===

impl Now {
    pub fn new(tick: Tick, wall: Wall) -> Now {
        Now { tick, wall }
    }

    /// The moment `d` earlier on both clocks; not before the origin of the monotonic one.
    pub fn before(self, d: Duration) -> Now {
        Now { tick: Tick(self.tick.0.saturating_sub(micros(d))), wall: self.wall - d }
    }

    /// The moment `d` later on both clocks; virtual time advances this way.
    pub fn after(self, d: Duration) -> Now {
        Now { tick: self.tick + d, wall: self.wall + d }
    }
}

/// Whole microseconds of `d`, saturating.
pub fn micros(d: Duration) -> u64 {
    u64::try_from(d.as_micros()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wall_time_prints_as_rfc_3339() {
        assert_eq!(Wall(0).to_string(), "1970-01-01T00:00:00.000Z");
        assert_eq!(Wall(1_795_992_617_123_456).to_string(), "2026-11-29T22:50:17.123Z");
        assert_eq!(Wall(951_782_400_000_000).to_string(), "2000-02-29T00:00:00.000Z");
        assert_eq!(Wall(-1).to_string(), "1969-12-31T23:59:59.999Z");
    }

    #[test]
    fn time_differences_never_underflow() {
        assert_eq!(Tick(5).since(Tick(9)), Duration::ZERO);
        assert_eq!(Wall(5).since(Wall(9)), Duration::ZERO);
    }
}
