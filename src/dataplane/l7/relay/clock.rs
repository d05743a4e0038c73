//! Time limits without a timer for each: a connection writes down by when it wants to be woken, and one ticking task
//! wakes those whose time has come.
//!
//! A limit is moved with every read and write, so moving it is a store in a cell. The cell stands in one slot of a ring,
//! at its deadline or a few seconds ahead where that is later; when the slot's turn comes it is woken or moved on. A
//! limit is never kept early, and late by [`TICK`] twice at most.

use std::sync::Arc;
use std::sync::Weak;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use parking_lot::Mutex;

pub(super) const TICK: Duration = Duration::from_millis(50);
const SLOTS: usize = 64;
/// How far ahead a cell stands at most: what was dropped is forgotten after that.
const AHEAD_MAX: u64 = SLOTS as u64 - 2;
const NEVER: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct Clock {
    /// Ticks so far.
    now: AtomicU64,
    ring: Mutex<Vec<Vec<Weak<Cell>>>>,
}

/// One time limit.
#[derive(Debug)]
pub(super) struct Timer {
    clock: Arc<Clock>,
    cell: Arc<Cell>,
    /// Whom the cell wakes, again: compared without its lock.
    wakes: Waker,
}

#[derive(Debug)]
struct Cell {
    /// The tick from which on the limit is over.
    deadline: AtomicU64,
    /// The tick at which the entry in the ring is looked at that counts: of several only the one whose slot this is.
    scheduled: AtomicU64,
    waker: Mutex<Waker>,
}

// === impl Clock ===

impl Clock {
    pub fn new() -> Arc<Clock> {
        Arc::new(Clock { now: AtomicU64::new(1), ring: Mutex::new(vec![Vec::new(); SLOTS]) })
    }

    pub fn timer(self: &Arc<Self>) -> Timer {
        let wakes = Waker::noop().clone();
        let (deadline, scheduled) = (AtomicU64::new(NEVER), AtomicU64::new(NEVER));
        let cell = Cell { deadline, scheduled, waker: Mutex::new(wakes.clone()) };
        Timer { clock: Arc::clone(self), cell: Arc::new(cell), wakes }
    }

    /// Ticks so far; as many [`TICK`]s have passed.
    pub fn now(&self) -> u64 {
        self.now.load(Ordering::SeqCst)
    }

    /// To be called once a [`TICK`].
    pub fn tick(&self) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        let due = std::mem::take(&mut self.ring.lock()[slot(now)]);
        for cell in due.iter().filter_map(Weak::upgrade) {
            // Of an entry that was overtaken by an earlier one nothing is left to be done.
            if cell.scheduled.compare_exchange(now, NEVER, Ordering::SeqCst, Ordering::SeqCst).is_err() {
                continue;
            }
            let deadline = cell.deadline.load(Ordering::SeqCst);
            if deadline <= now {
                // It stays, so that who waits has to leave it here once only.
                cell.waker.lock().wake_by_ref();
            } else {
                self.schedule(&cell, deadline);
            }
        }
    }

    /// Sees to it that the cell is looked at by `deadline`.
    fn schedule(&self, cell: &Arc<Cell>, deadline: u64) {
        let now = self.now();
        let at = deadline.min(now + AHEAD_MAX);
        let mut scheduled = cell.scheduled.load(Ordering::SeqCst);
        while at < scheduled {
            match cell.scheduled.compare_exchange(scheduled, at, Ordering::SeqCst, Ordering::SeqCst) {
                Ok(_) => {
                    let mut ring = self.ring.lock();
                    // The slot may have had its turn meanwhile; then the next one it is.
                    let now = self.now();
                    let at_least = at.max(now + 1);
                    if at_least == at
                        || cell.scheduled.compare_exchange(at, at_least, Ordering::SeqCst, Ordering::SeqCst).is_ok()
                    {
                        ring[slot(at_least)].push(Arc::downgrade(cell));
                    }
                    return;
                }
                Err(other) => scheduled = other,
            }
        }
    }
}

#[allow(clippy::cast_possible_truncation, reason = "smaller than the number of slots")]
fn slot(tick: u64) -> usize {
    (tick % SLOTS as u64) as usize
}

// === impl Timer ===

impl Timer {
    /// The limit is over in `limit` from now; `None`: never.
    pub fn set(&self, limit: Option<Duration>) {
        let deadline = limit.map_or(NEVER, |limit| {
            let ticks = limit.as_millis().div_ceil(TICK.as_millis());
            // The current tick has begun already.
            self.clock.now().saturating_add(u64::try_from(ticks).unwrap_or(NEVER)).saturating_add(1)
        });
        self.cell.deadline.store(deadline, Ordering::SeqCst);
        if deadline != NEVER && deadline < self.cell.scheduled.load(Ordering::SeqCst) {
            self.clock.schedule(&self.cell, deadline);
        }
    }

    /// Whether the limit is over. Where it is not, the task is woken when it is.
    pub fn is_over(&mut self, cx: &Context<'_>) -> bool {
        if !self.wakes.will_wake(cx.waker()) {
            self.wakes.clone_from(cx.waker());
            self.cell.waker.lock().clone_from(cx.waker());
        }
        self.cell.deadline.load(Ordering::SeqCst) <= self.clock.now()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(timer: &mut Timer) -> bool {
        timer.is_over(&Context::from_waker(Waker::noop()))
    }

    #[derive(Default)]
    struct Woken(AtomicU64);

    impl std::task::Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }

    #[test]
    fn a_limit_is_over_after_its_time_and_not_before() {
        let clock = Clock::new();
        let mut timer = clock.timer();
        timer.set(Some(4 * TICK));
        for _ in 0..4 {
            clock.tick();
            assert!(!over(&mut timer));
        }
        clock.tick();
        assert!(over(&mut timer));
        timer.set(None);
        (0..1000).for_each(|_| clock.tick());
        assert!(!over(&mut timer));
    }

    #[test]
    fn whoever_waits_is_woken_however_often_the_limit_moved() {
        for limits in
            [vec![3], vec![500], vec![500, 3], vec![3, 500], vec![10, 500, 4, 70], vec![62], vec![63], vec![64]]
        {
            let (clock, woken) = (Clock::new(), Arc::new(Woken::default()));
            let mut timer = clock.timer();
            let waker = Waker::from(Arc::clone(&woken));
            for (after, limit) in (0..).zip(&limits) {
                (0..after).for_each(|_| clock.tick());
                timer.set(Some(TICK * *limit));
                assert!(!timer.is_over(&Context::from_waker(&waker)));
            }
            for _ in 0..*limits.last().unwrap() {
                clock.tick();
                assert!(!over_with(&mut timer, &waker));
            }
            assert_eq!(woken.0.load(Ordering::SeqCst), 0, "{limits:?}");
            clock.tick();
            assert_eq!(woken.0.load(Ordering::SeqCst), 1, "{limits:?}");
            assert!(over_with(&mut timer, &waker));
        }
    }

    fn over_with(timer: &mut Timer, waker: &Waker) -> bool {
        timer.is_over(&Context::from_waker(waker))
    }

    #[test]
    fn a_timer_that_moves_all_the_time_stands_in_the_ring_once_and_a_dropped_one_soon_not_at_all() {
        let clock = Clock::new();
        let timer = clock.timer();
        for _ in 0..10_000 {
            timer.set(Some(Duration::from_secs(180)));
            clock.tick();
        }
        let entries = |clock: &Clock| clock.ring.lock().iter().map(Vec::len).sum::<usize>();
        assert_eq!(entries(&clock), 1);
        drop(timer);
        (0..SLOTS).for_each(|_| clock.tick());
        assert_eq!(entries(&clock), 0);
    }
}
