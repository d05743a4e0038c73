//! Time windows: inside or outside, and when that changes next. Time zones and daylight saving through `jiff`.

use crate::model::scenario::TimeWindow;
use crate::model::time::Wall;

pub fn is_open(window: &TimeWindow, at: Wall) -> bool {
    let _ = (window, at);
    todo!()
}

/// The next moment after `at` when `is_open` changes; `None` where it never does.
pub fn next_change(window: &TimeWindow, at: Wall) -> Option<Wall> {
    let _ = (window, at);
    todo!()
}
