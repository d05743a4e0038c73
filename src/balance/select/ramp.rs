//! Slow start: a member that came UP is given new clients from a tenth of its weight to all of it over a time, so that
//! cold caches and pools are not met by a full share at once.

use std::time::Duration;

use crate::model::time::Tick;

/// Weights are counted in hundredths while any member of a vserver is on its way up.
pub const SCALE: u32 = 100;

/// The weight, in hundredths, of a member that has been UP since `since`. At least a tenth of it.
pub fn weight(weight: u32, since: Tick, now: Tick, slow_start: Duration) -> u32 {
    if !is_ramping(since, now, slow_start) {
        return weight * SCALE;
    }
    let part = now.since(since).as_micros() * u128::from(SCALE) / slow_start.as_micros().max(1);
    let percent = u32::try_from(part).unwrap_or(SCALE).clamp(SCALE / 10, SCALE);
    weight * percent
}

pub fn is_ramping(since: Tick, now: Tick, slow_start: Duration) -> bool {
    !slow_start.is_zero() && now.since(since) < slow_start
}
