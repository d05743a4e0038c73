//! Takes samples when they are due, on a thread of its own: a busy data plane or disk must not make a probe late, and a
//! flood of probes must not make traffic late.
//!
//! One thread with one reactor carries thousands of probes, because a probe waits far more than it works. Being late is
//! this machine's fault and never the peer's: a job that could not start within its interval, and a sample that noticed
//! its time-out much later than the time-out, are void and counted. Every job that is neither cancelled nor replaced
//! ends in exactly one [`Sampled`]; a receiver that does not keep up holds the reports back, and with them the next
//! probes of those checks, so nothing grows.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};
use tokio::task::AbortHandle;

use super::plan::{Attempt, Plan, Start};
use super::{Job, Sampled, Surroundings, Traffic, sample_at};
use crate::model::check::Check;
use crate::model::event::{Outcome, Verdict};
use crate::model::id::Name;

/// Default for the most probes at once.
pub const LIMIT: usize = 1024;

/// A failed sample that ended so long after its time-out says that this machine was busy, not that the peer was slow.
const SLACK: Duration = Duration::from_millis(250);

/// Threads for name lookups, which block. One that hangs keeps its thread until the resolver gives up.
const LOOKUP_THREADS_MAX: usize = 64;

/// The running prober. Dropping it stops it, too.
pub struct Runner {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    plan: Mutex<Plan<AbortHandle>>,
    /// Something in the plan changed.
    changed: Notify,
    stopping: AtomicBool,
    late_total: AtomicU64,
    results: mpsc::Sender<Sampled>,
    surroundings: Arc<Surroundings>,
    sampler: Sampler,
}

/// One sample to take.
struct Errand {
    check: Arc<Check>,
    traffic: Option<Arc<dyn Traffic>>,
    address: Option<IpAddr>,
    surroundings: Arc<Surroundings>,
}

/// How a sample is taken; tests put something else here.
type Sampler = fn(Errand) -> Pin<Box<dyn Future<Output = Verdict> + Send>>;

// === impl Runner ===

impl Runner {
    /// Starts the thread. At most `limit` probes are under way at once; a quarter of the process's file descriptors is
    /// the upper bound. Errors: the machine refuses a thread or a reactor.
    pub fn start(results: mpsc::Sender<Sampled>, limit: usize) -> std::io::Result<Runner> {
        Runner::start_in(Surroundings::default(), results, limit)
    }

    /// [`Runner::start`], with what probes find on this machine.
    pub fn start_in(
        surroundings: Surroundings,
        results: mpsc::Sender<Sampled>,
        limit: usize,
    ) -> std::io::Result<Runner> {
        Runner::start_with(surroundings, results, limit, |errand| {
            Box::pin(async move {
                let Errand { check, traffic, address, surroundings } = errand;
                sample_at(&check, &surroundings, traffic.as_deref(), address).await
            })
        })
    }

    fn start_with(
        surroundings: Surroundings,
        results: mpsc::Sender<Sampled>,
        limit: usize,
        sampler: Sampler,
    ) -> std::io::Result<Runner> {
        let limit = descriptors_max().map_or(limit, |max| limit.min(max / 4));
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .max_blocking_threads(LOOKUP_THREADS_MAX)
            .thread_name("probe-lookup")
            .build()?;
        let shared = Arc::new(Shared {
            plan: Mutex::new(Plan::new(limit)),
            changed: Notify::new(),
            stopping: AtomicBool::new(false),
            late_total: AtomicU64::new(0),
            results,
            surroundings: Arc::new(surroundings),
            sampler,
        });
        let inside = shared.clone();
        let thread = std::thread::Builder::new().name("probe".to_owned()).spawn(move || {
            runtime.block_on(run(inside));
            // A lookup that hangs must not hold up the end of the process.
            runtime.shutdown_background();
        })?;
        Ok(Runner { shared, thread: Some(thread) })
    }

    /// Has a sample of `job.check` taken at `job.due`. Replaces a job that waits under the same name; an attempt that is
    /// under way is waited for, or aborted where the definition has changed.
    pub fn schedule(&self, job: Job) {
        let aborted = self.shared.plan.lock().schedule(job);
        self.after(aborted);
    }

    /// Forgets the check of this name and aborts its attempt. A sample that is complete already may still arrive.
    pub fn cancel(&self, name: &Name) {
        let aborted = self.shared.plan.lock().cancel(name);
        self.after(aborted);
    }

    /// Forgets every check that `keep` does not name.
    pub fn retain(&self, keep: impl Fn(&Name) -> bool) {
        let aborted = self.shared.plan.lock().retain(keep);
        self.after(aborted);
    }

    /// Samples that are void because this machine was late.
    pub fn late_total(&self) -> u64 {
        self.shared.late_total.load(Ordering::Relaxed)
    }

    /// Aborts every attempt and ends the thread. Returns when it has ended.
    pub fn stop(mut self) {
        self.end();
    }

    fn after(&self, aborted: impl IntoIterator<Item = AbortHandle>) {
        aborted.into_iter().for_each(|abort| abort.abort());
        self.shared.changed.notify_one();
    }

    fn end(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Runner {
    fn drop(&mut self) {
        self.end();
    }
}

/// The thread's loop: start what is due, sleep until more is.
async fn run(shared: Arc<Shared>) {
    while !shared.stopping.load(Ordering::Acquire) {
        let wake_at = {
            let mut plan = shared.plan.lock();
            let now = Instant::now();
            while let Some(start) = plan.start(now) {
                spawn(&shared, &mut plan, start);
            }
            plan.wake_at()
        };
        match wake_at {
            None => shared.changed.notified().await,
            Some(at) => {
                let _ = tokio::time::timeout_at(at.into(), shared.changed.notified()).await;
            }
        }
    }
}

fn spawn(shared: &Arc<Shared>, plan: &mut Plan<AbortHandle>, start: Start) {
    match start {
        Start::Void(attempt) => {
            tokio::spawn(report(shared.clone(), attempt, None));
        }
        Start::Probe(attempt) => {
            let errand = Errand {
                check: attempt.check.clone(),
                traffic: attempt.traffic.clone(),
                address: attempt.address,
                surroundings: Arc::clone(&shared.surroundings),
            };
            let probe = tokio::spawn((shared.sampler)(errand));
            let unwanted = plan.can_abort(&attempt.check.name, attempt.serial, probe.abort_handle());
            debug_assert!(unwanted.is_none(), "the plan is locked since it handed out the attempt");
            tokio::spawn(report(shared.clone(), attempt, Some(probe)));
        }
    }
}

/// Waits for the probe and sends what it found. A probe that panics is a failed sample, and ends nothing but itself.
async fn report(shared: Arc<Shared>, attempt: Attempt, probe: Option<tokio::task::JoinHandle<Verdict>>) {
    let Attempt { serial, check, late_by, .. } = attempt;
    let verdict = match probe {
        None => Some(void_by_lateness(&shared, format!("not probed in time: {} ms late", late_by.as_millis()))),
        Some(probe) => match probe.await {
            Ok(verdict) => Some(unless_late(&shared, &check, verdict)),
            Err(error) if error.is_panic() => {
                tracing::error!(check = %check.name, "a probe panicked; please report this");
                Some(Verdict::new(Outcome::Fail, Duration::ZERO, "internal error: the probe panicked"))
            }
            // Cancelled or replaced.
            Err(_) => None,
        },
    };
    let name = check.name.clone();
    let is_wanted = {
        let mut plan = shared.plan.lock();
        plan.probed(&name, serial);
        plan.is_wanted(&name, serial)
    };
    shared.changed.notify_one();
    if let Some(verdict) = verdict
        && is_wanted
    {
        // An error means that nobody listens any more: the process is ending.
        let _ = shared.results.send(Sampled { check, verdict, late_by }).await;
    }
    shared.plan.lock().ended(&name, serial);
    shared.changed.notify_one();
}

/// A failure that was noticed long after the time-out is no evidence against the peer.
fn unless_late(shared: &Shared, check: &Check, verdict: Verdict) -> Verdict {
    let timeout = check.schedule.timeout;
    match verdict.outcome {
        Outcome::Fail if verdict.latency > timeout + timeout.max(SLACK) => {
            let late = verdict.latency - timeout;
            void_by_lateness(shared, format!("judged too late: {} ms behind the time-out", late.as_millis()))
        }
        _ => verdict,
    }
}

fn void_by_lateness(shared: &Shared, detail: String) -> Verdict {
    shared.late_total.fetch_add(1, Ordering::Relaxed);
    Verdict::new(Outcome::Void, Duration::ZERO, format!("{detail} (this machine is overloaded)"))
}

/// How many files the process may have open; `None` where the system does not say.
fn descriptors_max() -> Option<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits.lines().find(|line| line.starts_with("Max open files"))?;
    line.split_whitespace().nth(3)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::super::plan::tests::check;
    use super::*;

    fn start(limit: usize, sampler: Sampler) -> (Runner, mpsc::Receiver<Sampled>) {
        let (results, receiver) = mpsc::channel(64);
        (Runner::start_with(Surroundings::default(), results, limit, sampler).unwrap(), receiver)
    }

    fn pass() -> Verdict {
        Verdict::new(Outcome::Pass, Duration::ZERO, "")
    }

    fn now(name: &str, port: u16) -> Job {
        Job { check: check(name, port), due: Instant::now(), traffic: None, address: None }
    }

    fn next(receiver: &mut mpsc::Receiver<Sampled>) -> Sampled {
        receiver.blocking_recv().expect("the runner lives")
    }

    #[test]
    fn a_panicking_probe_is_a_failed_sample_and_ends_nothing_else() {
        let (runner, mut receiver) = start(4, |errand| {
            Box::pin(async move {
                assert!(&*errand.check.name != "broken", "a bug in a probe");
                pass()
            })
        });
        runner.schedule(now("broken", 1));
        let sampled = next(&mut receiver);
        assert_eq!((sampled.verdict.outcome, &*sampled.check.name), (Outcome::Fail, "broken"));
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
        runner.schedule(Job { check: check("a", 1), due, traffic: None, address: None });
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
}
