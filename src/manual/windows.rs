//! # Time windows and switches
//!
//! `tw:NAME` is true inside a time window, `sw:NAME` while a person has set a switch. Both are terms of conditions, gates
//! and rules like any other.
//!
//! ```toml
//! [time_window.office]
//! days     = ["mon", "tue", "wed", "thu", "fri"]
//! hours    = ["08:00-12:00", "13:00-18:00"]
//! zone     = "Europe/Berlin"
//! holidays = ["2027-01-01", "2027-05-06"]
//!
//! [time_window.freeze]
//! zone = "Europe/Berlin"
//! once = [{ from = "2026-12-23T18:00", to = "2027-01-04T06:00" }]
//!
//! [switch.drill]
//! initial = false
//! ```
//!
//! - **Zones** are names of the IANA database; the program carries a copy. Hours are what a clock on the wall there shows.
//! - **Daylight saving.** A window is one interval from the first moment at which the clock shows its beginning or later
//!   to the last at which it shows less than its end. `02:00-03:00` is not open in the night in which the clock never
//!   shows it, and open for two hours in the night that shows it twice.
//! - **Over midnight** (`22:00-06:00`) a window belongs to the day on which it begins, and so do its weekday and its holiday.
//! - **Holidays** close the windows of their days. **One-off** spans (`once`) stand beside the weekly ones and know no
//!   holidays; alone they mean no weekly window. A time without an offset is one of the window's zone.
//! - A window opens and closes by the clock of the box, and that is an evaluation: nothing polls. A clock that is set takes
//!   effect within a second.
//!
//! What is to happen at a time is a condition with a window: `[["tw:maintenance-night"]]` activates at its beginning, and a
//! `gate` with `tw:office` keeps pages to office hours. A switch, a mode, a force and a disable may have an end of their own
//! (`-expires 2h`).
