//! Deliveries of triggers, and queries of guards.

use super::Page;
use crate::control::World;
use crate::model::delivery::{DeliveryStatus, QueryCounts};

pub(super) fn write(look: &World<'_>, page: &mut Page) {
    let book = look.deliveries;
    let counts = || {
        let triggers = look.model.triggers.iter().map(|t| &t.name);
        triggers.map(|name| (name, book.counts.get(name).copied().unwrap_or_default()))
    };
    let mut family = page.gauge("bascule_trigger_deliveries", "Deliveries that are kept, by status.");
    for (name, _) in counts() {
        let of = |wanted: fn(&DeliveryStatus) -> bool| {
            book.deliveries.values().filter(|d| d.trigger == *name && wanted(&d.status)).count() as f64
        };
        let pending = of(|status| matches!(status, DeliveryStatus::Pending { .. }));
        family.sample(&[("trigger", name), ("status", "pending")], pending);
        family.sample(&[("trigger", name), ("status", "dead")], of(|status| *status == DeliveryStatus::Dead));
    }
    let mut family = page.counter("bascule_trigger_delivered_total", "Deliveries that got the expected answer.");
    for (name, counts) in counts() {
        family.sample(&[("trigger", name)], counts.delivered as f64);
    }
    let mut family =
        page.counter("bascule_trigger_failed_attempts_total", "Attempts that did not get the expected answer.");
    for (name, counts) in counts() {
        family.sample(&[("trigger", name)], counts.failed_attempts as f64);
    }
    let mut family = page.counter("bascule_trigger_dead_total", "Deliveries that were given up.");
    for (name, counts) in counts() {
        family.sample(&[("trigger", name)], counts.dead as f64);
    }
    let mut family = page.counter("bascule_trigger_suppressed_total", "Commits whose gate held the trigger back.");
    for (name, counts) in counts() {
        family.sample(&[("trigger", name)], counts.suppressed as f64);
    }
    let mut family = page.counter("bascule_query_tries_total", "Tries of the queries of guards, by what they said.");
    for query in &look.model.queries {
        let none = QueryCounts::default();
        let counts = look.queries.get(&query.name).unwrap_or(&none);
        for (word, value) in [("pass", counts.passed), ("refuse", counts.refused), ("cannot_tell", counts.undecided)] {
            family.sample(&[("query", &query.name), ("verdict", word)], value as f64);
        }
    }
}
