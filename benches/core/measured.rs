//! What measuring costs a request, and a place in the table a connection.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bascule::model::ending::{Ending, Phase, Reason, Who};
use bascule::snapshot::live::histogram::Histogram;
use bascule::snapshot::live::{Connections, Endings, Interval, Measured, VserverLive};
use criterion::Criterion;

pub fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("measured");
    let histogram = Histogram::default();
    let mut us = 0;
    group.bench_function("record", |b| {
        b.iter(|| {
            us = (us + 997) % 50_000;
            histogram.record(Duration::from_micros(us));
        });
    });
    // What a request on a kept connection leaves: four parts, each for the vserver, the service and the member.
    let three = [Measured::default(), Measured::default(), Measured::default()];
    let endings = Endings::default();
    group.bench_function("a request: four parts in three places, and its ending", |b| {
        b.iter(|| {
            us = (us + 997) % 50_000;
            for part in [Interval::Total, Interval::FirstByte, Interval::Transfer, Interval::Own] {
                three.iter().for_each(|measured| measured.record(part, Duration::from_micros(us)));
            }
            endings.count(Ending::new(Who::Server, Phase::Body, Reason::Done));
        });
    });
    group.bench_function("counts and four percentiles", |b| {
        b.iter(|| {
            let counts = histogram.counts();
            [0.5, 0.9, 0.99, 0.999].map(|share| counts.quantile(share))
        });
    });
    let (table, live) = (Arc::new(Connections::default()), Arc::new(VserverLive::default()));
    let (peer, now) = (([127, 0, 0, 1], 1).into(), Instant::now());
    // Among 20 000 others.
    let others: Vec<_> = (0..20_000).map(|_| table.enter(peer, "web".into(), Arc::clone(&live), now)).collect();
    let name: Arc<str> = "web".into();
    group.bench_function("a connection enters the table and leaves it", |b| {
        b.iter(|| table.enter(peer, Arc::clone(&name), Arc::clone(&live), now));
    });
    drop(others);
    group.finish();
}
