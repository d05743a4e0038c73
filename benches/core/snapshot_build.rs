//! From the state of everything to what traffic reads.

use std::sync::Arc;

use bascule::machine::{Engine, Input};
use bascule::model::time::{Now, Tick, Wall};
use bascule::snapshot::build::{Parts, build};
use bascule::snapshot::live::Registry;
use bascule::snapshot::zones::ZoneIndex;
use criterion::Criterion;

use super::world;

pub fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("snapshot_build");
    for services in [100, 10_000] {
        let model = world::services(services);
        let mut engine = Engine::new();
        engine.step(Now::new(Tick(1), Wall(0)), Input::Adopt(Arc::clone(&model)), &mut Vec::new());
        let mut registry = Registry::default();
        let zones = Arc::new(ZoneIndex::build(&model));
        let resolved = Default::default();
        let mut generation = 0;
        let mut previous = None;
        group.bench_function(format!("{services} services"), |b| {
            b.iter(|| {
                generation += 1;
                let next = build(Parts {
                    generation,
                    model: &model,
                    view: engine.view(),
                    registry: &mut registry,
                    zones: &zones,
                    resolved: &resolved,
                    previous: previous.as_ref(),
                    scenario_active: Vec::new(),
                    ready: true,
                });
                previous = Some(next);
            });
        });
    }
    group.finish();
}
