//! Both nights of daylight saving minute by minute against a naive reading of the clock, then claims one by one.

use jiff::tz::TimeZone;
use jiff::{Timestamp, civil};

use super::{is_open, next_change};
use crate::model::scenario::TimeWindow;
use crate::model::time::Wall;

const MINUTE: i64 = 60_000_000;

/// RFC 3339.
fn at(text: &str) -> Wall {
    Wall(text.parse::<Timestamp>().unwrap().as_microsecond())
}

fn minutes(text: &str) -> u16 {
    let (hours, minutes) = text.split_once(':').unwrap();
    hours.parse::<u16>().unwrap() * 60 + minutes.parse::<u16>().unwrap()
}

/// `days` as letters (`mtwtfss`, a dash where closed), `hours` as `08:00-18:00` with commas.
fn window(zone: &str, days: &str, hours: &str) -> TimeWindow {
    let span = |text: &str| text.split_once('-').map(|(from, to)| (minutes(from), minutes(to))).unwrap();
    TimeWindow {
        name: "w".into(),
        days: days.bytes().enumerate().filter(|&(_, day)| day != b'-').map(|(i, _)| 1 << i).sum(),
        hours: hours.split(',').filter(|text| !text.is_empty()).map(span).collect(),
        zone: zone.into(),
        holidays: vec![],
        once: vec![],
    }
}

fn berlin(hours: &str) -> TimeWindow {
    window("Europe/Berlin", "mtwtfss", hours)
}

fn holidays(days: &[&str], window: TimeWindow) -> TimeWindow {
    TimeWindow { holidays: days.iter().map(|&day| day.into()).collect(), ..window }
}

/// The next `count` changes after a moment.
fn changes(window: &TimeWindow, from: &str, count: usize) -> Vec<String> {
    let mut moment = at(from);
    let mut changes = vec![];
    while changes.len() < count
        && let Some(next) = next_change(window, moment)
    {
        assert_ne!(is_open(window, next), is_open(window, Wall(next.0 - 1)), "nothing changes at {next}");
        changes.push(next.to_string().replace(":00.000Z", "Z"));
        moment = next;
    }
    changes
}

// === Every minute ===

/// What the clock of a zone shows, minute by minute.
fn clock(zone: &str, from: &str, days: i64) -> Vec<(Wall, civil::DateTime)> {
    let zone = TimeZone::get(zone).unwrap();
    let shows = |at: Wall| zone.to_datetime(Timestamp::from_microsecond(at.0).unwrap());
    (0..days * 1440).map(|minute| Wall(at(from).0 + minute * MINUTE)).map(|at| (at, shows(at))).collect()
}

/// The window of one day, by looking at the clock in every minute: from the first that shows `from` or later to the last
/// that shows less than `to`.
fn naive_interval(clock: &[(Wall, civil::DateTime)], day: civil::Date, from: u16, to: u16) -> Option<(Wall, Wall)> {
    let begin = day.at(0, 0, 0, 0) + jiff::Span::new().minutes(from);
    let over_midnight = if to <= from { 1440 } else { 0 };
    let end = day.at(0, 0, 0, 0) + jiff::Span::new().minutes(to + over_midnight);
    let first = clock.iter().find(|&&(_, shown)| shown >= begin)?.0;
    let last = clock.iter().rev().find(|&&(_, shown)| shown < end)?.0;
    (first <= last).then_some((first, Wall(last.0 + MINUTE)))
}

#[test]
fn around_both_changes_of_daylight_saving_every_window_is_open_when_the_clock_says_so() {
    let marks = [0, 60, 90, 119, 120, 135, 150, 180, 181, 210, 1320];
    for (zone, start, day) in [
        ("Europe/Berlin", "2026-03-26T00:00:00Z", civil::date(2026, 3, 29)),
        ("Europe/Berlin", "2026-10-22T00:00:00Z", civil::date(2026, 10, 25)),
        // Clocks that change at midnight, one minute after it (back into the day before), and by half an hour.
        ("America/St_Johns", "2010-11-04T00:00:00Z", civil::date(2010, 11, 7)),
        ("Africa/Cairo", "2026-04-21T00:00:00Z", civil::date(2026, 4, 24)),
        ("Africa/Cairo", "2026-10-27T00:00:00Z", civil::date(2026, 10, 30)),
        ("Australia/Lord_Howe", "2026-04-02T00:00:00Z", civil::date(2026, 4, 5)),
        ("Australia/Lord_Howe", "2026-10-01T00:00:00Z", civil::date(2026, 10, 4)),
    ] {
        let clock = clock(zone, start, 7);
        for (from, to) in marks.iter().flat_map(|&from| marks.map(|to| (from, if to == 0 { 1440 } else { to }))) {
            let text = format!("{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60);
            let window = window(zone, "mtwtfss", &text);
            let days = [day.yesterday().unwrap().yesterday().unwrap(), day.yesterday().unwrap(), day];
            let days = days.into_iter().chain([day.tomorrow().unwrap()]);
            let naive: Vec<_> = days.filter_map(|day| naive_interval(&clock, day, from, to)).collect();
            let covered = |moment: Wall| naive.iter().any(|&(from, to)| from <= moment && moment < to);
            // The day of the change and the nights beside it; every 15 minutes and beside them.
            let night = at(&format!("{}T00:00:00Z", day.yesterday().unwrap())).0 + 720 * MINUTE;
            for moment in (0..96).flat_map(|i| [i * 15, i * 15 + 1, i * 15 + 14]).map(|m| Wall(night + m * MINUTE)) {
                assert_eq!(is_open(&window, moment), covered(moment), "{zone} {text} at {moment}");
            }
            let start = Wall(night);
            let changes = (1..1440).map(|m| Wall(night + m * MINUTE));
            let expected = changes.into_iter().find(|&moment| covered(moment) != covered(start));
            let found = next_change(&window, start).filter(|next| next.0 < night + 1440 * MINUTE);
            assert_eq!(found, expected, "{zone} {text} after {start}");
        }
    }
}

// === Claims ===

#[test]
fn office_hours_follow_the_zone_through_the_year() {
    let office = window("Europe/Berlin", "mtwtf--", "08:00-18:00");
    let winter = changes(&office, "2026-01-08T12:00:00Z", 3); // a Thursday
    assert_eq!(winter, ["2026-01-08T17:00Z", "2026-01-09T07:00Z", "2026-01-09T17:00Z"]);
    assert_eq!(changes(&office, "2026-01-09T18:00:00Z", 1), ["2026-01-12T07:00Z"], "over the weekend");
    assert_eq!(changes(&office, "2026-07-08T12:00:00Z", 1), ["2026-07-08T16:00Z"]);
    assert!(is_open(&office, at("2026-01-08T07:00:00Z")));
    assert!(!is_open(&office, at("2026-01-08T06:59:59.999999Z")));
    assert!(!is_open(&office, at("2026-01-08T17:00:00Z")), "the end is outside");
}

#[test]
fn a_window_over_midnight_belongs_to_the_day_it_begins_on() {
    let friday_night = window("UTC", "----f--", "22:00-06:00");
    assert_eq!(changes(&friday_night, "2026-01-05T00:00:00Z", 2), ["2026-01-09T22:00Z", "2026-01-10T06:00Z"]);
    assert!(is_open(&friday_night, at("2026-01-10T03:00:00Z")), "Saturday morning");
    assert!(!is_open(&friday_night, at("2026-01-09T03:00:00Z")), "Friday morning");
    // Saturday a holiday: the night that began on Friday is not cut. Friday a holiday: none of it is open.
    let saturday_off = holidays(&["2026-01-10"], friday_night.clone());
    assert!(is_open(&saturday_off, at("2026-01-10T03:00:00Z")));
    let friday_off = holidays(&["2026-01-09"], friday_night);
    assert_eq!(changes(&friday_off, "2026-01-05T00:00:00Z", 1), ["2026-01-16T22:00Z"]);
    assert!(!is_open(&friday_off, at("2026-01-10T03:00:00Z")));
}

#[test]
fn hours_that_the_clock_never_shows_do_not_open() {
    // On 2026-03-29 the clock of Berlin jumps from 02:00 to 03:00, at 01:00 UTC.
    let night = berlin("02:00-03:00");
    assert!(!is_open(&night, at("2026-03-29T00:59:00Z")));
    assert!(!is_open(&night, at("2026-03-29T01:00:00Z")));
    assert_eq!(changes(&night, "2026-03-28T12:00:00Z", 2), ["2026-03-30T00:00Z", "2026-03-30T01:00Z"]);
    assert_eq!(changes(&berlin("02:30-04:00"), "2026-03-28T12:00:00Z", 2), ["2026-03-29T01:00Z", "2026-03-29T02:00Z"]);
    assert_eq!(changes(&berlin("01:00-02:30"), "2026-03-28T12:00:00Z", 2), ["2026-03-29T00:00Z", "2026-03-29T01:00Z"]);
}

#[test]
fn hours_that_the_clock_shows_twice_are_open_twice_as_long_without_a_break() {
    // On 2026-10-25 the clock of Berlin falls from 03:00 to 02:00, at 01:00 UTC.
    let from = "2026-10-24T12:00:00Z";
    assert_eq!(changes(&berlin("02:00-03:00"), from, 2), ["2026-10-25T00:00Z", "2026-10-25T02:00Z"]);
    assert_eq!(changes(&berlin("02:30-04:00"), from, 2), ["2026-10-25T00:30Z", "2026-10-25T03:00Z"]);
    assert_eq!(changes(&berlin("01:00-02:30"), from, 2), ["2026-10-24T23:00Z", "2026-10-25T01:30Z"]);
    assert_eq!(changes(&berlin("01:00-02:00"), from, 2), ["2026-10-24T23:00Z", "2026-10-25T00:00Z"]);
}

#[test]
fn without_hours_a_window_is_open_the_whole_day_and_neighbouring_days_are_one() {
    let weekend = window("Europe/Berlin", "-----ss", "");
    assert_eq!(changes(&weekend, "2026-01-07T00:00:00Z", 2), ["2026-01-09T23:00Z", "2026-01-11T23:00Z"]);
    // 23 and 25 hours long.
    let sunday = window("Europe/Berlin", "------s", "");
    assert_eq!(changes(&sunday, "2026-03-27T00:00:00Z", 2), ["2026-03-28T23:00Z", "2026-03-29T22:00Z"]);
    assert_eq!(changes(&sunday, "2026-10-23T00:00:00Z", 2), ["2026-10-24T22:00Z", "2026-10-25T23:00Z"]);
}

#[test]
fn a_window_that_never_changes_says_so() {
    assert_eq!(next_change(&window("UTC", "mtwtfss", ""), at("2026-01-01T00:00:00Z")), None);
    assert!(is_open(&window("UTC", "mtwtfss", ""), at("2026-01-01T00:00:00Z")));
    assert_eq!(next_change(&window("UTC", "-------", ""), at("2026-01-01T00:00:00Z")), None);
    assert_eq!(next_change(&berlin("08:00-08:00"), at("2026-01-01T00:00:00Z")), None, "24 hours, every day");
    assert!(is_open(&berlin("08:00-08:00"), at("2026-01-01T00:00:00Z")));
}

#[test]
fn a_holiday_far_away_is_found_and_a_row_of_holidays_is_passed_over() {
    let always = holidays(&["2027-12-24"], window("UTC", "mtwtfss", ""));
    assert_eq!(changes(&always, "2026-01-01T00:00:00Z", 9), ["2027-12-24T00:00Z", "2027-12-25T00:00Z"]);
    let mondays: Vec<String> =
        (0..10).map(|week| (civil::date(2026, 1, 5) + jiff::Span::new().weeks(week)).to_string()).collect();
    let mondays: Vec<&str> = mondays.iter().map(String::as_str).collect();
    let monday = holidays(&mondays, window("UTC", "m------", "09:00-10:00"));
    assert_eq!(changes(&monday, "2026-01-01T00:00:00Z", 1), ["2026-03-16T09:00Z"]);
}

#[test]
fn one_off_windows_stand_beside_the_weekly_ones_and_know_no_holidays() {
    let once = (at("2026-01-10T12:34:00Z"), at("2026-01-11T01:00:00Z"));
    let only_once = TimeWindow { once: vec![once], ..window("UTC", "-------", "") };
    assert_eq!(changes(&only_once, "2026-01-01T00:00:00Z", 9), ["2026-01-10T12:34Z", "2026-01-11T01:00Z"]);
    // It overlaps the weekly window: one opening, one closing.
    let both = TimeWindow { once: vec![once], ..window("UTC", "-----s-", "12:00-13:00") };
    assert_eq!(changes(&both, "2026-01-09T00:00:00Z", 2), ["2026-01-10T12:00Z", "2026-01-11T01:00Z"]);
    let holiday = holidays(&["2026-01-10"], both);
    assert_eq!(changes(&holiday, "2026-01-09T00:00:00Z", 2), ["2026-01-10T12:34Z", "2026-01-11T01:00Z"]);
}

#[test]
fn several_spans_of_a_day_open_and_close_each_and_touching_ones_are_one() {
    let spans = window("UTC", "mtwtfss", "08:00-12:00,12:00-13:00,14:00-18:00");
    let day = changes(&spans, "2026-01-05T00:00:00Z", 4);
    assert_eq!(day, ["2026-01-05T08:00Z", "2026-01-05T13:00Z", "2026-01-05T14:00Z", "2026-01-05T18:00Z"]);
}

#[test]
fn times_beyond_the_calendar_are_closed_and_nothing_panics() {
    for edge in [Wall(i64::MAX), Wall(i64::MIN)] {
        assert!(!is_open(&berlin("08:00-18:00"), edge));
        assert_eq!(next_change(&berlin("08:00-18:00"), edge), None);
    }
}
