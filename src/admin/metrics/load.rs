//! What there is too much of: queues, limits, spillover, retries; and what is kept: persistence, idle connections.

use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;

use super::Page;
use crate::control::World;
use crate::snapshot::live::stats::Apdex;
use crate::snapshot::live::{Sessions, Totals, VserverLive, keeps_a_table};

/// A name, what it tells, and where it is read.
type Series = (&'static str, &'static str, fn(&VserverLive) -> f64);

const GAUGES: [Series; 3] = [
    ("bascule_vserver_surge_length", "Clients that wait in the surge queue.", |l| f64::from(l.surge.depth())),
    ("bascule_vserver_surge_length_max", "The most that ever waited at once.", |l| {
        f64::from(l.surge.depth_max.load(Relaxed))
    }),
    ("bascule_vserver_spilled_clients", "Clients that spilled and are kept at the backup.", |l| {
        l.spilled_clients.len() as f64
    }),
];

const COUNTERS: [Series; 9] = [
    ("bascule_vserver_surge_entered_total", "Clients that took a place in the surge queue.", |l| {
        l.surge.entered_total.load(Relaxed) as f64
    }),
    ("bascule_vserver_surge_waited_total", "Clients that were served after they had waited.", |l| {
        l.surge.waited_total.load(Relaxed) as f64
    }),
    ("bascule_vserver_surge_wait_seconds_total", "How long these waited together.", |l| {
        l.surge.waited_us_total.load(Relaxed) as f64 / 1e6
    }),
    ("bascule_vserver_surge_full_total", "Clients that found the surge queue full.", |l| {
        l.surge.full_total.load(Relaxed) as f64
    }),
    ("bascule_vserver_surge_timeout_total", "Clients that waited too long in the surge queue.", |l| {
        l.surge.timeout_total.load(Relaxed) as f64
    }),
    ("bascule_vserver_limited_total", "Requests (429) or connections over a limit of their client.", |l| {
        l.limited_total.load(Relaxed) as f64
    }),
    ("bascule_vserver_backup_hits_total", "New clients that went to the backup while the vserver was DOWN.", |l| {
        l.backup_hits_total.load(Relaxed) as f64
    }),
    ("bascule_vserver_retries_total", "Requests that were sent to another member within the retry budget.", |l| {
        l.retry.granted_total.load(Relaxed) as f64
    }),
    ("bascule_vserver_retries_denied_total", "Retries that the retry budget did not allow.", |l| {
        l.retry.denied_total.load(Relaxed) as f64
    }),
];

pub(super) fn write(look: &World<'_>, page: &mut Page) {
    let all = || look.model.vservers.iter().zip(&look.snapshot.vservers);
    for (kind, series) in [("gauge", &GAUGES[..]), ("counter", &COUNTERS[..])] {
        for (name, help, read) in series {
            let mut family = page.family(name, kind, help);
            for (vserver, entry) in all() {
                family.sample(&[("vserver", &vserver.name)], read(&entry.live));
            }
        }
    }
    let help = "Requests (HTTP) and connections (L4) by their total time: up to 500 ms, up to 2 s, beyond.";
    let mut family = page.counter("bascule_vserver_apdex_transactions_total", help);
    for (vserver, entry) in all() {
        let Some(apdex) = Apdex::of(&entry.live.measured) else { continue };
        let classes =
            [("satisfied", apdex.satisfied), ("tolerating", apdex.tolerating), ("frustrated", apdex.frustrated)];
        for (class, count) in classes {
            family.sample(&[("vserver", &vserver.name), ("class", class)], count as f64);
        }
    }
    let mut family =
        page.gauge("bascule_service_pooled_connections", "Idle connections to the server that wait to be used again.");
    for (service, entry) in look.model.services.iter().zip(&look.snapshot.services) {
        family.sample(&[("service", &service.name)], f64::from(entry.live.pooled.load(Relaxed)));
    }
    persistence(look, page);
}

/// One table for each vserver that keeps one, or for its lb group.
fn persistence(look: &World<'_>, page: &mut Page) {
    let mut groups = HashSet::new();
    let mut tables: Vec<([(&str, &str); 2], &Sessions)> = Vec::new();
    for (vserver, entry) in look.model.vservers.iter().zip(&look.snapshot.vservers) {
        let keeps = vserver.persistence.as_ref().is_some_and(keeps_a_table);
        let labels = match vserver.lb_group {
            _ if !keeps => continue,
            Some(group) if !groups.insert(group.index()) => continue,
            Some(group) => [("of", "lb_group"), ("name", &*look.model.lb_groups[group.index()].name)],
            None => [("of", "vserver"), ("name", &*vserver.name)],
        };
        tables.push((labels, &entry.sessions));
    }
    let mut family = page.gauge("bascule_persistence_entries", "Entries of the persistence table.");
    for (labels, sessions) in &tables {
        family.sample(labels, sessions.len() as f64);
    }
    type Read = fn(&Totals) -> u64;
    let counters: [(&'static str, &'static str, Read); 3] = [
        ("bascule_persistence_hits_total", "Clients that the persistence table knew.", |t| t.hits),
        ("bascule_persistence_misses_total", "Clients that it did not know, or no longer.", |t| t.misses),
        ("bascule_persistence_evictions_total", "Entries that made room before their time was over.", |t| t.evictions),
    ];
    for (name, help, read) in counters {
        let mut family = page.counter(name, help);
        for (labels, sessions) in &tables {
            family.sample(labels, read(&sessions.totals()) as f64);
        }
    }
}
