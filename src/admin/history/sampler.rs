//! From totals that only grow to what happened since the last look.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;

use super::book::{FINE_S, Row};
use crate::model::time::{Wall, micros};
use crate::snapshot::Snapshot;
use crate::snapshot::live::histogram::Counts;
use crate::snapshot::live::{Interval, Measured, ServiceLive, VserverLive};

/// A look that comes this much later than it should tells of more than one row: what it saw is not counted.
const LATE_S: u64 = 2 * FINE_S as u64;

/// Totals at the last look.
#[derive(Debug, Default)]
pub struct Sampler {
    before: HashMap<String, Totals>,
    looked_at: Option<Wall>,
}

#[derive(Clone, Debug, Default)]
struct Totals {
    requests: u64,
    errors: u64,
    bytes_in: u64,
    bytes_out: u64,
    connections: u64,
    times: Option<Counts>,
}

// === impl Sampler ===

impl Sampler {
    /// What happened since the last look, vservers first. Nothing at the first look, nor after a pause.
    pub fn take(&mut self, snapshot: &Snapshot, now: Wall) -> Vec<(String, Row)> {
        let elapsed = self.looked_at.map(|at| now.since(at).as_secs());
        self.looked_at = Some(now);
        let counts = elapsed.is_some_and(|elapsed| (1..=LATE_S).contains(&elapsed));
        let mut seen = HashMap::with_capacity(self.before.len());
        let mut rows = Vec::new();
        let vservers = snapshot.model.vservers.iter().zip(&snapshot.vservers);
        let vservers = vservers.map(|(v, entry)| (format!("vserver:{}", v.name), Totals::of_vserver(&entry.live)));
        let services = snapshot.model.services.iter().zip(&snapshot.services);
        let services = services.map(|(s, entry)| (format!("service:{}", s.name), Totals::of_service(&entry.live)));
        for (object, totals) in vservers.chain(services) {
            if let Some(before) = self.before.get(&object).filter(|_| counts) {
                rows.push((object.clone(), totals.since(before)));
            }
            seen.insert(object, totals);
        }
        self.before = seen;
        rows
    }
}

// === impl Totals ===

impl Totals {
    fn of_vserver(live: &VserverLive) -> Totals {
        Totals {
            requests: live.requests_total.load(Relaxed),
            errors: live.statuses_total[5].load(Relaxed) + live.refused_total.load(Relaxed),
            bytes_in: live.bytes_in_total.load(Relaxed),
            bytes_out: live.bytes_out_total.load(Relaxed),
            connections: live.connections.load(Relaxed).into(),
            times: times(&live.measured),
        }
    }

    fn of_service(live: &ServiceLive) -> Totals {
        Totals {
            requests: live.requests_total.load(Relaxed),
            errors: live.statuses_total[5].load(Relaxed) + live.connect_failures_total.load(Relaxed),
            bytes_in: live.bytes_in_total.load(Relaxed),
            bytes_out: live.bytes_out_total.load(Relaxed),
            connections: live.active.load(Relaxed).into(),
            times: times(&live.measured),
        }
    }

    fn since(&self, before: &Totals) -> Row {
        let times = self.times.as_ref().map(|times| match &before.times {
            Some(before) => times.since(before),
            None => times.clone(),
        });
        let quantile = |share| times.as_ref().and_then(|times| times.quantile(share)).map_or(0, micros);
        Row {
            requests: self.requests.saturating_sub(before.requests),
            errors: self.errors.saturating_sub(before.errors),
            bytes_in: self.bytes_in.saturating_sub(before.bytes_in),
            bytes_out: self.bytes_out.saturating_sub(before.bytes_out),
            connections: self.connections,
            p50: quantile(0.5),
            p99: quantile(0.99),
        }
    }
}

fn times(measured: &Measured) -> Option<Counts> {
    measured.counts(Interval::Total)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;
    use crate::model::Model;
    use crate::model::service::{Protocol, Service};
    use crate::model::state::{ServiceView, StateView, VserverView};
    use crate::model::vserver::Vserver;
    use crate::snapshot::build::{Parts, build};
    use crate::snapshot::live::Registry;

    fn snapshot() -> Snapshot {
        let mut model = Model::empty();
        model.services.push(Service::new("web1", Protocol::Http, ([192, 0, 2, 1], 80).into()));
        model.vservers.push(Vserver::new("web", Protocol::Http));
        let view = StateView {
            services: vec![ServiceView::default()],
            vservers: vec![VserverView::default()],
            ..StateView::default()
        };
        build(Parts {
            generation: 1,
            model: &Arc::new(model),
            view: &view,
            registry: &mut Registry::default(),
            zones: &Arc::default(),
            resolved: &Default::default(),
            previous: None,
            scenario_active: Vec::new(),
            ready: true,
        })
    }

    #[test]
    fn a_row_is_what_happened_since_the_last_look_and_a_pause_is_not_counted() {
        let snapshot = snapshot();
        let live = &snapshot.vservers[0].live;
        let (mut sampler, start) = (Sampler::default(), Wall(1_767_607_200_000_000));
        let after = |secs| start + Duration::from_secs(secs);
        let serve = |requests: u64, ms: u64| {
            live.requests_total.fetch_add(requests, Relaxed);
            (0..requests).for_each(|_| live.measured.record(Interval::Total, Duration::from_millis(ms)));
        };
        serve(500, 900);
        assert_eq!(sampler.take(&snapshot, after(0)), [], "before the first look nobody knows since when");
        serve(20, 4);
        live.connections.store(3, Relaxed);
        let rows = sampler.take(&snapshot, after(10));
        assert_eq!((&*rows[0].0, &*rows[1].0), ("vserver:web", "service:web1"), "vservers come first");
        let row = rows[0].1;
        assert_eq!((row.requests, row.connections), (20, 3));
        assert!((3_900..4_100).contains(&row.p50) && row.p99 < 5_000, "the slow ones were before: {row:?}");
        assert_eq!(sampler.take(&snapshot, after(20))[0].1, Row { connections: 3, ..Row::default() });
        serve(1_000, 4);
        assert_eq!(sampler.take(&snapshot, after(90)), [], "a suspended box tells nothing of the time between");
    }
}
