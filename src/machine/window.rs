//! Time windows: inside or outside, and when that changes next. Time zones and daylight saving through `jiff`.
//!
//! Hours are what a clock on the wall of the zone shows. A window of a day is one interval of real time: from the first
//! moment at which that clock shows `from` or later to the last at which it shows less than `to`. That settles the two
//! nights of the year on which the clock jumps:
//!
//! | the clock | window | is open |
//! |---|---|---|
//! | jumps from 02:00 to 03:00 | 02:00-03:00 | not at all: the clock never shows it |
//! | | 02:30-04:00 | from the jump, when the clock shows 03:00 |
//! | | 01:00-02:30 | to the jump |
//! | falls from 03:00 to 02:00 | 02:00-03:00 | for two hours |
//! | | 02:30-04:00 | from the first 02:30 on, without a break |
//! | | 01:00-02:30 | to the second 02:30 |
//! | | 01:00-02:00 | for one hour, to the first 02:00 |
//!
//! A window over midnight belongs to the day it begins on, as do its weekday and its holiday: Friday 22:00-06:00 is open
//! on Saturday morning, and on that of a holiday too; a holiday's own night is closed up to the following morning.
//! One-off windows stand beside the weekly ones and know no holidays.

#[cfg(test)]
mod tests;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{Span, Timestamp};

use crate::model::scenario::TimeWindow;
use crate::model::time::Wall;

const DAY_MINUTES: u16 = 1440;

pub fn is_open(window: &TimeWindow, at: Wall) -> bool {
    Calendar::new(window).is_open(at)
}

/// The next moment after `at` when `is_open` changes; `None` where it never does.
pub fn next_change(window: &TimeWindow, at: Wall) -> Option<Wall> {
    let calendar = Calendar::new(window);
    let open = calendar.is_open(at);
    let mut candidates = calendar.boundaries(at);
    candidates.retain(|&boundary| boundary > at);
    candidates.sort_unstable();
    candidates.dedup();
    candidates.into_iter().find(|&boundary| calendar.is_open(boundary) != open)
}

/// A window with its time zone looked up.
struct Calendar<'a> {
    window: &'a TimeWindow,
    zone: TimeZone,
}

// === impl Calendar ===

impl<'a> Calendar<'a> {
    fn new(window: &'a TimeWindow) -> Calendar<'a> {
        // The name was checked when the model was made, and the binary carries a copy of the database.
        let zone = TimeZone::get(&window.zone).unwrap_or(TimeZone::UTC);
        Calendar { window, zone }
    }

    fn is_open(&self, at: Wall) -> bool {
        let once = self.window.once.iter().any(|&(from, to)| from <= at && at < to);
        once || self.date_of(at).is_some_and(|today| {
            // Tomorrow too: a clock that falls back over midnight has shown its first minutes already.
            let days = [today.yesterday().ok(), Some(today), today.tomorrow().ok()];
            days.into_iter().flatten().any(|day| self.intervals(day).any(|(from, to)| from <= at && at < to))
        })
    }

    /// Every moment at which the window can open or close next. A week shows every weekday; each holiday can only close
    /// one more of them, and opens or closes nothing but its own days.
    fn boundaries(&self, at: Wall) -> Vec<Wall> {
        let mut boundaries: Vec<Wall> = self.window.once.iter().flat_map(|&(from, to)| [from, to]).collect();
        let Some(today) = self.date_of(at) else { return boundaries };
        let holidays = self.window.holidays.iter().filter_map(|day| day.parse::<Date>().ok());
        let weeks = i64::try_from(self.window.holidays.len()).unwrap_or(0).min(520) + 2;
        let days = (-1..=7 * weeks).filter_map(|offset| today.checked_add(Span::new().days(offset)).ok());
        let around = holidays.flat_map(|day| [day.yesterday().ok(), Some(day), day.tomorrow().ok()]).flatten();
        for day in days.chain(around) {
            boundaries.extend(self.intervals(day).flat_map(|(from, to)| [from, to]));
        }
        boundaries
    }

    /// The intervals `[from, to)` that belong to a day.
    fn intervals(&self, day: Date) -> impl Iterator<Item = (Wall, Wall)> {
        let weekday = day.weekday().to_monday_zero_offset();
        let closed = self.window.days >> weekday & 1 == 0 || self.is_holiday(day);
        let hours: &[(u16, u16)] = match &self.window.hours[..] {
            _ if closed => &[],
            [] => &[(0, DAY_MINUTES)],
            hours => hours,
        };
        hours.iter().filter_map(move |&(from, to)| {
            let to = if to <= from { to + DAY_MINUTES } else { to };
            Some((self.first_at(day, from)?, self.last_before(day, to)?))
        })
    }

    fn is_holiday(&self, day: Date) -> bool {
        self.window.holidays.iter().any(|holiday| holiday.parse::<Date>().ok() == Some(day))
    }

    fn date_of(&self, at: Wall) -> Option<Date> {
        Timestamp::from_microsecond(at.0).ok().map(|at| self.zone.to_datetime(at).date())
    }

    /// The first moment at which the clock shows this minute of the day or a later one.
    fn first_at(&self, day: Date, minute: u16) -> Option<Wall> {
        let shown = clock_shows(day, minute)?;
        match self.zone.to_ambiguous_timestamp(shown).offset() {
            AmbiguousOffset::Unambiguous { offset } | AmbiguousOffset::Fold { before: offset, .. } => {
                wall(shown, offset)
            }
            AmbiguousOffset::Gap { after, .. } => self.jump_over(shown, after),
        }
    }

    /// The end of the last moment at which the clock shows less than this minute of the day.
    fn last_before(&self, day: Date, minute: u16) -> Option<Wall> {
        let shown = clock_shows(day, minute)?;
        match self.zone.to_ambiguous_timestamp(shown).offset() {
            AmbiguousOffset::Unambiguous { offset } => wall(shown, offset),
            AmbiguousOffset::Gap { after, .. } => self.jump_over(shown, after),
            AmbiguousOffset::Fold { before, after } => {
                let second = wall(shown, after)?;
                // At the start of the repeated hour nothing less than this minute is shown a second time.
                let starts_the_fold = self.jump_at(wall(shown, before)?) == Some(second);
                if starts_the_fold { wall(shown, before) } else { Some(second) }
            }
        }
    }

    /// When the clock jumps over what it never shows. By the offset after the jump `shown` lies before it.
    fn jump_over(&self, shown: DateTime, after: Offset) -> Option<Wall> {
        self.jump_at(wall(shown, after)?)
    }

    /// The first change of the offset after a moment.
    fn jump_at(&self, after: Wall) -> Option<Wall> {
        let after = Timestamp::from_microsecond(after.0).ok()?;
        self.zone.following(after).next().map(|jump| Wall(jump.timestamp().as_microsecond()))
    }
}

/// The minute of a day as date and time; 1440 and more lie on the next day.
fn clock_shows(day: Date, minute: u16) -> Option<DateTime> {
    let date = if minute >= DAY_MINUTES { day.tomorrow().ok()? } else { day };
    let minute = minute % DAY_MINUTES;
    let time = Time::new(i8::try_from(minute / 60).ok()?, i8::try_from(minute % 60).ok()?, 0, 0).ok()?;
    Some(date.to_datetime(time))
}

fn wall(shown: DateTime, offset: Offset) -> Option<Wall> {
    offset.to_timestamp(shown).ok().map(|at| Wall(at.as_microsecond()))
}
