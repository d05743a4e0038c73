//! The budget of retries: how much of the load on a vserver may be requests that are sent again.
//!
//! When servers fail, every request that is tried again is one more for those that are left. So retries may be a percentage
//! of the requests of the last [`WINDOW_S`] seconds, and [`FLOOR_PER_S`] a second in any case, so that a vserver with
//! little traffic still gets over a single failure. A request that no server has had yet (the connect failed) is no more
//! load, and does not draw on it. Counted in slots of a second, by atomics: no lock, and what two
//! threads do at once is at most a retry too many.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::model::time::Tick;

/// Seconds that are looked back on, this one included.
pub const WINDOW_S: u32 = 10;
/// Retries of each second that are free.
pub const FLOOR_PER_S: u32 = 3;

const SLOTS: usize = 16;

/// Requests and retries of the last seconds.
#[derive(Debug, Default)]
pub struct Budget {
    slots: [Slot; SLOTS],
    /// Retries that were made, and those that were not.
    pub granted_total: AtomicU64,
    pub denied_total: AtomicU64,
}

#[derive(Debug, Default)]
struct Slot {
    /// Which second it counts, plus one: 0 is none.
    second: AtomicU32,
    requests: AtomicU32,
    retries: AtomicU32,
}

// === impl Budget ===

impl Budget {
    /// A request came.
    pub fn request(&self, now: Tick) {
        self.slot(second(now)).requests.fetch_add(1, Relaxed);
    }

    /// Whether one more retry is within `percent` of the requests; takes it if so.
    pub fn take(&self, now: Tick, percent: u8) -> bool {
        let now = second(now);
        let (mut requests, mut retries) = (0u64, 0u64);
        for slot in self.slots.iter().filter(|slot| is_recent(slot.second.load(Relaxed), now)) {
            requests += u64::from(slot.requests.load(Relaxed));
            retries += u64::from(slot.retries.load(Relaxed));
        }
        let slot = self.slot(now);
        let free = slot.retries.load(Relaxed) < FLOOR_PER_S;
        let within = (retries + 1) * 100 <= requests * u64::from(percent);
        let granted = free || within;
        if granted {
            slot.retries.fetch_add(1, Relaxed);
        }
        let counted = if granted { &self.granted_total } else { &self.denied_total };
        counted.fetch_add(1, Relaxed);
        granted
    }

    /// The slot of this second, emptied where it counted an earlier one.
    fn slot(&self, second: u32) -> &Slot {
        let slot = &self.slots[second as usize % SLOTS];
        let counted = slot.second.load(Relaxed);
        if counted != second && slot.second.compare_exchange(counted, second, Relaxed, Relaxed).is_ok() {
            slot.requests.store(0, Relaxed);
            slot.retries.store(0, Relaxed);
        }
        slot
    }
}

fn second(now: Tick) -> u32 {
    // Wraps after 136 years.
    u32::try_from(now.0 / 1_000_000 + 1).unwrap_or(u32::MAX)
}

fn is_recent(counted: u32, now: u32) -> bool {
    counted > 0 && counted <= now && now - counted < WINDOW_S
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> Tick {
        Tick(seconds * 1_000_000)
    }

    fn taken(budget: &Budget, second: u64, percent: u8) -> u32 {
        (0..10_000).take_while(|_| budget.take(at(second), percent)).count() as u32
    }

    #[test]
    fn a_percentage_of_the_requests_may_be_retried() {
        for percent in [1, 20, 50, 100] {
            let budget = Budget::default();
            (0..1000).for_each(|_| budget.request(at(5)));
            assert_eq!(taken(&budget, 5, percent), 10 * u32::from(percent));
        }
    }

    #[test]
    fn three_a_second_are_free_whatever_the_traffic() {
        let budget = Budget::default();
        for second in 0..30 {
            assert_eq!(taken(&budget, second, 1), FLOOR_PER_S, "{second}");
        }
    }

    #[test]
    fn requests_count_for_ten_seconds_and_so_do_retries() {
        let budget = Budget::default();
        (0..100).for_each(|_| budget.request(at(100)));
        assert_eq!(taken(&budget, 109, 20), 20);
        let budget = Budget::default();
        (0..100).for_each(|_| budget.request(at(100)));
        assert_eq!(taken(&budget, 110, 20), FLOOR_PER_S);
        // What was spent is not there again a second later.
        let budget = Budget::default();
        (0..100).for_each(|_| budget.request(at(100)));
        assert_eq!(taken(&budget, 100, 20), 20);
        assert_eq!(taken(&budget, 101, 20), FLOOR_PER_S);
    }

    #[test]
    fn a_slot_is_used_again() {
        let budget = Budget::default();
        for second in 0..100 {
            (0..50).for_each(|_| budget.request(at(second)));
        }
        assert_eq!(taken(&budget, 99, 20), 100, "500 requests in ten seconds");
    }
}
