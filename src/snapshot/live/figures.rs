//! What the methods read of a service's traffic: the time to its first byte, bits and packets per second, and whether it
//! is ejected. Small and without locks on the way of a request; totals and histograms are kept elsewhere.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use parking_lot::Mutex;

use super::ServiceLive;
use crate::balance::passive::{Ejection, Outcome, Watch};
use crate::model::service::Passive;
use crate::model::time::{Tick, micros};

/// The weight of a new time among those before it: 1/8.
const SMOOTHING: u64 = 8;

/// The time to the first byte, as an exponentially weighted mean over answers.
#[derive(Debug, Default)]
pub struct FirstByte {
    /// In 1/8 µs, plus one; 0: no answer yet.
    mean: AtomicU64,
}

/// How fast a total grows: per second, over the last 14 s. Costs nothing where the total is counted: whoever asks
/// remembers once a second what the total was.
#[derive(Debug, Default)]
pub struct Meter {
    /// The first and the last second at whose beginning the total is known, plus one; 0: none.
    first: AtomicU64,
    last: AtomicU64,
    /// The total at the beginning of a second, by second.
    totals: [AtomicU64; Meter::SLOTS as usize],
}

/// Passive health of one service.
#[derive(Debug, Default)]
pub struct Ejector {
    /// Whether anything is watched at all.
    on: AtomicBool,
    /// Whether failures are counted that a good outcome clears.
    counting: AtomicBool,
    /// In µs; 0: never was.
    since: AtomicU64,
    until: AtomicU64,
    pub ejections_total: AtomicU64,
    watch: Mutex<(Option<Passive>, Watch)>,
}

// === impl ServiceLive ===

impl ServiceLive {
    /// Bytes of a client that went to the service, by one read or datagram.
    pub fn count_in(&self, bytes: u64) {
        self.bytes_in_total.fetch_add(bytes, Ordering::Relaxed);
        self.packets_in_total.fetch_add(1, Ordering::Relaxed);
    }

    /// Bytes of the service that went to a client, by one read or datagram.
    pub fn count_out(&self, bytes: u64) {
        self.bytes_out_total.fetch_add(bytes, Ordering::Relaxed);
        self.packets_out_total.fetch_add(1, Ordering::Relaxed);
    }

    /// Both directions together, over the last 14 s.
    pub fn bits_per_second(&self, now: Tick) -> u64 {
        let bytes = self.bytes_in_total.load(Ordering::Relaxed) + self.bytes_out_total.load(Ordering::Relaxed);
        self.bytes.per_second(now, bytes).saturating_mul(8)
    }

    /// Over the last 14 s.
    pub fn packets_per_second(&self, now: Tick) -> u64 {
        let packets = self.packets_in_total.load(Ordering::Relaxed) + self.packets_out_total.load(Ordering::Relaxed);
        self.packets.per_second(now, packets)
    }

    /// Told by whoever carried work to this service: how it went, as far as the service is to be judged by it. Feeds the
    /// time to the first byte and passive health. Costs two loads where nothing fails and nothing is watched. `Some`:
    /// with this outcome the service is ejected; worth a line in the log.
    pub fn outcome(&self, now: Tick, outcome: Outcome) -> Option<Ejection> {
        if let Outcome::FirstByte { after, .. } = outcome {
            self.first_byte.take(after);
        }
        self.ejector.take(now, outcome)
    }
}

// === impl FirstByte ===

impl FirstByte {
    pub fn take(&self, after: Duration) {
        // Bounded, so that one absurd time does not overflow: 2^40 µs are twelve days.
        let sample = micros(after).min(1 << 40) * SMOOTHING;
        let _ = self.mean.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |mean| {
            Some(mean.checked_sub(1).map_or(sample, |mean| mean - mean / SMOOTHING + sample / SMOOTHING) + 1)
        });
    }

    pub fn mean(&self) -> Option<Duration> {
        let mean = self.mean.load(Ordering::Relaxed).checked_sub(1)?;
        Some(Duration::from_micros(mean / SMOOTHING))
    }
}

// === impl Meter ===

impl Meter {
    const WINDOW_S: u64 = 14;
    /// A power of two above the window.
    const SLOTS: u64 = 16;

    /// Growth per second, given what the total is now. 0 at the first look.
    pub fn per_second(&self, now: Tick, total: u64) -> u64 {
        let second = now.0 / 1_000_000 + 1;
        let last = self.last.load(Ordering::Acquire);
        // One of those that ask at once remembers; the others go by what is known.
        if last < second && self.last.compare_exchange(last, second, Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            self.remember(last, second, total);
        }
        let first = self.first.load(Ordering::Acquire);
        if first == 0 {
            return 0;
        }
        let from = second.saturating_sub(Meter::WINDOW_S).max(first);
        let before = self.slot(from).load(Ordering::Relaxed);
        let elapsed_us = now.0.saturating_sub((from - 1) * 1_000_000).max(1_000_000);
        let grown = u128::from(total.saturating_sub(before)) * 1_000_000 / u128::from(elapsed_us);
        u64::try_from(grown).unwrap_or(u64::MAX)
    }

    /// Seconds in which nobody asked are filled in evenly.
    fn remember(&self, last: u64, second: u64, total: u64) {
        if last == 0 {
            self.slot(second).store(total, Ordering::Relaxed);
            self.first.store(second, Ordering::Release);
            return;
        }
        let before = self.slot(last).load(Ordering::Relaxed);
        let (grown, seconds) = (u128::from(total.saturating_sub(before)), u128::from(second - last));
        for at in (last + 1).max(second.saturating_sub(Meter::SLOTS - 1))..=second {
            let by_then = grown * u128::from(at - last) / seconds;
            self.slot(at).store(before + u64::try_from(by_then).unwrap_or(0), Ordering::Relaxed);
        }
    }

    fn slot(&self, second: u64) -> &AtomicU64 {
        &self.totals[(second % Meter::SLOTS) as usize]
    }
}

// === impl Ejector ===

impl Ejector {
    /// What is watched from now on. An ejection under way goes on.
    pub fn watch(&self, passive: Option<&Passive>) {
        if passive.is_none() && !self.on.load(Ordering::Acquire) {
            return;
        }
        let mut watch = self.watch.lock();
        if watch.0.as_ref() != passive {
            watch.0 = passive.cloned();
            if passive.is_none() {
                watch.1 = Watch::default();
                self.until.store(0, Ordering::Release);
            }
        }
        self.on.store(passive.is_some(), Ordering::Release);
    }

    /// `Some`: with this outcome the service is out.
    pub fn take(&self, now: Tick, outcome: Outcome) -> Option<Ejection> {
        if !self.on.load(Ordering::Relaxed) || !(outcome.is_failure() || self.counting.load(Ordering::Relaxed)) {
            return None;
        }
        let mut watch = self.watch.lock();
        let (Some(passive), watch) = &mut *watch else { return None };
        let ejection = watch.take(passive, now, outcome);
        self.counting.store(watch.is_counting(), Ordering::Relaxed);
        if let Some(ejection) = ejection {
            self.since.store(ejection.since.0, Ordering::Relaxed);
            self.until.store(ejection.until.0, Ordering::Release);
            self.ejections_total.fetch_add(1, Ordering::Relaxed);
        }
        ejection
    }

    /// The same with its cause; takes a lock.
    pub fn ejection(&self, now: Tick) -> Option<Ejection> {
        self.ejected(now).and_then(|_| self.watch.lock().1.ejected(now))
    }

    /// Since and until when, while it is out.
    pub fn ejected(&self, now: Tick) -> Option<(Tick, Tick)> {
        let until = Tick(self.until.load(Ordering::Acquire));
        (now < until).then(|| (Tick(self.since.load(Ordering::Relaxed)), until))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Tick {
        Tick::from_millis(ms)
    }

    #[test]
    fn a_steady_flow_is_measured_as_what_it_is() {
        let meter = Meter::default();
        for ms in (0..60_000).step_by(250) {
            // 3000 a second.
            let rate = meter.per_second(at(ms), ms * 3);
            if ms >= 2_000 {
                assert!((2_900..=3_100).contains(&rate), "{rate} at {ms} ms");
            }
        }
    }

    #[test]
    fn a_burst_is_forgotten_after_the_window() {
        let meter = Meter::default();
        meter.per_second(at(0), 0);
        assert_eq!(meter.per_second(at(1_000), 14_000), 14_000);
        assert_eq!(meter.per_second(at(10_000), 14_000), 1_400);
        assert_eq!(meter.per_second(at(16_000), 14_000), 0);
    }

    #[test]
    fn time_in_which_nobody_asked_is_spread_evenly() {
        let meter = Meter::default();
        meter.per_second(at(0), 0);
        assert_eq!(meter.per_second(at(100_000), 100_000), 1_000);
        assert_eq!(meter.per_second(at(107_000), 100_000), 500);
    }

    #[test]
    fn the_first_look_knows_nothing_of_what_was_before() {
        let meter = Meter::default();
        assert_eq!(meter.per_second(at(5_500), 1_000_000), 0);
        assert_eq!(meter.per_second(at(6_500), 1_000_700), 466);
    }

    #[test]
    fn the_mean_time_to_the_first_byte_follows_the_answers() {
        let first_byte = FirstByte::default();
        assert_eq!(first_byte.mean(), None);
        first_byte.take(Duration::from_millis(8));
        assert_eq!(first_byte.mean(), Some(Duration::from_millis(8)));
        first_byte.take(Duration::from_millis(16));
        assert_eq!(first_byte.mean(), Some(Duration::from_millis(9)));
        for _ in 0..100 {
            first_byte.take(Duration::from_millis(2));
        }
        assert!(first_byte.mean().unwrap().abs_diff(Duration::from_millis(2)) < Duration::from_micros(20));
        first_byte.take(Duration::ZERO);
        assert!(first_byte.mean().unwrap() < Duration::from_millis(2));
    }

    #[test]
    fn an_ejector_is_off_until_told_and_forgets_when_told_to_stop() {
        let ejector = Ejector::default();
        for _ in 0..100 {
            assert_eq!(ejector.take(at(0), Outcome::ConnectFailed), None);
        }
        ejector.watch(Some(&Passive { connect_failures: 2, ..Passive::default() }));
        assert_eq!(ejector.take(at(1), Outcome::ConnectFailed), None);
        assert_eq!(ejector.take(at(1), Outcome::Connected), None);
        assert_eq!(ejector.take(at(1), Outcome::ConnectFailed), None);
        assert!(ejector.take(at(2), Outcome::ConnectFailed).is_some());
        assert_eq!(ejector.ejected(at(3)), Some((at(2), at(30_002))));
        assert_eq!(ejector.ejected(at(30_002)), None);
        // The same settings again change nothing.
        ejector.watch(Some(&Passive { connect_failures: 2, ..Passive::default() }));
        assert!(ejector.ejected(at(3)).is_some());
        ejector.watch(None);
        assert_eq!(ejector.ejected(at(3)), None);
        assert_eq!(ejector.ejections_total.load(Ordering::Relaxed), 1);
    }
}
