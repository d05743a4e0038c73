//! The figures of `benches/README.md`. One binary, so that everything is linked once.

mod balance;
mod dns_answer;
mod engine_step;
mod measured;
mod snapshot_build;
mod world;

use criterion::{criterion_group, criterion_main};

criterion_group!(
    benches,
    engine_step::bench,
    snapshot_build::bench,
    dns_answer::bench,
    balance::bench,
    measured::bench
);
criterion_main!(benches);
