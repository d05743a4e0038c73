//! Alerts, and the clock that their times are taken from.

use super::Page;
use crate::control::World;

pub(super) fn write(look: &World<'_>, page: &mut Page) {
    let book = look.alerts;
    let mut family = page.gauge("bascule_alerts", "Alerts that stand, by definition and kind.");
    for alert in &look.model.alerts {
        for watch in &alert.on {
            let standing = book.raised.values().filter(|r| r.alert == alert.name && r.subject.kind == watch.kind);
            family.sample(&[("alert", &alert.name), ("kind", watch.kind.word())], standing.count() as f64);
        }
    }
    let counts = |name| book.counts.get(name).copied().unwrap_or_default();
    let mut family = page.counter("bascule_alerts_raised_total", "Alerts that were raised, by definition.");
    for alert in &look.model.alerts {
        family.sample(&[("alert", &alert.name)], counts(&alert.name).raised as f64);
    }
    let mut family = page.counter("bascule_alerts_resolved_total", "Alerts that were resolved, by definition.");
    for alert in &look.model.alerts {
        family.sample(&[("alert", &alert.name)], counts(&alert.name).resolved as f64);
    }
    if let Some(synced) = look.status.clock_synced {
        page.gauge(
            "bascule_clock_synchronised",
            "1 while the kernel's clock is synchronised; absent where nobody can tell.",
        )
        .sample(&[], f64::from(u8::from(synced)));
    }
}
