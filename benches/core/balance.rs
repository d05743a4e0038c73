//! Choosing a member.

use bascule::balance::select::{Candidate, select};
use bascule::model::balancing::Method;
use criterion::Criterion;

pub fn bench(c: &mut Criterion) {
    let mut group = c.benchmark_group("balance");
    for members in [2_u32, 100] {
        for (name, weights) in [("equal", 1), ("mixed", 7)] {
            let candidates: Vec<Candidate> = (0..members)
                .map(|i| Candidate { position: i, weight: 1 + i % weights, active: (i * 31) % 17 })
                .collect();
            for method in [Method::RoundRobin, Method::LeastConnection] {
                let mut cursor = 0;
                group.bench_function(format!("{}, {members} members, {name} weights", method.word()), |b| {
                    b.iter(|| {
                        cursor += 1;
                        select(method, &candidates, cursor)
                    });
                });
            }
        }
    }
    group.finish();
}
