//! Zones that come from primaries, and that go to secondaries.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use super::Page;
use crate::control::World;
use crate::snapshot::live::SecondaryLive;

type Total = fn(&SecondaryLive) -> &AtomicU64;

pub(super) fn transfers(look: &World<'_>, page: &mut Page) {
    let mut family = page.counter("bascule_zone_transfers_out_total", "Transfers of a zone to secondaries.");
    let all = look.model.zones.iter().zip(&look.snapshot.zone_live);
    for (zone, live) in all.filter(|(zone, _)| zone.transfer.goes_out()) {
        for (kind, total) in [("axfr", &live.axfr_total), ("ixfr", &live.ixfr_total)] {
            family.sample(&[("zone", &zone.name), ("kind", kind)], total.load(Relaxed) as f64);
        }
    }
    let zones = look.model.zones.iter().zip(&look.snapshot.zone_live).enumerate();
    let zones: Vec<_> = zones.filter(|(_, (zone, _))| zone.transfer.comes_in()).collect();
    if zones.is_empty() {
        return;
    }
    let totals: [(&str, &str, Total); 5] = [
        ("bascule_zone_transfers_total", "Transfers of a zone from its primaries that brought something new.", |l| {
            &l.transfers_total
        }),
        ("bascule_zone_incremental_transfers_total", "Of those, the ones by differences.", |l| &l.incremental_total),
        ("bascule_zone_transfer_failures_total", "Times that no primary of a zone could be asked.", |l| {
            &l.failures_total
        }),
        ("bascule_zone_notifies_total", "NOTIFY messages of primaries.", |l| &l.notifies_total),
        ("bascule_zone_notifies_refused_total", "NOTIFY messages that were refused.", |l| &l.notifies_refused_total),
    ];
    for (name, help, total) in totals {
        let mut family = page.counter(name, help);
        for (_, (zone, live)) in &zones {
            family.sample(&[("zone", &zone.name)], total(&live.secondary).load(Relaxed) as f64);
        }
    }
    let mut family = page.gauge("bascule_zone_usable", "1: the zone is answered from; 0: absent or expired.");
    for (at, (zone, _)) in &zones {
        let usable = look.snapshot.zones.zone(*at).missing.is_none();
        family.sample(&[("zone", &zone.name)], f64::from(u8::from(usable)));
    }
    let help = "When the zone is no longer answered from unless a primary confirms it. Unix seconds.";
    let mut family = page.gauge("bascule_zone_expires_seconds", help);
    for (_, (zone, live)) in &zones {
        if let Some(expires) = live.secondary.status.lock().expires {
            family.sample(&[("zone", &zone.name)], expires.0 as f64 / 1e6);
        }
    }
}
