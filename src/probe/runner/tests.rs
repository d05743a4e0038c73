use std::sync::atomic::AtomicUsize;

use super::*;
use crate::probe::plan::tests::check;

fn start(limit: usize, sampler: Sampler) -> (Runner, mpsc::Receiver<Sampled>) {
    let (results, receiver) = mpsc::channel(64);
    (Runner::start_with(Surroundings::default(), results, limit, sampler).unwrap(), receiver)
}

fn pass() -> Verdict {
    Verdict::new(Outcome::Pass, Duration::ZERO, "")
}

fn now(name: &str, port: u16) -> Job {
    Job { check: check(name, port), due: Instant::now(), traffic: None, way: Way::default() }
}

fn next(receiver: &mut mpsc::Receiver<Sampled>) -> Sampled {
    receiver.blocking_recv().expect("the runner lives")
}

#[test]
fn a_panicking_probe_is_a_void_sample_and_ends_nothing_else() {
    let (runner, mut receiver) = start(4, |errand| {
        Box::pin(async move {
            assert!(&*errand.check.name != "broken", "a bug in a probe");
            pass()
        })
    });
    runner.schedule(now("broken", 1));
    let sampled = next(&mut receiver);
    assert_eq!((sampled.verdict.outcome, &*sampled.check.name), (Outcome::Void, "broken"));
    assert!(sampled.verdict.detail.contains("internal"));
    runner.schedule(now("sound", 1));
    assert_eq!(next(&mut receiver).verdict.outcome, Outcome::Pass);
    runner.stop();
}

#[test]
fn never_more_probes_are_under_way_than_the_limit_allows() {
    static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
    static MOST: AtomicUsize = AtomicUsize::new(0);
    let (runner, mut receiver) = start(3, |_| {
        Box::pin(async move {
            MOST.fetch_max(UNDER_WAY.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            for _ in 0..10 {
                tokio::task::yield_now().await;
            }
            UNDER_WAY.fetch_sub(1, Ordering::SeqCst);
            pass()
        })
    });
    for i in 0..20 {
        runner.schedule(now(&format!("c{i}"), 1));
    }
    for _ in 0..20 {
        next(&mut receiver);
    }
    assert_eq!(MOST.load(Ordering::SeqCst), 3);
}

#[test]
fn a_replaced_or_cancelled_attempt_sends_nothing() {
    // A probe of port 1 never ends; one of port 2 passes.
    let (runner, mut receiver) = start(9, |errand| {
        Box::pin(async move {
            if errand.check.probe.target().unwrap().port == 1 {
                std::future::pending::<()>().await;
            }
            pass()
        })
    });
    runner.schedule(now("a", 1));
    runner.schedule(now("b", 1));
    runner.schedule(now("a", 2));
    assert_eq!(&*next(&mut receiver).check.name, "a");
    runner.retain(|name| &**name == "a");
    runner.schedule(now("b", 2));
    assert_eq!(&*next(&mut receiver).check.name, "b");
    runner.stop();
    assert!(receiver.blocking_recv().is_none(), "nothing else was sent");
}

#[test]
fn a_job_that_is_found_too_late_is_void_and_counted() {
    let (runner, mut receiver) = start(1, |_| Box::pin(async { pass() }));
    let Some(due) = Instant::now().checked_sub(Duration::from_secs(2)) else { return };
    runner.schedule(Job { check: check("a", 1), due, traffic: None, way: Way::default() });
    let sampled = next(&mut receiver);
    assert_eq!(sampled.verdict.outcome, Outcome::Void);
    assert!(sampled.late_by >= Duration::from_secs(2));
    assert_eq!(runner.late_total(), 1);
}

#[test]
fn a_time_out_that_was_noticed_far_too_late_is_void() {
    let (runner, mut receiver) = start(1, |errand| {
        let latency = if &*errand.check.name == "late" { 1_001 } else { 501 };
        Box::pin(async move { Verdict::new(Outcome::Fail, Duration::from_millis(latency), "timed out") })
    });
    runner.schedule(now("late", 1));
    assert_eq!(next(&mut receiver).verdict.outcome, Outcome::Void);
    runner.schedule(now("timely", 1));
    assert_eq!(next(&mut receiver).verdict.outcome, Outcome::Fail);
    assert_eq!(runner.late_total(), 1);
}

#[test]
fn stopping_does_not_wait_for_a_probe_or_a_receiver() {
    let (results, receiver) = mpsc::channel(1);
    let runner = Runner::start_with(Surroundings::default(), results, 8, |_| Box::pin(async { pass() })).unwrap();
    for i in 0..8 {
        runner.schedule(now(&format!("c{i}"), 1));
    }
    runner.stop();
    drop(receiver);
}

#[test]
fn every_probe_counts_in_how_late_probes_began() {
    let (runner, mut receiver) = start(1, |_| Box::pin(async { pass() }));
    let Some(due) = Instant::now().checked_sub(Duration::from_millis(300)) else { return };
    runner.schedule(Job { check: check("a", 1), due, traffic: None, way: Way::default() });
    let late_by = next(&mut receiver).late_by;
    let lateness = runner.lateness();
    assert_eq!((lateness.count(), lateness.sum), (1, late_by));
    assert!(late_by >= Duration::from_millis(300));
    assert_eq!(lateness.cumulative().find(|(le, _)| *le == "0.25"), Some(("0.25", 0)));
}
