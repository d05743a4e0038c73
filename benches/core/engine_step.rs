//! One step of the engine: a verdict that changes nothing, and one that flips ten scenarios.

use std::time::Duration;

use bascule::machine::{Engine, Input};
use bascule::model::event::{Outcome, Verdict};
use bascule::model::id::CheckId;
use bascule::model::time::{Now, Tick, Wall};
use criterion::Criterion;

use super::world;

pub fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("engine_step");
    for scenarios in [1_000, 100_000] {
        let mut engine = Engine::new();
        let mut effects = Vec::new();
        let mut now = Now::new(Tick(1), Wall(0));
        engine.step(now, Input::Adopt(world::scenarios(scenarios)), &mut effects);
        let mut feed = |outcome| {
            now = now.after(Duration::from_millis(1));
            effects.clear();
            let verdict = Verdict::new(outcome, Duration::from_millis(1), "");
            engine.step(now, Input::Verdict { check: CheckId(7), verdict }, &mut effects);
            effects.len()
        };
        feed(Outcome::Pass);
        group.bench_function(format!("no change, {scenarios} scenarios"), |b| b.iter(|| feed(Outcome::Pass)));
        let mut up = true;
        group.bench_function(format!("ten flip, {scenarios} scenarios"), |b| {
            b.iter(|| {
                up = !up;
                feed(if up { Outcome::Pass } else { Outcome::Fail })
            });
        });
    }
    group.finish();
}
