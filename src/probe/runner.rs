//! Takes samples when they are due, on a thread of its own: a busy data plane or disk must not make a probe late, and a
//! flood of probes must not make traffic late.
//!
//! One thread with one reactor carries thousands of probes, because a probe waits far more than it works. Being late is
//! this machine's fault and never the peer's: a job that could not start within its interval, and a sample that noticed
//! its time-out much later than the time-out, are void and counted. Every job that is neither cancelled nor replaced
//! ends in exactly one [`Sampled`]; a receiver that does not keep up holds the reports back, and with them the next
//! probes of those checks, so nothing grows.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use parking_lot::Mutex;
use tokio::sync::{Notify, mpsc};
use tokio::task::AbortHandle;

use super::plan::{Attempt, Plan, Start};
use super::{Job, Sampled, Surroundings, Traffic, Way, sample_at};
use crate::model::check::Check;
use crate::model::event::{Outcome, Verdict};
use crate::model::id::Name;
use crate::model::lateness::Lateness;

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
    /// Something in the plan changed that cannot wait.
    changed: Notify,
    stopping: AtomicBool,
    late_total: AtomicU64,
    lateness: Mutex<Lateness>,
    results: mpsc::Sender<Sampled>,
    surroundings: Arc<Surroundings>,
    sampler: Sampler,
}

/// One sample to take.
struct Errand {
    check: Arc<Check>,
    traffic: Option<Arc<dyn Traffic>>,
    way: Way,
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
                let Errand { check, traffic, way, surroundings } = errand;
                sample_at(&check, &surroundings, traffic.as_deref(), way).await
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
            lateness: Mutex::new(Lateness::default()),
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
        abort(self.shared.change(|plan| plan.schedule(job)));
    }

    /// Forgets the check of this name and aborts its attempt. A sample that is complete already may still arrive.
    pub fn cancel(&self, name: &Name) {
        abort(self.shared.change(|plan| plan.cancel(name)));
    }

    /// Forgets every check that `keep` does not name.
    pub fn retain(&self, keep: impl Fn(&Name) -> bool) {
        abort(self.shared.change(|plan| plan.retain(keep)));
    }

    /// How late the probes so far began.
    pub fn lateness(&self) -> Lateness {
        *self.shared.lateness.lock()
    }

    /// Samples that are void because this machine was late.
    pub fn late_total(&self) -> u64 {
        self.shared.late_total.load(Ordering::Relaxed)
    }

    /// Aborts every attempt and ends the thread. Returns when it has ended.
    pub fn stop(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.shared.stopping.store(true, Ordering::Release);
        self.shared.changed.notify_one();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn abort(attempts: impl IntoIterator<Item = AbortHandle>) {
    attempts.into_iter().for_each(|attempt| attempt.abort());
}

// === impl Shared ===

impl Shared {
    /// Changes the plan, and wakes the thread where it would sleep too long now.
    fn change<T>(&self, act: impl FnOnce(&mut Plan<AbortHandle>) -> T) -> T {
        let (made, is_sooner) = {
            let mut plan = self.plan.lock();
            (act(&mut plan), plan.is_sooner())
        };
        if is_sooner {
            self.changed.notify_one();
        }
        made
    }

    /// Counts how late the attempt begins, which is now.
    fn begins(&self, attempt: &Attempt) -> Duration {
        let late_by = Instant::now().saturating_duration_since(attempt.due);
        self.lateness.lock().record(late_by);
        late_by
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
            plan.sleep_until()
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
            tokio::spawn(give_up(shared.clone(), attempt));
        }
        Start::Probe(attempt) => {
            let (name, serial) = (attempt.check.name.clone(), attempt.serial);
            let probe = tokio::spawn(take(shared.clone(), attempt));
            let unwanted = plan.can_abort(&name, serial, probe.abort_handle());
            debug_assert!(unwanted.is_none(), "the plan is locked since it handed out the attempt");
        }
    }
}

/// Takes the sample and sends what it found. A probe that panics is a fault of this box and not of the peer: the sample
/// is void, whatever the type of the check, and ends nothing but itself.
async fn take(shared: Arc<Shared>, attempt: Attempt) {
    // Here, and not where it was started: with many due at once, the last of them waits for the first.
    let late_by = shared.begins(&attempt);
    let Attempt { serial, check, traffic, way, .. } = attempt;
    let (sampler, surroundings) = (shared.sampler, Arc::clone(&shared.surroundings));
    let errand = Errand { check: Arc::clone(&check), traffic, way, surroundings };
    let probe = AssertUnwindSafe(async move { sampler(errand).await }).catch_unwind();
    let verdict = match probe.await {
        Ok(verdict) => unless_late(&shared, &check, verdict),
        Err(_) => {
            tracing::error!(check = %check.name, "a probe panicked; please report this");
            Verdict::new(Outcome::Void, Duration::ZERO, "internal error: the probe panicked; please report this")
        }
    };
    deliver(&shared, serial, Sampled { check, verdict, late_by }).await;
}

/// It is too late for a sample.
async fn give_up(shared: Arc<Shared>, attempt: Attempt) {
    let late_by = shared.begins(&attempt);
    let verdict = void_by_lateness(&shared, format!("not probed in time: {} ms late", late_by.as_millis()));
    deliver(&shared, attempt.serial, Sampled { check: attempt.check, verdict, late_by }).await;
}

async fn deliver(shared: &Shared, serial: u64, sampled: Sampled) {
    let name = sampled.check.name.clone();
    let is_wanted = shared.change(|plan| {
        plan.probed(&name, serial);
        plan.is_wanted(&name, serial)
    });
    if is_wanted {
        // An error means that nobody listens any more: the process is ending.
        let _ = shared.results.send(sampled).await;
    }
    shared.change(|plan| plan.ended(&name, serial));
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
mod tests;
