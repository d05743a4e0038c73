//! Shipping the journal.

use super::Page;
use crate::admin::dto::ShippingDto;
use crate::control::World;

pub(super) fn write(look: &World<'_>, page: &mut Page) {
    let ships = ShippingDto::all(look);
    let mut family = page.gauge("bascule_journal_waiting_entries", "Entries that a destination does not have.");
    for ship in &ships {
        family.sample(&[("destination", &ship.name)], ship.waiting as f64);
    }
    let mut family = page.gauge("bascule_journal_ship_failing", "1 while the last attempt to ship has failed.");
    for ship in &ships {
        family.sample(&[("destination", &ship.name)], f64::from(u8::from(ship.failing_since.is_some())));
    }
    let mut family = page.counter("bascule_journal_shipped_total", "Entries that a destination has confirmed.");
    for ship in &ships {
        family.sample(&[("destination", &ship.name)], ship.shipped_total as f64);
    }
    let mut family = page.counter("bascule_journal_ship_failures_total", "Attempts to ship that failed.");
    for ship in &ships {
        family.sample(&[("destination", &ship.name)], ship.failures_total as f64);
    }
    let mut family =
        page.counter("bascule_journal_unshipped_lost_total", "Entries that were cut before they were shipped.");
    for ship in &ships {
        family.sample(&[("destination", &ship.name)], ship.lost_total as f64);
    }
}
